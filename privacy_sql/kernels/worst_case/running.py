"""The worst case of a grouping that changes a little at a time, as when a search splits groups."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from privacy_sql.kernels.worst_case.disclosure import MOST_FACTS, Combination, Odds, TooManyFacts
from privacy_sql.kernels.worst_case.group_shapes import Bools, Floats, GroupShapes, Ints, Shape
from privacy_sql.kernels.worst_case.one_group import NEAR

Found: TypeAlias = tuple[set[int], Floats | None, list[Fraction]]


class RunningWorstCase:
    """The curve of a grouping that changes a little at a time (Sec. 3.3.3, last paragraph).

    A change computes the shapes it adds and nothing else; groups are compared again only when a change can
    matter, that is when it removes a group the last curve used or adds one that may beat such a group.

    >>> one, other = Shape.of([3, 1]), Shape.of([2, 2])
    >>> running = RunningWorstCase([one, other], facts=1)
    >>> running.change(removed=[one, other], added=[Shape.of([3, 3, 2])])
    >>> [str(v) for v in running.curve()]
    ['3/8', '3/5']
    """

    def __init__(self, shapes: Iterable[Shape], facts: int) -> None:
        if facts < 0:
            raise ValueError("the number of facts cannot be negative")
        if facts > MOST_FACTS:
            raise TooManyFacts
        self.facts = facts
        self._row: dict[Shape, int] = {}
        self._size: Ints = np.empty(0, np.int64)
        self._top: Ints = np.empty((0, facts + 1), np.int64)
        self._guessed: Ints = np.empty(0, np.int64)
        self._odds = Odds(np.empty((0, facts + 2)), np.empty((0, facts + 2)))
        self._copies: list[int] = []
        self._used: set[int] = set()
        self._cutoffs: Floats | None = None
        self._curve: list[Fraction] = []
        # the change last tried, and what was found of it; nothing else has changed since
        self._tried: tuple[list[Shape], list[Shape], Found] | None = None
        self.change(added=shapes)

    def change(self, removed: Iterable[Shape] = (), added: Iterable[Shape] = ()) -> None:
        """Take groups away and put others in their place."""
        self._tried = None
        for shape in removed:
            row = self._row.get(shape, -1)
            if row < 0 or not self._copies[row]:
                raise ValueError("a group to be removed is not there")
            self._copies[row] -= 1
            if row in self._used:
                self._cutoffs = None
        arrived = list(added)
        self._learn([shape for shape in dict.fromkeys(arrived) if shape not in self._row])
        for shape in arrived:
            row = self._row[shape]
            self._copies[row] += 1
            if self._cutoffs is not None:
                # whether it may beat, for some number of atoms, a group that the last curve kept
                odds = np.stack([own[row] for own in self._odds])
                if (odds <= self._cutoffs).any():
                    self._cutoffs = None

    def trial(self, removed: Sequence[Shape], added: Sequence[Shape]) -> list[Fraction]:
        """The curve that a change would give, without making it."""
        self.curve()  # known for the groups as they are, a trial that does not matter costs next to nothing
        kept = self._used, self._cutoffs, self._curve
        self.change(removed, added)
        curve = self.curve()
        found = self._used, self._cutoffs, self._curve
        self.change(added, removed)
        self._used, self._cutoffs, self._curve = kept  # the groups are those of before
        self._tried = list(removed), list(added), found
        return curve

    def accept(self, removed: Sequence[Shape], added: Sequence[Shape]) -> None:
        """Make a change; what the last trial found of the same one is known already."""
        tried = self._tried
        self.change(removed, added)
        if tried is not None and tried[:2] == (list(removed), list(added)):
            self._used, self._cutoffs, self._curve = tried[2]

    def curve(self) -> list[Fraction]:
        """Maximum disclosure for 0..facts implications, as `implication_curve` has it."""
        if self._cutoffs is None:
            copies = np.array(self._copies, np.int64)
            present = np.flatnonzero(copies)
            guessed = self._guessed[present]
            shapes = GroupShapes(self._size[present], self._top[present], copies[present], guessed)
            combination = Combination(shapes, self.facts + 1, self._odds.some(present))
            self._curve = [1 / (1 + odds) for odds in combination.least_odds(range(1, self.facts + 2))]
            self._used = {int(present[shape]) for shape, _ in combination.menus}
            self._cutoffs = combination.cutoffs
        return list(self._curve)

    def reaching(self, shapes: GroupShapes, limit: Fraction) -> Bools:
        """The shapes of which one group alone surely reaches a limit, with all facts about it."""
        odds = Odds.of(shapes, self.facts + 1).target[:, -1]
        return np.asarray(1 / (1 + odds) > float(limit) + NEAR)

    def _learn(self, new: list[Shape]) -> None:
        """Compute the chances of shapes not met before."""
        if not new:
            return
        shapes = GroupShapes.of_shapes(new)
        width = min(shapes.top.shape[1], self.facts + 1)
        top = np.zeros((len(new), self.facts + 1), np.int64)
        top[:, :width] = shapes.top[:, :width]
        self._row.update({shape: len(self._copies) + i for i, shape in enumerate(new)})
        self._copies += [0] * len(new)
        self._size = np.concatenate([self._size, shapes.size])
        self._top = np.concatenate([self._top, top])
        self._guessed = np.concatenate([self._guessed, shapes.target])
        learnt = zip(self._odds, Odds.of(shapes, self.facts + 1), strict=True)
        self._odds = Odds(*(np.concatenate(both) for both in learnt))
