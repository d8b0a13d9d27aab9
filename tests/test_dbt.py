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
from privacy_sql.cli import main
from privacy_sql.project import example
from tests import engines
from tests import guard_cases as asked
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
    said: dict[str, str]  # what dbt says of each


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
        said = {row["unique_id"].split(".")[2]: row["message"] or "" for row in found}
        return Built(done.returncode, done.stdout + done.stderr, results, said)

    def write(self, name: str, text: str) -> None:
        (self.folder / "models" / name).write_text(text, encoding="utf-8")

    def run_sql(self, statement: str) -> None:
        """Somebody else's statement in the database."""
        if self.target == "duckdb":
            with duckdb.connect(self.settings["PRIVACY_SQL_DBT_FILE"]) as connection:
                connection.execute(statement)
        else:
            with engines.other() as connection:
                connection.execute(statement)

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
    place.write(
        "schema.yml",
        _schema("candidate", asked.FAILING | asked.PASSING | asked.COVERING | asked.NOT_COVERING),
    )
    place.write("odd.sql", asked.ODD)
    place.write("odd.yml", _schema("odd", asked.ODD_FAILING | asked.ODD_PASSING))
    place.write("outside.sql", asked.OUTSIDE)
    place.write("outside.yml", _schema("outside", {"nothing_is_left": asked.FAILING["k"].replace("4", "1")}))
    place.write("empty.sql", "select 1 as \"Age\", 'a' as \"Zip code\", 'b' as illness where 1 = 0")
    empty = {f"empty_{name}": test for name, test in asked.PASSING.items()}
    empty["empty_k"] = asked.FAILING["k"].replace("4", "1")
    place.write("empty.yml", _schema("empty", empty))
    built = place.dbt("build")
    passing = {**asked.PASSING, **asked.COVERING, **asked.ODD_PASSING}
    failing = [*asked.FAILING, *asked.NOT_COVERING, *asked.ODD_FAILING, *empty, "nothing_is_left"]
    assert {name: built.results[name] for name in passing} == dict.fromkeys(passing, "pass")
    assert {name: built.results[name] for name in failing} == dict.fromkeys(failing, "fail")
    assert built.results["published"] == "skipped"


@both
def test_a_misspelt_column_is_an_error_that_tells_the_nearest(place: Place) -> None:
    tests = {name: test for name, (test, _) in asked.MISSPELT.items()}
    place.write("schema.yml", _schema("candidate", tests | asked.OTHER_CASE))
    place.write("aside.sql", asked.EPHEMERAL)
    place.write("weights.sql", asked.WEIGHTS)
    place.write("aside.yml", _schema("aside", asked.EPHEMERAL_MISSPELT | asked.EPHEMERAL_PASSING))
    for name, model in asked.MISNAMED.items():
        place.write(f"{name}.sql", model)
    built = place.dbt("build")
    wrong = [*asked.MISSPELT, *asked.MISNAMED, *asked.EPHEMERAL_MISSPELT]
    assert {name: built.results[name] for name in wrong} == dict.fromkeys(wrong, "error")
    words = {name: words for name, (_, words) in asked.MISSPELT.items()}
    words |= dict.fromkeys(asked.MISNAMED, 'no column "ilness"; did you mean "illness"?')
    assert {name: built.said[name] for name, said in words.items() if said not in built.said[name]} == {}
    assert built.results["ephemeral_k"] == "pass"
    # DuckDB takes a name in any case, PostgreSQL does not
    if place.target == "duckdb":
        assert built.results["other_case"] == "pass"
    else:
        assert 'no column "age"; did you mean "Age"?' in built.said["other_case"]
    # what is only compiled may be built on other columns later
    compiled = place.dbt("compile", "--exclude", "test_name:matches_manifest")
    assert compiled.exit == 0, compiled.printed


