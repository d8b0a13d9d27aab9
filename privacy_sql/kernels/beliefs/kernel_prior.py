"""What an adversary who studied the data believes before the release: Li, Li and Zhang 2009, Sec. II.

Every person's sensitive value counts as evidence about the people who resemble them; the bandwidth B says how
far. All functions work on floats and on exact fractions: arrays of `Fraction` (dtype object) give fractions
back.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from privacy_sql.errors import UsageError
from privacy_sql.kernels.beliefs.kernel_chain import SummingOrder, only_occurring, plan_chain
from privacy_sql.kernels.beliefs.kernel_halves import in_halves
from privacy_sql.kernels.distinct_codes import distinct
from privacy_sql.parameters import number_in

Number = int | float | Fraction
Array = NDArray[Any]
Kernel = Literal["epanechnikov", "uniform"]

SMALLEST_WEIGHT = 1e-12
"""A weight below this is 0, so that fractions and floats agree on who resembles whom."""

MOST = Fraction(sys.float_info.max)
"""A wider bandwidth counts everybody: no distance is near it."""

CACHED = 1 << 15
"""Cells of a block that a processor keeps at hand."""

MEMORY_BUDGET = 1 << 30
"""Bytes that the dense contraction may use: two copies of its counts."""


def as_number(value: Number | str) -> Fraction | float:
    """A number as it was meant: text becomes an exact fraction, "inf" infinity; nan is refused.

    >>> as_number("0.3")
    Fraction(3, 10)
    """
    number: Number | None
    if isinstance(value, str):
        number = math.inf if value.strip().lower() in ("inf", "infinity", "∞") else number_in(value)
    else:
        number = value
    if number is None or number != number:
        raise UsageError(
            "bad_number", "that is no number (nan is none): give a number, a fraction as text, or inf"
        )
    return number if isinstance(number, float) else Fraction(number)


def _check_bandwidth(bandwidth: Fraction | float) -> None:
    if bandwidth < 0:
        raise UsageError(
            "bad_number",
            f"A bandwidth is 0 or more, not {bandwidth}: 0 knows each person, inf only the table",
        )


def kernel_weight(
    distance: Number | str, bandwidth: Number | str, kernel: Kernel = "epanechnikov"
) -> Fraction | float:
    """How much one person's value says about another person at this distance: Li et al. 2009, Sec. II.C.

    1 - (d/B)² below the bandwidth, 0 from there on. The paper's factor 3/(4B) cancels in the prior and is
    left out. B = 0 counts identical people only, B = ∞ everybody. The uniform kernel is 1 on the closed
    interval [0, B].

    >>> kernel_weight("1/5", "2/5")
    Fraction(3, 4)
    """
    d, b = as_number(distance), as_number(bandwidth)
    _check_bandwidth(b)
    if d < 0:
        raise UsageError("bad_number", f"A distance is 0 or more, not {d}")
    if kernel not in ("epanechnikov", "uniform"):
        raise UsageError("bad_number", f'Unknown kernel "{kernel}": use "epanechnikov" or "uniform"')
    if d == 0 or b == math.inf:
        return Fraction(1)
    if kernel == "uniform":
        return Fraction(int(d <= b))
    if d >= b:
        return Fraction(0)
    ratio = d / b
    weight = 1 - ratio * ratio
    return weight if weight >= SMALLEST_WEIGHT else Fraction(0)


def numeric_distance(
    a: Number | str, b: Number | str, width: Number | str | Iterable[Number | str]
) -> Fraction | float:
    """|a - b| / R: Li et al. 2009, Sec. II.C. `width` is R, the pair (lowest, highest), or the whole domain.

    >>> numeric_distance(39, 17, (17, 90)), numeric_distance(1, 3, [5, 1, 3])
    (Fraction(22, 73), Fraction(1, 2))
    """
    full = _range(width)
    if not 0 <= full < math.inf:
        raise UsageError(
            "bad_number",
            "The range of a numeric column is a finite number, 0 or more: give it as (low, high), or the"
            " numbers of the domain",
        )
    apart: Any = as_number(a) - as_number(b)
    if full == 0:
        return Fraction(0)  # a column with one value cannot distinguish people
    quotient: Fraction | float = abs(apart) / full
    return quotient


def _range(width: Number | str | Iterable[Number | str]) -> Fraction | float:
    """How far a domain reaches: the number itself, high - low of a pair, or of the numbers of a domain."""
    if not isinstance(width, Iterable) or isinstance(width, str):
        return as_number(width)
    numbers = [as_number(number) for number in width]
    if not numbers or any(abs(number) == math.inf for number in numbers):
        return math.nan
    ordered = isinstance(width, Sequence) and len(numbers) == 2  # a pair is (low, high), in this order
    return numbers[1] - numbers[0] if ordered else max(numbers) - min(numbers)


def weight_matrix(distances: Array, bandwidth: Number | str, kernel: Kernel = "epanechnikov") -> Array:
    """`kernel_weight` of a whole distance matrix; fractions stay fractions, floats stay floats."""
    b = as_number(bandwidth)
    cells = np.asarray(distances)
    if cells.ndim != 2 or cells.shape[0] != cells.shape[1]:
        raise UsageError(
            "bad_number", f"A distance matrix is square, this one is {' x '.join(map(str, cells.shape))}"
        )
    if np.any(np.diagonal(cells) != 0):
        raise UsageError(
            "bad_number", "A distance matrix has zeros on its diagonal: a value is at distance 0 from itself"
        )
    if not np.all((cells >= 0) & (cells < math.inf)):
        raise UsageError("bad_number", "Distances are finite numbers, 0 or more")
    if cells.dtype == object:
        exact = np.empty(cells.shape, dtype=object)
        exact[...] = [[kernel_weight(d, b, kernel) for d in row] for row in cells]
        return exact
    _check_bandwidth(b)
    if b > MOST:
        return np.ones(cells.shape)
    if kernel == "uniform":
        return np.asarray(cells <= float(b), dtype=float)
    if float(b) == 0:
        return np.asarray(cells == 0, dtype=float)
    weights = np.asarray(1 - (cells / float(b)) ** 2)
    return np.asarray(np.where((cells < float(b)) & (weights >= SMALLEST_WEIGHT), weights, 0.0))


def kernel_prior(
    codes: Array,
    sensitive: Array,
    counts: Array,
    weights: Sequence[Array],
    targets: Array,
    n_sensitive: int,
    budget: int = MEMORY_BUDGET,
) -> Array:
    """P_pri(B, q) for every target, as rows over the sensitive values: Li et al. 2009, eq. (2).

    `codes` are the distinct quasi-identifiers of the table, one column per attribute, each code a row of that
    attribute's `weights`; `sensitive` and `counts` belong to the same rows. A person's own row counts too. A
    target whom nobody resembles has no prior: a row of nan (None among fractions). The sum over people goes
    attribute by attribute, so its cost grows with the combinations on both sides and never with pairs of
    people.
    """
    exact = any(w.dtype == object for w in weights)
    codes, weights, targets = only_occurring(codes, weights, targets)
    chain = plan_chain(codes, weights, targets)
    if chain.bytes > budget:
        raise MemoryError(
            f"The dense prior needs {chain.bytes:,} bytes and may use {budget:,}: use the SQL chain"
        )
    mass = np.zeros((len(targets), n_sensitive), dtype=object if exact else float)
    if chain.same and chain.bytes * n_sensitive <= budget:
        for part, numbers, pairs in _one_value_each(chain, sensitive, counts, n_sensitive):
            mass[pairs] = _mass(part, np.zeros(len(numbers), dtype=int), numbers, 1, weights, exact)[:, 0]
        return _normalised(mass, exact)
    at_once = max(1, min(n_sensitive, budget // max(1, chain.bytes)))
    for first in range(0, n_sensitive, at_once):
        width = min(at_once, n_sensitive - first)
        mass[:, first : first + width] = _mass(chain, sensitive - first, counts, width, weights, exact)
    return _normalised(mass, exact)


def _one_value_each(
    chain: SummingOrder, sensitive: Array, counts: Array, n_sensitive: int
) -> Iterator[tuple[SummingOrder, Array, tuple[Array, Array]]]:
    """The chain with the sensitive value as part of the key, some keys at a time, with counts and targets.

    People who are alike in many attributes have few different values, so most of a block over all values
    would be zeros. Targets come as (target, value).
    """
    n_keys = int(max(chain.key.max(initial=0), chain.wanted_key.max(initial=0))) + 1
    first, place = distinct(np.column_stack([chain.key, sensitive]), [n_keys, n_sensitive])
    rows, asking = (np.argsort(key, kind="stable") for key in (place, chain.wanted_key))
    place, key, wanted = place[rows], chain.key[first], chain.wanted_key[asking]
    begin, end = (np.searchsorted(key, wanted, side) for side in ("left", "right"))
    ends = np.concatenate([[0], np.cumsum(end - begin)])
    target = np.repeat(asking, end - begin)
    one_value = np.arange(len(target)) + np.repeat(begin - ends[:-1], end - begin)
    at_once = max(1, CACHED * n_keys // max(1, chain.bytes // 24 * len(first) // n_keys))
    for low in range(0, n_keys, at_once):
        values = np.searchsorted(key, (low, low + at_once))
        if values[0] == values[1]:
            continue  # nobody has these keys
        here = slice(*np.searchsorted(place, values))
        there = slice(*ends[np.searchsorted(wanted, (low, low + at_once))])
        part = replace(
            chain,
            key=place[here] - values[0],
            wanted_key=one_value[there] - values[0],
            codes=chain.codes[rows[here]],
            targets=chain.targets[target[there]],
            bytes=0,
        )
        yield part, counts[rows[here]], (target[there], sensitive[first][one_value[there]])


def _mass(
    chain: SummingOrder, sensitive: Array, counts: Array, width: int, weights: Sequence[Array], exact: bool
) -> Array:
    """Σ_j w_j [S_j = s] for every target and the sensitive values from 0 to `width`."""
    here = (sensitive >= 0) & (sensitive < width)
    # counts by (source combinations, keys, sums, sensitive values), and the combinations
    codes = chain.codes[:, list(chain.order)]
    first, place = distinct(codes, [int(c.max(initial=0)) + 1 for c in codes.T])
    n_keys = int(max(chain.key.max(initial=0), chain.wanted_key.max(initial=0))) + 1
    added = _products(
        [right.T[chain.codes[here, i]] for i, (_, right) in chain.sums.items()], int(here.sum())
    )
    added = (counts[here].astype(object) if exact else counts[here])[:, None] * added
    shape = (len(first), n_keys, width)
    at = np.ravel_multi_index((place[here], chain.key[here], sensitive[here]), shape)
    summed = []
    for summand in added.T:
        if exact:
            cells = np.zeros(math.prod(shape), dtype=object)
            np.add.at(cells, at, summand)
        else:
            cells = np.bincount(at, summand, math.prod(shape))
        summed.append(cells.reshape(shape))
    block = summed[0][:, :, None] if len(summed) == 1 else np.stack(summed, axis=2)
    return _contract(chain, (block, codes[first]), weights)


def _products(sides: Sequence[Array], n: int) -> Array:
    """For each of n rows all products of a number from one side and a number from the other."""
    made = np.ones((n, 1), dtype=int)
    for side in sides:
        made = (made[:, :, None] * side[:, None, :]).reshape(n, -1)
    return made


def _contract(chain: SummingOrder, start: tuple[Array, Array], weights: Sequence[Array]) -> Array:
    """Σ_j w_j [S_j = s] for every target: attribute by attribute, target values replace source values.

    The state is (source combinations left, target combinations reached, sums times sensitive values).
    """
    block, rows = start
    n_values, at = block.shape[-1], chain.wanted_key
    block = block.reshape(*block.shape[:2], -1)
    if chain.halves is not None:
        # the same with half of the attributes from the sources and half from the targets
        columns = list(chain.order)
        sources = np.zeros((len(rows), len(weights)), dtype=np.int64)
        sources[:, columns] = rows
        one, at = distinct(chain.targets[:, columns], [len(weights[i]) for i in columns])
        reached: Array = in_halves(chain.halves, block[:, 0], sources, chain.targets[one], weights)[at]
        return _asked(chain, reached, n_values)
    room = np.empty((2, chain.bytes // 24 * n_values), dtype=block.dtype)
    for i in chain.order:
        weight, n_goals, rest = weights[i], block.shape[1], rows[:, 1:]
        first, left = distinct(rest, [int(c.max(initial=0)) + 1 for c in rest.T])
        size = len(weight) * len(first) * math.prod(block.shape[1:])
        if room.shape[1] < size:
            room = np.empty((2, size), dtype=block.dtype)
        spread, wide = (part[:size].reshape(len(weight), -1) for part in room)
        if block.size == size:  # every source occurs, in order
            spread = block.reshape(len(weight), -1)
        else:
            spread[...] = 0
            spread.reshape(len(weight), len(first), *block.shape[1:])[rows[:, 0], left] = block
        wide = np.matmul(weight, spread, out=wide).reshape(-1, block.shape[2])
        # keep only the target combinations that occur; at the end, all targets
        one, next_at = np.arange(len(at)), np.arange(len(at))
        if rest.shape[1]:
            goal = at * len(weight) + chain.targets[:, i]
            one, next_at = distinct(goal[:, None], [n_goals * len(weight)])
        source = chain.targets[one, i] * len(first) + np.arange(len(first))[:, None]
        block = wide.take(source * n_goals + at[one], axis=0)
        rows, at = rest[first], next_at
    return _asked(chain, block[0] if chain.order else block[0, at], n_values)


def _asked(chain: SummingOrder, reached: Array, n_values: int) -> Array:
    """Each target's factors for the sums that replace attributes."""
    if not chain.sums:
        return reached
    asked = _products([left[chain.targets[:, i]] for i, (left, _) in chain.sums.items()], len(reached))
    return np.asarray(np.einsum("ij,ijs->is", asked, reached.reshape(len(reached), -1, n_values)))


def _normalised(mass: Array, exact: bool) -> Array:
    total = mass.sum(axis=1, keepdims=True)
    if exact:
        prior = np.full(mass.shape, None, dtype=object)
        known = total[:, 0] > 0
        prior[known] = mass[known] / np.vectorize(Fraction, otypes=[object])(total[known])
        return prior
    return np.asarray(np.divide(mass, total, out=np.full(mass.shape, np.nan), where=total > 0))
