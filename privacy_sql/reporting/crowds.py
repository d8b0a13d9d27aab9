"""People by how well they can be guessed and by how many others look alike, of one who knows certain columns.

A run counts them three times with the same question: of the source, of what is published, and of what is
published by somebody who also knows the columns that are published as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from privacy_sql.counted.base import count
from privacy_sql.counted.grouping import Grouping
from privacy_sql.criteria import largest_size, least
from privacy_sql.errors import UsageError
from privacy_sql.publishing import baseline
from privacy_sql.publishing.baseline import Baseline, Guess
from privacy_sql.query.template import render
from privacy_sql.release import Release
from privacy_sql.reporting import bars
from privacy_sql.reporting.records import Record

# a guess that is right this often, or more often but not as often as the bound before
GUESSED = ("1", "4/5", "3/5", "2/5", "1/5", "0")
TIMES = (1, 2, 5, 10)  # groups of so many times k and more
USUAL = 5  # groups below this are shown apart where no size is required
MOST_COMBINATIONS = 2_000_000  # beyond, the source is not counted by its raw values


def of_release(release: Release) -> Record:
    """The people of a release, and of its source, for the report."""
    found = release.baseline
    if not isinstance(found, Baseline):
        raise UsageError("no_groups", "it is counted where rows of one table are published")
    k = small(release.require)
    before, free = _source(release)
    return {
        "k": k,
        "before": told(before, k),
        "free": free,
        "reader": _commonest(release),
        "as_published": told(found.as_published, k),
        "known": told(found.known["all"], k) if found.known else None,
    }


def small(require: Sequence[Any]) -> int:
    """The size below which a group counts as small: what is required of groups, or a usual one."""
    return USUAL if largest_size(require) is None else least(require)


def told(guesses: Sequence[Guess] | None, k: int) -> Record | None:
    """The numbers of the baseline with people by guess and by size of group; None where nothing was counted.

    >>> found = told([Guess(((1, 1, 2), (10, 5, 1), (12, 3, 1)))], 10)
    >>> found["by_size"], found["by_guess"], found["below"]
    ([[1, 1, 2], [2, 9, 0], [10, 19, 22], [20, 49, 0], [50, 99, 0], [100, None, 0]], [2, 0, 0, 10, 12, 0], 2)
    >>> found["easiest"], found["people"]
    ([1, 1, 2], 24)
    """
    if guesses is None:
        return None
    # with several sensitive columns each has groups of its own, and a person no one guess
    (one, *others) = guesses
    everybody = sum(n * alike for n, _, alike in one.groups)
    shown: Record = baseline.worst(guesses) | {
        "people": everybody,
        "below": max(guess.below(k) for guess in guesses),
        "by_size": None if others else _by_size(one, k),
        "by_guess": None,
        "easiest": None,
    }
    asked = [(n, top, alike) for n, top, alike in one.groups if top is not None]
    if others or not asked:
        return shown
    # the easiest person to guess, in the smallest such group
    easiest = max(asked, key=lambda group: (Fraction(group[1], group[0]), -group[0]))
    return shown | {"by_guess": _by_guess(asked), "easiest": list(easiest)}


def _by_size(guess: Guess, k: int) -> list[list[int | None]]:
    lows = sorted({1, 2, *(k * times for times in TIMES)})
    highs = [low - 1 for low in lows[1:]]
    bins: list[list[int | None]] = []
    for low, high in zip(lows, [*highs, None], strict=True):
        inside = (n * alike for n, _, alike in guess.groups if n >= low and (high is None or n <= high))
        bins.append([low, high, sum(inside)])
    return bins


def _by_guess(groups: Sequence[tuple[int, int, int]]) -> list[int]:
    counts = [0] * len(GUESSED)
    bounds = [Fraction(bound).as_integer_ratio() for bound in GUESSED]
    for n, top, alike in groups:
        place = next(i for i, (part, whole) in enumerate(bounds) if top * whole >= part * n)
        counts[place] += n * alike
    return counts


def _source(release: Release) -> tuple[Sequence[Guess] | None, dict[str, Record]]:
    """The guess of somebody who knows the same columns as they are in the source, and the insensitive ones.

    Of an insensitive column: how many values it has there, and how many people have each.
    """
    base, table = release.base, release.table
    if base.combinations > MOST_COMBINATIONS or release.promise is not None:
        return None, {}
    if table.group:
        found = baseline.of_table(base.engine, table.undivided())
        return found.known[baseline.ALL] if found.known else found.as_published, {}
    unknown = [name for name in table.as_they_are if name not in base.aliases]
    if base.sides or base.people is not None or unknown:
        base = count(base.engine, baseline.finest(table.undivided()), several=True)
    guesses = tuple(baseline.guess(Grouping.by(part, part.keys({}))) for part in (base, *base.sides))
    return guesses, {
        name: {
            "before": base.statistics[base.aliases[name]]["n_values"],
            "bars": bars.of_source(base, base.aliases[name]),
        }
        for name in unknown
    }


def _commonest(release: Release) -> list[int] | None:
    """How many people have the most common sensitive value, and how many there are: a guess about anybody."""
    grouping = release.grouping.one_table
    table = release.table
    if grouping is None or table.values_per_person != "one" or len(table.sensitives) != 1:
        return None
    # of several sensitive columns the one that is guessed best, as `baseline.worst` tells it of the others
    found = []
    for part in grouping.of_each_column():
        (row,) = part.base.engine.fetch(render("publishing/commonest.sql", overall=part.overall))
        found.append([row["n_top"], row["n_people"]])
    return max(found, key=lambda counted: Fraction(*counted))


def above(found: Mapping[str, Any], sure: str) -> int | None:
    """How many people can be guessed better than a share."""
    number: int | None = found["people_above"][sure]
    return number
