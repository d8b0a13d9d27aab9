"""Households that look alike: the labels of their members as multisets, and what some members give away.

In: how many members of each household are in each group. Out: for each group the smallest number of
households among which a household with a member there hides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
# households with members in more groups are compared one by one
MOST_STEPS = 32

Members = tuple[tuple[int, int], ...]  # group and number of members, in the order of the groups


def members(counts: Iterable[tuple[int, int, int]]) -> Counter[Members]:
    """How many households have the same members, from (household, group, people).

    >>> members([(1, 7, 2), (2, 7, 2), (3, 8, 1)])
    Counter({((7, 2),): 2, ((8, 1),): 1})
    """
    found: dict[int, list[tuple[int, int]]] = {}
    for household, group, n in counts:
        found.setdefault(household, []).append((group, n))
    return Counter(tuple(sorted(own)) for own in found.values())


class Alike(NamedTuple):
    """Households by the labels of all their members; one line for each household and group of its members."""

    groups: Ints  # the number of each group
    group: Ints  # of each line, as a place in `groups`
    home: Ints  # of each line, numbered from 0
    kind: Ints  # of each household: two have the same kind if they look alike

    @classmethod
    def of(cls, home: Ints, group: Ints, n: Ints) -> Alike:
        """From the people of each household in each group; a pair may come more than once.

        >>> Alike.of(np.array([5, 9, 9, 4]), np.array([7, 7, 7, 7]), np.array([2, 1, 1, 1])).kind.tolist()
        [0, 1, 1]
        """
        groups, place = np.unique(group, return_inverse=True)
        own = np.unique(home, return_inverse=True)[1]
        pairs, line = np.unique(own * len(groups) + place, return_inverse=True)
        n = np.bincount(line, weights=n).astype(np.int64)
        own, place = pairs // max(len(groups), 1), pairs % max(len(groups), 1)
        start = np.flatnonzero(np.concatenate([[True], own[1:] != own[:-1]])[: len(own)])
        length = np.diff(np.append(start, len(own)))
        # a member of a household: the group, and how many members are in it
        member = np.unique(place * (int(n.max(initial=0)) + 1) + n, return_inverse=True)[1]
        kind, n_members = np.zeros(len(start), np.int64), int(member.max(initial=0)) + 1
        for step in range(min(int(length.max(initial=0)), MOST_STEPS)):
            those = np.flatnonzero((length > step) & (length <= MOST_STEPS))
            key = kind[those] * n_members + member[start[those] + step]
            kind[those] = np.unique(key, return_inverse=True)[1]
        long: dict[bytes, int] = {}
        for one in np.flatnonzero(length > MOST_STEPS).tolist():
            its = member[start[one] : start[one] + length[one]].tobytes()
            kind[one] = long.setdefault(its, len(long))
        kind = np.unique(length * (len(start) + 1) + kind, return_inverse=True)[1]
        return cls(groups, place, own, kind)

    def fewest(self) -> dict[int, int]:
        """By group: the fewest households that have all the same members as one with a member there."""
        sizes = np.bincount(self.kind)
        found = np.full(len(self.groups), len(self.kind), np.int64)
        np.minimum.at(found, self.group, sizes[self.kind[self.home]])
        return dict(zip(self.groups.tolist(), found.tolist(), strict=True))

    def largest_shares(self, values: Ints) -> dict[int, tuple[int, int]]:
        """By group: how many of the households that look alike have the most common value, and of how many.

        `values` are those of the households, each counted once. For each group, the largest such share.

        >>> alike = Alike.of(np.array([1, 2, 3]), np.array([7, 7, 7]), np.array([2, 2, 1]))
        >>> alike.largest_shares(np.array([5, 6, 5]))
        {7: (1, 1)}
        """
        width = int(values.max(initial=0)) + 1
        cells, counts = np.unique(self.kind * width + values, return_counts=True)
        top = np.zeros(int(self.kind.max(initial=0)) + 1, np.int64)
        np.maximum.at(top, cells // width, counts)
        both = np.stack([top, np.bincount(self.kind)], axis=1)
        shares, place = np.unique(both, axis=0, return_inverse=True)
        told = [(int(n), int(of)) for n, of in shares]
        in_order = sorted(range(len(told)), key=lambda one: Fraction(*told[one]))
        rank = np.empty(len(told), np.int64)
        rank[in_order] = np.arange(len(told))
        found = np.zeros(len(self.groups), np.int64)
        np.maximum.at(found, self.group, rank[place.ravel()][self.kind[self.home]])
        return {g: told[in_order[best]] for g, best in zip(self.groups.tolist(), found.tolist(), strict=True)}


def values_of(home: Ints, value: Ints) -> tuple[Ints, int]:
    """The value of each household in their order, and how many households have members with different ones.

    >>> values, several = values_of(np.array([4, 4, 9]), np.array([1, 2, 3]))
    >>> values.tolist(), several
    ([1, 3], 1)
    """
    order = np.lexsort((value, home))
    home, value = home[order], value[order]
    start = np.flatnonzero(np.concatenate([[True], home[1:] != home[:-1]])[: len(home)])
    last = np.append(start[1:], len(home)) - 1
    return value[start], int((value[start] != value[last]).sum())


def fewest_with(households: Mapping[Members, int], known: int, most: int) -> dict[int, int] | None:
    """By group: how many households, at least, an adversary cannot rule out who knows one to `known` members.

    None where households have more than `most` different parts.
    """
    parts: Counter[Members] = Counter()
    for own, n in households.items():
        for part in _parts(own, known):
            parts[part] += n
            if len(parts) > most:
                return None
    return _fewest(parts.items())


def _parts(own: Members, known: int) -> Iterator[Members]:
    """Every choice of one to `known` members of a household; members in one group are interchangeable."""
    for place, (group, n) in enumerate(own, start=1):
        for taken in range(1, min(n, known) + 1):
            yield ((group, taken),)
            for rest in _parts(own[place:], known - taken):
                yield ((group, taken), *rest)


def _fewest(counted: Iterable[tuple[Members, int]]) -> dict[int, int]:
    found: dict[int, int] = {}
    for own, n in counted:
        for group, _ in own:
            found[group] = min(n, found.get(group, n))
    return found
