"""What is signed is two sheets of paper, whatever is published and on whichever paper."""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import call
from tests.reporting.browser import PAPER, browser, opened, printed

SIGNED = {
    "purpose": "Which illnesses become common where",
    "recipient": "The city's department of health",
    "conditions": "Not to be passed on, not to be joined with other tables",
    "name": "Somebody Responsible",
    "role": "Data protection officer",
    "review": "2027-11-19",
}
REQUIRE: dict[str, Any] = {
    "k_anonymity": {"k": "5"},
    "l_diversity": {"l": "2"},
    "t_closeness": {"t": "0.9"},
    "ck_safety": {"c": "0.99", "k": "1"},
}


def project(folder: Path, columns: int) -> Path:
    """A release of so many columns, with one more that is published as it is and singles people out."""
    draw = random.Random(columns)
    quasi = [f"column_number_{n}" for n in range(columns - 2)]
    rows = [
        [*(draw.choice(["north", "south"]) for _ in quasi), draw.randrange(90), draw.choice("abcdef")]
        for _ in range(400)
    ]
    header = [*quasi, "hours_of_work", "illness"]
    lines = [",".join(map(str, row)) for row in [header, *rows]]
    (folder / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    release = {
        "source": {"file": "people.csv"},
        "quasi_identifiers": [{"column": name, "hierarchy": "keep_or_drop"} for name in quasi],
        "sensitive": {"column": "illness"},
        "insensitive": {"columns": ["hours_of_work"], "acknowledge": "The recipients study working hours"},
        "require": REQUIRE,
        "method": {"generalise": {"levels": dict.fromkeys(quasi[3:], "1")}},
        "signoff": {**SIGNED, "reasons": {"k_anonymity": "What the ministry asks for"}},
        "output": {"target": "out/people.csv"},
    }
    before = {key: value for key, value in release.items() if key not in ("insensitive", "signoff")}
    before |= {"drop": ["hours_of_work"], "require": {"k_anonymity": {"k": "4"}}}
    # the page says what is different from the release before, and what a search found
    for which in (before, release):
        content = {"version": "1", "name": "A survey with a long name", "releases": {"people": which}}
        (folder / "privacy.yml").write_text(json.dumps(content), encoding="utf-8")
        told = call("run", "--overwrite", "--project", folder)
        assert told.exit == 0, told.everything
    if columns < 20:  # of more there are too many choices to measure
        assert call("search", "--project", folder).exit == 0
    assert call("report", "--project", folder, "--audience", "internal").exit == 0
    return folder / "target" / "report" / "people.html"


@pytest.fixture(scope="module")
def driver() -> Iterator[Any]:
    with browser() as found:
        yield found


@pytest.fixture(scope="module", params=[3, 10, 26])
def page(driver: Any, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return project(tmp_path_factory.mktemp(f"of{request.param}"), request.param)


def sheets(pdf: Path) -> list[str]:
    """The text of every printed sheet."""
    if shutil.which("pdftotext") is None:
        pytest.skip("needs pdftotext: Debian's poppler-utils")
    told = subprocess.run(["pdftotext", str(pdf), "-"], check=True, capture_output=True)
    return [" ".join(sheet.split()) for sheet in told.stdout.decode().split("\f")[:-1]]


@pytest.mark.parametrize("paper", PAPER)
def test_what_is_signed_is_two_sheets(driver: Any, page: Path, tmp_path: Path, paper: str) -> None:
    opened(driver, page)
    pdf = tmp_path / "page.pdf"
    pdf.write_bytes(printed(driver, paper))
    decision, checked, annex, *_ = found = sheets(pdf)
    manifest = json.loads((page.parents[2] / "out" / "people.csv.manifest.json").read_text(encoding="utf-8"))
    checksum = manifest["output"]["sha256"]
    assert "1 of 2" in decision and f"The signature covers people.csv, SHA-256 {checksum[:8]}" in decision
    for told in (*SIGNED.values(), "Approve with conditions", "Not asked:", "What the ministry asks for"):
        assert told in decision, told
    assert "Since the release before:" in decision and "The fix:" in decision
    assert "2 of 2" in checked and "4 of 4 requirements hold" in checked and "Detail kept" in checked
    assert "Annex" in annex and "2 of 2" not in annex and "What an analyst will notice" not in annex
    # sheets of two releases cannot be mixed
    assert [sheet for sheet in found if f"{checksum[:8]} · INTERNAL" not in sheet] == []


def test_a_table_too_long_for_the_first_sheet_stands_whole_in_the_annex(driver: Any, page: Path) -> None:
    opened(driver, page)
    names = driver.execute_script(
        "return Array.from(document.querySelectorAll('.cols tbody th')).map(c => c.textContent)"
    )
    columns = json.loads((page.parents[2] / "privacy.yml").read_text())["releases"]["people"]
    wanted = {each["column"] for each in columns["quasi_identifiers"]} | {"hours_of_work", "illness"}
    assert set(names) == wanted


def test_phone_rules_are_for_screens_and_no_text_is_below_eleven_pixels(page: Path) -> None:
    """Paper is narrow too: a rule for phones that applied there would print a page of a phone."""
    style = " ".join(re.findall(r"<style>(.*?)</style>", page.read_text(encoding="utf-8"), re.DOTALL))
    asked = re.findall(r"@media ([^{]*)", style)
    assert [rule for rule in asked if "max-width" in rule] and "print" in "".join(asked)
    for rule in asked:
        assert rule.startswith("screen and ") or rule.strip() == "print", rule
    # what a browser prints at the foot of a sheet is no text of the page
    sizes = re.findall(r"font-size: ([\d.]+)px", re.sub(r"@bottom-right \{.*?\}", "", style))
    assert len(sizes) > 30 and min(map(float, sizes)) >= 11


def test_charts_have_no_text_of_their_own_that_would_shrink_with_them(page: Path) -> None:
    drawings = re.findall(r"<svg.*?</svg>", page.read_text(encoding="utf-8"), re.DOTALL)
    assert len(drawings) > 5
    assert [each for each in drawings if "<text" in each or "<style" in each] == []


def test_on_paper_closed_parts_stay_closed_and_colours_are_light(driver: Any, page: Path) -> None:
    opened(driver, page)
    chosen = [{"name": "prefers-color-scheme", "value": "dark"}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": chosen})
    paper = "getComputedStyle(document.body).backgroundColor"
    ink = "getComputedStyle(document.querySelector('h2:not(.vh)')).color"
    background, colour = (driver.execute_script(f"return {each}") for each in (paper, ink))
    folded = "Array.from(document.querySelectorAll('.annex details')).filter(d => d.open).length"
    try:
        assert background == "rgb(255, 255, 255)"
        assert max(map(int, re.findall(r"\d+", colour)[:3])) < 170
        assert driver.execute_script(f"return {folded}") == 0
    finally:
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
