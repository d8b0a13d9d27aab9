"""The best safe choice of a lattice too large to tag, with the gap to what is still possible.

Kept are only the answers at the border: unsafe choices as high as a chain reaches, and safe ones. A choice
that lies below a known unsafe one is not stepped through but raised past it, one attribute at a time; so
the walk jumps from conflict to conflict (the transversals of hypergraph dualisation, Gunopulos et al.
2003).
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from privacy_sql.searches import Choice, Decide, Found, Incumbent, Lattice, Limits, Objective, bound_of


@dataclass(frozen=True)
class BestFirst:
    """Choices in the order of their lower bound, until no waiting one can be cheaper than the best.

    Martin et al. 2007, Sec. 3.4, for lattices of any size. At most `max_waiting` choices are remembered; when
    they are used up, or `limits` say so, the best so far is returned with its gap to what could be cheaper.
    """

    max_waiting: int = 500_000

    def choose(
        self, lattice: Lattice, decide: Decide, objective: Objective, limits: Limits | None = None
    ) -> Found:
        """The cheapest safe choice, proven (`optimal`) or with its gap."""
        run = _Run(lattice, decide, objective, limits or Limits(), self.max_waiting)
        try:
            run.go()
        except KeyboardInterrupt:
            run.stopped = run.limits.interrupt()
        return run.found()


class _Border:
    """Choices that settle others by dominance, in one array."""

    def __init__(self, n_attributes: int) -> None:
        self._rows: npt.NDArray[np.int16] = np.empty((64, n_attributes), dtype=np.int16)
        self.n = 0

    def add(self, choice: Choice) -> None:
        if self.n == len(self._rows):
            self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
        self._rows[self.n] = choice
        self.n += 1

    def one_above(self, choice: Choice) -> Choice | None:
        """The member with the highest sum of levels that is coarser than or equal to the choice."""
        rows = self._rows[: self.n]
        rows = rows[np.all(rows >= np.asarray(choice, dtype=np.int16), axis=1)]
        return self._choice(rows[rows.sum(axis=1).argmax()]) if len(rows) else None

    def has_below(self, choice: Choice) -> bool:
        """Whether a member is finer than or equal to the choice."""
        return bool(np.all(self._rows[: self.n] <= np.asarray(choice, dtype=np.int16), axis=1).any())

    def lowest(self) -> list[Choice]:
        """The members that have no finer member."""
        rows = np.unique(self._rows[: self.n], axis=0)
        keep = [row for row in rows if (rows <= row).all(axis=1).sum() == 1]
        return [self._choice(row) for row in keep]

    @staticmethod
    def _choice(row: npt.NDArray[np.int16]) -> Choice:
        return tuple(int(level) for level in row)


class _Run:
    def __init__(
        self, lattice: Lattice, decide: Decide, objective: Objective, limits: Limits, max_waiting: int
    ) -> None:
        self.lattice, self.decide, self.objective, self.limits = lattice, decide, objective, limits
        self.max_waiting = max_waiting
        self.safe, self.unsafe = _Border(len(lattice.labels)), _Border(len(lattice.labels))
        self.settled: dict[Choice, bool] = {}  # answers that carry no further
        self.best = Incumbent()
        self.explored = 0
        self.stopped: str | None = None
        self.waiting: list[tuple[float, int, Choice]] = []
        self.seen: set[Choice] = set()

    def go(self) -> None:
        self._push(self.lattice.bottom)
        self._known_or_ask(self.lattice.top)  # a first safe choice, or the proof that there is none
        while self.waiting:
            if self.best.excludes(self.waiting[0][0]):
                return
            self.stopped = self.limits.reason(self.explored)
            if self.stopped is None and len(self.seen) >= self.max_waiting:
                self.stopped = "too many waiting choices"
            if self.stopped:
                return
            entry = heapq.heappop(self.waiting)
            try:
                self._visit(entry[2])
            except BaseException:
                heapq.heappush(self.waiting, entry)  # undecided: it still counts for the gap
                raise
            self.limits.progress(self.explored, self.explored + len(self.waiting))

    def found(self) -> Found:
        settled, gap = self.stopped is None, None
        if self.best.cost is not None:
            least = self.waiting[0][0] if self.waiting else self.best.cost[0]
            short = max(0.0, self.best.cost[0] - least) if np.isfinite(least) else None
            gap = 0.0 if settled else short
        return Found(
            choices=self.lattice.size,
            explored=self.explored,
            minimal=tuple(self.safe.lowest()) if self.safe.n else (),
            complete=False,
            best=self.best.choice,
            cost=self.best.cost,
            optimal=settled and self.best.choice is not None,
            safe_choices=None,
            undecided=len(self.waiting) if not settled else 0,
            gap=gap,
            stopped=self.stopped,
        )

    def _visit(self, choice: Choice) -> None:
        conflict = self.unsafe.one_above(choice)
        if conflict is not None:
            self._raise_past(choice, conflict)
            return
        inferred = self.safe.has_below(choice)
        if inferred and self.objective.monotone:
            return  # something finer is safe and costs no more
        if inferred:
            self.best.offer(choice, self.objective.cost(choice))
            self._push_all(choice)
        elif not self._known_or_ask(choice):
            conflict = None if choice in self.settled else self._climb(choice)
            if conflict is None:
                self._push_all(choice)
            else:
                self._raise_past(choice, conflict)
        elif not self.objective.monotone or choice in self.settled:
            self._push_all(choice)

    def _known_or_ask(self, choice: Choice) -> bool:
        if self.unsafe.one_above(choice) is not None:
            return False
        if self.safe.has_below(choice):
            return True
        if choice in self.settled:
            return self.settled[choice]
        (answer,) = self.decide([choice])
        self.explored += 1
        if not answer.carries:
            self.settled[choice] = answer.safe
        elif answer.safe:
            self.safe.add(choice)
        else:
            self.unsafe.add(choice)
        if answer.safe:
            self.best.offer(choice, self.objective.cost(choice))
        return answer.safe

    def _climb(self, choice: Choice) -> Choice | None:
        """The highest unsafe choice found on a chain up to the top; None when its answer does not carry."""
        chain = [choice]
        while chain[-1] != self.lattice.top:
            # least broad first: the groups merge as slowly as possible, so the border is met far from the top
            chain.append(max(self.lattice.coarser_neighbours(chain[-1]), key=self.lattice.breadth))
        low, high = 0, len(chain)
        while high - low > 1:
            middle = (low + high) // 2
            if self._known_or_ask(chain[middle]):
                high = middle
            else:
                low = middle
        return chain[low] if self.unsafe.one_above(chain[low]) is not None else None

    def _raise_past(self, choice: Choice, conflict: Choice) -> None:
        for attribute, (level, height) in enumerate(zip(conflict, self.lattice.top, strict=True)):
            if level < height:
                self._push((*choice[:attribute], level + 1, *choice[attribute + 1 :]))

    def _push_all(self, choice: Choice) -> None:
        for coarser in self.lattice.coarser_neighbours(choice):
            self._push(coarser)

    def _push(self, choice: Choice) -> None:
        if choice not in self.seen:
            self.seen.add(choice)
            heapq.heappush(self.waiting, (bound_of(self.objective, choice), sum(choice), choice))
