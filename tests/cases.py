"""Read a small table from a case file: columns in the first line, NULL written `null`."""

from __future__ import annotations

from typing import Any

import pandas as pd

import privacy_sql as ps


def frame(text: str) -> pd.DataFrame:
    """The rows of a case as a DataFrame of text, with `n_rows` as numbers when it is there.

    >>> frame("age disease n_rows\\n2* flu 4").to_dict("records")
    [{'age': '2*', 'disease': 'flu', 'n_rows': 4}]
    """
    header, *lines = [line.split() for line in text.strip().splitlines()]
    rows = [[None if cell == "null" else cell for cell in line] for line in lines]
    made = pd.DataFrame(rows, columns=header, dtype=object)
    if "n_rows" in made:
        made["n_rows"] = made["n_rows"].astype("int64")
    return made


def table(case: dict[str, Any]) -> ps.Table:
    """The table of a case: its `keys`, and the sensitive column that is named or the one left over."""
    rows = frame(case["rows"])
    settings = dict(case.get("table", {}))
    if "sensitive_hierarchy" in settings:
        settings["sensitive_hierarchy"] = ps.Tree(settings["sensitive_hierarchy"])
    if "population" in settings:
        settings["population"] = frame(settings["population"])
    household = settings.get("household")
    household = household["column"] if isinstance(household, dict) else household
    named = (*case["keys"], "n_rows", settings.get("identifier"), household)
    left = [column for column in rows if column not in named]
    sensitive = settings.pop("sensitive", left[0] if left else None)
    count = "n_rows" if "n_rows" in rows else None
    return ps.Table(rows, case["keys"], sensitive, count=count, **settings)
