"""Whose file is that? What is not ours, or is something we read or keep, is never written over."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from privacy_sql.experiments import Figure, save
from tests.command_line import Told, call
from tests.test_project import PROJECT, write


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a folder that is not ours to change."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refused(told: Told, *codes: str) -> dict[str, str]:
    """The one error of a refusal with one of these codes."""
    assert told.exit == 2, told.everything
    (error,) = told.json["errors"]
    assert error["code"] in codes, error
    return error


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project that has been run, with a budget and a register."""
    write(tmp_path, PROJECT)
    assert call("budget", "limit", "--epsilon", "2", "--project", tmp_path).exit == 0
    assert call("run", "--project", tmp_path).exit == 0
    place = tmp_path / "out" / "people.csv.manifest.json"
    assert call("register", "add", "people", place, "--project", tmp_path).exit == 0
    return tmp_path


# -- a manifest vouches for the files it names ----------------------------------------------------------


def test_a_manifest_under_the_name_of_another_file_vouches_for_nothing(folder: Path) -> None:
    out = folder / "out"
    other = out / "other.csv"
    other.write_text("age,illness\n21,flu\n")
    shutil.copy(out / "people.csv.manifest.json", out / "other.csv.manifest.json")
    for named in (other, out / "other.csv.manifest.json"):
        for verb in ("verify", "report"):
            told = call(verb, "--json", named, "--project", folder)
            assert (told.exit, told.codes) == (1, ["other_file"]), told.everything
            assert "other.csv" in told.json["errors"][0]["message"]
    assert not list(out.glob("*.html"))
    assert call("verify", out / "people.csv").exit == 0


def test_a_manifest_that_names_a_file_elsewhere_vouches_for_nothing(folder: Path) -> None:
    from privacy_sql import manifest

    place = folder / "out" / "people.csv.manifest.json"
    content = manifest.read(place)
    (folder / "people.csv").write_bytes((folder / "out" / "people.csv").read_bytes())
    for elsewhere in ("../people.csv", str(folder / "people.csv"), "./people.csv"):
        place.write_bytes(manifest.canonical({**content, "output": {**content["output"], "file": elsewhere}}))
        assert call("verify", "--json", folder / "out" / "people.csv").codes == ["other_file"]


def test_the_manifest_of_a_table_says_nothing_of_a_file(folder: Path) -> None:
    from privacy_sql import manifest

    place = folder / "out" / "people.csv.manifest.json"
    content = manifest.read(place)
    place.write_bytes(manifest.canonical({**content, "output": {"relation": "people", "n_rows": 1}}))
    for verb in ("verify", "report"):
        assert call(verb, "--json", folder / "out" / "people.csv", "--project", folder).codes == [
            "other_file"
        ]


def test_every_part_of_a_release_leads_to_its_manifest(tmp_path: Path) -> None:
    changed: Any = json.loads(json.dumps(PROJECT))
    (release,) = changed["releases"].values()
    release["method"] = {"bucketize": {"by": ["zip"], "layout": "two_tables"}}
    release["require"] = {"l_diversity": {"l": "2"}}
    write(tmp_path, changed)
    told = call("run", "--json", "--project", tmp_path)
    assert told.exit == 0, told.everything
    parts = sorted((tmp_path / "out").glob("people.*.csv"))
    assert len(parts) == 2
    for part in (*parts, tmp_path / "out" / "people.csv.manifest.json", tmp_path / "out" / "people.csv"):
        assert call("verify", part).exit == 0, part
    stray = tmp_path / "out" / "people.more.csv"
    stray.write_text("age\n1\n")
    assert call("verify", "--json", stray).codes == ["no_manifest"]
    parts[1].write_text("changed")
    assert call("verify", "--json", parts[0]).codes == ["output_changed"]


# -- reports, pictures, figures, projects ------------------------------------------------------------------


def test_a_report_is_written_over_reports_only(folder: Path) -> None:
    place = folder / "out" / "people.csv.manifest.json"
    page = folder / "mine.html"
    page.write_text("<!DOCTYPE html><title>mine</title>")
    os.symlink(folder / "people.csv", folder / "linked.html")
    os.link(folder / "people.csv", folder / "hard.html")
    targets = ["people.csv", "privacy.yml", "mine.html", "linked.html", "hard.html", "out/people.csv"]
    targets += ["privacy_ledger.jsonl", "privacy_ledger.jsonl.head", "privacy_register.jsonl", "out"]
    targets += ["target/private/source.key", "target/private/new.html", "out/people.csv.manifest.json"]
    targets += ["Privacy.YML", "new.manifest.json"]
    before = contents(folder)
    for name in targets:
        told = call("report", "--json", place, "-o", folder / name, "--project", folder)
        if name == "out":  # a folder: the report goes into it
            assert told.exit == 0 and (folder / "out" / "people.html").exists()
            (folder / "out" / "people.html").unlink()
            continue
        refused(told, "target_in_use", "target_exists")
    assert contents(folder) == before
    for _ in range(2):  # its own page is replaced without a question
        told = call("report", "--json", place, "-o", folder / "new.html", "--project", folder)
        assert told.exit == 0, told.everything


def test_the_pages_of_a_project_replace_nothing_of_somebody_else(folder: Path) -> None:
    site = folder / "site"
    site.mkdir()
    for name in ("index.html", "people.html"):
        (site / name).write_text("<html>mine</html>")
        error = refused(call("report", "--json", "-o", site, "--project", folder), "target_exists")
        assert str(site / name) in error["hint"]
        assert [path.name for path in site.iterdir()] == [name]
        (site / name).unlink()
    for _ in range(2):
        assert call("report", "-o", site, "--project", folder).exit == 0


def test_pictures_replace_pictures_of_ours_only(folder: Path) -> None:
    pytest.importorskip("matplotlib")
    words = ("report", "--json", "--static", "-o", folder / "site", "--project", folder)
    assert call(*words).exit == 0
    assert call(*words).exit == 0
    picture = min((folder / "site" / "people").glob("*.png"))
    picture.write_bytes(b"\x89PNG mine")
    refused(call(*words), "target_exists")
    assert picture.read_bytes() == b"\x89PNG mine"


def test_figures_replace_figures_of_ours_only(tmp_path: Path) -> None:
    figure = Figure("fig5", "A figure", ("k", "value"), ((0, 0.5), (1, 0.75)), x="k", y="value")
    for _ in range(2):
        assert len(save([figure], tmp_path / "ours")) == 3
    from privacy_sql.errors import UsageError

    for name, text in (("fig5.csv", "mine"), ("fig5.json", "{}"), ("fig5.json", "[1]")):
        (tmp_path / "theirs").mkdir(exist_ok=True)
        (tmp_path / "theirs" / name).write_text(text)
        with pytest.raises(UsageError, match="no figure of ours"):
            save([figure], tmp_path / "theirs")
        assert contents(tmp_path / "theirs") == {name: text.encode()}
        shutil.rmtree(tmp_path / "theirs")


def test_a_project_is_started_over_nothing(tmp_path: Path) -> None:
    write(tmp_path, PROJECT)
    before = contents(tmp_path)
    for words in (("--example",), ("--from", tmp_path / "people.csv")):
        refused(call("init", "--json", *words, tmp_path), "project_exists")
    assert contents(tmp_path) == before
