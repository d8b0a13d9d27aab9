"""Maximum disclosure and (c,k)-safety."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pandas as pd

import privacy_sql as ps


def martin_max_disclosure(engine: Any, case: dict[str, Any]) -> None:
    curve = ps.disclosure_curve(engine, _table(case), facts=case["k"], language="implications")
    assert curve[case["k"]] == Fraction(case["answer"])


def martin_negation_disclosure(engine: Any, case: dict[str, Any]) -> None:
    curve = ps.disclosure_curve(engine, _table(case), facts=case["k"], language="negations")
    assert curve[case["k"]] == Fraction(case["answer"])


def martin_safe(engine: Any, case: dict[str, Any]) -> None:
    assert bool(ps.check(engine, _table(case), [ps.CKSafety(case["c"], case["k"])])) is case["answer"]


def _table(case: dict[str, Any]) -> ps.Table:
    rows = [(i, value, n) for i, group in enumerate(case["groups"]) for value, n in group.items()]
    return ps.Table(pd.DataFrame(rows, columns=["g", "s", "n"]), ["g"], "s", count="n")
