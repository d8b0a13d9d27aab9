"""The worst group of a large join of marginals, found without walking the whole join.

Kifer & Gehrke 2006, Sect. 7: by Prop. 7.3 only the cliques that hold the sensitive attribute decide
diversity, and so their join along the junction tree is what has to be looked at. Differs from Algorithm 1:
instead of convex hulls (which do not pay once there are more than a few sensitive values) a bottom-up pass
keeps, per separator cell, the largest ratio of any two sensitive values below it; whole parts of the join
whose bound is below the worst group so far are skipped ("bound and expand").
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import inf, prod

import numpy as np
import numpy.typing as npt

from privacy_sql.errors import Undecided
from privacy_sql.kernels.max_entropy import least_c

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

PLAIN_GROUPS = 1_000_000  # joins up to this size are walked whole, without bounds
CHUNK = 50_000  # joined groups held at once
BOUND_CHUNK = 5_000  # the same where a matrix of ratios is held per group
MOST_WALKED = 50_000_000  # groups looked at before the answer is "undecided"
NEAR = 1e-9  # groups this close to the worst are compared in exact fractions
MANY_TIES = 5_000  # near groups kept for that; beyond it the answer is not exact


def _no_blocks() -> Ints:
    return np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class JoinClique:
    """One clique with the sensitive attribute: a row of counts per group, and how it meets its parent.

    `block` is the separator cell each group lies in; `block_of_parent` the one each group of the parent
    lies in (both empty for the root). Every parent group meets at least one group, because both marginals
    come from one table.
    """

    counts: Ints
    parent: int | None = None
    block: Ints = field(default_factory=_no_blocks)
    block_of_parent: Ints = field(default_factory=_no_blocks)

    @cached_property
    def blocks(self) -> Ints:
        """The block of each group, 0 for all of the root's."""
        return np.zeros(len(self.counts), dtype=np.int64) if self.parent is None else self.block

    @cached_property
    def separator(self) -> Ints:
        """Counts of the separator: per block and sensitive value."""
        totals = np.zeros((int(self.blocks.max()) + 1, self.counts.shape[1]), dtype=np.int64)
        np.add.at(totals, self.blocks, self.counts)
        return totals

    @cached_property
    def shares(self) -> Floats:
        """Counts divided by those of the separator (0/0 is 0); the root's counts as they are."""
        if self.parent is None:
            return self.counts.astype(np.float64)
        below = self.separator[self.blocks]
        return np.divide(self.counts, below, out=np.zeros(below.shape), where=below > 0)

    @cached_property
    def order(self) -> Ints:
        """The groups sorted by block."""
        return np.argsort(self.blocks, kind="stable")

    @cached_property
    def sizes(self) -> Ints:
        """Number of groups per block."""
        return np.bincount(self.blocks)

    @cached_property
    def starts(self) -> Ints:
        """Where each block begins in `order`."""
        return np.concatenate([[0], np.cumsum(self.sizes)[:-1]])


@dataclass(frozen=True)
class Worst:
    """The worst group: its measure, one group number per clique, and whether the measure is exact."""

    value: Fraction | float
    groups: tuple[int, ...]
    exact: bool


def join_size(cliques: Sequence[JoinClique]) -> int:
    """Number of groups in the join, without joining.

    >>> pair = np.array([[1, 1], [2, 0]])
    >>> join_size([JoinClique(pair), JoinClique(pair, 0, np.array([0, 0]), np.array([0, 0]))])
    4
    """
    below = [np.ones(len(clique.counts)) for clique in cliques]
    for i in range(len(cliques) - 1, 0, -1):
        clique = cliques[i]
        per_block = np.bincount(clique.blocks, weights=below[i])
        below[clique.parent or 0] *= per_block[clique.block_of_parent]
    return int(below[0].sum())


