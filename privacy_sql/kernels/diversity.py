"""How varied the sensitive values of a group are: the arithmetic of the four kinds of ℓ-diversity.

Groups come laid end to end: `counts` holds the count of each sensitive value that a group shows, group after
group, and `starts` the position where each group begins.
"""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from math import ceil, exp, gcd, log

import numpy as np
from numpy.typing import NDArray

from privacy_sql.kernels.logarithms import coprime_powers, log_sum_sign
from privacy_sql.kernels.ratios import Integers

# the error of an entropy summed in floats stays far below this
UNSURE = 1e-9


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
        rooted = _root(base, Fraction(exponent, n))
        if rooted is None:
            return exp(sum(times * log(count) for count, times in powers.items()) / n)
        exact *= rooted
    return exact


def _powers_of_entropy(counts: Sequence[int]) -> tuple[Counter[int], int]:
    """n * entropy as powers (of n and of each count) whose logarithms it sums, with n."""
    divisor = gcd(*counts)
    reduced = Counter(count // divisor for count in counts)
    n = sum(count * times for count, times in reduced.items())
    powers = Counter({n: n})
    for count, times in reduced.items():
        powers[count] -= count * times
    return powers, n


def _root(base: int, exponent: Fraction) -> Fraction | None:
    """base to the power of a fraction, or None when that is irrational (coprime bases hide no other case)."""
    root = round(base ** (1 / exponent.denominator))
    if root**exponent.denominator != base:
        return None
    return Fraction(root) ** exponent.numerator


def exponential_entropies(starts: Integers, counts: Integers) -> NDArray[np.float64]:
    """exp(entropy) of every group, in floats."""
    sizes = np.add.reduceat(counts, starts)
    return np.exp(np.log(sizes) - np.add.reduceat(counts * np.log(counts), starts) / sizes)


def groups_below_entropy(starts: Integers, counts: Integers, ell: Fraction) -> Integers:
    """Which groups have exp(entropy) below `ell`: floats where they are sure, integers where they are not."""
    entropies = exponential_entropies(starts, counts)
    limit = float(ell)
    below = entropies < limit
    ends = np.append(starts[1:], len(counts))
    uniform = np.minimum.reduceat(counts, starts) == np.maximum.reduceat(counts, starts)
    below[uniform] = (ends - starts)[uniform] < ceil(ell)
    unsure = np.abs(entropies - limit) <= UNSURE * limit
    for group in np.flatnonzero(unsure & ~uniform):
        below[group] = not entropy_reaches(counts[starts[group] : ends[group]].tolist(), ell)
    return np.flatnonzero(below)


def critical_c(counts: Sequence[int], ell: int) -> Fraction | None:
    """The least c at which these counts are (c,ℓ)-diverse, equality included; None when the tail is empty.

    Kifer and Gehrke 2006, Def. 2.5: the largest count over the sum of the ℓ-th and smaller ones.

    >>> critical_c([1, 3, 2], ell=2)
    Fraction(1, 1)
    """
    ordered = sorted(counts, reverse=True)
    tail = sum(ordered[ell - 1 :])
    return Fraction(ordered[0], tail) if tail else None


def heads_and_tails(starts: Integers, counts: Integers, ell: int) -> tuple[Integers, Integers]:
    """For every group its largest count, and the sum of its ℓ-th largest and smaller counts.

    >>> [x.tolist() for x in heads_and_tails(np.array([0, 3]), np.array([1, 3, 2, 5]), ell=2)]
    [[3, 5], [3, 0]]
    """
    lengths = np.diff(np.append(starts, len(counts)))
    group = np.repeat(np.arange(len(starts)), lengths)
    descending = counts[np.lexsort((-counts, group))]
    rank = np.arange(len(counts)) - np.repeat(starts, lengths)
    return descending[starts], np.add.reduceat(np.where(rank >= ell - 1, descending, 0), starts)
