"""Runs of a project that are killed at chosen operations, twice in a row, and what is left each time.

A program of its own: it only imports, and everything that opens an engine happens in processes it forks.
`python -m tests.killed_runs FORM FOLDER SEED HOW_MANY`, 0 for every operation; prints what broke.
"""

from __future__ import annotations

import json
import os
import pickle
import random
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

# imported here so that no run pays for it
import duckdb  # noqa: F401
import numpy  # noqa: F401

import privacy_sql as ps
from privacy_sql.cli import main
from privacy_sql.cli.verbs import run as run_command  # noqa: F401
from privacy_sql.engines.duckdb import DuckDB
from privacy_sql.engines.spark import Spark
from privacy_sql.errors import PrivacySqlError
from privacy_sql.history.register import FILE_NAME, Register
from privacy_sql.project import running  # noqa: F401
from privacy_sql.publishing.verifying import verified
from privacy_sql.query import template
from tests import kills

NIGHTLY = os.environ.get("HYPOTHESIS_PROFILE") == "nightly"
ROOT = Path(__file__).resolve().parent.parent
FORMS = ("file", "parts", "table", "tables", "postgres")
ON_SPARK = ("folder", "folders", "spark", "spark_tables")
TABLES = ("table", "tables", "postgres", "spark", "spark_tables")
TWO = ("parts", "tables", "folders", "spark_tables")
OVER_AN_OLD_ONE = ("file", "tables", "postgres")  # where the build kills; the night kills first runs too
SETTINGS = {"spark.sql.shuffle.partitions": "1", "spark.sql.warehouse.dir": tempfile.mkdtemp()}
ENGINES: list[Any] = [DuckDB, Spark]
NAMES = ("published", "published_people", "published_values")
ILLNESSES = ["flu", "cold", "gout", "rash", "none"]
DSN = "PRIVACY_SQL_TEST_DSN"


def rows(n: int) -> str:
    return "age,illness\n" + "".join(f"{20 + i * 7 % 40},{ILLNESSES[i * i % 11 % 5]}\n" for i in range(n))


def project(folder: Path, form: str) -> None:
    """A project with one release; files go into a register."""
    two, target = form in TWO, "out/people.parquet" if form in ON_SPARK else "out/people.csv"
    release: dict[str, Any] = {
        "source": {"file": "people.csv"},
        "quasi_identifiers": [{"column": "age", "hierarchy": {"intervals": ["20"]}}],
        "sensitive": "illness",
        "require": {"l_diversity": {"l": "2"}} if two else {"k_anonymity": {"k": "5"}},
        "method": {"generalise": {"levels": {"age": "1"}}},
        "output": {"target": target},
    }
    if two:
        release["method"] = {"bucketize": {"by": "anatomy", "layout": "two_tables"}}
    content: dict[str, Any] = {"version": "1", "releases": {"people": release}}
    connections = {
        **{each: {"type": "duckdb", "path": "s.db"} for each in ("table", "tables")},
        "postgres": {"type": "postgres", "dsn_env": DSN},
        **{each: {"type": "spark", "master": "local[2]"} for each in ON_SPARK},
    }
    if form in connections:
        content["connections"] = {"store": connections[form]}
    if form in ON_SPARK:
        release["source"]["connection"] = "store"
    if form in TABLES:
        release["output"] = {"connection": "store", "relation": "published"}
    else:
        (folder / FILE_NAME).touch()
    (folder / "privacy.yml").write_text(json.dumps(content))


def run(folder: Path) -> None:
    """One run that is to succeed."""
    _own_way_to_spark()
    for engine in ENGINES:
        kills.committing(engine)
    outcome = main.run(["run", "--overwrite", "--project", str(folder)])
    if outcome.exit:
        sys.stderr.write(json.dumps(outcome.errors))
        raise SystemExit(outcome.exit)