def worst_ratio(cliques: Sequence[JoinClique], ell: int, stop_above: float = inf) -> Worst:
    """Critical c of the whole join: the largest over all groups of r_1 / (r_ℓ + ... + r_m).

    Infinite when some group has an empty tail. With `stop_above` the walk ends at the first group clearly
    above it. Above `PLAIN_GROUPS` parts of the join are skipped by bound.
    """
    bounds = _Bounds(cliques, ell) if join_size(cliques) > PLAIN_GROUPS else None
    best = 0.0
    near: list[tuple[float, tuple[int, ...]]] = []

    def keep(depth: int, chosen: Ints, vectors: Floats) -> npt.NDArray[np.bool_]:
        alive = vectors.max(axis=1) > 0
        if bounds is not None:
            alive &= bounds.above(depth, chosen, vectors) >= best * (1 - NEAR)
        return np.asarray(alive)

    chunk = CHUNK if bounds is None else BOUND_CHUNK
    for chosen, vectors in _walk(cliques, [c.shares for c in cliques], np.multiply, keep, chunk):
        ratios = ratios_of(vectors, ell)
        best = max(best, float(ratios.max()))
        near = [(ratio, ids) for ratio, ids in near if ratio >= best * (1 - NEAR)]
        for i in np.flatnonzero(ratios >= best * (1 - NEAR))[: MANY_TIES - len(near)]:
            near.append((float(ratios[i]), tuple(int(g) for g in chosen[i])))
        if best == inf or best > stop_above * (1 + NEAR):
            break
    return _exact_worst(cliques, near, ell, best)


def _exact_worst(
    cliques: Sequence[JoinClique], near: Sequence[tuple[float, tuple[int, ...]]], ell: int, best: float
) -> Worst:
    exact = [(least_c(exact_group(cliques, ids), ell), ids) for _, ids in near]
    unbounded = [ids for value, ids in exact if value is None]
    if unbounded:
        return Worst(inf, unbounded[0], True)
    value, ids = max((Fraction(value or 0), ids) for value, ids in exact)
    if len(near) >= MANY_TIES:  # a group that was not kept may be worse by a hair
        return Worst(max(float(value), best), ids, False)
    return Worst(value, ids, True)


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


def exact_group(cliques: Sequence[JoinClique], groups: Sequence[int]) -> list[Fraction]:
    """Expected counts of one joined group per sensitive value, in exact fractions (Eq. 2)."""
    counts = []
    for value in range(cliques[0].counts.shape[1]):
        above = [int(c.counts[g, value]) for c, g in zip(cliques, groups, strict=True)]
        below = [int(c.separator[c.blocks[g], value]) for c, g in zip(cliques[1:], groups[1:], strict=True)]
        counts.append(Fraction(prod(above), prod(below)) if all(above) else Fraction(0))
    return counts


def fewest_near_top(cliques: Sequence[JoinClique], epsilon: Fraction) -> Worst:
    """Fewest values of any group that are nearly as likely as the likeliest in every marginal.

    Kifer & Gehrke 2006, Sect. 7, the relaxation: I_v(t) = 1 where the count, divided by the separator's, is
    at least (1 - ε) times the largest of its group. A group of p marginals with ℓ such values has ℓ values at
    least (1 - ε)^p times as frequent as its most frequent one.
    """
    flags = [_near_top(clique, epsilon) for clique in cliques]
    best = inf
    found: tuple[int, ...] = ()

    def keep(depth: int, chosen: Ints, vectors: Floats) -> npt.NDArray[np.bool_]:
        return np.ones(len(vectors), dtype=np.bool_)

    for chosen, vectors in _walk(cliques, flags, np.multiply, keep, CHUNK):
        number = vectors.sum(axis=1)
        i = int(number.argmin())
        if number[i] < best:
            best, found = float(number[i]), tuple(int(g) for g in chosen[i])
        if best == 0:
            break
    return Worst(Fraction(int(best)), found, True)


