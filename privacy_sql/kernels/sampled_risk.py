"""What a sample says about the population it was drawn from: estimates, never a promise.

In: how many people of the sample are in a group, and how many of the population they represent. Out: numbers
that may be far from the truth: somebody who is alone in the sample with a weight of a hundred may still be
alone in the population.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import log

EXACT = 1_000  # larger groups are computed in floating point
NEARLY = 2.0**-60


def expected_risk(sampled: int, standing_for: float) -> float:
    """The expected 1/(people of the population in the group), given how many of them were drawn.

    Benedetti and Franconi (1998): each of the h people of a group is drawn with p = f/F, f were drawn, and h
    follows a negative binomial law: r = sum over h >= f of C(h-1, f-1) p^f (1-p)^(h-f) / h. This equals the
    integral of p u^(f-1) / (p + (1-p) u) for u from 0 to 1, which is computed without subtracting nearly
    equal numbers: by its series in 1-p, or by the recursion over f while that shrinks every error.

    >>> f"{expected_risk(1, 100):.12f}", f"{log(100) / 99:.12f}"
    ('0.046516870566', '0.046516870566')
    >>> expected_risk(3, 3)
    0.3333333333333333
    """
    if not 1 <= sampled <= standing_for:
        raise ValueError("fewer people than were drawn")
    p = sampled / standing_for
    q = (standing_for - sampled) / standing_for
    if p < 0.5 and sampled <= 30:
        part = -log(p) / q
        for f in range(1, sampled):
            part = (1 / f - p * part) / q
        return p * part
    term = part = 1 / sampled
    drawn = 0
    while term > part * NEARLY * q:
        drawn += 1
        term *= q * drawn / (sampled + drawn)
        part += term
    return p * part


def alone_in_population(groups: Mapping[int, int], population: int) -> Fraction | float | None:
    """The share of people alone in the sample who are alone in the population; None if the sample cannot say.

    Zayatz (1991): E_1 h(1) / sum of E_i h(i), with E_i groups of i people in the sample and
    h(i) = i C(N-i, n-1) / C(N, n), the chance that a group of i people of the population shows one person in
    a sample of n of N. Factors common to all h(i) are left out. Exact while groups are small.

    >>> alone_in_population({1: 1, 3: 1}, 36)
    Fraction(595, 2083)
    """
    sampled = sum(size * n for size, n in groups.items())
    if sampled > population:
        raise ValueError("a population of fewer people than the sample")
    largest = max(groups, default=0)
    # h(i)/h(1) is i times the product of (N-n-j)/(N-1-j) over j below i-1
    exact = largest <= EXACT
    chance: Fraction | float = Fraction(1) if exact else 1.0
    total: Fraction | float = Fraction(0) if exact else 0.0
    for size in range(1, largest + 1):
        if size > 1:
            j = size - 2
            left, among = max(population - sampled - j, 0), population - 1 - j
            chance *= Fraction(left, among) if exact else left / among
        total += groups.get(size, 0) * size * chance
    return groups.get(1, 0) / total if total else None
