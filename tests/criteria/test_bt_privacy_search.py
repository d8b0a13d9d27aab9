"""(B,t)-privacy in the searches: full-domain asks every choice, cutting takes only cuts that hold."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.beliefs import beliefs
from privacy_sql.counted.base import count
from privacy_sql.counted.grouping import Grouping
from privacy_sql.judge import Requirements, judge
from privacy_sql.methods.full_domain import FullDomain
from privacy_sql.query.template import Query, render
from tests import engines

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
    safe = [c for c in choices if judge(Grouping.by(base, base.keys(c)), [question])[str(question)].safe]
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


def test_the_candidate_halves_of_a_level_are_asked_about_in_one_statement(monkeypatch: Any) -> None:
    asked: list[str] = []
    monkeypatch.setattr(beliefs, "render", lambda name, **more: (asked.append(name), render(name, **more))[1])
    with engines.opened() as engine:
        require = [ps.KAnonymity(3), ps.BTPrivacy(bandwidth="0.3", t="0.3")]
        release = ps.publish(engine, people(400), require, ps.Multidimensional())
        assert release.grouping.n_groups > 60
    # two axes at each of at most eight levels, one after the other, and two verdicts about the whole
    assert 4 < asked.count("criteria/bt_privacy.sql") <= 2 * 8 + 4


@pytest.mark.parametrize("posterior", ["exact", "estimate"])
def test_summary_json_manifest_and_report_say_how_many_groups_are_exact(
    engine: Any, tmp_path: Path, posterior: str
) -> None:
    require = [ps.KAnonymity(3), ps.BTPrivacy(bandwidth="0.3", t="0.2", posterior=posterior)]
    release = ps.publish(engine, people(120), require, ps.Multidimensional())
    verdict, n = release.verdicts[str(require[1])], release.grouping.n_groups
    ps.write(engine, release, tmp_path / "out.csv")
    (manifest,) = (
        told
        for told in json.loads((tmp_path / "out.csv.manifest.json").read_text())["verdicts"]
        if told["criterion"] == "bt_privacy"
    )
    exact = posterior == "exact"
    for told in (verdict.to_json(), manifest):
        assert told["exact"] is exact and told["witness"]["prior"] == "dense"
        assert told["witness"]["exact_groups"] == (n if exact else 0)
        assert told["witness"]["estimated_groups"] == (0 if exact else n)
    pages = [str(release)]
    for audience in ("public", "internal"):
        ps.report(release, tmp_path / f"{audience}.html", audience=audience)
        pages.append((tmp_path / f"{audience}.html").read_text())
    for page in pages:
        assert (f"exact: false, an estimate for {n} groups" in page) is not exact


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
    assert release.base.engine.fetch(
        Query(f"select count(*) as n from ({release.view.sql}) as published")
    ) == [{"n": release.rows_out}]
