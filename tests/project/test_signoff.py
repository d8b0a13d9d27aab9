"""What a person decides and why stands in the project file, in the manifest, and in the report they sign."""

from __future__ import annotations

import html
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
    require: {k_anonymity: {k: 2}, l_diversity: {l: 2}}
    method: generalise
    output: {target: out/people.csv}
"""
SIGNOFF = """    signoff:
      purpose: research on flu
      recipient: the <b>university</b>
      name: A. Steward
      role: data protection officer
      review: 2027-01-31
      reasons: {k_anonymity: nobody is asked about alone}
"""


def _project(folder: Path, signoff: str) -> Path:
    (folder / "people.csv").write_text("age,illness\n" + "3,flu\n3,cold\n4,flu\n4,cold\n")
    (folder / "privacy.yml").write_text(PROJECT + signoff)
    return folder


def test_the_manifest_and_the_internal_report_say_for_whom_and_why(tmp_path: Path) -> None:
    _project(tmp_path, SIGNOFF)
    assert call("run", "--project", tmp_path).exit == 0
    manifest = tmp_path / "out" / "people.csv.manifest.json"
    said = json.loads(manifest.read_text(encoding="utf-8"))["signoff"]
    assert said["purpose"] == "research on flu"
    assert said["reasons"] == {"k_anonymity": "nobody is asked about alone"}
    assert call("verify", manifest).exit == 0
    for number, folder in enumerate(
        (tmp_path, tmp_path / "elsewhere")
    ):  # with records, and from a manifest alone
        page = tmp_path / f"{number}.html"
        words = ["--project", folder, "--audience", "internal", "-o", page]
        assert call("report", manifest, *words).exit == 0
        text = page.read_text(encoding="utf-8")
        fields = dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", text))
        assert fields["Purpose"] == "research on flu" and fields["Review on"] == "2027-01-31"
        assert html.unescape(fields["Recipient"]) == "the <b>university</b>" and "<b>uni" not in text
        assert fields["Signature"] == "" and "nobody is asked about alone" in text
    public = tmp_path / "public.html"
    assert call("report", manifest, "--project", tmp_path, "--audience", "public", "-o", public).exit == 0
    assert "research on flu" not in public.read_text(encoding="utf-8")


def test_a_manifest_without_a_signoff_is_as_it_was(tmp_path: Path) -> None:
    _project(tmp_path, "")
    assert call("run", "--project", tmp_path).exit == 0
    manifest = json.loads((tmp_path / "out" / "people.csv.manifest.json").read_text(encoding="utf-8"))
    assert "signoff" not in manifest


@pytest.mark.parametrize(
    ("signoff", "message"),
    [
        ("    signoff: {purposes: x}\n", 'Did you mean "purpose"'),
        ("    signoff: {purpose: ''}\n", "must be a sentence"),
        ("    signoff: {review: next year}\n", "2027-01-31"),
        ("    signoff: {reasons: {k_anonimity: x}}\n", 'Did you mean "k_anonymity"'),
    ],
)
def test_what_cannot_be_meant_is_told_with_its_place(tmp_path: Path, signoff: str, message: str) -> None:
    told = call("run", "--project", _project(tmp_path, signoff))
    assert told.exit == 2 and message in told.everything and "releases.people.signoff" in told.everything
