"""All that the worst case depends on: each group's size, and how often each sensitive value occurs in it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
MIXER = 0x9E3779B97F4A7C15  # odd and without a pattern, so that different rows rarely get the same number


class Shape(NamedTuple):
    """The counts of one group, largest first, and how many people have the guessed value."""

    counts: tuple[int, ...]
    guessed: int

    @classmethod
    def of(cls, histogram: Iterable[int], guessed: int | None = None) -> Shape:
        """A group from its counts in any order; by default the most common value is guessed.

        >>> Shape.of([1, 0, 2]), Shape.of([1, 0, 2], guessed=1)
        (Shape(counts=(2, 1), guessed=2), Shape(counts=(2, 1), guessed=1))
        """
        counts = tuple(sorted((int(n) for n in histogram if n), reverse=True))
        return cls(counts, max(counts, default=0) if guessed is None else guessed)


@dataclass(frozen=True)
class GroupShapes:
    """The distinct shapes of a grouped table: people, sensitive counts largest first, and how many groups.

    The worst case depends on nothing else. `top` may be cut at the k + 1 largest counts. `guessed` says how
    many people have the value in question, where that is not the most common of each group; 0 where nobody
    has it.

    >>> shapes = GroupShapes.of([[2, 2, 1], [1, 2, 2], [4, 1]])
    >>> shapes.size.tolist(), shapes.top.tolist(), shapes.copies.tolist()
    ([5, 5], [[2, 2, 1], [4, 1, 0]], [2, 1])
    """

    size: Ints
    top: Ints
    copies: Ints
    guessed: Ints | None = None

    def __post_init__(self) -> None:
        """Refuse counts that no table can have: fail closed instead of computing a low risk from nonsense."""
        if not len(self.size):
            raise ValueError("there are no groups, so there is no worst case to compute")
        if self.top.ndim != 2 or not len(self.top) == len(self.size) == len(self.copies):
            raise ValueError("size, top and copies must describe the same groups")
        if (self.top[:, 0] < 1).any() or (self.top < 0).any() or (self.copies < 1).any():
            raise ValueError("every group needs a sensitive value with a positive count")
        if (np.diff(self.top, axis=1) > 0).any() or (self.top.sum(axis=1) > self.size).any():
            raise ValueError("counts must be sorted, largest first, and add up to at most the group's size")
        if self.guessed is not None:
            if len(self.guessed) != len(self.size):
                raise ValueError("size, top and guessed must describe the same groups")
            if (self.guessed < 0).any() or (self.guessed > self.top[:, 0]).any():
                raise ValueError("no value is commoner than the most common")

    @classmethod
    def of(cls, histograms: Iterable[Iterable[int]]) -> GroupShapes:
        """Shapes of groups given as lists of counts, in any order; counts of zero are ignored."""
        return cls.of_shapes(map(Shape.of, histograms))

    @classmethod
    def of_shapes(cls, shapes: Iterable[Shape]) -> GroupShapes:
        """Equal groups, counted."""
        copies: dict[Shape, int] = {}
        for shape in shapes:
            copies[shape] = copies.get(shape, 0) + 1
        width = max((len(shape.counts) for shape in copies), default=0) or 1
        top = np.array([(*counts, *(0,) * (width - len(counts))) for counts, _ in copies], np.int64)
        return cls(
            size=np.array([sum(shape.counts) for shape in copies], np.int64),
            top=top.reshape(len(copies), width),
            copies=np.array(list(copies.values()), np.int64),
            guessed=np.array([shape.guessed for shape in copies], np.int64),
        )

    @classmethod
    def from_columns(
        cls, groups: Ints, counts: Ints, width: int, guessed: Bools | None = None
    ) -> tuple[GroupShapes, Ints, Ints]:
        """Shapes of a histogram given as two columns, with the groups in order and the shape of each.

        Only the `width` largest counts of a group are kept. The rows may be in any order. `guessed` marks the
        rows of the values that may be guessed; without it all may be.
        """
        counted = counts != 0
        groups, counts = groups[counted], counts[counted]
        # by group, and inside a group largest count first
        span = int(counts.max(initial=0)) + 1
        if int(groups.min(initial=0)) >= 0 and int(groups.max(initial=0)) < 2**62 // span:
            order = np.argsort(groups * span - counts)  # one key sorts ten times faster than two
        else:
            order = np.lexsort((-counts, groups))
        groups, counts = groups[order], counts[order]
        starts = np.flatnonzero(np.concatenate([[True], groups[1:] != groups[:-1]])[: len(groups)])
        if not len(starts):
            raise ValueError("there are no groups, so there is no worst case to compute")
        values = np.diff(np.append(starts, len(groups)))
        width = min(width, int(values.max()))
        top = np.zeros((len(starts), width), np.int64)
        for place in range(width):
            reaching = values > place
            top[reaching, place] = counts[starts[reaching] + place]
        size = np.add.reduceat(counts, starts)
        # the most common of the values that may be guessed is the best guess (docs/proofs/ck_safety.md)
        best = None if guessed is None else np.maximum.reduceat(counts * guessed[counted][order], starts)
        shapes, shape = cls._counted(size, top, best)
        return shapes, groups[starts], shape

    @classmethod
    def from_ranked(
        cls, size: Ints, start: Ints, ranked: Ints, width: int, guessed: Ints | None = None
    ) -> tuple[GroupShapes, Ints]:
        """Shapes of groups whose counts follow one another, largest first; and the shape of each group.

        Group i has the counts from start[i] up to start[i + 1]; only the `width` largest are kept. `guessed`
        is the count of the value in question in every group.
        """
        values = np.diff(start)
        width = min(width, int(values.max(initial=0)))
        top = np.zeros((len(size), width), np.int64)
        for place in range(width):
            reaching = values > place
            top[reaching, place] = ranked[start[:-1][reaching] + place]
        return cls._counted(size, top, guessed)

    @classmethod
    def _counted(cls, size: Ints, top: Ints, guessed: Ints | None) -> tuple[GroupShapes, Ints]:
        """The distinct shapes of some groups, and the shape of each group."""
        columns = [size, top] if guessed is None else [size, guessed, top]
        rows = np.column_stack(columns)
        powers = [pow(MIXER, i, 2**64) for i in range(rows.shape[1])]
        mixed = rows.astype(np.uint64) @ np.array(powers, np.uint64)
        _, first, kind, copies = np.unique(mixed, return_index=True, return_inverse=True, return_counts=True)
        if (rows != rows[first][kind]).any():  # two different rows got the same number: compare them in full
            _, first, kind, copies = np.unique(
                rows, axis=0, return_index=True, return_inverse=True, return_counts=True
            )
        return cls(size[first], top[first], copies, None if guessed is None else guessed[first]), kind.ravel()

    @property
    def target(self) -> Ints:
        """How many people of each group have the guessed value."""
        return self.top[:, 0] if self.guessed is None else self.guessed

    def some(self, rows: Ints) -> GroupShapes:
        """Only these shapes."""
        guessed = None if self.guessed is None else self.guessed[rows]
        return GroupShapes(self.size[rows], self.top[rows], self.copies[rows], guessed)

    def useful_facts(self, facts: int) -> int:
        """How many of `facts` can still help: d - 1 rule out all but one value of the poorest group.

        In a group where nobody has the guessed value, all d values of somebody have to imply it.
        """
        if facts < 0:
            raise ValueError("the number of facts cannot be negative")
        values = np.count_nonzero(self.top, axis=1)
        poorest = int((values + (self.target == 0)).min())
        width = self.top.shape[1]
        cut = (values == width) & (self.top.sum(axis=1) < self.size)
        if facts >= width and poorest == width and cut.any():
            raise ValueError(f"{facts} facts need the {facts + 1} largest counts of each group, not {width}")
        return min(facts, poorest - 1)
