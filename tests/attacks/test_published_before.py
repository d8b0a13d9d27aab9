"""Releases that were out before there was a register."""

from __future__ import annotations

import json
import random
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import call

PLAN = """
version: 1
releases:
  first:
    source: {{file: people.csv}}
    quasi_identifiers: [{{column: age}}, {{column: sex, hierarchy: keep_or_drop}}]
    sensitive: {{column: ill}}
    require: {{k_anonymity: {{k: 2}}}}
    method: {method}
    output: {{target: out/first.csv}}
  second:
    source: {{file: people.csv}}
    quasi_identifiers:
      - {{column: age, hierarchy: {{intervals: [10, 40]}}}}
      - {{column: sex, hierarchy: keep_or_drop}}
    sensitive: {{column: ill}}
    require: {{k_anonymity: {{k: 2}}, composition: {{with: register, at: 0.5, max_exposed: 0.99}}}}
    method: {{generalise: {{levels: {{age: 1}}}}}}
    output: {{target: out/second.csv}}
"""


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("method", ["{microaggregate: {k: 2, together: true}}", "{multidimensional: {}}"])
def test_what_was_out_before_there_was_a_register_is_composed_with_as_if_there_had_been_one(
    tmp_path: Path, method: str, seed: int
) -> None:
    """Centres could not be registered in a way that anything could be composed with."""
    rng = random.Random(seed)
    sexes = ["a", "b", *([""] if "multi" in method else [])]
    rows = [f"{rng.randint(20, 49)},{rng.choice(sexes)},{rng.choice('xyz')}\n" for _ in range(24)]
    found = [
        _exposed(tmp_path / name, "".join(rows), method, early=name == "early") for name in ("early", "late")
    ]
    assert found[0] == found[1] is not None
    assert "not_kept" not in found[1]


def _exposed(folder: Path, rows: str, method: str, *, early: bool) -> Any:
    folder.mkdir()
    (folder / "privacy.yml").write_text(PLAN.format(method=method))
    (folder / "people.csv").write_text("age,sex,ill\n" + rows)
    register = folder / "privacy_register.jsonl"
    if early:
        register.touch()
    assert call("run", "--project", folder, "--select", "first").exit == 0
    if not early:
        waiting = folder / "target" / "private" / "groups"
        assert stat.S_IMODE(waiting.stat().st_mode) == 0o700
        assert all(stat.S_IMODE(file.stat().st_mode) == 0o600 for file in waiting.glob("*/*"))
        place = folder / "out" / "first.csv.manifest.json"
        assert call("register", "add", "first", place, "--project", folder).exit == 0
    told = call("run", "--json", "--project", folder, "--select", "second")
    assert told.exit in (0, 1), told.everything
    (release,) = told.json["releases"]
    (verdict,) = [each for each in release["verdicts"] if each["criterion"] == "composition"]
    assert verdict["witness"]["located"] == 24
    return json.dumps(verdict["value"])
