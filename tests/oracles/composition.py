"""Composition from its definition: everybody, every way to lie in the releases, every set that agrees.

A release is met as published rows: labels by column, and a value. What somebody reads out of a label is spelt
out here once more, case by case, for the labels that the tests use.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, product
from typing import Any

Values = frozenset[Any]
Ways = list[Values]  # what a release leaves possible, for each way somebody may lie in it
Row = Mapping[str, Any]


def fewest(releases: Iterable[Ways]) -> int | None:
    """The fewest values left to one person, in the worst world, by releases that agree."""
    known = [ways for ways in releases if ways]
    left = [
        len(frozenset.intersection(*some))
        for world in product(*known)
        for size in range(1, len(world) + 1)
        for some in combinations(world, size)
        if frozenset.intersection(*some)
    ]
    return min(left, default=None)


def exposure(people: Sequence[Sequence[Ways]], level: Fraction) -> Fraction:
    """The share of people who are known with this confidence."""
    found = [fewest(releases) for releases in people]
    return Fraction(sum(left is not None and left * level <= 1 for left in found), len(people))


def exposure_in_readings(people: Sequence[Sequence[Sequence[Ways]]], level: Fraction) -> Fraction:
    """The same where values may be meant in several ways: whoever is known in one of them."""
    found = [[fewest(releases) for releases in readings] for readings in people]
    exposed = [any(left is not None and left * level <= 1 for left in each) for each in found]
    return Fraction(sum(exposed), len(people))


def groups_of(rows: Sequence[Row], columns: Sequence[str], sensitive: str) -> dict[tuple[Any, ...], Values]:
    """Rows of equal labels are a group."""
    found: dict[tuple[Any, ...], set[Any]] = {}
    for row in rows:
        found.setdefault(tuple(row[c] for c in columns), set()).add(row[sensitive])
    return {labels: frozenset(values) for labels, values in found.items()}


def own_ways(rows: Sequence[Row], columns: Sequence[str], sensitive: str, person: Row) -> Ways:
    """Somebody of the table itself: the group of equal values; nobody else is in it."""
    group = groups_of(rows, columns, sensitive).get(tuple(person[c] for c in columns))
    return [] if group is None else [group]


def read_ways(
    rows: Sequence[Row], columns: Sequence[str], sensitive: str, person: Row, everybody: Sequence[Row]
) -> Ways:
    """Somebody looked for in a file from elsewhere, by what each label says; the best fit counts."""
    fits: dict[int, list[Values]] = {}
    for labels, values in groups_of(rows, columns, sensitive).items():
        found = [
            _covers(label, person[c], {each[c] for each in everybody})
            for c, label in zip(columns, labels, strict=True)
        ]
        if None not in found:
            fits.setdefault(max(found), []).append(values)  # type: ignore[type-var]
    if not fits:
        return []
    best = fits[min(fits)]
    # any group that says so may hold the person; of groups that merely might, each is a world of its own
    return [frozenset.union(*best)] if min(fits) == 0 else best


def _covers(label: Any, value: Any, known: set[Any]) -> int | None:
    """0: as it says, 1: the same number, 2: `*` and its like, 3: nobody can tell; None: it does not."""
    if label == value:
        return 0
    if label is None:
        return None
    if label in ("*", "all"):
        return 2
    if value is not None and (ends := re.fullmatch(r"(\d+)-(\d+)", label)):
        if _number(value) is None:
            return 3
        return 0 if int(ends[1]) <= float(value) <= int(ends[2]) else None
    if _number(label) is not None:
        return 1 if _number(value) == _number(label) else None
    # a name that nobody here has may be the name of anything
    plain = not re.fullmatch(r"(\d+)-(\d+)", label)
    return 3 if plain and label not in known else None


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None
