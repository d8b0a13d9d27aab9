"""Breach probability and knowledge skylines (Chen, LeFevre and Ramakrishnan, VLDB Journal 2008).

An adversary wants to show that a target t has the sensitive value σ. Amounts (ℓ, k, m) say how much may be
known: ℓ values tied to the target, k other people, m members of the target's same-value family, each "at most".
`values_per_person` names the case: "one" (SVPI), "set" or "multiset" (MVPI).

Differs from the paper: a group without σ is dropped (its printed ratio is 0/0), a factor whose numerator is not
positive is zero before any division, and near a limit integers decide instead of floats.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial, reduce
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

ValuesPerPerson = Literal["one", "set", "multiset"]
Integers = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Ratio = tuple[int, int]  # numerator and denominator, not reduced: comparing needs no gcd

ALWAYS_EXACT_BITS = 20_000  # integers up to this size are as fast as floats
MOST_EXACT_BITS = 20_000_000  # beyond, a case too close to call counts as unsafe
MOST_PIVOTS = 256  # leaving some dominated groups in costs time, never an answer


class Amounts(NamedTuple):
    """(ℓ, k, m) of Sec. 4.1: values tied to the target, other people known, members of the family."""

    ruled_out: int
    known: int
    family: int


class Group(NamedTuple):
    """What one group shows about σ: n people, #σ, the other values' counts (largest first), its number."""

    people: int
    holders: int
    others: tuple[int, ...] = ()
    number: int = 0


class Worst(NamedTuple):
    """The least negated ratio, as logarithm, with the term of Theorem 2 and the two groups that attain it."""

    log_ratio: float
    term: int
    target: Group
    family: Group


def target_factor(group: Group, ruled_out: int, known: int, case: ValuesPerPerson) -> Ratio:
    """T_σ(g, ℓ, k) of Sec. 7.1: odds against the target having σ, given ℓ values and k people of the group.

    >>> target_factor(Group(people=7, holders=1, others=(4, 2)), 1, 0, "one")
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


def family_factor(group: Group, family: int, known: int, case: ValuesPerPerson) -> Ratio:
    """V_σ(f, m, k) of Sec. 7.1: chance that none of m people has σ when k others of the group do not.

    >>> family_factor(Group(people=4, holders=1), 2, 0, "one")
    (6, 12)
    """
    n, s = group.people, group.holders
    if family == 0:
        return 1, 1
    if family + known > _innocent(group, case) + (case == "multiset"):
        return 0, 1
    if case == "multiset":
        return (n - known - family) ** s, (n - known) ** s
    return math.perm(n - s - known, family), math.perm(n - known, family)


def _innocent(group: Group, case: ValuesPerPerson) -> int:
    """How many people of the group can be without σ at the same time."""
    return group.people - (1 if case == "multiset" else group.holders)


def negated_ratio(groups: Sequence[Group], amounts: Amounts, case: ValuesPerPerson) -> Ratio:
    """The least negated ratio over all knowledge of these amounts: the three terms of Theorem 2, exactly.

    >>> negated_ratio([Group(7, 1, (4, 2))], Amounts(1, 0, 1), "one")  # BP = 1 / (5/3 + 1) = 3/8
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


def breach_probability(groups: Sequence[Group], amounts: Amounts, case: ValuesPerPerson) -> Fraction | float:
    """BP_σ(ℓ, k, m) of Sec. 6.1 over the groups that hold σ: 1 / (least negated ratio + 1); no group, 0.

    A Fraction while the integers stay small, else a float rounded up.

    >>> breach_probability([Group(4, 2, (2,)), Group(4, 1, (2, 1))], Amounts(0, 1, 0), "one")
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


def is_safe(groups: Sequence[Group], amounts: Amounts, limit: Fraction, case: ValuesPerPerson) -> bool:
    """Whether BP_σ(ℓ, k, m) < limit (Def. 3). Strict, and decided in integers whenever floats come close.

    >>> is_safe([Group(7, 1, (4, 2))], Amounts(1, 0, 1), Fraction(3, 8), "one")
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


def is_certain(groups: Iterable[Group], amounts: Amounts, case: ValuesPerPerson) -> bool:
    """Whether the knowledge can prove σ: a numerator of Theorem 2 is zero. Tested without dividing.

    >>> is_certain([Group(5, 1, (4,))], Amounts(0, 4, 0), "one")
    True
    """
    ruled_out, k, m = amounts
    return any(k + m >= _innocent(g, case) or _leaves_no_other_value(g, ruled_out, k, case) for g in groups)


