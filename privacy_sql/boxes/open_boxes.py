"""What a level of the tree needs to know about the boxes that are still open.

`candidate_cuts.py` counts them in SQL and `in_memory.py` in arrays, with the same boxes and numbers.
`partitioning.py` decides for both which cuts to take.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from privacy_sql.criteria import Criterion, Splits, Tried
from privacy_sql.query.template import Sql
from privacy_sql.spaces.partitions import Bools, Floats, Integers, Ranges, Tries

Columns = Mapping[str, Integers | Floats]


class Trial(ABC):
    """Cuts that are tried together, and the parts each would give."""

    tries: Tries

    @abstractmethod
    def classes(self) -> Columns:
        """How often each class occurs in each part: g, class, n_rows."""

    @abstractmethod
    def able(self, alone: Sequence[Criterion]) -> tuple[Integers, Integers]:
        """The tries that give several parts, all large enough and each meeting the requirements `alone`.

        Also returns the numbers of these parts, in order; they may have gaps.
        """

    @abstractmethod
    def seen(self, splits: Splits[Tried]) -> Tried:
        """The parts, for a requirement that judges all groups at once."""


T = TypeVar("T", bound=Trial)


class Taken(NamedTuple, Generic[T]):
    """The cuts of a trial that are taken, and the offset of their parts' numbers."""

    trial: T
    tries: Integers
    first: int


class OpenBoxes(ABC, Generic[T]):
    """The people in boxes that may still be cut; at first this is the whole table."""

    @abstractmethod
    def reach(self) -> Columns:
        """How far each open box reaches along every axis."""

    @abstractmethod
    def tried(self, ranges: Ranges, tries: Tries, split: str, known: T | None = None) -> T:
        """What the cuts at `split` would give; `known` has all these cuts and more."""

    @abstractmethod
    def let_go(self, trial: T) -> None:
        """Forget the counts of a trial, but keep the places of its cuts."""

    @abstractmethod
    def move(self, ranges: Ranges, taken: Sequence[Taken[T]], cut: Bools) -> bool:
        """Move everybody in the boxes that are `cut`; the other boxes are final.

        Returns whether any box is still open.
        """

    @abstractmethod
    def finished(self, closed: Sequence[int]) -> tuple[Sql, Sql]:
        """The box of every combination (c, g), the closed ones numbered from 1, and how far each reaches."""
