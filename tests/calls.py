"""Typical calls of the package: between them they render every template under `sql/`."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pandas as pd

import privacy_sql as ps
from privacy_sql.base import count
from privacy_sql.criteria import make
from tests import cases as reading
from tests.conftest import cases


def run() -> None:
    """Make every call once, on tables of a few rows."""
    with ps.connect() as engine:
        for call in (criteria, people, conditions, fractions, published, attacked, known, beliefs):
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


def fractions(engine: ps.Engine) -> None:
    """A column in bands of whole numbers that holds a fraction."""
    count(engine, ps.Table(pd.DataFrame({"kg": ["60", "61.5", None]}), {"kg": ps.Intervals(5)}))


JOBS = ps.Tree({"baker": ["food", "*"], "cook": ["food", "*"], "nurse": ["care", "*"]})
WORKERS = {
    "age": ["30", "30", "41", "41", "30", "30", "41", None],
    "job": ["baker", "cook", "nurse", "nurse", "baker", "cook", "nurse", "nurse"],
    "s": ["a", "b", "a", "b", "c", "c", None, "a"],
}


def workers(**more: Any) -> ps.Table:
    """Eight people with a job that has a hierarchy."""
    return ps.Table(pd.DataFrame(WORKERS), {"age": None, "job": JOBS}, "s", **more)


def published(engine: ps.Engine) -> None:
    """Both ways to publish at chosen levels, to every kind of target."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for number, method in enumerate((ps.Generalise({"job": 1}, "0.9"), ps.Bucketize({"job": 1}))):
            release = ps.publish(engine, workers(), [ps.KAnonymity(2)], method)
            for ending in ("csv", "parquet"):
                ps.verify(ps.write(engine, release, place / f"{number}.{ending}"))
            for verdict in release.verdicts.values():
                verdict.witness.reveal()
            ps.write(engine, release, f"table:t{number}", manifest_to=place / f"{number}.manifest.json")


def attacked(engine: ps.Engine) -> None:
    """Three releases together: hierarchy nodes, exact quasi-identifiers and centroids; then one alone."""
    tree = {"tree": {"baker": ["food", "*"], "nurse": ["care", "*"]}}
    nodes = pd.DataFrame({"job": ["food", "care"], "age": ["<40", "40+"], "s": ["a", "b"]})
    columns = {"job": {"hierarchy": tree}, "age": {}}
    exact = [{"id": "e", "qi": [{"age": 30, "job": "baker"}], "sensitive": ["a"]}]
    near = [{"id": "n", "centroid": {"age": 33.5}, "sensitive": ["a", "b"]}]
    releases = [
        {"relation": nodes, "sensitive": "s", "columns": columns},
        {"groups": exact, "locate": "exact"},
        {"groups": near, "locate": "centroid"},
    ]
    for together in (releases, releases[:1]):
        found = ps.intersection_attack(engine, together, workers())
        assert len(found.people()) == found.summary.P


def known(engine: ps.Engine) -> None:
    """Facts about people, on a table with groups and on one with a single group."""
    rows = pd.DataFrame({"id": ["p1", "p2", "p3"], "age": ["30", "30", None], "s": ["a", "b", "a"]})
    for quasi in (["age"], []):
        table = ps.Table(rows, quasi, "s", identifier="id")
        ps.disclosure_risk(engine, table, ["p1 not b"]).witness.reveal()


def beliefs(engine: ps.Engine) -> None:
    """A prior in SQL, and the estimates of all groups in one statement."""
    rows = pd.DataFrame({"age": [20, 30, 40], "sex": ["m", "f", "m"], "s": ["a", "b", "a"]})
    table = ps.Table(rows, {"age": ps.AsIs(), "sex": ps.KeepOrDrop()}, "s")
    ps.prior(engine, table, ["3/4", "0"], path="chain")
    ps.posterior(engine, table, bandwidth="3/4", method="omega")
    ps.posterior(engine, table, bandwidth="3/4", method="sinkhorn")