def _near_top(clique: JoinClique, epsilon: Fraction) -> Floats:
    """1 where a count, divided by its separator's, is near the largest of the group; decided in integers."""
    below = np.ones_like(clique.counts) if clique.parent is None else clique.separator[clique.blocks]
    flags = np.zeros(clique.counts.shape)
    for group, (counts, separators) in enumerate(zip(clique.counts.tolist(), below.tolist(), strict=True)):
        shares = [Fraction(n, d) if d else Fraction(0) for n, d in zip(counts, separators, strict=True)]
        least = (1 - epsilon) * max(shares)
        flags[group] = [share >= least and share > 0 for share in shares]
    return flags


def smallest_sum(cliques: Sequence[JoinClique], stop_below: float = 0) -> Worst:
    """Least positive Σ_c min over the cliques of T(x, c) in the join: the bound of k-combinatorial anonymity.

    With `stop_below` the walk ends at the first positive sum below it.
    """
    floor = _floors(cliques)
    best = inf
    found: tuple[int, ...] = ()

    def keep(depth: int, chosen: Ints, vectors: Floats) -> npt.NDArray[np.bool_]:
        least = vectors
        for q in range(depth, len(cliques)):
            parent = cliques[q].parent or 0
            if parent < depth:
                least = np.minimum(least, floor[q][cliques[q].block_of_parent[chosen[:, parent]]])
        return np.asarray((vectors.max(axis=1) > 0) & (least.sum(axis=1) < best))

    rows = [c.counts.astype(np.float64) for c in cliques]
    for chosen, vectors in _walk(cliques, rows, np.minimum, keep, CHUNK):
        sums = vectors.sum(axis=1)
        sums[sums <= 0] = inf
        i = int(sums.argmin())
        if sums[i] < best:
            best, found = float(sums[i]), tuple(int(g) for g in chosen[i])
        if best < stop_below:
            break
    return Worst(Fraction(int(best)) if best < inf else inf, found, True)


def _floors(cliques: Sequence[JoinClique]) -> list[Floats]:
    """Per clique and block: the least count of each value that any group below can have."""
    least = [c.counts.astype(np.float64) for c in cliques]
    floors: list[Floats] = [np.empty((0, 0))] * len(cliques)
    for i in range(len(cliques) - 1, 0, -1):
        clique = cliques[i]
        floors[i] = np.full(clique.separator.shape, inf)
        np.minimum.at(floors[i], clique.blocks, least[i])
        parent = clique.parent or 0
        least[parent] = np.minimum(least[parent], floors[i][clique.block_of_parent])
    return floors


def _walk(
    cliques: Sequence[JoinClique],
    rows: Sequence[Floats],
    combine: Callable[[Floats, Floats], Floats],
    keep: Callable[[int, Ints, Floats], npt.NDArray[np.bool_]],
    chunk: int,
) -> Iterator[tuple[Ints, Floats]]:
    """Joined groups in chunks, depth first; `keep` says which unfinished ones are worth going on with.

    Raises Undecided when there is no end to them.
    """
    first = np.arange(len(rows[0]))[:, None]
    # one unfinished iterator per clique, so that no more than a chunk of each is held
    stack = [iter([(first[i : i + chunk], rows[0][i : i + chunk]) for i in range(0, len(first), chunk)])]
    walked = 0
    while stack:
        part = next(stack[-1], None)
        if part is None:
            stack.pop()
            continue
        chosen, vectors = part
        walked += len(chosen)
        if walked > MOST_WALKED:
            raise Undecided(
                "join_too_large",
                f"the marginals with the sensitive column meet in more than {MOST_WALKED} groups to look at",
                hint="Publish fewer marginals with the sensitive column.",
            )
        kept = keep(len(stack), chosen, vectors)
        chosen, vectors = chosen[kept], vectors[kept]
        if not len(chosen):
            continue
        if len(stack) == len(cliques):
            yield chosen, vectors
        else:
            stack.append(_extended(cliques, rows, combine, chosen, vectors, chunk))


