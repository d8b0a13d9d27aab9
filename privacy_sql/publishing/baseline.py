"""The baseline of a guess: how sure somebody is who knows only the published columns.

A reader guesses the most common sensitive value of a person's group. Groups are those of the published
quasi-identifiers and, for a reader who also knows insensitive columns, those of both: all insensitive columns
together and, if there are few, each one alone. These numbers have one requirement: insensitive columns single
out nobody below k, unless a person has given a reason.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from privacy_sql.counted.base import Base, count, no_rows
from privacy_sql.counted.grouping import Grouping
from privacy_sql.criteria import least
from privacy_sql.engines import Engine
from privacy_sql.errors import NotSafe, UsageError, people
from privacy_sql.query.template import Sql, render
from privacy_sql.release import Release, refuse_no_release
from privacy_sql.table import PerPerson, Table
from privacy_sql.verdict import exact_text

# guesses with a higher probability than this are counted; equal is not above
SURE = {"0.5": (1, 2), "0.8": (4, 5), "0.95": (19, 20)}
MOST_ALONE = 8  # with more insensitive columns than this, only all of them together are counted
ALL = "all"


@dataclass(frozen=True)
class Guess:
    """How sure a reader of one partition is: groups by size and by the count of their most common value."""

    groups: tuple[
        tuple[int, int | None, int], ...
    ]  # people, those with the most common value, number of equal groups

    @property
    def smallest(self) -> int:
        return min((n for n, _, _ in self.groups), default=0)

    def below(self, k: int) -> int:
        """People in groups of fewer than k."""
        return sum(n * alike for n, _, alike in self.groups if n < k)

    def to_json(self) -> dict[str, Any]:
        """The numbers by name; those about values are None if no column is sensitive."""
        counted = {"alone": 0, "smallest": self.smallest, "groups": 0}
        people_above, right_above = dict.fromkeys(SURE, 0), dict.fromkeys(SURE, 0)
        worst: Fraction | None = None
        everybody = right = certain = 0
        for n, top, alike in self.groups:
            counted["groups"] += alike
            counted["alone"] += alike if n == 1 else 0
            if top is None:
                continue
            everybody += n * alike
            right += top * alike
            certain += n * alike if top == n else 0
            worst = max(worst or Fraction(0), Fraction(top, n))
            for sure, (part, whole) in SURE.items():
                if top * whole > part * n:
                    people_above[sure] += n * alike
                    right_above[sure] += top * alike
        if worst is None:
            unknown = dict.fromkeys(SURE)
            told = {"worst_guess": None, "people_above": unknown, "right_above": unknown}
            return {**told, "certain": None, **counted, "right_in_all": None}
        return {
            "worst_guess": exact_text(worst),
            "people_above": people_above,
            "right_above": right_above,
            "certain": certain,
            **counted,
            "right_in_all": exact_text(Fraction(right, everybody)),
        }


@dataclass(frozen=True)
class Baseline:
    """The guesses of a reader of the release, and of one who also knows the insensitive columns.

    Each of several sensitive columns has a guess, with the others as known; the worst is shown.
    """

    as_published: tuple[Guess, ...]
    known: Mapping[str, tuple[Guess, ...]]  # "all", and each column alone

    @property
    def n_people(self) -> int:
        """How many people are published."""
        return sum(n * alike for n, _, alike in self.as_published[0].groups)

    @property
    def smallest_known(self) -> int | None:
        """The smallest group by all published columns; None without insensitive columns."""
        return min((guess.smallest for guess in self.known.get(ALL, ())), default=None)

    def below(self, k: int) -> tuple[int, int]:
        """People in groups below k, as published and with known insensitive columns."""
        told = [
            max((guess.below(k) for guess in part), default=0)
            for part in (self.as_published, self.known.get(ALL, ()))
        ]
        return told[0], told[1]

    def to_json(self) -> dict[str, Any]:
        """`baseline` of `--json` and of the manifest."""
        return {
            "as_published": worst(self.as_published),
            "known": {name: worst(part) for name, part in self.known.items()},
        }

    def sentences(self, require: Sequence[Any]) -> list[str]:
        """The same in words, with a line for each reader."""
        told, k = self.to_json(), least(require)
        columns = [name for name in self.known if name != ALL] or ["the insensitive columns"]
        readers = {"knowing the groups": told["as_published"]}
        if self.known:
            readers[f"knowing {', '.join(columns)} too"] = told["known"][ALL]
        lines = []
        for (who, part), few in zip(readers.items(), self.below(k), strict=False):
            line = f"baseline    {who}: {people(part['alone'])} alone, {few} in groups below {k}"
            if part["worst_guess"] is not None:
                sure, right = (float(Fraction(part[name])) for name in ("worst_guess", "right_in_all"))
                certain = people(part["certain"])
                line += f"; a guess is up to {sure:.0%} sure, certain for {certain}, right for {right:.0%}"
            lines.append(line)
        return lines


def worst(guesses: Sequence[Guess]) -> dict[str, Any]:
    """For several sensitive columns, the worst of each number."""
    first, *others = map(Guess.to_json, guesses)
    for other in others:
        for name, number in other.items():
            if isinstance(number, Mapping):
                first[name] = {sure: max(n, first[name][sure]) for sure, n in number.items()}
            else:
                larger: Callable[..., Any] = min if name == "smallest" else max
                first[name] = larger(first[name], number, key=Fraction)
    return first


def baseline(engine: Engine, table: Table | Release) -> dict[str, Any]:
    """How surely the values of a table or a release can be guessed, as in JSON and manifests.

    >>> import pandas as pd
    >>> import privacy_sql as ps
    >>> rows = pd.DataFrame({"age": ["3*", "3*"], "hours": ["40", "8"], "illness": ["flu", "cold"]})
    >>> with ps.connect() as engine:
    ...     found = ps.baseline(engine, ps.Table(rows, ["age"], "illness", insensitive=["hours"]))
    >>> found["as_published"]["worst_guess"], found["known"]["all"]["worst_guess"]
    ('1/2', '1')
    """
    if isinstance(table, Table):
        of_rows = of_table(engine, table)
        if not any(guess.groups for guess in of_rows.as_published):
            raise no_rows(table)
        return of_rows.to_json()
    refuse_no_release(table)
    found = of_release(table)
    if found is None:
        hint = "Choose a release that shows the rows of one table."
        raise UsageError("no_groups", f"{table.method} publishes no groups of people", hint=hint)
    return found.to_json()


def left_out(release: Release) -> int | None:
    """The people whom a release leaves out, each with one row or several; None where `suppressed` is."""
    if not release.suppressed or release.table.values_per_person == "one" or release.baseline is None:
        return release.suppressed
    return release.base.n_people - release.baseline.n_people


def of_table(engine: Engine, table: Table, own: Grouping | None = None) -> Baseline:
    """The baseline of an unchanged table; `own` are its groups if they are already counted."""
    free = table.as_they_are
    as_published = None
    if own is not None and not table.also_known and table.values_per_person != "multiset":
        as_published = _each(
            own.base, lambda base: own if base is own.base else Grouping.by(base, base.own_keys())
        )
    if as_published is not None and not free:
        return Baseline(as_published, {})
    base = count(engine, finest(table), several=True)

    def by(columns: Sequence[str], part: Base) -> Grouping:
        left = {part.aliases[column] for column in free if column not in columns}
        keys = [key for key in part.keys({}) if key.column not in left]
        if table.group:
            keys = [part.key("grp"), *(part.key(part.aliases[column]) for column in columns)]
        return Grouping.by(part, keys)

    return Baseline(
        as_published or _each(base, partial(by, ())),
        {name: _each(base, partial(by, columns)) for name, columns in _readers(free).items()},
    )


def finest(table: Table) -> Table:
    """The table for somebody who also knows the insensitive columns: for them these are quasi-identifiers."""
    free = table.as_they_are
    # a guess is about a person, so a value that somebody has twice counts once
    as_set: PerPerson = "set" if table.values_per_person != "one" else "one"
    quasi = {column: kind for column, kind in table.hierarchies.items() if column not in free}
    plain = replace(table, quasi=quasi, also_known=(), values_per_person=as_set)
    return replace(plain, insensitive=()).counting(free) if free else plain


def _readers(free: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """What a reader may know besides the quasi-identifiers: all insensitive columns, or one."""
    if not free:
        return {}
    alone = free if len(free) <= MOST_ALONE else ()
    return {ALL: tuple(free), **{column: (column,) for column in alone}}


def _each(base: Base, grouped: Callable[[Base], Grouping]) -> tuple[Guess, ...]:
    return tuple(guess(grouped(part)) for part in (base, *base.sides))


def guess(grouping: Grouping) -> Guess:
    """How sure a reader is who knows the group of everybody."""
    base = grouping.base
    members = grouping.members if base.people is not None else None
    return _guess(base.engine, grouping.histogram, members, bool(base.table.sensitives))


def _guess(engine: Engine, histogram: Sql, members: Sql | None, sensitive: bool) -> Guess:
    rows = engine.fetch(render("publishing/baseline.sql", histogram=histogram, members=members))
    # a person with a value twice is one person
    return Guess(
        tuple(
            (row["n_people"], min(row["n_top"], row["n_people"]) if sensitive else None, row["n_groups"])
            for row in rows
        )
    )


def of_release(release: Release) -> Baseline | None:
    """The baseline of a release; None for counts of cells, which put nobody in a group."""
    proposal = release.proposal
    grouping = proposal.grouping.one_table
    if proposal.promise is not None or grouping is None:
        return None
    table, base = release.table, grouping.base
    free = table.as_they_are
    if proposal.permuted:
        return of_group_numbers(grouping, table)
    # two groups may print the same centre; with several values per person, the judged groups say no less
    by_label = grouping.located_by == "members" and table.values_per_person == "one"
    if not (free or by_label or base.sides):
        return Baseline((guess(grouping),), {})  # the judged groups are the published ones
    if table.values_per_person == "one":
        return of_published(base.engine, base.engine.rows_of(proposal.view), release)
    if grouping.gone is None and not proposal.shown_as and proposal.group is None:
        return _of_levels(release, free)
    known = {name: _not_knowing(grouping, set(free) - {*columns}) for name, columns in _readers(free).items()}
    return Baseline(_not_knowing(grouping, set(free)), known)


def _not_knowing(grouping: Grouping, unknown: Collection[str]) -> tuple[Guess, ...]:
    """The guess of a reader who does not know some columns, from the labels of the judged groups."""
    if not unknown or (not grouping.printed and grouping.located_by == "boxes"):
        return (guess(grouping),)  # boxes with printed numbers stay separate for everybody
    if not grouping.printed:
        return (guess(grouping.without_keys(unknown) or grouping),)
    from privacy_sql.boxes.partitioning import printing_alike  # loads arrays, which are rarely needed here

    base = grouping.base
    histogram, members = printing_alike(grouping, unknown)
    return (_guess(base.engine, histogram, members, bool(base.table.sensitives)),)


def of_group_numbers(grouping: Grouping, table: Table) -> Baseline:
    """For values in random order, a further column says nothing about one person's value."""
    one = (guess(grouping),)
    return Baseline(one, dict.fromkeys(_readers(table.as_they_are), one))


