"""Values of people stand on the page that was asked to name them and nowhere else; every cell is a canary."""

from __future__ import annotations

import html
import json
import random
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

from tests import canaries
from tests.canaries import MARK, OWN, RELEASED, STORE
from tests.command_line import call


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project of canaries, run once; each test works beside it and changes nothing that is out."""
    folder = canaries.project(tmp_path_factory.mktemp("named"))
    told = call("run", "--project", folder, "--select", "people")
    assert told.exit == 0 and MARK not in told.everything
    return folder


def holding(folder: Path) -> set[str]:
    """The files in which a canary sits, beside those of the user and the release itself."""
    mine = {*OWN, RELEASED, STORE}
    files = {file.relative_to(folder).as_posix(): file for file in folder.rglob("*") if file.is_file()}
    return {name for name, file in files.items() if name not in mine and MARK.encode() in file.read_bytes()}


def test_only_the_page_and_its_facts_hold_values_and_only_i_can_read_them(
    published: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder, pages = published, published / "pages"
    words = ["report", "--project", folder, "--select", "people", "-o", pages]
    caplog.set_level("DEBUG")
    # a page that everybody may read lies there already
    assert call(*words, "--audience", "internal").exit == 0
    (pages / "people.html").chmod(0o644)
    assert holding(folder) == set()
    told = call(*words, "--show-values", "--static", "--json")
    assert told.exit == 0, told.everything
    written = {"pages/people.html"} | {
        Path(file).relative_to(folder).as_posix() for file in told.json["reports"][0]["facts"]
    }
    assert holding(folder) == written and len(written) == 2
    assert {(folder / name).stat().st_mode & 0o777 for name in written} == {0o600}
    page = (pages / "people.html").read_text(encoding="utf-8")
    # keys, values and people are there, or this would show nothing
    assert all(f"{MARK}{kind}" in page for kind in "QSP")
    assert f"{MARK}F" not in page  # of a column that was dropped
    assert MARK not in told.everything + caplog.text
    told = call(*words, "--show-values", "--dry-run")
    assert told.exit == 0 and MARK not in told.everything
    # the next page in its place names nobody, and leaves no facts of the one that is gone
    told = call(*words, "--audience", "public")
    assert told.exit == 0 and holding(folder) == set()
    assert "PUBLIC." in (pages / "people.html").read_text(encoding="utf-8")
    assert MARK not in told.everything + caplog.text


@pytest.mark.parametrize("which", [["--select", "people"], [], [f"{RELEASED}.manifest.json"], [RELEASED]])
@pytest.mark.parametrize("how", [[], ["--dry-run"], ["--json"]])
def test_a_public_report_with_values_is_refused_however_it_is_asked_for(
    published: Path, tmp_path: Path, which: list[str], how: list[str]
) -> None:
    named = [published / word if word.startswith("out") else word for word in which]
    words = ["--project", published, "--audience", "public", "--show-values", "-o", tmp_path / "page", *how]
    told = call("report", *named, *words)
    assert told.exit == 2 and "names no values of people" in told.everything
    assert not list(tmp_path.iterdir()) and MARK not in told.everything


def test_facts_of_somebody_else_stay_where_they_are(published: Path) -> None:
    pages = published / "mine"
    words = ["report", "--project", published, "--select", "people", "-o", pages]
    assert call(*words).exit == 0
    own = pages / "people.facts.txt"
    own.write_text(f"{MARK}P1 not {MARK}S1\n")
    assert call(*words).exit == 0 and own.exists()
    told = call(*words, "--show-values", "--json")
    # what is not ours is not replaced either, and no page was written that would point to it
    assert told.exit != 0 and own.name in told.everything and MARK not in told.everything
    assert own.read_text().startswith(MARK) and "PUBLIC." in (pages / "people.html").read_text()
    own.unlink()


def test_facts_that_a_killed_run_left_hidden_go_with_the_next_page_of_that_name(published: Path) -> None:
    pages = published / "killed"
    words = ["report", "--project", published, "--select", "people", "-o", pages]
    (pages / "people.facts-3.txt").mkdir(parents=True)  # not ours
    left = [pages / f".0123456789ab-people.facts{number}.txt" for number in ("", "-2")]
    others = [pages / ".0123456789xy-people.facts.txt", pages / ".0123456789ab-others.facts.txt"]
    for file in (*left, *others):
        file.write_text("somebody")
    assert call(*words).exit == 0
    assert {*pages.iterdir()} == {
        *others, *(pages / name for name in ("people.html", "index.html", "people.facts-3.txt"))
    }  # fmt: skip
    shutil.rmtree(pages)


def test_what_lies_in_a_table_or_was_refused_names_nobody(tmp_path: Path) -> None:
    folder = canaries.project(tmp_path)
    assert call("run", "--project", folder, "--select", "stored").exit == 0
    told = call("report", "--project", folder, "--select", "stored", "--show-values", "-o", folder / "pages")
    assert told.exit == 2 and "no published file to name values of" in told.everything
    assert MARK not in told.everything and holding(folder) == set()


@pytest.mark.parametrize("kind", ["set", "multiset"])
@pytest.mark.parametrize("source", [True, False])
def test_of_people_with_several_values_the_source_names_the_worst_case_and_the_page_says_what_is_missing(
    tmp_path: Path, kind: str, source: bool
) -> None:
    draw = random.Random(kind)
    held = {f"P{n}": draw.sample("pqrst", draw.choice([0, 1, 1, 2, 3])) for n in range(40)}
    rows = [f"{who},{'FM'[int(who[1:]) % 2]},{ill}" for who, ills in held.items() for ill in ills or [""]]
    (tmp_path / "people.csv").write_text("\n".join(["who,sex,ill", *rows]) + "\n")
    release = {
        "source": {"file": "people.csv"},
        "identifier": {"column": "who"},
        "quasi_identifiers": [{"column": "sex", "hierarchy": "keep_or_drop"}],
        "sensitive": {"column": "ill", "values_per_person": kind},
        "require": {"privacy_skyline": {"points": [["1", "1", "1", "0.999"]]}},
        "method": {"generalise": {"levels": {}}},
        "output": {"target": "out/people.csv"},
    }
    content = {"version": "1", "name": "several", "releases": {"people": release}}
    (tmp_path / "privacy.yml").write_text(json.dumps(content))
    ran = call("run", "--project", tmp_path)
    assert ran.exit == 0, ran.everything
    which = [] if source else [tmp_path / "out" / "people.csv.manifest.json"]
    place = tmp_path if source else tmp_path / "out"  # where no project says what the source is
    page_of = tmp_path / "page" if source else tmp_path / "page" / "people.html"
    told = call("report", *which, "--project", place, "--show-values", "-o", page_of, "--json")
    assert told.exit == 0, told.everything
    assert told.json["reports"][0]["facts"] == []
    page = html.unescape((tmp_path / "page" / "people.html").read_text(encoding="utf-8"))
    named = re.sub(r"<[^>]+>", "", page.split('id="named-title"')[1].split("</section>")[0])
    if not source:
        assert "Nothing can be named here" in named and "The group:" not in named
        return
    sex = re.search(r"The group: sex (\w)\.", named)
    value = re.search(r"The value in question: (\w)\.", named)
    assert sex and value, named
    group = {who: ills for who, ills in held.items() if "FM"[int(who[1:]) % 2] == sex[1]}
    lines = Counter(ill for ills in group.values() for ill in ills)
    shown = dict(re.findall(r"(\w) (\d+)", named.split("Its values:")[1].split(".")[0]))
    assert {ill: int(n) for ill, n in shown.items()} == lines
    have = [who for who, ills in group.items() if value[1] in ills]
    who = re.findall(r"P\d+", named.split("Who has that value there:")[1].split("(")[0])
    assert len(who) == min(5, len(have)) and set(who) <= set(have)
    assert "`facts` answers for lines that you write" in named
