"""β-likeness: no sensitive value becomes much more frequent in a group than in the whole table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from privacy_sql.criteria import Exact, Row, exact, one_of
from privacy_sql.criteria._on_arrays import OnArrays
from privacy_sql.criteria._shares import TOLD_APART, extremes, gaining, rise, told
from privacy_sql.errors import UsageError
from privacy_sql.kernels.closeness import bounded_gain
from privacy_sql.verdict import Number, Verdict, Witness, holds

if TYPE_CHECKING:
    from privacy_sql.counted.base import Base
    from privacy_sql.counted.groups import Bools, Groups

KINDS = ("basic", "enhanced")


@dataclass(frozen=True)
class BetaLikeness(OnArrays):
    """The relative gain of every value, (share - overall share) / overall share, is bounded.

    Cao and Karras's β-likeness limits the adversary of ganta2008, Def. 5 for each value by itself:

    - basic: `value` is the largest gain, at most beta
    - enhanced: `value` is the largest gain over its own bound min(beta, -ln overall share), at most 1

    The share in a merged group is between those of its parts, and the overall shares stay, so merging raises
    no gain. Leaving a group out changes the overall shares.
    """

    name: ClassVar[str] = "beta_likeness"
    question: ClassVar[str] = "Does a value become much more likely in a group?"
    against: ClassVar[str] = (
        "somebody who knows how common each value is overall and gains confidence in one of them"
    )
    relation: ClassVar[str] = "<="
    safe_under_merging: ClassVar[bool] = True

    beta: Exact
    kind: str = "basic"

    def __post_init__(self) -> None:
        one_of(self.kind, KINDS, self.name, "kind")
        if exact(self.beta, self.name, "beta", 0) == 0 and self.kind == "enhanced":
            raise UsageError("bad_parameter", f"beta of {self.name} must be above 0")

    @property
    def needs_one_value(self) -> bool:
        return True

    @property
    def slider(self) -> str | None:
        return "beta" if self.kind == "basic" else None  # else it is part of the value

    @property
    def limit(self) -> Number:
        return Fraction(str(self.beta)) if self.kind == "basic" else 1

    def context(self) -> dict[str, Any]:
        return {}

    def fits(self, base: Base) -> bool:
        return bool(base.rows < TOLD_APART)

    def decide(self, groups: Groups) -> Verdict:
        return self.judge(extremes(groups)[0])

    def breaking(self, groups: Groups) -> Bools:
        return gaining(groups, lambda row: holds(self._gain(row), self.relation, self.limit))

    def judge(self, evidence: Sequence[Row]) -> Verdict:
        """The value that gains most decides.

        >>> row = {"n_rows": 2, "n_people": 4, "n_overall": 3, "n_all": 12, "g": 7}
        >>> BetaLikeness(2).judge([row]).value
        Fraction(1, 1)
        """
        if not evidence:
            return self.verdict(None, Witness({}))
        gains = [self._gain(row) for row in evidence]
        kept = [holds(gain, self.relation, self.limit) for gain in gains]
        place = max(range(len(gains)), key=lambda number: (not kept[number], gains[number]))
        witness, story = told(evidence[place])
        return self.verdict(gains[place], witness, story, safe=all(kept))

    def _gain(self, row: Row) -> Fraction | float:
        share = Fraction(row["n_overall"], row["n_all"])
        if self.kind == "basic":
            return rise(row) - 1
        return bounded_gain(rise(row), share, Fraction(str(self.beta)))
