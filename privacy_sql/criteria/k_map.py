"""k-map: every published person fits at least k people of the population."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from privacy_sql.criteria import Row
from privacy_sql.criteria._of_people import AtLeastKPeople
from privacy_sql.criteria._on_arrays import ByFormula, Formula
from privacy_sql.criteria._risks import fitting, refuse_strangers
from privacy_sql.errors import people
from privacy_sql.verdict import Verdict, Witness

if TYPE_CHECKING:
    from privacy_sql.counted.groups import Groups


@dataclass(frozen=True)
class KMap(AtLeastKPeople, ByFormula):
    """Every published group fits k or more people of the population; `value` is the fewest it fits.

    ganta2008, Sec. 2 (Sweeney's k-map: the adversary links with outside data and does not know who is in the
    table). Merging two groups adds their populations, and leaving a group out changes no other, so a search
    may prune on it. A population that lacks people of the table is refused.
    """

    name: ClassVar[str] = "k_map"
    question: ClassVar[str] = "Does every published group fit many people of the population?"
    against: ClassVar[str] = "somebody who matches a published group with a list of the whole population"
    needs_population: ClassVar[bool] = True
    safe_under_merging: ClassVar[bool] = True
    safe_under_suppression: ClassVar[bool] = True
    safe_in_larger_groups: ClassVar[bool] = True

    @property
    def reads(self) -> tuple[str, ...]:
        return ("population",)

    def formulas(self, groups: Groups) -> Sequence[Formula]:
        return [Formula(fitting(groups), None, ">=", self.k)]

    def failing(self, evidence: Sequence[Row]) -> list[int]:
        return [row["g"] for row in refuse_strangers(evidence) if row["n_population"] < self.k]

    def judge(self, evidence: Sequence[Row]) -> Verdict:
        """The group that fits the fewest people decides.

        >>> KMap(3).judge([{"n_people": 1, "n_population": 3, "n_groups": 1, "g": 7}]).safe
        True
        """
        groups = refuse_strangers(evidence)
        if not groups:
            return self.verdict(None, Witness({}))
        worst = min(groups, key=lambda row: row["n_population"])
        small = [row for row in groups if row["n_population"] < self.k]
        facts = {
            "population": worst["n_population"],
            "size": worst["n_people"],
            "groups_below_limit": sum(row["n_groups"] for row in small),
        }
        story = f"The worst group fits {people(worst['n_population'])} of the population."
        return self.verdict(worst["n_population"], Witness(facts, {"g": worst["g"]}), story)
