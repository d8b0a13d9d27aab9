"""What an adversary who studied the data believes before the release: Li, Li and Zhang 2009, Sec. II.

Every person spreads her sensitive value over the people who resemble her; the bandwidth B says how far.
All functions work on floats and on exact fractions: arrays of `Fraction` (dtype object) give fractions back.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from privacy_sql.errors import UsageError

Number = int | float | Fraction
Array = NDArray[Any]
Kernel = Literal["epanechnikov", "uniform"]

SMALLEST_WEIGHT = 1e-12
"""A weight below this is 0, so that fractions and floats agree on who resembles whom."""

MOST_ORDERED = 8
"""Attributes whose every order is compared; more are summed over from the smallest to the largest."""

MEMORY_BUDGET = 1 << 30
"""Bytes that the dense contraction may use: two copies of its counts."""


def as_number(value: Number | str) -> Fraction | float:
    """A number as it was meant: text becomes an exact fraction, "inf" infinity; nan is refused.

    >>> as_number("0.3")
    Fraction(3, 10)
    """
    if isinstance(value, str):
        value = math.inf if value.strip().lower() in ("inf", "infinity", "∞") else Fraction(value.strip())
    if value != value:
        raise UsageError("bad_number", "nan is not a number here: give a number, a fraction as text, or inf")
    return value if isinstance(value, float) else Fraction(value)


def _check_bandwidth(bandwidth: Fraction | float) -> None:
    if bandwidth < 0:
        raise UsageError(
            "bad_number",
            f"A bandwidth is 0 or more, not {bandwidth}: 0 knows each person, inf only the table",
        )


def kernel_weight(
    distance: Number | str, bandwidth: Number | str, kernel: Kernel = "epanechnikov"
) -> Fraction | float:
    """How much one person tells about another at this distance: Li et al. 2009, Sec. II.C.

    1 - (d/B)² below the bandwidth and 0 from there on. The paper's factor 3/(4B) cancels in the prior and is
    left out. B = 0 keeps identical values only, B = ∞ everybody. The uniform kernel is 1 on [0, B], closed.

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


def numeric_distance(a: Number | str, b: Number | str, width: Any) -> Fraction | float:
    """|a - b| / R: Li et al. 2009, Sec. II.C. `width` is R, or the pair (lowest, highest) of the domain.

    >>> numeric_distance(39, 17, (17, 90))
    Fraction(22, 73)
    """
    if isinstance(width, str | int | float | Fraction):
        full = as_number(width)
    else:
        low, high = width
        full = as_number(high) - as_number(low)
    if full < 0 or full == math.inf:
        raise UsageError(
            "bad_number",
            "The range of a numeric column is a finite number, 0 or more: give it as (low, high)",
        )
    apart: Any = as_number(a) - as_number(b)
    if full == 0:
        return Fraction(0)  # a column with one value cannot tell people apart
    quotient: Fraction | float = abs(apart) / full
    return quotient


def weight_matrix(distances: Array, bandwidth: Number | str, kernel: Kernel = "epanechnikov") -> Array:
    """`kernel_weight` of a whole distance matrix; fractions stay fractions, floats stay floats."""
    b = as_number(bandwidth)
    cells = np.asarray(distances)
    _check_distances(cells)
    if cells.dtype == object:
        exact = np.empty(cells.shape, dtype=object)
        exact[...] = [[kernel_weight(d, b, kernel) for d in row] for row in cells]
        return exact
    _check_bandwidth(b)
    if b == math.inf:
        return np.ones(cells.shape)
    if kernel == "uniform":
        return np.asarray(cells <= float(b), dtype=float)
    if b == 0:
        return np.asarray(cells == 0, dtype=float)
    weights = np.asarray(1 - (cells / float(b)) ** 2)
    return np.asarray(np.where((cells < float(b)) & (weights >= SMALLEST_WEIGHT), weights, 0.0))


