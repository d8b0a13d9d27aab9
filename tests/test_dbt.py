"""The repository as a dbt package: `dbt build` of a project that installs it, on DuckDB and PostgreSQL.

dbt has an environment of its own; PRIVACY_SQL_DBT says where its program is (`.ci/run` makes it). One build
asks many questions, because dbt takes seconds to start.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql import cli, example
from tests import engines
from tests.conftest import ROOT

PROJECT = ROOT / "tests" / "dbt_project"
SECRETS = ("13053", "14850", "13***", "cancer", "flu")
ENGINES = ("duckdb", "postgres")
SCHEMA = "hospital"


@dataclass
class Built:
    """What a build printed and did."""

    exit: int
    printed: str
    results: dict[str, str]  # what became of every model and test, by name


@dataclass
class Place:
    """A copy of the project, and a database of its own."""

    folder: Path
    target: str
    settings: dict[str, str]

    def dbt(self, *words: str) -> Built:
        environment = {**os.environ, **self.settings, "DBT_SEND_ANONYMOUS_USAGE_STATS": "false"}
        ran = self.folder / "target" / "run_results.json"
        ran.unlink(missing_ok=True)
        done = subprocess.run(
            [os.environ["PRIVACY_SQL_DBT"], *words],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
        )
        found = json.loads(ran.read_text())["results"] if ran.exists() else []
        results = {row["unique_id"].split(".")[2]: row["status"] for row in found}
        return Built(done.returncode, done.stdout + done.stderr, results)

    def write(self, name: str, text: str) -> None:
        (self.folder / "models" / name).write_text(text, encoding="utf-8")

    def tables(self) -> dict[str, list[str]]:
        """The tables of the database and their columns."""
        query = (
            "select table_schema || '.' || table_name as name, column_name as c"
            f" from information_schema.columns where table_schema like '{SCHEMA}%' order by ordinal_position"
        )
        if self.target == "duckdb":
            with duckdb.connect(self.settings["PRIVACY_SQL_DBT_FILE"]) as connection:
                rows = connection.execute(query).fetchall()
        else:
            with engines.other() as connection:
                rows = connection.execute(query).fetchall()
        found: dict[str, list[str]] = {}
        for name, column in rows:
            found.setdefault(name, []).append(column)
        return found


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project with this repository installed as its package."""
    if not os.environ.get("PRIVACY_SQL_DBT"):
        pytest.skip("needs dbt: set PRIVACY_SQL_DBT to its program")
    folder = tmp_path_factory.mktemp("dbt") / "hospital"
    shutil.copytree(PROJECT, folder)
    (folder / "packages.yml").write_text(f"packages:\n  - local: {ROOT}\n", encoding="utf-8")
    done = Place(folder, "duckdb", {}).dbt("deps")
    assert done.exit == 0, done.printed
    return folder


@pytest.fixture
def place(package: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Place]:
    """A copy of the project on an empty database, by default on DuckDB."""
    target = getattr(request, "param", "duckdb")
    folder = tmp_path / "hospital"
    shutil.copytree(package, folder, symlinks=True)
    settings = {"PRIVACY_SQL_DBT_TARGET": target, "PRIVACY_SQL_DBT_FILE": str(tmp_path / "base.duckdb")}
    if target == "duckdb":
        yield Place(folder, target, settings)
        return
    with engines.connected("postgres") as engine:
        (schemas,) = engine.connection.execute(
            "select array_agg(schema_name::text) from information_schema.schemata"
            f" where schema_name like '{SCHEMA}%'"
        ).fetchall()[0]
        for schema in schemas or []:
            engine.connection.execute(f"drop schema {schema} cascade")
        dsn = dict(part.split("=") for part in os.environ["PRIVACY_SQL_TEST_DSN"].split())
        names = {"host": "PGHOST", "port": "PGPORT", "user": "PGUSER", "password": "PGPASSWORD"}
        settings |= {names[key]: value for key, value in dsn.items() if key in names}
        settings["PGDATABASE"] = dsn["dbname"]
        yield Place(folder, target, settings)


both = pytest.mark.parametrize("place", ENGINES, indirect=True)


