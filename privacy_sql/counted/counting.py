"""Count a source: its distinct combinations in dictionary codes, the dictionaries, and their sizes.

One statement reads every row. What it counts is put into codes in two more, for an engine keeps all that one
statement works on until that ends: the dictionaries of all columns as one relation, then the combinations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from privacy_sql.engines import Engine
from privacy_sql.hierarchies import AsIs, Hierarchy
from privacy_sql.hierarchies.base import TOP
from privacy_sql.query.template import Query, Sql, render
from privacy_sql.table import Table

# the sizes of a part without rows
NOTHING: Mapping[str, int] = {"n_values": 0, "n_rows": 0, "n_nulls": 0, "top": 0, "star": -1}


@dataclass(frozen=True)
class Counted:
    """The result of counting a source, on the engine that has the rows."""

    relation: Sql  # q1.., grp, s, n_rows
    people: Sql | None  # q1.., grp, n_rows as people, when a person may have several values
    holders: Sql | None  # the same for people with at least one value
    dictionaries: Mapping[str, Sql]  # internal column -> (code, value, n_rows)
    statistics: Mapping[str, Mapping[str, int]]  # internal column -> n_values, n_nulls, top, star
    rows: int
    combinations: int


def counted(engine: Engine, source: Sql, table: Table, kinds: Mapping[str, str]) -> Counted:
    """Count a table's source; the dictionaries of the quasi-identifiers include people without a value."""
    inside = _internal(table)
    if table.values_per_person == "one":
        alike = None if table.count else engine.alike(source)
        if alike is None:
            texts = not table.count and {*map(kinds.get, dict(inside))} == {"text"}
            made = engine.coded(source, inside) if texts else None
            return _coded(engine, _rows(source, table, inside), inside, kinds, {}, made)
        rows, n_rows = alike
        counting = render(
            "counted/base.sql", source=rows, columns=inside, measure="alike", counted=n_rows, present=None
        )
        found = _coded(engine, counting, inside, kinds, {})
        engine.drop(rows)
        return found
    quasi = [(name, alias) for name, alias in inside if alias != "s"]
    people = _coded(engine, _people(source, table, quasi), quasi, kinds, {})
    present = table.sensitives[0] if table.sensitives else None
    holders = _coded(engine, _people(source, table, quasi, present), quasi, kinds, people.dictionaries)
    values = _coded(engine, _rows(source, table, inside), inside, kinds, people.dictionaries)
    return Counted(
        values.relation,
        people.relation,
        holders.relation,
        {**people.dictionaries, **values.dictionaries},
        {**people.statistics, **values.statistics},
        values.rows,
        values.combinations,
    )


def counted_with(
    engine: Engine,
    source: Sql,
    table: Table,
    column: str,
    kinds: Mapping[str, str],
    given: Mapping[str, Sql],
    *,
    values: str | None = None,
) -> Counted:
    """How many people share each combination and each value of a further column: q1.., grp, s, n_rows.

    Combinations use the codes of the `given` dictionaries; the column has its own, `s`. `values` names a
    sensitive column that is counted too, as the last of q1.. .
    """
    beside: dict[str, Hierarchy] = {} if values is None else {values: AsIs()}
    plain = replace(
        table,
        quasi={**table.hierarchies, **beside},
        sensitive=column,
        household=None,
        weight=None,
        insensitive=(),
        drop=(),
        joined=(),
        joint=False,
        also_sensitive=(),
        sensitive_hierarchy=None,
    )
    inside = _internal(plain)
    one = table.values_per_person == "one"
    # count a person once, however many values of another column they have
    counting = _rows(source, plain, inside) if one else _people(source, plain, inside)
    return _coded(engine, counting, inside, kinds, given)


def _internal(table: Table) -> list[tuple[str, Sql]]:
    """The columns to count, and their internal names."""
    inside = [(name, Sql(f"q{number}")) for number, name in enumerate(table.quasi, start=1)]
    if table.group:
        inside.append((table.group, Sql("grp")))
    return inside + [(name, Sql("s")) for name in table.sensitives]


