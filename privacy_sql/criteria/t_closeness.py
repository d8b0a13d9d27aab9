"""t-closeness: the sensitive values of every group are distributed almost as in the whole table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from privacy_sql.criteria import Exact, Row, exact, one_of
from privacy_sql.criteria._on_arrays import ByFormula, Formula
from privacy_sql.errors import DataError, people
from privacy_sql.query.template import Sql
from privacy_sql.verdict import Verdict, Witness, holds, shown

if TYPE_CHECKING:
    from privacy_sql.counted.base import Base
    from privacy_sql.counted.groups import Groups

DISTANCES = ("equal", "ordered", "hierarchical")

# the ordered distance sorts shares as floats, which are exact enough up to this product of sizes
SORTED_EXACTLY = 2**52
# differences are whole numbers of at most 64 bits up to this product, as in the template
FITTING = 4 * 10**18


@dataclass(frozen=True)
class TCloseness(ByFormula):
    """No group is farther than t from the whole table; `value` is the largest distance, a fraction.

    ganta2008, Def. 5 (Li, Li and Venkatasubramanian's t-closeness), with the earth mover's distance:

    - equal: all values are equally far, so half the sum of the differences in share
    - ordered: values are numbers; their distance is the difference of their ranks over the number of steps
    - hierarchical: the level of the lowest common ancestor in the sensitive column's hierarchy, over height

    A merged group is no farther than the farther of its parts, because the distance of distributions is
    convex and the whole table stays the same. Leaving a group out changes the whole table.
    """

    name: ClassVar[str] = "t_closeness"
    question: ClassVar[str] = "Does a group reveal more than the whole table?"
    against: ClassVar[str] = (
        "somebody who knows how common each value is overall and wants to learn more about a group"
    )
    relation: ClassVar[str] = "<="
    safe_under_merging: ClassVar[bool] = True

    t: Exact
    distance: str = "equal"

    def __post_init__(self) -> None:
        exact(self.t, self.name, "t", 0, 1)
        one_of(self.distance, DISTANCES, self.name, "distance")

    @property
    def cannot_fail(self) -> bool:
        return self.limit == 1  # the largest distance

    @property
    def needs_one_value(self) -> bool:
        return True

    @property
    def slider(self) -> str:
        return "t"

    @property
    def limit(self) -> Fraction:
        return Fraction(str(self.t))

    @property
    def reads(self) -> tuple[str, ...]:
        return ("sensitive_codes", "sensitive_height") if self.distance == "hierarchical" else ()

    def context(self) -> dict[str, Any]:
        return {"distance": self.distance, "value": Sql("v.value")}

    def fits(self, base: Base) -> bool:
        """No, if the template measures in floats, or has no order or hierarchy for the values."""
        if self.distance == "hierarchical" and base.table.sensitive_hierarchy is None:
            return False
        from privacy_sql.counted.groups import SensitiveValues

        scale = 2 * (int(base.table.sensitive_hierarchy.height) if self.distance == "hierarchical" else 1)
        if self.distance == "ordered":
            if base.rows**2 > SORTED_EXACTLY or SensitiveValues(base).numbers is None:
                return False
            scale = base.statistics["s"]["n_values"]
        return bool(base.rows**2 * (2 * scale + 2) < FITTING)

    def formulas(self, groups: Groups) -> Sequence[Formula]:
        from privacy_sql.criteria import _distances

        difference, scale = _distances.FORMULAS[self.distance](groups)
        return [Formula(difference, groups.people * (scale * groups.n_all), "<=", self.limit)]

    def judge(self, evidence: Sequence[Row]) -> Verdict:
        """The farthest group decides.

        >>> counts = {"n_people": 2, "n_all": 4, "scale": 2, "difference": 8, "far": 0.5}
        >>> TCloseness("1/2").judge([{**counts, "n_stray": 0, "n_blurred": 0, "g": 1}]).value
        Fraction(1, 2)
        """
        distances = self._distances(evidence)
        if not distances:
            return self.verdict(None, Witness({}))
        group = max(distances, key=lambda g: distances[g])
        size = next(row["n_people"] for row in evidence if row["g"] == group)
        facts = {"size": size, "distance": str(distances[group])}
        far = shown(distances[group], beside=self.limit)
        story = f"The farthest group has {people(size)} and a distance of {far}."
        return self.verdict(distances[group], Witness(facts, {"g": group}), story)

    def keeps(self, evidence: Sequence[Row]) -> bool:
        return holds(max(self._distances(evidence).values(), default=None), self.relation, self.limit)

    def _distances(self, evidence: Sequence[Row]) -> dict[int, Fraction | float]:
        reasons = (
            ("n_stray", "unmapped_value", "are not numbers"),
            ("n_blurred", "blurred_value", "have more digits than a double can hold"),
        )
        for row in evidence[:1]:
            for count, code, reason in reasons:
                if row[count]:
                    raise DataError(
                        code,
                        f"{row[count]} sensitive values {reason}, so {self} has no order for them",
                        where=str(self),
                        hint="Use distance=equal or hierarchical, or exclude those rows with `where:`.",
                    )
        return {row["g"]: self._distance(row) for row in evidence if row["g"] is not None}

    def _distance(self, row: Row) -> Fraction | float:
        if row["difference"] is None:  # more people than whole numbers of the engine can multiply
            return float(row["far"])
        distance = Fraction(row["difference"], row["scale"] * row["n_people"] * row["n_all"])
        rounded = self.distance == "ordered" and row["n_people"] * row["n_all"] > SORTED_EXACTLY
        return float(distance) if rounded else distance
