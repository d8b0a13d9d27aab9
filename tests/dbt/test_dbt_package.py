"""The repository as a dbt package: `dbt build` of a small project, on DuckDB and PostgreSQL.

dbt has an environment of its own; PRIVACY_SQL_DBT says where its program is (`.ci/run` makes it).
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from tests import engines
from tests.conftest import ROOT

PROJECT = ROOT / "tests" / "dbt"
SECRETS = ("13053", "14850", "13***", "cancer", "flu")
Build = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project with this repository installed as its package."""
    if not os.environ.get("PRIVACY_SQL_DBT"):
        pytest.skip("needs dbt: set PRIVACY_SQL_DBT to its program")
    place = tmp_path_factory.mktemp("dbt") / "hospital"
    shutil.copytree(PROJECT, place, ignore=shutil.ignore_patterns("*.py", "target", "dbt_packages"))
    # what dbt needs of the repository, without environments and caches that lie beside it
    source = place.parent / "privacy_sql"
    source.mkdir()
    shutil.copy(ROOT / "dbt_project.yml", source)
    shutil.copytree(ROOT / "macros", source / "macros")
    (place / "packages.yml").write_text(f"packages:\n  - local: {source}\n", encoding="utf-8")
    done = _dbt(place, "deps")
    assert done.returncode == 0, done.stdout
    return place


def _dbt(place: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "DBT_SEND_ANONYMOUS_USAGE_STATS": "false", **more}
    command = [os.environ["PRIVACY_SQL_DBT"], *words]
    return subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True)


@pytest.fixture(params=["duckdb", "postgres"])
def build(package: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Build:
    """`dbt build` into an empty database."""
    place = tmp_path / "hospital"
    shutil.copytree(package, place, symlinks=True)
    more = {
        "PRIVACY_SQL_DBT_TARGET": request.param,
        "PRIVACY_SQL_DBT_FILE": str(tmp_path / "hospital.duckdb"),
    }
    if request.param == "postgres":
        with engines.connected("postgres") as engine:
            for schema in ("hospital", "hospital_restricted"):
                engine.connection.execute(f"drop schema if exists {schema} cascade")
        settings = dict(part.split("=") for part in os.environ["PRIVACY_SQL_TEST_DSN"].split())
        names = {"host": "PGHOST", "port": "PGPORT", "user": "PGUSER", "password": "PGPASSWORD"}
        more |= {names[key]: value for key, value in settings.items() if key in names}
        more["PGDATABASE"] = settings["dbname"]

    def run(*words: str, schema: str = "", model: str = "") -> subprocess.CompletedProcess[str]:
        for name, text in (("schema.yml", schema), ("candidate.sql", model)):
            if text:
                (place / "models" / name).write_text(text, encoding="utf-8")
        return _dbt(place, "build", *words, **more)

    return run


def _tested(test: str) -> str:
    return f"models:\n  - name: candidate\n    data_tests:\n      - privacy_sql.{test}\n"


def test_a_candidate_that_passes_is_published(build: Build) -> None:
    done = build()
    assert done.returncode == 0, done.stdout
    assert "PASS=8" in done.stdout


def test_a_candidate_that_fails_is_not_published_and_no_value_is_shown(build: Build) -> None:
    done = build("--vars", "level: 0", "--store-failures")
    assert done.returncode == 1
    assert "SKIP relation" in done.stdout and "created sql table model" in done.stdout
    assert "FAIL" in done.stdout and not any(secret in done.stdout for secret in SECRETS)


BOTH = "sensitive: illness, quasi_identifiers: [age, zip]"
FAILING = {
    "k": "k_anonymous: {arguments: {quasi_identifiers: [age, zip], k: 4}}",
    "l": f"l_diverse: {{arguments: {{{BOTH}, l: 4}}}}",
    "share": f"l_diverse: {{arguments: {{{BOTH}, l: 2, kind: probabilistic}}}}",
    "t": f"t_close: {{arguments: {{{BOTH}, t: 0.1}}}}",
    # the distance is 1/6, just below this limit but nearer than 1e-9
    "at the limit": f"t_close: {{arguments: {{{BOTH}, t: 0.1666666667}}}}",
    "c": f"ck_safe: {{arguments: {{{BOTH}, c: 0.6}}}}",
    "misspelt": "k_anonymous: {arguments: {quasi_identifiers: [agee], k: 1}}",
    "more facts": f"ck_safe: {{arguments: {{{BOTH}, c: 0.9, k: 3}}}}",
}


@pytest.mark.parametrize("case", FAILING)
def test_a_failing_requirement_stops_the_build(build: Build, case: str) -> None:
    done = build(schema=_tested(FAILING[case]))
    assert done.returncode in (1, 2)
    assert "PASS=4" not in done.stdout
    if case == "more facts":
        assert "matches_manifest" in done.stdout


def test_an_empty_model_fails(build: Build) -> None:
    text = (PROJECT / "models" / "candidate.sql").read_text(encoding="utf-8") + "\nwhere 1 = 0\n"
    done = build(
        schema=_tested("k_anonymous: {arguments: {quasi_identifiers: [age, zip], k: 1}}"), model=text
    )
    assert done.returncode == 1 and "FAIL" in done.stdout


@pytest.mark.parametrize("change", [0, 1])
def test_a_model_matches_the_manifest_of_the_table_that_was_judged(
    build: Build, tmp_path: Path, change: int
) -> None:
    rows = pd.DataFrame({"age": ["20-39"] * 3, "illness": ["flu", "cold", None]})
    with ps.connect() as engine:
        release = ps.publish(
            engine, ps.Table(rows, ["age"], "illness"), [ps.KAnonymity(3)], ps.Generalise({})
        )
        place = tmp_path / "m.manifest.json"
        ps.write(engine, release, "table:judged", manifest_to=place)
        output: dict[str, Any] = ps.verify(place, engine)["output"]
    checksum = [output[f"h{piece}"] + change for piece in range(1, 9)]
    test = f"matches_manifest: {{arguments: {{columns: [age, illness], n_rows: 3, checksum: {checksum}}}}}"
    lines = [
        f"select '20-39' as age, {value} as illness, cast(null as varchar) as zip"
        for value in ("'flu'", "'cold'", "null")
    ]
    done = build(schema=_tested(test), model="\nunion all\n".join(lines))
    assert done.returncode == change, done.stdout
