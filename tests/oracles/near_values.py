"""Interval disclosure straight from its definition: every set of values that counts as near, one by one."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from tests.oracles.classical import NOTHING, Outcome, Rows


def interval_disclosure(
    rows: Rows, width: Fraction, share: Fraction, distance: str = "absolute", apart: Any = None
) -> Outcome:
    """The largest share of a group in one set; `apart` is the matrix, or the paths from the values up."""
    if not rows:
        return NOTHING
    people = Counter(group for group, _ in rows)
    largest = Fraction(0)
    values = {value for _, value in rows if value is not None}
    for near in [*_sets(values, width, distance, apart), {None}]:
        inside = Counter(group for group, value in rows if value in near)
        largest = max(largest, *(Fraction(inside[group], people[group]) for group in people))
    return Outcome(largest, largest <= share)


def _sets(values: set[Hashable], width: Fraction, distance: str, apart: Any) -> Iterator[set[Hashable]]:
    if distance == "matrix":
        yield from _balls(width, apart)
    elif distance == "hierarchical":
        yield from _nodes(width, apart)
    else:
        for size in range(1, len(values) + 1):
            for some in itertools.combinations(values, size):
                if _near([Fraction(str(value).strip()) for value in some], width, distance):
                    yield set(some)


def _near(numbers: Sequence[Fraction], width: Fraction, distance: str) -> bool:
    if distance == "absolute":
        return max(numbers) - min(numbers) <= width
    if all(number == 0 for number in numbers):
        return True
    one_sign = all(number > 0 for number in numbers) or all(number < 0 for number in numbers)
    sizes = [abs(number) for number in numbers]
    return one_sign and max(sizes) <= (1 + width) * min(sizes)


def _balls(width: Fraction, matrix: Mapping[Any, Mapping[Any, Any]]) -> Iterator[set[Hashable]]:
    for row in matrix.values():
        yield {value for value, cell in row.items() if Fraction(str(cell)) <= width}


def _nodes(width: Fraction, paths: Mapping[Hashable, Sequence[Hashable]]) -> Iterator[set[Hashable]]:
    """`paths` leads from each value's parent up; a value alone is a node of level 0."""
    height = len(next(iter(paths.values())))
    for level in range(height + 1):
        if Fraction(level, height) <= width:
            ways = {value: (value, *path)[level:] for value, path in paths.items()}
            for way in set(ways.values()):
                yield {value for value in paths if ways[value] == way}
