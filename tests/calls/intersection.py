"""Typical calls of the intersection attack."""

from __future__ import annotations

import pandas as pd

import privacy_sql as ps
from tests.calls import workers


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