def _extended(
    cliques: Sequence[JoinClique],
    rows: Sequence[Floats],
    combine: Callable[[Floats, Floats], Floats],
    chosen: Ints,
    vectors: Floats,
    chunk: int,
) -> Iterator[tuple[Ints, Floats]]:
    """Chosen groups with every group of the next clique they meet."""
    depth = chosen.shape[1]
    for wider, source in _joined(cliques[depth], chosen, chunk):
        yield wider, combine(vectors[source], rows[depth][wider[:, -1]])


def _joined(clique: JoinClique, chosen: Ints, chunk: int) -> Iterator[tuple[Ints, Ints]]:
    """Each chosen row beside every group of the clique it meets, with the row it came from."""
    block = clique.block_of_parent[chosen[:, clique.parent or 0]]
    size = clique.sizes[block]
    ends = np.cumsum(size)
    for low in range(0, int(ends[-1]), chunk):
        place = np.arange(low, min(low + chunk, int(ends[-1])))
        source = np.searchsorted(ends, place, side="right")
        within = place - (ends[source] - size[source])
        group = clique.order[clique.starts[block[source]] + within]
        yield np.column_stack([chosen[source], group]), source


class _Bounds:
    """Per separator cell, the largest ratio of any two sensitive values in the part of the join below it."""

    def __init__(self, cliques: Sequence[JoinClique], ell: int) -> None:
        self.cliques = cliques
        self.ell = ell
        self.messages: list[Floats] = [np.empty((0, 0, 0))] * len(cliques)
        for i in range(len(cliques) - 1, 0, -1):
            self.messages[i] = self._message(i)

    def _message(self, i: int) -> Floats:
        clique = self.cliques[i]
        n_values = clique.counts.shape[1]
        largest = np.zeros((len(clique.separator), n_values, n_values))
        for low in range(0, len(clique.counts), BOUND_CHUNK):
            groups = np.arange(low, min(low + BOUND_CHUNK, len(clique.counts)))
            ratio = _ratio_matrix(clique.shares[groups])
            for child, below in enumerate(self.cliques):
                if below.parent == i and child > i:
                    ratio = _times(ratio, self.messages[child][below.block_of_parent[groups]])
            np.maximum.at(largest, clique.blocks[groups], ratio)
        return largest

    def above(self, depth: int, chosen: Ints, vectors: Floats) -> Floats:
        """A number no group that continues these rows can exceed."""
        bound = np.empty(len(vectors))
        for low in range(0, len(vectors), BOUND_CHUNK):
            part = slice(low, low + BOUND_CHUNK)
            ratio = _ratio_matrix(vectors[part])
            for q in range(depth, len(self.cliques)):
                parent = self.cliques[q].parent or 0
                if parent < depth:
                    ratio = _times(
                        ratio, self.messages[q][self.cliques[q].block_of_parent[chosen[part, parent]]]
                    )
            bound[part] = self._ratio_bound(ratio)
        return bound

    def _ratio_bound(self, ratio: Floats) -> Floats:
        """From largest v_j / v_i to largest v_j / tail, over heads j that can occur."""
        n_values = ratio.shape[1]
        with np.errstate(divide="ignore"):
            share = np.minimum(1 / ratio, 1.0)  # 1/0: value j never occurs, handled below
        tail = np.sort(share, axis=2)[:, :, : max(n_values - self.ell + 1, 0)].sum(axis=2)
        with np.errstate(divide="ignore"):
            bound = 1 / tail
        possible = np.diagonal(ratio, axis1=1, axis2=2) > 0
        return np.asarray(np.where(possible, bound, 0.0).max(axis=1))


def _ratio_matrix(vectors: Floats) -> Floats:
    """v_j / v_i per row: 0 where v_j is 0 (it is no head), infinite where only v_i is 0."""
    head, other = vectors[:, :, None], vectors[:, None, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(head > 0, head / other, 0.0))


def _times(left: Floats, right: Floats) -> Floats:
    """Product of ratios where 0 times infinity is 0: the head does not occur."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.nan_to_num(left * right, nan=0.0, posinf=inf))
