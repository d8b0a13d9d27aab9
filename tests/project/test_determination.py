"""The limit of the risk, for whom and why: in the manifest, in the report, and never judged."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.command_line import call

PROJECT = """
version: 1
releases:
  people:
    source: {file: people.csv}
    quasi_identifiers: [age]
    sensitive: illness
    weight: w
    require: {k_anonymity: {k: 2}}
    method: generalise
    output: {target: out/people.csv}
"""
SAID = """    determination:
      recipients: three <b>universities</b>
      threshold: 1/11
      why: public release
      valid_until: 2020-01-31
"""


def _project(folder: Path, said: str) -> Path:
    (folder / "people.csv").write_text("age,illness,w\n" + "3,flu,2\n3,cold,9\n4,flu,2\n4,cold,3\n")
    (folder / "privacy.yml").write_text(PROJECT + said)
    return folder


def _fields(page: str) -> dict[str, str]:
    return dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", page))


def test_a_determination_is_printed_and_its_blanks_are_blanks(tmp_path: Path) -> None:
    told = call("run", "--project", _project(tmp_path, SAID))
    assert told.exit == 0 and "valid until 2020-01-31" in told.everything
    manifest = tmp_path / "out" / "people.csv.manifest.json"
    said = json.loads(manifest.read_text(encoding="utf-8"))["determination"]
    assert said["threshold"] == "1/11" and "expert" not in said
    assert call("verify", manifest).exit == 0
    page = tmp_path / "page.html"
    words = ["--project", tmp_path, "--audience", "internal", "-o", page]
    assert call("report", manifest, *words).exit == 0
    text = page.read_text(encoding="utf-8")
    fields = _fields(text)
    assert fields["Limit of the risk"] == "1/11" and fields["Who determined it"] == ""
    assert fields["Recipients"] == "three &lt;b&gt;universities&lt;/b&gt;"
    # the limit stands beside the others, and its column says who is above it
    assert "People above 1/11" in text and "1/11 asks for 11 people" in text and "0.09 asks for 12" in text
    assert "Estimates from survey weights. They promise nothing" in text and "estimated 16 people" in text
    public = tmp_path / "public.html"
    assert call("report", manifest, "--project", tmp_path, "--audience", "public", "-o", public).exit == 0
    assert "universities" not in public.read_text(encoding="utf-8")


def test_without_one_every_field_is_a_blank(tmp_path: Path) -> None:
    assert call("run", "--project", _project(tmp_path, "")).exit == 0
    manifest = tmp_path / "out" / "people.csv.manifest.json"
    assert "determination" not in json.loads(manifest.read_text(encoding="utf-8"))
    page = tmp_path / "page.html"
    assert call("report", manifest, "--project", tmp_path, "--audience", "internal", "-o", page).exit == 0
    fields = _fields(page.read_text(encoding="utf-8"))
    assert all(fields[name] == "" for name in ("Recipients", "Limit of the risk", "Why this limit"))


def test_a_limit_that_is_missed_is_no_verdict(tmp_path: Path) -> None:
    told = call("run", "--project", _project(tmp_path, "    determination: {threshold: 0.01}\n"))
    assert told.exit == 0  # two people share a risk of a half; only a requirement can refuse that


def test_a_weight_that_is_none_stops_the_estimate_and_not_the_release(tmp_path: Path) -> None:
    _project(tmp_path, "")
    (tmp_path / "people.csv").write_text("age,illness,w\n" + "3,flu,2\n3,cold,0\n4,flu,2\n4,cold,3\n")
    assert call("run", "--project", tmp_path).exit == 0
    risk = call("risk", "--project", tmp_path)
    assert risk.exit == 3 and "w of 1 person is not a number of at least 1" in risk.everything
    run = json.loads((tmp_path / "target" / "records" / "people.json").read_text(encoding="utf-8"))["run"]
    assert "is not a number" in run["estimates"]["missing"] and run["risk"]["prosecutor_max"] == "1/2"


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("{expertt: x}", 'Did you mean "expert"'),
        ("{threshold: 9%}", "0.09 or 1/11"),
        ("{threshold: 1}", "0.09 or 1/11"),
        ("{threshold: nan}", "0.09 or 1/11"),
        ("{why: ''}", "must be a sentence"),
        ("{valid_until: soon}", "2027-01-31"),
    ],
)
def test_what_cannot_be_meant_is_told_with_its_place(tmp_path: Path, said: str, message: str) -> None:
    told = call("run", "--project", _project(tmp_path, f"    determination: {said}\n"))
    assert told.exit == 2 and message in told.everything
    assert "releases.people.determination" in told.everything
