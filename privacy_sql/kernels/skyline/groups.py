"""Which groups can be worst, for many groups and all sensitive values at once.

Chen, LeFevre and Ramakrishnan (VLDB Journal 2008) scan every group for every point of the skyline. Few groups
can attain a minimum of their Theorem 2; this module finds them with array operations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from privacy_sql.kernels.skyline.breach_probability import SkylineGroup, ValuesPerPerson

Integers = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

MOST_PIVOTS = 256  # keeping some beaten groups costs time, never a wrong answer


@dataclass(frozen=True)
class Histograms:
    """The counts of all groups: one row per group, one column per sensitive value, and the people of each.

    >>> tables = Histograms.of([{"AIDS": 2, "Flu": 2}, {"AIDS": 1, "Cancer": 1, "Flu": 2}])
    >>> tables.about("AIDS", 0, "one")
    [SkylineGroup(people=4, holders=2, others=(), number=0)]
    """

    counts: Integers
    people: Integers
    values: tuple[Any, ...]

    @classmethod
    def of(cls, groups: Sequence[Mapping[Any, int]], people: Sequence[int] | None = None) -> Histograms:
        """From one mapping value → count per group; without `people`, one value is one person."""
        values = tuple(dict.fromkeys(value for group in groups for value in group))
        counts = np.array([[group.get(value, 0) for value in values] for group in groups], dtype=np.int64)
        counts = counts.reshape(len(groups), len(values))
        sizes = counts.sum(axis=1) if people is None else np.array(people, dtype=np.int64)
        return cls(counts, sizes, values)

    @classmethod
    def from_columns(cls, columns: Mapping[str, Integers]) -> tuple[Histograms, Integers]:
        """From rows (g, n_people, s, n_rows), s = -1 for a group without any value; and the g of each row."""
        groups, first, row = np.unique(columns["g"], return_index=True, return_inverse=True)
        present = columns["s"] >= 0
        values, column = np.unique(columns["s"][present], return_inverse=True)
        counts = np.zeros((len(groups), len(values)), dtype=np.int64)
        counts[row.reshape(-1)[present], column.reshape(-1)] = columns["n_rows"][present]
        people = np.asarray(columns["n_people"][first], dtype=np.int64)
        return cls(counts, people, tuple(values.tolist())), groups

    def only(self, rows: Integers) -> Histograms:
        """The same for some of the groups, renumbered."""
        return Histograms(self.counts[rows], self.people[rows], self.values)

    @cached_property
    def ranked(self) -> Integers:
        """Each group's counts, largest first."""
        return np.ascontiguousarray(-np.sort(-self.counts, axis=1))

    @cached_property
    def _totals(self) -> Integers:
        """Column j: the sum of the j largest counts of each group."""
        return _running_sums(self.ranked)

    @cached_property
    def _surprises(self) -> npt.NDArray[np.float64]:
        """Column j: minus the logarithm of Π (n - count)/n over the j largest counts."""
        return _running_sums(_surprise(self.ranked, self.people[:, None]))

    @cached_property
    def shapes(self) -> Integers:
        """Column j: the same number for groups of the same size with the same j largest counts."""
        columns = [np.unique(self.people, return_inverse=True)[1]]
        for count in self.ranked.T:
            columns.append(
                np.unique(columns[-1] * (count.max(initial=0) + 1) + count, return_inverse=True)[1]
            )
        return np.column_stack(columns)

    def about(self, value: object, ruled_out: int, case: ValuesPerPerson) -> list[SkylineGroup]:
        """The groups that can be worst for `value` when ℓ values are ruled out: usually one to seven.

        A group is left out when a smaller one has at least the same share of σ and loses at least as much to
        the ruled-out values: then every factor of the smaller one is at most as large, for all k and m
        (Props. 12 and 13), so the larger group never lowers a minimum of Theorem 2.
        """
        if value not in self.values:
            return []
        own = self.counts[:, self.values.index(value)]
        held = np.flatnonzero(own)
        holders, size = own[held], self.people[held]
        taken = self.taken(own, ruled_out, case)[held]
        if case == "set" and ruled_out > 0:
            shapes = self.shapes[held, min(ruled_out + 1, self.counts.shape[1])]
            # rounded logarithms, so a lead below 1e-9 counts only between groups with the same counts
            kept = _undominated(
                size - holders,
                holders,
                lambda alive, pivot: np.asarray(
                    taken[alive] <= taken[pivot] + np.where(shapes[alive] == shapes[pivot], 1e-12, -1e-9)
                ),
            )
        elif case == "multiset":
            # occurrences of the ruled-out values per person: no group has a larger share
            kept = _undominated(
                size,
                holders,
                lambda alive, pivot: np.asarray(taken[pivot] * size[alive] >= taken[alive] * size[pivot]),
            )
        else:
            size = size - holders
            kept = _undominated(
                size, holders, partial(_no_nearer_proof, size - taken.astype(np.int64), holders)
            )
        return [self.group(int(row), value, ruled_out) for row in held[kept]]

    def taken(self, own: Integers, ruled_out: int, case: ValuesPerPerson) -> npt.NDArray[Any]:
        """How many the ℓ largest other counts rule out: skip σ, or take one more, whichever is less."""
        if case == "set":
            # where everybody has σ it is certain, whatever is ruled out
            mine = np.where(own == self.people, 0.0, _surprise(own, self.people))
            sums: npt.NDArray[Any] = self._surprises
        else:
            sums, mine = self._totals, own
        last = sums.shape[1] - 1
        return np.asarray(np.minimum(sums[:, min(ruled_out, last)], sums[:, min(ruled_out + 1, last)] - mine))

    def group(self, row: int, value: object, ruled_out: int) -> SkylineGroup:
        """What one group shows about a value."""
        column = self.values.index(value)
        others = sorted((int(c) for c in np.delete(self.counts[row], column) if c), reverse=True)
        return SkylineGroup(
            int(self.people[row]), int(self.counts[row, column]), tuple(others[:ruled_out]), row
        )

    def most_others(self, value: object) -> int:
        """The largest number of other values in a group that holds `value`."""
        own = self.counts[:, self.values.index(value)]
        return int(np.count_nonzero(self.counts[own > 0], axis=1).max(initial=0)) - 1


