"""Typical calls with facts about people."""

from __future__ import annotations

import pandas as pd

import privacy_sql as ps


def known(engine: ps.Engine) -> None:
    """Facts about people, on a table with groups and on one with a single group."""
    rows = pd.DataFrame({"id": ["p1", "p2", "p3"], "age": ["30", "30", None], "s": ["a", "b", "a"]})
    for quasi in (["age"], []):
        table = ps.Table(rows, quasi, "s", identifier="id")
        ps.disclosure_risk(engine, table, ["p1 not b"]).witness.reveal()
    own = ps.CKSafety("0.9", 1, {"b": {"c": "0.5", "k": 1}})
    (verdict,) = ps.check(engine, table, [own]).values()
    verdict.witness.reveal()
