"""`compile --steps`: every statement of a run, with sizes and without values, and nothing left behind."""

from __future__ import annotations

import ast
import inspect
import json
import logging
import re
from pathlib import Path
from typing import Any

import pytest

import privacy_sql as ps
from privacy_sql import api
from privacy_sql.publishing import audit, publication
from privacy_sql.query import statements
from privacy_sql.query.template import Query
from tests import engines, parts
from tests.canaries import MARK
from tests.command_line import call

N = 24
# numbers of rows no setting and no template has
AGES = [913_700 + 7 * n for n in range(N)]
METHODS: dict[str, dict[str, Any]] = {
    "generalise": {"levels": {"age": "2"}, "max_suppressed": "0.2"},
    "full_domain": {},
    "multidimensional": {},
    "microaggregate": {"k": "3"},
    "bucketize": {"by": ["hours"]},
    "marginals": {"collection": [{"age": "2", "illness": "0"}]},
    "noisy_counts": {
        "epsilon": "1",
        "domains": {"age": AGES, "illness": [f"{MARK}S{n}" for n in range(6)]},
        "levels": {"age": "3"},
    },
}
METHODS |= {name: parts.own_test("methods", name).EXAMPLE for name in parts.others("methods", METHODS)}


def project(folder: Path, method: str = "generalise", kind: str = "", **parts: Any) -> Path:
    """A project whose rows hold nothing but canaries, words and numbers."""
    rows = [f"{age},{MARK}S{n % 6},{n % 3}" for n, age in enumerate(AGES)]
    (folder / "people.csv").write_text("\n".join(["age,illness,hours", *rows, ""]))
    release: dict[str, Any] = {
        "source": {"connection": "home", "relation": "people"} if kind else {"file": "people.csv"},
        "quasi_identifiers": [{"column": "age", "hierarchy": {"intervals": ["40", "80"]}}],
        "sensitive": "illness",
        "insensitive": {"columns": ["hours"], "acknowledge": "a test"},
        "require": {"k_link" if method == "marginals" else "k_anonymity": {"k": "2"}},
        "method": {method: METHODS[method]},
        "output": {"target": "out/people.csv"},
        **parts,
    }
    if method in ("bucketize", "noisy_counts", "marginals"):
        del release["insensitive"]
        release |= {"drop": ["hours"]}
    if method == "bucketize":
        del release["drop"]
        release["quasi_identifiers"] += ["hours"]
    if method == "noisy_counts":
        del release["require"]
    content = {
        "version": "1",
        "connections": {"home": {"type": kind} if kind else {"type": "duckdb", "path": "home.db"}},
        "releases": {"people": release},
    }
    (folder / "privacy.yml").write_text(json.dumps(content))
    return folder


def shown(folder: Path, *form: str) -> Any:
    told = call("compile", "--steps", "--project", folder, *form)
    assert told.exit == 0, told.err
    assert MARK not in told.everything, "a cell is shown"
    said = re.sub(r"\d+\.\d+", "", told.everything)  # seconds
    assert not re.search(r"913[78]\d\d", said)
    return told


