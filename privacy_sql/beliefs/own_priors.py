"""Beliefs that an adversary brings from elsewhere, read from a file.

The file either states the beliefs, or it is another table of people with the same columns, and the beliefs
are the kernel estimate (li2009, eq. (2)) of somebody who studied it. They may cover values that nobody here
has.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from privacy_sql.beliefs import beliefs, studied_table
from privacy_sql.counted.base import count
from privacy_sql.errors import DataError, PrivacySqlError, UsageError, number_of, raise_all
from privacy_sql.hierarchies.base import text_of
from privacy_sql.parameters import number_in

if TYPE_CHECKING:
    from privacy_sql.beliefs.beliefs import Bandwidth
    from privacy_sql.table import Table

VALUE, PROBABILITY = "value", "probability"
FILE, LEARNED = "file", "learned_from"

Given = Mapping[str, object]
Kind = tuple[str, ...]  # a combination of quasi-identifiers as raw text; empty text is a missing value


@dataclass(frozen=True)
class OwnPrior:
    """Where beliefs come from: a file that states them, or a table that they are learned from."""

    place: Path
    learned: bool

    @property
    def name(self) -> str:
        return self.place.name

    def named(self) -> dict[str, object]:
        """The prior with the name of its file only, without the path."""
        return self._written(self.name)

    def below(self, directory: Path) -> dict[str, object]:
        """The prior with its path relative to a folder."""
        return self._written(str(directory / self.place))

    def _written(self, place: str) -> dict[str, object]:
        return {LEARNED: {FILE: place}} if self.learned else {FILE: place}

    def believed(self, table: studied_table.Studied, bandwidth: Bandwidth) -> Believed:
        """The beliefs about everybody in a table; nan for kinds of people without beliefs."""
        found = _learned(table, self.place, bandwidth) if self.learned else _spelt_out(table, self.place)
        values = {text_of(value) if value is not None else "": code for code, value in table.values.items()}
        more = [value for value in found.values if value not in values]
        first = max(table.values, default=0) + 1
        values |= {value: first + number for number, value in enumerate(more)}
        wider = replace(table, values=table.values | {values[value]: value or None for value in more})
        place = {code: column for column, code in enumerate(wider.values)}
        rows = np.full((len(table.kinds), len(wider.values)), np.nan)
        for number, by_value in enumerate(found.rows):
            if by_value is not None:
                rows[number] = 0.0
                for value, probability in by_value.items():
                    rows[number, place[values[value]]] = float(probability)
        return Believed(wider, beliefs.Prior(rows, found.path))


@dataclass(frozen=True)
class Believed:
    """A table, its values together with those only in the beliefs, and the belief about each kind."""

    table: studied_table.Studied
    prior: beliefs.Prior


@dataclass(frozen=True)
class _Found:
    """Beliefs for each kind (None: no belief), by values as text, and how they were computed."""

    rows: Sequence[Mapping[str, Fraction | float] | None]
    values: Sequence[str]
    path: str


def own_prior(given: object) -> OwnPrior:
    """Read `prior` of a requirement or an attack: {file: F}, or {learned_from: {file: F}}.

    >>> own_prior({"learned_from": {"file": "others.csv"}}).learned
    True
    """
    inner = given.get(LEARNED) if isinstance(given, Mapping) and set(given) == {LEARNED} else given
    place = inner.get(FILE) if isinstance(inner, Mapping) and set(inner) == {FILE} else None
    if not isinstance(place, str | Path) or not str(place):
        hint = "Write {file: prior.csv}, or {learned_from: {file: other.csv}}."
        raise UsageError(
            "bad_parameter", "prior must name a file of beliefs, or a file to learn them from", hint=hint
        )
    return OwnPrior(Path(place), inner is not given)


def _spelt_out(table: studied_table.Studied, path: Path) -> _Found:
    by_kind = read_prior(path, list(table.base.aliases))
    known = [studied_table.dictionary(table.base, str(column)) for column in table.columns]
    rows = []
    for codes in table.kinds.tolist():
        raw = [by_code.get(code) for by_code, code in zip(known, codes, strict=True)]
        rows.append(by_kind.get(tuple("" if value is None else text_of(value) for value in raw)))
    values = dict.fromkeys(value for row in by_kind.values() for value in row)
    return _Found(rows, list(values), "from a file")


def read_prior(path: Path, columns: Sequence[str]) -> dict[Kind, dict[str, Fraction]]:
    """Read stated beliefs: one row per combination and value, which must sum to exactly 1 per combination.

    No decimals are exact for a third, so write 1/3. Errors are counted and never quoted, because combinations
    and values are those of people.
    """
    lines = _lines(path, columns)
    found: dict[Kind, dict[str, Fraction]] = {}
    bad = twice = 0
    for kind, value, text in lines:
        number = number_in(text.strip())
        if number is None or not 0 <= number <= 1:
            bad += 1
            continue
        row = found.setdefault(kind, {})
        twice += value in row
        row[value] = number
    off = sum(sum(row.values()) != 1 for row in found.values())
    wrong = [
        (bad, "is not a probability between 0 and 1", "are not probabilities between 0 and 1", "row"),
        (twice, "repeats a combination and a value", "repeat a combination and a value", "row"),
        # a row without a number is missing from its sum, and is reported above
        (0 if bad or twice else off, "does not sum to 1", "do not sum to 1", "combination"),
    ]
    hints = {
        "combination": "Decimals are added exactly; write fractions such as 1/3, or correct the last one."
    }
    problems: list[PrivacySqlError] = [
        DataError(
            "bad_prior",
            f"{number_of(n, what)} of {path.name} {one if n == 1 else many}",
            where="prior",
            hint=hints.get(what, ""),
        )
        for n, one, many, what in wrong
        if n
    ]
    if not found and not problems:
        problems = [DataError("bad_prior", f"{path.name} has no beliefs", where="prior")]
    raise_all(problems)
    return found


def _lines(path: Path, columns: Sequence[str]) -> Iterator[tuple[Kind, str, str]]:
    """Read each row of a file of beliefs: the combination, the value, the probability."""
    taken = sorted({VALUE, PROBABILITY} & set(columns))
    if taken:
        problem = (
            f'a quasi-identifier has the name "{taken[0]}", which the file of beliefs uses for another column'
        )
        raise UsageError("taken_name", problem, where="prior", hint="Rename it.")
    refuse_no_file(path)
    needed = [*columns, VALUE, PROBABILITY]
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            rows = csv.reader(stream, strict=True)
            header = next(rows, [])
            if sorted(header) != sorted(needed):
                lacking = [name for name in needed if name not in header]
                more = [name for name in header if name not in needed]
                told = [f"lacks {', '.join(lacking)}"] * bool(lacking) + [f"has {', '.join(more)}"] * bool(
                    more
                )
                problem = f"{path.name} {' and '.join(told) or 'names a column twice'}"
                hint = f"It needs the columns {', '.join(needed)}."
                raise DataError("bad_prior", problem, where="prior", hint=hint)
            places = [header.index(name) for name in needed]
            for row in rows:
                if row and len(row) != len(header):
                    raise csv.Error
                if row:
                    *kind, value, probability = (row[place] for place in places)
                    yield tuple(kind), value, probability
    except (csv.Error, UnicodeError):
        raise DataError("bad_prior", f"{path.name} is not CSV in UTF-8", where="prior") from None


def refuse_no_file(path: Path) -> None:
    """Refuse a missing file of beliefs or of people to learn from."""
    if not path.is_file():
        raise UsageError("no_such_file", f"there is no file {path.name}", where="prior")


def _learned(table: studied_table.Studied, path: Path, bandwidth: Bandwidth) -> _Found:
    """The kernel estimate from another table for the people of this one, with number ranges over both."""
    refuse_no_file(path)
    dictionaries = [studied_table.dictionary(table.base, str(column)) for column in table.columns]
    targets = [
        [by_code.get(code) for by_code, code in zip(dictionaries, codes, strict=True)]
        for codes in table.kinds.tolist()
    ]
    with table.base.engine.beside() as apart:
        study = studied_table.studied(count(apart, _other(table, path)), targets)
        found = beliefs.prior(study, bandwidth)
        values = ["" if value is None else text_of(value) for value in study.values.values()]
    rows = [
        None if np.isnan(row).any() else dict(zip(values, row.tolist(), strict=True))
        for row in found.beliefs.astype(float)
    ]
    return _Found(rows, values, found.path)


def _other(table: studied_table.Studied, path: Path) -> Table:
    """The table to learn from; its columns mean the same as here."""
    ours = table.base.table
    numeric = {alike.name: "numeric" for alike in table.resemblances if alike.kind == "numeric"}
    return replace(
        ours,
        source=path,
        quasi={name: kind for name, kind in (table.base.columns[str(c)] for c in table.columns)},
        domains={**numeric, **(ours.domains or {})},
        identifier=None,
        group=None,
        count=None,
        insensitive=(),
        drop=(),
        population=None,
        where=None,
        also_known=(),
        also_sensitive=(),
        name=path.stem,
    )
