"""Joins of cliques for tests: random small ones, and every group of theirs."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from privacy_sql.kernels.marginals.clique_join import JoinClique


@st.composite
def joins(draw: st.DrawFn) -> list[JoinClique]:
    """A star or path of cliques, all made from one table of rows (block, groups..., value)."""
    n_cliques = draw(st.integers(1, 4))
    n_values = draw(st.integers(2, 4))
    rows = draw(
        st.lists(
            st.tuples(
                st.integers(0, 1),
                *(st.integers(0, 2) for _ in range(n_cliques)),
                st.integers(0, n_values - 1),
            ),
            min_size=1,
            max_size=25,
        )
    )
    path = draw(st.booleans())
    groups = [sorted({_key(row, i, path) for row in rows}) for i in range(n_cliques)]
    cliques = []
    for i in range(n_cliques):
        counts = np.zeros((len(groups[i]), n_values), dtype=np.int64)
        for row in rows:
            counts[groups[i].index(_key(row, i, path)), row[-1]] += 1
        if i == 0:
            cliques.append(JoinClique(counts))
            continue
        parent = i - 1 if path else 0
        own = [_shared(key, path, False) for key in groups[i]]
        above = [_shared(key, path, True) for key in groups[parent]]
        blocks = sorted(set(own))
        numbered = [np.array([blocks.index(k) for k in keys]) for keys in (own, above)]
        cliques.append(JoinClique(counts, parent, *numbered))
    return cliques


def _key(row: tuple[int, ...], i: int, path: bool) -> tuple[int, ...]:
    """A path shares one column with its neighbour; a star shares the block."""
    return (row[i], row[i + 1]) if path else (row[0], row[i + 1])


def _shared(key: tuple[int, ...], path: bool, above: bool) -> int:
    return key[1] if path and above else key[0]


def all_groups(cliques: list[JoinClique]) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = [(g,) for g in range(len(cliques[0].counts))]
    for clique in cliques[1:]:
        found = [
            (*ids, g)
            for ids in found
            for g in range(len(clique.counts))
            if clique.blocks[g] == clique.block_of_parent[ids[clique.parent]]
        ]
    return found
