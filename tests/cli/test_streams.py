"""Streams that are closed or full, signals, names of files: exit codes mean the same under all of them."""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import call
from tests.conftest import ROOT
from tests.project.test_project import PROJECT, write
from tests.test_faults import ended, everything, project, started

SAFE, UNSAFE = "k_anonymity(k=2)", "k_anonymity(k=3)"


def shell(words: str, folder: Path, **more: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of `$P ...` in a shell, P being the command line."""
    command = f"{sys.executable} -m privacy_sql"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "P": command, **more}
    done = subprocess.run(
        ["bash", "-c", words], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    # a machine that is busy makes any work long, and long work says how far it is
    return done.returncode, done.stdout, re.sub(r"(?m)^\d+ s: .*\n", "", done.stderr)


def check(require: str, more: str = "") -> str:
    return f"$P check --source people.csv --quasi age --require '{require}' {more}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text("age\n30\n30\n")
    return tmp_path


@pytest.mark.fault
@pytest.mark.parametrize(("require", "code"), [(SAFE, 0), (UNSAFE, 1)])
def test_closed_streams_change_no_exit_code(folder: Path, require: str, code: int) -> None:
    told = shell(check(require), folder)
    assert told[0] == code and SAFE[:11] in told[1] and not told[2]
    assert shell(check(require, "2>&-"), folder)[:2] == told[:2]
    assert shell(check(require, "2>/dev/full"), folder)[:2] == told[:2]
    assert shell(check(require, "<&- >&- 2>&-"), folder) == (code, "", "")
    # the reader has gone before the first word
    gone = f"set -o pipefail; {check(require)} | exec true"
    assert shell(gone, folder) == (code, "", "")


@pytest.mark.fault
@pytest.mark.parametrize("more", ["", "--json", "--help"])
@pytest.mark.parametrize("require", [SAFE, UNSAFE])
def test_an_answer_that_cannot_be_written_is_exit_four_and_one_line(
    folder: Path, more: str, require: str
) -> None:
    code, _, told = shell(check(require, f"{more} >/dev/full"), folder)
    assert code == 4 and told.count("\n") == 1 and "o space left" in told, told


def test_an_error_is_an_error_whoever_listens(folder: Path) -> None:
    for words in ("$P check 2>&-", "$P nothing 2>&-", "$P check 2>/dev/full", "$P check --json | exec true"):
        assert shell(f"set -o pipefail; {words}", folder)[0] == 2, words
    assert shell("set -o pipefail; $P --help | exec true", folder)[0] == 0


@pytest.mark.fault
def test_nothing_is_written_into_a_file_that_took_the_number_of_a_closed_stream(tmp_path: Path) -> None:
    folder = write(tmp_path, PROJECT)
    code, _, told = shell("$P run --unsafe-debug <&- 2>&-; $P verify out/people.csv", folder)
    assert code == 0, told


def test_files_of_any_name_are_published_in_any_locale(tmp_path: Path) -> None:
    (tmp_path / "dätä").mkdir()
    (tmp_path / "dätä" / "pé.csv").write_text("age,illness\n20,flu\n20,cold\n21,flu\n21,cold\n")
    release = {
        "source": {"file": "dätä/pé.csv"},
        "quasi_identifiers": [{"column": "age", "hierarchy": {"intervals": ["10"]}}],
        "sensitive": "illness",
        "require": {"k_anonymity": {"k": "2"}},
        "method": {"generalise": {"levels": {"age": "1"}}},
        "output": {"target": "öut/pé.csv"},
    }
    content = {"version": "1", "releases": {"pé": release}}
    (tmp_path / "privacy.yml").write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    for words in (
        "$P run",
        "$P verify öut/pé.csv",
        "$P register add pé öut/pé.csv.manifest.json",
        "$P register list",
        "$P report",
    ):
        code, told, wrong = shell(words, tmp_path, **locale)
        assert code == 0, (words, told, wrong)
    assert (tmp_path / "öut" / "pé.csv").is_file()


def test_a_name_that_is_no_text_is_refused(tmp_path: Path) -> None:
    name = b"p\xe9.csv"
    (tmp_path / os.fsdecode(name)).write_bytes(b"age\n30\n30\n")
    told = call(
        "check", "--json", "--source", tmp_path / os.fsdecode(name), "--quasi", "age", "--require", SAFE
    )
    assert (told.exit, told.codes) == (2, ["bad_name"])


@pytest.mark.parametrize(
    "words", [("register", "list"), ("budget", "show"), ("register", "verify"), ("search",)]
)
def test_what_only_reads_works_in_a_folder_that_may_only_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    write(tmp_path, PROJECT)
    assert call("budget", "limit", "--epsilon", "2", "--project", tmp_path).exit == 0
    assert call("run", "--project", tmp_path).exit == 0
    place = tmp_path / "out" / "people.csv.manifest.json"
    assert call("register", "add", "people", place, "--project", tmp_path).exit == 0
    before = call(*words, "--json", "--project", tmp_path)
    for lock in tmp_path.glob("*.lock"):
        lock.unlink()
    opened = os.open

    def read_only(path: Any, flags: int, *more: Any, **named: Any) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) and str(path).startswith(str(tmp_path)):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return opened(path, flags, *more, **named)

    monkeypatch.setattr(os, "open", read_only)
    assert call(*words, "--json", "--project", tmp_path).out == before.out
    told = call("budget", "limit", "--epsilon", "2", "--json", "--project", tmp_path)
    assert (told.exit, told.codes) == (4, ["cannot_write"])
    told = call("register", "add", "again", tmp_path / "privacy.yml", "--json", "--project", tmp_path)
    assert told.exit != 1 and "unexpected" not in told.out


def test_a_fault_of_the_system_is_told_as_such_and_is_never_an_answer(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from privacy_sql import api

    for problem in (BrokenPipeError(errno.EPIPE, "Broken pipe"), OSError(errno.EIO, "Input/output error")):

        def fail(*_: Any, problem: OSError = problem) -> None:
            raise problem

        monkeypatch.setattr(api, "examine", fail)
        told = call("check", "--json", "--source", folder / "people.csv", "--quasi", "age", "--require", SAFE)
        assert (told.exit, told.codes) == (4, ["system"])


@pytest.mark.fault
@pytest.mark.parametrize("signal_name", ["SIGTERM", "SIGHUP"])
def test_a_signal_that_ends_a_run_ends_it_as_an_interrupt_does(tmp_path: Path, signal_name: str) -> None:
    folder, spill = project(tmp_path / "project", "file"), tmp_path / "spill"
    spill.mkdir()
    assert ended(started(folder, spill)) == 0
    before = everything(folder, "file")
    assert ended(started(folder, spill, 9, signal_name)) == 130
    assert everything(folder, "file") == before
    assert not list(spill.iterdir())


ENDING = """
import atexit, sys, threading
def print_nothing(*_): pass
{more}
from privacy_sql.cli.main import command
command()
"""
AT_ITS_END = {
    "what asked to be called at the end is called": "atexit.register(print, 'called', flush=True)",
    "a thread that still works is waited for":
        "ends = threading.main_thread().join"
        "\nthreading.Thread(target=lambda: (ends(), print('called', flush=True))).start()",
    "whoever measures the program is asked at its end":
        "atexit.register(lambda: sys.getprofile() and print('called', flush=True))"
        "\nsys.setprofile(print_nothing)",
}  # fmt: skip


@pytest.mark.parametrize("said", AT_ITS_END)
@pytest.mark.parametrize(("require", "code"), [(SAFE, 0), (UNSAFE, 1)])
def test_the_program_ends_early_and_leaves_nothing_undone(
    folder: Path, said: str, require: str, code: int
) -> None:
    (folder / "end.py").write_text(ENDING.format(more=AT_ITS_END[said]))
    kept = folder / "kept"
    kept.mkdir()
    found = shell(check(require).replace("$P", f"{sys.executable} end.py"), folder, TMPDIR=str(kept))
    assert (found[0], found[2]) == (code, "") and found[1].endswith("called\n") and SAFE[:11] in found[1]
    assert list(kept.iterdir()) == []


def test_no_module_is_taken_apart_at_the_end_of_the_program(folder: Path) -> None:
    """What stands in a module goes with the memory: only the usual end calls what it holds to go."""
    held = (
        "class Held:\n    def __del__(self): print('taken apart', flush=True)\nsys.modules['held'] = Held()"
    )
    (folder / "end.py").write_text(ENDING.format(more=held))
    told = shell(check(SAFE).replace("$P", f"{sys.executable} end.py"), folder)
    assert told[0] == 0 and "taken apart" not in told[1]
