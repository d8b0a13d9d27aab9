"""Rows counted by columns of whole numbers: one number for each combination, and labels only for what occurs.

The engine sorts and sends one column instead of all of them. Text is counted in codes instead, with a
dictionary for each column.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from privacy_sql.counted.base import Opened
from privacy_sql.query.template import names, render

Ints = npt.NDArray[np.int64]
# numbers, and combinations of them, stay below the sign of 64 bits
MOST = 2**62
# places of a column that are looked up, whether they occur or not
LEAST_PLACES = 2**16
MOST_PLACES = 4  # for each combination


class PackedColumn(NamedTuple):
    """One column of the combinations: what occurs in it, and where each place of a line is among that."""

    values: list[int | None]
    of_place: Ints
    place: Ints


def packed(rows: Opened, columns: Sequence[str]) -> tuple[list[PackedColumn], Ints] | None:
    """The combinations of some columns, and how many rows have each.

    None if a column has no whole numbers, or they are too many for one number, or the rows changed meanwhile.
    """
    if {rows.columns[name] for name in columns} != {"integer"}:
        return None
    engine, source = rows.engine, rows.source
    inside = list(zip(columns, names(f"k{number}" for number in range(1, len(columns) + 1)), strict=True))
    ends = engine.create(render("studies/ends.sql", source=source, columns=inside))
    try:
        listed = names(f"{end}_{alias}" for _, alias in inside for end in ("low", "high"))
        (found,) = engine.fetch(render("counted/listed.sql", relation=ends, columns=listed))
        lows = [int(found[f"low_{alias}"] or 0) for _, alias in inside]
        highs = [int(found[f"high_{alias}"] or 0) for _, alias in inside]
        # 0 is for a missing number
        widths = [high - low + 2 for low, high in zip(lows, highs, strict=True)]
        if prod(widths) >= MOST or max(map(abs, [*lows, *highs])) >= MOST:
            return None
        counts = engine.arrays(render("studies/packed.sql", source=source, columns=inside, ends=ends))
    finally:
        engine.drop(ends)
    lines = counts["packed"]
    if lines.dtype.kind != "i" or np.ma.is_masked(lines):  # a row is not between the ends any more
        return None
    return _apart(np.asarray(lines, np.int64), lows, widths), np.asarray(counts["n_rows"], np.int64)


def _apart(lines: Ints, lows: Sequence[int], widths: Sequence[int]) -> list[PackedColumn]:
    """The columns of packed combinations.

    >>> [found] = _apart(np.array([3, 0, 1, 3]), [10], [5])
    >>> found.values, found.of_place[found.place].tolist()
    ([None, 10, 12], [2, 0, 1, 2])
    """
    found = []
    for low, width in zip(reversed(lows), reversed(widths), strict=True):
        rest = lines // width
        # in its own memory: new memory costs more than the arithmetic
        place = rest * width
        np.subtract(lines, place, out=place)
        if width <= max(LEAST_PLACES, MOST_PLACES * len(place)):
            occurs = np.zeros(width, np.bool_)
            occurs[place] = True
            places, of_place = np.flatnonzero(occurs), np.cumsum(occurs) - 1
        else:
            places, place = np.unique(place, return_inverse=True)
            of_place = np.arange(len(places))
        values = [low + number - 1 if number else None for number in places.tolist()]
        found.append(PackedColumn(values, of_place, place))
        lines = rest
    return found[::-1]
