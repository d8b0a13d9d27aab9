"""In which order to sum over the attributes of a product kernel: Li, Li and Zhang 2009, eq. (2).

The weight of two people is a product over attributes, so the sum over people can be computed attribute by
attribute. Its cost depends on the order, and on how the kernel of each attribute behaves at its bandwidth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privacy_sql.kernels.beliefs.kernel_halves import Halves, Occurring, best_halves
from privacy_sql.kernels.distinct_codes import distinct, keys

Array = NDArray[Any]
Subset = frozenset[int]
Step = tuple[Subset, int]  # the attributes that are done, and the next one

MOVED = 32
"""What moving a cell through a step costs, in multiplications."""

MOST_ORDERED = 8
"""Attributes whose every order is compared; more are summed over from the smallest to the largest."""

FEW = 4
"""Sums that may stand for an attribute: S0, S1 and S2 of its numbers, and one for NULL."""

EVERYBODY = 0.1
"""The least weight of an attribute that a few sums describe, so that nothing is lost where they cancel."""


@dataclass(frozen=True)
class SummingOrder:
    """The order in which attributes are summed over, from the sources on one side to the targets.

    Attributes that keep only identical values (`same`) form one `key` on both sides; those that weigh
    everybody alike are summed away at once; for `sums` a few sums are enough and no step is needed; `order`
    lists the rest, and `halves` are two steps over all of them instead, where that costs less. `rows` is the
    widest state for one sensitive value, `bytes` the largest step in memory.
    """

    order: tuple[int, ...]
    same: tuple[int, ...]
    sums: dict[int, tuple[Array, Array]]
    key: Array
    wanted_key: Array
    codes: Array
    targets: Array
    rows: int
    bytes: int
    halves: Halves | None


def plan_chain(codes: Array, weights: Sequence[Array], targets: Array) -> SummingOrder:
    """The cheapest order, found by a dynamic program over subsets of attributes.

    After the attributes C the state is indexed by the target values of C that occur and the source values of
    the others that occur; a step costs that many cells times the number of values of the attribute it
    removes.
    """
    same = [i for i, w in enumerate(weights) if is_identity(w)]
    unlike = [i for i, w in enumerate(weights) if i not in same and not np.all(w == 1)]
    # the attributes replaced by sums, until one attribute would need FEW² numbers
    sums: dict[int, tuple[Array, Array]] = {}
    for i in unlike:
        found = few_sums(weights[i])
        if found is not None and n_sums({**sums, i: found}) <= FEW**2:
            sums[i] = found
    mixing = frozenset(unlike).difference(sums)
    sizes = [len(w) for w in weights]
    both = keys(np.concatenate([codes, targets])[:, same], [sizes[i] for i in same])
    key, wanted_key = both[: len(codes)], both[len(codes) :]
    # with many attributes no orders are compared: the smallest comes first
    every = len(mixing) <= MOST_ORDERED
    tried = sorted(mixing, key=None if every else sizes.__getitem__)
    # which attribute can come next after which others
    steps = [
        (done, i)
        for n in range(len(tried))
        for done in map(frozenset, combinations(tried, n) if every else [tried[:n]])
        for i in tried
        if i not in done and (every or i == tried[n])
    ]
    n_keys = int(both.max(initial=0)) + 1
    sources, goals = _both_sides(
        codes, np.column_stack([targets, wanted_key]), [*sizes, n_keys], mixing, steps
    )
    peak, rows, cost, order = _cheapest_order(mixing, steps, sizes, sources, goals)
    halves = None if n_keys > 1 else best_halves(goals, sources)
    if halves is not None and halves.cost > cost:
        halves = None
    rows = max(rows, len(targets)) * n_sums(sums)
    needed = 24 * max(halves.cells if halves else peak, len(targets)) * n_sums(sums)
    return SummingOrder(order, tuple(same), sums, key, wanted_key, codes, targets, rows, needed, halves)


def _cheapest_order(
    mixing: Subset, steps: Sequence[Step], sizes: Sequence[int], sources: Occurring, goals: Occurring
) -> tuple[int, int, int, tuple[int, ...]]:
    """Cells and rows of the largest step, the cost in multiplications, and the order of fewest cells."""
    best: dict[Subset, tuple[int, int, int, int, tuple[int, ...]]] = {frozenset(): (0, 0, 0, 0, ())}
    for done, i in steps:
        total, peak, rows, cost, order = best[done]
        left = sources[mixing - done - {i}]
        cells = goals[done] * left * sizes[i]
        rows, cost = max(rows, goals[done | {i}] * left), cost + cells * (sizes[i] + MOVED)
        found = (total + cells, max(peak, cells), rows, cost, (*order, i))
        best[done | {i}] = min(found, best.get(done | {i}, found))
    return best[mixing][1:]


def only_occurring(
    codes: Array, weights: Sequence[Array], targets: Array
) -> tuple[Array, list[Array], Array]:
    """Codes without gaps: a value that no person and no target has (often NULL) takes no room in any step."""
    columns, kept = [], []
    for i, weight in enumerate(weights):
        both = np.concatenate([codes[:, i], targets[:, i]])
        seen = np.zeros(max(len(weight), int(both.max(initial=0)) + 1), dtype=bool)
        seen[both] = True
        if not (seen.all() or np.all(weight == 1)):
            both, weight = (np.cumsum(seen) - 1)[both], weight[np.ix_(seen, seen)]
        columns.append(both)
        kept.append(weight)
    every = np.column_stack(columns) if columns else np.concatenate([codes, targets])
    return every[: len(codes)], kept, every[len(codes) :]


def is_identity(weights: Array) -> bool:
    """Whether a column at its bandwidth keeps identical values only."""
    return bool(np.count_nonzero(weights) == len(weights) and np.all(np.diagonal(weights) == 1))


def n_sums(sums: dict[int, tuple[Array, Array]]) -> int:
    """How many numbers replace one, over all attributes replaced by sums."""
    return int(np.prod([right.shape[0] for _, right in sums.values()], dtype=int))


def few_sums(weights: Array) -> tuple[Array, Array] | None:
    """Weights as a product of two thin matrices, if there is one: factors of the targets, and of the sources.

    Where a bandwidth exceeds the range of a number, its kernel 1 - ((a - b)/h)² is a polynomial: three sums
    over people, of 1, b and b², give it for every a. Found by elimination, so it works for a publisher's own
    matrix too. None where that would take too many sums for the size of the matrix, or a weight is very
    small.

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


