"""Verbs about several releases: one that has no answer is named, and the others have theirs."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

import privacy_sql as ps
from tests.command_line import call
from tests.project.test_project import PROJECT, RELEASE, write

MARGINALS = {**RELEASE, "require": {"k_link": {"k": "2"}}, "method": {"marginals": {}}}
DIVERSE = {**RELEASE, "require": {"k_anonymity": {"k": "2"}, "l_diversity": {"l": "2"}}}


def project(folder: Path, **releases: dict[str, Any]) -> Path:
    content = copy.deepcopy(PROJECT)
    content["releases"] = {
        name: {**release, "output": {"target": f"out/{name}.csv"}} for name, release in releases.items()
    }
    return write(folder, content)


@pytest.mark.parametrize(
    ("words", "field"),
    [
        (["curve"], "curves"),
        (["skyline"], "skylines"),
        (["facts"], "answers"),
        (["attack", "knowledge"], "attacks"),
        (["curve", "--every-choice"], "every_choice"),
    ],
    ids=" ".join,
)
def test_marginals_do_not_cost_other_releases_their_answer(
    tmp_path: Path, words: list[str], field: str
) -> None:
    project(tmp_path, counts=MARGINALS, people=DIVERSE, others=DIVERSE)
    told = call(*words, "--project", tmp_path, "--json")
    assert {part["name"] for part in told.json[field]} - {"counts"} == {"people", "others"}, told.everything
    assert told.exit == 2 and {error["where"] for error in told.json["errors"]} == {"counts"}
    alone = call(*words, "--select", "counts", "--project", tmp_path, "--json")
    assert alone.exit == 2 and alone.codes == told.codes[: len(alone.codes)]


@pytest.mark.parametrize(
    ("verb", "field"), [("search", "searches"), ("check", "releases"), ("profile", "tables")]
)
def test_a_release_that_cannot_be_read_costs_the_others_nothing(
    tmp_path: Path, verb: str, field: str
) -> None:
    gone = {**DIVERSE, "source": {"file": "gone.csv"}}
    project(tmp_path, gone=gone, people=DIVERSE, others=DIVERSE)
    told = call(verb, "--project", tmp_path, "--json")
    names = list(told.json[field]) if verb == "profile" else [part["name"] for part in told.json[field]]
    assert names == ["people", "others"], told.everything
    assert told.exit in (2, 3) and [error["where"] for error in told.json["errors"]] == ["gone"]
    assert told.json["safe"] is not True
    assert "gone: no answer" in call(verb, "--project", tmp_path).out or verb == "profile"


def test_what_was_answered_before_an_interrupt_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from privacy_sql.studies import disclosure_curve

    project(tmp_path, first=DIVERSE, second=DIVERSE, third=DIVERSE)
    whole, asked = disclosure_curve.curves, []

    def interrupted(engine: Any, subject: Any, facts: int) -> Any:
        asked.append(subject.name)
        if len(asked) == 2:
            raise KeyboardInterrupt
        return whole(engine, subject, facts)

    monkeypatch.setattr(disclosure_curve, "curves", interrupted)
    told = call("curve", "--project", tmp_path, "--json")
    assert (told.exit, told.codes, asked) == (130, ["interrupted"], ["first", "second"])
    assert [part["name"] for part in told.json["curves"]] == ["first"]


def test_a_published_table_is_verified_by_its_name(tmp_path: Path) -> None:
    content = copy.deepcopy(PROJECT)
    content["connections"] = {"store": {"type": "duckdb", "path": "store.db"}}
    output = {"connection": "store", "relation": "people_public"}
    marginals = {**MARGINALS, "output": {"connection": "store", "relation": "counts_public"}}
    content["releases"] = {"people": {**DIVERSE, "output": output}, "counts": marginals}
    write(tmp_path, content)
    assert call("run", "--project", tmp_path).exit == 0
    manifest = json.loads((tmp_path / "target" / "counts.manifest.json").read_text())
    parts = [part["relation"] for part in manifest["output"]["relations"]]
    for name in ("people_public", *parts):
        told = call("verify", name, "--project", tmp_path, "--json")
        assert told.exit == 0 and told.json["verified"], told.everything
    assert call("check", "people_public", "--project", tmp_path).exit == 0
    with ps.connect(f"duckdb:{tmp_path / 'store.db'}") as engine:
        engine.connection.execute("delete from people_public")
    told = call("verify", "people_public", "--project", tmp_path, "--json")
    assert (told.exit, told.codes) == (1, ["output_changed"])
    unknown = call("verify", "nobody_public", "--project", tmp_path, "--json")
    assert (unknown.exit, unknown.codes) == (2, ["no_manifest"])


@pytest.mark.parametrize("below", ["", "more"])
def test_a_file_where_a_folder_is_expected_is_a_usage_error(tmp_path: Path, below: str) -> None:
    project(tmp_path, people=DIVERSE)
    assert call("run", "--project", tmp_path).exit == 0
    taken = tmp_path / "taken"
    taken.write_text("mine")
    for words in (
        ["compile", "--dbt", "--into", taken / below],
        ["report", "-o", taken / below],
        ["experiment", "martin", "--data", tmp_path, "-o", taken / below],
    ):
        told = call(*words, "--project", tmp_path, "--json")
        assert (told.exit, told.codes) == (2, ["no_folder"]), (words, told.everything)
    assert taken.read_text() == "mine"


def test_a_report_of_what_had_no_safe_choice_says_so(tmp_path: Path) -> None:
    never = {**DIVERSE, "require": {"k_anonymity": {"k": "99"}}, "method": {"full_domain": {}}}
    project(tmp_path, never=never)
    assert call("run", "--project", tmp_path).exit == 5
    told = call("report", "--project", tmp_path).out
    assert "never: NOT SAFE: no safe choice was found, internal report" in told
