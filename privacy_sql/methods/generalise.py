"""Full-domain generalisation at levels somebody chose, with the groups that fail left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

from privacy_sql.counted.base import Base
from privacy_sql.methods import Asked, Method, Proposal, at_levels, check_levels, share


@dataclass(frozen=True)
class Generalise(Method):
    """Every quasi-identifier at one level; at most `max_suppressed` of the rows left out.

    martin2007, Sec. 2.1 (full-domain generalisation).

    >>> Generalise(levels={"age": 2}, max_suppressed="0.01").max_suppressed
    '0.01'
    """

    name: ClassVar[str] = "generalise"
    several_sensitive: ClassVar[bool] = True

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

    def propose(self, base: Base, asked: Asked) -> Proposal:
        check_levels(base, self.levels)
        levels = {column: self.levels.get(column, 0) for column in base.table.quasi}
        return at_levels(base, levels, asked, self.allowed)
