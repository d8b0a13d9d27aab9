from fractions import Fraction
from math import prod

from hypothesis import given, settings
from hypothesis import strategies as st

from privacy_sql.kernels.logarithms import coprime_powers, log_sum_sign

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
