"""Every verb, every class of error, every engine: no cell of any table in anything that was said or left.

Every cell of two tables is a canary. An engine is made to fail with each of its own errors, each quoting a
row, in the first statement and in a later one; afterwards stdout, stderr, logs, JSON and every file that
appeared (temporary and spilled ones too) are searched.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

import privacy_sql as ps
from privacy_sql import plugs
from privacy_sql.engines.duckdb import DuckDB
from tests import engines
from tests.command_line import call

MARK = "CANARY"
COLUMNS = ("id", "age", "illness", "free")
ROWS = [(f"{MARK}P{n}", f"{MARK}Q{n % 4}", f"{MARK}S{n % 3}", f"{MARK}F{n}") for n in range(24)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose table and whose hierarchy hold nothing but canaries, and a private place to spill."""
    lines = [",".join(row) for row in (COLUMNS, *ROWS)]
    (tmp_path / "people.csv").write_text("".join(f"{line}\n" for line in lines))
    (tmp_path / "ages.csv").write_text("".join(f"{MARK}Q{n},{MARK}H{n % 2},*\n" for n in range(4)))
    (tmp_path / "known.txt").write_text(f"{MARK}P1 not {MARK}S1\n")
    content = {
        "version": "1",
        "releases": {
            "people": {
                "source": {"file": "people.csv"},
                "identifier": "id",
                "quasi_identifiers": [{"column": "age", "hierarchy": {"file": "ages.csv"}}],
                "sensitive": "illness",
                "drop": ["free"],
                "require": {"k_anonymity": {"k": "3"}, "l_diversity": {"l": "2"}},
                "method": {"full_domain": {}},
                "output": {"target": "out/people.csv"},
            }
        },
    }
    (tmp_path / "privacy.yml").write_text(json.dumps(content))
    (tmp_path / "spill").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "spill"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


TABLE = ["--source", "people.csv", "--quasi", "age", "--sensitive", "illness"]
VERBS: dict[str, list[str]] = {
    "attack": ["knowledge", *TABLE, "--group", "free", "--bandwidth", "0.3"],
    "check": [*TABLE, "--require", "k_anonymity(k=9)", "--require", "ck_safety(c=0.5, k=2)"],
    "curve": [*TABLE, "--facts", "2"],
    "facts": ["known.txt", *TABLE, "--identifier", "id"],
    "init": ["--from", "people.csv", "proposed"],
    "profile": ["--source", "people.csv"],
    "report": [],
    "run": [],
    "search": [],
    "show": ["people"],
    "skyline": TABLE,
    "verify": ["out/people.csv"],
}
# they read no table; what compile prints holds the hierarchies, which are the user's own
TABLELESS = {"budget", "compile", "demo", "experiment", "list", "register"}


def test_every_verb_that_reads_a_table_is_tried() -> None:
    assert set(plugs.available("commands")) == set(VERBS) | TABLELESS


def holding(folder: Path) -> set[str]:
    """The files that hold a canary, other than those the user wrote."""
    own = {"people.csv", "ages.csv", "known.txt"}
    return {
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and MARK.encode() in path.read_bytes() and str(path.relative_to(folder)) not in own
    }


def silent(verb: str, *form: str) -> int:
    told = call(verb, *VERBS[verb], *form)
    assert MARK not in told.everything, told.everything
    return told.exit


@pytest.mark.parametrize("form", ["", "--json"])
@pytest.mark.parametrize("verb", sorted(VERBS))
def test_a_verb_that_succeeds_says_no_value_and_leaves_none_outside_the_release(
    folder: Path, verb: str, form: str
) -> None:
    if verb in ("report", "verify"):
        assert call("run").exit == 0
    assert silent(verb, *([form] if form else [])) in (0, 1)
    assert holding(folder) <= {"out/people.csv"}


def of_duckdb() -> list[type[BaseException]]:
    """Every class of error DuckDB's library has."""
    kinds = [
        kind for kind in vars(duckdb).values() if isinstance(kind, type) and issubclass(kind, duckdb.Error)
    ]
    return sorted(set(kinds), key=lambda kind: kind.__name__)


