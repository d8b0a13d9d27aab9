"""The baseline of a guess."""

from __future__ import annotations

from typing import Any

import pandas as pd

import privacy_sql as ps


def baseline(engine: Any, case: dict[str, Any]) -> None:
    given, expected = case["input"], case["expect"]
    for table in (_table(given, counted=True), _table(given, counted=False)):
        found = ps.baseline(engine, table)
        assert found == {name: expected[name] for name in ("as_published", "known")}
    holds = [
        bool(ps.check(engine, _table(given, counted=True, known=known), [ps.KAnonymity(given["k"])]))
        for known in (False, True)
    ]
    assert holds == expected["k_anonymity_holds"]


def _table(given: dict[str, Any], *, counted: bool, known: bool = False) -> ps.Table:
    """The rows with their multiplicities, or each as often as it counts."""
    rows = [dict(row) for row in given["rows"] for _ in range(1 if counted else row["n"])]
    columns = [*given["quasi"], *given["insensitive"], "s", *(["n"] if counted else [])]
    frame = pd.DataFrame(rows, columns=columns, dtype=object)
    free = {"columns": given["insensitive"], "known": known}
    return ps.Table(frame, given["quasi"], "s", insensitive=free, count="n" if counted else None)
