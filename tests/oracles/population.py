"""k-map and δ-presence by counting people one by one."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

Person = tuple[str | None, ...]


def fewest_fitting(table: list[Person], population: list[Person]) -> int:
    """The fewest people of the population that share all values with somebody of the table."""
    return min(sum(other == person for other in population) for person in table)


def extreme_shares(table: list[Person], population: list[Person]) -> tuple[Fraction, Fraction]:
    """The lowest and the highest chance that somebody of the population is in the table."""
    inside, everybody = Counter(table), Counter(population)
    shares = [Fraction(inside[person], everybody[person]) for person in population]
    return min(shares), max(shares)
