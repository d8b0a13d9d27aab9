"""The join of the cliques that hold the sensitive attribute, walked in chunks without building all of it.

Kifer & Gehrke 2006, Sect. 7: by Prop. 7.3 only these cliques decide diversity, so it is enough to look at
their join along the junction tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import prod

import numpy as np
import numpy.typing as npt

from privacy_sql.errors import Undecided

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Keep = Callable[[int, Ints, Floats], Mask]  # how many cliques are joined, their groups, their vectors

FIRST = 100  # joined groups in the first piece of a walk
NUMBERS = 700_000  # counts held at once in later pieces: groups times sensitive values
MOST_WALKED = 50_000_000  # groups looked at before the answer is "undecided"


def _no_blocks() -> Ints:
    return np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class JoinClique:
    """One clique with the sensitive attribute: a row of counts per group, and how it joins its parent.

    `block` is the separator cell of each group, `block_of_parent` that of each group of the parent (both
    empty for the root). Every parent group joins at least one group, because both marginals come from one
    table.
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


def exact_group(cliques: Sequence[JoinClique], groups: Sequence[int]) -> list[Fraction]:
    """Expected counts of one joined group per sensitive value, in exact fractions (Eq. 2)."""
    counts = []
    for value in range(cliques[0].counts.shape[1]):
        above = [int(c.counts[g, value]) for c, g in zip(cliques, groups, strict=True)]
        below = [int(c.separator[c.blocks[g], value]) for c, g in zip(cliques[1:], groups[1:], strict=True)]
        counts.append(Fraction(prod(above), prod(below)) if all(above) else Fraction(0))
    return counts


def walk(
    cliques: Sequence[JoinClique],
    rows: Sequence[Floats],
    combine: Callable[[Floats, Floats], Floats],
    keep: Keep,
) -> Iterator[tuple[Ints, Floats]]:
    """Joined groups in chunks, depth first; `keep` says which unfinished ones are worth extending.

    Raises Undecided when there are too many.
    """
    first = np.arange(len(rows[0]))[:, None]
    # one unfinished iterator per clique, so that at most one chunk of each is in memory
    chunk = max(NUMBERS // rows[0].shape[1], 1)
    stack = [iter([(first[piece], rows[0][piece]) for piece in _pieces(len(first), chunk)])]
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
            depth = chosen.shape[1]
            stack.append(_extended(cliques[depth], rows[depth], combine, chosen, vectors, chunk))


def _extended(
    clique: JoinClique,
    rows: Floats,
    combine: Callable[[Floats, Floats], Floats],
    chosen: Ints,
    vectors: Floats,
    chunk: int,
) -> Iterator[tuple[Ints, Floats]]:
    """Chosen groups, each with every group of the next clique that joins it."""
    block = clique.block_of_parent[chosen[:, clique.parent or 0]]
    size = clique.sizes[block]
    ends = np.cumsum(size)
    for piece in _pieces(int(ends[-1]), chunk):
        place = np.arange(piece.start, piece.stop)
        source = np.searchsorted(ends, place, side="right")
        within = place - (ends[source] - size[source])
        group = clique.order[clique.starts[block[source]] + within]
        yield np.column_stack([chosen[source], group]), combine(vectors[source], rows[group])


def _pieces(total: int, chunk: int) -> Iterator[slice]:
    """Everything in chunks, a small one first: its result bounds the others."""
    ends = [0, min(FIRST, total), *range(FIRST + chunk, total, chunk), total]
    return (slice(low, high) for low, high in pairwise(ends) if low < high)
