"""Typical calls of multidimensional partitioning."""

from __future__ import annotations

import pandas as pd

import privacy_sql as ps
from privacy_sql.studies.bucketized_kl import bucketized_kl
from tests.calls import JOBS, workers


def partitioned(engine: ps.Engine) -> None:
    """Every way to cut, on ordered columns, hierarchies and numbers."""
    for split in ("median", "range", "information_gain"):
        for strict in (True, False):
            method = ps.Multidimensional(split=split, strict=strict)
            assert ps.publish(engine, workers(), [ps.KAnonymity(2)], method).safe


def numbers(engine: ps.Engine) -> None:
    """A number with NULLs beside a hierarchy; requirements that look at all boxes; values permuted."""
    rows = pd.DataFrame(
        {"age": [1.5, 2.5, None, 4.0] * 3, "job": ["baker", "nurse"] * 6, "s": list("abc") * 4}
    )
    table = ps.Table(rows, {"age": None, "job": JOBS}, "s")
    require = [ps.CKSafety("0.9", 1), ps.PrivacySkyline([[0, 1, 1, "0.95"]])]
    release = ps.publish(engine, table, require, ps.Multidimensional(output="bucketized"))
    assert bucketized_kl(engine, release) > -1e-9  # sums of floats
