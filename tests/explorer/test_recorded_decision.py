"""The decision of `examples/questions` is pressed again in a browser, and ends in the same files."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path

import privacy_sql as ps
from privacy_sql.project.reading import read
from tests.command_line import call
from tests.explorer.recorded import PLACE, REPORT, project, replay
from tests.explorer.served import served
from tests.reporting.browser import browser, complaints


def words_of(report: Path) -> set[str]:
    """What a report says of each requirement: cells of its tables, without what changes from run to run."""
    return set(re.findall(r"[a-z_]+\([a-z]=[^<)]*\)", report.read_text(encoding="utf-8")))


def test_the_recorded_decision_ends_in_the_recorded_files(tmp_path: Path) -> None:
    folder = project(tmp_path / "project")
    yml = folder / "privacy.yml"
    assert yml.read_text() == (PLACE / "before.yml").read_text()
    with browser() as driver, served(folder) as asker:
        replay(driver, asker)
        assert complaints(driver) == []
        levels = dict(asker.decision.levels)
        driver.get("about:blank")
    assert yml.read_text() == (PLACE / "after.yml").read_text()
    assert words_of(folder / REPORT) == words_of(PLACE / "report.html") != set()
    told = json.loads((folder / "out" / "people.csv.manifest.json").read_text())
    assert (
        told["choice"]["levels"]
        == levels
        == {"age": 2, "sex": 0, "zip": 3, "marital_status": 1, "education": 1}
    )
    assert told["rows_out"] == 20_000 and all(verdict["safe"] for verdict in told["verdicts"])
    assert ps.verify(folder / "out" / "people.csv")["release"] == "people"
    # what the page wrote is what `run` makes of the file
    again = call("run", "--project", folder, "--dry-run", "--overwrite", "--json").json["releases"][0]
    assert [v["value"] for v in again["verdicts"]] == [v["value"] for v in told["verdicts"]]


def test_the_recorded_files_hold_no_place_of_the_machine_they_were_made_on() -> None:
    for file in PLACE.iterdir():
        text = file.read_text(encoding="utf-8")
        places = {"/tmp/", "/home/", "/work/", f"{tempfile.gettempdir()}/"}
        assert not [place for place in places if place in text], file.name
        assert len(text) < 1_000_000, file.name


def test_what_was_saved_asks_for_more_than_what_was_there(tmp_path: Path) -> None:
    found = []
    for name in ("before", "after"):
        folder = project(tmp_path / name)
        (folder / "privacy.yml").write_text((PLACE / f"{name}.yml").read_text())
        (plan,) = read(folder).selected(())
        found.append({str(criterion) for criterion in plan.require})
    before, after = found
    assert after - before == {"k_anonymity(k=11)", "ck_safety(c=1/2, k=2)"}
    assert before - after == {"k_anonymity(k=10)"}
