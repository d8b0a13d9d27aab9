"""Breach probabilities while groups are cut: the five sufficient statistics of SkylineAnonymize.

Chen et al. 2008, Fig. 4, where everybody has one value. Five minima over all groups, and the parts of a
group, decide whether the group may be cut. This module keeps them for many values and points at once, as
arrays. Where a cut is too close to a limit for floats, integers decide from the few groups that attain the
minima.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from privacy_sql.kernels.skyline.breach_probability import Amounts, SkylineGroup, is_safe
from privacy_sql.kernels.skyline.groups import Bools, Integers

Floats = npt.NDArray[np.float64]
NEAR = 1e-9  # relative: floats are trusted beyond it


class SkylineQuestion(NamedTuple):
    """One sensitive value, one amount of knowledge, and the limit its breach probability must stay below."""

    value: int
    amounts: Amounts
    limit: Fraction


class GroupCounts(NamedTuple):
    """The people of groups, and how often each holds each value: group i from start[i] up to start[i + 1]."""

    people: Integers
    start: Integers
    value: Integers
    n: Integers
    ranked: Integers  # the counts of every group, largest first


class TriedGroups(NamedTuple):
    """Groups tried together: their counts, and the five statistics of each for every point."""

    counts: GroupCounts
    question: Integers  # point, count; -1 where there is no question
    statistics: Floats  # point, statistic, count
    lowering: list[bool]  # the groups that lowered a minimum when first seen; no other group can later
    breaking: Bools  # the groups that break a limit on their own


class RunningSkyline:
    """The worst case over all groups so far, for every question, while groups are cut.

    >>> def counts(*groups: list[int]) -> Counts:
    ...     start = np.cumsum([0, *map(len, groups)])
    ...     n = np.array([count for group in groups for count in group])
    ...     value = np.array([code for group in groups for code, _ in enumerate(group)])
    ...     return GroupCounts(np.array([*map(sum, groups)]), start, value, n, n)
    >>> running = RunningSkyline([SkylineQuestion(0, Amounts(1, 0, 0), Fraction(3, 5))], counts([2, 2, 2]))
    >>> running.allows(running.seen(counts([1, 1], [2, 1, 1])), [0, 1])
    False
    """

    def __init__(self, questions: Sequence[SkylineQuestion], whole: GroupCounts) -> None:
        self.questions = list(dict.fromkeys(questions))
        self.odds = np.array([float((1 - q.limit) / q.limit) if q.limit else np.inf for q in self.questions])
        self.least = np.full((5, len(self.questions)), np.inf)
        self._points = list(dict.fromkeys((q.amounts, q.limit) for q in self.questions))
        self._asked = np.full((len(self._points), int(whole.value.max(initial=0)) + 1), -1)
        for number, (value, amounts, limit) in enumerate(self.questions):
            self._asked[self._points.index((amounts, limit)), value] = number
        self._calm = False  # whether every question is certainly safe now
        # per statistic and question the group that attains the minimum, for exact decisions
        self._attained = np.full(self.least.shape, None, dtype=object)
        self.accept(self.seen(whole), range(len(whole.people)))

    def seen(self, counts: GroupCounts) -> TriedGroups:
        """The statistics of groups that the next questions are about."""
        n_values = np.diff(counts.start)
        of_each = np.repeat(np.arange(len(n_values)), n_values)
        sums = np.concatenate([[0], np.cumsum(counts.ranked)])
        people, holders = counts.people[of_each].astype(np.float64), counts.n.astype(np.float64)
        found = np.empty((len(self._points), 5, len(people)))
        for its, (amounts, _) in zip(found, self._points, strict=True):
            largest = [
                sums[counts.start[:-1] + np.minimum(amounts.ruled_out + more, n_values)]
                - sums[counts.start[:-1]]
                for more in (0, 1)
            ]
            # skip the value itself or rule out one more, whichever rules out fewer
            taken = np.minimum(largest[0][of_each], largest[1][of_each] - counts.n)
            its[:] = statistics(people, holders, taken.astype(np.float64), amounts)
        question = self._asked[:, counts.value]
        lowering, breaking = np.zeros((2, len(n_values)), np.bool_)
        for its, asked in zip(found, question, strict=True):
            before = self.least[:, asked]
            lower = (its < before).any(axis=0) & (asked >= 0)
            lowering[of_each[lower]] = True
            unsafe, near = self._judged(np.minimum(its, before)[:, lower], asked[lower])
            breaking[of_each[lower][unsafe & ~near]] = True
        return TriedGroups(counts, question, found, lowering.tolist(), breaking)

    def allows(self, seen: TriedGroups, rows: Sequence[int]) -> bool:
        """Whether all questions stay safe when these groups replace the group they are parts of."""
        if self._calm and not any(seen.lowering[row] for row in rows):
            return True  # no answer can change
        least = self.least.copy()
        for row in rows:
            self._lower(least, seen, row)
        unsafe, near = self._judged(least, np.arange(len(self.questions)))
        if (unsafe & ~near).any():
            return False
        for number in np.flatnonzero(near).tolist():
            question = self.questions[number]
            held = [*self._attained[:, number], *(_Held.of(seen, row) for row in rows)]
            # a list, not a set: knowledge may be about either of two equal groups
            groups = [group for its in held if its is not None for group in its.about(question)]
            if not is_safe(groups, question.amounts, question.limit, "one"):
                return False
        return True

    def _lower(self, least: Floats, seen: TriedGroups, row: int) -> None:
        """The minima with one more group."""
        its = slice(seen.counts.start[row], seen.counts.start[row + 1])
        for asked, statistics_ in zip(seen.question[:, its], seen.statistics[:, :, its], strict=True):
            some = asked >= 0
            number = asked[some]
            least[:, number] = np.minimum(least[:, number], statistics_[:, some])

    def _judged(self, least: Floats, number: Integers) -> tuple[Bools, Bools]:
        """Which questions floats call unsafe, and which ones they cannot decide."""
        with np.errstate(invalid="ignore"):
            ratio = np.fmin(least[0], np.fmin(least[1] * least[4], least[2] * least[3]))
        odds = self.odds[number]
        return ratio <= odds, ~(np.abs(ratio - odds) > NEAR * (1 + odds))

    def accept(self, seen: TriedGroups, rows: Sequence[int]) -> None:
        """Add the groups; the minima can only fall."""
        before = self.least
        for row in rows:
            if not seen.lowering[row]:
                continue
            least = self.least.copy()
            self._lower(least, seen, row)
            self._attained[least < self.least] = _Held.of(seen, row)
            self.least = least
        if self.least is not before:
            unsafe, near = self._judged(self.least, np.arange(len(self.questions)))
            self._calm = not (unsafe | near).any()


class _Held:
    """One group: its people, and how many have each value."""

    def __init__(self, people: int, counts: dict[int, int]) -> None:
        self.people, self.counts = people, counts

    @classmethod
    def of(cls, seen: TriedGroups, row: int) -> _Held:
        counts = seen.counts
        its = slice(counts.start[row], counts.start[row + 1])
        pairs = zip(counts.value[its].tolist(), counts.n[its].tolist(), strict=True)
        return cls(int(counts.people[row]), dict(pairs))

    def about(self, question: SkylineQuestion) -> list[SkylineGroup]:
        """What it shows about the value in question; an empty list where nobody has it."""
        if question.value not in self.counts:
            return []
        others = sorted((n for value, n in self.counts.items() if value != question.value), reverse=True)
        return [
            SkylineGroup(
                self.people, self.counts[question.value], tuple(others[: question.amounts.ruled_out])
            )
        ]


def statistics(people: Floats, holders: Floats, taken: Floats, amounts: Amounts) -> Floats:
    """SS1 to SS5 of Fig. 4 for every group and value: least ratio within, T(l,0), T(l,k), V(m,0), V(m,k)."""
    _, k, m = amounts
    target = {known: target_ratios(people, holders, taken, known) for known in {0, k}}
    family = {known: family_chances(people, holders, m, known) for known in {0, k, k + 1}}
    return np.array([target[k] * family[k + 1], target[0], target[k], family[0], family[k]])


def target_ratios(people: Floats, holders: Floats, taken: Floats, known: int) -> Floats:
    """T of Sec. 7.1. `taken` is the sum of the counts of the ruled-out values."""
    return np.asarray(np.maximum(0, people - holders - taken - known) / holders)


def family_chances(people: Floats, holders: Floats, family: int, known: int) -> Floats:
    """V of Sec. 7.1: the chance that nobody of a family has the value, given that `known` others do not."""
    if family == 0:
        return np.ones(len(people))
    able = family + known <= people - holders
    left = np.where(able, people - known, family + 1.0)
    chance = np.ones(len(people))
    for step in range(family):
        chance *= np.maximum(0, left - holders - step) / np.maximum(1, left - step)
    return np.where(able, chance, 0.0)
