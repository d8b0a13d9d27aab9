"""List every choice that steps can reach, and ask about them in order of cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from privacy_sql.searches import Limits, Reached, Step, Steps


@dataclass(frozen=True)
class EveryStep:
    """The best of all choices, proven, where there are at most `max_choices`; gives up where there are more.

    kifer2006, Sect. 6.2: model selection needs an exhaustive search. Costs are known without asking, so only
    the choices cheaper than the best safe one are measured. Giving up is early: as soon as the pace of the
    steps listed so far says that there are more than `max_choices`.
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
        edge, sizes = [space.start], [1]
        while edge:
            ahead: set[Step] = set()
            for choice in edge:
                ahead.update(space.larger(choice))
                if len(seen) + len(ahead) > self.max_choices:
                    return "too many choices"
            edge = list(ahead - seen)
            seen |= ahead
            sizes.append(len(edge))
            limits.progress(len(seen), self.max_choices)
            if reason := limits.reason(0):
                return reason
            if expected(sizes) > self.max_choices:
                return "too many choices"
        return list(seen)


def expected(sizes: Sequence[int]) -> float:
    """At least how many choices there will be, from the numbers of those one, two, ... steps away.

    Step by step the numbers grow by ever smaller factors, and these fall ever more slowly: so the factor is
    taken to go on falling as fast as it did last.

    >>> expected([1, 10, 40, 80]), expected([1, 10])
    (131.0, 11.0)
    """
    total = float(sum(sizes))
    if len(sizes) < 4 or not all(sizes):
        return total
    before, factor = sizes[-2] / sizes[-3], sizes[-1] / sizes[-2]
    fall, last = max(before - factor, 0.25), float(sizes[-1])
    while (factor := factor - fall) > 0:
        last *= factor
        total += last
    return total
