"""One fault of each kind that a machine has: a full disk, a lock, a lost server, a kill, no rights.

Longer hunts run nightly: every pair of kills, and runs killed at random moments. Closed streams and signals
have a file of their own.
"""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from privacy_sql.engines.duckdb import DuckDB
from privacy_sql.errors import PrivacySqlError
from privacy_sql.history.ledger import FILE_NAME, Ledger
from privacy_sql.history.register import FILE_NAME as REGISTER
from privacy_sql.history.register import Register
from privacy_sql.manifest import read
from privacy_sql.methods import noisy_counts
from privacy_sql.publishing.verifying import verified
from tests import engines, kills
from tests.command_line import Told, call
from tests.conftest import ROOT

pytestmark = pytest.mark.fault

NOISY: dict[str, Any] = {
    "source": {"file": "people.csv"},
    "quasi_identifiers": [{"column": "age"}],
    "sensitive": "illness",
    "method": {
        "noisy_counts": {
            "epsilon": "1",
            "marginals": [["illness"]],
            "domains": {"illness": ["flu", "cold", "gout"]},
        }
    },
    "output": {"target": "out/counts.csv"},
}
PEOPLE: dict[str, Any] = {
    **NOISY,
    "quasi_identifiers": [{"column": "age", "hierarchy": {"intervals": ["10"]}}],
    "require": {"k_anonymity": {"k": "2"}},
    "method": {"generalise": {"levels": {"age": "1"}}},
    "output": {"target": "out/people.csv"},
}
KINDS = ["open", "append", "write", "fsync", "rename", "unlink", "lock", "mkdir"]
NIGHTLY = os.environ.get("HYPOTHESIS_PROFILE") == "nightly"


def project(folder: Path, connections: Any = None, **releases: Any) -> Path:
    """A project with a register and a budget."""
    content = {"version": "1", "releases": releases, **({"connections": connections} if connections else {})}
    rows = "".join(f"{20 + n % 10},{['flu', 'cold', 'gout'][n % 3]}\n" for n in range(30))
    folder.mkdir(exist_ok=True)
    (folder / "people.csv").write_text(f"age,illness\n{rows}")
    (folder / "privacy.yml").write_text(json.dumps(content))
    (folder / "b.yml").write_text("file: b.csv\nsensitive: illness\ncolumns: [age]\n")
    (folder / "b.csv").write_text("age,illness\n90,flu\n")
    assert call("register", "add", "b", folder / "b.yml", "--project", folder).exit == 0
    assert call("budget", "limit", "--epsilon", "1000", "--project", folder).exit == 0
    return folder


def run(folder: Path, *more: str) -> Told:
    return call("run", "--json", *more, "--project", folder)


def tickets(folder: Path) -> list[str]:
    """What the ledger holds."""
    return [charge.ticket for charge in Ledger(folder / FILE_NAME).account().charges]


def strays(folder: Path) -> list[str]:
    """What no finished run leaves."""
    return [
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.name.startswith((".", "tmp")) or path.name.endswith(".new")
    ]


def whole(folder: Path) -> None:
    """Everything that is out verifies, was paid for, and is in the register."""
    for place in (folder / "out").glob("*.manifest.json"):
        content = verified(place)
        registered = [entry.name for entry in Register(folder / REGISTER).history()]
        assert content.release in registered
        if content.method == "noisy_counts":
            assert content.claims["ledger"].removeprefix("charged as ") in tickets(folder)


# -- kills ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def run_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project of both releases after a first run."""
    folder = project(tmp_path_factory.mktemp("run_once"), people=PEOPLE, counts=NOISY)
    assert run(folder).exit == 0
    return folder


