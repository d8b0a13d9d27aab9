"""The figures of ganta2008 on one seed, within the range of what others found on the same tables."""

from __future__ import annotations

import os
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import privacy_sql as ps
from privacy_sql.experiments import ganta
from privacy_sql.experiments._overlap import Pair, People

DATA = os.environ.get("PRIVACY_SQL_DATA")
pytestmark = pytest.mark.skipif(not DATA, reason="set PRIVACY_SQL_DATA to the folder of the study data")


@pytest.fixture(scope="module")
def adult() -> Iterator[Pair]:
    with ps.connect() as engine:
        yield Pair(People(engine, Path(str(DATA)), "adult"), seed=0)


def test_mondrian_twice_exposes_few_for_certain_and_most_at_a_quarter(adult: Pair) -> None:
    assert len(adult.people.points) == 30162
    summary = adult.attacked(("mondrian", "mondrian"), 5).summary
    assert (summary.P, summary.n_ok, summary.n_ambiguous) == (5000, 5000, 0)
    assert 2.0 <= summary.perfect <= 5.0
    assert 61 <= summary.PVP["1/4"] <= 71
    # presumed anonymity 5, groups three times as large, and an effective anonymity near the presumed one
    assert min(summary.smallest_group) >= 5
    assert all(size > 2 * 5 for size in summary.avg_group_size)
    assert summary.avg_EA_post < min(summary.avg_EA)
    assert max(summary.avg_EA) < min(summary.avg_group_size)


def test_microaggregation_exposes_more_than_mondrian(adult: Pair) -> None:
    mixed = adult.attacked(("mondrian", "mdav"), 5).summary
    twice = adult.attacked(("mdav", "mdav"), 5).summary
    assert 7 <= mixed.perfect <= 10 and 95 <= mixed.PVP["1/4"] <= 99
    assert 12.6 <= twice.perfect <= 20 and twice.PVP["1/4"] >= 99


def test_most_people_are_found_by_the_nearest_centroid(adult: Pair) -> None:
    methods = ("mdav nearest", "mdav nearest")
    found = adult.attacked(methods, 5)
    assert 56 <= adult.rightly_located(found, methods, 5) <= 75


def test_noise_exposes_nobody_at_one_half_and_many_at_two(adult: Pair) -> None:
    pytest.importorskip("opendp", reason="needs the extra dp")
    small, large = (ganta._noisy_confidences(adult, Fraction(epsilon)) for epsilon in ("1/2", "2"))
    assert (small >= 0.5).mean() == 0 and (small >= 0.25).mean() <= 0.02
    assert 0.38 <= (large >= 0.5).mean() <= 0.45


def test_entropy_diversity_exposes_fewer_in_larger_groups_on_ipums() -> None:
    with ps.connect() as engine:
        pair = Pair(People(engine, Path(str(DATA)), "ipums"), seed=0)
        assert len(pair.people.points) == 7019
        plain = pair.attacked(("mondrian", "mondrian"), 10).summary
        diverse = pair.attacked(("mondrian", "mondrian"), 10, "l", ganta._entropy_diverse(3)).summary
    assert diverse.perfect < plain.perfect / 10
    assert diverse.avg_group_size[0] > 5 * plain.avg_group_size[0]
    # "not applicable" counts as an occupation, so most perfect breaches stood before the attack
    assert 35 <= plain.perfect - plain.perfect_new <= 46


def test_a_part_that_does_not_exist_is_refused(engine: Any) -> None:
    with pytest.raises(ps.PrivacySqlError, match="fig9"):
        next(ganta.run(engine, Path(str(DATA)), ["fig9"]))
