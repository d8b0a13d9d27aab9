"""Exact chances given facts: worlds counted draw by draw, forwards and backwards.

Counting is #P-hard in general (Martin et al. 2007, Theorem 8), so the work has a limit. Between two draws the
state is how often each outcome of the current pool was drawn, which open facts are already true, and which of
the doubted facts are already false.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from privacy_sql.kernels.worst_case.worlds import Component, Pool

# Steps of the count: one per state and outcome. A million take about two seconds.
WORK_LIMIT = 1_000_000

# open clauses already true and doubted facts already false; outcomes drawn in this pool
State = tuple[int, tuple[int, ...]]
Layer = dict[State, int]


class TooMuchWork(Exception):
    """The exact count would take more than the stated number of steps."""


class Contradiction(Exception):
    """No world agrees with the facts."""


class WorldCount:
    """The worlds of one component in which all its facts hold, by the outcomes of its draws."""

    def __init__(self, component: Component, work_limit: int = WORK_LIMIT) -> None:
        self.component = component
        self.steps_left = work_limit
        draws = component.draws
        self._last = [t + 1 == len(draws) or draws[t + 1].pool != draw.pool for t, draw in enumerate(draws)]
        self._bits = _Bits.of(component)
        layers: list[Layer] = [{(0, self._nothing_drawn(0)): 1}]
        for t in range(len(draws)):
            layer: Layer = {}
            for state, worlds in layers[-1].items():
                self.steps_left -= len(state[1])
                if self.steps_left < 0:
                    raise TooMuchWork
                for _, following, ways in self._steps(t, state):
                    layer[following] = layer.get(following, 0) + worlds * ways
            layers.append(layer)
        if not sum(layers[-1].values()):
            raise Contradiction
        after: Layer = dict.fromkeys(layers[-1], 1)
        found = []
        for t in range(len(layers) - 2, -1, -1):
            before: Layer = {}
            row = [0] * len(self._pool(t).stock)
            for state, worlds in layers[t].items():
                for outcome, following, ways in self._steps(t, state):
                    ends = ways * after.get(following, 0)
                    row[outcome] += worlds * ends
                    before[state] = before.get(state, 0) + ends
            after = before
            found.append(row)
        self.outcomes = found[::-1]

    def chance(self, draw: int, outcome: int) -> Fraction:
        """P(this draw has this outcome | the facts)."""
        row = self.outcomes[draw]
        return Fraction(row[outcome], sum(row))

    def _steps(self, t: int, state: State) -> Iterator[tuple[int, State, int]]:
        """Each outcome of a draw: the state it leads to and, at the end of a pool, the ways to get there."""
        true, drawn = state
        pool = self._pool(t)
        for outcome, stock in enumerate(pool.stock):
            if drawn[outcome] == stock:
                continue
            now_true, weight = self._bits.after(t, true | self._bits.gains[t][outcome])
            if not weight:
                continue
            so_far = (*drawn[:outcome], drawn[outcome] + 1, *drawn[outcome + 1 :])
            if self._last[t]:
                yield outcome, (now_true, self._nothing_drawn(t + 1)), weight * pool.ways(so_far)
            else:
                yield outcome, (now_true, so_far), weight

    def _pool(self, t: int) -> Pool:
        return self.component.pools[self.component.draws[t].pool]

    def _nothing_drawn(self, t: int) -> tuple[int, ...]:
        return (0,) * len(self._pool(t).stock) if t < len(self.component.draws) else ()


@dataclass(frozen=True)
class _Bits:
    """What the draws have decided: a bit for each clause that is true and each doubted fact that is false."""

    gains: list[list[int]]  # draw, outcome: the clauses that become true
    closing: list[int]  # draw: the clauses that no later draw can make true
    certain: int  # the clauses that have to hold
    doubted: list[tuple[int, int, int, int]]  # clauses, own bit, weight where they hold, weight where not
    decided: list[list[int]]  # draw: the doubted facts that it decides

    @classmethod
    def of(cls, component: Component) -> _Bits:
        gains = [[0] * len(component.pools[draw.pool].stock) for draw in component.draws]
        last = []
        for number, both in enumerate(zip(component.negative, component.positive, strict=True)):
            negative, positive = both
            for t, outcome in negative:
                for other in range(len(gains[t])):
                    gains[t][other] |= (other != outcome) << number
            for t, outcome in positive:
                gains[t][outcome] |= 1 << number
            last.append(max(t for t, _ in (*negative, *positive)))
        closing = [sum(1 << number for number, end in enumerate(last) if end == t) for t in range(len(gains))]
        decided: list[list[int]] = [[] for _ in gains]
        doubted, certain = [], (1 << len(last)) - 1
        for number, (clauses, weight) in enumerate(component.doubted):
            own = sum(1 << clause for clause in clauses)
            certain &= ~own
            if_not = weight.denominator - weight.numerator
            doubted.append((own, 1 << (len(last) + number), weight.numerator, if_not))
            decided[max(last[clause] for clause in clauses)].append(number)
        return cls(gains, closing, certain, doubted, decided)

    def after(self, t: int, true: int) -> tuple[int, int]:
        """What is open after a draw, and the weight of a world by what the draw decides."""
        lost = self.closing[t] & ~true
        if lost & self.certain:
            return 0, 0
        weight = 1
        for clauses, false, _, _ in self.doubted if lost else ():
            true |= false if lost & clauses else 0
        for number in self.decided[t]:
            _, false, if_true, if_not = self.doubted[number]
            weight *= if_not if true & false else if_true
            true &= ~false
        return true & ~self.closing[t], weight