def apart(work: Callable[[], Any]) -> Any:
    """What some work returns that is done in a process of its own."""
    here, there = os.pipe()
    child = os.fork()
    if not child:
        try:
            with os.fdopen(there, "wb") as out:
                pickle.dump(work(), out)
            os._exit(0)
        finally:
            os._exit(1)
    os.close(there)
    with os.fdopen(here, "rb") as told:
        content = told.read()
    os.waitpid(child, 0)
    return pickle.loads(content) if content else "the look at it failed"


def looked(folder: Path, form: str) -> str:
    """What stands: the number of rows that verify, `nothing`, or what is wrong."""
    _own_way_to_spark()
    tables = form in TABLES
    target = "out/people.parquet" if form in ON_SPARK else "out/people.csv"
    place = folder / ("target/people.manifest.json" if tables else f"{target}.manifest.json")
    urls = {
        "postgres": "postgres:",
        **dict.fromkeys(("table", "tables"), f"duckdb:{folder / 's.db'}"),
        **dict.fromkeys(ON_SPARK, "spark:local[2]"),
    }
    with ps.connect(urls.get(form, "duckdb:"), **({"dsn_env": DSN} if form == "postgres" else {})) as engine:
        try:
            found = verified(place, engine if tables else None)
        except PrivacySqlError as problem:
            if problem.code != "no_manifest":
                return f"{problem.code}: {problem}"
            left = [name for name in NAMES if tables and engine.has_table(name)]
            left += [path.name for path in (folder / "out").glob("people*")]
            return f"without a manifest: {left}" if left else "nothing"
    register = Register(folder / FILE_NAME)
    if register.path.exists():
        if not register.holds(found):
            return "out, and not in the register"
        register.find(register.entries())
    return str(found.rows_in)


def strays(folder: Path) -> list[str]:
    """Hidden files, and tables of Spark, that stay when a run has succeeded."""
    left = [str(p.relative_to(folder)) for p in folder.rglob(".*")]
    return left + [name for name in _on_spark() if not name.startswith("published")]


def _on_spark() -> list[str]:
    """The tables of the session of Spark, if there is one."""
    if not _sessions:
        return []
    return [row.name for row in _sessions[0].catalog.listTables() if not row.isTemporary]


_sessions: list[Any] = []  # of Spark: a cluster lives on when a program that uses it is killed


def _own_way_to_spark() -> None:
    """Let a process that was forked speak to Spark beside the one it comes from."""
    if _sessions:
        client = _sessions[0].sparkContext._gateway._gateway_client
        client.thread_connection = threading.local()
        client.deque.clear()


