"""Groups are those that a reader of the release sees, whatever the engine holds equal or apart.

The oracle reads what is published as text and counts it; `compile`, the macros of DuckDB's shell, the dbt
package and `check` have to say the same.
"""

from __future__ import annotations

import csv
import os
import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import privacy_sql as ps
from privacy_sql.export import standalone
from privacy_sql.query import template
from privacy_sql.query.template import folder
from tests import engines
from tests.package_macros import Macros
from tests.seeds import START

# by engine: a type, and values that it holds equal and a reader sees apart, or the other way round
ODD = {
    "duckdb": {
        "double": ["0", "'-0'", "'nan'", "'inf'", "1"],
        "interval": ["'1 month'", "'30 days'", "'1 day'", "'24:00:00'"],
        "varchar collate nocase": ["'Flu'", "'flu'", "'cold'"],
        "variant": ["1::variant", "'1'::variant", "1.0::double::variant", "'1.0'::variant"],
        "union(n int, t varchar)": ["union_value(n := 1)", "union_value(t := '1')", "union_value(t := '2')"],
        "double[]": ["[0.0::double]", "['-0'::double]", "[1.0::double]"],
        "struct(x double, y interval)": [
            "{'x': '-0'::double, 'y': '1 month'::interval}",
            "{'x': 0, 'y': '30 days'::interval}",
        ],
        "date": ["'infinity'", "'-infinity'", "'2024-02-29'"],
        "timestamptz": ["'2024-10-27 02:30:00+02'", "'2024-10-27 02:30:00+01'", "'infinity'"],
        "timetz": ["'12:00:00+00'", "'13:00:00+01'"],
        "json": ["""'{"a": 1}'""", """'{"a":1}'""", """'{"a": 1.0}'"""],
        "map(varchar, double)": ["map {'a': 0.0::double}", "map {'a': '-0'::double}"],
    },
    "postgres": {
        "numeric": ["1.0", "1.00", "1", "'NaN'"],
        "double precision": ["0", "'-0'", "'NaN'", "'Infinity'"],
        "real": ["0", "'-0'"],
        "interval": ["'1 month'", "'30 days'", "'1 day'", "'24:00:00'"],
        "citext": ["'Flu'", "'flu'", "'cold'"],
        "text collate caseless": ["'Flu'", "'flu'", "'cold'"],
        "char(4)": ["'a'", "'a   '", "'b'"],
        "date": ["'infinity'", "'-infinity'", "'2024-02-29'", "'0044-03-15 BC'"],
        "timestamp": ["'infinity'", "'2024-02-29 10:00:00'"],
        "timestamptz": ["'2024-10-27 02:30:00+02'", "'2024-10-27 02:30:00+01'", "'infinity'"],
        "timetz": ["'12:00:00+00'", "'13:00:00+01'"],
        "json": ["""'{"a": 1}'""", """'{"a":1}'""", """'{"a": 1.0}'"""],
        "jsonb": ["""'{"a": 1.0}'""", """'{"a": 1.00}'""", """'{"a": 1}'"""],
        "numeric[]": ["'{1.0}'", "'{1.00}'"],
        "numrange": ["'[1.0,2)'", "'[1.00,2)'"],
        "bytea": ["'a'", "'b'"],
    },
}


def made(engine: Any, kind: str, values: list[str], column: str, other: str) -> None:
    """A table of this type in both of its columns, or in the one that is asked about."""
    draw = random.Random(f"{kind} {column}{START or ''}")
    rows = [(draw.choice([*values, "null"]), draw.choice(["'x'", "'y'"])) for _ in range(24)]
    if engine.dialect == "postgres":
        if kind == "citext":
            engine.connection.execute("create extension if not exists citext")
        engine.connection.execute(
            "create collation if not exists caseless"
            " (provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
        )
    engine.connection.execute(f"create table odd ({column} {kind}, {other} varchar)")
    for odd, plain in rows:
        engine.connection.execute(f"insert into odd ({column}, {other}) values ({odd}, {plain})")


def rows_of(engine: Any, statement: str) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in engine.connection.execute(statement).fetchall()]


def texts(engine: Any, relation: str) -> list[tuple[Any, ...]]:
    """What a reader of two columns sees, as bytes that no collation joins."""
    return rows_of(engine, f"select cast(a as varchar), cast(ill as varchar) from {relation}")


def sizes(rows: list[tuple[Any, ...]]) -> Counter[int]:
    """How many groups there are of each size."""
    return Counter(Counter(a for a, _ in rows).values())


def values(rows: list[tuple[Any, ...]]) -> list[tuple[int, int]]:
    """Per group its rows and how many values they show."""
    held = {g: [ill for a, ill in rows if a == g] for g, _ in rows}
    return sorted((len(own), len(set(own))) for own in held.values())


CASES = [
    pytest.param((engine, kind, column), id=f"{engine}-{kind}-{column}")
    for engine, kinds in ODD.items()
    for kind in kinds
    for column in ("a", "ill")
]


