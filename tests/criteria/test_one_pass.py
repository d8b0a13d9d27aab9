"""Any set of criteria is judged on one counting of the source, and says what each says alone."""

from __future__ import annotations

import logging
from collections import Counter
from itertools import pairwise
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps

REQUIRE = [
    ps.KAnonymity(2),
    ps.LDiversity(2),
    ps.LDiversity(2, "entropy"),
    ps.LDiversity(2, "recursive", 3),
    ps.LDiversity(2, "probabilistic"),
    ps.TCloseness("0.3"),
    ps.TCloseness("0.3", "ordered"),
    ps.AlphaKAnonymity("0.5", 2),
    ps.BetaLikeness(1),
    ps.BetaLikeness(1, "enhanced"),
    ps.DeltaDisclosure(1),
]


def table() -> ps.Table:
    rows = [("x", "1"), ("x", "2"), ("x", "2"), ("y", "1"), ("y", "3"), ("y", "2"), (None, "3"), (None, "1")]
    return ps.Table(pd.DataFrame(rows, columns=["g", "s"], dtype=object), ["g"], "s")


def test_the_source_is_read_once_for_all_of_them(engine: Any, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "privacy_sql"):
        verdicts = ps.check(engine, table(), REQUIRE)
    steps = Counter(record.getMessage().split()[0] for record in caplog.records)
    assert (steps["counted/base"], steps["counted/histogram"]) == (1, 1)
    assert len(verdicts) == len(REQUIRE)


def test_each_says_alone_what_it_says_among_others(engine: Any) -> None:
    together = {name: (v.safe, v.value) for name, v in ps.check(engine, table(), REQUIRE).items()}
    for pair in pairwise(REQUIRE):
        for name, verdict in ps.check(engine, table(), list(pair)).items():
            assert (verdict.safe, verdict.value) == together[name]
