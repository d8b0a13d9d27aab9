"""A release measured against its source, and the exact intervals of shares."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pandas as pd

import privacy_sql as ps


def measure(engine: Any, case: dict[str, Any]) -> None:
    given, expected = case["input"], case["expect"]
    columns, secret = given["columns"], given["secret"]

    def people(rows: list[dict[str, Any]]) -> ps.Table:
        frame = pd.DataFrame(rows, columns=[*columns, secret, "n"], dtype=object)
        return ps.Table(frame, columns, secret, count="n")

    found = ps.measure(engine, people(given["source"]), people(given["other"]), columns, secret)
    assert [found.singled_out.right, found.singled_out.alone] == expected["singled_out"]
    assert found.right == Fraction(expected["inferred"])


def clopper_pearson(engine: Any, case: dict[str, Any]) -> None:
    given, expected = case["input"], case["expect"]
    low, high = ps.clopper_pearson(given["successes"], given["tries"], given["level"])
    assert abs(low - Fraction(expected["low"])) <= Fraction(1, 10**9)
    assert abs(high - Fraction(expected["high"])) <= Fraction(1, 10**9)


def excess(engine: Any, case: dict[str, Any]) -> None:
    given, expected = case["input"], case["expect"]
    found = ps.excess(tuple(given["attack"]), tuple(given["control"]), given["level"])
    for value, wanted in zip(
        (found.value, found.low, found.high), (expected[n] for n in ("value", "low", "high")), strict=True
    ):
        assert (value is None) == (wanted is None)
        assert value is None or abs(value - Fraction(wanted)) <= Fraction(1, 10**9)
