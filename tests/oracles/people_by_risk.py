"""People by how well they can be guessed and by the size of their group, counted row by row."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from tests.oracles.worst_case import recursion_of_the_paper

PARENTS = {"a": "x", "b": "x", "c": "y"}
# of the columns age and job: the labels of every level
LEVELS: list[list[Callable[[Any], Any]]] = [
    [lambda v: v, lambda v: v and int(v) // 10, lambda v: "*"],
    [lambda v: v, PARENTS.get, lambda v: "*"],
]


def groups_of(rows: Sequence[Any], levels: Sequence[int]) -> list[Counter[Any]]:
    """The sensitive values of every group; a row is (anything, age, job, value)."""
    groups: dict[Any, Counter[Any]] = {}
    for _, *person, ill in rows:
        key = tuple(LEVELS[n][level](v) for n, (level, v) in enumerate(zip(levels, person, strict=True)))
        groups.setdefault(key, Counter())[ill] += 1
    return list(groups.values())


def sure_of(group: Counter[Any], facts: int) -> Fraction:
    """The best guess about a person of one group, by the recursion of the paper."""
    return Fraction(recursion_of_the_paper([sorted(group.values(), reverse=True)], facts))


def bars_of(rows: Sequence[Any], levels: Sequence[int], facts: int, parts: int) -> Counter[int]:
    """People by the part of the way from 0 to 1 that the best guess about them is in."""
    found: Counter[int] = Counter()
    for group in groups_of(rows, levels):
        found[math.floor(sure_of(group, facts) * parts)] += group.total()
    return found
