"""Somebody who knows some of the columns, whichever, or columns that are named."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pandas as pd

import privacy_sql as ps


def known_columns(engine: Any, case: dict[str, Any]) -> None:
    given, expected = case["input"], case["expect"]
    m, k = given["m"], given["k"]
    asked = [ps.KnownColumns(m=m, k=k), ps.KnownColumns(m=m, k=k, share="1/2")]
    alone, with_share = ps.check(engine, _table(given["rows"], given["columns"]), asked).values()
    assert (alone.value, alone.safe) == (expected["value"], expected["safe"])
    assert alone.witness["people_below"] == expected["people_below"]
    assert Fraction(with_share.witness["largest_share"]) == Fraction(expected["largest_share"])


def known_sets(engine: Any, case: dict[str, Any]) -> None:
    given, expected = case["input"], case["expect"]
    columns = [column for column in given["rows"][0] if column not in ("s", "n")]
    sets = [{"columns": named, "k": k} for named, k in given["sets"]]
    (found,) = ps.check(engine, _table(given["rows"], columns), [ps.KnownColumns(sets=sets)]).values()
    assert [point.smallest for point in found.points] == expected["values"]
    assert found.safe is expected["safe"]


def _table(rows: list[dict[str, Any]], columns: list[str]) -> ps.Table:
    frame = pd.DataFrame(rows, columns=[*columns, "s", "n"]).astype(dict.fromkeys(columns, object))
    return ps.Table(frame, columns, "s", count="n")
