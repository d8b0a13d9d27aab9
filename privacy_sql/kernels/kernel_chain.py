"""In which order the attributes of a product kernel are summed over: Li, Li and Zhang 2009, eq. (2).

The weight of two people is a product over attributes, so the sum over people is taken attribute by attribute;
what it costs depends on the order, and on what the kernel of an attribute at its bandwidth amounts to.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

MOST_ORDERED = 8
"""Attributes whose every order is compared; more are summed over from the smallest to the largest."""

FEW = 4
"""Sums that may stand for an attribute: S0, S1 and S2 of its numbers, and one for NULL."""

EVERYBODY = 0.1
"""The least weight of an attribute that is told by a few sums, so that nothing is lost where they cancel."""

FLAGGED = 1 << 18
"""Numbers below this are told apart by flags instead of sorting."""


@dataclass(frozen=True)
class Chain:
    """The order in which attributes are summed over, and the two sides it runs between.

    Attributes that keep only identical values (`same`) are one `key` on both sides; those that weigh
    everybody alike are summed away at once; `sums` are told by a few sums and need no step; `order` lists the
    rest. `bytes` is the largest step for one sensitive value.
    """

    order: tuple[int, ...]
    same: tuple[int, ...]
    sums: dict[int, tuple[Array, Array]]
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
    sums = _told_by_sums(weights, mixing)
    mixing = tuple(i for i in mixing if i not in sums)
    sizes = [len(w) for w in weights]
    both = keys(np.concatenate([codes, targets])[:, same], [sizes[i] for i in same])
    key, wanted_key = both[: len(codes)], both[len(codes) :]
    # with many attributes their order is fixed, the smallest first, instead of tried
    tried = mixing if len(mixing) <= MOST_ORDERED else tuple(sorted(mixing, key=sizes.__getitem__))
    steps = list(_steps(tried, len(mixing) <= MOST_ORDERED))
    sources = _occurring(codes, sizes, {frozenset(mixing) - done - {i} for done, i in steps})
    wanted = np.column_stack([targets, wanted_key])
    n_keys = int(both.max(initial=0)) + 1
    goals = _occurring(wanted, [*sizes, n_keys], {done for done, _ in steps}, always=len(weights))
    best: dict[frozenset[int], tuple[int, int, tuple[int, ...]]] = {frozenset(): (0, 0, ())}
    for done, i in steps:
        total, peak, order = best[done]
        cells = goals[done] * sources[frozenset(mixing) - done - {i}] * sizes[i]
        found = (total + cells, max(peak, cells), (*order, i))
        best[done | {i}] = min(found, best.get(done | {i}, found))
    _, peak, order = best[frozenset(mixing)]
    needed = 24 * max(peak, len(targets)) * n_sums(sums)
    return Chain(order, tuple(same), sums, key, wanted_key, codes, targets, needed)


def is_identity(weights: Array) -> bool:
    """Whether a column at its bandwidth keeps identical values only."""
    return bool(np.count_nonzero(weights) == len(weights) and np.all(np.diagonal(weights) == 1))


def n_sums(sums: dict[int, tuple[Array, Array]]) -> int:
    """How many numbers stand for one, over all attributes told by sums."""
    return int(np.prod([right.shape[0] for _, right in sums.values()], dtype=int))


def _told_by_sums(weights: Sequence[Array], mixing: Sequence[int]) -> dict[int, tuple[Array, Array]]:
    """The attributes told by sums, as many as there are until FEW² numbers stand for one."""
    made: dict[int, tuple[Array, Array]] = {}
    for i in mixing:
        found = few_sums(weights[i])
        if found is not None and n_sums({**made, i: found}) <= FEW**2:
            made[i] = found
    return made


def few_sums(weights: Array) -> tuple[Array, Array] | None:
    """Weights as a product of two thin matrices, if there is one: what targets ask, and what sources sum to.

    Where a bandwidth exceeds the range of a number, its kernel 1 - ((a - b)/h)² is a polynomial: three sums
    over people, of 1, b and b², tell it for every a. Found by elimination, so for a matrix of the publisher's
    own as well. None where it takes more sums than the matrix has values to spare, or somebody weighs little.

    >>> ages = np.arange(20) / 19
    >>> left, right = few_sums(1 - ((ages[:, None] - ages) / 1.25) ** 2)
    >>> right.shape
    (3, 20)
    """
    if weights.dtype == object or len(weights) <= 2 * FEW or weights.min() < EVERYBODY:
        return None
    rest, left, right = weights.copy(), [], []
    for _ in range(FEW):
        row, column = divmod(int(np.abs(rest).argmax()), len(rest))
        left.append(rest[:, column] / rest[row, column])
        right.append(rest[row].copy())
        rest -= np.outer(left[-1], right[-1])
        if np.abs(rest).max() <= 1e-14:
            return np.column_stack(left), np.array(right)
    return None


def keys(columns: Array, sizes: Sequence[int]) -> NDArray[np.int64]:
    """One number per row, equal for equal rows, without gaps."""
    return distinct(columns, sizes)[1]


def distinct(columns: Array, sizes: Sequence[int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """One row for each combination of codes that occurs, in their order, and the place of every row's own."""
    key, below = np.zeros(len(columns), dtype=np.int64), 1
    for i, size in enumerate(sizes):
        if below * size > FLAGGED:
            key, below = _numbered(key, below)
        key, below = key * size + columns[:, i], below * size
    place, n = _numbered(key, below)
    first = np.empty(n, dtype=np.int64)
    first[place] = np.arange(len(place))
    return first, place


def _numbered(values: Array, below: int) -> tuple[NDArray[np.int64], int]:
    """For each value its place among those that occur, and their number; all lie between 0 and `below`."""
    if below > FLAGGED:
        found, place = np.unique(values, return_inverse=True)
        return place.reshape(-1), len(found)
    flags = np.zeros(below, dtype=bool)
    flags[values] = True
    places = np.cumsum(flags) - 1
    return places[values], int(np.count_nonzero(flags))


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
        rows[subset] = parent[distinct(parent[:, chosen], [sizes[i] for i in chosen])[0]]
    return {subset: len(found) for subset, found in rows.items()}