def test_what_means_nothing_does_not_compile(place: Place) -> None:
    tried = {
        name: {"schema.yml": _schema("candidate", {"refused": test})}
        for name, (test, _) in asked.REFUSED.items()
    }
    for name, (words, _) in asked.MODELS.items():
        call = f"privacy_sql.generalise(ref('patients'), quasi={{'Age': {{'intervals': [10]}}}}, {words})"
        tried[name] = {"candidate.sql": f"{{{{ {call} }}}}"}
    said = parsed(place, {**tried, "nothing wrong": {"schema.yml": _schema("candidate", asked.PASSING)}})
    assert said.pop("nothing wrong") == ""
    wanted = {name: words for name, (_, words) in {**asked.REFUSED, **asked.MODELS}.items()}
    assert {name: said[name] for name, words in wanted.items() if words not in said[name]} == {}


def parsed(place: Place, tried: dict[str, dict[str, str]]) -> dict[str, str]:
    """What dbt says when it parses the project with each change; nothing when all is well."""
    python = Path(os.environ["PRIVACY_SQL_DBT"]).with_name("python")
    command = [str(python), str(ROOT / "tests" / "parse_with_dbt.py")]
    environment = {
        **os.environ,
        **place.settings,
        "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
        "PYTHONPATH": "",
    }
    done = subprocess.run(
        command, cwd=place.folder, env=environment, input=json.dumps(tried), text=True, capture_output=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, str] = json.loads((place.folder / "said.json").read_text())
    return found


@both
def test_a_model_matches_the_manifest_of_the_table_that_was_judged(place: Place, tmp_path: Path) -> None:
    rows = pd.DataFrame({"Age": ["20-39"] * 3, "illness": ["flu", "cold", None]})
    with engines.opened() as engine:
        release = ps.publish(
            engine, ps.Table(rows, ["Age"], "illness"), [ps.KAnonymity(3)], ps.Generalise({})
        )
        written = tmp_path / "m.manifest.json"
        ps.write(engine, release, "table:judged", manifest_to=written)
        output: dict[str, Any] = ps.verify(written, engine)["output"]
    checksum = [output[f"h{piece}"] for piece in range(1, 9)]
    columns = {"columns": ["Age", "illness"], "n_rows": 3}
    matching = f"matches_manifest: {json.dumps({**columns, 'checksum': checksum})}"
    other = f"matches_manifest: {json.dumps({**columns, 'checksum': [mark + 1 for mark in checksum]})}"
    place.write("schema.yml", _schema("candidate", {"same": matching, "other": other}))
    for model, values, more in (
        ("candidate", ("'flu'", "'cold'", "null"), ""),
        ("empty_for_null", ("'flu'", "'cold'", "''"), ""),
        ("one_column_more", ("'flu'", "'cold'", "null"), ', 13053 as "Zip code"'),
    ):
        lines = [f"select '20-39' as \"Age\", {value} as illness{more}" for value in values]
        place.write(f"{model}.sql", "\nunion all\n".join(lines))
        if model != "candidate":
            place.write(f"{model}.yml", _schema(model, {f"{model}_matches": matching}))
    for model in ("published", "risk"):
        (place.folder / "models" / f"{model}.sql").unlink()
    built = place.dbt("build")
    assert (built.results["same"], built.results["other"]) == ("pass", "fail"), built.printed
    assert built.results["empty_for_null_matches"] == "fail"
    assert built.results["one_column_more_matches"] == "error"
    assert "columns that were not judged: Zip code" in built.printed


def put(place: Place, project: Path) -> None:
    """Replace the models by what `compile --dbt` writes for the last run of a project."""
    models = place.folder / "models"
    shutil.rmtree(models)
    assert main.run(["run", "--project", str(project)]).exit == 0
    assert main.run(["compile", "--project", str(project), "--dbt", "--into", str(models)]).exit == 0


