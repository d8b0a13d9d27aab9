"""The search for a safe collection: its bound, what it counts, and that its answers are those of SQL."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import privacy_sql as ps
from privacy_sql.counted.base import count
from privacy_sql.marginals.one_column import OneColumn
from privacy_sql.marginals.search import MarginalSearch
from privacy_sql.searches import Limits
from tests import engines
from tests.methods.test_marginals import REQUIRE, people
from tests.seeds import seeds


@pytest.mark.parametrize("seed", seeds(4))
def test_no_collection_is_better_than_the_bound_that_is_told(seed: int) -> None:
    chance = random.Random(seed)
    with engines.opened() as engine:
        search = MarginalSearch(
            count(engine, people(chance.randint(20, 80))), (ps.KLink(chance.randint(1, 9)),)
        )
        edge = [search.space.start]
        for _ in range(40):
            edge = [chance.choice(list(search.space.larger(edge[0])) or [search.space.start])]
            assert edge[0].kl >= search.least_kl - 1e-9
        exact = ps.search(engine, people(60), REQUIRE, ps.Marginals()).to_json()
        walked = ps.search(engine, people(60), REQUIRE, ps.Marginals(most_choices=1))
    assert exact["optimal"] and exact["gap"] == 0 == exact["best"]["values"]["kl"] - exact["least_kl"]
    assert 0 <= walked.search["least_kl"] <= exact["best"]["values"]["kl"] + 1e-9
    assert "not proved optimal; none can be below" in str(walked)


def test_a_walk_that_steps_back_keeps_to_the_marginals_allowed(engine: Any) -> None:
    """Taking an edge out of a marginal with the sensitive column leaves two of them."""
    search = MarginalSearch(count(engine, people()), (ps.KLink(4),), max_with_sensitive=1)
    table = search.attributes.resolutions({"age": 2, "job": 1, "ill": 0})
    behind = list(search.space.smaller(search.space.collection([table])))
    assert any(search.space.with_sensitive(c.graph) > 1 for c in behind)
    assert all(search.space.with_sensitive(c.graph) <= 1 for c in behind if search.safe(c))


@pytest.mark.parametrize(
    ("diversity", "most"),
    [
        (REQUIRE[2], 40),
        (ps.MaxentLDiversity(l=3, kind="entropy"), 10),
        (ps.MaxentLDiversity(l=4, kind="distinct"), 10),
    ],
)
def test_every_verdict_of_the_search_is_that_of_the_driver(engine: Any, diversity: Any, most: int) -> None:
    """The search asks arrays, the driver asks SQL: the same answer for every collection on the way."""
    base = count(engine, people(60))
    require = [*REQUIRE[:2], diversity]
    search = MarginalSearch(base, tuple(require))
    edge, seen = [search.space.start], set()
    while edge and len(seen) < most:
        here = edge.pop()
        levels = [search.attributes.levels(m) for m in search.space.marginals(here)]
        verdicts = ps.check(engine, ps.MarginalSet(engine, people(60), levels), require)
        assert search.safe(here) == bool(verdicts)
        assert here.kl == pytest.approx(ps.MarginalSet(engine, people(60), levels).kl, abs=1e-9)
        for after in search.space.larger(here):
            if after.graph not in seen:
                seen.add(after.graph)
                edge.append(after)


def test_each_marginal_is_counted_once_and_each_join_judged_once(
    engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted, judged = [], []
    count_one, decide = OneColumn._count, OneColumn._decide
    monkeypatch.setattr(OneColumn, "_count", lambda s, m: counted.append(m) or count_one(s, m))
    monkeypatch.setattr(OneColumn, "_decide", lambda s, c: judged.append(c) or decide(s, c))
    search = MarginalSearch(count(engine, people()), tuple(REQUIRE))
    found = search.best(10, 10_000, np.random.default_rng(0), Limits())
    assert found.optimal and len(set(counted)) == len(counted) and len(set(judged)) == len(judged)
    before = len(counted)
    search.best(10, 10_000, np.random.default_rng(0), Limits())
    assert len(counted) == before
