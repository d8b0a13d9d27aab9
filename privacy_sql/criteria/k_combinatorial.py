"""k-combinatorial anonymity: all marginals together never limit a cell to between 1 and k-1 people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from privacy_sql.criteria import JoinedMarginals, Row
from privacy_sql.criteria._in_marginals import InMarginals
from privacy_sql.criteria._of_people import AtLeastKPeople
from privacy_sql.errors import people
from privacy_sql.kernels.marginals.worst_groups import smallest_sum
from privacy_sql.verdict import Verdict, Witness

if TYPE_CHECKING:
    from privacy_sql.counted.grouping import Together


@dataclass(frozen=True)
class KCombinatorial(AtLeastKPeople, InMarginals):
    """Every nonsensitive cell is empty in all tables that agree with the marginals, or can have k people.

    kifer2006, Def. 4.2 (the definition, not the weaker sentence of its Sec. 7). `value` is the smallest
    positive bound: the largest count of a cell over all consistent tables, for the cell where that is least.
    Decomposable collections have a closed form, an SQL join; others need an integer program (extra `exact`),
    and are undecided if that is too large. For a single table this is k-anonymity.
    """

    name: ClassVar[str] = "k_combinatorial"
    question: ClassVar[str] = "Do the published tables together single anyone out?"
    against: ClassVar[str] = "somebody who combines all published tables to find one person's row"
    safe_under_merging: ClassVar[bool] = True
    safe_under_suppression: ClassVar[bool] = True

    @property
    def reads(self) -> tuple[str, ...]:
        return ("cliques",)

    def together(self, collection: Together) -> Sequence[Row] | None:
        """Collections that are not decomposable, and joins too large for SQL."""
        return collection.smallest_bound(self.k)

    @property
    def smallest_cell(self) -> int:
        return self.k

    def holds_of(self, joined: JoinedMarginals) -> bool:
        """Of none, nothing limits a cell beyond its own marginal."""
        return not joined.cliques or smallest_sum(joined.cliques, stop_below=self.k).value >= self.k

    def judge(self, evidence: Sequence[Row]) -> Verdict:
        """The smallest positive bound decides.

        >>> KCombinatorial(2).judge([{"marginal": 1, "bound": 1, "n_below": 3, "g": 7}]).safe
        False
        """
        if not evidence:
            return self.verdict(None, Witness({}))
        worst = min(evidence, key=lambda row: int(row["bound"]))
        joined = tuple(value for key, value in worst.items() if key[:1] == "g" and value is not None)
        facts = {
            "bound": int(worst["bound"]),
            "cells_below_limit": sum(row["n_below"] for row in evidence),
        }
        story = f"In one cell no table that agrees with the marginals has more than {people(facts['bound'])}."
        private = {"g": worst["g"], "cells": worst.get("cells", joined), "marginal": worst.get("marginal")}
        value = Fraction(facts["bound"])
        return self.verdict(value, Witness(facts, private), story)