@both
def test_the_compiled_guards_stop_what_a_run_would_refuse(place: Place, tmp_path: Path) -> None:
    (tmp_path / "privacy.yml").write_text(asked.CLINIC)
    (tmp_path / "people.csv").write_text(asked.CLINIC_ROWS)
    put(place, tmp_path)
    seed = place.folder / "seeds" / "people.csv"
    seed.write_text(asked.CLINIC_ROWS)
    built = place.dbt("build")
    assert built.exit == 0, built.printed
    tests = {name: status for name, status in built.results.items() if status == "pass"}
    assert set(tests) == {"people_covered_1", "people_k_anonymous_2", "people_l_diverse_3"}
    # tomorrow's rows: a town the tree does not know, a NULL, a person twice
    for more in ("5,35,Paris,a\n", "5,35,Rome,\n", "4,35,Rome,a\n"):
        seed.write_text(asked.CLINIC_ROWS + more)
        built = place.dbt("build", "--full-refresh")
        assert built.results["people_covered_1"] == "fail"
        assert built.results["people_public"] == "skipped"
        assert "Paris" not in built.printed
        # no label for Paris: the candidate is empty, and every other guard says so too
        expected = "fail" if "Paris" in more else "pass"
        assert built.results["people_k_anonymous_2"] == expected


@both
def test_a_model_reads_the_table_that_was_judged_and_fails_once_it_is_another(
    place: Place, tmp_path: Path
) -> None:
    schema = "main" if place.target == "duckdb" else "public"
    file = place.settings["PRIVACY_SQL_DBT_FILE"]
    connection = (
        f"{{type: duckdb, path: {file}}}"
        if place.target == "duckdb"
        else "{type: postgres, dsn_env: PRIVACY_SQL_TEST_DSN}"
    )
    place.run_sql(asked.PATIENTS.format(schema=schema))
    (tmp_path / "privacy.yml").write_text(asked.WARD.format(connection=connection, schema=schema))
    put(place, tmp_path)
    place.write("sources.yml", f"sources: [{{name: {schema}, schema: {schema}, tables: [{{name: judged}}]}}]")
    built = place.dbt("build")
    assert built.exit == 0, built.printed
    assert built.results["ward_matches_manifest_3"] == "pass"
    for change in (
        "set ill = null where ill = ''",
        "set ill = 'FLU' where ill = 'flu'",
    ):
        place.run_sql(f"create table kept as select * from {schema}.judged")
        place.run_sql(f"update {schema}.judged {change}")
        built = place.dbt("build")
        assert built.results["ward_matches_manifest_3"] == "fail", change
        assert built.results["ward_public"] == "skipped"
        place.run_sql(f"delete from {schema}.judged; insert into {schema}.judged select * from kept")
        place.run_sql("drop table kept")


def test_dbt_publishes_what_compile_writes_for_the_last_run(place: Place, tmp_path: Path) -> None:
    shop = tmp_path / "shop"
    example.write(shop)
    assert main.run(["run", "--project", str(shop)]).exit == 0
    models = place.folder / "models"
    shutil.rmtree(models)
    compiling = ["compile", "--project", str(shop), "--dbt", "--into", str(models)]
    assert main.run(compiling).exit == 0
    again = main.run(compiling)
    assert again.exit == 2 and "exists" in again.errors[0]["message"]
    rows = f"read_csv('{shop}/data/people.csv', all_varchar = true)"
    # dbt knows the file as a model of its name
    (models / "people.sql").write_text(f"select * from {rows}")
    built = place.dbt("build")
    assert built.exit == 0, built.printed
    assert list(built.results.values()).count("pass") == 4
    with duckdb.connect(place.settings["PRIVACY_SQL_DBT_FILE"]) as connection:
        (found,) = connection.execute(f"select count(*) from {SCHEMA}.people_public").fetchall()[0]
        (same,) = connection.execute(
            f"select count(*) from (select * from {SCHEMA}.people_public intersect all"
            f" select * from read_csv('{shop}/out/people.csv', all_varchar = true))"
        ).fetchall()[0]
    assert (same, found) == (19_833, 19_833)
