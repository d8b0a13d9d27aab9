"""δ-disclosure: every sensitive value is about as frequent in every group as in the whole table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from privacy_sql.criteria import Exact, Row, exact
from privacy_sql.criteria._on_arrays import OnArrays
from privacy_sql.criteria._shares import TOLD_APART, extremes, gaining, rise, told
from privacy_sql.kernels.closeness import log_change
from privacy_sql.verdict import Verdict, Witness, holds

if TYPE_CHECKING:
    from privacy_sql.counted.base import Base
    from privacy_sql.counted.groups import Bools, Groups


@dataclass(frozen=True)
class DeltaDisclosure(OnArrays):
    """|ln(share / overall share)| stays below delta for every value of the table in every group.

    Brickell and Shmatikov's δ-disclosure privacy, for the adversary of ganta2008, Def. 5. `value` is the
    largest change. If a group lacks a value of the table the change is unbounded, so there is no `value` and
    the table is not safe. A share in a merged group is between those of its parts, so merging raises no
    change. Leaving a group out changes the overall shares.
    """

    name: ClassVar[str] = "delta_disclosure"
    question: ClassVar[str] = "Does a value become much more or much less likely in a group?"
    against: ClassVar[str] = (
        "somebody who knows how common each value is overall and learns that one is likelier, or less likely"
    )
    relation: ClassVar[str] = "<"
    safe_under_merging: ClassVar[bool] = True

    delta: Exact

    def __post_init__(self) -> None:
        exact(self.delta, self.name, "delta", 0)

    @property
    def needs_one_value(self) -> bool:
        return True

    @property
    def slider(self) -> str:
        return "delta"

    @property
    def limit(self) -> Fraction:
        return Fraction(str(self.delta))

    def context(self) -> dict[str, Any]:
        return {}

    def fits(self, base: Base) -> bool:
        return bool(base.rows < TOLD_APART)

    def decide(self, groups: Groups) -> Verdict:
        lacking = groups.lacking
        if lacking.any():  # people in that group certainly do not have the missing value
            return self.verdict(None, Witness({}))
        most, least = extremes(groups)
        return self.judge([*most, *least])

    def breaking(self, groups: Groups) -> Bools:
        def kept(row: Row) -> bool:
            return holds(log_change(rise(row)), self.relation, self.limit)

        return groups.lacking | gaining(groups, kept) | gaining(groups, kept, losing=True)

    def judge(self, evidence: Sequence[Row]) -> Verdict:
        """The value that changes most decides; the change of an absent one is unbounded.

        >>> row = {"n_rows": 2, "n_people": 4, "n_overall": 3, "n_all": 12, "g": 7}
        >>> round(DeltaDisclosure(1).judge([row]).value, 6)
        0.693147
        """
        if not evidence:
            return self.verdict(None, Witness({}))
        least = min(evidence, key=lambda row: int(row["n_rows"]))
        if not least["n_rows"]:
            story = (
                "A group lacks a value of the table, so everyone in it certainly does not have that value."
            )
            return self.verdict(
                None, Witness({"size": least["n_people"], "count": 0}, {"g": least["g"]}), story
            )
        worst = max(evidence, key=lambda row: max(rise(row), 1 / rise(row)))
        witness, story = told(worst)
        return self.verdict(log_change(rise(worst)), witness, story)
