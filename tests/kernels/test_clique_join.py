"""The join of cliques: its size, its groups, its exact counts."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given, settings

from privacy_sql.kernels.marginals.clique_join import JoinClique, exact_group, join_size, walk
from tests.joined_cliques import all_groups, joins


@settings(max_examples=40, deadline=None)
@given(joins())
def test_the_size_of_a_join_is_known_without_joining(cliques: list[JoinClique]) -> None:
    assert join_size(cliques) == len(all_groups(cliques))


@settings(max_examples=40, deadline=None)
@given(joins())
def test_a_walk_meets_every_group_once_with_its_expected_counts(cliques: list[JoinClique]) -> None:
    met = {}
    everything = lambda depth, chosen, vectors: np.ones(len(vectors), dtype=np.bool_)  # noqa: E731
    for chosen, vectors in walk(cliques, [c.shares for c in cliques], np.multiply, everything):
        for ids, vector in zip(chosen.tolist(), vectors.tolist(), strict=True):
            assert tuple(ids) not in met
            met[tuple(ids)] = vector
    assert sorted(met) == sorted(all_groups(cliques))
    for ids, vector in met.items():
        assert np.allclose(vector, [float(n) for n in exact_group(cliques, ids)], atol=1e-12)


def test_expected_counts_are_products_over_separators() -> None:
    join = [
        JoinClique(np.array([[2, 1]])),
        JoinClique(np.array([[1, 1], [1, 0]]), 0, np.array([0, 0]), np.array([0])),
    ]
    assert exact_group(join, (0, 0)) == [Fraction(1), Fraction(1)]
    assert exact_group(join, (0, 1)) == [Fraction(1), Fraction(0)]