def worst_groups(people: Integers, holders: Integers, taken: Integers) -> list[SkylineGroup]:
    """The groups that can be worst where everybody has one value, from the ruled-out values' sum of each."""
    held = np.flatnonzero(holders)
    size, own, lost = (people - holders)[held], holders[held], taken[held]
    kept = _undominated(size, own, partial(_no_nearer_proof, size - lost, own))
    return [
        SkylineGroup(int(people[row]), int(holders[row]), (int(taken[row]),), int(row))
        for row in held[kept].tolist()
    ]


def _running_sums(counts: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Column j holds the sum of the first j columns."""
    sums = np.zeros((counts.shape[0], counts.shape[1] + 1), dtype=counts.dtype)
    np.cumsum(counts, axis=1, out=sums[:, 1:])
    return sums


def _surprise(counts: Integers, people: Integers) -> npt.NDArray[np.float64]:
    with np.errstate(divide="ignore"):
        return -np.log1p(-counts / people)


def _undominated(size: Integers, holders: Integers, no_worse: Callable[[Integers, int], Bools]) -> Integers:
    """Indices of the groups that no smaller group beats, both in the share of σ and by `no_worse`."""
    alive, kept = np.arange(len(size)), list[int]()
    while alive.size and len(kept) < MOST_PIVOTS:
        pivot = int(alive[np.argmax(holders[alive] / (size[alive] + 1.0) ** 1.5)])
        kept.append(pivot)
        beaten = (size[alive] >= size[pivot]) & no_worse(alive, pivot)
        beaten &= holders[pivot] * size[alive] >= holders[alive] * size[pivot]
        alive = alive[~(beaten | (alive == pivot))]
    return np.array([*kept, *alive], dtype=np.int64)


def _no_nearer_proof(left: Integers, holders: Integers, alive: Integers, pivot: int) -> Bools:
    """One value per person: people left without σ or a ruled-out value, alone and per holder."""
    nearer = left[alive] >= left[pivot]
    return np.asarray(nearer & (holders[pivot] * left[alive] >= holders[alive] * left[pivot]))
