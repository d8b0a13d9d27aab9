"""`privacy-sql experiment`: figures on disk, and clear errors without data."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from privacy_sql.cli import run

DATA = os.environ.get("PRIVACY_SQL_DATA")


@pytest.mark.skipif(not DATA, reason="PRIVACY_SQL_DATA is not the folder of the study data")
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
