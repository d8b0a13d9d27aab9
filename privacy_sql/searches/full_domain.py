"""All minimal safe choices of a lattice, the best one, or one of them, with as few answers as possible.

LeFevre et al. 2005 (Incognito) and Kohlmayer et al. 2012 (Flash): chains through what is still open, halved
by binary search, every answer tagged upwards or downwards. Chains start at the coarsest open choice, so the
choices with few attributes below their top come first: those are Incognito's subsets (`Lattice.lift`),
cheap to count, and one unsafe answer there removes every choice that holds the same levels.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from privacy_sql.searches import Choice, Decide, Found, Incumbent, Lattice, Limits, Objective
from privacy_sql.spaces.tags import OPEN, SAFE, Tags

MOST_TOLD = 10_000  # choices that are listed one by one at the end
Goal = Literal["all", "best", "one"]


@dataclass(frozen=True)
class FullDomainSearch:
    """Chains with binary search and tags both ways, over at most `max_choices` choices.

    Martin et al. 2007, Sec. 3.4. `goal` is "all" minimal safe choices and the best of them, only the "best"
    one (choices whose lower bound is too high are set aside), or "one" minimal choice by binary search alone.
    `width` chains are followed at once, so that an engine can answer several choices in one statement.
    """

    goal: Goal = "all"
    width: int = 1
    max_choices: int = 1_000_000

    def choose(
        self, lattice: Lattice, decide: Decide, objective: Objective, limits: Limits | None = None
    ) -> Found:
        """What `goal` asks for, or an honest part of it when `limits` end the search."""
        if lattice.size > self.max_choices:
            raise ValueError(f"{lattice.size} choices are too many to tag one by one; use best_first.")
        walk = _Walk(lattice, decide, objective, limits or Limits(), self.goal, self.width)
        try:
            walk.follow_chains()
            walk.price_candidates()
        except KeyboardInterrupt:
            walk.stopped = walk.limits.interrupt()
            walk.price_candidates()
        return walk.found()


class _Walk:
    """One run of the search: the tags, the best choice so far, and why it stopped."""

    def __init__(
        self, lattice: Lattice, decide: Decide, objective: Objective, limits: Limits, goal: Goal, width: int
    ) -> None:
        self.lattice, self.decide, self.objective = lattice, decide, objective
        self.limits, self.goal, self.width = limits, goal, width
        self.tags, self.best = Tags(lattice), Incumbent()
        self.explored = 0
        self.informs = False  # whether a cost raises the bounds of finer choices
        self.stopped: str | None = None
        bounds = objective.level_bounds
        # the least any choice can cost, itself and everything coarser
        self.floor = lattice.total(bounds) if bounds is not None else np.full(lattice.shape, -np.inf)

    def follow_chains(self) -> None:
        """Ask about the middle of every chain until nothing is open."""
        chains: list[list[Choice]] = []
        while not self._must_stop():
            chains = [left for chain in chains if (left := list(filter(self.tags.is_open, chain)))]
            taken = set(itertools.chain(*chains))
            while len(chains) < self.width:
                start = self.tags.coarsest_open(besides=taken)
                if start is None:
                    break
                chains.append(self._descend(start, taken))
                taken.update(chains[-1])
            if not chains:
                return
            batch = [chain[(len(chain) - 1) // 2] for chain in chains]
            answers = self.decide(batch)
            self.explored += len(batch)
            for choice, answer in zip(batch, answers, strict=True):
                self.tags.learn(choice, answer)
                if answer.safe and self.goal == "best":
                    self._price(choice)
                    if not self.objective.monotone:  # else the border itself is the shortest way to the best
                        self.tags.set_aside(self.floor > self.best.ceiling)
                elif answer.safe and self.goal == "one" and answer.carries:
                    inside = np.zeros(self.lattice.shape, dtype=np.bool_)
                    inside[tuple(slice(0, level + 1) for level in choice)] = True
                    self.tags.set_aside(~inside)
            self.limits.progress(self.lattice.size - self.tags.n_open, self.lattice.size)

    def price_candidates(self) -> None:
        """Find the cheapest among the safe choices that could be it, those with the lowest bound first."""
        if self.goal == "one" or self.stopped == "interrupted":
            return
        # one of these safe choices is the cheapest; after a stop only those that were measured count
        border = self.objective.monotone or bool(self.stopped)
        wanted = np.zeros(self.lattice.shape, dtype=np.bool_)
        for choice in self.tags.minimal_safe() if border else self.tags.safe_choices():
            wanted[choice] = True
        for choice in self.best.priced:
            wanted[choice] = False
        while True:
            wanted &= self.floor <= self.best.ceiling
            if not wanted.any() or (self._must_stop() and self.best.choice is not None):
                return  # a search that is stopped prices one safe choice, and only where it has none
            least = self.lattice.position(int(np.where(wanted, self.floor, np.inf).argmin()))
            choice = self._above(least, wanted)
            self._price(choice)
            wanted[choice] = False

    def _above(self, choice: Choice, wanted: npt.NDArray[np.bool_]) -> Choice:
        """A choice halfway up from one with a low bound: what it suppresses, finer ones suppress too."""
        if not self.informs:
            return choice
        chain = [choice]
        while True:
            ahead = [coarser for coarser in self.lattice.coarser_neighbours(chain[-1]) if wanted[coarser]]
            if not ahead:
                return chain[len(chain) // 2]
            chain.append(min(ahead, key=lambda coarser: float(self.floor[coarser])))

    def found(self) -> Found:
        """The state of knowledge as a record."""
        n_open, minimal = self.tags.n_open, tuple(self.tags.minimal_safe())
        settled = self.stopped is None
        best = minimal[0] if self.goal == "one" and minimal else self.best.choice
        # how much cheaper an undecided choice could still be
        gap = None if self.best.cost is None or self.goal == "one" else 0.0
        if gap is not None and self.best.cost is not None and not settled:
            waiting = self.tags.state == OPEN
            if not self.objective.monotone:
                waiting |= self.tags.state == SAFE
            for choice in self.best.priced:
                waiting[choice] = False
            least = float(self.floor[waiting].min(initial=self.best.cost[0]))
            gap = max(0.0, self.best.cost[0] - least) if np.isfinite(least) else None
        return Found(
            choices=self.lattice.size,
            explored=self.explored,
            minimal=minimal,
            complete=settled and self.goal == "all",
            best=best,
            cost=self.best.cost,
            optimal=settled and self.goal != "one" and best is not None,
            # what was set aside or is open may be safe too
            safe_choices=self.tags.n_safe,
            undecided=n_open,
            gap=gap,
            stopped=self.stopped,
            known=self.tags.settled() if self.lattice.size <= MOST_TOLD else {},
        )

    def _must_stop(self) -> bool:
        self.stopped = self.stopped or self.limits.reason(self.explored)
        return self.stopped is not None

    def _price(self, choice: Choice) -> None:
        cost = self.objective.cost(choice)
        self.best.offer(choice, cost)
        self.informs = self.objective.raise_floor(choice, self.floor)
        if self.objective.monotone:
            coarser = tuple(map(slice, choice, self.lattice.shape))
            self.floor[coarser] = np.maximum(self.floor[coarser], cost[0])

    def _descend(self, start: Choice, taken: set[Choice]) -> list[Choice]:
        """A chain of open choices downwards, always to the neighbour that can have the fewest groups."""
        chain = [start]
        while True:
            ahead = [
                choice
                for choice in self.lattice.finer_neighbours(chain[-1])
                if self.tags.is_open(choice) and choice not in taken
            ]
            if not ahead:
                return chain
            chain.append(min(ahead, key=self.lattice.breadth))
