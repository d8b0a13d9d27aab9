"""Distances between values of a column."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import privacy_sql as ps


def distance_categorical(engine: Any, case: dict[str, Any]) -> None:
    given = case["input"]
    assert ps.Tree(given["paths"]).distance(given["a"], given["b"]) == Fraction(case["expect"]["d"])
