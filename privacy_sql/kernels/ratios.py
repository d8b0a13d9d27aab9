"""The largest of many fractions, found by floats and settled by integers."""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]

# a float quotient of two integers is off by less than two parts in 10^15
WORTH_COMPARING = 1e-12


def largest_ratio(numerators: Integers, denominators: Integers) -> int:
    """Position of the largest numerator / denominator; denominators are positive.

    >>> largest_ratio(np.array([1, 2, 3]), np.array([2, 3, 5]))
    1
    """
    return int(largest_ratio_per_label(numerators, denominators, np.zeros(len(numerators), np.int64))[0])


def largest_ratio_per_label(numerators: Integers, denominators: Integers, labels: Integers) -> Integers:
    """For each label 0, 1, ... the position of its largest numerator / denominator.

    >>> largest_ratio_per_label(np.array([1, 2, 3]), np.array([2, 3, 4]), np.array([1, 1, 0])).tolist()
    [2, 1]
    """
    approximate = (numerators / denominators).astype(np.float64)
    top = np.full(int(labels.max()) + 1, -np.inf)
    np.maximum.at(top, labels, approximate)
    near = approximate >= top[labels] - np.abs(top[labels]) * WORTH_COMPARING
    best: dict[int, tuple[Fraction, int]] = {}
    for position in _one_of_each(numerators, denominators, labels, np.flatnonzero(near)):
        ratio = Fraction(int(numerators[position]), int(denominators[position]))
        label = int(labels[position])
        if label not in best or ratio > best[label][0]:
            best[label] = ratio, int(position)
    return np.array([best[label][1] for label in range(len(top))], np.int64)


def _one_of_each(
    numerators: Integers, denominators: Integers, labels: Integers, positions: Integers
) -> Integers:
    """The first position of each distinct (label, fraction): equal groups are common, comparing is slow."""
    if numerators.dtype == object or len(positions) <= int(labels.max()) + 1:
        return positions
    divisors = np.gcd(numerators[positions], denominators[positions])
    triples = np.stack(
        [labels[positions], numerators[positions] // divisors, denominators[positions] // divisors]
    )
    return positions[np.unique(triples, axis=1, return_index=True)[1]]
