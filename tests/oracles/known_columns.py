"""What somebody finds who knows some columns: every set of columns, counted by itself."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Hashable, Sequence
from fractions import Fraction

Row = tuple[Hashable, ...]
Rows = Sequence[tuple[Row, Hashable]]  # labels of the columns, and the sensitive value


def sets(n_columns: int, known: int) -> list[tuple[int, ...]]:
    """Every set of one to `known` columns."""
    return [
        some
        for size in range(1, min(known, n_columns) + 1)
        for some in itertools.combinations(range(n_columns), size)
    ]


def crowds(rows: Rows, columns: Sequence[int]) -> list[int]:
    """For each person how many share these labels."""
    labels = [tuple(row[place] for place in columns) for row, _ in rows]
    everybody = Counter(labels)
    return [everybody[label] for label in labels]


def smallest(rows: Rows, known: int) -> int:
    return min(min(crowds(rows, some)) for some in sets(len(rows[0][0]), known))


def people_below(rows: Rows, known: int, k: int) -> int:
    found = [crowds(rows, some) for some in sets(len(rows[0][0]), known)]
    return sum(any(crowd[person] < k for crowd in found) for person in range(len(rows)))


def largest_share(rows: Rows, columns: Sequence[int]) -> Fraction:
    """Of one value among those who share these labels."""
    values: dict[Row, list[Hashable]] = {}
    for row, value in rows:
        values.setdefault(tuple(row[place] for place in columns), []).append(value)
    return max(Fraction(max(Counter(own).values()), len(own)) for own in values.values())


def keeps(rows: Rows, known: int, k: int, share: Fraction | None) -> bool:
    enough = smallest(rows, known) >= k
    if share is None:
        return enough
    return enough and all(largest_share(rows, some) <= share for some in sets(len(rows[0][0]), known))
