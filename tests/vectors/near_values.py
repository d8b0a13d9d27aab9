"""Requirements about near values."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pandas as pd

import privacy_sql as ps


def interval_disclosure(engine: Any, case: dict[str, Any]) -> None:
    given, expected = case["input"], case["expect"]
    rows = [(f"g{number}", value, n) for number, group in enumerate(given["groups"]) for value, n in group]
    paths = given.get("paths")
    tree = ps.Tree({value: path[1:] for value, path in paths.items()}) if paths else None
    table = ps.Table(
        pd.DataFrame(rows, columns=["g", "s", "n"]).astype({"s": object}),
        ["g"],
        "s",
        count="n",
        sensitive_hierarchy=tree,
        distances={"s": given["matrix"]} if "matrix" in given else None,
    )
    asked = ps.IntervalDisclosure(given["width"], given["share"], distance=given["distance"])
    (found,) = ps.check(engine, table, [asked]).values()
    assert (found.value, found.safe) == (Fraction(expected["value"]), expected["safe"])