def held(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("method", METHODS)
def test_steps_of_every_method_show_no_value_and_leave_nothing(tmp_path: Path, method: str) -> None:
    if method == "noisy_counts":
        pytest.importorskip("opendp", reason='needs the extra dp: pip install "privacy-sql[dp]"')
    folder = project(tmp_path, method)
    before = held(folder)
    drawn = method != "noisy_counts"  # noise is drawn, and charged, by a run alone
    assert ("-- STEP write" in shown(folder).out) == drawn
    found = [one["step"] for one in shown(folder, "--json").json["steps"]["people"]]
    assert {"count", "propose", "view", *(("write", "read back") if drawn else ())} <= set(found)
    assert held(folder) == before


def test_steps_show_the_statements_of_a_run_in_their_order(tmp_path: Path) -> None:
    folder = project(tmp_path)
    dry = [one["name"] for one in shown(folder, "--json").json["steps"]["people"]]
    log = call("run", "--project", folder).log
    ran = re.findall(r"^(.+) on duckdb: [\d.]+ s$", log, re.MULTILINE)
    # a run looks at its register besides; the copy that is written in steps has a name of its own, and
    # another engine reads it, which numbers its relations anew
    own = re.compile(r"\..*-(?=people)|(?<=ps_)\d+")
    assert [own.sub("", name) for name in dry] == [own.sub("", name) for name in ran]


def test_sizes_are_those_of_the_relations(tmp_path: Path) -> None:
    found = shown(project(tmp_path), "--json").json["steps"]["people"]
    by_name = {one["name"]: one for one in found}
    # every row of the source, and of what was written, is read by one statement
    reading = {("count", "counted/base"), ("read back", "publishing/written")}
    sizes = [list(one["reads"].values()) for one in found if (one["step"], one["name"]) in reading]
    assert sizes == [[N], [N]]
    (groups,) = {one["rows"] for one in found if one["name"] == "counted/groups" and one["step"] == "propose"}
    assert groups == len({age // 80 for age in AGES})
    assert by_name["methods/generalise"]["step"] == "write"


def test_a_table_is_written_in_a_transaction_that_is_taken_back(tmp_path: Path) -> None:
    folder = project(tmp_path, output={"connection": "home", "relation": "published"})
    found = shown(folder, "--json").json["steps"]["people"]
    assert any(one["step"] == "write" and "create table" in one["sql"] for one in found)
    with ps.connect(f"duckdb:{folder / 'home.db'}") as home:
        assert home.fetch(Query("select table_name from information_schema.tables")) == []


def test_steps_on_a_server_show_no_value_and_leave_no_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with engines.connected("postgres") as home:
        for part in engines.dsn().split():
            name, _, value = part.partition("=")
            monkeypatch.setenv({"dbname": "PGDATABASE"}.get(name, f"PG{name.upper()}"), value)
        home.connection.execute("create table people (age integer, illness text, hours integer)")
        with home.connection.cursor() as cursor:
            rows = [(age, f"{MARK}S{n % 6}", n % 3) for n, age in enumerate(AGES)]
            cursor.executemany("insert into people values (%s, %s, %s)", rows)
        folder = project(tmp_path, kind="postgres", output={"connection": "home", "relation": "published"})
        found = shown(folder, "--json").json["steps"]["people"]
        assert {one["dialect"] for one in found} == {"postgres", "duckdb"}  # counts travel
        tables = home.fetch(
            Query("select table_name from information_schema.tables where table_schema = 'public'")
        )
        assert tables == [{"table_name": "people"}]


def test_a_condition_is_shown_as_the_user_wrote_it_and_nothing_else_of_its_numbers(tmp_path: Path) -> None:
    folder = project(tmp_path, source={"file": "people.csv", "where": "hours <> '77'"})
    told = shown(folder)
    assert "\"hours\" <> '77'" in told.out


def test_a_release_that_is_not_safe_shows_how_far_it_came(tmp_path: Path) -> None:
    folder = project(tmp_path, require={"k_anonymity": {"k": "20"}})
    told = call("compile", "--steps", "--project", folder)
    assert told.exit == 1 and "STEP view" in told.out and "STEP write" not in told.out
    assert "a run would exit with 1" in told.out


@pytest.mark.parametrize("words", [["--dbt"], ["--duckdb-macros"], ["--dialect", "spark"], ["--into", "x"]])
def test_steps_go_with_no_other_form(tmp_path: Path, words: list[str]) -> None:
    told = call("compile", "--steps", "--json", *words, "--project", project(tmp_path))
    assert (told.exit, told.codes) == (2, ["steps_alone"])


# -- no literal and no name that a row may have put there ----------------------------------------------------

HOLDING = {
    "duckdb": [f"select '{MARK}' as a", f'select 1 as "{MARK}"', "select 913701", f"select e'\\'{MARK}'"],
    "postgres": [f"select E'\\'{MARK}'", f"select $${MARK}$$", f"select U&'{MARK}'", f"select '{MARK}''x'"],
    "spark": [
        f"select '\\'{MARK}'",
        f'select "{MARK}"',
        f"select `{MARK}`",
        f"select r'{MARK}'",
        "select 913701L",
    ],
}


@pytest.mark.parametrize(("dialect", "sql"), [(d, sql) for d, several in HOLDING.items() for sql in several])
def test_no_form_of_a_literal_is_shown(dialect: str, sql: str) -> None:
    found = statements.without_values(Query(sql, "counted/base"), dialect)
    assert MARK not in found and "913701" not in found


def test_what_cannot_be_read_is_not_shown() -> None:
    assert MARK not in statements.without_values(Query(f"select '{MARK}", "broken"), "duckdb")


def test_text_around_what_is_hidden_stays_as_it_is_beyond_ascii() -> None:
    query = Query("select 'grün' as \"größe\" -- ü\n, 2 as n", "broken")
    assert statements.without_values(query, "duckdb", ["größe"]) == "select '…' as \"größe\" -- ü\n, … as n"


# -- the flow on one screen ----------------------------------------------------------------------------------


def steps_of(function: Any) -> list[str]:
    """The steps that a function names, from top to bottom."""
    named = [
        (node.lineno, node.col_offset, node.args[0].value)
        for node in ast.walk(ast.parse(inspect.getsource(function)))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "step"
        if isinstance(node.args[0], ast.Constant)
    ]
    return [str(name) for _, _, name in sorted(named)]


def test_the_steps_of_a_run_are_read_from_top_to_bottom() -> None:
    assert [*steps_of(api.publish), *steps_of(publication.publish)] == list(statements.STEPS)
    assert [*steps_of(audit.audit)] == ["read back", "judge"]


def test_nothing_is_kept_of_statements_when_nobody_listens(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "privacy_sql"), engines.opened() as engine:
        engine.fetch(Query("select 'x' as a", "one"))
        with statements.listening() as heard:
            engine.fetch(Query("select 'x' as a", "two"))
    assert [one.name for one in heard] == ["two"]
    assert [record.getMessage().split()[0] for record in caplog.records] == ["one", "two"]
