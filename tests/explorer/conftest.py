"""The example project, and an explorer of it that several tests ask."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from privacy_sql.project import example
from tests.explorer.served import Asker, served


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example project; not to be changed."""
    place = tmp_path_factory.mktemp("explorer") / "project"
    example.write(place)
    return place


@pytest.fixture
def folder(project: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(project, tmp_path / "project"))


@pytest.fixture(scope="module")
def page(project: Path) -> Iterator[Asker]:
    """An explorer of it, opened, which the tests of a file share: they save nothing."""
    with served(project) as asker:
        yield asker


@pytest.fixture(scope="session", autouse=True)
def looked_at_often() -> Iterator[None]:
    """A server sees at once that its last page was closed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("privacy_sql.explorer.server.LOOK_EVERY", 0.02)
        yield
