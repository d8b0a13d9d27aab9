"""Households straight from the definitions: rows are (label, household), a missing household being one."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import Any

Rows = Sequence[tuple[Hashable, Hashable]]


def measured(rows: Rows, kind: str, known: Any) -> Fraction:
    """Fewest households of a group, largest share of one, or fewest households with the same members."""
    groups: dict[Hashable, list[Hashable]] = {}
    homes: dict[Hashable, list[Any]] = {}
    for label, home in rows:
        groups.setdefault(label, []).append(home)
        homes.setdefault(home, []).append(label)
    if known == "member" and kind == "distinct":
        return Fraction(min(len(set(living)) for living in groups.values()))
    if known == "member":
        return max(Fraction(max(Counter(living).values()), len(living)) for living in groups.values())
    looks = [Counter(labels) for labels in homes.values()]
    if known == "all":
        return Fraction(min(sum(other == look for other in looks) for look in looks))
    seen = [
        Counter(some)
        for look in looks
        for size in range(1, known + 1)
        for some in itertools.combinations(look.elements(), size)
    ]
    return Fraction(min(sum(not some - other for other in looks) for some in seen))


def fewest(rows: Rows, known: Any) -> dict[Hashable, int]:
    """By label: the fewest households left to somebody who knows a member there, and others."""
    homes: dict[Hashable, list[Any]] = {}
    for label, home in rows:
        homes.setdefault(home, []).append(label)
    looks = [Counter(labels) for labels in homes.values()]
    found: dict[Hashable, int] = {}
    for look in looks:
        if known == "all":
            parts = [(look, sum(other == look for other in looks))]
        else:
            parts = [
                (part := Counter(some), sum(not part - other for other in looks))
                for size in range(1, known + 1)
                for some in itertools.combinations(look.elements(), size)
            ]
        for part, alike in parts:
            for label in part:
                found[label] = min(alike, found.get(label, alike))
    return found


def keeps(rows: Rows, k: int, kind: str, known: Any) -> bool:
    found = measured(rows, kind, known)
    return found <= Fraction(1, k) if kind == "share" else found >= k


def largest_share(rows: Sequence[tuple[Hashable, Hashable, Hashable]]) -> Fraction:
    """Of one value among the households that look alike, each counted once; rows: label, household, value."""
    homes: dict[Hashable, tuple[list[Any], Hashable]] = {}
    for label, home, value in rows:
        homes.setdefault(home, ([], value))[0].append(label)
    found = []
    for labels, _ in homes.values():
        alike = [value for others, value in homes.values() if Counter(others) == Counter(labels)]
        found.append(max(Fraction(alike.count(value), len(alike)) for value in alike))
    return max(found)
