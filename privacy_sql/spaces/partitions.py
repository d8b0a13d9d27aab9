"""The space of partitions: boxes that are cut along one axis at a time. Numbers in, numbers out.

Chen et al. 2008, Sec. 6.2, after LeFevre, DeWitt and Ramakrishnan's Mondrian: which axis a box is cut along
first, and which next when that cut is not safe.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

NONE = -1  # no axis is left to try


@dataclass(frozen=True)
class Axis:
    """One quasi-identifier: places in order, or the nodes of a hierarchy level by level."""

    column: str
    ordered: bool
    levels: int = 0  # of a hierarchy below its top


@dataclass(frozen=True)
class Ranges:
    """How far each open box reaches: per axis its width from 0 to 1, and whether it can be cut there."""

    boxes: Integers
    people: Integers
    widths: Floats  # box, axis
    cuttable: npt.NDArray[np.bool_]  # box, axis
    level: Integers  # box, axis: the level of a hierarchy's children; -1 on an ordered axis
    middle: Floats  # box, axis: half way between the least and the largest number

    def order(self, scores: Floats | None = None) -> Integers:
        """Per box the axes in the order they are tried: widest (or highest score) first, then NONE.

        >>> ranges = Ranges(
        ...     np.array([0]),
        ...     np.array([9]),
        ...     np.array([[0.2, 0.9, 0.0]]),
        ...     np.array([[True, True, False]]),
        ...     np.array([[-1, -1, -1]]),
        ...     np.zeros((1, 3)),
        ... )
        >>> ranges.order().tolist()
        [[1, 0, -1]]
        """
        value = self.widths if scores is None else scores
        ranked = np.argsort(-np.where(self.cuttable, value, -np.inf), axis=1, kind="stable")
        tried = np.take_along_axis(self.cuttable, ranked, axis=1)
        return np.where(tried, ranked, NONE).astype(np.int64)


def ranges_of(columns: Mapping[str, Any], axes: Sequence[Axis]) -> Ranges:
    """The reach of every box from the least and largest places that SQL counted."""
    boxes = np.asarray(columns["box"], dtype=np.int64)
    parts = [_ordered(columns, axis) if axis.ordered else _nodes(columns, axis) for axis in axes]
    widths, cuttable, level, middle = (np.stack(column, axis=1) for column in zip(*parts, strict=True))
    return Ranges(boxes, np.asarray(columns["n_people"], dtype=np.int64), widths, cuttable, level, middle)


def _ordered(columns: Mapping[str, Any], axis: Axis) -> tuple[Floats, Any, Integers, Floats]:
    low, high = (_numbers(columns[f"{end}_{axis.column}"]) for end in ("from", "to"))
    reach = float(np.nanmax(high) - np.nanmin(low)) if np.isfinite(high).any() else 0.0
    width = np.nan_to_num(high - low) / reach if reach > 0 else np.zeros(len(low))
    apart = np.asarray(columns[f"lo_{axis.column}"]) < np.asarray(columns[f"hi_{axis.column}"])
    return width, apart, np.full(len(low), NONE), np.nan_to_num((low + high) / 2)


def _nodes(columns: Mapping[str, Any], axis: Axis) -> tuple[Floats, Any, Integers, Floats]:
    """A box is cut into the children of its lowest common node: the highest level at which it differs."""
    child = np.full(len(columns["box"]), NONE)
    for level in range(axis.levels):
        differs = np.asarray(columns[f"lo_{axis.column}_{level}"]) < columns[f"hi_{axis.column}_{level}"]
        child = np.where(differs, level, child)
    return (child + 1) / axis.levels, child >= 0, child, np.zeros(len(child))


def _numbers(column: Any) -> Floats:
    return np.asarray(np.ma.filled(np.ma.asarray(column, dtype=np.float64), np.nan), dtype=np.float64)


def information_gain(
    boxes: Integers, parts: Integers, classes: Integers, counts: Integers
) -> dict[int, float]:
    """Per box how much its parts tell about the class, in nats per person.

    >>> gains = information_gain(*np.array([[0, 0, 1], [1, 2, 3], [5, 6, 5], [4, 4, 4]]))
    >>> round(gains[0], 4), round(gains[1], 4)
    (0.6931, 0.0)
    """
    of_box, people = _entropies(boxes, classes, counts)
    of_part, sizes = _entropies(parts, classes, counts)
    home = dict(zip(parts.tolist(), boxes.tolist(), strict=True))
    left = dict.fromkeys(of_box, 0.0)
    for part, entropy in of_part.items():
        left[home[part]] += entropy * sizes[part]
    return {box: of_box[box] - left[box] / people[box] for box in of_box}


def _entropies(
    groups: Integers, classes: Integers, counts: Integers
) -> tuple[dict[int, float], dict[int, float]]:
    """Entropy of the classes and number of people, per group."""
    kinds, cell = np.unique(np.column_stack([groups, classes]), axis=0, return_inverse=True)
    n = np.bincount(cell.reshape(-1), weights=counts)
    group, of = np.unique(kinds[:, 0], return_inverse=True)
    total = np.bincount(of, weights=n)
    entropy = np.log(total) - np.bincount(of, weights=n * np.log(n)) / total
    names = group.tolist()
    return dict(zip(names, entropy.tolist(), strict=True)), dict(zip(names, total.tolist(), strict=True))
