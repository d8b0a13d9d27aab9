"""Go on from the few best safe choices of every step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from privacy_sql.searches import Limits, Reached, Step, Steps


@dataclass(frozen=True)
class Beam:
    """Stepwise selection that keeps the `width` best safe choices of each step; a width of 1 is greedy.

    kifer2006, Sect. 6.2. Safety may come and go along the way, so every choice is measured anew, and the
    best is the best of what was met, never proven.
    """

    width: int = 10

    def choose(
        self,
        space: Steps[Step],
        safe: Callable[[Step], bool],
        cost: Callable[[Step], float],
        limits: Limits | None = None,
    ) -> Reached[Step]:
        """The cheapest safe choice met."""
        limits = limits or Limits()
        step = [space.start] if safe(space.start) else []
        best, explored = (step[0] if step else None), 1
        while step:
            ahead = sorted({after for choice in step for after in space.larger(choice)}, key=cost)
            explored += len(ahead)
            limits.progress(explored, explored)
            if reason := limits.reason(explored):
                return Reached(best, explored, stopped=reason)
            step = []
            for choice in ahead:
                if len(step) == self.width or limits.stop():
                    break
                if safe(choice):
                    step.append(choice)
            best = min(
                [best, *step[:1]], key=lambda choice: cost(choice) if choice is not None else float("inf")
            )
        return Reached(best, explored)
