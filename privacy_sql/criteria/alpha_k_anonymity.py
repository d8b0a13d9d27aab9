"""(α,k)-anonymity: groups of at least k people, in which no watched value is too frequent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from privacy_sql.criteria import Criterion, Exact, Row, at_least, exact, make
from privacy_sql.criteria._on_arrays import ByFormula, Formula
from privacy_sql.engines import Columns
from privacy_sql.errors import UsageError, people
from privacy_sql.verdict import Verdict, Witness

if TYPE_CHECKING:
    from privacy_sql.counted.base import Base
    from privacy_sql.counted.groups import Groups


@dataclass(frozen=True)
class AlphaKAnonymity(ByFormula):
    """No watched value has a share above alpha in a group, and every group has at least k people.

    li2009, Sec. VI mentions it (Wong et al.'s (α,k)-anonymity). `values` names the watched values, by default
    all. `value` is the largest share, or the smallest group if only its size is wrong. Merging keeps both
    parts, and leaving out a whole group changes no other.
    """

    name: ClassVar[str] = "alpha_k_anonymity"
    question: ClassVar[str] = "Is a sensitive value too frequent in a group?"
    against: ClassVar[str] = "somebody who has found a person's group and guesses one of the watched values"
    relation: ClassVar[str] = "<="
    safe_under_merging: ClassVar[bool] = True
    safe_under_suppression: ClassVar[bool] = True

    alpha: Exact
    k: int
    values: Sequence[str] | str | None = None

    @classmethod
    def unit_of(cls, params: Mapping[str, Any], relation: str) -> str:
        return "people" if relation == ">=" else "share"

    def __post_init__(self) -> None:
        exact(self.alpha, self.name, "alpha", 0, 1)
        at_least(self.k, 1, self.name, "k")
        if isinstance(self.values, (str, list)):
            watched = (self.values,) if isinstance(self.values, str) else tuple(map(str, self.values))
            object.__setattr__(self, "values", watched)
        if self.values is not None and not self.values:
            raise UsageError(
                "bad_parameter", f"values of {self.name} must name at least one value, or be left out"
            )

    @property
    def cannot_fail(self) -> bool:
        return self.limit == 1 and self.k == 1

    @property
    def limit(self) -> Fraction:
        return Fraction(str(self.alpha))

    def necessary(self) -> Sequence[Criterion]:
        return (make("k_anonymity", {"k": self.k}),)

    def context(self) -> dict[str, Any]:
        return {}

    def tables(self, base: Base) -> Mapping[str, Columns]:
        if self.values is None:
            return {}
        return {"watched": {"value": ("varchar", list(self.values))}}

    def formulas(self, groups: Groups) -> Sequence[Formula]:
        top = groups.top if self.values is None else groups.top_of(self.values)
        return [
            Formula(top, groups.people, "<=", self.limit),
            Formula(groups.people, None, ">=", self.k),
        ]

    def judge(self, evidence: Sequence[Row]) -> Verdict:
        """The largest share decides, unless only the size of a group is too small.

        >>> group = {"n_people": 4, "n_top": 2, "n_found": 3, "n_groups": 1, "g": 7}
        >>> AlphaKAnonymity("1/2", 2).judge([group]).value
        Fraction(1, 2)
        """
        if not evidence:
            return self.verdict(None, Witness({}))
        worst = max(evidence, key=_share)
        small = min(evidence, key=lambda row: int(row["n_people"]))
        missing = len(set(self.values)) - evidence[0]["n_found"] if self.values is not None else 0
        notes = (f"{missing} of the watched values do not occur in the table.",) if missing else ()
        if _share(worst) <= self.limit and small["n_people"] < self.k:
            story = f"No watched value is too frequent, but a group has {people(small['n_people'])}."
            witness = Witness({"size": small["n_people"]}, {"g": small["g"]})
            return self.verdict(small["n_people"], witness, story, limit=self.k, relation=">=", notes=notes)
        facts = {
            "size": worst["n_people"],
            "largest_count": worst["n_top"],
            "smallest_group": small["n_people"],
        }
        story = f"In the worst group {worst['n_top']} of {people(worst['n_people'])} share one watched value."
        return self.verdict(_share(worst), Witness(facts, {"g": worst["g"]}), story, notes=notes)


def _share(row: Row) -> Fraction:
    return Fraction(row["n_top"], row["n_people"])
