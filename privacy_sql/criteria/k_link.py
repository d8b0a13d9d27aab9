"""k-link anonymity: no cell of a published marginal has fewer than k people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from privacy_sql.criteria import JoinedMarginals, Row
from privacy_sql.criteria._in_marginals import InMarginals
from privacy_sql.criteria._of_people import AtLeastKPeople
from privacy_sql.criteria._on_arrays import ByFormula, Formula
from privacy_sql.errors import number_of
from privacy_sql.verdict import Verdict, Witness

if TYPE_CHECKING:
    from privacy_sql.counted.groups import Groups


@dataclass(frozen=True)
class KLink(AtLeastKPeople, ByFormula, InMarginals):
    """In every marginal, each nonsensitive cell that is not empty has at least k people.

    kifer2006, Def. 4.1. `value` is the smallest such count over all marginals. A table is a collection of one
    marginal, for which this is k-anonymity; merging and leaving out whole groups then keep it safe.
    """

    name: ClassVar[str] = "k_link"
    question: ClassVar[str] = "Does linking one published table with other data single anyone out?"
    against: ClassVar[str] = "somebody who links a single published table with other data"
    safe_under_merging: ClassVar[bool] = True
    safe_under_suppression: ClassVar[bool] = True
    safe_in_larger_groups: ClassVar[bool] = True

    @property
    def reads(self) -> tuple[str, ...]:
        return ("cliques",)

    def formulas(self, groups: Groups) -> Sequence[Formula]:
        return [Formula(groups.people, None, ">=", self.k)]

    @property
    def smallest_cell(self) -> int:
        return self.k

    def holds_of(self, joined: JoinedMarginals) -> bool:
        """Together they say no more than each of them."""
        return True

    def judge(self, evidence: Sequence[Row]) -> Verdict:
        """The smallest cell decides.

        >>> KLink(2).judge([{"marginal": 1, "n_people": 1, "n_cells": 3, "g": 7}]).safe
        False
        """
        if not evidence:
            return self.verdict(None, Witness({}))
        worst = min(evidence, key=lambda row: (row["n_people"], row["marginal"]))
        small = [row for row in evidence if row["n_people"] < self.k]
        facts = {
            "marginal": worst["marginal"],
            "size": worst["n_people"],
            "cells_below_limit": sum(row["n_cells"] for row in small),
        }
        story = f"The smallest cell, in marginal {worst['marginal']}, has a count of {worst['n_people']}."
        if small:
            story += f" {number_of(facts['cells_below_limit'], 'cell')} with a count below {self.k}."
        private = {"g": worst["g"], "cells": (worst["g"],), "marginal": worst["marginal"]}
        return self.verdict(worst["n_people"], Witness(facts, private), story)