@both
def test_a_candidate_that_passes_is_published(place: Place) -> None:
    built = place.dbt("build")
    assert built.exit == 0, built.printed
    assert set(built.results.values()) == {"success", "pass"}
    tables = place.tables()
    assert tables[f"{SCHEMA}.published"] == ["Age", "Zip code", "illness"]
    assert tables[f"{SCHEMA}_restricted.candidate"] == ["Age", "Zip code", "illness"]
    # group_risk holds no value of a column
    assert tables[f"{SCHEMA}.risk"] == ["g", "n_rows", "n_values", "largest_share"]


@both
def test_a_candidate_that_fails_is_not_published_and_no_value_is_shown(place: Place) -> None:
    built = place.dbt("build", "--vars", "level: 0", "--store-failures")
    assert built.exit == 1
    assert built.results["published"] == "skipped"
    assert f"{SCHEMA}.published" not in place.tables()
    assert not any(secret in built.printed for secret in SECRETS)
    kept = {name: columns for name, columns in place.tables().items() if "dbt_test" in name}
    assert kept
    assert {tuple(columns) for columns in kept.values()} == {("n_rows", "n_groups", "risk")}


WHO = '"sensitive": "illness", "quasi": ["Age", "Zip code"]'
FAILING = {
    "k": 'k_anonymous: {"quasi": ["Age", "Zip code"], "k": 4}',
    "l": f'l_diverse: {{{WHO}, "l": 4}}',
    "share": f'l_diverse: {{{WHO}, "l": 2, "kind": "probabilistic"}}',
    "entropy": f'l_diverse: {{{WHO}, "l": 2, "kind": "entropy"}}',
    "recursive": f'l_diverse: {{{WHO}, "l": 2, "kind": "recursive", "c": 2}}',
    "t": f't_close: {{{WHO}, "t": 0.1}}',
    # the distance is 1/6, just below this limit but nearer than 1e-9
    "at_the_limit": f't_close: {{{WHO}, "t": 0.1666666667}}',
    "no_number": f't_close: {{{WHO}, "t": 0.9, "distance": "ordered"}}',
    "outside": f't_close: {{{WHO}, "t": 0.9, "distance": "hierarchical",'
    ' "hierarchy": {"tree": {"flu": ["f"]}}}',
    "c": f'ck_safe: {{{WHO}, "c": 0.6}}',
    # 2 of 3 share a value, so one fact more is certainty
    "one_fact": f'ck_safe: {{{WHO}, "c": 0.99, "k": 1}}',
    "two_facts": f'ck_safe: {{{WHO}, "c": 0.99, "k": 2}}',
    "two_thirds": f'ck_safe: {{{WHO}, "c": 0.6666666667}}',
    "skyline": f'skyline_safe: {{{WHO}, "points": [[0, 1, 0, 0.99]]}}',
    "one_value": f'skyline_safe: {{{WHO}, "per_value": {{"cancer": [[2, 0, 0, 0.9]]}}}}',
    "misspelt": 'k_anonymous: {"quasi": ["agee"], "k": 1}',
}
PASSING = {
    "loose": f'ck_safe: {{{WHO}, "c": 0.67}}',
    "tree": f't_close: {{{WHO}, "t": 0.2, "distance": "hierarchical",'
    ' "hierarchy": {"tree": {"flu": ["*"], "cold": ["*"], "cancer": ["*"]}}}',
    "own": f'skyline_safe: {{{WHO}, "points": [[0, 0, 0, 0.7]],'
    ' "per_value": {"cancer": [[0, 1, 0, 0.6]]}}',
}


def _schema(model: str, tests: dict[str, str]) -> str:
    lines = ["models:", f"  - name: {model}", "    data_tests:"]
    for name, test in tests.items():
        kind, _, arguments = test.partition(": ")
        lines += [
            f"      - privacy_sql.{kind}:",
            f"          name: {name}",
            f"          arguments: {arguments}",
        ]
    return "\n".join(lines) + "\n"


