"""Full-domain generalisation at given levels, without the groups that fail."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

from privacy_sql.counted.base import Base
from privacy_sql.errors import UsageError
from privacy_sql.lattice.steering import Steering
from privacy_sql.methods import Asked, Method, Proposal, at_levels, check_levels, share


@dataclass(frozen=True)
class Generalise(Method):
    """Every quasi-identifier at one level; at most `max_suppressed` of the rows are left out.

    martin2007, Sec. 2.1 (full-domain generalisation).

    >>> Generalise(levels={"age": 2}, max_suppressed="0.01").max_suppressed
    '0.01'
    """

    name: ClassVar[str] = "generalise"
    several_sensitive: ClassVar[bool] = True
    shows_labels: ClassVar[bool] = True
    leaves_out: ClassVar[bool] = True

    levels: Mapping[str, int] = field(default_factory=dict)
    max_suppressed: str | int | float = 0

    def __post_init__(self) -> None:
        share(self.max_suppressed, "max_suppressed")

    @property
    def allowed(self) -> Fraction:
        return share(self.max_suppressed, "max_suppressed")

    @property
    def named_levels(self) -> Mapping[str, int]:
        return self.levels

    def steered(self, steering: Steering) -> Generalise:
        """The same, unless a level is outside its bounds; the importance of columns has no effect here."""
        for column, end, bound in steering.each_bound():
            level = self.levels.get(column, 0)
            if level < bound if end == "min_level" else level > bound:
                told = f"{column} is published at level {level}, but its {end} is {bound}"
                hint = "Change one of the two, or publish by full_domain, which searches within bounds."
                raise UsageError("outside_bounds", told, hint=hint)
        return self

    def propose(self, base: Base, asked: Asked) -> Proposal:
        check_levels(base, self.levels)
        levels = {column: self.levels.get(column, 0) for column in base.table.quasi}
        return at_levels(base, levels, asked, self.allowed)
