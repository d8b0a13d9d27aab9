"""The sum over people of a product kernel in two steps, each over half of the attributes.

Li et al. 2009, eq. (2). Where few combinations of all attributes occur, but many of one half for each
combination of the other, a chain of single attributes fills blocks with zeros. Two steps over the
combinations that occur multiply no zeros.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privacy_sql.kernels.distinct_codes import distinct

Array = NDArray[Any]
Occurring = Mapping[frozenset[int], int]

TURN = 2_000
"""What one turn of a loop costs, in multiplications."""


@dataclass(frozen=True)
class Halves:
    """The attributes summed over first, the others, and the cost in multiplications and in cells."""

    first: tuple[int, ...]
    second: tuple[int, ...]
    cost: int
    cells: int


def best_halves(goals: Occurring, sources: Occurring) -> Halves | None:
    """The cheapest two halves of the attributes, given how many combinations of each subset occur.

    The first step goes from every source to every target of the first half, the second step from every source
    of the second half to every target.
    """
    whole = max(sources, key=len, default=frozenset[int]())
    found = []
    for half in goals.keys() & {whole - subset for subset in sources}:
        if half and half < whole:
            n, left = goals[half], sources[whole - half]
            # the matrices of the first step are thinner, which takes about twice as long
            cost = 2 * n * sources[whole] + left * goals[whole] + TURN * (n + left)
            parts = tuple(sorted(half)), tuple(sorted(whole - half))
            cells = n * left + n * sources.get(half, sources[whole])
            cells += left * goals.get(whole - half, goals[whole])
            found.append(Halves(*parts, cost, cells))
    return min(found, key=lambda halves: (halves.cost, halves.first), default=None)


def in_halves(
    halves: Halves, counts: Array, sources: Array, targets: Array, weights: Sequence[Array]
) -> Array:
    """Σ_j w_j · counts_j for every target; `sources` and `targets` hold codes, a column per attribute."""
    first, second = (_Side.of(part, sources, targets, weights) for part in (halves.first, halves.second))
    order, ends = _sorted(second.source)
    counts, source = counts[order], first.source[order]
    half = np.empty((first.weights.shape[1], len(second.weights), counts.shape[1]), counts.dtype)
    for left, rows in enumerate(map(slice, ends, ends[1:])):
        np.matmul(first.weights.take(source[rows], axis=0).T, counts[rows], out=half[:, left])
    order, ends = _sorted(first.target)
    made = np.empty((len(targets), counts.shape[1]), counts.dtype)
    backwards, target = np.ascontiguousarray(second.weights.T), second.target[order]
    for goal, rows in enumerate(map(slice, ends, ends[1:])):
        np.matmul(backwards.take(target[rows], axis=0), half[goal], out=made[rows])
    return made[np.argsort(order)]


@dataclass(frozen=True)
class _Side:
    """One half: weights between its source and target combinations, and the index of each row's one."""

    weights: Array
    source: Array
    target: Array

    @classmethod
    def of(cls, part: Sequence[int], sources: Array, targets: Array, weights: Sequence[Array]) -> _Side:
        sizes = [len(weights[i]) for i in part]
        columns = list(part)
        (one, source), (goal, target) = (distinct(codes[:, columns], sizes) for codes in (sources, targets))
        cells = (
            np.ascontiguousarray(weights[i].take(targets[goal, i], axis=0).T).take(sources[one, i], axis=0)
            for i in part
        )
        return cls(reduce(np.multiply, cells), source, target)


def _sorted(place: Array) -> tuple[Array, list[int]]:
    """The rows sorted by index, and where each index begins and ends."""
    return np.argsort(place, kind="stable"), [0, *np.cumsum(np.bincount(place)).tolist()]
