"""`profile` counts what is in every column, and reads a file once for all of them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from privacy_sql.counted.profiling import profile
from privacy_sql.engines import duckdb
from tests import engines

PEOPLE = pd.DataFrame(
    {"age": ["1", "1", "2", None], "a b": ["x", "y", "z", "z"], "id": list("pqrs")}, dtype=object
)


def expected(column: list[Any]) -> dict[str, int]:
    """The counts straight from the values of one column."""
    counts = Counter(value for value in column if value is not None)
    return {
        "n_rows": len(column),
        "n_values": len(counts),
        "n_nulls": column.count(None),
        "n_single": sum(n == 1 for n in counts.values()),
        "n_top": max(*counts.values(), column.count(None)),
    }


def test_the_counts_are_those_of_the_columns(engine: Any) -> None:
    found = profile(engine, PEOPLE)
    assert list(found.columns) == ["age", "a b", "id"]
    for name, column in found.columns.items():
        counts = {key: getattr(column, key) for key in ("n_rows", "n_values", "n_nulls", "n_single", "n_top")}
        assert counts == expected(PEOPLE[name].tolist())


def test_a_file_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "people.csv"
    PEOPLE.to_csv(place, index=False)
    run = duckdb.DuckDB._run

    def watched(self: Any, query: Any, *rest: Any, **words: Any) -> Any:
        found = run(self, query, *rest, **words)
        if query.origin == "counted/where":
            place.unlink()  # whatever asks the file again finds nothing
        return found

    monkeypatch.setattr(duckdb.DuckDB, "_run", watched)
    with engines.opened() as engine:
        found = profile(engine, place)
    assert not place.exists()
    assert [column.n_values for column in found.columns.values()] == [2, 3, 4]
