"""(B,t)-privacy in the searches: full-domain asks every choice, cutting takes only cuts that hold."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.base import count
from privacy_sql.judging import Requirements, judge
from privacy_sql.mechanisms.full_domain import FullDomain
from privacy_sql.query import Query

JOBS = ps.Tree({"cook": ["food", "*"], "baker": ["food", "*"], "nurse": ["care", "*"]})


def people(n: int, values: int = 3) -> ps.Table:
    random = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "age": random.integers(20, 60, n),
            "job": random.choice(["cook", "baker", "nurse"], n),
            "ill": random.choice([f"ill{i}" for i in range(values)], n),
        }
    )
    return ps.Table(frame, {"age": ps.Intervals(5, 10, 20), "job": JOBS}, "ill")


def test_full_domain_finds_exactly_the_choices_that_are_safe_one_by_one(engine: Any) -> None:
    question = ps.BTPrivacy(bandwidth="0.3", t="0.03")
    base = count(engine, people(60))
    choices = [{"age": age, "job": job} for age in range(5) for job in range(3)]
    safe = [c for c in choices if judge(base.grouped(base.keys(c)), [question])[str(question)].safe]
    found = FullDomain().search(base, Requirements((question,)))
    assert 0 < len(safe) < len(choices)
    assert found.found.safe_choices == len(safe)
    minimal = [dict(choice["levels"]) for choice in found.minimal]
    assert all(choice in safe for choice in minimal)


def test_large_groups_are_spoken_of_before_full_domain_searches(
    engine: Any, caplog: pytest.LogCaptureFixture, monkeypatch: Any
) -> None:
    monkeypatch.setattr("privacy_sql.criteria.bt_privacy.STATE_CAP", 50)
    with caplog.at_level(logging.WARNING, "privacy_sql"), pytest.raises(ps.PrivacySqlError):
        ps.publish(engine, people(60), [ps.BTPrivacy(bandwidth="0.3", t="0.01")], ps.FullDomain())
    assert "larger groups are undecided and never safe" in caplog.text


def test_cutting_keeps_every_group_within_t_judged_exactly(engine: Any) -> None:
    require = [ps.KAnonymity(3), ps.BTPrivacy(bandwidth="0.3", t="0.1")]
    release = ps.publish(engine, people(120), require, ps.Multidimensional())
    verdict = release.verdicts["bt_privacy(bandwidth=0.3, t=0.1)"]
    assert verdict.safe and verdict.exact and release.grouping.n_groups > 5
    assert verdict.witness["exact_groups"] == release.grouping.n_groups
    assert max(verdict.points[0].group_risk) <= 0.1


def test_cuts_of_a_table_too_large_to_be_decided_are_taken_on_the_larger_estimate(
    engine: Any, monkeypatch: Any
) -> None:
    monkeypatch.setattr("privacy_sql.criteria.bt_privacy.SEARCH_CAP", 10)
    require = [ps.KAnonymity(3), ps.BTPrivacy(bandwidth="0.3", t="0.1")]
    release = ps.publish(engine, people(120), require, ps.Multidimensional())
    assert release.grouping.n_groups > 5
    assert release.verdicts[str(require[1])].exact


def test_boxes_that_stay_undecided_may_be_left_out_and_the_rest_is_safe(
    engine: Any, monkeypatch: Any
) -> None:
    monkeypatch.setattr("privacy_sql.criteria.bt_privacy.SEARCH_CAP", 10)
    monkeypatch.setattr("privacy_sql.criteria.bt_privacy.STATE_CAP", 60)
    require = [ps.KAnonymity(3), ps.BTPrivacy(bandwidth="0.3", t="0.05")]
    whole = ps.publish(engine, people(120), require, ps.Multidimensional())
    assert not whole.safe and whole.verdicts[str(require[1])].witness["undecided_groups"]
    release = ps.publish(engine, people(120), require, ps.Multidimensional(max_suppressed="0.9"))
    assert release.safe and 0 < release.suppressed < 108
    assert release.rows_in == release.rows_out + release.suppressed
    assert release.grouping.base.engine.fetch(
        Query(f"select count(*) as n from ({release.view.sql}) as published")
    ) == [{"n": release.rows_out}]
