"""The worst group of a join of cliques, with and without bounds, against the whole join."""

from __future__ import annotations

from fractions import Fraction
from math import inf
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privacy_sql.errors import Undecided
from privacy_sql.kernels import clique_join
from privacy_sql.kernels.clique_join import (
    JoinClique,
    exact_group,
    fewest_near_top,
    join_size,
    smallest_sum,
    worst_ratio,
)
from privacy_sql.kernels.max_entropy import least_c


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


def worst_of_all(cliques: list[JoinClique], ell: int) -> Fraction | float:
    values = [exact_group(cliques, ids) for ids in all_groups(cliques)]
    critical = [least_c([v for v in group if v], ell) for group in values if any(group)]
    return inf if None in critical else max(critical)


@settings(max_examples=80, deadline=None)
@given(joins(), st.integers(1, 4))
def test_the_worst_ratio_is_the_worst_of_all_groups(cliques: list[JoinClique], ell: int) -> None:
    worst = worst_ratio(cliques, ell)
    assert worst.exact and worst.value == worst_of_all(cliques, ell)


@settings(max_examples=80, deadline=None)
@given(joins(), st.integers(1, 4))
def test_bounds_skip_no_worst_group(cliques: list[JoinClique], ell: int) -> None:
    kept = clique_join.PLAIN_GROUPS, clique_join.BOUND_CHUNK
    clique_join.PLAIN_GROUPS, clique_join.BOUND_CHUNK = 0, 2
    try:
        worst = worst_ratio(cliques, ell)
    finally:
        clique_join.PLAIN_GROUPS, clique_join.BOUND_CHUNK = kept
    assert worst.value == worst_of_all(cliques, ell)


@settings(max_examples=80, deadline=None)
@given(joins())
def test_the_smallest_sum_is_that_of_all_groups(cliques: list[JoinClique]) -> None:
    sums = [
        int(np.min([c.counts[g] for c, g in zip(cliques, ids, strict=True)], axis=0).sum())
        for ids in all_groups(cliques)
    ]
    found = smallest_sum(cliques)
    assert found.value == min((n for n in sums if n), default=inf)


@settings(max_examples=40, deadline=None)
@given(joins())
def test_the_size_of_a_join_is_known_without_joining(cliques: list[JoinClique]) -> None:
    assert join_size(cliques) == len(all_groups(cliques))


def test_a_walk_stops_at_the_first_clear_violation() -> None:
    many = np.ones((200_000, 2), dtype=np.int64)
    many[0] = [9, 1]
    many[-1] = [99, 1]  # in a later chunk
    assert worst_ratio([JoinClique(many)], 2, stop_above=1.0).value == 9
    assert worst_ratio([JoinClique(many)], 2).value == 99


def test_a_tie_with_the_limit_is_decided_in_fractions() -> None:
    """One third of three: floats would have to be trusted to the last bit."""
    counts = np.array([[2, 1, 1, 1]])
    other = np.array([[1, 1, 1, 1]])
    join = [JoinClique(counts), JoinClique(other, 0, np.array([0]), np.array([0]))]
    assert worst_ratio(join, 2, stop_above=2 / 3).value == Fraction(2, 3)


def test_a_group_without_mass_is_no_group() -> None:
    apart = [
        JoinClique(np.array([[3, 0], [0, 2]])),
        JoinClique(np.array([[3, 0], [0, 2]]), 0, np.zeros(2, int), np.zeros(2, int)),
    ]
    found = worst_ratio(apart, 1)
    assert found.value == 1 and sum(map(bool, exact_group(apart, found.groups))) == 1


@pytest.mark.parametrize("ell", [1, 2, 3])
def test_an_empty_tail_is_infinite(ell: int) -> None:
    value = worst_ratio([JoinClique(np.array([[5, 0]]))], ell).value
    assert value == (1 if ell == 1 else inf)


@settings(max_examples=60, deadline=None)
@given(joins(), st.fractions(0, 1))
def test_values_near_the_top_are_counted_as_the_relaxation_defines(
    cliques: list[JoinClique], epsilon: Fraction
) -> None:
    """Straight from the text: 1 where the divided count is near the group's largest, then the product."""

    def flags(clique: JoinClique, group: int) -> list[bool]:
        below = [1] * clique.counts.shape[1]
        if clique.parent is not None:
            below = [
                int(clique.counts[clique.blocks == clique.blocks[group], v].sum()) for v in range(len(below))
            ]
        shares = [
            Fraction(int(n), d) if d else Fraction(0)
            for n, d in zip(clique.counts[group], below, strict=True)
        ]
        return [share > 0 and share >= (1 - epsilon) * max(shares) for share in shares]

    numbers = [
        sum(
            all(column)
            for column in zip(*(flags(c, g) for c, g in zip(cliques, ids, strict=True)), strict=True)
        )
        for ids in all_groups(cliques)
    ]
    assert fewest_near_top(cliques, epsilon).value == min(numbers)


def test_the_relaxation_guarantees_values_nearly_as_frequent_as_the_first() -> None:
    join = [
        JoinClique(np.array([[10, 9, 5]])),
        JoinClique(np.array([[10, 9, 5]]), 0, np.array([0]), np.array([0])),
    ]
    found = fewest_near_top(join, Fraction(1, 10))
    counts = exact_group(join, found.groups)
    assert found.value == 2
    assert sum(n >= (1 - Fraction(1, 10)) ** 2 * max(counts) for n in counts) >= 2


@pytest.mark.parametrize("walk", [lambda join: worst_ratio(join, 2), smallest_sum])
def test_a_join_without_end_is_undecided(monkeypatch: pytest.MonkeyPatch, walk: Any) -> None:
    monkeypatch.setattr(clique_join, "MOST_WALKED", 3)
    with pytest.raises(Undecided):
        walk([JoinClique(np.array([[1, 1]] * 4))])
