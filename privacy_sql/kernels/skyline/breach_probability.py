"""Breach probability (Chen, LeFevre and Ramakrishnan, VLDB Journal 2008).

An adversary wants to show that a target t has the sensitive value σ. Amounts (ℓ, k, m) say how much they may
know at most: ℓ values that the target does not have, k other people, m members of the target's same-value
family. `case` is the table's `values_per_person`: "one" (SVPI), "set" or "multiset" (MVPI).

Differs from the paper: a group without σ is dropped (its printed ratio is 0/0), a factor whose numerator is
not positive counts as zero before any division, and integers instead of floats decide near a limit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import partial, reduce
from typing import Literal, NamedTuple

ValuesPerPerson = Literal["one", "set", "multiset"]
Ratio = tuple[int, int]  # numerator and denominator, not reduced: comparing needs no gcd

ALWAYS_EXACT_BITS = 20_000  # integers up to this size are as fast as floats
MOST_EXACT_BITS = 20_000_000  # with more bits, a case too close to call counts as unsafe


class Amounts(NamedTuple):
    """(ℓ, k, m) of Sec. 4.1: values ruled out for the target, other people known, members of the family."""

    ruled_out: int
    known: int
    family: int


class SkylineGroup(NamedTuple):
    """What one group shows about σ: n people, #σ, the other values' counts (largest first), its number."""

    people: int
    holders: int
    others: tuple[int, ...] = ()
    number: int = 0


class WorstTerm(NamedTuple):
    """The least negated ratio as a logarithm, the term of Theorem 2 and the two groups that attain it."""

    log_ratio: float
    term: int
    target: SkylineGroup
    family: SkylineGroup


def target_factor(group: SkylineGroup, ruled_out: int, known: int, case: ValuesPerPerson) -> Ratio:
    """T_σ(g, ℓ, k) of Sec. 7.1: odds against the target having σ, given ℓ values and k people of the group.

    >>> target_factor(SkylineGroup(people=7, holders=1, others=(4, 2)), 1, 0, "one")
    (2, 1)
    """
    n, s, top = group.people, group.holders, group.others[:ruled_out]
    if case == "one":
        return max(0, n - s - sum(top) - known), s
    if case == "set":
        return max(0, n - s - known) * math.prod(n - count for count in top), s * n ** len(top)
    if known >= n - 1:
        return 0, 1
    missed, tried = (n - known - 1) ** s, (n - known) ** s
    return missed * (n - 1) ** sum(top), (tried - missed) * n ** sum(top)


def family_factor(group: SkylineGroup, family: int, known: int, case: ValuesPerPerson) -> Ratio:
    """V_σ(f, m, k) of Sec. 7.1: chance that none of m people has σ when k others of the group do not.

    >>> family_factor(SkylineGroup(people=4, holders=1), 2, 0, "one")
    (6, 12)
    """
    n, s = group.people, group.holders
    if family == 0:
        return 1, 1
    if family + known > innocent(group, case) + (case == "multiset"):
        return 0, 1
    if case == "multiset":
        return (n - known - family) ** s, (n - known) ** s
    return math.perm(n - s - known, family), math.perm(n - known, family)


def innocent(group: SkylineGroup, case: ValuesPerPerson) -> int:
    """How many people of the group can lack σ at the same time."""
    return group.people - (1 if case == "multiset" else group.holders)


def negated_ratio(groups: Sequence[SkylineGroup], amounts: Amounts, case: ValuesPerPerson) -> Ratio:
    """The least negated ratio over all knowledge of these amounts: the three terms of Theorem 2, exactly.

    >>> negated_ratio([SkylineGroup(7, 1, (4, 2))], Amounts(1, 0, 1), "one")  # BP = 1 / (5/3 + 1) = 3/8
    (10, 6)
    """
    ruled_out, k, m = amounts
    target = partial(target_factor, ruled_out=ruled_out, case=case)
    family = partial(family_factor, family=m, case=case)
    together = _least(_times(target(g, known=k), family(g, known=k + 1)) for g in groups)
    if len(groups) == 1:
        return together  # the other two terms place the family in a second group
    return _least(
        (
            together,
            _times(_least(target(g, known=0) for g in groups), _least(family(g, known=k) for g in groups)),
            _times(_least(target(g, known=k) for g in groups), _least(family(g, known=0) for g in groups)),
        )
    )


