from fractions import Fraction
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privacy_sql.kernels.closeness import bounded_gain, log_change
from tests.oracles.classical import natural_log

shares = st.fractions(min_value="1/1000", max_value=1, max_denominator=1000)


@given(shares, shares, st.fractions(min_value="1/10", max_value=5, max_denominator=50))
def test_a_gain_is_measured_against_the_smaller_of_its_two_bounds(share, in_group, beta):
    gain = max(in_group / share - 1, Fraction(0))
    bound = min(float(beta), -float(natural_log(share)))
    expected = 0 if gain == 0 else float(gain) / bound if bound else inf
    assert float(bounded_gain(in_group / share, share, beta)) == pytest.approx(expected, rel=1e-9)


@given(shares, shares)
def test_a_rise_and_the_fall_that_undoes_it_change_as_much(first, second):
    assert float(log_change(first / second)) == pytest.approx(abs(float(natural_log(first / second))))
    assert log_change(first / second) == log_change(second / first)


def test_a_share_that_nearly_fills_the_table_leaves_nearly_no_room():
    n = 10**9
    assert bounded_gain(Fraction(n, n - 1), Fraction(n - 1, n), Fraction(1)) == pytest.approx(1, abs=1e-6)