def _rows(source: Sql, table: Table, inside: Sequence[tuple[str, Sql]]) -> Query:
    """How often each combination occurs, in the measure of the table."""
    several = table.values_per_person != "one" and table.sensitives
    measure = "people" if table.values_per_person == "set" else "sum" if table.count else "rows"
    return render(
        "counted/base.sql",
        source=source,
        columns=list(inside),
        measure=measure,
        counted=table.identifier if measure == "people" else table.count,
        present=table.sensitives[0] if several else None,
    )


def _people(source: Sql, table: Table, quasi: Sequence[tuple[str, Sql]], present: str | None = None) -> Query:
    """How many people share each combination of quasi-identifiers, or how many of them with a value."""
    return render(
        "counted/base.sql",
        source=source,
        columns=list(quasi),
        measure="people",
        counted=table.identifier,
        present=present,
    )


def _coded(
    engine: Engine,
    counting: Query,
    inside: Sequence[tuple[str, Sql]],
    kinds: Mapping[str, str],
    given: Mapping[str, Sql],
    made: tuple[Sql, Sql, int] | None = None,
) -> Counted:
    """A counted source in codes, with a dictionary for each column that has none yet.

    `made` are the dictionaries, the combinations and their number, where the engine counted in codes itself.
    """
    # the columns that get a dictionary: internal name, number of the part, the column its values are in
    own: list[tuple[Sql, int, Sql]] = []
    texts: dict[Sql, None] = {}
    for name, alias in inside:
        if alias not in given:
            is_text = kinds.get(name) == "text"
            column = Sql("v_text" if engine.one_text and is_text else f"v_{alias}")
            own.append((alias, len(own) + 1, column))
            texts |= {column: None} if is_text else {}
    dictionaries, relation, n_combinations = made or _made(engine, counting, own, given)
    sizes, shown = {}, {}
    if dictionaries is None:
        query = render("counted/sizes.sql", counted=relation)
        n_rows = engine.fetch(query)[0]["n_rows"]
    else:
        query = render("counted/parts.sql", dictionaries=dictionaries, texts=list(texts), star=TOP)
        sizes = {row.pop("part"): row for row in engine.fetch(query)}
        n_rows = sizes.get(1, NOTHING)["n_rows"]  # every row has one value of the first dictionary
    for alias, part, column in own if dictionaries is not None else ():
        columns = [(Sql("code"), Sql("code")), (column, Sql("value")), (Sql("n_rows"), Sql("n_rows"))]
        query = render("counted/part.sql", counted=dictionaries, part=part, columns=columns)
        shown[str(alias)] = engine.create(query, view=True)
    return Counted(
        relation=relation,
        people=None,
        holders=None,
        dictionaries=shown,
        statistics={str(alias): sizes.get(part, NOTHING) for alias, part, _ in own},
        rows=n_rows,
        combinations=n_combinations,
    )


def _made(
    engine: Engine, counting: Query, own: Sequence[tuple[Sql, int, Sql]], given: Mapping[str, Sql]
) -> tuple[Sql | None, Sql, int]:
    """The dictionaries of columns that have none yet, if any, and the combinations in codes, counted."""
    counted = engine.create(counting)
    dictionaries = None
    if own:
        kept = list({column: alias for alias, _, column in reversed(own)}.items())
        query = render("counted/dictionaries.sql", counted=counted, own=own, kept=kept)
        dictionaries = engine.create(query)
    combinations = render(
        "counted/combinations.sql",
        counted=counted,
        dictionaries=dictionaries,
        own=own,
        given=[(Sql(alias), dictionary) for alias, dictionary in given.items()],
    )
    relation, n_combinations = engine.filled(combinations)
    engine.drop(counted)
    return dictionaries, relation, n_combinations
