"""Noise, and the methods and criteria that compose with other releases."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pandas as pd

import privacy_sql as ps
from tests.calls import JOBS


def noisy(engine: ps.Engine) -> None:
    """One histogram, and several marginals at levels."""
    rows = pd.DataFrame({"id": list("abcd"), "age": ["31", "32", "44", "45"], "s": ["x", "y", "x", None]})
    table = ps.Table(rows, {"age": ps.Intervals(10)}, "s", identifier="id", values_per_person="multiset")
    domains = {"age": {"from": 30, "to": 49}, "s": ["x", "y", ""]}
    with tempfile.TemporaryDirectory() as folder:
        ledger = str(Path(folder) / "ledger.jsonl")
        for more in ({}, {"marginals": [["age"], ["age", "s"]], "levels": {"age": 1}}):
            method = ps.NoisyCounts("1", domains=domains, ledger=ledger, **more)
            release = ps.publish(engine, table, [], method)
            assert release.rows_out == len(release.base.engine.fetch(release.view))


def microaggregated(engine: ps.Engine) -> None:
    """Near rows under the centre of their group, with and without a sensitive column."""
    rows = pd.DataFrame({"age": ["31", "32", "44"], "job": ["baker", "nurse", "cook"], "s": ["x", "y", "x"]})
    for sensitive, free in (("s", []), (None, ["s"])):
        table = ps.Table(rows, {"age": None, "job": JOBS}, sensitive, insensitive=free)
        release = ps.publish(engine, table, [ps.KAnonymity(1)], ps.Microaggregate(1))
        assert release.rows_out == len(release.base.engine.fetch(release.view))
