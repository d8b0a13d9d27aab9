"""A verb over several releases keeps what it finished before it is interrupted: the records of the others."""

from __future__ import annotations

import copy
import importlib
from pathlib import Path
from typing import Any

import pytest

from privacy_sql.reporting import records
from tests.command_line import call
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
