"""Phrases that read as if translated stay retired, and the glossary has every word once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from ruamel.yaml import YAML

import privacy_sql
from tests.conftest import ROOT

RETIRED = [
    "Decide, in SQL, what may be published",
    "promises nothing against a stronger",
    "found by who knows",
    "among the mechanisms",
    "only those requirements can be asked",
    "a folder is no release",
    "what is required is a list",
    "rows that stand for several cannot",
    "has a group for nobody",
    "there is nobody to attack",
    "in the words of a connection",
    "stands in memory",
    "is met with the nearest name",
    "it is told of one sensitive column",
    "nothing finer is",
    "none is better in both",
    "whose order says nothing",
    "node of its box",
    "people or more have fewer",
    "Take a person of group",
    "The SQL whose rows leave",
    "SQL whose rows leave",
    "A move of belief above",
    "Who made what, from which",
    "asked one by one",
    "tell it for every target",
    "What goes on after a step",
    "Who also knows",
    "Who knows only who is in which group",
    "Take as person 1",
    "whichever help most",
    "whichever hurt most",
    "Nothing is replaced but what",
    "What is out stays out",
    "is named like it",
    "is not as it was written",
    "stands as it is",
    "is no relation",
    "is no whole number",
    "are no numbers",
    "goes with kind",
    "asked about twice",
    "the commonest",
    "coded alike",
    "spelt out",
    "with least slack",
    "says nothing of",
    "among the criteria",
    "breaks off",
    "holds no row",
    "counted anew",
    "is written anew",
    "as they lie",
    "are out already",
    "which choice was made",
    "with no fact more",
    "kept, as the mean of",
    "sure to {",
    "The shape of a row",
    "lose anonymity by",
]
WRITTEN = [
    *sorted((ROOT / "privacy_sql").rglob("*.py")),
    *sorted((ROOT / "privacy_sql").rglob("*.html")),
    *sorted((ROOT / "sql").rglob("*.sql")),
    *sorted((ROOT / "macros").rglob("*.sql")),
    *sorted((ROOT / "privacy_sql").rglob("*.j2")),
    *sorted((ROOT / "docs").glob("*.md")),
    *(ROOT / name for name in ("README.md", "SECURITY.md", "CONTRIBUTING.md", "pyproject.toml")),
]


def together(place: Path) -> str:
    """A text on one line, so that no phrase hides behind the end of a line or of a string."""
    return re.sub(r'["\s]*\n[\s"f#]*', " ", place.read_text(encoding="utf-8"))


@pytest.mark.parametrize("phrase", RETIRED)
def test_a_retired_phrase_is_not_written_again(phrase: str) -> None:
    found = [place.relative_to(ROOT).as_posix() for place in WRITTEN if phrase in TEXTS[place]]
    assert not found, f"{phrase!r} in {found}: say it as to a colleague"


TEXTS = {place: together(place) for place in WRITTEN}


def test_the_glossary_has_every_word_once_and_in_order() -> None:
    rows = re.findall(r"^\| \*\*(.+?)\*\*", (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8"), re.M)
    assert len(rows) > 20 and rows == sorted(rows) and len(set(rows)) == len(rows)


def test_the_readme_says_the_problem_first_and_is_short() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) < 120 and lines[2].startswith("Removing names is not enough")


def test_what_is_cited_is_this_version_and_its_five_papers() -> None:
    cited = YAML(typ="safe").load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["version"] == privacy_sql.__version__
    keys = {paper["authors"][0]["family-names"].lower() + str(paper["year"]) for paper in cited["references"]}
    assert keys == set(re.findall(r"^## (\w+\d{4})$", (ROOT / "docs" / "papers.md").read_text("utf-8"), re.M))
