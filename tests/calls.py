"""Typical calls of the package: between them they render every template under `sql/`."""

from __future__ import annotations

import pandas as pd

import privacy_sql as ps
from privacy_sql.base import count
from privacy_sql.criteria import make
from privacy_sql.judging import judge
from tests import cases as reading
from tests.conftest import cases


def run() -> None:
    """Make every call once, on tables of a few rows."""
    with ps.connect() as engine:
        for call in (criteria, people, conditions, levels):
            call(engine)


def criteria(engine: ps.Engine) -> None:
    """Every case of every criterion, and the witness behind it."""
    for parameter in cases("criteria"):
        name, case = parameter.values
        for verdict in ps.check(engine, reading.table(case), [make(name, case["params"])]).values():
            verdict.witness.reveal()


def people(engine: ps.Engine) -> None:
    """A table that names its people."""
    rows = pd.DataFrame({"id": ["p1", "p2"], "age": ["30", "30"], "s": ["a", "b"]})
    ps.check(engine, ps.Table(rows, ["age"], "s", identifier="id"), [ps.KAnonymity(2)])


def conditions(engine: ps.Engine) -> None:
    """A condition on the rows, and keys too many to be packed into one integer."""
    rows = pd.DataFrame({f"c{number}": [str(row) for row in range(20)] for number in range(16)})
    table = ps.Table(rows, list(rows), where="c1 <> '30' and c2 not in ('31', '32')")
    ps.check(engine, table, [ps.KAnonymity(1)])


def levels(engine: ps.Engine) -> None:
    """A choice of levels, not yet published."""
    rows = pd.DataFrame({"job": ["baker", "cook", "nurse", None], "s": ["a", "b", "a", "b"]})
    jobs = ps.Tree({"baker": ["food", "*"], "cook": ["food", "*"], "nurse": ["care", "*"]})
    base = count(engine, ps.Table(rows, {"job": jobs}, "s"))
    grouping = base.grouped(base.keys({"job": 1}))
    for verdict in judge(grouping, [ps.KAnonymity(1)]).values():
        verdict.witness.reveal()
