"""k-anonymity: nobody is in a group of fewer than k people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, ClassVar

from privacy_sql.criteria import Criterion, Row, make
from privacy_sql.criteria._of_people import AtLeastKPeople
from privacy_sql.criteria._on_arrays import ByFormula, Formula
from privacy_sql.errors import number_of, people
from privacy_sql.verdict import Verdict, Witness

if TYPE_CHECKING:
    from privacy_sql.counted.groups import Groups
    from privacy_sql.table import Table


@dataclass(frozen=True)
class KAnonymity(AtLeastKPeople, ByFormula):
    """Every group has at least k people; `value` is the size of the smallest group.

    martin2007, Sec. 1 (Samarati and Sweeney's k-anonymity). Merging two groups gives a larger one, and
    leaving out a whole group changes no other, so a search may prune on it.
    """

    name: ClassVar[str] = "k_anonymity"
    question: ClassVar[str] = "Can one person be singled out?"
    against: ClassVar[str] = "somebody who knows a person's quasi-identifiers and looks for that person's row"
    safe_under_merging: ClassVar[bool] = True
    safe_under_suppression: ClassVar[bool] = True
    safe_in_larger_groups: ClassVar[bool] = True

    def fewest_people(self, table: Table) -> int:
        return self.k

    @property
    def group_size(self) -> int:
        return self.k

    def for_marginals(self) -> Criterion:
        return make("k_link", self.params)

    def formulas(self, groups: Groups) -> Sequence[Formula]:
        return [Formula(groups.people, None, ">=", self.k)]

    def failing(self, evidence: Sequence[Row]) -> list[int]:
        return [row["g"] for row in evidence if row["n_people"] < self.k]

    def judge(self, evidence: Sequence[Row]) -> Verdict:
        """The smallest group decides.

        >>> KAnonymity(2).judge([{"n_people": 1, "n_groups": 3, "g": 7}]).safe
        False
        """
        if not evidence:
            return self.verdict(None, Witness({}))
        worst = min(evidence, key=itemgetter("n_people"))
        small = [row for row in evidence if row["n_people"] < self.k]
        facts = {
            "size": worst["n_people"],
            "groups_below_limit": sum(row["n_groups"] for row in small),
            "people_below_limit": sum(row["n_groups"] * row["n_people"] for row in small),
        }
        size = worst["n_people"]
        story = f"The smallest group has {people(size)}."
        if small:
            story += (
                f" Smaller than {self.k}: {number_of(facts['groups_below_limit'], 'group')} with"
                f" {people(facts['people_below_limit'])} in all;"
                " anyone who knows their quasi-identifiers can find them."
            )
        return self.verdict(size, Witness(facts, {"g": worst["g"]}), story)
