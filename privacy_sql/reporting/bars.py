"""How many people have each value of a column, as bars: counts in the order of the values, and no value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from privacy_sql.counted.base import Base, count
from privacy_sql.counted.grouping import Grouping
from privacy_sql.engines import Engine
from privacy_sql.query.template import Sql, names, render
from privacy_sql.table import Table

MOST_VALUES = 300  # of a column with more no bars are drawn
MOST_BARS = 72  # beyond, neighbours share a bar
SENSITIVE = "s"
NUMBER = re.compile(r"[\[<>= ]*(-?\d+(?:\.\d+)?)")

Bars = list[int]


def of_source(base: Base, alias: str) -> Bars | None:
    """The people of the source by the value of one column; the sensitive one by how common its values are."""
    if base.statistics[alias]["n_values"] > MOST_VALUES:
        return None
    rows = _dictionary(base, alias)
    return _drawn({code: n for code, _, n in rows}, None if alias == SENSITIVE else _order(rows))


def of_groups(grouping: Grouping) -> dict[str, Bars]:
    """The people of each published column by its labels."""
    base = grouping.base
    places = {key.column: Sql(f"k{number}") for number, key in enumerate(grouping.keys, start=1)}
    found = {}
    for name, alias in base.aliases.items():
        if grouping.located_by == "boxes" or base.statistics[alias]["n_values"] > MOST_VALUES:
            continue
        column = places.get(alias, Sql(alias))
        query = render("counted/counts_by.sql", base=grouping.members, columns=[column])
        counts = {row[str(column)]: row["n_rows"] for row in base.engine.fetch(query)}
        found[name] = _drawn(counts, _order(_dictionary(base, alias)))
    table = base.table
    if len(table.sensitives) == 1 and base.statistics[SENSITIVE]["n_values"] <= MOST_VALUES:
        overall = render("counted/listed.sql", relation=grouping.overall, columns=names(["s", "n_rows"]))
        counts = {row["s"]: row["n_rows"] for row in base.engine.fetch(overall)}
        found[table.sensitives[0]] = _drawn(counts, None)
    return found


def of_column(engine: Engine, place: Path, name: str) -> Bars | None:
    """The rows of a published file by one column of it."""
    base = count(engine, Table(place, [name]))
    return of_source(base, "q1")


def _dictionary(base: Base, alias: str) -> list[tuple[int, object, int]]:
    """The codes of a column with their values, which go no further than their order, and their people."""
    query = render(
        "counted/listed.sql", relation=base.dictionaries[alias], columns=names(["code", "value", "n_rows"])
    )
    return [(row["code"], row["value"], row["n_rows"]) for row in base.engine.fetch(query)]


def _order(dictionary: Iterable[tuple[int, object, int]]) -> Mapping[int, int]:
    """The place of each code: numbers by size, other values by their text, what is missing at the end."""
    found = sorted(dictionary, key=lambda row: _sorted_as(row[1]))
    return {code: place for place, (code, _, _) in enumerate(found)}


def _sorted_as(value: object) -> tuple[int, float, str]:
    """
    >>> sorted(["10-19", "5-9", "b", None, "a"], key=_sorted_as)
    ['5-9', '10-19', 'a', 'b', None]
    """
    if value is None:
        return 2, 0.0, ""
    text = str(value)
    number = NUMBER.match(text)
    return (0, float(number[1]), text) if number else (1, 0.0, text)


def _drawn(counts: Mapping[int, int], order: Mapping[int, int] | None) -> Bars:
    if order is None:
        return _merged(sorted(counts.values(), reverse=True))
    return _merged(counts[code] for code in sorted(counts, key=lambda code: order.get(code, len(order))))


def _merged(counts: Iterable[int]) -> Bars:
    """
    >>> _merged([1] * 4), len(_merged([1] * 100)), sum(_merged([1] * 100))
    ([1, 1, 1, 1], 50, 100)
    """
    bars = [n for n in counts if n]
    together = -(-len(bars) // MOST_BARS)
    return [sum(bars[start : start + together]) for start in range(0, len(bars), together or 1)]
