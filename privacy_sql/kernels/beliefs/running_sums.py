"""The prior over one wide numeric column by running sums: no weight for each pair of values.

li2009, eq. (1). Within reach h = B·R of the target x the Epanechnikov sum Σ c·(1 - ((v - x)/h)²) is
S0 - (x²·S0 - 2x·S1 + S2)/h², where S0, S1 and S2 are sums of c, c·v and c·v² over x - h < v < x + h:
differences of running sums. Everything is whole numbers until the last division, so nothing cancels.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privacy_sql.errors import UsageError

Array = NDArray[Any]
ROOM = 2**62


def running_sum_mass(
    rows: tuple[Array, Array, Array, Array],
    targets: tuple[Array, Array],
    reach: Fraction | None,
    n_sensitive: int,
) -> Array:
    """Σ w·c per target and sensitive value, as floats, among rows of the target's own key.

    `rows` are key, value, sensitive value and count, `targets` key and value; all whole numbers. Without a
    reach everybody with the key counts in full.

    >>> ones = np.ones(3, dtype=np.int64)
    >>> rows = (0 * ones, np.array([0, 1, 9]), 0 * ones, ones)
    >>> running_sum_mass(rows, (0 * ones[:1], np.array([0])), Fraction(2), 1).tolist()
    [[1.75]]
    """
    key, value, sensitive, counts = rows
    low, high = int(value.min(initial=0)), int(value.max(initial=0))
    middle, width = (low + high) // 2, high - low + 2
    half = max(high - middle, middle - low) + math.ceil(reach or 0) + 1
    n_keys = int(max(key.max(initial=0), targets[0].max(initial=0))) + 1
    if max(n_keys * width, 4 * int(counts.sum()) * half * half) >= ROOM:
        raise UsageError(
            "wide_column", "a column has numbers too large to sum", hint="Group its numbers into bands first."
        )
    line = key * width + (value - low)
    order = np.argsort(line, kind="stable")
    line, v, s, c = line[order], value[order] - middle, sensitive[order], counts[order]
    # where the values strictly within reach of each target begin and end, on the line of keys and values:
    # for whole numbers x - h < v means x - ceil(h) < v, and so on the other side
    at_key, x = targets
    farthest = width + abs(int(x.max(initial=0))) + abs(int(x.min(initial=0)))
    whole = farthest if reach is None else math.ceil(reach)
    begin = np.clip(x - whole + 1, low, high + 1) - low
    end = np.clip(x + whole, low, high + 1) - low
    first, last = (np.searchsorted(line, at_key * width + at) for at in (begin, end))
    x = x - middle
    mass = np.zeros((len(x), n_sensitive))
    for each in range(n_sensitive):
        here = np.where(s == each, c, 0)
        running = (np.concatenate([[0], np.cumsum(here * v**power)]) for power in range(3))
        s0, s1, s2 = (np.asarray(sums[last] - sums[first]) for sums in running)
        mass[:, each] = s0
        if reach is not None:
            # people - squares/h², the difference taken in whole numbers
            top, bottom = (reach * reach).numerator, (reach * reach).denominator
            squares = x * x * s0 - 2 * x * s1 + s2
            less = s0.astype(object) * top - squares.astype(object) * bottom
            mass[:, each] = [n / top for n in less.tolist()]
    return mass
