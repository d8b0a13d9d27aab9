"""Typical calls of bucketization by Anatomy and by a search."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pandas as pd

import privacy_sql as ps
from privacy_sql.studies.usefulness import usefulness


def buckets(engine: ps.Engine) -> None:
    """Buckets of different values, and the groups of the best safe generalisation."""
    rows = {
        "age": ["30", "30", "41", "41", "30", None],
        "s": ["a", "b", "a", "b", "c", "c"],
        "note": ["x", "y", None, "x", "x", "y"],
    }
    table = ps.Table(pd.DataFrame(rows), {"age": ps.KeepOrDrop()}, "s", insensitive=["note"])
    with tempfile.TemporaryDirectory() as folder:
        for by, layout in (("anatomy", "one_table"), ("full_domain", "two_tables")):
            release = ps.publish(engine, table, [ps.CKSafety("0.9", 0)], ps.Bucketize(by, layout))
            ps.write(engine, release, Path(folder) / f"{by}.csv")
            for verdict in release.verdicts.values():
                verdict.witness.reveal()
            usefulness(release)
