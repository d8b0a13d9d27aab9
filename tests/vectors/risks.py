"""Risks of re-identification in the words of regulators."""

from __future__ import annotations

from typing import Any

import pandas as pd

import privacy_sql as ps


def risk(engine: Any, case: dict[str, Any]) -> None:
    given, expected = case["input"], case["expect"]
    people, population = (
        pd.DataFrame({"g": [label for label, n in groups.items() for _ in range(n)]}) if groups else None
        for groups in (given["groups"], given["population"])
    )
    found = ps.risk(engine, ps.Table(people, ["g"], population=population), thresholds=given["thresholds"])
    assert {name: found[name] for name in expected} == expected
