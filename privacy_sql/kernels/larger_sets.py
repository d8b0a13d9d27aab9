"""Larger sets of columns, each covering many of the sets that have to be counted.

A group of people who share the labels of a set is a union of groups who share the labels of a larger set. So
the table is counted once by the larger set, and every set inside it is counted from that result. A set is a
number with one bit for each column.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np


def larger_sets(sets: Sequence[int], sizes: Sequence[int], most: int) -> Iterator[tuple[int, list[int]]]:
    """Larger sets, each with the members of `sets` that it covers; every member of `sets` comes exactly once.

    `sizes` says how many labels each column has; no larger set has more than `most` combinations of labels.

    >>> list(larger_sets([0b0011, 0b0101, 0b1001], sizes=[2, 2, 2, 9], most=10))
    [(7, [3, 5]), (9, [9])]
    """
    left = np.array(sets, np.int64)
    while len(left):
        own = int(left[0])
        room = most
        for place, size in enumerate(sizes):
            room //= size if own >> place & 1 else 1
        while True:
            rest, n_sets = np.unique(left & ~own, return_counts=True)
            lacking = dict(zip(rest.tolist(), n_sets.tolist(), strict=True))
            fitting = [
                (lacking[1 << place], -size, place)
                for place, size in enumerate(sizes)
                if size <= room and 1 << place in lacking
            ]
            if not fitting:
                break
            _, negative, place = max(fitting)
            own, room = own | 1 << place, room // -negative
        inside = (left & ~own) == 0
        yield own, left[inside].tolist()
        left = left[~inside]
