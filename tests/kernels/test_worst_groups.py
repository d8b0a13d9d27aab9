"""The worst group of a join of cliques, with and without bounds, against the whole join."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from math import inf, log
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privacy_sql.errors import Undecided
from privacy_sql.kernels.marginals import clique_join, ratio_bounds, worst_groups
from privacy_sql.kernels.marginals.clique_join import JoinClique, exact_group
from privacy_sql.kernels.marginals.max_entropy import least_c
from privacy_sql.kernels.marginals.worst_groups import (
    MANY_TIES,
    NearWorst,
    entropies_of,
    fewest_near_top,
    fewest_values,
    least_entropy,
    smallest_sum,
    worst_ratio,
)
from tests.joined_cliques import all_groups, joins


def worst_of_all(cliques: list[JoinClique], ell: int) -> Fraction | float:
    values = [exact_group(cliques, ids) for ids in all_groups(cliques)]
    critical = [least_c([v for v in group if v], ell) for group in values if any(group)]
    return inf if None in critical else max(critical)


@settings(max_examples=80, deadline=None)
@given(joins(), st.integers(1, 4))
def test_the_worst_ratio_is_the_worst_of_all_groups(cliques: list[JoinClique], ell: int) -> None:
    worst = worst_ratio(cliques, ell)
    assert worst.exact and worst.value == worst_of_all(cliques, ell)


@contextmanager
def in_small_pieces() -> Iterator[None]:
    """Every join counts as large, and is walked with bounds a few groups at a time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worst_groups, "PLAIN_GROUPS", 0)
        patch.setattr(ratio_bounds, "NUMBERS", 20)
        patch.setattr(clique_join, "FIRST", 1)
        patch.setattr(clique_join, "NUMBERS", 9)
        yield


@settings(max_examples=80, deadline=None)
@given(joins(), st.integers(1, 4))
def test_bounds_skip_no_worst_group(cliques: list[JoinClique], ell: int) -> None:
    """Theorem 7.1 for bounds: what is skipped is never the only group that is not diverse."""
    with in_small_pieces():
        worst = worst_ratio(cliques, ell)
    assert worst.value == worst_of_all(cliques, ell)


def least_entropy_of_all(cliques: list[JoinClique]) -> float:
    groups = [[float(n) for n in exact_group(cliques, ids)] for ids in all_groups(cliques)]
    return min(-sum(n / sum(g) * log(n / sum(g)) for n in g if n) for g in groups if any(g))


