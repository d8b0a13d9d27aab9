import time
from fractions import Fraction
from math import prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privacy_sql.kernels.diversity import coprime_powers, entropy_reaches, exponential_entropy, log_sum_sign
from tests.oracles import classical

histogram = st.lists(st.integers(1, 12), min_size=1, max_size=6)
limits = st.fractions(min_value="1/2", max_value=7, max_denominator=6)


def rows_of(counts):
    return [("g", value) for value, n in enumerate(counts) for _ in range(n)]


@given(histogram, limits)
@settings(max_examples=200)
def test_entropy_is_decided_as_the_definition_decides_it(counts, ell):
    assert entropy_reaches(counts, ell) == classical.entropy_l_diversity(rows_of(counts), ell).safe


@given(histogram)
def test_the_exponential_of_entropy_is_that_of_the_definition(counts):
    expected = classical.entropy_l_diversity(rows_of(counts), Fraction(1)).value
    assert float(exponential_entropy(counts)) == pytest.approx(float(expected), abs=1e-12)


@pytest.mark.parametrize("scale", [1, 7, 1_000_003])
def test_a_tie_reaches_its_limit_whatever_the_scale_of_the_counts(scale):
    half_and_eighths = [4 * scale, scale, scale, scale, scale]
    assert exponential_entropy(half_and_eighths) == 4
    assert entropy_reaches(half_and_eighths, Fraction(4))
    assert not entropy_reaches(half_and_eighths, Fraction(4) + Fraction(1, 10**12))


def test_one_row_off_a_tie_among_millions_is_seen_and_takes_no_time():
    began = time.process_time()
    eight = [1_000_000, 250_000, 250_000, 250_000, 250_000]
    assert entropy_reaches(eight, Fraction(4))
    assert not entropy_reaches([1_000_001, *eight[1:]], Fraction(4))
    assert entropy_reaches([999_999, *eight[1:]], Fraction(4))
    assert not entropy_reaches([10**9 + 1, *[10**9] * 4], Fraction(5))
    assert time.process_time() - began < 1


def test_the_floor_of_a_float_would_call_five_equal_values_four():
    """exp(H) of equal counts comes out just below an integer in floats for many numbers of values."""
    for n_values in range(1, 200):
        assert entropy_reaches([3] * n_values, Fraction(n_values))
        assert not entropy_reaches([3] * n_values, Fraction(n_values) + Fraction(1, 10**12))


def test_no_counts_reach_nothing():
    assert not entropy_reaches([], Fraction(1))


# -- sums of logarithms ----------------------------------------------------------------------------

powers = st.dictionaries(st.integers(1, 60), st.integers(-9, 9), max_size=5)


def product(bases: dict[int, int]) -> Fraction:
    return prod((Fraction(base) ** exponent for base, exponent in bases.items()), start=Fraction(1))


@given(powers)
@settings(max_examples=200)
def test_the_sign_is_that_of_the_product_of_the_powers_against_one(powers):
    value = product(powers)
    assert log_sum_sign(powers) == (value > 1) - (value < 1)


@given(powers)
@settings(max_examples=200)
def test_splitting_into_coprime_bases_keeps_the_product(powers):
    assert product(coprime_powers(powers)) == product(powers)


def test_a_tie_is_found_between_numbers_of_two_hundred_digits():
    first, second = 10**100 + 267, 10**100 + 949
    assert log_sum_sign({first * second: 3, first: -3, second: -3}) == 0
    assert log_sum_sign({first * second: 3, first: -3, second + 1: -3}) == -1


def test_a_difference_in_the_sixtieth_digit_is_seen():
    big = 10**60
    assert log_sum_sign({big + 1: 10**6, big: -(10**6)}) == 1
