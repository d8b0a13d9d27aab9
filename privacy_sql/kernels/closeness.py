"""How far the sensitive values of a group lie from those of the whole table: distances and gains.

Distances and gains are fractions, returned as an array of numerators and one of denominators, so that the
largest is found and compared with its limit exactly.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import log

import numpy as np

from privacy_sql.kernels.ratios import Integers

Fractions = tuple[Integers, Integers]

# two logarithms closer than this are not told apart by floats
UNSURE = 1e-9

# products beyond this leave 64 bits: Python's own integers take over
LARGEST_INTEGER = 2**62


@dataclass(frozen=True)
class GroupedCounts:
    """The histogram of every group: one row per group and sensitive value that the group shows.

    Groups and values are numbered 0, 1, ... with none left out; rows are in ascending order of group;
    counts are positive.
    """

    groups: Integers
    values: Integers
    counts: Integers

    @cached_property
    def sizes(self) -> Integers:
        return sums(self.groups, self.counts)

    @cached_property
    def totals(self) -> Integers:
        return sums(self.values, self.counts)

    @cached_property
    def n_rows(self) -> int:
        return int(self.counts.sum())

    def widened(self, factor: int) -> "GroupedCounts":
        """The same counts, as integers that hold `factor` times the square of the number of rows."""
        fits = factor * self.n_rows**2 < LARGEST_INTEGER
        return self if fits else GroupedCounts(self.groups, self.values, self.counts.astype(object))


def sums(labels: Integers, amounts: Integers) -> Integers:
    """The sum of the amounts of each label 0, 1, ...; labels may come in any order.

    >>> sums(np.array([0, 1, 0]), np.array([1, 2, 3])).tolist()
    [4, 2]
    """
    total = np.zeros(int(labels.max()) + 1, amounts.dtype)
    np.add.at(total, labels, amounts)
    return total


def equal_distances(table: GroupedCounts) -> Fractions:
    """Half the sum of the differences in share: the earth mover's distance when all values are equally far.

    Ganta et al. 2008, Def. 5 (t-closeness); a value that a group lacks counts with its whole overall share.

    >>> grouped = GroupedCounts(np.array([0, 1, 1]), np.array([0, 0, 1]), np.array([1, 1, 2]))
    >>> [x.tolist() for x in equal_distances(grouped)]
    [[4, 4], [8, 24]]
    """
    wide = table.widened(4)
    sizes = wide.sizes[wide.groups]
    overall = wide.totals[wide.values]
    shown = sums(wide.groups, np.abs(wide.counts * wide.n_rows - overall * sizes))
    absent = (wide.n_rows - sums(wide.groups, overall)) * wide.sizes
    return shown + absent, 2 * wide.n_rows * wide.sizes


def ordered_distances(table: GroupedCounts, ranks: Integers) -> Fractions:
    """Sum of the differences in cumulated share over the number of steps; `ranks` orders the values.

    The earth mover's distance on a line of equal steps. Between two values that a group shows its cumulated
    share stands still while the table's grows, so the differences change sign once: the place is looked up,
    and the sums on both sides come from running totals. Work grows with the rows of the histogram only.

    >>> grouped = GroupedCounts(np.array([0, 1]), np.array([0, 1]), np.array([1, 1]))
    >>> [x.tolist() for x in ordered_distances(grouped, ranks=np.array([0, 2]))]
    [[2, 2], [4, 4]]
    """
    n_ranks = int(ranks.max()) + 1
    wide = table.widened(4 * n_ranks)
    order = np.lexsort((ranks[wide.values], wide.groups))
    counts, low = wide.counts[order], ranks[wide.values][order]
    sizes = wide.sizes[wide.groups]
    first = np.append(True, wide.groups[1:] != wide.groups[:-1])
    high = np.append(np.where(first[1:], n_ranks, low[1:]), n_ranks)
    cumulated = np.cumsum(counts)
    cumulated = cumulated - (cumulated - counts)[first][wide.groups]

    table_cumulated = np.cumsum(sums(ranks, wide.totals))
    running = np.append(0, np.cumsum(table_cumulated))
    here = cumulated * wide.n_rows
    turn = np.clip(np.searchsorted(table_cumulated, here // sizes, side="right"), low, high)
    differences = here * (2 * turn - low - high)
    differences = differences + sizes * (running[low] + running[high] - 2 * running[turn])
    differences = differences + np.where(first, sizes * running[low], 0)
    return sums(wide.groups, differences), wide.n_rows * max(n_ranks - 1, 1) * wide.sizes


def hierarchical_distances(table: GroupedCounts, labels: Sequence[Integers]) -> Fractions:
    """Earth mover's distance along a hierarchy, where the lowest common ancestor tells how far values are.

    Two values lie the level of that ancestor over the height apart. `labels` numbers the label of every value
    at each level below the root, level 0 first. What flows through each node of the tree is its difference
    in share, so the distance is the mean, over the levels, of the equal distance between the labels.
    """
    numerators = sum(equal_distances(recoded(table, level))[0] for level in labels)
    return np.asarray(numerators), 2 * len(labels) * table.n_rows * table.widened(4 * len(labels)).sizes


def recoded(table: GroupedCounts, labels: Integers) -> GroupedCounts:
    """The histograms after every value is replaced by its label."""
    n_labels = int(labels.max()) + 1
    cells, rows = np.unique(table.groups * n_labels + labels[table.values], return_inverse=True)
    return GroupedCounts(cells // n_labels, cells % n_labels, sums(rows, table.counts))


def rises(table: GroupedCounts) -> Fractions:
    """Share in the group over overall share, for every row: 1 plus the gain of β-likeness."""
    wide = table.widened(1)
    return wide.counts * wide.n_rows, wide.sizes[wide.groups] * wide.totals[wide.values]


def bounded_gain(rise: Fraction, share: Fraction, beta: Fraction) -> Fraction | float:
    """Gain of a value over the bound that its overall share allows, min(beta, -ln share).

    Enhanced β-likeness as the interface defines it: at share 1 nothing can be gained, and 0/0 is 0. Exact
    when beta is clearly the smaller bound.

    >>> bounded_gain(Fraction(3, 2), Fraction(1, 10), beta=Fraction(1))
    Fraction(1, 2)
    >>> round(bounded_gain(Fraction(3, 2), Fraction(1, 2), beta=Fraction(1)), 6)
    0.721348
    """
    gain = rise - 1
    if gain <= 0:
        return Fraction(0)
    room = log(share.denominator) - log(share.numerator)
    return gain / beta if beta < room - UNSURE else float(gain) / min(float(beta), room)
