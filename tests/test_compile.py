"""Compiled SQL stands alone and says the same as a run, on plain DuckDB without any of our code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
import sqlglot

from privacy_sql import cli, compiling, example, query


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("compile")
    example.write(place)
    return place


@pytest.fixture
def plain(shop: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A DuckDB shell of a DBA, with the table loaded."""
    with duckdb.connect() as made:
        made.execute(f"create table people as from read_csv('{shop}/data/people.csv', all_varchar = true)")
        yield made


def statements(shop: Path, dialect: str = "duckdb") -> list[str]:
    outcome = cli.run(["compile", "--project", str(shop), "--dialect", dialect])
    assert outcome.exit == 0
    return [part for part in outcome.lines[0].split(";\n") if part.strip()]


def test_the_compiled_statements_give_the_evidence_of_a_run(
    shop: Path, plain: duckdb.DuckDBPyConnection
) -> None:
    published, k_anonymity, *_ = statements(shop)
    assert len(plain.execute(published).fetchall()) == 20_000
    sizes = {row[0]: row[1] for row in plain.execute(k_anonymity.rstrip(";\n")).fetchall()}
    plain.execute(f"create table published as {published}")
    columns = "age, sex, zip, marital_status, education"
    counted = plain.execute(f"select count(*) as n from published group by {columns}").fetchall()
    assert sorted(n for size, groups in sizes.items() for n in [size] * groups) == sorted(
        n for (n,) in counted
    )


@pytest.mark.parametrize("dialect", compiling.DIALECTS)
def test_every_dialect_gets_sql_it_parses(shop: Path, dialect: str) -> None:
    for statement in statements(shop, dialect):
        assert sqlglot.parse_one(statement, read=dialect)


def test_an_unknown_dialect_is_named_with_the_nearest(shop: Path) -> None:
    outcome = cli.run(["compile", "--project", str(shop), "--dialect", "postgre"])
    assert outcome.exit == 2
    assert "postgres" in outcome.errors[0]["hint"]


def test_a_statement_says_when_only_the_tool_can_decide(shop: Path) -> None:
    text = (shop / "privacy.yml").read_text()
    other = shop / "other"
    other.mkdir()
    hierarchies = text.replace("hierarchies/", "../hierarchies/").replace("data/people", "../data/people")
    (other / "privacy.yml").write_text(
        re.sub(r"t_closeness: .*", "t_closeness: {t: 0.3, distance: hierarchical}", hierarchies)
    )
    assert "ask `privacy-sql check`" in "".join(statements(other))


MACROS = {
    "ps_k_anonymity('people', ['age', 'sex'])": "select count(*) from people group by age, sex order by 1",
    "ps_l_diversity('people', ['age'], 'diagnosis')": "select count(*) from people group by age order by 1",
}


def test_macros_work_in_a_shell(plain: duckdb.DuckDBPyConnection) -> None:
    plain.execute(query.duckdb_macros())
    for call, counted in MACROS.items():
        rows = plain.execute(f"select n_rows from {call} order by n_rows").fetchall()
        assert rows == plain.execute(counted).fetchall()
    (least,) = _one(plain, "select min(n_values) from ps_l_diversity('people', ['age'], 'diagnosis')")
    (expected,) = _one(
        plain, "select min(n) from (select count(distinct diagnosis) n from people group by age)"
    )
    assert least == expected


def test_the_closeness_macro_counts_absent_values(plain: duckdb.DuckDBPyConnection) -> None:
    plain.execute(query.duckdb_macros())
    plain.execute(
        "create table small as from (values ('x', 'a'), ('x', 'a'), ('y', 'a'), ('y', 'b')) t(q, s)"
    )
    rows = plain.execute("select distance from ps_t_closeness('small', ['q'], 's')").fetchall()
    assert rows == [(0.25,), (0.25,)]


@pytest.mark.parametrize(
    "call", ["ps_k_anonymity('people', ['agee'])", "ps_l_diversity('people', ['age'], 'diag')"]
)
def test_a_misspelt_column_is_an_error_in_the_shell_too(plain: duckdb.DuckDBPyConnection, call: str) -> None:
    plain.execute(query.duckdb_macros())
    with pytest.raises(duckdb.BinderException, match=r'"(agee|diag)"'):
        plain.execute(f"from {call}")


def _one(plain: duckdb.DuckDBPyConnection, text: str) -> Any:
    return plain.execute(text).fetchone()


FRACTIONS = """
version: 1
name: ward
releases:
  ward:
    source: {file: ward.csv}
    quasi_identifiers: [{column: NAME, hierarchy: {intervals: [10]}}]
    require: {k_anonymity: {k: 2}}
    method: {generalise: {levels: {NAME: 1}}}
    output: {target: out.csv}
"""


def ward(folder: Path, name: str) -> Path:
    """A project that was run, whose one column is declared in whole bands and holds a fraction."""
    (folder / "privacy.yml").write_text(FRACTIONS.replace("NAME", name))
    header = name.strip("'").replace('"', '""')
    (folder / "ward.csv").write_text(f'"{header}"\n20.5\n21\n')
    assert cli.run(["run", "--project", str(folder)]).exit == 0
    return folder


def test_what_is_compiled_has_the_bands_that_a_run_chose(tmp_path: Path) -> None:
    (published, *_) = statements(ward(tmp_path, "age"))
    with duckdb.connect() as plain:
        plain.execute("create table ward as select * from (values ('20.5'), ('21')) as t(age)")
        assert plain.execute(published).fetchall() == [("[20, 30)",)] * 2
    outcome = cli.run(["compile", "--project", str(tmp_path), "--dbt"])
    assert outcome.exit == 0
    assert '"intervals": ["10.0"]' in outcome.lines[0]


def test_dbt_is_not_given_a_name_that_it_cannot_write(tmp_path: Path) -> None:
    outcome = cli.run(["compile", "--project", str(ward(tmp_path, "'a \"b\"'")), "--dbt"])
    assert (outcome.exit, outcome.errors[0]["code"]) == (2, "bad_name")
