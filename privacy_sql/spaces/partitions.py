"""The space of partitions: boxes that are cut along one axis at a time. Numbers in, numbers out.

Chen et al. 2008, Sec. 6.2, after LeFevre, DeWitt and Ramakrishnan's Mondrian: which axis a box is cut along
first, and which next when that cut is not safe.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

NONE = -1  # no axis is left to try
FEW_PLACES = 256  # not worth counting in bands first


@dataclass(frozen=True)
class Axis:
    """One quasi-identifier: places in order, or the nodes of a hierarchy level by level.

    >>> Axis("q1", True, numeric=True).places, Axis("q2", False, 2, 14).places
    (['x_q1'], ['y_q2_0', 'y_q2_1'])
    """

    column: str
    ordered: bool
    levels: int = 0  # of a hierarchy below its top
    most_parts: int = 2  # what a cut along it can give
    numeric: bool = False  # whether its places have a size

    @property
    def places(self) -> list[str]:
        """The columns a box is cut along: the place in the order, or the node at each level."""
        if self.ordered:
            return [f"x_{self.column}"]
        return [f"y_{self.column}_{level}" for level in range(self.levels)]


@dataclass(frozen=True)
class Ranges:
    """How far each open box reaches: per axis its width from 0 to 1, and whether it can be cut there."""

    boxes: Integers
    people: Integers
    widths: Floats  # box, axis
    cuttable: Bools  # box, axis
    level: Integers  # box, axis: the level of a hierarchy's children; -1 on an ordered axis
    middle: Floats  # box, axis: half way between the least and the largest number
    top: Integers  # box, axis: the highest place on an ordered axis
    reach: Floats  # axis: how far the whole table reaches, in the axis' own unit
    bottom: Integers  # box, axis: the lowest place on an ordered axis

    def bands(self) -> Integers:
        """How many places are counted together where a cut is sought, per box and axis.

        As many bands as people lie in one on average: the first count, of bands, and the second, within the
        band or two that are looked into, then hold as few lines as can be.

        >>> reach = ([0], [10_000], [[1.0, 1.0]], [[True, True]], [[-1, -1]], [[0.0, 0.0]])
        >>> Ranges(*map(np.array, reach), np.array([[9999, 90]]), np.ones(2), np.array([[0, 0]])).bands()
        array([[100,   1]])
        """
        places = self.top - self.bottom + 1
        most = np.sqrt(self.people)[:, None]
        return np.where(places <= FEW_PLACES, 1, np.ceil(places / most)).astype(np.int64)

    def order(self, scores: Floats | None = None) -> Integers:
        """Per box the axes in the order they are tried: widest (or highest score) first, then NONE.

        >>> ranges = Ranges(
        ...     np.array([0]),
        ...     np.array([9]),
        ...     np.array([[0.2, 0.9, 0.0]]),
        ...     np.array([[True, True, False]]),
        ...     np.array([[-1, -1, -1]]),
        ...     np.zeros((1, 3)),
        ...     np.zeros((1, 3), dtype=int),
        ...     np.ones(3),
        ...     np.zeros((1, 3), dtype=int),
        ... )
        >>> ranges.order().tolist()
        [[1, 0, -1]]
        """
        value = self.widths if scores is None else scores
        ranked = np.argsort(-np.where(self.cuttable, value, -np.inf), axis=1, kind="stable")
        tried = np.take_along_axis(self.cuttable, ranked, axis=1)
        return np.where(tried, ranked, NONE).astype(np.int64)


@dataclass(frozen=True)
class Tries:
    """Cuts that are decided together, box after box: which way, and the number of the first part."""

    row: Integers  # of the box among the open ones
    axis: Integers
    way: Integers  # number of the column cut along
    lowest: Integers
    end: int  # no part has this number

    @classmethod
    def of(cls, ranges: Ranges, order: Integers, axes: Sequence[Axis], asking: Bools) -> Tries:
        """The axes of `order` (box, turn) for the boxes in question, in the order of their turns.

        >>> reach = (
        ...     [7],
        ...     [9],
        ...     [[1.0, 0.5]],
        ...     [[True, True]],
        ...     [[-1, 1]],
        ...     [[0.0, 0.0]],
        ...     [[3, 0]],
        ...     [1.0, 1.0],
        ...     [[0, 0]],
        ... )
        >>> ranges = Ranges(*map(np.array, reach))
        >>> axes = [Axis("q1", True), Axis("q2", False, 2, 14)]
        >>> tries = Tries.of(ranges, np.array([[1, 0]]), axes, np.array([True]))
        >>> tries.way.tolist(), tries.lowest.tolist(), tries.end
        ([2, 0], [0, 14], 16)
        """
        row, turn = np.nonzero(asking[:, None] & (order != NONE))
        axis = order[row, turn]
        before = np.cumsum([0, *(len(a.places) for a in axes)])
        parts = np.array([a.most_parts for a in axes], dtype=np.int64)[axis]
        way = before[axis] + np.maximum(ranges.level[row, axis], 0)
        return cls(row, axis, way, np.cumsum(parts) - parts, int(parts.sum()))

    def __len__(self) -> int:
        return len(self.row)

    def of_parts(self, parts: Integers) -> Integers:
        """The try that each part belongs to."""
        return np.searchsorted(self.lowest, parts, side="right") - 1

    def able(self, parts: Integers, unsafe: Collection[int]) -> Integers:
        """The tries that give several parts, none of them unsafe."""
        home = self.of_parts(parts)
        several = np.bincount(home, minlength=len(self)) > 1
        broken = np.isin(np.arange(len(self)), self.of_parts(np.array(sorted(unsafe), dtype=np.int64)))
        return np.flatnonzero(several & ~broken)

    def first_of_each_box(self, tries: Integers) -> Integers:
        """Of some tries the first of every box."""
        return tries[np.unique(self.row[tries], return_index=True)[1]]


def ranges_of(columns: Mapping[str, Any], axes: Sequence[Axis], reach: Floats | None = None) -> Ranges:
    """The reach of every box from the least and largest places that SQL counted.

    Widths are relative to the `reach` of the whole table along each axis; without it the boxes are the table.
    """
    boxes = np.asarray(columns["box"], dtype=np.int64)
    parts = [_ordered(columns, axis) if axis.ordered else _nodes(columns, axis) for axis in axes]
    spans, cuttable, level, middle, top, bottom = (np.stack(c, axis=1) for c in zip(*parts, strict=True))
    whole = spans.max(axis=0, initial=0) if reach is None else reach
    widths = spans / np.where(whole > 0, whole, 1)
    people = np.asarray(columns["n_people"], dtype=np.int64)
    return Ranges(boxes, people, widths, cuttable, level, middle, top, whole, bottom)


Along = tuple[Floats, Any, Integers, Floats, Integers, Integers]  # span, cuttable, level, middle, top, bottom


def _ordered(columns: Mapping[str, Any], axis: Axis) -> Along:
    sizes = ("from", "to") if axis.numeric else ("lo", "hi")
    low, high = (numbers(columns[f"{end}_{axis.column}"]) for end in sizes)
    first, last = (np.asarray(columns[f"{end}_{axis.column}"], dtype=np.int64) for end in ("lo", "hi"))
    middle = np.nan_to_num((low + high) / 2)
    return np.nan_to_num(high - low), first < last, np.full(len(low), NONE), middle, last, first


def _nodes(columns: Mapping[str, Any], axis: Axis) -> Along:
    """A box is cut into the children of its lowest common node: the highest level at which it differs."""
    child = np.full(len(columns["box"]), NONE)
    for level in range(axis.levels):
        differs = np.asarray(columns[f"lo_{axis.column}_{level}"]) < columns[f"hi_{axis.column}_{level}"]
        child = np.where(differs, level, child)
    nothing = np.zeros_like(child)
    return (child + 1) / axis.levels, child >= 0, child, nothing.astype(np.float64), nothing, nothing


def numbers(column: npt.NDArray[Any]) -> Floats:
    """Numbers as floats; NaN where one is missing."""
    if not isinstance(column, np.ma.MaskedArray):
        return column.astype(np.float64)
    return np.asarray(np.ma.filled(np.ma.asarray(column, dtype=np.float64), np.nan), dtype=np.float64)


def information_gain(tries: Integers, parts: Integers, classes: Integers, counts: Integers) -> Floats:
    """Per try how much its parts tell about the class, in nats per person; each part and class comes once.

    >>> gains = information_gain(*np.array([[0, 0, 1], [1, 2, 3], [5, 6, 5], [4, 4, 4]]))
    >>> gains.round(4).tolist()
    [0.6931, 0.0]
    """
    n = counts.astype(float)
    cells, cell = np.unique(np.column_stack([tries, classes]), axis=0, return_inverse=True)
    together = np.bincount(cell.reshape(-1), weights=n)
    people = np.bincount(tries, weights=n)
    # a sum of n ln n over the cells, less that of the totals, is minus the people times their entropy
    before = _n_ln_n(people) - np.bincount(cells[:, 0], weights=_n_ln_n(together))
    named, part = np.unique(parts, return_inverse=True)
    of_part = np.zeros(len(named), dtype=np.int64)
    of_part[part.reshape(-1)] = tries
    sizes = np.bincount(part.reshape(-1), weights=n)
    after = np.bincount(of_part, weights=_n_ln_n(sizes)) - np.bincount(tries, weights=_n_ln_n(n))
    # the order in which floats are added must not decide between two axes that tell as much
    return np.asarray((before - after) / np.maximum(people, 1)).round(9)


def _n_ln_n(counts: npt.NDArray[Any]) -> Floats:
    n = np.asarray(counts, dtype=float)
    return np.asarray(n * np.log(np.maximum(n, 1)))
