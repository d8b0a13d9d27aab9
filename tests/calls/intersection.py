"""Typical calls of the intersection attack."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pandas as pd

import privacy_sql as ps
from privacy_sql.history import group_contents
from tests.calls import JOBS, workers


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


def two_tables(engine: ps.Engine) -> None:
    """People and values apart, joined by their group."""
    people = pd.DataFrame({"age": ["30", "41"], "g": ["1", "2"]})
    values = pd.DataFrame({"g": ["1", "1", "2"], "s": ["a", "b", "a"], "n": [1, 1, 2]})
    more = {"group": "g", "values": values, "count": "n", "columns": ["age"], "sensitive": "s"}
    assert ps.intersection_attack(engine, [{"relation": people, **more}], workers()).summary.n_ok == 7


def marginals(engine: ps.Engine) -> None:
    """The join of three published tables of counts, one of which shares no column with the next."""
    rows = pd.DataFrame({"age": ["30", "41"], "sex": ["F", None], "job": ["baker", "cook"], "s": ["a", "b"]})
    table = ps.Table(rows, ["age", "sex", "job"], "s")
    collection = [{"age": 0, "sex": 0}, {"sex": 0, "s": 0}, {"job": 0}]
    release = ps.publish(engine, table, [ps.KLink(1)], ps.Marginals(collection=collection))
    assert ps.intersection_attack(engine, [release], table).summary.perfect == 100


def of_our_own(engine: ps.Engine) -> None:
    """Boxes with NULL, centres and a label nobody can read; a candidate judged for a population."""
    rows = pd.DataFrame(
        {
            "age": ["30", None, "41", "44", "52", "30"],
            "job": ["baker", "cook", "nurse", "nurse", "baker", "cook"],
            "n": [1.5, 2.5, 4.0, 8.0, None, 1.5],
            "s": list("abcabc"),
        }
    )
    table = ps.Table(rows, {"age": None, "job": JOBS, "n": None}, "s")
    jobs = ps.Table(rows, {"job": JOBS}, "s")
    releases = [
        ps.publish(engine, table, [ps.KAnonymity(2)], ps.Multidimensional()),
        ps.publish(engine, jobs, [ps.KAnonymity(2)], ps.Microaggregate(2)),
    ]
    odd = pd.DataFrame({"job": ["food", "some trade"], "s": ["a", "b"]})
    unread = {"relation": odd, "sensitive": "s", "columns": ["job"]}
    found = ps.intersection_attack(engine, [*releases, unread], table)
    assert found.summary.n_unlocated == 0 and len(found.people()) == 6 >= found.newly_known
    with tempfile.TemporaryDirectory() as folder:
        assert len(group_contents.writer(releases[0])(Path(folder))) == 3
    people = rows[["age", "job"]].assign(n=["1.50", "2.5", "4", "8", None, "9"])
    known = ps.Table(rows, {"job": JOBS, "n": None}, "s", population=people)
    requirement = ps.Composition([{"relation": rows, "sensitive": "s", "columns": ["age", "job"]}])
    (verdict,) = ps.check(engine, known, [requirement]).values()
    assert verdict.witness["people"] == 6