# what Python itself may say, a value in its message
OWN: list[Callable[[], BaseException]] = [
    lambda: RuntimeError(MARK),
    lambda: MemoryError(MARK),
    lambda: OSError(28, MARK),
    lambda: UnicodeDecodeError("utf-8", MARK.encode(), 0, 1, MARK),
    lambda: RecursionError(MARK),
    lambda: KeyError(MARK),
]
FAULTS: dict[str, Callable[[], BaseException]] = {
    **{
        kind.__name__: lambda kind=kind: kind(f"Conversion Error: {MARK}\nLINE 1: {MARK}")
        for kind in of_duckdb()
    },
    **{type(make()).__name__: make for make in OWN},
}


def failing(monkeypatch: pytest.MonkeyPatch, fault: Callable[[], BaseException], at: int) -> None:
    """The statement with this number fails, as if the engine had said so."""
    run, seen = DuckDB._run, 0

    def fail(self: DuckDB, query: Any, values: Any = None) -> Any:
        nonlocal seen
        seen += 1
        if seen == at:
            with self._explained(query):
                raise fault()
        return run(self, query, values)

    monkeypatch.setattr(DuckDB, "_run", fail)


READING = sorted(set(VERBS) - {"report", "show", "verify"})


@pytest.mark.parametrize("verb", READING)
def test_an_error_of_the_engine_in_any_statement_of_a_verb_shows_no_row(
    folder: Path, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    reached = set()
    later = [(at, "ConversionException") for at in (3, 5, 8)]
    for number, (at, name) in enumerate([*((1, name) for name in FAULTS), *later]):
        form = [*(["--json"] if number % 2 else []), *(["--overwrite"] if verb == "run" else [])]
        with monkeypatch.context() as patch:
            failing(patch, FAULTS[name], at)
            code = silent(verb, *form)
        assert code in (0, 1, 3, 4, 130), (name, code)
        reached |= {name} if code in (3, 4, 130) else set()
    assert reached == set(FAULTS)
    assert holding(folder) <= {"out/people.csv"}


def test_an_error_of_a_server_shows_no_row(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    psycopg = pytest.importorskip("psycopg")
    from privacy_sql.engines.postgres import Postgres

    kinds = [k for k in vars(psycopg.errors).values() if isinstance(k, type) and issubclass(k, psycopg.Error)]
    run = Postgres._run
    with engines.connected("postgres") as home:
        home.connection.execute("create table people (id text, age text, illness text)")
        for row in ROWS:
            home.connection.execute("insert into people values (%s, %s, %s)", row[:3])
        home.connection.commit()
        words = ["people", "--quasi", "age", "--sensitive", "illness", "--require", "k_anonymity(k=9)"]
        monkeypatch.setenv("PGDATABASE", "unused")
        for kind in kinds:
            said = _first_fails(monkeypatch, run, kind)
            told = call(
                "check", "--connect", "postgres:" + os.environ["PRIVACY_SQL_TEST_DSN"], "--source", *words
            )
            monkeypatch.setattr(Postgres, "_run", run)
            assert MARK not in told.everything and (not said or told.exit in (2, 3, 4)), kind


def _first_fails(monkeypatch: pytest.MonkeyPatch, run: Any, kind: type[BaseException]) -> list[int]:
    from privacy_sql.engines.postgres import Postgres

    said: list[int] = []

    def fail(self: Any, query: Any) -> Any:
        if not said:
            said.append(1)
            with self._explained(query):
                raise kind(f'invalid input syntax for type integer: "{MARK}"')
        return run(self, query)

    monkeypatch.setattr(Postgres, "_run", fail)
    return said


def test_a_witness_of_every_engine_shows_no_row(engine: Any) -> None:
    import pandas as pd

    rows = pd.DataFrame(ROWS, columns=list(COLUMNS))
    table = ps.Table(rows, ["age"], "illness", identifier="id")
    for verdict in ps.check(
        engine, table, [ps.KAnonymity(9), ps.TCloseness("0.01"), ps.CKSafety("1/2", 2)]
    ).values():
        assert MARK not in f"{verdict!r} {verdict.explain()} {verdict.to_json()} {dict(verdict.witness)}"
