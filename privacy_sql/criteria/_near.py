"""How many people of each group have near values, on arrays: its fullest window or its fullest ball."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from privacy_sql.counted.groups import Groups, Ints
from privacy_sql.criteria import Row
from privacy_sql.kernels.near_values import Line


class _Windows(NamedTuple):
    """Every count in the order of group and place, and the window that begins at its place."""

    group: Ints
    place: Ints
    n: Ints
    first: Ints  # where its window begins, and the place after its last one
    after: Ints
    held: Ints  # how many people it holds


def _windows(group: Ints, value: Ints, n: Ints, codes: Sequence[int], line: Line) -> _Windows:
    place_of, upto_of = np.zeros((2, max(codes, default=0) + 1), np.int64)
    place_of[codes], upto_of[codes] = line.place, line.upto
    bits = int(upto_of.max(initial=0)).bit_length()
    # places are in order within each group, and one search finds where all windows end
    found = (group << bits) | place_of[value]
    order = np.argsort(found)
    found, group, value, n = found[order], group[order], value[order], n[order]
    begins = np.concatenate([[True], found[1:] != found[:-1]])[: len(found)]
    first = np.flatnonzero(begins)[np.cumsum(begins) - 1]
    after = np.searchsorted(found, (group << bits) | upto_of[value], side="right")
    sums = np.concatenate([[0], np.cumsum(n)])
    return _Windows(group, place_of[value], n, first, after, sums[after] - sums[first])


def fullest_window(groups: Groups, codes: Sequence[int], line: Line) -> Ints:
    """The most people of each group between the place of one of its values and the last place near it."""
    return np.asarray(groups.largest(_windows(groups.of_each, groups.value, groups.n, codes, line).held))


def fullest_of_kinds(g: Ints, value: Ints, n: Ints, codes: Sequence[int], line: Line) -> list[Row]:
    """Rows as the template has them, one for all groups of one size with equally many near values.

    `groups` are all of them, and the rest of the row is about the first.

    >>> counts = np.array([[7, 7, 8], [1, 2, 3], [2, 1, 4]])
    >>> line = Line(place=[1, 2, 3], upto=[2, 2, 3], bin=[1, 1, 3])
    >>> found = fullest_of_kinds(*counts, [1, 2, 3], line)
    >>> [(row["g"], row["n_near"], row["low"], row["high"]) for row in found]
    [(7, 3, 1, 2), (8, 4, 3, 3)]
    """
    if not len(g):
        return []
    # a place has to fit beside the number of the group
    names, group = (
        (None, g) if 0 <= int(g.min()) <= int(g.max()) < 2**31 else np.unique(g, return_inverse=True)
    )
    found = _windows(group, value, n, codes, line)
    start = np.flatnonzero(np.concatenate([[True], found.group[1:] != found.group[:-1]]))
    people, near = np.add.reduceat(found.n, start), np.maximum.reduceat(found.held, start)
    own = found.group[start] if names is None else names[found.group[start]]
    # a kind is a size and a count
    order = np.lexsort((own, near, people))
    kinds = np.flatnonzero(
        np.concatenate([[True], (np.diff(people[order]) != 0) | (np.diff(near[order]) != 0)])
    )
    alike = np.split(order, kinds[1:])
    places = np.concatenate([[True], found.first[1:] != found.first[:-1]]).cumsum()
    code_of = {0: 0, **dict(sorted(zip(line.place, codes, strict=True), reverse=True))}
    ends = [*start[1:].tolist(), len(found.n)]
    rows: list[Row] = []
    for members in alike:
        one = int(members[0])
        at = int(start[one] + np.argmax(found.held[start[one] : ends[one]]))
        last = int(found.after[at]) - 1
        rows.append(
            {
                "n_people": int(people[one]),
                "n_near": int(near[one]),
                "n_values": int(places[last] - places[at]) + 1,
                "low": code_of[int(found.place[at])],
                "high": code_of[int(found.place[last])],
                "g": int(own[one]),
                "groups": own[members],
            }
        )
    return rows


def fullest_ball(groups: Groups, balls: Iterable[frozenset[int]]) -> Ints:
    """The most people of each group who have values of one ball."""
    fullest = np.zeros(len(groups), np.int64)
    for ball in balls:
        held = groups.sums(np.where(np.isin(groups.value, [*ball]), groups.n, 0))
        fullest = np.maximum(fullest, held)
    return fullest
