"""What a level of the tree asks about the boxes that are still open, however they are counted.

`candidate_cuts.py` counts them in SQL, `in_memory.py` in arrays: the same boxes under the same numbers. Which
cuts are taken is decided alike for both, in `partitioning.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from privacy_sql.criteria import Criterion, Evidence, Splits
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
        """The tries that give several parts, all large enough and each keeping what is asked of it `alone`.

        And the numbers of these parts, in order; others may lie between them.
        """

    @abstractmethod
    def seen(self, splits: Splits) -> Evidence:
        """What a requirement that looks at all groups at once has to know of the parts."""


T = TypeVar("T", bound=Trial)


class Taken(NamedTuple, Generic[T]):
    """Cuts of a trial that are taken, and what is added to the numbers of their parts."""

    trial: T
    tries: Integers
    first: int


class OpenBoxes(ABC, Generic[T]):
    """Everybody in the boxes that may still be cut; at first these hold the whole table."""

    @abstractmethod
    def reach(self) -> Columns:
        """How far each open box reaches along every axis."""

    @abstractmethod
    def tried(self, ranges: Ranges, tries: Tries, split: str, known: T | None = None) -> T:
        """What cuts would give where `split` says; `known` has all these cuts and more."""

    @abstractmethod
    def let_go(self, trial: T) -> None:
        """Forget what was counted for a trial; the places of its cuts are still known."""

    @abstractmethod
    def move(self, ranges: Ranges, taken: Sequence[Taken[T]], cut: Bools) -> bool:
        """Move everybody of the boxes that are `cut`; the others stay where they are for good.

        Whether any box is open then.
        """

    @abstractmethod
    def finished(self, closed: Sequence[int]) -> tuple[Sql, Sql]:
        """The box of every combination (c, g), the closed ones numbered from 1, and how far each reaches."""
