"""How varied the sensitive values of a group are: entropy ℓ-diversity decided without an error."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from math import exp, gcd, log

from privacy_sql.kernels.logarithms import coprime_powers, log_sum_sign

# the error of an entropy summed in floats stays far below this
UNSURE = 1e-7


def entropy_reaches(counts: Sequence[int], ell: Fraction) -> bool:
    """Whether exp(entropy) of these counts is at least `ell`, decided in integers.

    Ganta et al. 2008, Def. 4 (entropy ℓ-diversity): with n rows, n^n >= ℓ^n * product of n_i^n_i. Counts are
    divided by their greatest common divisor first, which changes no share.

    >>> entropy_reaches([4, 1, 1, 1, 1], Fraction(4))
    True
    >>> entropy_reaches([400_001, 100_000, 100_000, 100_000, 100_000], Fraction(4))
    False
    """
    if not counts or ell <= 0:
        return bool(counts)
    powers, n = _powers_of_entropy(counts)
    for base, exponent in ((ell.numerator, -n), (ell.denominator, n)):
        powers[base] += exponent
    return log_sum_sign(powers) >= 0


def exponential_entropy(counts: Sequence[int]) -> Fraction | float:
    """exp(entropy): the number of equally likely values that would be as hard to guess; exact if rational.

    >>> exponential_entropy([4, 1, 1, 1, 1])
    Fraction(4, 1)
    >>> round(exponential_entropy([2, 1]), 6)
    1.889882
    """
    powers, n = _powers_of_entropy(counts)
    exact = Fraction(1)
    for base, exponent in coprime_powers(powers).items():
        power = Fraction(exponent, n)
        root = round(base ** (1 / power.denominator))
        if root**power.denominator != base:  # irrational: with coprime bases nothing else is left
            return exp(sum(times * log(count) for count, times in powers.items()) / n)
        exact *= Fraction(root) ** power.numerator
    return exact


def _powers_of_entropy(counts: Sequence[int]) -> tuple[Counter[int], int]:
    """n, and n * entropy as the powers (of n and of each count) whose logarithms add up to it."""
    divisor = gcd(*counts)
    reduced = Counter(count // divisor for count in counts)
    n = sum(count * times for count, times in reduced.items())
    powers = Counter({n: n})
    for count, times in reduced.items():
        powers[count] -= count * times
    return powers, n
