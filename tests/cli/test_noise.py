"""Noise is no rows: what the verbs say of a release that publishes counts with noise."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command_line import call

PROJECT = """
version: 1
releases:
  counts:
    source: {file: people.csv}
    quasi_identifiers: [{column: age, hierarchy: {intervals: [10]}}]
    sensitive: {column: illness}
    method:
      noisy_counts:
        {epsilon: 1, levels: {age: 1}, domains: {age: {from: 20, to: 39}, illness: [flu, cold]}MORE}
    output: {target: out/counts.csv}
"""


@pytest.fixture(params=["", ", marginals: [[illness]]"])
def project(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    (tmp_path / "privacy.yml").write_text(PROJECT.replace("MORE", request.param))
    (tmp_path / "people.csv").write_text("age,illness\n21,flu\n22,cold\n31,flu\n")
    return tmp_path


@pytest.mark.parametrize("verb", ["compile", "check", "search"])
def test_no_verb_takes_noise_for_rows(project: Path, verb: str) -> None:
    """No SELECT of the rows themselves is printed as what is published, before a run or after it."""
    pytest.importorskip("opendp", reason="needs the extra dp")
    for run_before in (False, True):
        if run_before:
            assert call("run", "--project", project).exit == 0
        told = call(verb, "--json", "--project", project)
        assert (told.exit, told.codes) == (2, ["no_groups"])
        assert "select" not in json.dumps(told.json).lower() and "compiled" not in told.json


def test_nobody_is_sent_to_draw_noise_again(project: Path) -> None:
    pytest.importorskip("opendp", reason="needs the extra dp")
    assert call("run", "--project", project).exit == 0
    told = call("check", "--json", project / "out" / "counts.csv")
    assert (told.exit, told.codes) == (5, ["not_judged"])
    (error,) = told.json["errors"]
    assert "budget show" in error["hint"] and "again" not in error["hint"]
