"""People with several values each, published."""

from __future__ import annotations

import tempfile

import pandas as pd

import privacy_sql as ps
from privacy_sql.query.template import render


def several_values(engine: ps.Engine) -> None:
    """Rows in and out are counted apart from the values of people."""
    rows = pd.DataFrame({"id": [1, 1, 2], "age": [30, 30, 30], "illness": ["flu", "cold", None]})
    table = ps.Table(rows, ["age"], "illness", identifier="id", values_per_person="set")
    ps.publish(engine, table, [ps.KAnonymity(2)], ps.Generalise())


def escaped_cells(engine: ps.Engine) -> None:
    """What a spreadsheet would run is written with an apostrophe, and read without it."""
    with tempfile.TemporaryDirectory() as folder:
        rows = pd.DataFrame({"=town": ["@a", "@a"], "age": [30, 30], "illness": ["-", "'=flu"]})
        table = ps.Table(rows, ["=town", "age"], "illness")
        release = ps.publish(engine, table, [ps.KAnonymity(2)], ps.Generalise())
        ps.write(engine, release, f"{folder}/people.csv", csv={"formulas": "escape"})


def checksum(engine: ps.Engine) -> None:
    """What an engine is sent that adds the digits of hashes one by one."""
    rows = engine.source(pd.DataFrame({"age": ["30-39"], "illness": ["flu"]}))
    words = {"relation": rows, "columns": ["age", "illness"], "empty_is_null": False, "counted": None}
    engine.fetch(render("counted/fingerprint.sql", **words))


def beside_the_roles(engine: ps.Engine) -> None:
    """A column that is published as it is shows more than counts tell, so rows are read again."""
    rows = pd.DataFrame({"age": [30, 31], "illness": ["flu", "flu"], "notes": ["a", "a"]})
    table = ps.Table(rows, {"age": ps.Intervals(10)}, "illness", insensitive=["notes"])
    ps.publish(engine, table, [ps.KAnonymity(2)], ps.Generalise({"age": 1}))