@settings(max_examples=80, deadline=None)
@given(joins())
def test_the_least_entropy_is_that_of_all_groups_with_and_without_bounds(cliques: list[JoinClique]) -> None:
    expected = least_entropy_of_all(cliques)
    once = least_entropy(cliques)
    with in_small_pieces():
        in_pieces = least_entropy(cliques)
    for near in (once, in_pieces):
        assert -near.risk == pytest.approx(expected, abs=1e-12) and near.whole
    assert sorted(ids for _, ids in once.groups) == sorted(ids for _, ids in in_pieces.groups)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3).filter(any), min_size=1, max_size=5),
    st.floats(0, 1.2),
)
def test_an_entropy_is_ruled_out_only_where_no_vector_between_has_it(
    rows: list[list[int]], least: float
) -> None:
    """The bound over ratios against the vectors the ratios came from."""
    vectors = np.array(rows, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(vectors[:, :, None] > 0, vectors[:, :, None] / vectors[:, None, :], 0.0)
    may = ratio_bounds.entropy_may_be(ratios.max(axis=0)[None], least)
    assert may[0] or entropies_of(vectors).min() > least


def test_a_join_with_too_many_values_for_bounds_is_walked_without_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counts = np.ones((2, 600), dtype=np.int64)
    zeros = np.zeros(2, dtype=np.int64)
    pair = [JoinClique(counts), JoinClique(counts, 0, zeros, zeros)]
    monkeypatch.setattr(worst_groups, "PLAIN_GROUPS", 0)
    monkeypatch.setattr(ratio_bounds, "MOST_NUMBERS", 600**2 - 1)
    monkeypatch.setattr(worst_groups, "RatioBounds", None)  # building bounds would fail
    assert worst_ratio(pair, 2).value == Fraction(1, 599)


def test_bounds_spare_most_of_a_walk(monkeypatch: pytest.MonkeyPatch) -> None:
    """One group stands out: the others are skipped, or the walk would be longer than it may be."""
    alike = np.full((60, 4), 100, dtype=np.int64)
    alike[7] = [370, 10, 10, 10]
    zeros = np.zeros(60, dtype=np.int64)
    star = [JoinClique(alike), *(JoinClique(alike, 0, zeros, zeros) for _ in range(2))]
    monkeypatch.setattr(worst_groups, "PLAIN_GROUPS", 0)
    monkeypatch.setattr(clique_join, "MOST_WALKED", 60**3 // 4)
    assert least_entropy(star).groups[0][1] == (7, 7, 7) == worst_ratio(star, 2).groups


@settings(max_examples=60, deadline=None)
@given(joins())
def test_the_fewest_values_are_those_of_all_groups(cliques: list[JoinClique]) -> None:
    numbers = [sum(n > 0 for n in exact_group(cliques, ids)) for ids in all_groups(cliques)]
    found = fewest_values(cliques)
    assert found.value == min(n for n in numbers if n)
    assert sum(n > 0 for n in exact_group(cliques, found.groups)) == found.value


@settings(max_examples=80, deadline=None)
@given(joins())
def test_the_smallest_sum_is_that_of_all_groups(cliques: list[JoinClique]) -> None:
    sums = [
        int(np.min([c.counts[g] for c, g in zip(cliques, ids, strict=True)], axis=0).sum())
        for ids in all_groups(cliques)
    ]
    found = smallest_sum(cliques)
    assert found.value == min((n for n in sums if n), default=inf)


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
@given(joins(), st.fractions("1/100", 1))
def test_values_near_the_top_are_counted_as_the_relaxation_promises(
    cliques: list[JoinClique], share: Fraction
) -> None:
    numbers = []
    for ids in all_groups(cliques):
        counts = exact_group(cliques, ids)
        if any(counts):
            numbers.append(sum(n > 0 and n >= share * max(counts) for n in counts))
    found = fewest_near_top(cliques, share)
    assert found.value == min(numbers) and found.exact


def test_what_is_near_the_top_of_a_group_need_not_be_near_it_in_every_marginal() -> None:
    """The paper's algorithm counts one value for an epsilon of 1/10; there are two: 85 > 0.9² · 100."""
    alone = np.array([[100, 85]])
    join = [JoinClique(alone), JoinClique(alone, 0, np.array([0]), np.array([0]))]
    assert exact_group(join, (0, 0)) == [100, 85] and Fraction(9, 10) * 100 > 85
    assert fewest_near_top(join, Fraction(9, 10) ** 2).value == 2


@pytest.mark.parametrize(
    "walk", [lambda join: worst_ratio(join, 2), least_entropy, fewest_values, smallest_sum]
)
def test_a_join_without_end_is_undecided(monkeypatch: pytest.MonkeyPatch, walk: Any) -> None:
    monkeypatch.setattr(clique_join, "MOST_WALKED", 3)
    with pytest.raises(Undecided):
        walk([JoinClique(np.array([[1, 1]] * 4))])


def test_of_too_many_near_groups_the_riskiest_are_kept() -> None:
    near = NearWorst()
    risks = np.full(MANY_TIES + 1000, 3.0)
    risks[-1] = 3.0 + 2e-9
    near.meet(np.arange(len(risks)).reshape(-1, 1), risks)
    assert near.groups[0] == (risks[-1], (len(risks) - 1,))
    assert not near.whole
