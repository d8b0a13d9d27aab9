"""Households as one, and as a share; known by one member, by all, by two."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pandas as pd

import privacy_sql as ps


def household(engine: Any, case: dict[str, Any]) -> None:
    given, expected = case["input"], case["expect"]
    rows = [{"n": 1, **row} for row in given["rows"]]
    frame = pd.DataFrame(rows, columns=["g", "h", "n"]).astype({"h": "Int64"})
    table = ps.Table(frame, ["g"], household={"column": "h", "published": "number"}, count="n")
    k = given["k"]
    asked = {
        "distinct": ps.HouseholdKAnonymity(k),
        "share": ps.HouseholdKAnonymity(k, kind="share"),
        "all": ps.HouseholdKAnonymity(k, known="all"),
        "two_members": ps.HouseholdKAnonymity(k, known=2),
    }
    found = ps.check(engine, table, list(asked.values()))
    for name, verdict in zip(asked, found.values(), strict=True):
        assert verdict.value == Fraction(expected[name]), name
        assert verdict.safe is expected["safe"][name], name
