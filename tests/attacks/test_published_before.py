"""Releases that were out before there was a register."""

from __future__ import annotations

import contextlib
import json
import random
import stat
from pathlib import Path
from typing import Any

import pytest

from privacy_sql.history.register import Register
from tests.command_line import call
from tests.seeds import seeds

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


@pytest.mark.parametrize("seed", seeds(2))
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


SAME_PRINT = """
version: 1
releases:
  {name}:
    source: {{file: {name}.csv}}
    quasi_identifiers: [{{column: age, hierarchy: {{intervals: [10]}}}}]
    sensitive: {{column: ill}}
    require: {require}
    method: {method}
    output: {{target: out/{name}.csv}}
"""
TWICE = "{k_anonymity: {k: 2}}"
TOGETHER = "{k_anonymity: {k: 2}, composition: {with: register}}"


@pytest.mark.parametrize("how", ["early", "add", "overwritten"])
def test_two_versions_that_print_the_same_centres_are_both_composed_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """The second was read with the members of the first, where nobody of today was found."""
    register = tmp_path / "privacy_register.jsonl"

    def run(name: str, rows: str, method: str, require: str, *more: str) -> Any:
        (tmp_path / f"{name}.csv").write_text("age,ill\n" + rows)
        (tmp_path / "privacy.yml").write_text(SAME_PRINT.format(name=name, method=method, require=require))
        return call("run", "--json", "--project", tmp_path, *more)

    if how == "early":
        register.touch()
    centres, out = "{microaggregate: {k: 2}}", tmp_path / "out" / "first.csv"
    assert run("first", "20,flu\n24,cold\n40,a\n44,b\n", centres, TWICE).exit == 0
    printed = out.read_bytes()
    second = "21,flu\n23,cold\n41,a\n43,b\n"
    assert run("first", second, centres, TWICE, "--overwrite").exit == 0
    assert out.read_bytes() == printed
    if how == "add":
        place = out.with_name("first.csv.manifest.json")
        kept: list[Any] = []
        keep = Register.keep

        def killed(*given: Any, **more: Any) -> Any:
            if kept:
                raise OSError("killed")
            kept.append(keep(*given, **more))
            return kept[-1]

        monkeypatch.setattr(Register, "keep", killed)
        with contextlib.suppress(OSError):  # between the two versions
            assert call("register", "add", "first", place, "--project", tmp_path).exit
        monkeypatch.undo()
        assert len(kept) == 1 == len(register.read_text().splitlines())
        for _ in range(2):
            assert call("register", "add", "first", place, "--project", tmp_path).exit == 0
            assert len(register.read_text().splitlines()) == 2
    if how == "overwritten":  # a register that came later, and a version that replaces what stands
        register.touch()
        third = "21,flu\n23,hiv\n40,a\n44,b\n"
        assert run("first", third, centres, TWICE, "--overwrite").exit == 0
    told = run("last", "21,flu\n23,hiv\n40,a\n44,b\n", "{generalise: {levels: {age: 1}}}", TOGETHER)
    (verdict,) = [v for v in told.json["releases"][0]["verdicts"] if v["criterion"] == "composition"]
    assert (told.exit, verdict["safe"]) == (1, False)
    assert verdict["value"] == "1/2"  # whoever is 21 or 23 has flu or else nothing in common
