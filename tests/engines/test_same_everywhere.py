"""Names and values of every kind mean the same on every engine; Spark's turn is in test_spark.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.engines import odd_people


def test_odd_names_and_values_are_counted_and_published_as_they_are(engine: Any, tmp_path: Path) -> None:
    assert odd_people.told(engine, tmp_path) == (2, odd_people.expected())
