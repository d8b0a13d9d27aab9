"""List every choice that steps can reach, and ask about them in order of cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from privacy_sql.searches import Limits, Reached, Step, Steps


@dataclass(frozen=True)
class EveryStep:
    """The best of all choices, proven, where there are at most `max_choices`; gives up where there are more.

    kifer2006, Sect. 6.2: model selection needs an exhaustive search. Costs are known without asking, so only
    the choices cheaper than the best safe one are asked about. Giving up is early: when a tenth of the limit
    is listed and the last step still more than tripled the number, the rest is not listed.
    """

    max_choices: int = 1_000_000

    def choose(
        self,
        space: Steps[Step],
        safe: Callable[[Step], bool],
        cost: Callable[[Step], float],
        limits: Limits | None = None,
    ) -> Reached[Step]:
        """The cheapest safe choice; `stopped` says why when it is not proven."""
        limits = limits or Limits()
        listed = self._listed(space, limits)
        if isinstance(listed, str):
            return Reached(None, 0, stopped=listed)
        for explored, choice in enumerate(sorted(listed, key=cost), start=1):
            if reason := limits.reason(explored):
                return Reached(None, explored, stopped=reason)
            limits.progress(explored, len(listed))
            if safe(choice):
                return Reached(choice, explored, optimal=True)
        return Reached(None, len(listed), optimal=True)

    def _listed(self, space: Steps[Step], limits: Limits) -> list[Step] | str:
        seen = {space.start}
        last, edge = 1, [space.start]
        while edge:
            ahead: set[Step] = set()
            for choice in edge:
                ahead.update(space.larger(choice))
                if len(seen) + len(ahead) > self.max_choices:
                    return "too many choices"
            edge = list(ahead - seen)
            seen |= ahead
            if reason := limits.reason(0):
                return reason
            if len(seen) > self.max_choices / 10 and len(edge) > 3 * last:
                return "too many choices"
            last = len(edge)
        return list(seen)
