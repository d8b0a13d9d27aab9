"""Whatever stops a run, at whatever moment: the old release is left, or the new one, or none, and no more.

Runs are killed at random moments, nine in the build and three hundred in `.ci/run nightly`.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import privacy_sql as ps
from privacy_sql import files
from privacy_sql.cli import main
from privacy_sql.engines.duckdb import DuckDB
from privacy_sql.errors import PrivacySqlError
from tests import engines
from tests.command_line import Told, call
from tests.conftest import ROOT

KILLS = 100 if os.environ.get("HYPOTHESIS_PROFILE") == "nightly" else 2  # of each kind of target
TARGETS = ("file", "duckdb", "postgres")
ILLNESSES = ["flu", "cold", "gout", "rash", "none"]
ROWS = "age,illness\n" + "".join(f"{20 + n * 7 % 40},{ILLNESSES[n * n % 11 % 5]}\n" for n in range(600))


def project(folder: Path, target: str) -> Path:
    """A project with one release that goes to a file, or to a table of an engine."""
    release: dict[str, Any] = {
        "source": {"file": "people.csv"},
        "quasi_identifiers": [{"column": "age", "hierarchy": {"intervals": ["5", "10"]}}],
        "sensitive": "illness",
        "require": {"k_anonymity": {"k": "5"}, "ck_safety": {"c": "0.95", "k": "1"}},
        "method": {"full_domain": {}},
        "output": {"target": "out/people.csv"},
    }
    connections = {
        "duckdb": {"type": "duckdb", "path": "store.db"},
        "postgres": {"type": "postgres", "dsn_env": "PRIVACY_SQL_TEST_DSN"},
    }
    content: dict[str, Any] = {"version": "1", "releases": {"people": release}}
    if target != "file":
        release["output"] = {"connection": "store", "relation": "published"}
        content["connections"] = {"store": connections[target]}
    folder.mkdir(exist_ok=True)
    (folder / "people.csv").write_text(ROWS)
    (folder / "privacy.yml").write_text(json.dumps(content))
    return folder


def verified(folder: Path, target: str) -> str | None:
    """What `verify` finds wrong with the release, None when it is whole."""
    place = "out/people.csv.manifest.json" if target == "file" else "target/people.manifest.json"
    try:
        with engine(folder, target) as home:
            ps.verify(folder / place, None if target == "file" else home)
    except PrivacySqlError as problem:
        return problem.code
    return None


def run(folder: Path, *more: str) -> Told:
    return call("run", "--json", "--overwrite", *more, "--project", folder)


def everything(folder: Path, target: str) -> set[str]:
    """Every file of the project's folder and every table of the target's engine."""
    found = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    if target != "file":
        with engine(folder, target) as home:
            listed = home.connection.execute(
                "select table_name from information_schema.tables where table_schema in ('main', 'public')"
            )
            found |= {f"table {name}" for (name,) in listed.fetchall()}
    return found


@contextlib.contextmanager
def engine(folder: Path, target: str) -> Iterator[Any]:
    more = {"dsn_env": "PRIVACY_SQL_TEST_DSN"} if target == "postgres" else {}
    urls = {"file": "duckdb:", "duckdb": f"duckdb:{folder / 'store.db'}", "postgres": "postgres:"}
    with ps.connect(urls[target], **more) as made:
        yield made


RUN = """
import sys
from privacy_sql import api
from privacy_sql.cli.main import main
from privacy_sql.cli.verbs import run
import privacy_sql.project.running, privacy_sql.publishing.audit, duckdb, numpy
from privacy_sql.engines.duckdb import DuckDB
import os, signal

create, interrupts = DuckDB.create, int(sys.argv[2])

def interrupted(self, *given, **more):
    global interrupts
    interrupts -= 1
    if not interrupts:
        os.kill(os.getpid(), getattr(signal, sys.argv[3]))
    return create(self, *given, **more)

