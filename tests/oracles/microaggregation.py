"""Fixed-size MDAV on single rows, as published (Domingo-Ferrer and Mateo-Sanz 2002)."""

from __future__ import annotations

from fractions import Fraction

Row = tuple[Fraction, ...]


def mdav_groups(rows: list[Row], k: int) -> list[list[int]]:
    """Row numbers of each group; ties go to the earlier row."""
    left = list(range(len(rows)))
    groups: list[list[int]] = []

    def take(around: Row) -> None:
        near = sorted(left, key=lambda row: (_squared(rows[row], around), row))[:k]
        groups.append(near)
        left[:] = [row for row in left if row not in near]

    def farthest(spot: Row) -> Row:
        return rows[max(left, key=lambda row: (_squared(rows[row], spot), -row))]

    while len(left) >= 3 * k:
        first = farthest(_mean([rows[row] for row in left]))
        take(first)
        take(farthest(first))
    if len(left) >= 2 * k:
        take(farthest(_mean([rows[row] for row in left])))
    return [*groups, left] if left else groups


def _squared(a: Row, b: Row) -> Fraction:
    return sum(((x - y) ** 2 for x, y in zip(a, b, strict=True)), Fraction(0))


def _mean(rows: list[Row]) -> Row:
    return tuple(sum(column, Fraction(0)) / len(rows) for column in zip(*rows, strict=True))
