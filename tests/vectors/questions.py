"""The baseline of a guess, and the columns that identify."""

from __future__ import annotations

from fractions import Fraction
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


def columns(engine: Any, case: dict[str, Any]) -> None:
    given, expected = case["input"], case["expect"]
    rows = [dict(row) for row in given["rows"]]
    frame = pd.DataFrame(rows, columns=[*given["columns"], "n"], dtype=object)
    table = ps.Table(frame, given["columns"], count="n")
    pairs = ps.identify(engine, table, max(2, given["m"])).ratios
    found = ps.identify(engine, table, given["m"], known=given["named"], most_proposed=given["most"])
    for name, ratios in expected["ratios"].items():
        for ratio, value in ratios.items():
            exact = None if value is None else Fraction(value)
            assert getattr(pairs[tuple(name.split("+"))], ratio) == exact, (name, ratio)
    told = expected["unique_sets"]
    assert found.people == told["people"]
    for name in ("people_by_least_size", "sets_by_size"):
        assert getattr(found, name) == {int(size): n for size, n in told[name].items()}, name
    shares = {column: Fraction(share) for column, share in told["share_of_sets_with_column"].items()}
    assert found.share_of_sets_with_column == shares
    assert found.people_with_column == told["people_with_column"]
    assert [chosen.column for chosen in found.proposed] == expected["proposed"]


def _table(given: dict[str, Any], *, counted: bool, known: bool = False) -> ps.Table:
    """The rows with their multiplicities, or each as often as it counts."""
    rows = [dict(row) for row in given["rows"] for _ in range(1 if counted else row["n"])]
    columns = [*given["quasi"], *given["insensitive"], "s", *(["n"] if counted else [])]
    frame = pd.DataFrame(rows, columns=columns, dtype=object)
    free = {"columns": given["insensitive"], "known": known}
    return ps.Table(frame, given["quasi"], "s", insensitive=free, count="n" if counted else None)
