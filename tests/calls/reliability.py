"""People with several values each, published."""

from __future__ import annotations

import pandas as pd

import privacy_sql as ps


def several_values(engine: ps.Engine) -> None:
    """Rows in and out are counted apart from the values of people."""
    rows = pd.DataFrame({"id": [1, 1, 2], "age": [30, 30, 30], "illness": ["flu", "cold", None]})
    table = ps.Table(rows, ["age"], "illness", identifier="id", values_per_person="set")
    ps.publish(engine, table, [ps.KAnonymity(2)], ps.Generalise())