def _of_levels(release: Release, free: Sequence[str]) -> Baseline:
    """The same for several values per person, counted in the source at the published levels."""
    table = release.table
    base = count(
        release.base.engine,
        replace(table, insensitive=(), also_known=(), values_per_person="set").counting(free),
        several=True,
    )

    def by(columns: Sequence[str], part: Base) -> Grouping:
        left = {part.aliases[column] for column in free if column not in columns}
        return Grouping.by(part, [key for key in part.keys(release.levels) if key.column not in left])

    known = {name: _each(base, partial(by, columns)) for name, columns in _readers(free).items()}
    return Baseline(_each(base, partial(by, ())), known)


def of_published(
    engine: Engine, published: str | Path, release: Release, counted: str | None = None
) -> Baseline:
    """The baseline of published rows with one value per person, as anybody can count it."""
    table = release.table
    free = table.as_they_are
    columns = [c for c in release.quasi if c not in table.also_sensitive and c not in free]
    return of_table(
        engine,
        Table(
            published,
            columns,
            table.declared_sensitive or None,
            joint=bool(table.joined),
            group=release.group,
            insensitive=free,
            count=counted,
            name=f"{release.name} as published",
        ),
    )


def declared(table: Table) -> dict[str, Any]:
    """The insensitive columns, and what was decided about a reader who knows them."""
    columns = list(table.as_they_are)
    reason = {"acknowledge": table.acknowledged} if table.acknowledged else {}
    return {"columns": columns, "known": bool(table.also_known), **reason} if columns else {}


