"""Verbs about a release of marginals: what they answer, and which of them refuse it by name."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from privacy_sql.cli.main import run
from privacy_sql.history.register import FILE_NAME, Register

PROJECT = """
version: 1
releases:
  people:
    source: {file: people.csv}
    quasi_identifiers:
      - {column: age, hierarchy: {intervals: [5, 20]}}
      - {column: sex, hierarchy: keep_or_drop}
    sensitive: {column: ill}
    require: {k_link: {k: 5}, maxent_l_diversity: {l: 2, c: 3}}
    method: {marginals: METHOD}
    output: {target: out/people.csv}
  table:
    source: {file: people.csv}
    quasi_identifiers:
      - {column: age, hierarchy: {intervals: [5, 20]}}
      - {column: sex, hierarchy: keep_or_drop}
    sensitive: {column: ill}
    require: {k_anonymity: {k: 5}}
    method: {generalise: {levels: {age: 2}}}
    output: {target: out/table.csv}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    chance = random.Random(5)
    rows = [f"{chance.randrange(20, 60)},{chance.choice('FM')},{chance.choice('abcd')}" for _ in range(300)]
    (tmp_path / "people.csv").write_text("\n".join(["age,sex,ill", *rows]) + "\n")
    (tmp_path / "privacy.yml").write_text(PROJECT.replace("METHOD", "{}"))
    return tmp_path


def _run(project: Path, *words: str) -> Any:
    return run([*words, "--project", str(project)])


def test_search_gives_the_best_collection_and_the_minimal_tables(project: Path) -> None:
    found = _run(project, "search", "--select", "people")
    assert found.exit == 0, found.errors
    assert found.more["optimal"]
    assert _run(project, "run", "--select", "people").exit == 0
    manifest = json.loads((project / "out" / "people.csv.manifest.json").read_text())
    assert manifest["choice"]["marginals"] == found.more["best"]["marginals"]
    assert found.more["best"]["values"]["kl"] <= min(t["values"]["kl"] for t in found.more["minimal"])
    assert all("ill" in table["levels"] for table in found.more["minimal"])
    assert found.more["minimise"] == "kl"


def test_a_release_of_the_project_is_injected_into_by_its_name(project: Path) -> None:
    (project / "privacy.yml").write_text(
        PROJECT.replace("METHOD", "{inject: table}").replace("{k_anonymity: {k: 5}}", "{k_link: {k: 5}}")
    )
    assert "Publish the table first" in str(_run(project, "run", "--select", "people").errors)
    assert _run(project, "run", "--select", "table").exit == 0
    assert _run(project, "run", "--select", "people").exit == 0
    marginals = json.loads((project / "out" / "people.csv.manifest.json").read_text())["choice"]["marginals"]
    assert any(m.get("age", 9) <= 2 and m.get("sex") == 0 and "ill" in m for m in marginals)


def test_search_refuses_what_means_nothing_for_marginals(project: Path) -> None:
    assert "--minimise does not apply to marginals" in str(
        _run(project, "search", "--minimise", "loss").errors
    )
    (project / "privacy.yml").write_text(PROJECT.replace("METHOD", "{collection: [{age: 1}]}"))
    assert "because the marginals are given" in str(_run(project, "search", "--select", "people").errors)


@pytest.mark.parametrize(
    "verb", [["curve"], ["skyline"], ["attack", "knowledge"], ["facts", "--fact", '"1" is a']]
)
def test_questions_about_groups_of_people_are_refused_by_name(project: Path, verb: list[str]) -> None:
    found = _run(project, *verb, "--select", "people")
    assert found.exit == 2
    assert "people publishes counts, not groups of people" in str(found.errors)


def test_a_registered_release_of_marginals_stops_no_other_run(project: Path) -> None:
    (project / "b.csv").write_text("age,ill\n20-39,a\n20-39,b\n40-59,a\n40-59,c\n")
    (project / "b.yml").write_text("file: b.csv\nsensitive: ill\ncolumns: [age]\n")
    assert _run(project, "register", "add", "b", str(project / "b.yml")).exit == 0
    assert _run(project, "run", "--select", "people").exit == 0
    assert set(Register(project / FILE_NAME).entries()) == {"b", "people"}
    assert _run(project, "run", "--select", "table").exit == 0
    assert _run(project, "run", "--select", "people", "--overwrite").exit == 0