def restored(saved: Path, folder: Path, form: str) -> None:
    """The project as it was, and its tables on a server."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(saved, folder)
    old = (saved / "target" / "people.manifest.json").exists()
    if form == "postgres":
        apart(lambda: _on_server("drop table if exists published"))
        if old:
            apart(lambda: _on_server("create table published as select * from published_before"))
    if _sessions:
        session = _sessions[0]
        for name in _on_spark():
            if not name.endswith("_before"):
                session.sql(f"drop table {name}")
        for name in NAMES if old else ():
            if session.catalog.tableExists(f"{name}_before"):
                session.sql(f"create table {name} using parquet as select * from {name}_before")


def _on_server(statement: str) -> None:
    import psycopg

    with psycopg.connect(os.environ[DSN], autocommit=True) as connection:
        connection.execute(statement.encode())


def tried(form: str, folder: Path, seed: int, how_many: int) -> list[str]:
    """Everything that broke, a line each."""
    chance = random.Random(seed)
    broken: list[str] = []
    if form in ON_SPARK:
        _sessions.append(Spark(master="local[2]", settings=SETTINGS).connection)
    here, saved = folder / "project", folder / "saved"
    for old in (False, True) if NIGHTLY or form in ON_SPARK else (form in OVER_AN_OLD_ONE,):
        here.mkdir(exist_ok=True)
        if form == "postgres":  # the table of the round before, whose manifest is gone
            apart(lambda: _on_server("drop table if exists published"))
        for name in _on_spark():
            _sessions[0].sql(f"drop table {name}")
        (here / "people.csv").write_text(rows(300))
        project(here, form)
        if form == "postgres":
            apart(lambda: _on_server("drop table if exists published"))
        if old:
            apart(lambda: run(here))
            if (seen := apart(lambda: looked(here, form))) != "300":
                return [*broken, f"{form}: the first run left {seen}"]
            if form == "postgres":
                apart(lambda: _on_server("drop table if exists published_before"))
                apart(lambda: _on_server("create table published_before as select * from published"))
            for name in _on_spark():
                _sessions[0].sql(f"create table {name}_before using parquet as select * from {name}")
            (here / "people.csv").write_text(rows(600))
        shutil.rmtree(saved, ignore_errors=True)
        shutil.copytree(here, saved)
        if form in ON_SPARK and not old:
            restored(saved, here, form)
        total = _operations(here)
        sys.stderr.write(f"{form} {old} {total}\n")
        new = "600" if old else "300"
        killed = 0
        points = range(1, total + 1) if not how_many else sorted(chance.sample(range(1, total + 1), how_many))
        for first in points:
            second = chance.choice([first, chance.randrange(1, total + 1)])
            restored(saved, here, form)
            where = f"{form} {'over an old one ' if old else ''}killed at {first} of {total}"
            # a run has one operation more or less than another, so the last ones may not be reached
            killed += kills.killed(lambda: run(here), first)
            # the second kill comes before or after somebody has looked
            if chance.random() < 0.5:
                seen = apart(lambda: looked(here, form))
                if seen not in (new, "300" if old else "nothing"):
                    broken.append(f"{where}: {seen}")
            kills.killed(lambda: run(here), second)
            seen = apart(lambda: looked(here, form))
            if seen not in (new, "300" if old else "nothing"):
                broken.append(f"{where}, then at {second}: {seen}")
            if kills.killed(lambda: run(here), 10**9):
                broken.append(f"{where}, then at {second}: the third run was killed")
            seen, left = apart(lambda: looked(here, form)), strays(here)
            if seen != new or left:
                broken.append(f"{where}, then at {second}, then run: {seen} {left}")
        if killed < len(points) - 2:
            broken.append(f"{form}: {killed} of {len(points)} runs were killed")
        shutil.rmtree(here)
    return broken


def _operations(folder: Path) -> int:
    """How many operations a run has, told by one that is not killed; the templates it used are compiled."""

    def counted() -> tuple[int, list[str]]:
        done = kills.arm(10**9)
        run(folder)
        return done.total(), [name for _, name in template._environment().cache or ()]

    total, used = apart(counted)
    for name in used:  # once for all processes that are forked from here on
        template._environment().get_template(name)
    return total


def broken(form: str, folder: Path, how_many: int) -> str:
    """What broke in a program of its own: a few operations in the build, others and more at night."""
    seed = random.randrange(10**6) if NIGHTLY else 17
    words = [form, str(folder), str(seed), str(20 if NIGHTLY else how_many)]
    told = subprocess.run(
        [sys.executable, "-m", "tests.killed_runs", *words],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    if told.returncode or told.stdout:
        return f"seed {seed}: {told.stdout}{told.stderr[-2000:]}"
    return ""


if __name__ == "__main__":
    form, place, seed, how_many = sys.argv[1:]
    if form == "postgres":  # which is not there where Spark is tested
        from privacy_sql.engines import _postgres_connection
        from privacy_sql.engines.postgres import Postgres

        _postgres_connection.LOCK_TIMEOUT = "20s"  # a killed session lets go of its locks some time after
        ENGINES.append(Postgres)
    sys.stdout.write("\n".join(tried(form, Path(place), int(seed), int(how_many))))