def _leaves_no_other_value(group: Group, ruled_out: int, known: int, case: ValuesPerPerson) -> bool:
    if case == "one":
        return sum(group.others[:ruled_out]) + known >= group.people - group.holders
    return case == "set" and ruled_out > 0 and group.others[:1] == (group.people,)


def _bits(groups: Iterable[Group], amounts: Amounts, case: ValuesPerPerson) -> int:
    """How long the integers of the exact comparison can become."""
    return max(_factors(g, amounts, case) * g.people.bit_length() for g in groups)


def _factors(group: Group, amounts: Amounts, case: ValuesPerPerson) -> int:
    if case == "multiset":
        return 2 * group.holders + sum(group.others[: amounts.ruled_out])
    return amounts.family + 1 + (min(amounts.ruled_out, len(group.others)) if case == "set" else 0)


def _float_error(groups: Iterable[Group]) -> float:
    """More than the rounding of the logarithms below can amount to, and never under 1e-9."""
    return max(1e-9, *(64 * math.ulp(math.lgamma(g.people + 2) + 16 * g.holders) for g in groups))


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(max(x, -700.0)) / (1 + math.exp(max(x, -700.0)))


def worst_case(groups: Sequence[Group], amounts: Amounts, case: ValuesPerPerson) -> Worst:
    """Which term of Theorem 2 is least and which groups attain it, in floating point; ties prefer one group."""
    ruled_out, k, m = amounts

    def target(group: Group, known: int) -> float:
        return _log_target(group, ruled_out, known, case)

    def family(group: Group, known: int) -> float:
        return _log_family(group, m, known, case)

    found = [Worst(target(g, k) + family(g, k + 1), 1, g, g) for g in groups]
    for term, with_target, with_family in ((2, 0, k), (3, k, 0)):
        g = min(groups, key=partial(target, known=with_target))
        f = min(groups, key=partial(family, known=with_family))
        if g != f:
            found.append(Worst(target(g, with_target) + family(f, with_family), term, g, f))
    return min(found, key=lambda worst: worst.log_ratio)


def _log_target(group: Group, ruled_out: int, known: int, case: ValuesPerPerson) -> float:
    n, s, top = group.people, group.holders, group.others[:ruled_out]
    if known >= _innocent(group, case) or _leaves_no_other_value(group, ruled_out, known, case):
        return -math.inf
    if case == "one":
        return math.log(n - s - sum(top) - known) - math.log(s)
    if case == "set":
        return math.log(n - s - known) - math.log(s) + sum(math.log1p(-count / n) for count in top)
    missed = s * math.log1p(-1 / (n - known))
    return missed - math.log(-math.expm1(missed)) + sum(top) * math.log1p(-1 / n)


def _log_family(group: Group, family: int, known: int, case: ValuesPerPerson) -> float:
    if family == 0:
        return 0.0
    n, s, free = group.people - known, group.holders, _innocent(group, case) - known
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


def least_amounts(groups: Sequence[Group], amounts: Amounts, case: ValuesPerPerson) -> Amounts:
    """The fewest facts that give the same breach probability ("the five individuals" of Sec. 8.3).

    A ratio above zero falls with every person and every value that occurs, so only values that do not occur can
    be left out. At certainty the cheapest proof over all groups is taken.

    >>> least_amounts([Group(7, 2, (1, 1, 1, 1, 1))], Amounts(0, 9, 9), "one")
    Amounts(ruled_out=0, known=5, family=0)
    """
    if is_certain(groups, amounts, case):
        return min((proof for g in groups for proof in _proofs(g, amounts, case)), key=_effort)
    target = worst_case(groups, amounts, case).target
    return amounts._replace(ruled_out=min(amounts.ruled_out, sum(count > 0 for count in target.others)))


def _effort(amounts: Amounts) -> tuple[int, int]:
    return sum(amounts), amounts.family


def _proofs(group: Group, amounts: Amounts, case: ValuesPerPerson) -> Iterable[Amounts]:
    """Ways within `amounts` to prove that someone of this group has σ."""
    ruled_out, k, m = amounts
    free = _innocent(group, case)
    if k + m >= free:
        yield Amounts(0, min(k, free), free - min(k, free))
    for values in range(min(ruled_out, len(group.others)) + 1):
        left = max(0, free - sum(group.others[:values])) if case == "one" else 0
        if left <= k and _leaves_no_other_value(group, values, left, case):
            yield Amounts(values, left, 0)


