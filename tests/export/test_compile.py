"""Compiled SQL stands alone and says the same as a run, on plain DuckDB without any of our code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest
import sqlglot

import privacy_sql as ps
from privacy_sql.cli import main
from privacy_sql.export import dbt, standalone
from privacy_sql.project import example
from privacy_sql.query import template
from tests import engines


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
    outcome = main.run(["compile", "--project", str(shop), "--dialect", dialect])
    assert outcome.exit == 0
    return [part for part in outcome.lines[0].split(";\n") if part.strip()]


def test_the_compiled_statements_give_the_evidence_of_a_run(
    shop: Path, plain: duckdb.DuckDBPyConnection
) -> None:
    published, k_anonymity, *_ = statements(shop)
    assert main.run(["run", "--project", str(shop)]).exit == 0
    plain.execute(f"create table written as from read_csv('{shop}/out/people.csv', all_varchar = true)")
    rows = plain.execute(published)
    names = ", ".join(column[0] for column in rows.description or ())
    assert len(rows.fetchall()) == 19_833  # 167 lie in groups that fail, and are left out
    (same,) = _one(
        plain, f"select count(*) from (from ({published}) intersect all select {names} from written) as same"
    )
    assert same == 19_833
    sizes = {row[0]: row[1] for row in plain.execute(k_anonymity.rstrip(";\n")).fetchall()}
    plain.execute(f"create table published as {published}")
    columns = "age, sex, zip, marital_status, education"
    counted = plain.execute(f"select count(*) as n from published group by {columns}").fetchall()
    assert sorted(n for size, groups in sizes.items() for n in [size] * groups) == sorted(
        n for (n,) in counted
    )


def test_a_release_is_selected_as_by_the_sister_verbs(shop: Path) -> None:
    by_name, selected = (
        main.run(["compile", *words, "--project", str(shop)])
        for words in (["people"], ["--select", "people"])
    )
    assert selected.lines == by_name.lines and by_name.exit == 0
    assert main.run(["compile", "--select", "nobody", "--project", str(shop)]).exit == 2


def test_the_error_of_a_dialect_lists_them_once(shop: Path) -> None:
    (problem,) = main.run(["compile", "--project", str(shop), "--dialect", "cobol"]).errors
    assert str(problem).count("snowflake") == 1
    (problem,) = main.run(["compile", "--project", str(shop), "--dialect", "postgers"]).errors
    assert 'Did you mean "postgres"?' in str(problem)


@pytest.mark.parametrize("dialect", standalone.DIALECTS)
def test_every_dialect_gets_sql_it_parses(shop: Path, dialect: str) -> None:
    for statement in statements(shop, dialect):
        assert sqlglot.parse_one(statement, read=dialect)


def test_an_unknown_dialect_is_named_with_the_nearest(shop: Path) -> None:
    outcome = main.run(["compile", "--project", str(shop), "--dialect", "postgre"])
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
    assert "use `privacy-sql check`" in "".join(statements(other))


MACROS = {
    "ps_k_anonymity('people', ['age', 'sex'])": "select count(*) from people group by age, sex order by 1",
    "ps_l_diversity('people', ['age'], 'diagnosis')": "select count(*) from people group by age order by 1",
}


def test_macros_work_in_a_shell(plain: duckdb.DuckDBPyConnection) -> None:
    plain.execute(template.duckdb_macros())
    for call, counted in MACROS.items():
        rows = plain.execute(f"select n_rows from {call} order by n_rows").fetchall()
        assert rows == plain.execute(counted).fetchall()
    (least,) = _one(plain, "select min(n_values) from ps_l_diversity('people', ['age'], 'diagnosis')")
    (expected,) = _one(
        plain, "select min(n) from (select count(distinct diagnosis) n from people group by age)"
    )
    assert least == expected


def test_an_empty_text_and_a_missing_value_are_two_values_in_every_macro(
    plain: duckdb.DuckDBPyConnection,
) -> None:
    plain.execute(template.duckdb_macros())
    plain.execute(
        "create table empty as from (values ('x', ''), ('x', null), ('x', ''), ('y', null)) t(q, s)"
    )
    found = plain.execute(
        "select n_values, largest_share from ps_l_diversity('empty', ['q'], 's') order by 1"
    ).fetchall()
    assert found == [(1, 1.0), (2, 2 / 3)]
    assert plain.execute("select n_rows from ps_k_anonymity('empty', ['s']) order by 1").fetchall() == [
        (2,),
        (2,),
    ]
    with ps.connect(plain) as engine:
        verdicts = ps.check(engine, ps.Table("empty", ["q"], "s"), [ps.LDiversity(1), ps.TCloseness(1)])
    assert [v.value for v in verdicts.values()] == [1, Fraction(1, 2)]
    (farthest,) = _one(plain, "select max(distance) from ps_t_closeness('empty', ['q'], 's')")
    assert farthest == 0.5


def test_the_closeness_macro_counts_absent_values(plain: duckdb.DuckDBPyConnection) -> None:
    plain.execute(template.duckdb_macros())
    plain.execute(
        "create table small as from (values ('x', 'a'), ('x', 'a'), ('y', 'a'), ('y', 'b')) t(q, s)"
    )
    rows = plain.execute("select distance from ps_t_closeness('small', ['q'], 's')").fetchall()
    assert rows == [(0.25,), (0.25,)]


def test_columns_of_any_likely_name_are_counted_apart_from_ours() -> None:
    shell = duckdb.connect()
    shell.execute(template.duckdb_macros())
    shell.execute(
        "create table t as from (values (1, 5, 'a'), (1, 5, 'b'), (2, 7, 'a')) as t (ps_value, ps_n, ill)"
    )
    found = shell.execute("from ps_l_diversity('t', ['ps_value', 'ps_n'], 'ill')").fetchall()
    assert [row[:4] for row in found] == [("2", "7", 1, 1), ("1", "5", 2, 2)]


def test_the_closeness_macro_groups_by_every_column(plain: duckdb.DuckDBPyConnection) -> None:
    plain.execute(template.duckdb_macros())
    rows = "('x', '1', 'a'), ('x', '1', 'a'), ('x', '2', 'b'), ('x', '2', 'b')"
    rows += ", (null, '2', 'a'), (null, '2', 'b')"
    plain.execute(f"create table three as from (values {rows}) t(q, r, s)")
    found = plain.execute(
        "select ps_group, distance from ps_t_closeness('three', ['q', 'r'], 's') order by 1"
    ).fetchall()
    assert found == [(("x", "1"), 0.5), (("x", "2"), 0.5), ((None, "2"), 0.0)]
    with engines.opened() as engine:
        table = ps.Table(plain.sql("from three").df(), ["q", "r"], "s")
        verdict = ps.check(engine, table, [ps.TCloseness("0.4")])["t_closeness(t=0.4)"]
    assert float(verdict.value) == max(distance for _, distance in found)


MISSPELT = {
    "ps_k_anonymity('people', ['age', 'sexx'])": 'no column "sexx"; did you mean "sex"?',
    "ps_k_anonymity('people', ['aeg'])": 'no column "aeg"; did you mean "age"?',
    "ps_k_anonymity('people', ['eductaion'])": 'no column "eductaion"; did you mean "education"?',
    "ps_k_anonymity('people', ['age', 'rowid'])": 'no column "rowid"\'',
    "ps_l_diversity('people', ['agee'], 'diagnosis')": 'no column "agee"; did you mean "age"?',
    "ps_l_diversity('people', ['age'], 'diag')": 'no column "diag"; did you mean "diagnosis"?',
    "ps_t_closeness('people', ['ag', 'sex'], 'diagnosis')": 'no column "ag"; did you mean "age"?',
    "ps_t_closeness('people', ['age'], 'Dignosis')": 'no column "Dignosis"; did you mean "diagnosis"?',
}


@pytest.mark.parametrize("call", MISSPELT)
@pytest.mark.parametrize("rows", ["some", "none"])
def test_a_misspelt_column_is_an_error_in_the_shell_too(
    plain: duckdb.DuckDBPyConnection, call: str, rows: str
) -> None:
    if rows == "none":
        plain.execute("delete from people")
    plain.execute(template.duckdb_macros())
    with pytest.raises(duckdb.ConversionException, match=re.escape(MISSPELT[call])):
        plain.execute(f"from {call}")


def test_no_column_can_be_named_so_that_a_misspelt_one_goes_unnoticed(
    plain: duckdb.DuckDBPyConnection,
) -> None:
    plain.execute(template.duckdb_macros())
    for name in ('there is no column "agee"; did you mean "age"?', '["age"]', "agee]", "[agee"):
        plain.execute(f"create or replace table odd as select 1 as age, 2 as {template.quote(name)}")
        with pytest.raises(duckdb.Error, match="agee"):
            plain.execute("from ps_k_anonymity('odd', ['agee'])")
    with pytest.raises(duckdb.BinderException, match='"agee"'):
        # should the macro find nothing wrong, the engine does
        plain.execute("select columns(ps_known(['age', 'agee'], ['age', 'agee'])) from odd")


def test_a_macro_takes_a_column_in_any_case_and_once(plain: duckdb.DuckDBPyConnection) -> None:
    plain.execute(template.duckdb_macros())
    same = [
        plain.execute(f"select count(*) from ps_k_anonymity('people', {quasi})").fetchone()
        for quasi in ("['age', 'sex']", "['AGE', 'Sex', 'age']")
    ]
    assert same[0] == same[1]


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
    assert main.run(["run", "--project", str(folder)]).exit == 0
    return folder


def test_what_is_compiled_has_the_bands_that_a_run_chose(tmp_path: Path) -> None:
    (published, *_) = statements(ward(tmp_path, "age"))
    with duckdb.connect() as plain:
        plain.execute("create table ward as select * from (values ('20.5'), ('21')) as t(age)")
        assert plain.execute(published).fetchall() == [("[20, 30)",)] * 2
    outcome = main.run(["compile", "--project", str(tmp_path), "--dbt"])
    assert outcome.exit == 0
    assert '"intervals": ["10.0"]' in outcome.lines[0]


def test_dbt_is_not_given_a_name_that_it_cannot_write(tmp_path: Path) -> None:
    outcome = main.run(["compile", "--project", str(ward(tmp_path, "'a \"b\"'")), "--dbt"])
    assert (outcome.exit, outcome.errors[0]["code"]) == (2, "bad_name")


SMALL = """
version: 1
name: small
releases:
  small:
    source: {SOURCE}
    QUASI
    sensitive: SENSITIVE
    require: {REQUIRE}
    method: {generalise: {levels: {}, max_suppressed: ALLOWED}}
