"""The lattice of full-domain choices: one hierarchy level per quasi-identifier.

Martin et al. 2007, Sec. 3.4; LeFevre et al. 2005 (Incognito). A choice is a tuple of levels, raw first. One
choice is *finer* than another when every level is at most the other's. Pure numbers: no table, no SQL.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import getitem

import numpy as np
import numpy.typing as npt

Choice = tuple[int, ...]


def is_finer(one: Choice, other: Choice) -> bool:
    """Whether `one` generalises no attribute further than `other`, or is the same choice.

    >>> is_finer((0, 1), (1, 1)), is_finer((0, 2), (1, 1))
    (True, False)
    """
    return all(a <= b for a, b in zip(one, other, strict=True))


@dataclass(frozen=True)
class Lattice:
    """All choices of one level per attribute; `labels[a][l]` counts the labels of attribute `a` at level `l`.

    Martin et al. 2007, Sec. 3.4: the partial order of bucketizations that full-domain generalisation reaches.

    >>> Lattice(((2, 1), (74, 16, 1))).size
    6
    """

    labels: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        if not all(self.labels):
            raise ValueError("Every attribute of a lattice needs at least one level.")
        if min(map(min, self.labels), default=1) < 1:
            raise ValueError("Every level of a lattice needs at least one label.")

    @classmethod
    def of_heights(cls, heights: Sequence[int]) -> Lattice:
        """A lattice whose label counts are unknown; levels then count as halving the labels.

        >>> Lattice.of_heights([1, 2]).heights
        (1, 2)
        """
        return cls(tuple(tuple(2 ** (height - level) for level in range(height + 1)) for height in heights))

    @property
    def heights(self) -> tuple[int, ...]:
        """The highest level of every attribute."""
        return tuple(len(levels) - 1 for levels in self.labels)

    @property
    def shape(self) -> tuple[int, ...]:
        """How many levels every attribute has."""
        return tuple(map(len, self.labels))

    @property
    def size(self) -> int:
        """How many choices there are."""
        return math.prod(self.shape)

    @property
    def bottom(self) -> Choice:
        """The choice that publishes raw values."""
        return (0,) * len(self.labels)

    @property
    def top(self) -> Choice:
        """The choice that generalises everything as far as the hierarchies go."""
        return self.heights

    def __contains__(self, choice: object) -> bool:
        return (
            isinstance(choice, tuple)
            and len(choice) == len(self.labels)
            and all(
                isinstance(level, int) and 0 <= level < n for level, n in zip(choice, self.shape, strict=True)
            )
        )

    def coarser_neighbours(self, choice: Choice) -> list[Choice]:
        """The choices one step up.

        >>> Lattice.of_heights([1, 2]).coarser_neighbours((0, 2))
        [(1, 2)]
        """
        return [
            (*choice[:a], level + 1, *choice[a + 1 :])
            for a, level in enumerate(choice)
            if level + 1 < len(self.labels[a])
        ]

    def finer_neighbours(self, choice: Choice) -> list[Choice]:
        """The choices one step down.

        >>> Lattice.of_heights([1, 2]).finer_neighbours((0, 2))
        [(0, 1)]
        """
        return [(*choice[:a], level - 1, *choice[a + 1 :]) for a, level in enumerate(choice) if level > 0]

    def breadth(self, choice: Choice) -> int:
        """The number of label combinations: no choice can publish more groups than that.

        >>> Lattice(((2, 1), (74, 16, 1))).breadth((0, 1))
        32
        """
        return math.prod(map(getitem, self.labels, choice))

    def choices(self) -> Iterator[Choice]:
        """Every choice, in lexicographic order."""
        return itertools.product(*(range(n) for n in self.shape))

    def from_coarse_to_fine(self) -> npt.NDArray[np.intp]:
        """Positions (in lexicographic order) of all choices, those with the highest sum of levels first."""
        sums = self.total(list(map(range, self.shape)))
        return np.argsort(-sums.ravel(), kind="stable")

    def total(self, parts: Sequence[Sequence[float]]) -> npt.NDArray[np.float64]:
        """For every choice the sum of one part per attribute and level; one axis per attribute.

        >>> Lattice.of_heights([1, 1]).total([[0, 1], [0, 10]]).tolist()
        [[0.0, 10.0], [1.0, 11.0]]
        """
        sums = np.zeros(self.shape)
        for axis, values in enumerate(parts):
            direction = [1] * len(self.labels)
            direction[axis] = -1
            sums += np.asarray(values, dtype=np.float64).reshape(direction)
        return sums

    def position(self, index: int) -> Choice:
        """The choice at a place of the lexicographic order."""
        return tuple(map(int, np.unravel_index(index, self.shape)))

    def project(self, attributes: Sequence[int]) -> Lattice:
        """The lattice of a subset of the attributes.

        >>> Lattice.of_heights([1, 2, 3]).project([0, 2]).heights
        (1, 3)
        """
        return Lattice(tuple(self.labels[a] for a in attributes))

    def lift(self, projected: Choice, attributes: Sequence[int]) -> Choice:
        """The choice that keeps a projected choice's levels and puts every other attribute at its top.

        LeFevre et al. 2005, subset property: when it is unsafe, so is every choice with these levels.

        >>> Lattice.of_heights([1, 2, 3]).lift((0, 1), [0, 2])
        (0, 2, 1)
        """
        levels = list(self.top)
        for attribute, level in zip(attributes, projected, strict=True):
            levels[attribute] = level
        return tuple(levels)
