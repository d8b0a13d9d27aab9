"""Distinct rows of small whole numbers: which combinations occur, and the index of each row's combination."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

FLAGS = 32
"""Flags per row up to which flags, not sorting, find the distinct numbers."""

LARGEST = 1 << 62
"""Keys stay below this."""


def keys(columns: Array, sizes: Sequence[int]) -> NDArray[np.int64]:
    """One number per row, equal for equal rows, without gaps."""
    return distinct(columns, sizes)[1]


def distinct(columns: Array, sizes: Sequence[int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """One row for each combination of codes that occurs, sorted, and the index of every row's combination."""
    key, below = np.zeros(len(columns), dtype=np.int64), 1
    for i, size in enumerate(sizes):
        if below * size > LARGEST:
            key, below = _numbered(key, below)
        key, below = key * size + columns[:, i], below * size
    place, n = _numbered(key, below)
    first = np.empty(n, dtype=np.int64)
    first[place] = np.arange(len(place))
    return first, place


def _numbered(values: Array, below: int) -> tuple[NDArray[np.int64], int]:
    """For each value its rank among those that occur, and how many occur; all are from 0 to below `below`."""
    if below > FLAGS * len(values):
        found, place = np.unique(values, return_inverse=True)
        return place.reshape(-1), len(found)
    flags = np.zeros(below, dtype=bool)
    flags[values] = True
    places = np.cumsum(flags) - 1
    return places[values], int(np.count_nonzero(flags))