@both
def test_every_requirement_that_does_not_hold_fails_and_an_empty_model_does(place: Place) -> None:
    place.write("schema.yml", _schema("candidate", FAILING | PASSING))
    place.write("empty.sql", "select 1 as \"Age\", 'a' as \"Zip code\", 'b' as illness where 1 = 0")
    empty = {f"empty_{name}": test for name, test in PASSING.items()}
    empty["empty_k"] = FAILING["k"].replace("4", "1")
    place.write("empty.yml", _schema("empty", empty))
    built = place.dbt("build")
    assert built.results.pop("misspelt") == "error"
    assert {name: built.results[name] for name in PASSING} == dict.fromkeys(PASSING, "pass")
    expected = [name for name in FAILING if name != "misspelt"] + list(empty)
    assert {name: built.results[name] for name in expected} == dict.fromkeys(expected, "fail")
    assert built.results["published"] == "skipped"


@pytest.mark.parametrize(
    ("test", "said"),
    {
        f'ck_safe: {{{WHO}, "c": 0.9, "k": 3}}': "matches_manifest",
        f'ck_safe: {{{WHO}, "c": 1.5}}': "at most 1",
        f'skyline_safe: {{{WHO}, "points": [[1, 1, 0.9]]}}': "a point is",
    }.items(),
)
def test_what_sql_cannot_decide_does_not_compile(place: Place, test: str, said: str) -> None:
    place.write("schema.yml", _schema("candidate", {"refused": test}))
    built = place.dbt("build")
    assert built.exit != 0
    assert said in built.printed
    assert built.results == {}


@both
def test_a_model_matches_the_manifest_of_the_table_that_was_judged(place: Place, tmp_path: Path) -> None:
    rows = pd.DataFrame({"Age": ["20-39"] * 3, "illness": ["flu", "cold", None]})
    with ps.connect() as engine:
        release = ps.publish(
            engine, ps.Table(rows, ["Age"], "illness"), [ps.KAnonymity(3)], ps.Generalise({})
        )
        written = tmp_path / "m.manifest.json"
        ps.write(engine, release, "table:judged", manifest_to=written)
        output: dict[str, Any] = ps.verify(written, engine)["output"]
    checksum = [output[f"h{piece}"] for piece in range(1, 9)]
    columns = {"columns": ["Age", "illness"], "n_rows": 3}
    tests = {
        name: f"matches_manifest: {json.dumps({**columns, 'checksum': marks})}"
        for name, marks in (("same", checksum), ("other", [mark + 1 for mark in checksum]))
    }
    lines = [
        f'select \'20-39\' as "Age", {value} as illness, cast(null as varchar) as "Zip code"'
        for value in ("'flu'", "'cold'", "null")
    ]
    place.write("candidate.sql", "\nunion all\n".join(lines))
    place.write("schema.yml", _schema("candidate", tests))
    built = place.dbt("build")
    assert (built.results["same"], built.results["other"]) == ("pass", "fail"), built.printed


def test_dbt_publishes_what_compile_writes_for_the_last_run(place: Place, tmp_path: Path) -> None:
    shop = tmp_path / "shop"
    example.write(shop)
    assert cli.run(["run", "--project", str(shop)]).exit == 0
    models = place.folder / "models"
    shutil.rmtree(models)
    compiling = ["compile", "--project", str(shop), "--dbt", "--into", str(models)]
    assert cli.run(compiling).exit == 0
    again = cli.run(compiling)
    assert again.exit == 2 and "exists" in again.errors[0]["message"]
    rows = f"read_csv('{shop}/data/people.csv', all_varchar = true)"
    # dbt knows the file as a model of its name
    (models / "people.sql").write_text(f"select * from {rows}")
    built = place.dbt("build")
    assert built.exit == 0, built.printed
    assert list(built.results.values()).count("pass") == 3
    with duckdb.connect(place.settings["PRIVACY_SQL_DBT_FILE"]) as connection:
        (found,) = connection.execute(f"select count(*) from {SCHEMA}.people_public").fetchall()[0]
        (same,) = connection.execute(
            f"select count(*) from (select * from {SCHEMA}.people_public intersect all"
            f" select * from read_csv('{shop}/out/people.csv', all_varchar = true))"
        ).fetchall()[0]
    assert (same, found) == (19_833, 19_833)
