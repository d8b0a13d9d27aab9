"""The intersection attack."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import privacy_sql as ps


def attack(engine: Any, case: dict[str, Any]) -> None:
    given, expected = case["input"], case["expect"]
    found = ps.intersection_attack(engine, given["releases"], given["people"], levels=given["levels"])
    for person, answer in zip(found.people(), expected["individuals"], strict=True):
        for name, value in answer.items():
            assert _exact(person[name]) == _exact(value), name
    for name, value in expected["aggregate"].items():
        assert _exact(found.summary[name]) == _exact(value), name


def _exact(value: Any) -> Any:
    if isinstance(value, dict):
        return {level: _exact(part) for level, part in value.items()}
    if isinstance(value, list):
        return [_exact(part) for part in value]
    try:
        return Fraction(str(value)) if not isinstance(value, bool) else value
    except ValueError:
        return value
