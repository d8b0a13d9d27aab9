"""One project with all records, made once for every test process."""

from __future__ import annotations

import fcntl
import shutil
from pathlib import Path

import pytest

from tests.command_line import call
from tests.reporting import project


@pytest.fixture(scope="session")
def records(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """The project, run and searched and attacked; not to be changed."""
    own = tmp_path_factory.getbasetemp()
    place = (own if worker_id == "master" else own.parent) / "reporting"
    place.mkdir(exist_ok=True)
    with (place / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (place / "done").exists():
            (place / "project").mkdir()
            project.recorded(place / "project")
            (place / "done").touch()
    return place / "project"


@pytest.fixture
def folder(records: Path, tmp_path: Path) -> Path:
    """A copy of the project."""
    return Path(shutil.copytree(records, tmp_path / "project"))


@pytest.fixture(scope="session")
def pages(records: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every kind of page: of all releases, with all sections, public, refused, amber, with values."""
    made = tmp_path_factory.mktemp("pages")
    assert call("report", "--project", records, "--audience", "internal", "-o", made).exit == 0
    manifest = records / "out" / "good.csv.manifest.json"
    assert call("report", manifest, "--project", records, "-o", made / "public.html").exit == 0
    assert (
        call("report", manifest, "--project", records, "--show-values", "-o", made / "named.html").exit == 0
    )
    weak = project.write(tmp_path_factory.mktemp("amber"), project.AMBER)
    for words in (["run"], ["search"], ["report", "--audience", "internal", "-o", made / "weak"]):
        assert call(*words, "--project", weak).exit == 0
    (made / "weak" / "amber.html").rename(made / "amber.html")
    return made
