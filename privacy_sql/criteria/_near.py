"""How many people of each group have near values, on arrays: the fullest window or the fullest ball."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from privacy_sql.counted.groups import MOST_BITS, Groups, Ints
from privacy_sql.criteria import Row
from privacy_sql.kernels.near_values import Line


class _Windows(NamedTuple):
    """Every count in the order of group and place, and the window that starts at its place."""

    group: Ints
    place: Ints
    n: Ints
    first: Ints  # the start of its window, and the place after its end
    after: Ints
    held: Ints  # how many people are in it


def _in_order(*columns: Ints) -> list[Ints]:
    """Columns of whole numbers, none negative, in order: packed into one key they sort ten times faster."""
    bits = [int(column.max(initial=0)).bit_length() for column in columns]
    if sum(bits) > MOST_BITS:
        order = np.lexsort(columns[::-1])
        return [column[order] for column in columns]
    packed = columns[0]
    for column, room in zip(columns[1:], bits[1:], strict=True):
        packed = (packed << room) | column
    packed = np.sort(packed)
    found = []
    for room in reversed(bits[1:]):
        found.append(packed & ((1 << room) - 1))
        packed = packed >> room
    return [packed, *reversed(found)]


def _windows(group: Ints, value: Ints, n: Ints, codes: Sequence[int], line: Line) -> _Windows:
    place_of = np.zeros(max(codes, default=0) + 1, np.int64)
    upto_of = np.zeros(int(line.place.max(initial=0)) + 1, np.int64)
    place_of[codes], upto_of[line.place] = line.place, line.upto
    group, place, n = _in_order(group, place_of[value], n)
    # places are sorted within each group, so one search finds the ends of all windows
    bits = int(upto_of.max(initial=0)).bit_length()
    found = (group << bits) | place
    begins = np.concatenate([[True], found[1:] != found[:-1]])[: len(found)]
    first = np.flatnonzero(begins)[np.cumsum(begins) - 1]
    after = np.searchsorted(found, (group << bits) | upto_of[place], side="right")
    sums = np.concatenate([[0], np.cumsum(n)])
    return _Windows(group, place, n, first, after, sums[after] - sums[first])


def fullest_window(groups: Groups, codes: Sequence[int], line: Line) -> Ints:
    """The most people of each group between the place of one of its values and the last near place."""
    return np.asarray(groups.largest(_windows(groups.of_each, groups.value, groups.n, codes, line).held))


def fullest_of_kinds(g: Ints, value: Ints, n: Ints, codes: Sequence[int], line: Line) -> list[Row]:
    """Rows like those of the template, one for all groups of the same size and number of near values.

    `groups` lists all of them; the rest of the row is about the first.

    >>> counts = np.array([[7, 7, 8], [1, 2, 3], [2, 1, 4]])
    >>> line = Line(place=np.array([1, 2, 3]), upto=np.array([2, 2, 3]))
    >>> found = fullest_of_kinds(*counts, [1, 2, 3], line)
    >>> [(row["g"], row["n_near"], row["low"], row["high"]) for row in found]
    [(7, 3, 1, 2), (8, 4, 3, 3)]
    """
    if not len(g):
        return []
    # a place must fit next to the number of the group
    names, group = (
        (None, g) if 0 <= int(g.min()) <= int(g.max()) < 2**31 else np.unique(g, return_inverse=True)
    )
    found = _windows(group, value, n, codes, line)
    start = np.flatnonzero(np.concatenate([[True], found.group[1:] != found.group[:-1]]))
    people, near = np.add.reduceat(found.n, start), np.maximum.reduceat(found.held, start)
    own = found.group[start] if names is None else names[found.group[start]]
    # a kind is a size and a count, and its groups are in their order
    people, near, order = _in_order(people, near, np.arange(len(start)))
    kinds = np.flatnonzero(np.concatenate([[True], (np.diff(people) != 0) | (np.diff(near) != 0)]))
    places = np.concatenate([[True], found.first[1:] != found.first[:-1]]).cumsum()
    code_of = np.zeros(int(line.place.max(initial=0)) + 1, np.int64)
    lowest_last = np.argsort(codes)[::-1]
    code_of[line.place[lowest_last]] = np.array(codes)[lowest_last]
    code_of[0] = 0
    ends = [*start[1:].tolist(), len(found.n)]
    rows: list[Row] = []
    for kind, members in zip(kinds.tolist(), np.split(order, kinds[1:]), strict=True):
        one = int(members[0])
        at = int(start[one] + np.argmax(found.held[start[one] : ends[one]]))
        last = int(found.after[at]) - 1
        rows.append(
            {
                "n_people": int(people[kind]),
                "n_near": int(near[kind]),
                "n_values": int(places[last] - places[at]) + 1,
                "low": int(code_of[found.place[at]]),
                "high": int(code_of[found.place[last]]),
                "g": int(own[one]),
                "groups": own[members],
            }
        )
    return rows


def fullest_ball(groups: Groups, balls: Iterable[frozenset[int]]) -> Ints:
    """The most people of each group with values in one ball."""
    fullest = np.zeros(len(groups), np.int64)
    for ball in balls:
        held = groups.sums(np.where(np.isin(groups.value, [*ball]), groups.n, 0))
        fullest = np.maximum(fullest, held)
    return fullest