@pytest.fixture(scope="module")
def operations(run_once: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """How many operations of each kind a second run has."""
    folder = shutil.copytree(run_once, tmp_path_factory.mktemp("counted"), dirs_exist_ok=True)
    return kills.counted(lambda: run(folder, "--overwrite"))


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_killed_at_an_operation_of_any_kind_is_mended_by_the_next(
    run_once: Path, tmp_path: Path, operations: Any, kind: str
) -> None:
    seed = random.randrange(10**9)
    draw = random.Random(seed)
    folder = shutil.copytree(run_once, tmp_path / "project")
    assert operations[kind], operations
    for _ in range(30 if NIGHTLY else 1):
        at = draw.randint(1, operations[kind])
        # a run also locks what others left in the temporary folder, and one after it finds fewer of these
        while not any(kills.killed(lambda: run(folder, "--overwrite"), at, kind=kind) for _ in range(2)):
            assert at > 1, (seed, kind)
            at = draw.randint(1, at - 1)
        assert run(folder, "--overwrite").exit == 0, (seed, kind, at)
        whole(folder)
        assert not strays(folder), (seed, kind, at)


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_registered_table_whose_run_ends_at_its_commit_is_mended_by_the_next(
    tmp_path: Path, moment: str
) -> None:
    store = {"store": {"type": "duckdb", "path": "store.db"}}
    table = {**PEOPLE, "output": {"connection": "store", "relation": "published"}}
    folder = project(tmp_path / "project", store, people=table)

    def ended() -> None:
        execute = DuckDB._run

        def at_commit(self: Any, query: Any, *given: Any) -> Any:
            if query.origin == "commit" and moment == "before":
                os.kill(os.getpid(), signal.SIGKILL)
            done = execute(self, query, *given)
            if query.origin == "commit":
                os.kill(os.getpid(), signal.SIGKILL)
            return done

        DuckDB._run = at_commit  # type: ignore[method-assign]
        run(folder)

    assert kills.apart(ended) == signal.SIGKILL
    if moment == "before":
        assert kills.apart(ended) == signal.SIGKILL
    told = run(folder)
    assert told.codes == ([] if moment == "before" else ["target_exists"]), told.out
    place = folder / "target" / "people.manifest.json"
    assert call("verify", place, "--project", folder).exit == 0
    registered = [entry.name for entry in Register(folder / REGISTER).history()]
    assert registered == ["b", "people"]
    assert call("register", "verify", "--project", folder).exit == 0


# -- full, locked, without rights --------------------------------------------------------------------------


def small_disk(
    folder: Path, words: str, before: Callable[[], Any] = bool, size: str = "64k"
) -> subprocess.CompletedProcess[str]:
    """Run words in a shell where `out` of a folder is a small disk, in a name space of its own."""
    if not shutil.which("unshare"):
        pytest.skip("needs a disk of its own: unshare")
    before()
    (folder / "out").mkdir(exist_ok=True)
    mounting = f"mount -t tmpfs -o size={size} tmpfs {folder}/out && mkdir {folder}/out/d"
    mounting += " && echo mounted >&2"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "P": f"{sys.executable} -m privacy_sql"}
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", f"{mounting} || exit 99; {words}"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if "mounted" not in done.stderr:
        pytest.skip("needs a disk of its own: mount")
    return done


def test_on_a_full_disk_nothing_is_published_and_nothing_is_paid(tmp_path: Path) -> None:
    folder = project(tmp_path / "project", people=PEOPLE, counts=NOISY)
    full = "rmdir out/d; dd if=/dev/zero of=out/rest bs=1k count=100 2>/dev/null"
    done = small_disk(
        folder, f"{full}; for n in 1 2 3; do $P run --json; echo; done; ls -A out; rm out/rest; $P run"
    )
    answers = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert len(answers) == 3, done.stderr
    for answer in answers:
        codes = [error["code"] for error in answer["errors"]]
        assert answer["exit"] == 4 and set(codes) == {"cannot_write"} and len(codes) == 2, codes
    assert "rest\n" in done.stdout and ".csv\n" not in done.stdout.split("rest\n")[0]
    assert len(tickets(folder)) == 1 and done.returncode == 0, done.stdout


@pytest.mark.parametrize("blocks", [3, *(range(1, 40, 3) if NIGHTLY else [])])
def test_where_files_may_not_grow_nothing_is_published_and_the_next_run_goes_through(
    tmp_path: Path, blocks: int
) -> None:
    """A limit on the size of files, which every machine has, unlike a small disk of one's own."""
    folder = project(tmp_path / "project", people=PEOPLE, counts=NOISY)

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (512 * blocks, 512 * blocks))

    words = [sys.executable, "-m", "privacy_sql", "run", "--json", "--overwrite", "--project", str(folder)]
    for _ in range(2):
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, preexec_fn=limited)
        assert done.returncode in ((4,) if blocks < 4 else (0, 4)), done.stdout + done.stderr
        whole(folder)
    assert blocks > 3 or not list(folder.glob("out/*.csv"))
    assert run(folder, "--overwrite").exit == 0
    whole(folder)
    assert not strays(folder)


@pytest.mark.parametrize("room", [24, *(range(4, 80, 4) if NIGHTLY else [])])
def test_on_a_disk_that_fills_twice_the_next_run_mends_what_is_left(tmp_path: Path, room: int) -> None:
    """The whole project lies on the small disk: the ledger, the register and what is published."""
    folder = project(tmp_path / "project", people=PEOPLE, counts=NOISY)
    assert run(folder).exit == 0
    fill = f"dd if=/dev/zero of=out/d/rest bs=1k count=$(($(df -k --output=avail out | tail -1) - {room}))"
    done = small_disk(
        folder,
        "cp -a privacy* people.csv b.* target out/d; mkdir out/d/out; cp -a kept/* out/d/out; "
        f"{fill} 2>/dev/null; for n in 1 2; do $P run --json --overwrite --project out/d; echo; done; "
        "rm out/d/rest; $P run --json --overwrite --project out/d; cp -a out/d after",
        before=lambda: shutil.copytree(folder / "out", folder / "kept"),
        size="512k",
    )
    answers = [json.loads(line)["exit"] for line in done.stdout.splitlines() if line.startswith("{")]
    assert len(answers) == 3 and set(answers[:2]) <= {0, 4} and answers[2] == 0, (answers, done.stderr)
    whole(folder / "after")
    assert not strays(folder / "after")


