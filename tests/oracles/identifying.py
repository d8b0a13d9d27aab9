"""Which columns identify, straight from the definitions: every set of columns, every person."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations
from typing import Any


def unique_sets(people: list[tuple[Any, ...]], most: int) -> list[set[tuple[int, ...]]]:
    """For each person the minimal unique sets of at most `most` columns."""
    n_columns = len(people[0])
    sets = [chosen for size in range(1, most + 1) for chosen in combinations(range(n_columns), size)]
    alone: list[set[tuple[int, ...]]] = [set() for _ in people]
    for chosen in sets:
        seen = Counter(tuple(person[place] for place in chosen) for person in people)
        for number, person in enumerate(people):
            if seen[tuple(person[place] for place in chosen)] == 1:
                alone[number].add(chosen)
    return [{s for s in found if not any(set(t) < set(s) for t in found)} for found in alone]


def ratios(people: list[tuple[Any, ...]], chosen: tuple[int, ...]) -> tuple[Any, ...]:
    """Groups over people, people alone over people, and the share of pairs of people that differ."""
    seen = Counter(tuple(person[place] for place in chosen) for person in people)
    n = len(people)
    pairs = [(a, b) for a, b in combinations(range(n), 2)]
    apart = sum(any(people[a][p] != people[b][p] for p in chosen) for a, b in pairs)
    return (
        Fraction(len(seen), n),
        Fraction(sum(m == 1 for m in seen.values()), n),
        Fraction(apart, len(pairs)) if pairs else None,
    )