def _times(a: Ratio, b: Ratio) -> Ratio:
    return a[0] * b[0], a[1] * b[1]


def _least(ratios: Iterable[Ratio]) -> Ratio:
    return reduce(lambda a, b: a if a[0] * b[1] <= b[0] * a[1] else b, ratios)


def breach_probability(
    groups: Sequence[SkylineGroup], amounts: Amounts, case: ValuesPerPerson
) -> Fraction | float:
    """BP_σ(ℓ, k, m) of Sec. 6.1 over the groups that hold σ: 1 / (least negated ratio + 1); no group, 0.

    A Fraction while the integers stay small, else a float rounded up.

    >>> breach_probability([SkylineGroup(4, 2, (2,)), SkylineGroup(4, 1, (2, 1))], Amounts(0, 1, 0), "one")
    Fraction(2, 3)
    """
    if not groups:
        return Fraction(0)
    if is_certain(groups, amounts, case):
        return Fraction(1)
    if _bits(groups, amounts, case) <= ALWAYS_EXACT_BITS:
        numerator, denominator = negated_ratio(groups, amounts, case)
        return Fraction(denominator, numerator + denominator)
    return min(1.0, _sigmoid(-worst_case(groups, amounts, case).log_ratio) + _float_error(groups))


def is_safe(groups: Sequence[SkylineGroup], amounts: Amounts, limit: Fraction, case: ValuesPerPerson) -> bool:
    """Whether BP_σ(ℓ, k, m) < limit (Def. 3). Strict, and decided in integers whenever floats come close.

    >>> is_safe([SkylineGroup(7, 1, (4, 2))], Amounts(1, 0, 1), Fraction(3, 8), "one")
    False
    """
    if not groups or is_certain(groups, amounts, case):
        return not groups and limit > 0
    if limit >= 1:
        return limit == 1  # certainty alone reaches 1; a limit above 1 is no limit and is refused
    bits = _bits(groups, amounts, case)
    if bits > ALWAYS_EXACT_BITS:
        distance = _sigmoid(-worst_case(groups, amounts, case).log_ratio) - float(limit)
        if abs(distance) > _float_error(groups) or bits > MOST_EXACT_BITS:
            return distance < -_float_error(groups)
    numerator, denominator = negated_ratio(groups, amounts, case)
    return denominator * limit.denominator < limit.numerator * (numerator + denominator)


def is_certain(groups: Iterable[SkylineGroup], amounts: Amounts, case: ValuesPerPerson) -> bool:
    """Whether the knowledge can prove σ: a numerator of Theorem 2 is zero. Tested without dividing.

    >>> is_certain([SkylineGroup(5, 1, (4,))], Amounts(0, 4, 0), "one")
    True
    """
    ruled_out, k, m = amounts
    return any(k + m >= innocent(g, case) or _leaves_no_other_value(g, ruled_out, k, case) for g in groups)


def _leaves_no_other_value(group: SkylineGroup, ruled_out: int, known: int, case: ValuesPerPerson) -> bool:
    if case == "one":
        return sum(group.others[:ruled_out]) + known >= group.people - group.holders
    return case == "set" and ruled_out > 0 and group.others[:1] == (group.people,)


def _bits(groups: Iterable[SkylineGroup], amounts: Amounts, case: ValuesPerPerson) -> int:
    """How many bits the integers of the exact comparison can have."""
    lengths = []
    for g in groups:
        if case == "multiset":
            factors = 2 * g.holders + sum(g.others[: amounts.ruled_out])
        else:
            factors = amounts.family + 1 + (min(amounts.ruled_out, len(g.others)) if case == "set" else 0)
        lengths.append(factors * g.people.bit_length())
    return max(lengths)


def _float_error(groups: Iterable[SkylineGroup]) -> float:
    """More than the rounding error of the logarithms below, and never under 1e-9."""
    return max(1e-9, *(64 * math.ulp(math.lgamma(g.people + 2) + 16 * g.holders) for g in groups))


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(max(x, -700.0)) / (1 + math.exp(max(x, -700.0)))


