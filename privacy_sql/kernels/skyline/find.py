"""The knowledge skyline of a release (Chen, LeFevre and Ramakrishnan, VLDB Journal 2008, Sec. 6.3)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial

from privacy_sql.kernels.skyline.breach_probability import (
    Amounts,
    SkylineGroup,
    ValuesPerPerson,
    innocent,
    is_safe,
)
from privacy_sql.kernels.skyline.groups import Histograms

Point = tuple[int | None, int | None, int | None]  # (ℓ, k, m); None means unbounded


def find_skyline(tables: Histograms, value: object, limit: Fraction, case: ValuesPerPerson) -> list[Point]:
    """SkylineFind (Fig. 5): all maximal (ℓ, k, m) under which the breach probability stays below `limit`.

    None means unbounded: σ does not occur, or (sets and multisets) ruling out more values does not help any
    more. Differs from the paper: equality with the limit is unsafe in every loop, and the search follows the
    edge of each staircase of (k, m).

    >>> find_skyline(Histograms.of([{"a": 1, "c": 4}]), "a", Fraction(1), "one")
    [(0, 0, 3), (0, 1, 2), (0, 2, 1), (0, 3, 0)]
    """
    if value not in tables.values or not tables.counts[:, tables.values.index(value)].any():
        return [(None, None, None)]
    last = tables.most_others(value)
    found: list[Point] = []
    corners = _staircase(tables.about(value, 0, case), 0, limit, case)
    for ruled_out in range(last + 1):
        beyond: set[tuple[int, int]] = set()
        if ruled_out < last and corners:
            beyond = _staircase(tables.about(value, ruled_out + 1, case), ruled_out + 1, limit, case)
        name = None if ruled_out == last and case != "one" else ruled_out
        found += [(name, k, m) for k, m in corners - beyond]
        corners = beyond
    return sorted(found, key=lambda point: (math.inf if point[0] is None else point[0], point[1:]))


def _staircase(
    groups: Sequence[SkylineGroup], ruled_out: int, limit: Fraction, case: ValuesPerPerson
) -> set[tuple[int, int]]:
    """The maximal safe (k, m) for one number of values ruled out."""

    def safe(known: int, family: int) -> bool:
        return is_safe(groups, Amounts(ruled_out, known, family), limit, case)

    bound = min(innocent(g, case) for g in groups)
    known, family, corners = _last_true(lambda k: safe(k, 0), 0, bound), 0, set()
    while known >= 0:
        family = _last_true(partial(safe, known), family, bound)
        corners.add((known, family))
        family += 1
        known = _next_lower(partial(safe, family=family), known)
    return corners


def _next_lower(holds: Callable[[int], bool], above: int) -> int:
    """The largest i below `above` where `holds` is true, or -1; `holds` is true up to some number."""
    return above - 2 - _last_true(lambda down: not holds(above - 1 - down), 0, above)


def _last_true(holds: Callable[[int], bool], start: int, stop: int) -> int:
    """The largest i in [start, stop) where `holds` is true, or start - 1: long strides, then halving."""
    low, stride = start - 1, 1
    while low + stride < stop and holds(low + stride):
        low, stride = low + stride, 2 * stride
    high = min(low + stride, stop)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
