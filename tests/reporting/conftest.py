"""One project with all records, made once for every test process."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import call
from tests.once import folder as shared
from tests.once import once
from tests.reporting import project
from tests.reporting.test_every_report import write


@pytest.fixture(scope="session")
def records() -> Path:
    """The project, run and searched and attacked; not to be changed."""
    return Path(once("records", lambda: project.recorded(shared("records"))))


@pytest.fixture(scope="session")
def every_method() -> tuple[Path, dict[str, Any]]:
    """A release of every method, what the run said of each, and its two pages; not to be changed."""
    place, told = once("every_method", _every_method)
    return place, told


def _every_method() -> tuple[Path, dict[str, Any]]:
    place = write(shared("every_method"))
    told = call("run", "--project", place, "--json")
    assert told.exit == 0, told.everything
    for audience in ("internal", "public"):
        made = call("report", "--project", place, "--audience", audience, "-o", place / audience)
        assert made.exit == 0, made.everything
    return place, {release["name"]: release for release in told.json["releases"]}


@pytest.fixture
def folder(records: Path, tmp_path: Path) -> Path:
    """A copy of the project."""
    return Path(shutil.copytree(records, tmp_path / "project"))


@pytest.fixture(scope="session")
def pages(records: Path) -> Path:
    """Every kind of page: of all releases, with all sections, public, refused, amber, with values."""
    return Path(once("pages", lambda: _pages(records)))


def _pages(records: Path) -> Path:
    made = shared("pages")
    assert call("report", "--project", records, "--audience", "internal", "-o", made).exit == 0
    manifest = records / "out" / "good.csv.manifest.json"
    assert call("report", manifest, "--project", records, "-o", made / "public.html").exit == 0
    assert (
        call("report", manifest, "--project", records, "--show-values", "-o", made / "named.html").exit == 0
    )
    weak = project.write(shared("amber"), project.AMBER)
    for words in (["run"], ["search"], ["report", "--audience", "internal", "-o", made / "weak"]):
        assert call(*words, "--project", weak).exit == 0
    (made / "weak" / "amber.html").rename(made / "amber.html")
    return made