def worst_case(groups: Sequence[SkylineGroup], amounts: Amounts, case: ValuesPerPerson) -> WorstTerm:
    """Which term of Theorem 2 is least and which groups attain it, in floats; ties prefer one group."""
    ruled_out, k, m = amounts

    def target(group: SkylineGroup, known: int) -> float:
        return _log_target(group, ruled_out, known, case)

    def family(group: SkylineGroup, known: int) -> float:
        return _log_family(group, m, known, case)

    found = [WorstTerm(target(g, k) + family(g, k + 1), 1, g, g) for g in groups]
    for term, with_target, with_family in ((2, 0, k), (3, k, 0)):
        g = min(groups, key=partial(target, known=with_target))
        f = min(groups, key=partial(family, known=with_family))
        if g != f:
            found.append(WorstTerm(target(g, with_target) + family(f, with_family), term, g, f))
    return min(found, key=lambda worst: worst.log_ratio)


def chance(worst: WorstTerm, amounts: Amounts, case: ValuesPerPerson) -> float:
    """The chance of σ given this knowledge about the groups of a worst case: its own term of Theorem 2.

    >>> group = SkylineGroup(people=4, holders=2, others=(2,))
    >>> round(chance(WorstTerm(0.0, 1, group, group), Amounts(0, 1, 0), "one"), 4)
    0.6667
    """
    ruled_out, k, m = amounts
    near, far = {1: (k, k + 1), 2: (0, k), 3: (k, 0)}[worst.term]
    odds = _log_target(worst.target, ruled_out, near, case) + _log_family(worst.family, m, far, case)
    return 1.0 if odds == -math.inf else _sigmoid(-odds)


def _log_target(group: SkylineGroup, ruled_out: int, known: int, case: ValuesPerPerson) -> float:
    n, s, top = group.people, group.holders, group.others[:ruled_out]
    if known >= innocent(group, case) or _leaves_no_other_value(group, ruled_out, known, case):
        return -math.inf
    if case == "one":
        return math.log(n - s - sum(top) - known) - math.log(s)
    if case == "set":
        return math.log(n - s - known) - math.log(s) + sum(math.log1p(-count / n) for count in top)
    missed = s * math.log1p(-1 / (n - known))
    return missed - math.log(-math.expm1(missed)) + sum(top) * math.log1p(-1 / n)


def _log_family(group: SkylineGroup, family: int, known: int, case: ValuesPerPerson) -> float:
    if family == 0:
        return 0.0
    n, s, free = group.people - known, group.holders, innocent(group, case) - known
    if family > free + (case == "multiset"):
        return -math.inf
    if case == "multiset":
        return s * math.log1p(-family / n) if family < n else -math.inf
    return (
        math.lgamma(free + 1)
        - math.lgamma(free - family + 1)
        - math.lgamma(n + 1)
        + math.lgamma(n - family + 1)
    )


def least_amounts(groups: Sequence[SkylineGroup], amounts: Amounts, case: ValuesPerPerson) -> Amounts:
    """The fewest facts that give the same breach probability ("the five individuals" of Sec. 8.3).

    A ratio above zero falls with every person and every value that occurs, so only values that do not occur
    can be left out. Where σ is certain, the answer is the cheapest proof in any group.

    >>> least_amounts([SkylineGroup(7, 2, (1, 1, 1, 1, 1))], Amounts(0, 9, 9), "one")
    Amounts(ruled_out=0, known=5, family=0)
    """
    if is_certain(groups, amounts, case):
        proofs = (proof for g in groups for proof in _proofs(g, amounts, case))
        return min(proofs, key=lambda proof: (sum(proof), proof.family))
    target = worst_case(groups, amounts, case).target
    return amounts._replace(ruled_out=min(amounts.ruled_out, sum(count > 0 for count in target.others)))


def _proofs(group: SkylineGroup, amounts: Amounts, case: ValuesPerPerson) -> Iterable[Amounts]:
    """Ways within `amounts` to prove that someone of this group has σ."""
    ruled_out, k, m = amounts
    free = innocent(group, case)
    if k + m >= free:
        yield Amounts(0, min(k, free), free - min(k, free))
    for values in range(min(ruled_out, len(group.others)) + 1):
        left = max(0, free - sum(group.others[:values])) if case == "one" else 0
        if left <= k and _leaves_no_other_value(group, values, left, case):
            yield Amounts(values, left, 0)
