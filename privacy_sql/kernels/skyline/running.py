"""Breach probabilities while groups are cut: the five sufficient statistics of SkylineAnonymize.

Chen et al. 2008, Fig. 4. Whether a group may be cut follows from five minima over all groups and from its
parts. Here they are kept for many sensitive values and points at once, as arrays; a cut too close to a limit
for floats is decided in integers from the few groups that attain the minima.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from privacy_sql.kernels.skyline.breach_probability import Amounts, Group, ValuesPerPerson, is_safe
from privacy_sql.kernels.skyline.groups import Histograms

Floats = npt.NDArray[np.float64]
NEAR = 1e-9  # relative: floats are trusted beyond it


class Question(NamedTuple):
    """One sensitive value, one amount of knowledge, and the limit its breach probability must stay below."""

    value: Any
    amounts: Amounts
    limit: Fraction


class Seen(NamedTuple):
    """Groups that are tried together: their counts and, per group and question, the five statistics."""

    tables: Histograms
    statistics: Floats  # group, question, statistic


class RunningSkyline:
    """The worst case over all groups there have been, for every question, while groups are cut.

    >>> asked = [Question("AIDS", Amounts(1, 0, 0), Fraction(3, 5))]
    >>> running = RunningSkyline(asked, "one", Histograms.of([{"AIDS": 2, "Flu": 2, "Mumps": 2}]))
    >>> parts = running.seen(Histograms.of([{"AIDS": 1, "Flu": 1}, {"AIDS": 1, "Flu": 1, "Mumps": 2}]))
    >>> running.allows(parts, [0, 1])
    False
    """

    def __init__(self, questions: Sequence[Question], case: ValuesPerPerson, whole: Histograms) -> None:
        self.questions = list(questions)
        self.case = case
        self.odds = np.array([float((1 - q.limit) / q.limit) if q.limit else np.inf for q in self.questions])
        self.least = np.full((len(self.questions), 5), np.inf)
        self._calm = False  # whether every question is surely safe as things are
        # per question and statistic a group that attains the minimum, for the exact word
        self.attained: list[list[Group | None]] = [[None] * 5 for _ in self.questions]
        self.accept(self.seen(whole), range(len(whole.people)))

    def seen(self, tables: Histograms) -> Seen:
        """The statistics of groups that are about to be asked about."""
        made = np.full((len(tables.people), len(self.questions), 5), np.inf)
        for number, question in enumerate(self.questions):
            made[:, number] = statistics(tables, question, self.case)
        return Seen(tables, made)

    def allows(self, seen: Seen, rows: Sequence[int]) -> bool:
        """Whether all questions stay safe when these groups take the place of the one they are parts of."""
        found = seen.statistics[list(rows)].min(axis=0)
        if self._calm and not (found < self.least).any():
            return True  # no question gets another answer
        unsafe, near = self._judged(np.minimum(self.least, found))
        if unsafe:
            return False
        for number in near:
            question = self.questions[number]
            parts = [self._group(seen, row, number) for row in rows]
            # a list, not a set: two groups alike are two places for the knowledge
            groups = [g for g in [*self.attained[number], *parts] if g is not None and g.holders]
            if not is_safe(groups, question.amounts, question.limit, self.case):
                return False
        return True

    def _judged(self, least: Floats) -> tuple[bool, list[int]]:
        """Whether some question is surely not safe, and those that floats do not decide."""
        with np.errstate(invalid="ignore"):
            ratio = np.fmin(least[:, 0], np.fmin(least[:, 1] * least[:, 4], least[:, 2] * least[:, 3]))
        near = ~(np.abs(ratio - self.odds) > NEAR * (1 + self.odds))
        return bool(((ratio <= self.odds) & ~near).any()), np.flatnonzero(near).tolist()

    def accept(self, seen: Seen, rows: Sequence[int]) -> None:
        """Take the groups in; the statistics never grow again."""
        before = self.least
        for row in rows:
            lower = seen.statistics[row] < self.least
            if not lower.any():
                continue
            for number, statistic in zip(*np.nonzero(lower), strict=True):
                self.attained[number][statistic] = self._group(seen, row, int(number))
            self.least = np.minimum(self.least, seen.statistics[row])
        if self.least is not before:
            self._calm = self._judged(self.least) == (False, [])

    def _group(self, seen: Seen, row: int, number: int) -> Group | None:
        question = self.questions[number]
        if question.value not in seen.tables.values:
            return None
        return seen.tables.group(row, question.value, question.amounts.ruled_out)


def statistics(tables: Histograms, question: Question, case: ValuesPerPerson) -> Floats:
    """SS1 to SS5 of Fig. 4 for every group: least ratio within, T(l,0), T(l,k), V(m,0), V(m,k).

    A group without the value cannot lower any of them.
    """
    made = np.full((len(tables.people), 5), np.inf)
    if question.value not in tables.values:
        return made
    own = tables.counts[:, tables.values.index(question.value)]
    held = np.flatnonzero(own)
    ruled_out, k, m = question.amounts
    people, holders = tables.people[held].astype(float), own[held].astype(float)
    taken = np.asarray(tables.taken(own, ruled_out, case), dtype=float)[held]
    target = [target_ratios(people, holders, taken, known, case) for known in (0, k)]
    family = [family_chances(people, holders, m, known, case) for known in (0, k, k + 1)]
    made[held] = np.column_stack([target[1] * family[2], target[0], target[1], family[0], family[1]])
    return made


def target_ratios(
    people: Floats, holders: Floats, taken: Floats, known: int, case: ValuesPerPerson
) -> Floats:
    """T of Sec. 7.1. `taken` is what the ruled-out values take: a sum of counts, or of surprises for sets."""
    if case == "one":
        return np.asarray(np.maximum(0, people - holders - taken - known) / holders)
    if case == "set":
        return np.asarray(np.maximum(0, people - holders - known) / holders * np.exp(-taken))
    able = known < people - 1
    left = np.where(able, people - known, 2.0)
    missed = ((left - 1) / left) ** holders
    ratio = missed / (1 - missed) * ((people - 1) / people) ** taken
    return np.where(able, ratio, 0.0)


def family_chances(people: Floats, holders: Floats, family: int, known: int, case: ValuesPerPerson) -> Floats:
    """V of Sec. 7.1."""
    if family == 0:
        return np.ones(len(people))
    able = family + known < people if case == "multiset" else family + known <= people - holders
    left = np.where(able, people - known, family + 1.0)
    if case == "multiset":
        return np.where(able, ((left - family) / left) ** holders, 0.0)
    chance = np.ones(len(people))
    for step in range(family):
        chance *= np.maximum(0, left - holders - step) / np.maximum(1, left - step)
    return np.where(able, chance, 0.0)