@dataclass(frozen=True)
class Histograms:
    """The counts of all groups: one row per group, one column per sensitive value, and the people of each.

    >>> tables = Histograms.of([{"AIDS": 2, "Flu": 2}, {"AIDS": 1, "Cancer": 1, "Flu": 2}])
    >>> breach_probability(tables.about("AIDS", 0, "one"), Amounts(0, 0, 1), "one")
    Fraction(3, 4)
    """

    counts: Integers
    people: Integers
    values: tuple[Any, ...]

    @classmethod
    def of(cls, groups: Sequence[Mapping[Any, int]], people: Sequence[int] | None = None) -> Histograms:
        """From one mapping value → count per group; without `people`, one value is one person."""
        values = tuple(dict.fromkeys(value for group in groups for value in group))
        counts = np.array([[group.get(value, 0) for value in values] for group in groups], dtype=np.int64)
        counts = counts.reshape(len(groups), len(values))
        sizes = counts.sum(axis=1) if people is None else np.array(people, dtype=np.int64)
        return cls(counts, sizes, values)

    @cached_property
    def ranked(self) -> Integers:
        """Each group's counts, largest first."""
        return np.ascontiguousarray(-np.sort(-self.counts, axis=1))

    @cached_property
    def _totals(self) -> Integers:
        """Column j: the sum of the j largest counts of each group."""
        return _running_sums(self.ranked)

    @cached_property
    def _surprises(self) -> npt.NDArray[np.float64]:
        """Column j: minus the logarithm of Π (n - count)/n over the j largest counts."""
        return _running_sums(_surprise(self.ranked, self.people[:, None]))

    @cached_property
    def _shapes(self) -> Integers:
        """Column j: the same number for groups with equally many people and the same j largest counts."""
        columns = [np.unique(self.people, return_inverse=True)[1]]
        for count in self.ranked.T:
            columns.append(np.unique(columns[-1] * (count.max() + 1) + count, return_inverse=True)[1])
        return np.column_stack(columns)

    def about(self, value: Any, ruled_out: int, case: ValuesPerPerson) -> list[Group]:
        """The groups that can be worst for `value` when ℓ values are ruled out: usually one to seven.

        A group is left out when a smaller one has at least the same share of σ and loses at least as much to the
        values ruled out: every factor of the smaller one is then at most as large, for all k and m (Props. 12 and
        13), so the other never lowers a minimum of Theorem 2.
        """
        if value not in self.values:
            return []
        own = self.counts[:, self.values.index(value)]
        held = np.flatnonzero(own)
        holders, size = own[held], self.people[held]
        taken = self._taken(own, ruled_out, case)[held]
        if case == "set" and ruled_out > 0:
            shapes = self._shapes[held, min(ruled_out + 1, self.counts.shape[1])]
            kept = _undominated(size - holders, holders, partial(_takes_less, taken, shapes))
        elif case == "multiset":
            kept = _undominated(size, holders, partial(_no_larger_share, taken, size))
        else:
            size = size - holders
            kept = _undominated(
                size, holders, partial(_no_nearer_proof, size - taken.astype(np.int64), holders)
            )
        return [self._group(int(row), self.values.index(value), ruled_out) for row in held[kept]]

    def _taken(self, own: Integers, ruled_out: int, case: ValuesPerPerson) -> npt.NDArray[Any]:
        """What the ℓ largest other counts take: leave out σ, or the next largest, whichever takes less."""
        if case == "set":
            sums, mine = self._surprises, _surprise(own, self.people)
            mine = np.where(own == self.people, 0.0, mine)  # σ is everywhere: certain whatever is taken
        else:
            sums, mine = self._totals, own
        last = sums.shape[1] - 1
        return np.minimum(sums[:, min(ruled_out, last)], sums[:, min(ruled_out + 1, last)] - mine)

    def _group(self, row: int, column: int, ruled_out: int) -> Group:
        others = sorted((int(c) for c in np.delete(self.counts[row], column) if c), reverse=True)
        return Group(int(self.people[row]), int(self.counts[row, column]), tuple(others[:ruled_out]), row)

    def most_others(self, value: Any) -> int:
        """The largest number of other values in a group that holds `value`."""
        own = self.counts[:, self.values.index(value)]
        return int(np.count_nonzero(self.counts[own > 0], axis=1).max()) - 1