def may_single_out(table: Table) -> bool:
    """Whether insensitive columns are published about which nobody has decided yet."""
    return bool(table.as_they_are) and not (table.also_known or table.acknowledged)


def singled_out(table: Table, require: Sequence[Any], found: Baseline | None) -> NotSafe | None:
    """The refusal of insensitive columns that single people out, or None.

    The requirements judge columns declared as known, and the manifest shows an acknowledgement.
    """
    smallest, k = found.smallest_known if found else None, least(require)
    if found is None or smallest is None or smallest >= k or not may_single_out(table):
        return None
    columns = ", ".join(table.as_they_are)
    entries = []  # the columns as a list in privacy.yml
    for name in table.as_they_are:
        plain = re.fullmatch(r"[^\W\d][\w .-]*", name) and name == name.strip()
        entries.append(name if plain else json.dumps(name, ensure_ascii=False))
    listed = f"[{', '.join(entries)}]"
    _, below = found.below(k)
    return NotSafe(
        "known_columns_single_out",
        f"somebody who also knows {columns} finds {people(below)} in groups of fewer than {k}",
        where=table.name,
        hint=(
            f"Write `insensitive: {{columns: {listed}, known: true}}` to apply every requirement to them, or"
            f' `insensitive: {{columns: {listed}, acknowledge: "the reason"}}`; or `drop: {listed}`.'
        ),
    )
