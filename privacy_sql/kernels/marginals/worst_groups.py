"""The worst group of a join of marginals: least diverse, least varied, least populated.

Kifer & Gehrke 2006, Sect. 7. Small joins are walked completely; in large ones, parts whose bound is better
than the worst group so far are skipped ("bound and expand"). Differs from Algorithm 1: no convex hulls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import inf
from operator import itemgetter

import numpy as np

from privacy_sql.errors import Undecided
from privacy_sql.kernels.marginals.clique_join import (
    Floats,
    Ints,
    JoinClique,
    Mask,
    exact_group,
    join_size,
    walk,
)
from privacy_sql.kernels.marginals.max_entropy import least_c, near_the_likeliest
from privacy_sql.kernels.marginals.ratio_bounds import RatioBounds, affordable

PLAIN_GROUPS = 1_000_000  # joins up to this size are walked completely, without bounds
NEAR = 1e-9  # groups this close to the worst are compared in exact fractions
MANY_TIES = 5_000  # near groups kept for that; with more the answer is not exact

Bound = Callable[[RatioBounds, int, Ints, Floats, float], Mask]  # which rows may still reach this risk


@dataclass(frozen=True)
class WorstGroup:
    """The worst group: its measure, one group number per clique, and whether the measure is exact."""

    value: Fraction | float
    groups: tuple[int, ...]
    exact: bool


@dataclass
class NearWorst:
    """The groups whose risk is within `NEAR` of the largest met."""

    risk: float = -inf
    groups: list[tuple[float, tuple[int, ...]]] = field(default_factory=list)

    @property
    def edge(self) -> float:
        """The least risk that counts as near."""
        return self.risk - NEAR * abs(self.risk) if abs(self.risk) < inf else self.risk

    @property
    def whole(self) -> bool:
        """Whether all near groups were kept."""
        return len(self.groups) < MANY_TIES

    def meet(self, chosen: Ints, risks: Floats) -> None:
        if not len(risks):
            return
        self.risk = max(self.risk, float(risks.max()))
        self.groups = [(risk, ids) for risk, ids in self.groups if risk >= self.edge]
        near = np.flatnonzero(risks >= self.edge)
        # the worst first: if some are dropped, they are the least risky
        for i in near[np.argsort(-risks[near], kind="stable")][:MANY_TIES]:
            self.groups.append((float(risks[i]), tuple(int(g) for g in chosen[i])))
        self.groups = sorted(self.groups, key=itemgetter(0), reverse=True)[:MANY_TIES]


def riskiest(
    cliques: Sequence[JoinClique],
    risk: Callable[[Floats], Floats],
    bound: Bound,
    enough: Callable[[float], bool] = lambda _: False,
) -> NearWorst:
    """The groups of the join with the largest risk; the walk stops early at a risk that is `enough`."""
    large = join_size(cliques) > PLAIN_GROUPS and affordable(cliques)
    bounds = RatioBounds(cliques) if large else None
    near = NearWorst()
    edge = -inf if bounds is None else _dived(cliques, risk)

    def keep(depth: int, chosen: Ints, vectors: Floats) -> Mask:
        alive = np.asarray(vectors.max(axis=1) > 0)
        least = max(edge, near.edge)
        if bounds is not None and depth < len(cliques) and least > -inf:  # not of complete groups
            alive[alive] = bound(bounds, depth, chosen[alive], vectors[alive], least)
        return alive

    for chosen, vectors in walk(cliques, [c.shares for c in cliques], np.multiply, keep):
        near.meet(chosen, risk(vectors))
        if enough(near.risk):
            break
    return near


def _dived(cliques: Sequence[JoinClique], risk: Callable[[Floats], Floats]) -> float:
    """The risk of one group, found by following the riskiest rows clique by clique."""
    chosen = np.zeros(0, dtype=np.int64)
    vector = np.ones(cliques[0].counts.shape[1])
    for clique in cliques:
        block = 0 if clique.parent is None else int(clique.block_of_parent[chosen[clique.parent]])
        first = clique.starts[block]
        groups = clique.order[first : first + clique.sizes[block]]
        vectors = vector * clique.shares[groups]
        possible = np.flatnonzero(vectors.max(axis=1) > 0)
        if not len(possible):
            return -inf
        place = possible[int(risk(vectors[possible]).argmax())]
        chosen, vector = np.append(chosen, groups[place]), vectors[place]
    near = NearWorst()
    near.meet(chosen[None], risk(vector[None]))
    return near.edge


def worst_ratio(cliques: Sequence[JoinClique], ell: int, stop_above: float = inf) -> WorstGroup:
    """Critical c of the whole join: the largest over all groups of r_1 / (r_ℓ + ... + r_m).

    Infinite when some group has an empty tail. With `stop_above` the walk ends at the first group clearly
    above it.
    """

    def bound(bounds: RatioBounds, depth: int, chosen: Ints, vectors: Floats, edge: float) -> Mask:
        return np.asarray(bounds.largest_critical_c(depth, chosen, vectors, ell) >= edge)

    near = riskiest(
        cliques,
        lambda vectors: ratios_of(vectors, ell),
        bound,
        lambda risk: risk == inf or risk > stop_above * (1 + NEAR),
    )
    exact = [(least_c(exact_group(cliques, ids), ell), ids) for _, ids in near.groups]
    unbounded = [ids for value, ids in exact if value is None]
    if unbounded:
        return WorstGroup(inf, unbounded[0], True)
    value, ids = max((Fraction(value or 0), ids) for value, ids in exact)
    if not near.whole:  # a group that was not kept may be slightly worse
        return WorstGroup(max(float(value), near.risk), ids, False)
    return WorstGroup(value, ids, True)


def ratios_of(vectors: Floats, ell: int) -> Floats:
    """r_1 / (r_ℓ + ... + r_m) of each row; infinite where the tail is empty.

    >>> ratios_of(np.array([[4.0, 1.0, 1.0], [3.0, 0.0, 0.0]]), 2).tolist()
    [2.0, inf]
    """
    ascending = np.sort(vectors, axis=1)
    tail = ascending[:, : max(vectors.shape[1] - ell + 1, 0)].sum(axis=1)
    ratios = np.full(len(vectors), inf)
    np.divide(ascending[:, -1], tail, out=ratios, where=tail > 0)
    return ratios


def least_entropy(cliques: Sequence[JoinClique]) -> NearWorst:
    """The groups of the join with the least entropy; their `risk` is minus the entropy, in nats."""

    def bound(bounds: RatioBounds, depth: int, chosen: Ints, vectors: Floats, edge: float) -> Mask:
        return bounds.entropy_may_reach_down(depth, chosen, vectors, -edge)

    return riskiest(cliques, lambda vectors: -entropies_of(vectors), bound)


def entropies_of(vectors: Floats) -> Floats:
    """The entropy of each row's shares, in nats.

    >>> entropies_of(np.array([[4.0, 0.0], [3.0, 3.0]])).round(6).tolist()
    [0.0, 0.693147]
    """
    shares = vectors / vectors.sum(axis=1, keepdims=True)
    return np.asarray(0.0 - (shares * np.log(np.where(shares > 0, shares, 1.0))).sum(axis=1))


def fewest_values(cliques: Sequence[JoinClique]) -> WorstGroup:
    """Fewest sensitive values with a positive expected count in any group of the join."""
    return smallest_sum([replace(c, counts=(c.counts > 0).astype(np.int64)) for c in cliques])


def fewest_near_top(cliques: Sequence[JoinClique], share: Fraction) -> WorstGroup:
    """Fewest values of any group that are at least `share` times as likely as its likeliest.

    Kifer & Gehrke 2006, Sect. 7, the relaxation: this measures what it guarantees. Differs from their
    algorithm, which counts only the values that are near the top in every marginal; other values can be near
    the top, too.
    """
    best, asked = inf, 0
    found: tuple[int, ...] = ()

    def keep(depth: int, chosen: Ints, vectors: Floats) -> Mask:
        return np.asarray(vectors.max(axis=1) > 0)

    for chosen, vectors in walk(cliques, [c.shares for c in cliques], np.multiply, keep):
        least = float(share) * vectors.max(axis=1, keepdims=True)
        sure = np.maximum((vectors > least * (1 + NEAR)).sum(axis=1), 1)
        most = ((vectors >= least * (1 - NEAR)) & (vectors > 0)).sum(axis=1)
        for i in np.argsort(sure, kind="stable").tolist():
            if sure[i] >= best:
                break
            number, ids = int(sure[i]), tuple(int(g) for g in chosen[i])
            if number < most[i]:
                asked += 1
                if asked > MANY_TIES:
                    raise Undecided("too_many_ties", f"more than {MANY_TIES} groups lie on the limit")
                number = near_the_likeliest(exact_group(cliques, ids), share)
            if number < best:
                best, found = number, ids
    return WorstGroup(Fraction(int(best)), found, True)


def smallest_sum(cliques: Sequence[JoinClique], stop_below: float = 0) -> WorstGroup:
    """Least positive Σ_c min over the cliques of T(x, c) in the join: the bound of k-combinatorial anonymity.

    With `stop_below` the walk ends at the first positive sum below it.
    """
    floor = _floors(cliques)
    best = inf
    found: tuple[int, ...] = ()

    def keep(depth: int, chosen: Ints, vectors: Floats) -> Mask:
        least = vectors
        for q in range(depth, len(cliques)):
            parent = cliques[q].parent or 0
            if parent < depth:
                least = np.minimum(least, floor[q][cliques[q].block_of_parent[chosen[:, parent]]])
        return np.asarray((vectors.max(axis=1) > 0) & (least.sum(axis=1) < best))

    rows = [c.counts.astype(np.float64) for c in cliques]
    for chosen, vectors in walk(cliques, rows, np.minimum, keep):
        sums = vectors.sum(axis=1)
        sums[sums <= 0] = inf
        i = int(sums.argmin())
        if sums[i] < best:
            best, found = float(sums[i]), tuple(int(g) for g in chosen[i])
        if best < stop_below:
            break
    return WorstGroup(Fraction(int(best)) if best < inf else inf, found, True)


def _floors(cliques: Sequence[JoinClique]) -> list[Floats]:
    """Per clique and block: the least count of each value in any group below."""
    least = [c.counts.astype(np.float64) for c in cliques]
    floors: list[Floats] = [np.empty((0, 0))] * len(cliques)
    for i in range(len(cliques) - 1, 0, -1):
        clique = cliques[i]
        floors[i] = np.full(clique.separator.shape, inf)
        np.minimum.at(floors[i], clique.blocks, least[i])
        parent = clique.parent or 0
        least[parent] = np.minimum(least[parent], floors[i][clique.block_of_parent])
    return floors