def _running_sums(counts: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Column j holds the sum of the first j columns."""
    sums = np.zeros((counts.shape[0], counts.shape[1] + 1), dtype=counts.dtype)
    np.cumsum(counts, axis=1, out=sums[:, 1:])
    return sums


def _surprise(counts: Integers, people: Integers) -> npt.NDArray[np.float64]:
    with np.errstate(divide="ignore"):
        return -np.log1p(-counts / people)


def _undominated(size: Integers, holders: Integers, no_worse: Callable[[Integers, int], Bools]) -> Integers:
    """Indices of the groups that no smaller group beats in the share of σ and by `no_worse`."""
    alive, kept = np.arange(len(size)), []
    while alive.size and len(kept) < MOST_PIVOTS:
        pivot = int(alive[np.argmax(holders[alive] / (size[alive] + 1.0) ** 1.5)])
        kept.append(pivot)
        beaten = (size[alive] >= size[pivot]) & no_worse(alive, pivot)
        beaten &= holders[pivot] * size[alive] >= holders[alive] * size[pivot]
        alive = alive[~(beaten | (alive == pivot))]
    return np.array([*kept, *alive], dtype=np.int64)


def _no_nearer_proof(left: Integers, holders: Integers, alive: Integers, pivot: int) -> Bools:
    """One value per person: people left without σ or a ruled-out value, alone and per holder."""
    return (left[alive] >= left[pivot]) & (holders[pivot] * left[alive] >= holders[alive] * left[pivot])


def _takes_less(taken: npt.NDArray[np.float64], shapes: Integers, alive: Integers, pivot: int) -> Bools:
    """Sets: rounded logarithms, so a lead below 1e-9 counts only between groups with the same counts."""
    slack = np.where(shapes[alive] == shapes[pivot], 1e-12, -1e-9)
    return np.asarray(taken[alive] <= taken[pivot] + slack)


def _no_larger_share(taken: Integers, size: Integers, alive: Integers, pivot: int) -> Bools:
    """Multisets: occurrences of the ruled-out values per person."""
    return taken[pivot] * size[alive] >= taken[alive] * size[pivot]


def find_skyline(
    tables: Histograms, value: Any, limit: Fraction, case: ValuesPerPerson
) -> list[tuple[int | None, int | None, int | None]]:
    """SkylineFind (Fig. 5): all maximal (ℓ, k, m) under which the breach probability stays below `limit`.

    None means without bound: σ does not occur, or (sets and multisets) no number of values helps any more.
    Differs from the paper: equality with the limit is unsafe in every loop, and each staircase of (k, m) is
    followed along its edge.

    >>> find_skyline(Histograms.of([{"a": 1, "c": 4}]), "a", Fraction(1), "one")
    [(0, 0, 3), (0, 1, 2), (0, 2, 1), (0, 3, 0)]
    """
    if value not in tables.values or not tables.counts[:, tables.values.index(value)].any():
        return [(None, None, None)]
    last = tables.most_others(value)
    found: list[tuple[int | None, int | None, int | None]] = []
    corners = _staircase(tables.about(value, 0, case), 0, limit, case)
    for ruled_out in range(last + 1):
        beyond: set[tuple[int, int]] = set()
        if ruled_out < last and corners:
            beyond = _staircase(tables.about(value, ruled_out + 1, case), ruled_out + 1, limit, case)
        name = None if ruled_out == last and case != "one" else ruled_out
        found += [(name, k, m) for k, m in corners - beyond]
        corners = beyond
    return sorted(found, key=lambda point: (math.inf if point[0] is None else point[0], point[1:]))


def _staircase(
    groups: Sequence[Group], ruled_out: int, limit: Fraction, case: ValuesPerPerson
) -> set[tuple[int, int]]:
    """The maximal safe (k, m) for one number of values ruled out."""

    def safe(known: int, family: int) -> bool:
        return is_safe(groups, Amounts(ruled_out, known, family), limit, case)

    bound = min(_innocent(g, case) for g in groups)
    known, family, corners = _last_true(lambda k: safe(k, 0), 0, bound), 0, set()
    while known >= 0:
        family = _last_true(partial(safe, known), family, bound)
        corners.add((known, family))
        family += 1
        known = _next_lower(partial(safe, family=family), known)
    return corners


def _next_lower(holds: Callable[[int], bool], above: int) -> int:
    """The largest i below `above` where `holds` is true, or -1; it is true on a beginning of the integers."""
    return above - 2 - _last_true(lambda down: not holds(above - 1 - down), 0, above)


def _last_true(holds: Callable[[int], bool], start: int, stop: int) -> int:
    """The largest i in [start, stop) where `holds` is true, or start - 1: long strides, then halving."""
    low, stride = start - 1, 1
    while low + stride < stop and holds(low + stride):
        low, stride = low + stride, 2 * stride
    high = min(low + stride, stop)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
