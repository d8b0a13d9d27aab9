"""The distance of each group's values from those of the whole table, as whole numbers and their scale.

The earth mover's distances of t-closeness, as difference / (scale · people · rows of the table).
"""

from __future__ import annotations

import numpy as np

from privacy_sql.counted.groups import Groups, Ints, totals

Distances = tuple[Ints, int]


def equal(groups: Groups) -> Distances:
    """Half the sum of the differences in share; a missing value differs by its whole share."""
    assert groups.overall is not None
    return _apart(groups, groups.of_each, groups.n, groups.overall[groups.value]), 2


def hierarchical(groups: Groups) -> Distances:
    """The same at every level of the values' hierarchy below the top, divided by the number of levels."""
    assert groups.overall is not None and groups.values is not None
    levels = groups.values.levels[:-1]
    found = np.zeros(len(groups), np.int64)
    bits = len(groups.overall).bit_length()
    for codes in levels:
        # values of a group with the same label count together
        order = np.argsort((groups.of_each << bits) | codes[groups.value], kind="stable")
        packed = ((groups.of_each << bits) | codes[groups.value])[order]
        first = np.flatnonzero(np.concatenate([[True], packed[1:] != packed[:-1]])[: len(packed)])
        n = np.add.reduceat(groups.n[order], first) if len(first) else groups.n
        overall = totals(codes, groups.overall, len(groups.overall))
        label = packed[first] & ((1 << bits) - 1)
        found += _apart(groups, packed[first] >> bits, n, overall[label])
    return found, 2 * len(levels)


def _apart(groups: Groups, of_each: Ints, n: Ints, overall: Ints) -> Ints:
    """The sum over all values of |count · rows - overall count · people|."""
    rows, people = groups.n_all, groups.people
    starts = np.flatnonzero(np.concatenate([[True], of_each[1:] != of_each[:-1]])[: len(of_each)])
    if not len(starts):
        return np.zeros(len(groups), np.int64)
    differences = np.add.reduceat(np.abs(n * rows - overall * people[of_each]), starts)
    met = np.add.reduceat(overall, starts)
    return np.asarray(differences + (rows - met) * people)


def ordered(groups: Groups) -> Distances:
    """The sum of differences of running shares over the ranks of the values, divided by the number of steps.

    Between two ranks that a group shows, its own running count is constant, and the table's overtakes it
    once; two running sums and the rank of that turn give the whole piece.
    """
    assert groups.overall is not None and groups.values is not None and groups.values.numbers is not None
    shown = np.flatnonzero(groups.overall)
    places, placed = np.unique(groups.values.numbers[shown], return_inverse=True)
    place = np.zeros(len(groups.overall), np.int64)
    place[shown] = placed
    upto = np.cumsum(totals(placed, groups.overall[shown], len(places)))
    running = np.concatenate([[0], np.cumsum(upto)])
    order = np.lexsort((place[groups.value], groups.of_each))
    low, n = place[groups.value][order], groups.n[order]
    sums = np.cumsum(n)
    reached = sums - (sums - n)[groups.start[:-1]].repeat(groups.n_values)
    last = np.zeros(len(n), np.bool_)
    last[groups.start[1:] - 1] = True
    high = np.where(last, len(places), np.concatenate([low[1:], low[:1]]))
    people = groups.people[groups.of_each]
    turn = np.clip(np.searchsorted(upto, reached * groups.n_all // people, side="right"), low, high)
    pieces = reached * groups.n_all * (2 * turn - low - high)
    pieces += people * (running[low] + running[high] - 2 * running[turn])
    before = groups.people * running[low[groups.start[:-1]]]  # up to the first rank it shows
    return np.asarray(groups.sums(pieces) + before), max(1, len(places) - 1)


FORMULAS = {"equal": equal, "hierarchical": hierarchical, "ordered": ordered}