DuckDB.create = interrupted
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # whoever started the tests may ignore it
print("ready", flush=True)
main(["run", "--json", "--overwrite", "--project", sys.argv[1]])
"""


def started(folder: Path, spill: Path, interrupt_at: int = 0, by: str = "SIGINT") -> subprocess.Popen[str]:
    """A run in a process of its own, everything imported; perhaps interrupted at a statement."""
    child = subprocess.Popen(
        [sys.executable, "-c", RUN, str(folder), str(interrupt_at), by],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(spill)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert child.stdout and child.stdout.readline() == "ready\n"
    return child


def ended(child: subprocess.Popen[str]) -> int:
    """The exit code of a run, its output read to the end."""
    child.communicate()
    return child.returncode


@pytest.fixture(params=TARGETS)
def target(request: pytest.FixtureRequest) -> Iterator[str]:
    """A kind of target; its server is up."""
    with engines.connected("postgres") if request.param == "postgres" else contextlib.nullcontext():
        yield request.param


def test_a_run_killed_at_any_moment_leaves_the_old_release_the_new_one_or_none(
    tmp_path: Path, target: str
) -> None:
    folder, spill = project(tmp_path / "project", target), tmp_path / "spill"
    spill.mkdir()
    first = started(folder, spill)
    begun = time.perf_counter()
    assert ended(first) == 0
    whole = time.perf_counter() - begun
    before = everything(folder, target)
    seed = random.randrange(10**9)
    chance = random.Random(seed)
    killed = 0
    for _ in range(KILLS):
        child, moment = started(folder, spill), chance.random() * whole
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(timeout=moment)
        child.kill()
        killed += ended(child) == -signal.SIGKILL
        found = verified(folder, target)
        # whoever looks finds the old one or the new one, whole
        assert found is None, (seed, moment)
    assert killed, seed
    done = run(folder)
    assert (done.exit, verified(folder, target)) == (0, None), (seed, done.out)
    assert everything(folder, target) == before, seed
    finished = started(folder, spill)
    assert ended(finished) == 0
    assert not [path for path in spill.iterdir() if path.name.startswith("privacy_sql-")], seed


@pytest.mark.parametrize("point", ["create", "fetch", "write"])
def test_an_engine_that_goes_in_mid_run_is_exit_four_and_leaves_the_old_release(
    tmp_path: Path, target: str, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    folder = project(tmp_path / "project", target)
    first = run(folder)
    assert first.exit == 0, first.out
    before = everything(folder, target)
    asked = 0

    def gone(original: Any) -> Any:
        def ask(self: Any, *given: Any, **more: Any) -> Any:
            nonlocal asked
            asked += 1
            if asked == (1 if point == "write" else 6):
                _break(self)
            return original(self, *given, **more)

        return ask

    from privacy_sql.engines.postgres import Postgres

    home = Postgres if target == "postgres" else DuckDB
    name = {"write": "write_file" if target == "file" else "write_table"}.get(point, point)
    with monkeypatch.context() as patch:
        patch.setattr(home, name, gone(getattr(home, name)))
        told = run(folder)
    assert (told.exit, asked > 0) == (4, True), told.out
    assert verified(folder, target) is None
    assert run(folder).exit == 0 and everything(folder, target) == before


def _break(home: Any) -> None:
    """The connection is closed behind the engine's back, as by a server that stops."""
    home.connection.close()


@pytest.mark.parametrize("statement", [1, 6, 14])
def test_an_interrupted_search_is_exit_130_and_publishes_nothing_new(tmp_path: Path, statement: int) -> None:
    folder = project(tmp_path / "project", "file")
    assert run(folder).exit == 0
    old, before = (folder / "out" / "people.csv.manifest.json").read_bytes(), everything(folder, "file")
    assert ended(started(folder, tmp_path, statement)) == 130
    assert (folder / "out" / "people.csv.manifest.json").read_bytes() == old
    assert verified(folder, "file") is None and everything(folder, "file") == before


def test_of_two_runs_at_once_one_publishes_and_the_other_waits_or_is_refused(tmp_path: Path) -> None:
    folder = project(tmp_path / "project", "file")
    both = [started(folder, tmp_path) for _ in range(2)]
    codes = sorted(ended(child) for child in both)
    assert codes[0] == 0 and codes[1] in (0, 2)
    assert verified(folder, "file") is None
    assert not [name for name in everything(folder, "file") if "/." in name]


def test_a_target_in_a_folder_that_may_only_be_read_is_exit_four(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(folder: Path, **_: Any) -> Any:
        raise files.unwritable(folder, OSError(30, "read-only"))

    folder = project(tmp_path / "project", "file")
    monkeypatch.setattr(files, "only_writer", refuse)
    told = run(folder)
    assert told.exit == 4 and "cannot_write" in told.codes
    assert not (folder / "out").exists()


def test_the_program_that_was_started_is_the_one_of_this_folder() -> None:
    assert Path(main.__file__).is_relative_to(ROOT)
