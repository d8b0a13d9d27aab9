"""A verb over several releases keeps what it finished before it is interrupted: the records of the others."""

from __future__ import annotations

import contextlib
import copy
import importlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from privacy_sql.reporting import records
from tests.command_line import call
from tests.conftest import ROOT
from tests.project.test_project import PROJECT, RELEASE, write

VERBS = [
    (["search"], "privacy_sql.api", "search", "search"),
    (["curve", "--every-choice"], "privacy_sql.studies.every_choice", "every_choice", "every_choice"),
    (["attack", "knowledge"], "privacy_sql.studies.knowledge_attack", "knowledge_attack", "attack_knowledge"),
]


@pytest.mark.parametrize(("words", "module", "function", "record"), VERBS)
def test_what_was_finished_before_an_interrupt_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], module: str, function: str, record: str
) -> None:
    content = copy.deepcopy(PROJECT)
    content["releases"] = {
        name: {**RELEASE, "output": {"target": f"out/{name}.csv"}} for name in ("first", "second")
    }
    write(tmp_path, content)
    whole = getattr(importlib.import_module(module), function)
    asked: list[str] = []

    def interrupted(engine: Any, subject: Any, *args: Any, **options: Any) -> Any:
        asked.append(subject.name)
        if len(asked) == 2:
            raise KeyboardInterrupt
        return whole(engine, subject, *args, **options)

    monkeypatch.setattr(f"{module}.{function}", interrupted)
    told = call(*words, "--project", tmp_path, "--json")
    assert (told.exit, told.codes) == (130, ["interrupted"])
    kept = [record in (records.read(tmp_path, name) or {}) for name in ("first", "second")]
    assert kept == [True, False]


@pytest.mark.parametrize("verb", ["run", "search", "check"])
def test_an_interrupt_that_a_library_turns_into_an_error_is_an_interrupt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    """As when it arrives while a module is loaded, or while the engine reads a frame."""
    from privacy_sql.engines.duckdb import DuckDB

    content = copy.deepcopy(PROJECT)
    content["releases"] = {name: {**RELEASE, "output": {"target": f"out/{name}.csv"}} for name in ("a", "b")}
    write(tmp_path, content)
    ask, asked = DuckDB.columns, []

    def ends(self: Any, *given: Any) -> Any:
        asked.append(given)
        if len(asked) == 2:
            with contextlib.suppress(KeyboardInterrupt):
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(5)
            raise ImportError("numpy could not be loaded")
        return ask(self, *given)

    monkeypatch.setattr(DuckDB, "columns", ends)
    told = call(verb, "--project", tmp_path, "--json")
    assert (told.exit, told.codes) == (130, ["interrupted"]), told.everything
    assert told.json["safe"] is not True and not (tmp_path / "out" / "b.csv").exists()
    assert call("verify", tmp_path / "privacy.yml", "--json").codes == ["no_manifest"]  # and it is over


def test_an_interrupt_inside_generated_code_ends_with_the_exit_code_of_an_interrupt(tmp_path: Path) -> None:
    """Python remembers it, and would end the program by a signal although the answer was given."""
    program = (
        "import sys\n"
        "from privacy_sql.cli import main\n"
        "from privacy_sql.cli.verbs import list as verb\n"
        "def stop(*_, **__):\n"
        "    exec('raise KeyboardInterrupt')\n"
        "verb.command.callback = stop\n"
        "main.main(['list', '--json'])\n"
    )
    (tmp_path / "program.py").write_text(program)
    words = [sys.executable, "-m", "program"]  # as a program is started from its entry point
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 130, done
    assert json.loads(done.stdout)["exit"] == 130
