"""How many people of each group have near values, on arrays: the fullest window or the fullest ball."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from privacy_sql.counted.groups import MOST_BITS, Groups, Ints
from privacy_sql.criteria import Row
from privacy_sql.kernels.near_values import ValueLine


class _Windows(NamedTuple):
    """Every count in the order of group and place, and how many people its window holds."""

    key: Ints  # the group, then the place in the last bits
    bits: int
    n: Ints
    last: Ints  # the greatest key that may be in its window
    held: Ints
    sums: Ints  # how many people come before each count


def _in_order(*columns: Ints) -> list[Ints]:
    """Columns of whole numbers, none negative, in order: packed into one key they sort ten times faster."""
    bits = [int(column.max(initial=0)).bit_length() for column in columns]
    if sum(bits) > MOST_BITS:
        order = np.lexsort(columns[::-1])
        return [column[order] for column in columns]
    packed = columns[0].copy()
    for column, room in zip(columns[1:], bits[1:], strict=True):
        packed <<= room
        packed |= column
    # sorting by counting the first 16 bits, then what is nearly in order, takes half the time
    packed = packed[np.argsort((packed >> max(0, sum(bits) - 16)).astype(np.uint16), kind="stable")]
    packed.sort(kind="stable")
    found = []
    for room in reversed(bits[1:]):
        found.append(packed & ((1 << room) - 1))
        packed >>= room
    return [packed, *reversed(found)]


def _windows(group: Ints, value: Ints, n: Ints, codes: Ints, line: ValueLine) -> _Windows:
    """The windows of every count; as few arrays as can be, since new memory costs more than arithmetic."""
    place_of = np.zeros(int(codes.max(initial=0)) + 1, np.int64)
    further = np.zeros(int(line.place.max(initial=0)) + 1, np.int64)
    place_of[codes], further[line.place] = line.place, line.upto - line.place
    # places are sorted within each group, so one search finds the ends of all windows
    bits = int(line.upto.max(initial=0)).bit_length()
    key = np.asarray(group, np.int64) << bits
    key |= place_of[value]
    key, n = _in_order(key, n)
    last = further[key & ((1 << bits) - 1)]
    last += key
    # the windows of most counts of a large histogram hold only their own people
    first = more = np.flatnonzero(key[1:] <= last[:-1])
    if (key[1:] == key[:-1]).any():  # values of one place, such as 1 and 1.0
        more = np.arange(len(key))
        first = np.searchsorted(key, key)
    sums = np.concatenate([[0], np.cumsum(n)])
    held = n.copy()
    held[more] = sums[np.searchsorted(key, last[more], side="right")] - sums[first]
    return _Windows(key, bits, n, last, held, sums)


def fullest_window(groups: Groups, codes: Sequence[int], line: ValueLine) -> Ints:
    """The most people of each group between the place of one of its values and the last near place."""
    found = _windows(groups.of_each, groups.value, groups.n, np.asarray(codes, np.int64), line)
    return np.asarray(groups.largest(found.held))


def fullest_of_kinds(g: Ints, value: Ints, n: Ints, codes: Sequence[int], line: ValueLine) -> list[Row]:
    """Rows like those of the template, one for all groups of the same size and number of near values.

    `groups` lists all of them; the rest of the row is about the first.

    >>> counts = np.array([[7, 7, 8], [1, 2, 3], [2, 1, 4]])
    >>> line = ValueLine(place=np.array([1, 2, 3]), upto=np.array([2, 2, 3]))
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
    known = np.asarray(codes, np.int64)
    found = _windows(group, value, n, known, line)
    own = found.key >> found.bits
    start = np.flatnonzero(np.concatenate([[True], own[1:] != own[:-1]]))
    ends = np.concatenate([start[1:], [len(found.n)]])
    people = found.sums[ends] - found.sums[start]
    near = np.maximum.reduceat(found.held, start)
    own = own[start] if names is None else names[own[start]]
    # a kind is a size and a count, and its groups are in their order
    order = np.lexsort([column.astype(np.min_scalar_type(column.max())) for column in (near, people)])
    people, near = people[order], near[order]
    kinds = np.flatnonzero(np.concatenate([[True], (np.diff(people) != 0) | (np.diff(near) != 0)]))
    code_of = np.zeros(int(line.place.max(initial=0)) + 1, np.int64)
    lowest_last = np.argsort(known)[::-1]
    code_of[line.place[lowest_last]] = known[lowest_last]
    code_of[0] = 0
    ones = order[kinds]
    spans = zip(start[ones].tolist(), ends[ones].tolist(), strict=True)
    at = np.array([first + int(found.held[first:end].argmax()) for first, end in spans])
    first = np.searchsorted(found.key, found.key[at])
    final = np.searchsorted(found.key, found.last[at], side="right") - 1
    again = np.concatenate([[0], np.cumsum(found.key[1:] == found.key[:-1])])
    # the ends of its window; lines of one place are one value
    own_place = (1 << found.bits) - 1
    facts = {
        "n_people": people[kinds],
        "n_near": near[kinds],
        "n_values": final - first + 1 - (again[final] - again[first]),
        "low": code_of[found.key[at] & own_place],
        "high": code_of[found.key[final] & own_place],
        "g": own[ones],
    }
    each = zip(*(column.tolist() for column in facts.values()), strict=True)
    groups = np.split(own[order], kinds[1:])
    return [
        {**dict(zip(facts, row, strict=True)), "groups": of} for row, of in zip(each, groups, strict=True)
    ]


def fullest_ball(groups: Groups, balls: Iterable[frozenset[int]]) -> Ints:
    """The most people of each group with values in one ball."""
    fullest = np.zeros(len(groups), np.int64)
    for ball in balls:
        held = groups.sums(np.where(np.isin(groups.value, [*ball]), groups.n, 0))
        fullest = np.maximum(fullest, held)
    return fullest
