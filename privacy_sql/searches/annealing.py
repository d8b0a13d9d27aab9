"""Wander through safe choices, forwards and backwards, ever less willing to lose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import exp

import numpy as np

from privacy_sql.searches import Limits, Reached, Step, Steps


@dataclass(frozen=True)
class Annealing:
    """Simulated annealing with restarts from the best choice so far (kifer2006, Sect. 6.2: a random walk).

    The randomness chooses only what is looked at; what is published is decided by the checks. `warm` is the
    cost a first step may lose.
    """

    steps: int = 400
    restarts: int = 5
    warm: float = 0.1

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
        best = space.start if start is None else start
        if not safe(best):
            return Reached(None, 1)
        explored = 1
        for _ in range(self.restarts):
            here = best
            for step in range(self.steps):
                if reason := limits.reason(explored):
                    return Reached(best, explored, stopped=reason)
                around = sorted([*space.larger(here), *space.smaller(here)], key=cost)
                if not around:
                    return Reached(best, explored)
                next_one = around[int(random.integers(len(around)))]
                explored += 1
                heat = self.warm * (1 - step / self.steps)
                if _accepts(cost(next_one) - cost(here), heat, random) and safe(next_one):
                    here = next_one
                    best = min(best, here, key=cost)
        return Reached(best, explored)


def _accepts(loss: float, heat: float, random: np.random.Generator) -> bool:
    return loss <= 0 or (heat > 0 and random.random() < exp(-loss / heat))