"""


def small(folder: Path, rows: str, **words: str) -> tuple[list[str], duckdb.DuckDBPyConnection]:
    """What a project of a few rows compiles to, and a DuckDB shell with its table."""
    usual = {
        "SOURCE": "file: small.csv",
        "QUASI": "quasi_identifiers: [a]",
        "SENSITIVE": "ill",
        "ALLOWED": "0",
    }
    text = SMALL
    for word, meant in (usual | words).items():
        text = text.replace(word, meant)
    (folder / "privacy.yml").write_text(text)
    (folder / "small.csv").write_text(rows)
    shell = duckdb.connect()
    shell.execute(f"create table small as from read_csv('{folder}/small.csv', all_varchar = true)")
    return statements(folder), shell


def test_groups_that_a_run_leaves_out_are_left_out_in_sql_whatever_the_columns_are_called(
    tmp_path: Path,
) -> None:
    quasi = "quasi_identifiers: [ps_group]"
    rows = "ps_group,ill\n7,flu\n7,cold\n1,gout\n"
    (published, evidence), shell = small(
        tmp_path, rows, QUASI=quasi, ALLOWED="0.5", REQUIRE="k_anonymity: {k: 2}"
    )
    shell.execute("alter table small alter ps_group type bigint")
    assert shell.execute(published).fetchall() == [(7, "cold"), (7, "flu")]
    assert shell.execute(evidence).fetchall() == [(2, 1, 1)]


@pytest.mark.parametrize("require", ["alpha_k_anonymity: {alpha: 1, k: 2}", "ck_safety: {c: 1, k: 0}"])
def test_nothing_is_to_be_pasted_where_sql_cannot_tell_which_groups_a_run_leaves_out(
    tmp_path: Path, require: str
) -> None:
    rows = "a,ill\nx,flu\nx,cold\ny,gout\n"
    (text, *_), _ = small(tmp_path, rows, ALLOWED="0.5", REQUIRE=require)
    assert "select" not in text.partition("-- alpha_k")[0].partition("-- ck_s")[0]
    assert "use `privacy-sql run`" in text


def test_each_of_several_sensitive_columns_has_its_own_evidence(tmp_path: Path) -> None:
    rows = "a,ill,job\nx,flu,cook\nx,cold,cook\nx,flu,smith\nx,cold,smith\n"
    (_, by_ill, by_job), shell = small(
        tmp_path, rows, SENSITIVE="[ill, job]", REQUIRE="l_diversity: {l: 2, kind: probabilistic}"
    )
    # groups of two, because the other column counts as a quasi-identifier
    assert [shell.execute(text).fetchall() for text in (by_ill, by_job)] == [[(2, 1, 2, 1)]] * 2


@pytest.mark.parametrize(
    "more",
    [
        {"QUASI": "quasi_identifiers: [a]\n    joint: true", "SENSITIVE": "[ill, who]"},
        {
            "QUASI": "quasi_identifiers: [a]\n    identifier: {column: who}",
            "SENSITIVE": "{column: ill, values_per_person: set}",
        },
    ],
)
def test_rows_that_are_not_people_with_one_value_are_no_evidence(
    tmp_path: Path, more: dict[str, str]
) -> None:
    found, _ = small(tmp_path, "a,ill,who\nx,flu,1\nx,cold,1\n", REQUIRE="k_anonymity: {k: 2}", **more)
    assert "use `privacy-sql check`" in found[-1]


@pytest.mark.parametrize("kind", ["set", "multiset"])
def test_no_select_shows_the_source_rows_of_people_with_several_values(tmp_path: Path, kind: str) -> None:
    """A run publishes `x,flu`, `x,cold`: once each for a person, and no line without a value beside them."""
    (published, *_), _ = small(
        tmp_path,
        "a,ill,who\nx,flu,1\nx,flu,1\nx,,1\nx,cold,2\n",
        QUASI="quasi_identifiers: [a]\n    identifier: {column: who}",
        SENSITIVE=f"{{column: ill, values_per_person: {kind}}}",
        REQUIRE="k_anonymity: {k: 2}",
    )
    assert "select" not in published.partition("-- k_anonymity")[0]
    assert "only `privacy-sql run`" in published.lower()


def test_a_condition_reads_the_text_of_a_csv_file_as_a_run_does(tmp_path: Path) -> None:
    source = "file: small.csv, where: a > 18"
    rows = "a,ill\n18.4,flu\n100,cold\n9,flu\n"
    (published, _), shell = small(tmp_path, rows, SOURCE=source, REQUIRE="k_anonymity: {k: 2}")
    assert shell.execute(published).fetchall() == [("100", "cold"), ("18.4", "flu")]


def test_the_compiled_rows_do_not_lie_in_the_order_of_the_source(tmp_path: Path) -> None:
    rows = "a,ill\nz,flu\ny,cold\nx,flu\n"
    (published, _), shell = small(tmp_path, rows, REQUIRE="k_anonymity: {k: 2}")
    assert [a for a, _ in shell.execute(published).fetchall()] == ["x", "y", "z"]


def test_a_relation_is_read_by_the_name_the_project_gives_it(tmp_path: Path) -> None:
    source = 'connection: default, relation: memory."the ward".patients'
    (published, evidence), shell = small(
        tmp_path, "a,ill\nz,flu\n", SOURCE=source, REQUIRE="k_anonymity: {k: 2}"
    )
    shell.execute('create schema "the ward"; create table "the ward".patients as from small')
    shell.execute("drop table small")
    assert shell.execute(published).fetchall() == [("z", "flu")]
    assert shell.execute(evidence).fetchall()[0][0] == 1


def test_levels_of_the_last_run_are_not_put_on_another_hierarchy(tmp_path: Path) -> None:
    (tmp_path / "small.csv").write_text("a,ill\nxyz,flu\nxyw,flu\n")
    text = (
        "version: 1\nname: n\nreleases:\n  small:\n    source: {file: small.csv}\n"
        "    quasi_identifiers: [{column: a, hierarchy: {mask: [2, 0]}}]\n    sensitive: ill\n"
        "    require: {k_anonymity: {k: 2}}\n    method: full_domain\n    output: {target: out.csv}\n"
    )
    (tmp_path / "privacy.yml").write_text(text)
    assert main.run(["run", "--project", str(tmp_path)]).exit == 0
    assert "rpad" in statements(tmp_path)[0]
    (tmp_path / "privacy.yml").write_text(text.replace("[2, 0]", "[3, 2, 0]"))
    outcome = main.run(["compile", "--project", str(tmp_path)])
    assert (outcome.exit, outcome.errors[0]["code"]) == (2, "project_changed")


def test_every_engine_leaves_out_the_groups_that_a_run_leaves_out(engine: Any) -> None:
    ages = ["21", "22", "35", "36", "37", "41", None, None, "58", "59"]
    ills = ["flu", "cold", "flu", "flu", "flu", "gout", "flu", "cold", "flu", "cold"]
    frame = pd.DataFrame({"age": ages, "ill": ills})
    engine.write_table(ps.Query(f"select age, ill from {engine.source(frame)}"), "people")
    table = ps.Table("people", {"age": ps.Intervals(10)}, "ill")
    require = [ps.KAnonymity(2), ps.LDiversity(2), ps.TCloseness("0.45")]
    release = ps.publish(engine, table, require, ps.Generalise({"age": 1}, max_suppressed="0.5"))
    asked = dbt.leave_out(table, require)
    assert asked is not None
    (published, *_) = standalone.compiled(
        table, {"age": 1}, require, [(n, own | _text(own)) for n, own in asked]
    )
    found = [(row["age"], row["ill"]) for row in engine.fetch(published.query)]
    assert release.rows_out == 6
    assert sorted(map(str, found)) == sorted(
        str((row["age"], row["ill"])) for row in release.base.engine.fetch(release.view)
    )


def _text(own: Any) -> dict[str, str]:
    return {"t": str(own["t"])} if "t" in own else {}


def test_what_insensitive_columns_single_out_is_counted_beside_what_is_published(tmp_path: Path) -> None:
    rows = "a,hours,ill\n1,8,flu\n1,8,cold\n1,40,flu\n2,8,flu\n2,8,flu\n"
    free = "quasi_identifiers: [a]\n    insensitive: [hours]"
    (_, _, counted), shell = small(tmp_path, rows, QUASI=free, REQUIRE="k_anonymity: {k: 2}")
    assert "whom the unchanged columns hours single out" in counted
    assert sorted(shell.execute(counted).fetchall()) == [(1, 1, 1), (2, 1, 1), (2, 2, 1)]
