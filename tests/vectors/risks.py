"""Risks of re-identification in the words of regulators."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps


def risk(engine: Any, case: dict[str, Any]) -> None:
    given, expected = case["input"], case["expect"]
    people, population = (
        pd.DataFrame({"g": [label for label, n in groups.items() for _ in range(n)]}) if groups else None
        for groups in (given["groups"], given["population"])
    )
    found = ps.risk(engine, ps.Table(people, ["g"], population=population), thresholds=given["thresholds"])
    assert {name: found[name] for name in expected} == expected


def zayatz(engine: Any, case: dict[str, Any]) -> None:
    given = case["input"]
    found = _estimated(engine, given["sizes"], Fraction(given["population"]))
    assert Fraction(found["alone_in_population"]) == Fraction(case["expect"]["estimate"])


def weighted_risk(engine: Any, case: dict[str, Any]) -> None:
    given = case["input"]
    found = _estimated(engine, [given["sample"]], Fraction(given["weight_sum"]))
    for name in ("risk_max", "risk_average"):
        assert found[name] == pytest.approx(float(case["expect"]["estimate"]), abs=1e-9)


def _estimated(engine: Any, sizes: list[int], people: Fraction) -> dict[str, Any]:
    """The estimates of groups of these sizes; the first person stands for all whom no other stands for."""
    groups = [number for number, size in enumerate(sizes) for _ in range(size)]
    weights = [float(people - len(groups) + 1), *[1.0] * (len(groups) - 1)]
    table = ps.Table(pd.DataFrame({"g": groups, "w": weights}), ["g"], weight="w")
    found: dict[str, Any] = ps.risk(engine, table)["estimates"]
    return found
