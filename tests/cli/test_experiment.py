"""`privacy-sql experiment`: figures on disk, and clear errors without data."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from privacy_sql import registry
from privacy_sql.cli.main import run
from privacy_sql.errors import UsageError
from privacy_sql.papers import Figure

DATA = os.environ.get("PRIVACY_SQL_DATA")


@pytest.mark.skipif(not DATA, reason="needs the data sets: set PRIVACY_SQL_DATA")
def test_an_experiment_writes_its_figures(tmp_path: Path) -> None:
    arguments = ["experiment", "martin", "--part", "fig5", "--data", str(DATA), "-o", str(tmp_path / "out")]
    dry = run([*arguments, "--dry-run"])
    assert dry.exit == 0 and not (tmp_path / "out").exists()
    outcome = run(arguments)
    assert outcome.exit == 0, outcome.errors
    assert outcome.more["written"] == ["fig5.csv", "fig5.json", "fig5.svg"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == outcome.more["written"]


def test_an_experiment_without_its_data_is_a_usage_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("PRIVACY_SQL_DATA", raising=False)
    for arguments in (["martin"], ["martin", "--data", str(tmp_path / "none")], ["martyn"]):
        assert run(["experiment", *arguments]).exit == 2


@pytest.mark.parametrize(("stop", "code"), [(KeyboardInterrupt, 130), (MemoryError, 4), (UsageError, 2)])
def test_what_is_finished_is_on_disk_before_the_next_figure_begins_and_outlives_its_end(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, stop: type[BaseException], code: int
) -> None:
    out = tmp_path / "out"

    class Long:
        @staticmethod
        def run(engine: object, data: Path, parts: object) -> Iterator[Figure]:
            yield Figure("first", "The first figure", ("k", "value"), ((0, 0.5), (1, 0.75)), x="k", y="value")
            assert {path.name for path in out.iterdir()} == {"first.csv", "first.json", "first.svg"}
            raise stop("code", "message") if stop is UsageError else stop

    load = registry.load
    monkeypatch.setattr(registry, "load", lambda kind, name: Long if kind == "papers" else load(kind, name))
    outcome = run(["experiment", "long", "--data", str(tmp_path), "-o", str(out)])
    assert (out / "first.csv").read_text() == "k,value\n0,0.5\n1,0.75\n"
    assert outcome.exit == code and outcome.errors
    assert outcome.more["written"] == ["first.csv", "first.json", "first.svg"]
