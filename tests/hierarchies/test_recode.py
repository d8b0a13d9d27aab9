"""The SQL of every hierarchy gives the labels of `Hierarchy.label`, value for value."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from privacy_sql.hierarchies import (
    AsIs,
    Breaks,
    Dates,
    Hierarchy,
    Intervals,
    KeepOrDrop,
    Mask,
    Tree,
)
from privacy_sql.hierarchies.dates import DATE
from privacy_sql.hierarchies.numeric import NUMBER
from privacy_sql.query.portable import problems
from privacy_sql.query.template import Query, Sql, environment, folder

TREE = Tree(
    {
        "O'Hara": ["it's", "A", "*"],
        "a\\b": ["back\\slash", "A", "*"],
        "{{ 7 * 7 }}": ["%s", "B", "*"],
        "'; drop table people; --": ["it's", "A", "*"],
        "24": ["Ünïcode 🐘", "B", "*"],
    }
)
NUMERIC: list[Hierarchy] = [
    Intervals(1, 5, 10, 20),
    Intervals(7, origin=-3),
    Intervals(5.0, 10.0),
    Intervals("0.01", "0.05"),
    Intervals("0.25", "0.5", 2, origin="-0.125"),
    Intervals("0.000001"),
    Intervals(10**14),
    Intervals(1, 5, 10, clip={"bottom": 18, "top": 90}),
    Intervals(7, origin=-3, clip={"bottom": -1}),
    Intervals("0.25", "0.5", clip={"bottom": "-0.1", "top": 20}),
    Intervals(clip={"bottom": 18, "top": "64.5"}),
    Breaks([-1.5, 0, 18, "65.25"], [0, 18]),
    Breaks(18),
]
EVERY_KIND: list[Hierarchy] = [
    *NUMERIC,
    AsIs(),
    KeepOrDrop(),
    Mask(4, 3, 0),
    Mask(1),
    Dates("day", "month", "quarter", "year", "five_years", "decade"),
    TREE,
]


MACROS: Any = environment([folder("macros")]).globals["privacy_sql"]


def expressions(kind: Hierarchy, recipe: object = None) -> list[str]:
    """The SQL of each level over a column v."""
    made = recipe if recipe is not None else kind.recipe()
    return [str(MACROS.recode(Sql("v"), made, level)) for level in range(kind.height + 1)]


def statement(kind: Hierarchy, recipe: object = None) -> str:
    columns = ", ".join(f"{text} as l{level}" for level, text in enumerate(expressions(kind, recipe)))
    return f"select v, {columns} from people"


@pytest.fixture(scope="module")
def connection() -> duckdb.DuckDBPyConnection:
    return duckdb.connect()


def disagreements(
    connection: duckdb.DuckDBPyConnection,
    kind: Hierarchy,
    values: list[Any],
    sql_type: str,
    recipe: object = None,
) -> list[tuple[object, int, object, object]]:
    """Value, level, label of SQL and label of Python, where the two differ."""
    connection.execute(
        f"create or replace table people as select unnest(cast(? as {sql_type}[])) as v", [values]
    )
    found = []
    for value, *labels in connection.execute(statement(kind, recipe)).fetchall():
        if labels[0] != value and value == value:
            found.append((value, 0, labels[0], value))
        for level, label in enumerate(labels[1:], start=1):
            if label != kind.label(value, level):
                found.append((value, level, label, kind.label(value, level)))
    return found


TEXTS = (
    st.integers(-1000, 1000).map(str)
    | st.integers().map(str)
    | st.decimals(-100, 100, places=2).map(str)
    | st.floats().map(str)
    | st.floats(-100, 100, width=32).map(str)
    | st.dates().map(str)
    | st.datetimes().map(str)
    | st.from_regex(NUMBER, fullmatch=True)
    | st.from_regex(DATE, fullmatch=True)
    | st.sampled_from(
        [*TREE.nodes[0], "02139", "24.0", "0.29", "-0.0", "1_0", "0x10", "24\n", " 24", "infinity"]
    )
    | st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=9)
)


@pytest.mark.parametrize("kind", EVERY_KIND, ids=repr)
@settings(max_examples=25, deadline=None)
@given(values=st.lists(st.none() | TEXTS, min_size=10, max_size=60))
@example(
    values=[
        "9" * 40 + "e99",
        "-" + "9" * 40 + "e99",
        "1e-99",
        "1e15",
        "999999999999999",
        "1e400",
        "5.",
        ".5",
        "+5",
    ]
)
def test_sql_and_python_label_text_alike(
    connection: duckdb.DuckDBPyConnection, kind: Hierarchy, values: list[str | None]
) -> None:
    assert disagreements(connection, kind, values, "varchar") == []


NATIVE = {
    "bigint": st.integers(-(2**63), 2**63 - 1) | st.integers(-300, 300),
    "double": st.floats() | st.floats(-100, 100) | st.integers(-100, 100).map(float),
    "decimal(18, 3)": st.decimals(-1000, 1000, places=3),
}


@pytest.mark.parametrize("kind", NUMERIC, ids=repr)
@pytest.mark.parametrize("sql_type", NATIVE)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_sql_and_python_label_native_numbers_alike(
    connection: duckdb.DuckDBPyConnection, kind: Hierarchy, sql_type: str, data: st.DataObject
) -> None:
    values = data.draw(st.lists(st.none() | NATIVE[sql_type], min_size=10, max_size=60))
    assert disagreements(connection, kind, values, sql_type) == []


@settings(max_examples=40, deadline=None)
@given(values=st.lists(st.none() | st.dates(datetime.date(1, 1, 1)), min_size=10, max_size=60))
def test_sql_and_python_label_native_dates_and_timestamps_alike(
    connection: duckdb.DuckDBPyConnection, values: list[datetime.date | None]
) -> None:
    kind = Dates("day", "month", "quarter", "year", "five_years", "decade")
    moments = [day and datetime.datetime.combine(day, datetime.time(23, 59, 59, 5)) for day in values]
    assert disagreements(connection, kind, values, "date") == []
    assert disagreements(connection, kind, moments, "timestamp") == []


@pytest.mark.parametrize("kind", EVERY_KIND, ids=repr)
def test_the_sql_stays_inside_the_portable_subset_and_reaches_every_dialect(kind: Hierarchy) -> None:
    query = Query(statement(kind))
    assert problems(query.sql) == ()
    for dialect in (
        "postgres",
        "spark",
        "snowflake",
        "bigquery",
        "trino",
        "redshift",
        "databricks",
        "clickhouse",
    ):
        assert query.text(dialect)


@pytest.mark.parametrize("kind", EVERY_KIND, ids=repr)
def test_null_stays_null_below_the_top_in_sql(connection: duckdb.DuckDBPyConnection, kind: Hierarchy) -> None:
    connection.execute("create or replace table people as select cast(null as varchar) as v")
    (row,) = connection.execute(statement(kind)).fetchall()
    expected = [None] * (kind.height + 1) if kind.height == 0 else [None] * kind.height + ["*"]
    assert list(row[1:]) == expected


@pytest.mark.parametrize(
    ("recipe", "kind"),
    [
        ({"intervals": [5, 10, 20]}, Intervals(5, 10, 20)),
        ({"intervals": [0.5, 1.0], "origin": 0.25}, Intervals(0.5, 1.0, origin=0.25)),
        (
            {"intervals": [5, 10], "clip": {"bottom": -1, "top": 20}},
            Intervals(5, 10, clip={"bottom": -1, "top": 20}),
        ),
        ({"intervals": [], "clip": {"top": 0.5}}, Intervals(clip={"top": 0.5})),
        ({"mask": [4, 3]}, Mask(4, 3)),
        ("keep_or_drop", KeepOrDrop()),
        ({"tree": {"a": ["A"], "b": ["B"]}}, Tree({"a": ["A"], "b": ["B"]})),
        ({"tree": {"a": ["any"], "b": ["any"]}}, Tree({"a": ["any"], "b": ["any"]})),
    ],
    ids=repr,
)
def test_a_recipe_as_a_dbt_model_writes_it_gives_the_same_labels(
    connection: duckdb.DuckDBPyConnection, recipe: object, kind: Hierarchy
) -> None:
    values = ["a", "b", "c", "02139", "0.7", "-3", "24", None]
    assert disagreements(connection, kind, values, "varchar", recipe) == []


@pytest.mark.parametrize(("pattern", "name"), [(NUMBER, "is_number"), (DATE, "recode_date")])
def test_the_macro_reads_a_value_by_the_pattern_python_reads_it_by(pattern: Any, name: str) -> None:
    text = (Path(folder("macros")) / "kernel" / f"{name}.sql").read_text()
    assert f"'^{pattern.pattern}[|]$'" in text
