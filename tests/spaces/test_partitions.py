"""Which axis a box is cut along first, from the reach of boxes alone."""

from __future__ import annotations

import math

import numpy as np
import pytest

from privacy_sql.spaces.partitions import NONE, Axis, information_gain, ranges_of

AGE, JOB = Axis("q1", True), Axis("q2", False, 2)


def columns(**more: list[object]) -> dict[str, object]:
    """Two boxes: one wide in age with one kind of job, one narrow in age with two."""
    reach = {
        "box": [0, 1],
        "n_people": [5, 4],
        "lo_q1": [0, 3],
        "hi_q1": [9, 4],
        "from_q1": np.ma.masked_array([20.0, 30.0], mask=[False, False]),
        "to_q1": np.ma.masked_array([60.0, 31.0], mask=[False, False]),
        "lo_q2_0": [1, 1],
        "hi_q2_0": [2, 5],
        "lo_q2_1": [1, 1],
        "hi_q2_1": [1, 2],
    }
    return {key: np.ma.asarray(value) for key, value in {**reach, **more}.items()}


def test_the_axis_a_box_reaches_farthest_along_comes_first() -> None:
    ranges = ranges_of(columns(), [AGE, JOB])
    assert ranges.order().tolist() == [[0, 1], [1, 0]]


def test_a_hierarchy_is_cut_into_the_children_of_the_lowest_common_node() -> None:
    ranges = ranges_of(columns(), [AGE, JOB])
    assert ranges.level[:, 1].tolist() == [0, 1]


def test_an_axis_with_one_place_is_never_tried() -> None:
    ranges = ranges_of(columns(hi_q1=[0, 3], hi_q2_0=[1, 1], hi_q2_1=[1, 1]), [AGE, JOB])
    assert (ranges.order() == NONE).all()


def test_null_and_one_number_can_still_be_cut_apart() -> None:
    unknown = np.ma.masked_array([1.0, 0.0], mask=[False, True])
    ranges = ranges_of(columns(from_q1=unknown, to_q1=unknown, lo_q1=[0, 0], hi_q1=[1, 0]), [AGE, JOB])
    assert ranges.cuttable[:, 0].tolist() == [True, False]


def test_a_cut_that_tells_the_class_gains_its_entropy_and_one_that_does_not_gains_nothing() -> None:
    boxes, parts = np.array([0, 0, 1, 1, 1, 1]), np.array([1, 2, 3, 3, 4, 4])
    classes, counts = np.array([5, 6, 5, 6, 5, 6]), np.array([3, 3, 2, 4, 1, 2])
    gains = information_gain(boxes, parts, classes, counts)
    assert gains[0] == pytest.approx(math.log(2))
    assert gains[1] == pytest.approx(0, abs=1e-12)