@pytest.fixture(params=CASES)
def odd(request: pytest.FixtureRequest) -> Iterator[tuple[Any, str, str]]:
    """An engine with such a table, the type, and the column that has it."""
    name, kind, column = request.param
    with engines.connected(name) as engine:
        made(engine, kind, ODD[name][kind], column, {"a": "ill", "ill": "a"}[column])
        yield engine, kind, column


def compiled(engine: Any, leave_out: standalone.LeaveOut = ()) -> list[str]:
    found = standalone.compiled(
        ps.Table("odd", ["a"], "ill"), {}, [ps.KAnonymity(2), ps.LDiversity(2)], leave_out
    )
    return [statement.text(engine.dialect).rstrip().rstrip(";") for statement in found]


def test_what_is_said_of_groups_is_what_a_reader_counts(odd: tuple[Any, str, str]) -> None:
    engine, _, _ = odd
    published, of_sizes, of_values = compiled(engine)
    seen = texts(engine, f"({published}) as published")
    assert {row[0]: row[1] for row in rows_of(engine, of_sizes)} == sizes(seen)
    counted = Counter(n_values for _, n_values in values(seen))
    assert {
        row[0]: row[1] for row in rows_of(engine, f"select n_values, n_groups from ({of_values}) as t")
    } == counted
    # groups that fail are left out as a reader would count them
    (left, *_) = compiled(engine, [("k_anonymous", {"k": 4}), ("l_diverse", {"l": 2})])
    kept = {g for g in {a for a, _ in seen} if _fits(seen, g)}
    assert sorted(map(str, texts(engine, f"({left}) as left_over"))) == sorted(
        str(row) for row in seen if row[0] in kept
    )


def _fits(seen: list[tuple[Any, ...]], group: Any) -> bool:
    held = [ill for a, ill in seen if a == group]
    return len(held) >= 4 and len(set(held)) >= 2


def test_the_macros_of_dbt_count_what_a_reader_counts(odd: tuple[Any, str, str]) -> None:
    engine, _, column = odd
    macros = Macros(target=engine.dialect)
    seen = texts(engine, "odd")
    risk = rows_of(engine, f"select n_rows, n_values from ({macros.group_risk('odd', ['a'], 'ill')}) as risk")
    assert sorted(risk) == values(seen)
    failing = rows_of(engine, macros.test_k_anonymous("odd", ["a"], 6))
    assert sorted(row[:2] for row in failing) == sorted((n, m) for n, m in sizes(seen).items() if n < 6)
    made = macros.generalise(
        "odd", {"a": "keep_or_drop"}, sensitive="ill", leave_out=[["k_anonymous", {"k": 4}]]
    )
    kept = [row for row in seen if sum(a == row[0] for a, _ in seen) >= 4]
    assert sorted(map(str, texts(engine, f"({made}) as made"))) == sorted(map(str, kept))
    dropped = macros.generalise("odd", {"a": "keep_or_drop"}, {"a": 1}, sensitive="ill")
    assert {a for a, _ in texts(engine, f"({dropped}) as dropped")} == {"*"}
    if column == "ill" and not _unequal(engine):
        least = min(n_values for _, n_values in values(seen))
        assert not rows_of(engine, macros.test_l_diverse("odd", "ill", ["a"], least))
        assert rows_of(engine, macros.test_l_diverse("odd", "ill", ["a"], least + 1))


def _unequal(engine: Any) -> bool:
    """Whether the engine holds sensitive values equal that read apart, or cannot compare them."""
    try:
        found = rows_of(
            engine,
            "select 1 from odd group by ill having count(distinct md5(cast(ill as varchar))) > 1",
        )
    except Exception:
        return True
    return bool(found)


def test_the_macros_of_the_shell_count_what_a_reader_counts(odd: tuple[Any, str, str]) -> None:
    engine, _, _ = odd
    if engine.dialect != "duckdb":
        return
    engine.connection.execute(template.duckdb_macros())
    seen = texts(engine, "odd")
    by_size = rows_of(engine, "select a, n_rows from ps_k_anonymity('odd', ['a'])")
    assert dict(by_size) == Counter(a for a, _ in seen)
    by_value = rows_of(engine, "select n_rows, n_values from ps_l_diversity('odd', ['a'], 'ill')")
    assert sorted(by_value) == values(seen)
    distances = rows_of(engine, "select ps_group, distance from ps_t_closeness('odd', ['a'], 'ill')")
    everybody = Counter(ill for _, ill in seen)
    for (group,), distance in distances:  # read whole: DuckDB 1.5 takes no part out of such a group
        own = Counter(ill for a, ill in seen if a == group)
        apart = sum(abs(own[v] / own.total() - n / everybody.total()) for v, n in everybody.items()) / 2
        assert distance == pytest.approx(apart)


