"""How many people of each group have near values, on arrays: its fullest window or its fullest ball."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from privacy_sql.counted.groups import Groups, Ints


def fullest_window(groups: Groups, codes: Sequence[int], place: Sequence[int], upto: Sequence[int]) -> Ints:
    """The most people of each group between the place of one of its values and the last place near it."""
    place_of, upto_of = np.zeros((2, max(codes, default=0) + 1), np.int64)
    place_of[codes], upto_of[codes] = place, upto
    bits = int(upto_of.max(initial=0)).bit_length()
    # places are in order within each group, and one search finds where all windows end
    found = (groups.of_each << bits) | place_of[groups.value]
    order = np.argsort(found, kind="stable")
    found, last = found[order], ((groups.of_each << bits) | upto_of[groups.value])[order]
    sums = np.concatenate([[0], np.cumsum(groups.n[order])])
    held = sums[np.searchsorted(found, last, side="right")] - sums[np.searchsorted(found, found)]
    return np.asarray(groups.largest(held))


def fullest_ball(groups: Groups, balls: Iterable[frozenset[int]]) -> Ints:
    """The most people of each group who have values of one ball."""
    fullest = np.zeros(len(groups), np.int64)
    for ball in balls:
        held = groups.sums(np.where(np.isin(groups.value, [*ball]), groups.n, 0))
        fullest = np.maximum(fullest, held)
    return fullest
