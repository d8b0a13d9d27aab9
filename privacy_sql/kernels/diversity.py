"""How varied the sensitive values of a group are: entropy ℓ-diversity decided without an error."""

from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from math import exp, gcd, log

# the error of an entropy summed in floats stays far below this
UNSURE = 1e-7
FIRST_DIGITS = 30  # of logarithms, before more are asked for


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


def log_sum_sign(powers: Mapping[int, int]) -> int:
    """-1, 0 or 1: the sign of the sum of exponent * ln(base) over `powers` (bases 1 and above).

    What entropy ℓ-diversity compares (Ganta et al. 2008, Def. 4). Integers decide a tie: the product of the
    powers is 1. Otherwise a few more digits always show on which side of 0 the sum lies.

    >>> log_sum_sign({8: 2, 4: -3})
    0
    >>> log_sum_sign({3: 12, 2: -19})
    1
    """
    if not coprime_powers(powers):
        return 0
    digits = FIRST_DIGITS
    while True:
        low, high = log_sum_bounds(powers, digits)
        if low > 0 or high < 0:
            return 1 if low > 0 else -1
        digits *= 2


def coprime_powers(powers: Mapping[int, int]) -> dict[int, int]:
    """The same product over pairwise coprime bases, without bases 1 and exponents 0.

    Two products are equal exactly when their quotient comes back empty. Splitting by greatest common
    divisors replaces prime factors, and stays fast where those would be hard to find.

    >>> coprime_powers({12: 1, 18: -1})
    {3: -1, 2: 1}
    """
    found: dict[int, int] = {}
    waiting = [(base, exponent) for base, exponent in powers.items() if base > 1 and exponent]
    while waiting:
        base, exponent = waiting.pop()
        other, common = next(((o, gcd(base, o)) for o in found if gcd(base, o) > 1), (1, 1))
        if common == 1:
            found[base] = exponent
            continue
        its_exponent = found.pop(other)
        parts = (base // common, exponent), (other // common, its_exponent), (common, exponent + its_exponent)
        waiting += [(part, times) for part, times in parts if part > 1 and times]
    return found


def log_sum_bounds(powers: Mapping[int, int], digits: int) -> tuple[Fraction, Fraction]:
    """Two fractions, below and above the sum of exponent * ln(base)."""
    with localcontext() as context:
        context.prec = digits
        total, size = Decimal(0), Decimal(0)
        for base, exponent in powers.items():
            term = Decimal(base).ln() * exponent
            total += term
            size += abs(term)
    # each term is rounded twice and each partial sum once, by at most half a unit of the last digit
    error = Fraction(size) * (len(powers) + 4) / 10 ** (digits - 2)
    return Fraction(total) - error, Fraction(total) + error