def test_check_counts_what_a_reader_of_the_run_counts(odd: tuple[Any, str, str], tmp_path: Path) -> None:
    engine, _, _ = odd
    table = ps.Table("odd", ["a"], "ill")
    said = ps.check(engine, table, [ps.KAnonymity(1), ps.LDiversity(1)])
    release = ps.publish(engine, table, [ps.KAnonymity(1)], ps.Generalise({}))
    ps.write(engine, release, tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as lines:
        seen = [(row["a"], row["ill"]) for row in csv.DictReader(lines)]
    assert [int(verdict.value) for verdict in said.values()] == [
        min(n for n, _ in values(seen)),
        min(m for _, m in values(seen)),
    ]


# -- columns of the user that are called like ours -----------------------------------------------------------


def names_of_ours() -> list[str]:
    """Every word of every macro and template that a compiled statement is made of."""
    folders = [
        *(folder("macros") / part for part in ("dbt", "duckdb", "kernel")),
        folder("sql") / "standalone",
    ]
    text = "\n".join(path.read_text(encoding="utf-8") for place in folders for path in place.glob("*.sql"))
    return sorted(set(re.findall(r"[a-z][a-z0-9_]*", re.sub(r"(?m)--.*$|{#.*?#}", "", text))))


ROWS = [("x", "p"), ("x", "p"), ("x", "q"), ("y", "p"), ("y", "p"), (None, "r"), (None, "s")]


@pytest.fixture(scope="module")
def shell() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as made:
        made.execute(template.duckdb_macros())
        yield made


# a nightly run tries them all; the others those that a template groups by, counts in or reads from
TRIED = (
    "g",
    "s",
    "n_rows",
    "n_values",
    "value",
    "quasi",
    "histogram",
    "keyed",
    "recoded",
    "shown",
    "ps_group",
)


@pytest.mark.parametrize(
    "name", names_of_ours() if os.environ.get("HYPOTHESIS_PROFILE") == "nightly" else TRIED
)
def test_a_column_or_table_that_is_called_like_one_of_ours_is_counted(
    shell: duckdb.DuckDBPyConnection, name: str
) -> None:
    for quasi, ill, table in ((name, "my ill", "people"), ("my a", name, "people"), ("my a", "my ill", name)):
        columns = f"{template.quote(quasi)} varchar, {template.quote(ill)} varchar"
        shell.execute(f"create or replace table {template.quote(table)} ({columns})")
        shell.executemany(f"insert into {template.quote(table)} values (?, ?)", ROWS)
        asked = {"macro": f"({table!r}, [{quasi!r}])", "diverse": f"({table!r}, [{quasi!r}], {ill!r})"}
        assert sorted(map(_last, shell.execute(f"from ps_k_anonymity{asked['macro']}").fetchall())) == [
            2,
            2,
            3,
        ]
        found = shell.execute(f"from ps_l_diversity{asked['diverse']}").fetchall()
        assert [row[1:3] for row in found] == [(2, 1), (3, 2), (2, 2)]  # least varied first
        found = shell.execute(f"from ps_t_closeness{asked['diverse']}").fetchall()
        assert [row[0] for row in found] == [(None,), ("y",), ("x",)]
        _compiled_alike(shell, quasi, ill, table)
        if name not in ("ps_model", "ps_group", "ps_outside"):
            _guarded_alike(shell, quasi, ill, table)
        shell.execute(f"drop table {template.quote(table)}")


def _last(row: tuple[Any, ...]) -> int:
    return int(row[-1])


def _compiled_alike(shell: duckdb.DuckDBPyConnection, quasi: str, ill: str, table: str) -> None:
    require = [ps.KAnonymity(2), ps.LDiversity(2)]
    made = ps.Table(f'"{table}"', [quasi], ill)
    for leave_out in ((), [("k_anonymous", {"k": 3})]):
        texts = [
            statement.text("duckdb").rstrip(";")
            for statement in standalone.compiled(made, {}, require, leave_out)
        ]
        published, of_sizes, of_values = (shell.execute(text).fetchall() for text in texts)
        kept = [row for row in ROWS if not leave_out or row[0] == "x"]
        assert sorted(map(str, published)) == sorted(map(str, kept))
        assert {row[0]: row[1] for row in of_sizes} == sizes(kept)
        assert {row[0]: row[1] for row in of_values} == Counter(m for _, m in values(kept))


def _guarded_alike(shell: duckdb.DuckDBPyConnection, quasi: str, ill: str, table: str) -> None:
    macros = Macros()
    relation = f'"{table}"'
    risk = shell.execute(
        f"select n_rows, n_values from ({macros.group_risk(relation, [quasi], ill)})"
    ).fetchall()
    assert sorted(risk) == values(ROWS)
    failing = shell.execute(macros.test_l_diverse(relation, ill, [quasi], 2)).fetchall()
    assert [row[:2] for row in failing] == [(2, 1)]
    left = macros.generalise(
        relation, {quasi: "keep_or_drop"}, sensitive=ill, leave_out=[["k_anonymous", {"k": 3}]]
    )
    assert sorted(shell.execute(left).fetchall()) == [("x", "p"), ("x", "p"), ("x", "q")]
