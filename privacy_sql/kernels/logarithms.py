"""The sign of a sum of logarithms of integers, without an error."""

from collections.abc import Mapping
from decimal import Decimal, localcontext
from fractions import Fraction
from math import gcd

FIRST_DIGITS = 30


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
