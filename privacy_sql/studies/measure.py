"""A published table measured against its source: how many people are singled out, linked and guessed right.

This measures one release and is not a requirement: a table that does well here may still give somebody away.
Both files are counted once. Everybody in the source is counted, so these shares are exact and have no
interval. Only guesses from the nearest rows ask a sample.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from math import comb
from pathlib import Path

import numpy as np
import numpy.typing as npt

from privacy_sql.counted.base import Opened, count_opened, no_rows, refuse_strangers, start
from privacy_sql.display.progress import report
from privacy_sql.engines import Engine, Source
from privacy_sql.errors import UsageError, did_you_mean
from privacy_sql.hierarchies import AsIs, Hierarchy
from privacy_sql.hierarchies.base import text_of
from privacy_sql.history.described import PublishedColumn, describe, described_by
from privacy_sql.manifest import SUFFIX
from privacy_sql.query.template import names, render
from privacy_sql.studies import _nearest
from privacy_sql.studies._nearest import CodedPeople
from privacy_sql.studies._packed import PackedColumn, packed
from privacy_sql.studies._proportions import Excess as Excess
from privacy_sql.studies._proportions import clopper_pearson, confidence, excess
from privacy_sql.table import Table

Ints = npt.NDArray[np.int64]
MOST_SETS = 2000
# combinations of labels that are counted as places, whether they occur or not
LEAST_PLACES = 2**16
MOST_PLACES = 4  # for each line of both files


@dataclass(frozen=True)
class Singled:
    """Combinations found in one row of the release, and how many of them fit exactly one person."""

    right: int
    alone: int


@dataclass(frozen=True)
class Control:
    """The same guesses about people the release was not made from, with the exact interval of their share."""

    people: int
    right: Fraction
    low: Fraction
    high: Fraction


@dataclass(frozen=True)
class Nearest:
    """Guesses from the nearest rows about some people, and the exact interval of the share of all of them.

    If everybody was asked, the share is counted and both ends are that share.
    """

    asked: int
    right: Fraction
    low: Fraction
    high: Fraction
    seed: int


@dataclass(frozen=True)
class Measured:
    """What somebody learns who knows some columns of everybody in the source.

    `right` is the expected number of people whose secret is guessed right. The guess is the most common value
    of the rows that fit, with ties shared. A person who fits no row counts as guessed wrong. `baseline` is
    the share right without the release, when the guess is always the most common value.
    """

    people: int
    fitted: int
    right: Fraction
    baseline: Fraction
    singled_out: Singled
    subsets: Mapping[tuple[str, ...], Singled] = field(default_factory=dict)
    linked: int | None = None  # people who are alone on both halves and linked to one row
    control: Control | None = None
    excess: Excess | None = None
    nearest: Nearest | None = None
    nearest_control: Nearest | None = None
    nearest_excess: Excess | None = None

    @property
    def share(self) -> Fraction:
        return self.right / self.people


def measure(
    engine: Engine,
    source: Source | Table,
    released: Source | Table,
    known: Sequence[str],
    secret: str,
    control: Source | Table | None = None,
    *,
    most: int = 0,
    linked: tuple[Sequence[str], Sequence[str]] | None = None,
    level: str | float = "0.95",
    nearest: int | None = None,
    seed: int = 0,
    hierarchies: Mapping[str, Hierarchy] | None = None,
) -> Measured:
    """Measure a release, or a synthetic table, against the people it was made from.

    `source` and `control` are files, relations, frames or tables. `released` may also be a manifest; the
    known columns and the secret are then generalised to its levels. It has only the checksum of a hierarchy
    that was a file: name that in `hierarchies`, or in a table as `source`. `most` also measures singling out
    by every set of up to that many known columns. `linked`: two sets of columns that two adversaries know.
    `nearest` also guesses that many people, drawn with a `seed`, from the rows nearest to them: a sample, so
    with an interval.

    >>> import pandas as pd, privacy_sql as ps
    >>> people = pd.DataFrame({"age": ["30", "30", "41"], "ill": ["flu", "cold", "flu"]})
    >>> shown = pd.DataFrame({"age": ["30", "41"], "ill": ["flu", "flu"]})
    >>> with ps.connect() as engine:
    ...     found = ps.measure(engine, people, shown, ["age"], "ill")
    >>> str(found.right), found.people, found.singled_out
    ('2', 3, Singled(right=1, alone=2))
    """
    known = _columns(known, secret, linked)
    confidence(level)  # refused even if nothing is sampled
    if (n_sets := sum(comb(len(known), size) for size in range(1, most + 1))) > MOST_SETS:
        told = f"{len(known)} columns have {n_sets:,} sets of at most {most}"
        raise UsageError("too_many_sets", told, hint=f"Take smaller sets: at most {MOST_SETS:,} are counted.")
    if nearest is not None and not 1 <= nearest <= _nearest.MOST_ASKED:
        told = f"nearest asks about 1 to {_nearest.MOST_ASKED:,} people"
        raise UsageError("bad_argument", told, hint="A few hundred already give a narrow interval.")
    place, published = _published(released)
    shown_as = {column: published[column].column if column in published else column for column in known}
    then = {**(source.hierarchies if isinstance(source, Table) else {}), **(hierarchies or {})}
    kinds = {column: _level_of(published, column, then) for column in (*known, secret)}
    codes = [_Codes() for _ in (*known, secret)]
    shown = _read(engine, place, list(shown_as.values()), secret, {}, codes, "the release")
    asked = _read(engine, source, known, secret, kinds, codes, "the source")
    everything = range(len(known))
    keys = _keys(asked, shown, everything)
    right, fitted = _guessed(asked, shown, keys)
    found = beyond = other = None
    if control is not None:
        other = _read(engine, control, known, secret, kinds, codes, "the control")
        by_chance, _ = _guessed(other, shown, _keys(other, shown, everything))
        found = Control(other.people, by_chance, *clopper_pearson(by_chance, other.people, level))
        beyond = excess((right, asked.people), (by_chance, other.people), level, counted=True)
    near = near_control = near_beyond = None
    if nearest is not None:
        columns = _nearest.KnownColumnPlaces([list(of) for of in codes])
        near = _by_nearest(columns, asked, shown, nearest, seed, level)
        if other is not None:
            near_control = _by_nearest(columns, other, shown, nearest, seed, level)
            both = (near.right, near.asked), (near_control.right, near_control.asked)
            near_beyond = excess(*both, level, counted=near.asked == asked.people)
    sets = [members for size in range(1, most + 1) for members in combinations(everything, size)]
    return Measured(
        people=asked.people,
        fitted=fitted,
        right=right,
        baseline=Fraction(int(np.bincount(asked.secret, weights=asked.n).max()), asked.people),
        singled_out=_singled(asked, shown, keys),
        subsets={
            tuple(known[n] for n in members): _singled(asked, shown, _keys(asked, shown, members))
            for members in sets
        },
        linked=None
        if linked is None
        else _linked(asked, shown, [[known.index(c) for c in s] for s in linked], keys),
        control=found,
        excess=beyond,
        nearest=near,
        nearest_control=near_control,
        nearest_excess=near_beyond,
    )


# -- what is read --------------------------------------------------------------------------------------------


class _Codes(dict[str | None, int]):
    """The labels of one column in every file, as numbers; equal labels, and missing ones, share a number."""

    def of(self, label: str | None) -> int:
        return self.setdefault(label, len(self))


def _columns(
    known: Sequence[str], secret: str, linked: tuple[Sequence[str], Sequence[str]] | None
) -> list[str]:
    """The columns that are known, each once."""
    if isinstance(known, str) or not known or secret in known or len(set(known)) < len(known):
        told = "known must name at least one column, each once, and not the secret one"
        raise UsageError("bad_argument", told, hint='For example known=["age", "zip"].')
    found = list(known)
    if linked is not None and (len(linked) != 2 or not all(linked) or set().union(*linked) != set(found)):
        told = "linked must name two sets of columns that together are the known ones"
        raise UsageError("bad_argument", told, hint='For example linked=(["age"], ["zip"]).')
    return found


def _published(released: Source | Table) -> tuple[Source | Table, Mapping[str, PublishedColumn]]:
    """Where the release is and, if it has a manifest, how it shows each column."""
    path = released if isinstance(released, Path) else None
    if isinstance(released, str) and Path(released).is_file():
        path = Path(released)
    if path is None or not (path := described_by(path)).name.endswith(SUFFIX):
        return released, {}
    description = describe(path, 1)
    if description.values is not None or description.parts:
        told = f"{description.name} consists of several tables, which cannot be measured"
        raise UsageError("several_tables", told, hint="Use `privacy-sql attack intersection`.")
    return description.source, description.columns


def _level_of(
    published: Mapping[str, PublishedColumn], column: str, then: Mapping[str, Hierarchy]
) -> tuple[Hierarchy, int]:
    """The level at which a release with a manifest shows a column; unchanged columns have level 0."""
    shown = published.get(column)
    if shown is None:
        return AsIs(), 0
    if shown.levels is None or len(shown.levels) != 1:
        hint = "Leave the column out, or publish it at one level; rows must fit exactly to be measured."
        raise UsageError("no_level", f"{column} is not published at a single level", hint=hint)
    (level,) = shown.levels
    given = then.get(column, AsIs())
    known = [each for each in (given, given.for_fractions()) if each.checksum() == shown.checksum]
    kind = shown.hierarchy or next(iter(known), AsIs())
    if level and not kind.height:
        told = (
            f"{column} is published at level {level} of a hierarchy whose checksum alone is in the manifest"
        )
        hint = (
            f"Give the file that was used then: --hierarchy {column}=FILE, or --project with its privacy.yml."
        )
        raise UsageError("no_hierarchy", told, hint=hint)
    return kind, level


def _read(
    engine: Engine,
    given: Source | Table,
    known: Sequence[str],
    secret: str,
    kinds: Mapping[str, tuple[Hierarchy, int]],
    codes: Sequence[_Codes],
    what: str,
) -> CodedPeople:
    """One file counted by its known columns and its secret, with label numbers that all files share."""
    if not isinstance(given, Table):
        table = Table(given, list(known), secret, name=what)
    elif given.values_per_person != "one":
        told = "people have several values each, but a guess is about one value"
        raise UsageError("several_values", told, where=given.name)
    else:  # a table keeps only its place and how its people are counted
        columns = [*given.quasi, *given.sensitives, *given.insensitive]
        for column in (*known, secret):
            if column not in columns:
                told, hint = f'there is no column "{column}"', did_you_mean(column, columns)
                raise UsageError("unknown_column", told, where=given.name, hint=hint)
        table = Table(
            given.source, list(known), secret, count=given.count, where=given.where, name=given.name
        )
    refuse_strangers(engine, table)
    report(f"counting {table.name}", 0, 1)
    rows = start(engine, table)
    whole = None if table.count else packed(rows, [*known, secret])
    found, n = whole or _in_codes(rows, table)
    if not len(n):
        raise no_rows(table)
    report(f"counting {table.name}", 1, 1)
    shared = []
    for column, its, of in zip([*known, secret], found, codes, strict=True):
        kind, level = kinds.get(column, (AsIs(), 0))
        labels = [kind.label(value, level) for value in its.values] if kind.height else its.values
        numbers = [of.of(None if label is None else text_of(label)) for label in labels]
        shared.append(np.array(numbers, np.int64)[its.of_place][its.place])
    return CodedPeople(np.array(shared[:-1]).T, shared[-1], n)


def _in_codes(rows: Opened, table: Table) -> tuple[list[PackedColumn], Ints]:
    """The combinations of the columns of a table, whatever their types, and how many people have each."""
    base = count_opened(rows, table)
    if not base.holds_rows:
        raise no_rows(table)
    columns = [*base.aliases.values(), "s"]
    listed = render("counted/listed.sql", relation=base.relation, columns=names([*columns, "n_rows"]))
    counts = base.engine.arrays(listed)
    found = []
    for alias in columns:
        shown = render(
            "counted/listed.sql", relation=base.dictionaries[alias], columns=names(["code", "value"])
        )
        values = {row["code"]: row["value"] for row in base.engine.fetch(shown)}
        place = np.zeros(max(values) + 1, np.int64)
        place[[*values]] = np.arange(len(values))
        found.append(PackedColumn([*values.values()], place, np.asarray(counts[alias], np.int64)))
    return found, np.asarray(counts["n_rows"], np.int64)


# -- what is counted -----------------------------------------------------------------------------------------


def _keys(asked: CodedPeople, shown: CodedPeople, members: Sequence[int]) -> tuple[Ints, Ints]:
    """One number for each combination of some columns, the same in both files."""
    first, *others = ((asked.known[:, member], shown.known[:, member]) for member in members)
    keys = first
    for column in others:
        keys = _with(keys, column)
    return keys


def _with(keys: tuple[Ints, Ints], column: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
    """The numbers with one column more: places for all combinations, or only for those that occur."""
    size, width = (max(int(part.max()) for part in parts) + 1 for parts in (keys, column))
    most = max(MOST_PLACES * (len(keys[0]) + len(keys[1])), LEAST_PLACES)
    if size * width > 2**62:
        keys = _without_gaps(keys)
    ours, theirs = (key * width + own for key, own in zip(keys, column, strict=True))
    return (ours, theirs) if size * width <= most else _without_gaps((ours, theirs))


def _without_gaps(keys: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
    _, both = np.unique(np.concatenate(keys), return_inverse=True)
    return both[: len(keys[0])], both[len(keys[0]) :]


def _one_of(key: Ints, n: Ints, size: int) -> npt.NDArray[np.bool_]:
    """Which combinations have exactly one person, or one row."""
    return np.asarray(np.bincount(key, weights=n, minlength=size) == 1)


def _size(keys: tuple[Ints, Ints]) -> int:
    return max(int(part.max()) for part in keys) + 1


def _singled(asked: CodedPeople, shown: CodedPeople, keys: tuple[Ints, Ints]) -> Singled:
    """Combinations with one row in the release, and how many of those have one person in the source."""
    size = _size(keys)
    alone = _one_of(keys[1], shown.n, size)
    return Singled(int((alone & _one_of(keys[0], asked.n, size)).sum()), int(alone.sum()))


def _linked(
    asked: CodedPeople, shown: CodedPeople, halves: Sequence[Sequence[int]], keys: tuple[Ints, Ints]
) -> int:
    """People alone on both halves for whom exactly one row fits both."""
    ours, theirs = keys
    found = _one_of(theirs, shown.n, _size(keys))[ours]
    for half in halves:
        own, _ = _keys(asked, shown, half)
        found &= _one_of(own, asked.n, int(own.max()) + 1)[own]
    return int(found.sum())


def _guessed(asked: CodedPeople, shown: CodedPeople, keys: tuple[Ints, Ints]) -> tuple[Fraction, int]:
    """The expected number of people guessed right by their most common value, and how many have a row."""
    ours, theirs = keys
    cells = mine, its = _with(keys, (asked.secret, shown.secret))
    size, n_cells = _size(keys), _size(cells)
    # a line of the release for each cell; labels that several values share have several lines in a cell
    lines = np.arange(len(its))
    line_of = np.zeros(n_cells, np.int64)
    line_of[its] = lines
    own = line_of[its] == lines
    held = shown.n if own.all() else np.bincount(its, weights=shown.n)[its].astype(np.int64)
    top = np.zeros(size, np.int64)
    np.maximum.at(top, theirs, held)
    best = own & (held == top[theirs])
    ties = np.bincount(theirs[best], minlength=size)
    wins = np.zeros(n_cells, np.bool_)
    wins[its[best]] = True
    hit = wins[mine]
    by_ties = np.bincount(ties[ours[hit]], weights=asked.n[hit]).astype(np.int64)
    right = sum((Fraction(int(n), n_ties) for n_ties, n in enumerate(by_ties) if n), Fraction(0))
    return right, int(asked.n[ties[ours] > 0].sum())


def _by_nearest(
    columns: _nearest.KnownColumnPlaces,
    of: CodedPeople,
    shown: CodedPeople,
    size: int,
    seed: int,
    level: str | float,
) -> Nearest:
    """The guesses about a sample of people; about everybody where there are no more."""
    sample = columns.sample(of, size, seed)
    n = len(sample[1])
    right = _nearest.right_by_nearest(columns, sample, shown)
    ends = (Fraction(right, n),) * 2 if n == of.people else clopper_pearson(right, n, level)
    return Nearest(n, right, *ends, seed)
