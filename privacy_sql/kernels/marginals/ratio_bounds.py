"""How far apart the counts of sensitive values can be in the part of a join that is not walked yet.

Instead of the convex hulls of Kifer & Gehrke 2006, Algorithm 1 (which are slower with more than a few
sensitive values), a bottom-up pass keeps, per separator cell, the largest ratio of any two values below it.
For |C| = ℓ this is the paper's own pruning by ratios; an absent value gives an infinite ratio.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf

import numpy as np

from privacy_sql.kernels.marginals.clique_join import Floats, Ints, JoinClique, Mask

NUMBERS = 1_000_000  # ratios of groups held at once: groups times sensitive values squared
MOST_NUMBERS = 50_000_000  # ratios of separator cells; with more, a join is walked without bounds


class RatioBounds:
    """Per separator cell, the largest ratio of any two sensitive values in the part of the join below it."""

    def __init__(self, cliques: Sequence[JoinClique]) -> None:
        self.cliques = cliques
        self.chunk = max(NUMBERS // cliques[0].counts.shape[1] ** 2, 1)
        self.messages: list[Floats] = [np.empty((0, 0, 0))] * len(cliques)
        for i in range(len(cliques) - 1, 0, -1):
            clique = self.cliques[i]
            n_values = clique.counts.shape[1]
            largest = np.zeros((len(clique.separator), n_values, n_values))
            for low in range(0, len(clique.counts), self.chunk):
                groups = np.arange(low, min(low + self.chunk, len(clique.counts)))
                ratio = _ratio_matrix(clique.shares[groups])
                for child, below in enumerate(self.cliques):
                    if below.parent == i and child > i:
                        ratio = _times(ratio, self.messages[child][below.block_of_parent[groups]])
                np.maximum.at(largest, clique.blocks[groups], ratio)
            self.messages[i] = largest

    def largest_critical_c(self, depth: int, chosen: Ints, vectors: Floats, ell: int) -> Floats:
        """An upper bound of r_1 / (r_ℓ + ... + r_m) for every group that continues these rows."""
        bounds = [critical_c_at_most(ratio, ell) for ratio in self._ratios(depth, chosen, vectors)]
        return np.concatenate([np.zeros(0), *bounds])

    def entropy_may_reach_down(self, depth: int, chosen: Ints, vectors: Floats, least: float) -> Mask:
        """Which rows a group with an entropy of `least` or less may continue."""
        bounds = [entropy_may_be(ratio, least) for ratio in self._ratios(depth, chosen, vectors)]
        return np.concatenate([np.zeros(0, dtype=np.bool_), *bounds])

    def _ratios(self, depth: int, chosen: Ints, vectors: Floats) -> Iterator[Floats]:
        """The largest ratios v_j / v_i of the groups that continue these rows, in chunks."""
        for low in range(0, len(vectors), self.chunk):
            part = slice(low, low + self.chunk)
            ratio = _ratio_matrix(vectors[part])
            for q in range(depth, len(self.cliques)):
                parent = self.cliques[q].parent or 0
                if parent < depth:
                    block = self.cliques[q].block_of_parent[chosen[part, parent]]
                    ratio = _times(ratio, self.messages[q][block])
            yield ratio


def affordable(cliques: Sequence[JoinClique]) -> bool:
    """Whether the ratios of all separator cells fit into memory."""
    cells = sum(len(clique.separator) for clique in cliques[1:])
    return int(cells * cliques[0].counts.shape[1] ** 2) <= MOST_NUMBERS


def critical_c_at_most(ratio: Floats, ell: int) -> Floats:
    """From largest v_j / v_i to largest v_j / tail, over the heads j that can occur."""
    n_values = ratio.shape[1]
    least = np.sort(_least_shares(ratio), axis=2)
    tail = least[:, :, : max(n_values - ell + 1, 0)].sum(axis=2)
    with np.errstate(divide="ignore"):
        bound = 1 / tail
    return np.asarray(np.where(_heads(ratio), bound, 0.0).max(axis=1))


def entropy_may_be(ratio: Floats, least: float) -> Mask:
    """Whether a vector with these largest ratios may have an entropy of at most `least` nats.

    With w = v / v_j for the largest value j, entropy > t says Σ w · (ln W - t) - Σ w ln w > 0 for W = Σ w. As
    W ln W >= W (1 + ln V) - V for every V, that follows from Σ φ(w) > V for φ(w) = (1 + ln V - t) w - w ln w;
    φ is concave, so each w may be put at the end of its range where φ is less.
    """
    low, high = _least_shares(ratio), np.minimum(np.swapaxes(ratio, 1, 2), 1.0)
    clear = np.zeros(ratio.shape[:2], dtype=np.bool_)
    for guess in (low.sum(axis=2), high.sum(axis=2), (low.sum(axis=2) + high.sum(axis=2)) / 2):
        factor = 1 + np.log(guess) - least
        ends = [factor[:, :, None] * w - w * np.log(np.where(w > 0, w, 1.0)) for w in (low, high)]
        clear |= np.minimum(*ends).sum(axis=2) > guess
    return np.asarray((_heads(ratio) & ~clear).any(axis=1))


def _least_shares(ratio: Floats) -> Floats:
    """Per head j, the least possible v_i / v_j where v_j is the largest."""
    with np.errstate(divide="ignore"):
        return np.minimum(1 / ratio, 1.0)  # 1/0: j never occurs, so it is no head


def _heads(ratio: Floats) -> Mask:
    """Which values can be the largest: those that can equal or exceed every other one."""
    possible = np.diagonal(ratio, axis1=1, axis2=2) > 0
    return np.asarray(possible & (ratio.min(axis=2) >= 1 - 1e-12))


def _ratio_matrix(vectors: Floats) -> Floats:
    """v_j / v_i per row: 0 where v_j is 0 (it is no head), infinite where only v_i is 0."""
    head, other = vectors[:, :, None], vectors[:, None, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(head > 0, head / other, 0.0))


def _times(left: Floats, right: Floats) -> Floats:
    """Product of ratios where 0 times infinity is 0: the head does not occur."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.nan_to_num(left * right, nan=0.0, posinf=inf))