def test_without_rights_or_room_to_write_nothing_is_paid(tmp_path: Path) -> None:
    folder = project(tmp_path / "project", counts=NOISY)
    os.symlink("/proc/self", folder / "out")  # a folder in which nobody makes a file
    for _ in range(3):
        told = run(folder)
        assert told.exit == 4 and told.codes == ["cannot_write"], told.out
    (folder / "out").unlink()
    os.symlink("/proc/self", folder / "compiled")
    shutil.rmtree(folder / "target")
    (folder / "target").mkdir()
    os.symlink("/proc/self", folder / "target" / "records")
    assert run(folder).exit == 4
    assert tickets(folder) == [] and not (folder / "out" / "counts.csv").exists()


def test_a_table_that_cannot_be_written_is_not_paid(tmp_path: Path) -> None:
    store = {"store": {"type": "duckdb", "path": "store.db"}}
    table = {**NOISY, "output": {"connection": "store", "relation": "nowhere.published"}}
    folder = project(tmp_path / "project", store, counts=table)
    assert run(folder).exit == 4 and tickets(folder) == []
    content = json.loads((folder / "privacy.yml").read_text())
    content["releases"]["counts"]["output"]["relation"] = "published"
    (folder / "privacy.yml").write_text(json.dumps(content))
    assert run(folder).exit == 0 and len(tickets(folder)) == 1
    assert run(folder).exit == 2 and len(tickets(folder)) == 1  # it exists


def test_while_another_run_holds_the_folder_nothing_is_paid(tmp_path: Path) -> None:
    import fcntl

    folder = project(tmp_path / "project", counts=NOISY)
    (folder / "out").mkdir()
    handle = os.open(folder / "out", os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    assert run(folder).codes == ["busy"] and tickets(folder) == []
    os.close(handle)
    assert run(folder).exit == 0 and len(tickets(folder)) == 1
    assert run(folder).codes == ["target_exists"] and len(tickets(folder)) == 1


def test_of_two_noisy_runs_at_once_one_is_paid_and_published(tmp_path: Path) -> None:
    folder = project(tmp_path / "project", counts=NOISY)
    words = [sys.executable, "-m", "privacy_sql", "run", "--json", "--project", str(folder)]
    both = [subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    answers = [json.loads(child.communicate()[0]) for child in both]
    assert sorted(answer["exit"] for answer in answers) == [0, 2], answers
    assert len(tickets(folder)) == 1
    whole(folder)


@pytest.mark.parametrize("point", ["_true_counts", "_refuse_repeated", "_view"])
def test_what_fails_before_the_draw_is_not_paid_and_what_is_drawn_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise PrivacySqlError("planted", "a fault")

    folder = project(tmp_path / "project", counts=NOISY)
    monkeypatch.setattr(noisy_counts, point, fail)
    assert "planted" in run(folder).codes
    assert len(tickets(folder)) == (point == "_view")
    assert not (folder / "out" / "counts.csv").exists()


def test_a_server_that_ends_a_connection_leaves_the_old_table_and_its_manifest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from privacy_sql.engines.postgres import Postgres

    engines.connected("postgres").close()
    store = {"store": {"type": "postgres", "dsn_env": "PRIVACY_SQL_TEST_DSN"}}
    table = {**PEOPLE, "output": {"connection": "store", "relation": "published"}}
    folder = project(tmp_path / "project", store, people=table)
    (folder / REGISTER).unlink()  # a registered table is not overwritten
    Path(f"{folder / REGISTER}.head").unlink()
    assert run(folder).exit == 0
    place = folder / "target" / "people.manifest.json"
    old = place.read_bytes()
    write: Callable[..., Any] = Postgres.write_table

    def ended(self: Any, *given: Any) -> None:
        write(self, *given)
        number = self.connection.info.backend_pid
        with engines.other() as somebody:
            somebody.execute(f"select pg_terminate_backend({number})")

    with monkeypatch.context() as patch:
        patch.setattr(Postgres, "write_table", ended)
        assert run(folder, "--overwrite").exit == 4
    assert place.read_bytes() == old and read(place).release == "people"
    assert call("verify", place, "--project", folder).exit == 0
    assert run(folder, "--overwrite").exit == 0
    engines.connected("postgres").close()  # the next test finds no table


def test_the_engine_of_these_tests_is_the_one_that_is_killed() -> None:
    assert DuckDB._run.__qualname__ == "DuckDB._run"
