"""Calls about known columns, files that are measured, and proposals for people with several rows."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.cli.main import run as run_command
from tests.calls import workers


def known_on_arrays(engine: ps.Engine) -> None:
    """Sets of known columns where many combinations are counted, with values and without."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("privacy_sql.criteria.known_columns.LEAST_ON_ARRAYS", 0)
        for asked in (ps.KnownColumns(m=1, k=2), ps.KnownColumns(m=1, k=2, share="1/2")):
            ps.check(engine, workers(), [asked])


def whole_numbers(engine: ps.Engine) -> None:
    """A release of whole numbers beside its source."""
    rows = pd.DataFrame({"age": [30, 41, 41], "pay": [1, 2, 2], "s": [7, 8, 8]})
    ps.measure(engine, rows, rows, ["age", "pay"], "s")


def several_rows(engine: ps.Engine) -> None:
    """A project proposed for a file in which a person has several rows."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "visits.csv"
        visits = "".join(f"{1000 + n % 30},{20 + n % 30},{'ab'[n // 30]}\n" for n in range(40))
        place.write_text(f"person_id,age,illness\n{visits}")
        run_command(["init", "--from", str(place), folder])