def _both_sides(
    codes: Array, wanted: Array, sizes: Sequence[int], mixing: Subset, steps: Sequence[Step]
) -> tuple[Occurring, Occurring]:
    """How many combinations occur: of attributes still to sum over, and of those done, with the key."""
    left = {mixing} | {mixing - done - {i} for done, i in steps}
    reached = {mixing} | {done for done, _ in steps}
    columns, key = sorted(mixing), len(sizes) - 1
    shape = [sizes[i] for i in columns]
    people, asked = (table[distinct(table[:, columns], shape)[0]][:, columns] for table in (codes, wanted))
    if sizes[key] == 1 and np.array_equal(people, asked):  # the adversary wants beliefs about everybody
        every = _occurring(codes, sizes, left | reached)
        return every, every
    return _occurring(codes, sizes, left), _occurring(wanted, sizes, reached, always=key)


def _occurring(
    table: Array, sizes: Sequence[int], subsets: set[Subset], always: int | None = None
) -> Occurring:
    """How many combinations occur, for each subset of the columns (with the column `always` besides)."""
    fixed = () if always is None else (always,)
    rows: dict[Subset, Array] = {}
    for subset in sorted(subsets, key=len, reverse=True):
        chosen = [*sorted(subset), *fixed]
        larger = (rows[subset | {i}] for i in range(table.shape[1]) if subset | {i} in rows)
        parent = min(larger, key=len, default=table)
        first, _ = distinct(parent.take(chosen, axis=1), [sizes[i] for i in chosen])
        rows[subset] = parent.take(first, axis=0)
    return {subset: len(found) for subset, found in rows.items()}
