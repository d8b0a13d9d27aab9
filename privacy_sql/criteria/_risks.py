"""The risk of being found again, person by person: sizes of groups in, exact shares out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from privacy_sql.criteria import Row
from privacy_sql.errors import DataError, number_of

if TYPE_CHECKING:
    from privacy_sql.counted.groups import Groups, Ints


class EqualGroups(NamedTuple):
    """Equal groups: their published people, the people among whom somebody is sought, and how many groups."""

    people: int
    among: int
    alike: int = 1


def maximum(crowds: Sequence[EqualGroups]) -> Fraction:
    """The risk of the person who is easiest to find."""
    return Fraction(1, min(crowd.among for crowd in crowds))


def average(crowds: Sequence[EqualGroups]) -> Fraction:
    """The mean risk of a person.

    >>> average([EqualGroups(12, 12), EqualGroups(3, 3)])
    Fraction(2, 15)
    """
    alike: dict[int, int] = {}  # equal risks are added up first
    for crowd in crowds:
        alike[crowd.among] = alike.get(crowd.among, 0) + crowd.people * crowd.alike
    return _sum([Fraction(n, among) for among, n in alike.items()]) / _people(crowds)


def of_table(crowds: Sequence[EqualGroups]) -> Fraction:
    """Groups over people of the population: the risk if somebody picks any person and guesses a row."""
    everybody = sum(crowd.among * crowd.alike for crowd in crowds)
    return Fraction(sum(crowd.alike for crowd in crowds), everybody)


def above(crowds: Sequence[EqualGroups], risk: Fraction) -> Fraction:
    """The share of people whose risk is above a threshold; equal does not count."""
    found = sum(crowd.people * crowd.alike for crowd in crowds if Fraction(1, crowd.among) > risk)
    return Fraction(found, _people(crowds))


def asks_for(risk: Fraction) -> int:
    """The smallest group size with at most this risk.

    >>> asks_for(Fraction("0.09")), asks_for(Fraction("1/11")), asks_for(Fraction("0.33"))
    (12, 11, 4)
    """
    return ceil(1 / risk)


def in_population(rows: Sequence[Row]) -> list[EqualGroups]:
    """The published groups, and how many people of the population fit each."""
    return [
        EqualGroups(row["n_people"], row["n_population"], row["n_groups"]) for row in refuse_strangers(rows)
    ]


def refuse_strangers(evidence: Sequence[Row]) -> list[Row]:
    """The groups with people of the table; refuses a population that lacks some of them."""
    groups = [row for row in evidence if row["n_people"] > 0]
    _refuse(sum(row["n_groups"] for row in groups if row["n_population"] < row["n_people"]))
    return groups


def fitting(groups: Groups) -> Ints:
    """How many people of the population fit each group; refuses a population that lacks some of the table."""
    among = groups.population
    _refuse(int((among < groups.people).sum()))
    return among


def _refuse(lacking: int) -> None:
    if lacking:
        raise DataError(
            "not_in_population",
            f"in {number_of(lacking, 'group')} the population has fewer people than the table",
            where="population",
            hint="The population must include everybody in the table, with the same coding.",
        )


def _people(crowds: Iterable[EqualGroups]) -> int:
    return sum(crowd.people * crowd.alike for crowd in crowds)


def _sum(parts: Sequence[Fraction]) -> Fraction:
    """A sum by halves, which keeps denominators small for as long as possible."""
    if len(parts) < 3:
        return sum(parts, Fraction(0))
    middle = len(parts) // 2
    return _sum(parts[:middle]) + _sum(parts[middle:])
