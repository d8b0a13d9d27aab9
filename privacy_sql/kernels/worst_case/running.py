"""The worst case of a grouping that changes a little at a time, as when a search splits groups."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from privacy_sql.kernels.worst_case.disclosure import MOST_FACTS, Combination, Odds, TooManyFacts
from privacy_sql.kernels.worst_case.group_shapes import Bools, Floats, GroupShapes, Ints
from privacy_sql.kernels.worst_case.one_group import NEAR

# The error of a disclosure from floats, with groups equal up to rounding in any order, is smaller: at most
# MOST_FACTS factors of the odds are off by NEAR each.
CLOSE = 1e-6


class DecidingGroups(NamedTuple):
    """The groups that decide the worst case."""

    keeps: bool  # whether it stays below the limit
    used: dict[int, int]  # shape -> how many groups of it may be in the worst case
    cutoffs: Floats  # the odds that other groups would have to beat
    beating: Bools  # the shapes that beat them, for some number of atoms


class RunningWorstCase:
    """Whether groups that change a little at a time stay below a limit (Sec. 3.3.3, last paragraph).

    A change computes only the shapes it adds. Groups are compared again only when a change can matter, that
    is when it removes a group of the last worst case or adds one that may beat such a group.

    >>> running = RunningWorstCase(facts=1, limit=Fraction(3, 5))
    >>> one, other, merged = running.learn(GroupShapes.of([[3, 1], [2, 2], [3, 3, 2]]))
    >>> running.change(added=[one, other])
    >>> running.allows([one, other], [merged]), running.allows([], [])  # 3/5 is not below 3/5
    (False, False)
    >>> running.change(removed=[one, other], added=[merged])
    >>> [str(v) for v in running.curve()]
    ['3/8', '3/5']
    """

    def __init__(self, facts: int, limit: Fraction) -> None:
        if facts < 0:
            raise ValueError("the number of facts cannot be negative")
        if facts > MOST_FACTS:
            raise TooManyFacts
        self.facts, self.limit = facts, limit
        self._row: dict[tuple[int, ...], int] = {}
        # of every shape: people, how many have the guessed value, the largest counts
        self._shapes: Ints = np.empty((0, facts + 3), np.int64)
        self._odds = Odds(np.empty((0, facts + 2)), np.empty((0, facts + 2)))
        self._copies: Ints = np.empty(0, np.int64)
        self._found: DecidingGroups | None = None
        # the last change that was tried, and its result; nothing has changed since
        self._tried: tuple[Sequence[int], Sequence[int], DecidingGroups] | None = None

    def learn(self, shapes: GroupShapes) -> list[int]:
        """The numbers of these shapes; new shapes are computed first."""
        width = min(shapes.top.shape[1], self.facts + 1)
        told = np.zeros((len(shapes.size), self.facts + 3), np.int64)
        told[:, 0], told[:, 1], told[:, 2 : width + 2] = shapes.size, shapes.target, shapes.top[:, :width]
        keys = [tuple(shape) for shape in told.tolist()]
        new = {key: place for place, key in enumerate(keys) if key not in self._row}
        if new:
            self._row |= {key: len(self._copies) + number for number, key in enumerate(new)}
            rows = np.array([*new.values()])
            learnt = Odds.of(shapes.some(rows), self.facts + 1)
            self._odds = Odds(*(np.concatenate(both) for both in zip(self._odds, learnt, strict=True)))
            self._shapes = np.concatenate([self._shapes, told[rows]])
            self._copies = np.append(self._copies, np.zeros(len(new), np.int64))
            if self._found is not None:
                beating = np.append(self._found.beating, self._beating(learnt, self._found.cutoffs))
                self._found = self._found._replace(beating=beating)
            self._tried = None
        return [self._row[key] for key in keys]

    def number(self, counts: Sequence[int], guessed: int) -> int:
        """The number of a known group, from its counts in any order."""
        top = sorted(counts, reverse=True)[: self.facts + 1]
        return self._row.get((sum(counts), guessed, *top, *(0,) * (self.facts + 1 - len(top))), -1)

    def reaching(self, rows: Sequence[int]) -> Bools:
        """The shapes of which a single group certainly reaches the limit, with all facts about it."""
        odds = self._odds.target[:, -1][rows]
        return np.asarray(1 / (1 + odds) > float(self.limit) + NEAR)

    def change(self, removed: Sequence[int] = (), added: Sequence[int] = ()) -> None:
        """Remove groups and add others; immediate if the same change was tried last."""
        if not self._matters(removed, added):
            self._move(removed, added)
            return
        tried = self._tried
        self._move(removed, added)
        same = tried is not None and tried[:2] == (removed, added)
        self._found = tried[2] if tried is not None and same else None

    def allows(self, removed: Sequence[int], added: Sequence[int]) -> bool:
        """Whether the worst case would stay below the limit after a change, without making it."""
        found = self._found = self._found or self._worst()
        if not self._matters(removed, added):
            return found.keeps
        self._move(removed, added)
        after = self._worst()
        self._move(added, removed)
        self._tried = removed, added, after
        return after.keeps

    def curve(self) -> list[Fraction]:
        """Maximum disclosure for 0..facts implications."""
        return self._curve(self._combination(exact=True)[0])

    def _move(self, removed: Iterable[int], added: Iterable[int]) -> None:
        for row in removed:
            if row < 0 or not self._copies[row]:
                raise ValueError("a group to be removed is not there")
            self._copies[row] -= 1
        for row in added:
            self._copies[row] += 1
        self._tried = None

    def _matters(self, removed: Sequence[int], added: Sequence[int]) -> bool:
        """Whether a change removes a group that the worst case may use, or adds one that it may use."""
        found = self._found
        return found is None or bool(
            any(
                self._copies[row] - removed.count(row) < found.used[row]
                for row in removed
                if row in found.used
            )
            or any(found.beating[row] for row in added)
        )

    def _worst(self) -> DecidingGroups:
        """Floats decide far from the limit, fractions near it."""
        combination, present = self._combination(exact=False)
        apart = 1 / (1 + float(combination.tables[-1][1, -1])) - float(self.limit)
        keeps = apart < 0
        if not abs(apart) > CLOSE:
            combination, present = self._combination(exact=True)
            keeps = self._curve(combination)[-1] < self.limit
        used: dict[int, int] = {}
        for shape, copy in combination.menus:
            row = int(present[shape])
            used[row] = max(used.get(row, 0), copy + 1)
        cutoffs = combination.cutoffs
        return DecidingGroups(keeps, used, cutoffs, self._beating(self._odds, cutoffs))

    def _combination(self, *, exact: bool) -> tuple[Combination, Ints]:
        present = np.flatnonzero(self._copies)
        told = self._shapes[present]
        shapes = GroupShapes(told[:, 0], told[:, 2:], self._copies[present], told[:, 1])
        return Combination(shapes, self.facts + 1, self._odds.some(present), exact=exact), present

    def _curve(self, combination: Combination) -> list[Fraction]:
        return [1 / (1 + odds) for odds in combination.least_odds(range(1, self.facts + 2))]

    @staticmethod
    def _beating(odds: Odds, cutoffs: Floats) -> Bools:
        return np.asarray((odds.chances <= cutoffs[0]).any(axis=1) | (odds.target <= cutoffs[1]).any(axis=1))
