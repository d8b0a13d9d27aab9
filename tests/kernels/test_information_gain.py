"""Information gained against privacy lost when a label is specialised."""

import pytest

from privacy_sql.kernels import information_gain


def test_telling_two_classes_apart_gains_one_bit_and_costs_the_anonymity_given_up():
    gain = information_gain.information_gain([4, 4], [[4, 0], [0, 4]])
    assert gain == 1
    assert information_gain.gain_per_loss(gain, 8, 4) == pytest.approx(1 / 5)


def test_children_that_look_like_their_parent_gain_nothing():
    assert information_gain.information_gain([3, 1], [[3, 1]]) == 0
    assert information_gain.information_gain([4, 2], [[2, 1], [2, 1], [0, 0]]) == pytest.approx(0)
