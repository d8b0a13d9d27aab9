"""What skyline releases are worth: Chen et al. 2008, Sec. 8.2 and 8.4, within stated distances."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.experiments import _skyline_releases as releases
from privacy_sql.studies.bucketized_kl import bucketized_kl


def test_protection_by_value_is_worth_far_more_than_the_highest_for_all(engine: Any, data: Path) -> None:
    by_value, for_all = releases.centric(engine, data).to_json()["rows"]
    # the paper, with thirteen quasi-identifiers: 79.45 against 1585 people a group, 1.280 against 1.869
    assert by_value["average_group_size"] == pytest.approx(130, rel=0.05)
    assert for_all["average_group_size"] / by_value["average_group_size"] > 10
    assert by_value["kl"] == pytest.approx(0.96, abs=0.05)
    assert for_all["kl"] == pytest.approx(1.30, abs=0.05)


def test_ruling_out_values_costs_more_than_knowing_other_people(engine: Any, data: Path) -> None:
    figure = releases.adult_utility(
        engine, data, {"l": (8,), "k": (8,), "m": ()}, {"nothing else": (0, 0, 0)}
    )
    size = {row[0]: row[2] for row in figure.rows}
    assert size["l, nothing else"] > 2 * size["k, nothing else"]


def test_a_tree_learns_the_nursery_class_from_every_safe_release(engine: Any, data: Path) -> None:
    figure = releases.nursery_accuracy(engine, data, {"l": (0, 2), "k": (16,), "m": (16,)}, folds=2)
    scores = [row[2] for row in figure.rows]
    assert len(scores) == 4
    assert all(0.7 < score < 0.85 for score in scores)


def test_synthetic_records_of_every_size_are_cut_in_both_settings() -> None:
    figure = releases.scalability((20_000, 40_000))
    groups = {(row[0], row[1]): row[3] for row in figure.rows}
    assert groups["(0, 1000, 0)", 40_000] > groups["(0, 1000, 0)", 20_000] > 1
    assert groups["(3, 1000, 10)", 40_000] <= groups["(0, 1000, 0)", 40_000]


def test_one_bucket_loses_the_information_between_people_and_values(engine: Any) -> None:
    rows = pd.DataFrame({"age": [1, 1, 2, 2, 2, 2], "s": ["a", "a", "b", "b", "a", "b"]})
    release = ps.publish(engine, ps.Table(rows, ["age"], "s"), [ps.LDiversity(2)], ps.Bucketize([]))
    expected = (2 * math.log(1 / (1 / 2)) + 3 * math.log((3 / 4) / (1 / 2)) + math.log((1 / 4) / (1 / 2))) / 6
    assert bucketized_kl(engine, release) == pytest.approx(expected)
