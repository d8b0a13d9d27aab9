"""Households that look alike: the labels of their members as multisets, and what some members give away.

In: how many members of each household are in each group. Out: for each group the smallest number of
households among which a household with a member there hides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

Members = tuple[tuple[int, int], ...]  # group and number of members, in the order of the groups


def homes(counts: Iterable[tuple[int, int, int]]) -> dict[int, Members]:
    """The members of each household, from (household, group, people).

    >>> homes([(1, 7, 2), (2, 7, 1), (2, 8, 1), (2, 7, 1)])
    {1: ((7, 2),), 2: ((7, 2), (8, 1))}
    """
    found: dict[int, Counter[int]] = {}
    for household, group, n in counts:
        found.setdefault(household, Counter())[group] += n
    return {household: tuple(sorted(own.items())) for household, own in found.items()}


def members(counts: Iterable[tuple[int, int, int]]) -> Counter[Members]:
    """How many households share each multiset of members, from rows (household, group, people).

    >>> members([(1, 7, 2), (2, 7, 2), (3, 8, 1)])
    Counter({((7, 2),): 2, ((8, 1),): 1})
    """
    return Counter(homes(counts).values())


def fewest_alike(households: Mapping[Members, int]) -> dict[int, int]:
    """By group: how many households, at least, have exactly the members of one with a member there."""
    return _fewest((own, n) for own, n in households.items())


def largest_shares(homes: Mapping[int, Members], values: Mapping[int, int]) -> dict[int, tuple[int, int]]:
    """By group: how many of the households that look alike have the most common value, and of how many.

    `values` are those of the households, each counted once. For each group, the largest such share.

    >>> largest_shares({1: ((7, 2),), 2: ((7, 2),), 3: ((7, 1),)}, {1: 5, 2: 6, 3: 5})
    {7: (1, 1)}
    """
    alike: dict[Members, Counter[int]] = {}
    for home, own in homes.items():
        alike.setdefault(own, Counter())[values[home]] += 1
    found: dict[int, tuple[int, int]] = {}
    for own, counts in alike.items():
        top, n = max(counts.values()), counts.total()
        for group, _ in own:
            known = found.get(group)
            if known is None or top * known[1] > known[0] * n:
                found[group] = top, n
    return found


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