def _check_distances(cells: Array) -> None:
    if cells.ndim != 2 or cells.shape[0] != cells.shape[1]:
        raise UsageError(
            "bad_number", f"A distance matrix is square, this one is {' x '.join(map(str, cells.shape))}"
        )
    if any(cells[i, i] != 0 for i in range(len(cells))):
        raise UsageError(
            "bad_number", "A distance matrix has zeros on its diagonal: a value is at distance 0 from itself"
        )
    if not all(0 <= d < math.inf for d in cells.ravel()):
        raise UsageError("bad_number", "Distances are finite numbers, 0 or more")


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
    attribute's `weights`; `sensitive` and `counts` belong to the same rows. The own tuple is included. A
    target nobody resembles has no prior: a row of nan (None among fractions). The sum over people is taken by
    attribute, so its cost grows with what occurs on both sides and never with pairs of people.
    """
    exact = any(w.dtype == object for w in weights)
    chain = plan_chain(codes, weights, targets)
    if chain.bytes > budget:
        raise MemoryError(
            f"The dense prior needs {chain.bytes:,} bytes and may use {budget:,}: use the SQL chain"
        )
    mass = np.empty((len(targets), n_sensitive), dtype=object if exact else float)
    at_once = max(1, min(n_sensitive, budget // max(1, chain.bytes)))
    for first in range(0, n_sensitive, at_once):
        here = (sensitive >= first) & (sensitive < first + at_once)
        start = _source_block(
            chain, here, sensitive - first, counts, min(at_once, n_sensitive - first), exact
        )
        mass[:, first : first + at_once] = _contract(chain, start, weights)
    return _normalised(mass, exact)


@dataclass(frozen=True)
class Chain:
    """The order in which attributes are summed over, and the two sides it runs between.

    Attributes that keep only identical values (`same`) are one `key` on both sides; those that weigh
    everybody alike are summed away at once; `order` lists the rest. `bytes` is the largest step for one
    sensitive value.
    """

    order: tuple[int, ...]
    same: tuple[int, ...]
    key: Array
    wanted_key: Array
    codes: Array
    targets: Array
    bytes: int


def plan_chain(codes: Array, weights: Sequence[Array], targets: Array) -> Chain:
    """The cheapest order by dynamic program over subsets of attributes.

    After the attributes C the state is indexed by the target values of C that occur and the source values of
    the others that occur; a step costs that many cells times the values of the attribute it removes.
    """
    same = [i for i, w in enumerate(weights) if is_identity(w)]
    mixing = tuple(i for i, w in enumerate(weights) if i not in same and not np.all(w == 1))
    sizes = [len(w) for w in weights]
    both = keys(np.concatenate([codes, targets])[:, same], [sizes[i] for i in same])
    key, wanted_key = both[: len(codes)], both[len(codes) :]
    # with many attributes their order is fixed, the smallest first, instead of tried
    tried = mixing if len(mixing) <= MOST_ORDERED else tuple(sorted(mixing, key=sizes.__getitem__))
    steps = list(_steps(tried, len(mixing) <= MOST_ORDERED))
    sources = _occurring(codes, sizes, {frozenset(mixing) - done - {i} for done, i in steps})
    wanted = np.column_stack([targets, wanted_key])
    goals = _occurring(wanted, [*sizes, len(both)], {done for done, _ in steps}, always=len(weights))
    best: dict[frozenset[int], tuple[int, int, tuple[int, ...]]] = {frozenset(): (0, 0, ())}
    for done, i in steps:
        total, peak, order = best[done]
        cells = goals[done] * sources[frozenset(mixing) - done - {i}] * sizes[i]
        found = (total + cells, max(peak, cells), (*order, i))
        best[done | {i}] = min(found, best.get(done | {i}, found))
    _, peak, order = best[frozenset(mixing)]
    return Chain(order, tuple(same), key, wanted_key, codes, targets, 24 * max(peak, len(targets)))


def is_identity(weights: Array) -> bool:
    """Whether a column at its bandwidth keeps identical values only."""
    return bool(np.count_nonzero(weights) == len(weights) and np.all(np.diagonal(weights) == 1))


def keys(columns: Array, sizes: Sequence[int]) -> NDArray[np.int64]:
    """One number per row, equal for equal rows, without gaps."""
    key = np.zeros(len(columns), dtype=np.int64)
    for i, size in enumerate(sizes):
        key = np.unique(key * size + columns[:, i], return_inverse=True)[1].reshape(-1)
    return key


def _steps(mixing: tuple[int, ...], every: bool) -> Iterator[tuple[frozenset[int], int]]:
    """What can be summed over next after which attributes: every order there is, or the one given."""
    for n in range(len(mixing)):
        for done in map(frozenset, combinations(mixing, n) if every else [mixing[:n]]):
            yield from ((done, i) for i in mixing if i not in done and (every or i == mixing[n]))


def _occurring(
    table: Array, sizes: Sequence[int], subsets: set[frozenset[int]], always: int | None = None
) -> dict[frozenset[int], int]:
    """How many combinations occur, for each subset of the columns (with the column `always` besides)."""
    fixed = () if always is None else (always,)
    rows: dict[frozenset[int], Array] = {}
    for subset in sorted(subsets, key=len, reverse=True):
        chosen = [*sorted(subset), *fixed]
        larger = (rows[subset | {i}] for i in range(table.shape[1]) if subset | {i} in rows)
        parent = min(larger, key=len, default=table)
        _, first = np.unique(keys(parent[:, chosen], [sizes[i] for i in chosen]), return_index=True)
        rows[subset] = parent[first]
    return {subset: len(found) for subset, found in rows.items()}


def _source_block(
    chain: Chain, here: Array, sensitive: Array, counts: Array, width: int, exact: bool
) -> tuple[Array, Array]:
    """Counts of some sensitive values as (source combinations, keys, values), and those combinations."""
    order = list(chain.order)
    codes = chain.codes[:, order]
    rows, place = (
        np.unique(codes, axis=0, return_inverse=True) if order else (codes[:1], np.zeros(len(codes), int))
    )
    n_keys = int(max(chain.key.max(initial=0), chain.wanted_key.max(initial=0))) + 1
    block = np.zeros((len(rows), n_keys, width), dtype=object if exact else float)
    added = counts[here].astype(object) if exact else counts[here]
    np.add.at(block, (place.reshape(-1)[here], chain.key[here], sensitive[here]), added)
    return block, rows


def _contract(chain: Chain, start: tuple[Array, Array], weights: Sequence[Array]) -> Array:
    """Σ_j w_j [S_j = s] for every target: attribute by attribute, source values give way to target values.

    The state is (source combinations left, target combinations reached, sensitive values).
    """
    block, rows = start
    at = chain.wanted_key
    for i in chain.order:
        weight = weights[i]
        left = np.zeros(len(rows), dtype=int)
        rest = rows[:, 1:]
        if rest.shape[1]:
            rest, left = np.unique(rest, axis=0, return_inverse=True)
        spread = np.zeros((len(weight), int(left.max()) + 1, *block.shape[1:]), dtype=block.dtype)
        spread[rows[:, 0], left.reshape(-1)] = block
        spread = (weight @ spread.reshape(len(weight), -1)).reshape(spread.shape)
        # only the target combinations that occur go on
        pairs, at = np.unique(at * len(weight) + chain.targets[:, i], return_inverse=True)
        block = np.moveaxis(spread[pairs % len(weight), :, pairs // len(weight)], 0, 1)
        rows = rest
    return np.asarray(block[0, at] if len(block) else np.zeros((len(at), block.shape[2])))


def _normalised(mass: Array, exact: bool) -> Array:
    total = mass.sum(axis=1, keepdims=True)
    if exact:
        prior = np.full(mass.shape, None, dtype=object)
        known = total[:, 0] > 0
        prior[known] = mass[known] / np.vectorize(Fraction, otypes=[object])(total[known])
        return prior
    return np.asarray(np.divide(mass, total, out=np.full(mass.shape, np.nan), where=total > 0))
