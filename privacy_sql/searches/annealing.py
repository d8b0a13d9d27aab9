"""Step back from a safe choice at random, climb again, and be ever less willing to lose by it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from math import exp
from typing import Generic

import numpy as np

from privacy_sql.searches import Limits, Reached, Step, Steps


@dataclass(frozen=True)
class Annealing:
    """Simulated annealing with restarts from the best choice so far (kifer2006, Sect. 6.2: a random walk).

    Single steps lead nowhere: what stands in the way of a better choice has to be taken away first, and that
    is several steps deep. So a round goes up to `back` steps back and climbs until nothing safe is left to
    add, each time by one of the `choices` cheapest safe steps. `warm` is the cost that the first rounds may
    lose. The randomness chooses only what is looked at; what is published is decided by the checks.
    """

    rounds: int = 200
    restarts: int = 3
    back: int = 12
    choices: int = 2
    warm: float = 0.01

    def choose(
        self,
        space: Steps[Step],
        safe: Callable[[Step], bool],
        cost: Callable[[Step], float],
        random: np.random.Generator,
        start: Step | None = None,
        limits: Limits | None = None,
    ) -> Reached[Step]:
        """The cheapest safe choice met, from `start` or the space's own start."""
        limits = limits or Limits()
        best = here = space.start if start is None else start
        if not safe(best):
            return Reached(None, 1)
        walk = _AnnealingWalk(self, space, safe, cost, random, limits)
        for turn in range(self.restarts * self.rounds):
            if turn % self.rounds == 0:
                here = best
            if reason := limits.reason(walk.explored):
                return Reached(best, walk.explored, stopped=reason)
            limits.progress(turn, self.restarts * self.rounds)
            there = walk.climbed(walk.back(here))
            heat = self.warm * (1 - turn % self.rounds / self.rounds)
            if safe(there):
                loss = cost(there) - cost(here)
                if loss <= 0 or (heat > 0 and random.random() < exp(-loss / heat)):
                    here = there
                    best = min(best, here, key=cost)
        return Reached(best, walk.explored)


@dataclass
class _AnnealingWalk(Generic[Step]):
    """The two halves of a round, and how many choices they looked at."""

    params: Annealing
    space: Steps[Step]
    safe: Callable[[Step], bool]
    cost: Callable[[Step], float]
    random: np.random.Generator
    limits: Limits
    explored: int = 1

    def back(self, choice: Step) -> Step:
        """Some random steps back; they may well pass through choices that are not safe."""
        for _ in range(int(self.random.integers(1, self.params.back + 1))):
            behind = list(self.space.smaller(choice))
            self.explored += len(behind)
            if not behind:
                break
            choice = self._any(behind)
        return choice

    def climbed(self, choice: Step) -> Step:
        """On to where no safe step is left."""
        while not self.limits.stop():
            ahead = sorted(self.space.larger(choice), key=self.cost)
            self.explored += len(ahead)
            safe = list(islice((after for after in ahead if self.safe(after)), self.params.choices))
            if not safe:
                break
            choice = self._any(safe)
        return choice

    def _any(self, steps: list[Step]) -> Step:
        return steps[int(self.random.integers(len(steps)))]
