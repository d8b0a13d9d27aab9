"""Estimated chances given facts that are too entangled to count: random worlds, keeping those that fit."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from privacy_sql.kernels.worst_case.worlds import Component, Pool

# Worlds drawn for one component. The estimate uses those that agree with the facts.
SAMPLES = 200_000
CELLS = 2_000_000  # outcomes in memory at a time, however many draws there are

Outcomes = NDArray[np.int64]
Bools = NDArray[np.bool_]


class NothingAgreed(Exception):
    """No random world agreed with the facts: that shows neither a chance nor a contradiction."""


class WorldSample:
    """How often each outcome occurs among random worlds of one component in which all its facts hold."""

    def __init__(self, component: Component, random: np.random.Generator, samples: int = SAMPLES) -> None:
        self.kept = 0
        self.counts = [np.zeros(len(component.pools[draw.pool].stock), np.int64) for draw in component.draws]
        block = max(1, min(20_000, CELLS // len(component.draws)))
        for start in range(0, samples, block):
            # outcomes of all draws (rows) in independent random worlds (columns)
            rows: list[Outcomes] = []
            for number, pool in enumerate(component.pools):
                draws = sum(draw.pool == number for draw in component.draws)
                rows += (_shared_out if pool.multiset else _without_replacement)(
                    pool, draws, random, min(block, samples - start)
                )
            worlds = np.stack(rows)
            worlds = worlds[:, _agreeing(component, worlds, random)]
            self.kept += worlds.shape[1]
            for count, row in zip(self.counts, worlds, strict=True):
                count += np.bincount(row, minlength=len(count))
        if not self.kept:
            raise NothingAgreed

    def interval(self, draw: int, outcome: int, doubt: float) -> tuple[float, float, float]:
        """Estimate, lower and upper end; the truth lies outside with a probability of at most `doubt`."""
        share = float(self.counts[draw][outcome]) / self.kept
        slack = math.log(2 / doubt) / self.kept
        return share, _end(share, slack, 0.0), _end(share, slack, 1.0)


def _end(share: float, slack: float, outermost: float) -> float:
    """Where the Chernoff bound n KL(share, p) reaches log(2 / doubt): valid for every n, found by halving."""
    inner, outer = share, outermost
    if _divergence(share, outer) <= slack:
        return outer
    for _ in range(60):
        middle = (inner + outer) / 2
        if _divergence(share, middle) <= slack:
            inner = middle
        else:
            outer = middle
    return outer


def _divergence(share: float, p: float) -> float:
    """Kullback-Leibler divergence of two coins."""
    found = 0.0
    for q, r in ((share, p), (1 - share, 1 - p)):
        if q > 0:
            found += q * math.log(q / r) if r > 0 else math.inf
    return found


def _without_replacement(pool: Pool, draws: int, random: np.random.Generator, samples: int) -> list[Outcomes]:
    left = np.tile(np.array(pool.stock, np.int64), (samples, 1))
    rows = []
    for drawn in range(draws):
        ticket = random.integers(0, pool.people - drawn, samples)
        outcome = (np.cumsum(left, axis=1) <= ticket[:, None]).sum(axis=1)
        left[np.arange(samples), outcome] -= 1
        rows.append(outcome)
    return rows


def _shared_out(pool: Pool, draws: int, random: np.random.Generator, samples: int) -> list[Outcomes]:
    left = np.full(samples, pool.stock[0], np.int64)
    rows = []
    for drawn in range(draws):
        mine = random.binomial(left, 1 / (pool.people - drawn))
        left -= mine
        rows.append(np.where(mine > 0, 0, 1))
    return rows


def _agreeing(component: Component, worlds: Outcomes, random: np.random.Generator) -> Bools:
    """The worlds in which every clause holds; doubted facts keep worlds according to their weight."""
    held = [_holds(*sides, worlds) for sides in zip(component.negative, component.positive, strict=True)]
    agree = np.ones(worlds.shape[1], bool)
    certain = set(range(len(held)))
    for clauses, weight in component.doubted:
        certain -= set(clauses)
        likelier = max(weight, 1 - weight)  # all worlds of the likelier kind are kept
        holds = np.all([held[clause] for clause in clauses], axis=0)
        kept = np.where(holds, float(weight / likelier), float((1 - weight) / likelier))
        agree &= random.random(len(kept)) < kept
    for clause in certain:
        agree &= held[clause]
    return agree


def _holds(
    negative: tuple[tuple[int, int], ...], positive: tuple[tuple[int, int], ...], worlds: Outcomes
) -> Bools:
    """The worlds in which a clause holds."""
    holds = np.zeros(worlds.shape[1], bool)
    for t, outcome in negative:
        holds |= worlds[t] != outcome
    for t, outcome in positive:
        holds |= worlds[t] == outcome
    return holds
