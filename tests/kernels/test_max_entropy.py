"""The maximum-entropy table: closed form, fitting, divergence and diversity."""

from __future__ import annotations

from fractions import Fraction
from math import log
from typing import Any

import pytest
from hypothesis import assume, given, settings

from privacy_sql.errors import Undecided
from privacy_sql.kernels.marginals.consistent_tables import largest_support
from privacy_sql.kernels.marginals.junction_tree import finest, is_decomposable, junction_tree, maximal_sets
from privacy_sql.kernels.marginals.leaf_domain import Cell, LeafDomain
from privacy_sql.kernels.marginals.max_entropy import (
    closed_form_kl,
    expected_counts,
    fitted_counts,
    least_c,
    n_log_n,
    sensitive_groups,
)
from tests.marginal_cases import Small, cell_of, in_numbers, kl_divergence, small_collections, vector_cases
from tests.oracles import marginals as oracle

PAIRS = LeafDomain((((0, 0), (0, 1)),) * 3)


def table_of(small: Small) -> tuple[tuple[int, ...], dict[Cell, Any]]:
    kept = maximal_sets(small.collection)
    counts = small.counts(kept)
    if is_decomposable(kept):
        return finest(kept), expected_counts(small.domain, junction_tree(kept), counts)
    return finest(kept), fitted_counts(small.domain, counts, largest_support(small.domain, counts))


def critical(small: Small, expected: dict[Cell, Any], ell: int) -> Any:
    at = finest(maximal_sets(small.collection))
    if not at[small.sensitive]:
        n_values = small.sizes[small.sensitive]
        return Fraction(1, n_values - ell + 1) if ell <= n_values else None
    per_group = [least_c(values, ell) for values in sensitive_groups(expected, small.sensitive).values()]
    return None if None in per_group else max(per_group)


@pytest.mark.parametrize("case", vector_cases(), ids=lambda case: case["id"])
def test_cells_divergence_and_critical_c_of_the_vectors(case: Any) -> None:
    small, expected = in_numbers(case), case["expected"]
    near = 1e-9 if expected["decomposable"] else 1e-5
    at, table = table_of(small)
    total = sum(small.table.values())
    width = len(small.sizes)
    for row in expected["cells"]:
        probability, *exact = row[width:]
        cell = small.domain.project(cell_of(case, row[:width]), small.domain.finest, at)
        share = table.get(cell, 0) / total / small.domain.leaves(cell, at)
        assert float(share) == pytest.approx(probability, abs=near)
        assert not expected["decomposable"] or share == Fraction(exact[0])
    assert kl_divergence(small.domain, small.table, table, at) == pytest.approx(expected["kl_nats"], abs=near)
    for ell, c in expected["critical_c"].items():
        found = critical(small, table, int(ell))
        assert found is None if c is None else found == pytest.approx(float(Fraction(c)), abs=near)
        assert not expected["decomposable"] or c is None or found == Fraction(c)


@settings(max_examples=40, deadline=None)
@given(small_collections())
def test_the_closed_form_is_the_fit_on_the_leaves(small: Small) -> None:
    """Theorem 6.1: each leaf gets an equal share of its cell, however many leaves a node has."""
    kept = maximal_sets(small.collection)
    assume(is_decomposable(kept))
    at, table = table_of(small)
    fitted = oracle.fit(small.node, small.sizes, small.table, kept, sweeps=3)
    for leaf, count in fitted.items():
        cell = small.domain.project(leaf, small.domain.finest, at)
        assert float(table.get(cell, 0)) / small.domain.leaves(cell, at) == pytest.approx(count, abs=1e-9)


@settings(max_examples=20, deadline=None)
@given(small_collections(attributes=2, most_rows=9))
def test_fitting_agrees_with_fitting_on_the_leaves(small: Small) -> None:
    kept = maximal_sets(small.collection)
    counts = small.counts(kept)
    at = finest(kept)
    table = fitted_counts(small.domain, counts, largest_support(small.domain, counts))
    fitted = oracle.fit(small.node, small.sizes, small.table, kept, sweeps=300)
    for leaf, count in fitted.items():
        cell = small.domain.project(leaf, small.domain.finest, at)
        # where a count fades to nothing the oracle comes near it slowly
        assert table.get(cell, 0) / small.domain.leaves(cell, at) == pytest.approx(count, abs=2e-2)


@settings(max_examples=40, deadline=None)
@given(small_collections())
def test_the_divergence_from_sums_of_n_log_n_is_that_of_the_table(small: Small) -> None:
    kept = maximal_sets(small.collection)
    assume(is_decomposable(kept))
    at, table = table_of(small)
    tree = junction_tree(kept)

    def g(marginal: tuple[int, ...]) -> float:
        return n_log_n(small.domain.marginal(small.table, small.domain.finest, marginal).values())

    spread = [_spread(small, a, at[a]) for a in range(len(at))]
    short = closed_form_kl(
        sum(small.table.values()),
        g(small.domain.finest),
        [g(branch.clique) for branch in tree],
        [g(branch.separator) for branch in tree[1:]],
        spread,
    )
    assert short == pytest.approx(kl_divergence(small.domain, small.table, table, at), abs=1e-12)


def _spread(small: Small, attribute: int, resolution: int) -> float:
    only = tuple(resolution if a == attribute else 0 for a in range(len(small.sizes)))
    counts = small.domain.marginal(small.table, small.domain.finest, only)
    whole = tuple(0 for _ in only)
    above = small.domain.size(small.domain.finest) // small.sizes[attribute]
    assert small.domain.leaves(whole, whole) == above * small.sizes[attribute]
    return sum(n * log(small.domain.leaves(cell, only) / above) for cell, n in counts.items())


@settings(max_examples=40, deadline=None)
@given(small_collections(), small_collections())
def test_a_finer_decomposable_collection_never_diverges_more(small: Small, other: Small) -> None:
    """Theorem 6.3, for collections whose graphs lie inside each other."""
    kept = maximal_sets(small.collection)
    coarser = maximal_sets([tuple(max(r - 1, 0) for r in m) for m in kept])
    assume(coarser and is_decomposable(kept) and is_decomposable(coarser))
    fine_at, fine = table_of(small)
    coarse = Small(small.domain, small.table, coarser, small.sensitive)
    coarse_at, rough = table_of(coarse)
    fine_kl = kl_divergence(small.domain, small.table, fine, fine_at)
    assert fine_kl <= kl_divergence(small.domain, small.table, rough, coarse_at) + 1e-12


@settings(max_examples=40, deadline=None)
@given(small_collections())
def test_marginals_without_the_sensitive_attribute_change_no_diversity(small: Small) -> None:
    """Proposition 7.3, which needs a decomposable collection."""
    kept = maximal_sets(small.collection)
    with_c = [m for m in kept if m[small.sensitive]]
    assume(with_c and is_decomposable(kept))
    only = Small(small.domain, small.table, with_c, small.sensitive)
    for ell in (1, 2):
        assert critical(small, table_of(small)[1], ell) == critical(only, table_of(only)[1], ell)


@settings(max_examples=40, deadline=None)
@given(small_collections())
def test_a_marginal_that_is_not_diverse_alone_spoils_every_collection(small: Small) -> None:
    """Proposition 7.2 (1): the whole is never more diverse than a clique of it."""
    kept = maximal_sets(small.collection)
    assume(is_decomposable(kept) and any(m[small.sensitive] for m in kept))
    whole = critical(small, table_of(small)[1], 2)
    for clique in kept:
        if clique[small.sensitive]:
            alone = critical(
                Small(small.domain, small.table, [clique], small.sensitive), small.counts([clique])[clique], 2
            )
            assert whole is None or (alone is not None and Fraction(alone) <= whole)


@settings(max_examples=40, deadline=None)
@given(small_collections())
def test_a_product_of_the_first_cliques_that_is_not_diverse_spoils_the_whole(small: Small) -> None:
    """Proposition 7.2 (2): every intermediate product is at least as diverse as the whole."""
    kept = maximal_sets(small.collection)
    assume(is_decomposable(kept) and len(kept) > 1 and any(m[small.sensitive] for m in kept))
    whole = critical(small, table_of(small)[1], 2)
    tree = junction_tree(kept)
    for end in range(1, len(tree)):
        if any(branch.clique[small.sensitive] for branch in tree[:end]):
            product = expected_counts(small.domain, tree[:end], small.counts(kept))
            groups = sensitive_groups(product, small.sensitive).values()
            parts = [least_c(values, 2) for values in groups]
            assert whole is None or (None not in parts and max(parts) <= whole)


@settings(max_examples=40, deadline=None)
@given(small_collections())
def test_resolutions_that_no_marginal_shows_change_no_diversity(small: Small) -> None:
    """Proposition 7.1: the leaves inherit the shares of the finest published cells."""
    kept = maximal_sets(small.collection)
    assume(is_decomposable(kept) and any(m[small.sensitive] for m in kept))
    at, table = table_of(small)
    leaves = {}
    for leaf in oracle.leaf_cells(small.sizes):
        cell = small.domain.project(leaf, small.domain.finest, at)
        leaves[leaf] = table.get(cell, Fraction(0)) / small.domain.leaves(cell, at)
    per_leaf = [least_c(v, 2) for v in sensitive_groups(leaves, small.sensitive).values()]
    assert critical(small, table, 2) == (None if None in per_leaf else max(per_leaf))


def test_each_marginal_diverse_does_not_make_the_collection_diverse() -> None:
    """The trap: both marginals are (2, 2)-diverse, their join is not."""
    domain = PAIRS
    table = {(0, 0, 0): 2, (0, 0, 1): 1, (1, 1, 0): 1, (1, 1, 1): 2}
    collection = [(1, 0, 1), (0, 1, 1)]
    small = Small(domain, table, collection, 2)
    for marginal in collection:
        assert critical(Small(domain, table, [marginal], 2), small.counts([marginal])[marginal], 2) == 2
    assert critical(small, table_of(small)[1], 2) == 4


def test_a_fading_count_is_refused_rather_than_guessed() -> None:
    """Three pairs over three rows: cells that every consistent table leaves empty fade but never vanish."""
    table = {(0, 0, 0): 1, (0, 1, 1): 1, (1, 0, 1): 1}
    small = Small(PAIRS, table, [(1, 1, 0), (0, 1, 1), (1, 0, 1)], 2)
    counts = small.counts(small.collection)
    with pytest.raises(Undecided):
        fitted_counts(small.domain, counts)
    fitted = fitted_counts(small.domain, counts, largest_support(small.domain, counts))
    assert fitted == pytest.approx({cell: 1.0 for cell in table})


@pytest.mark.parametrize(
    "table, before, after",
    [
        (  # an edge less
            {(1, 1, 0): 1, (0, 0, 0): 1, (1, 1, 1): 2, (0, 0, 1): 1},
            [(1, 1, 1)],
            [(1, 0, 1), (0, 1, 1)],
        ),
        (  # a vertex less
            {
                (0, 1, 0, 1): 2,
                (1, 0, 1, 1): 1,
                (1, 0, 1, 0): 1,
                (1, 0, 0, 0): 1,
                (0, 1, 0, 0): 1,
                (1, 0, 0, 1): 1,
            },
            [(1, 1, 0, 1), (0, 1, 1, 1)],
            [(1, 0, 0, 1), (0, 0, 1, 1)],
        ),
    ],
)
def test_publishing_less_can_make_a_safe_collection_unsafe(
    table: dict[Cell, int], before: list[tuple[int, ...]], after: list[tuple[int, ...]]
) -> None:
    """The trap: diversity is not monotone in what is published, so every move is checked again."""
    width = len(before[0])
    domain = LeafDomain((PAIRS.paths[0],) * width)
    more, less = (Small(domain, table, c, width - 1) for c in (before, after))
    assert critical(more, table_of(more)[1], 2) == 2 < critical(less, table_of(less)[1], 2)


def test_a_marginal_without_the_sensitive_attribute_matters_where_there_is_no_closed_form() -> None:
    """The trap: Proposition 7.3 needs a decomposable collection."""
    table = {(0, 0, 0): 1, (0, 0, 1): 1, (1, 0, 0): 1, (1, 1, 1): 1, (0, 1, 0): 1, (1, 1, 0): 1, (1, 0, 1): 1}
    without = Small(PAIRS, table, [(0, 1, 1), (1, 0, 1)], 2)
    beside = Small(PAIRS, table, [(1, 1, 0), (0, 1, 1), (1, 0, 1)], 2)
    assert critical(without, table_of(without)[1], 2) == 3
    assert critical(beside, table_of(beside)[1], 2) > Fraction(7, 2)


def test_a_fit_that_settles_needs_no_linear_program() -> None:
    case = next(c for c in vector_cases() if c["id"] == "m02")
    small = in_numbers(case)
    counts = small.counts(maximal_sets(small.collection))
    alone = fitted_counts(small.domain, counts)
    with_support = fitted_counts(small.domain, counts, largest_support(small.domain, counts))
    assert alone == pytest.approx(with_support, abs=1e-9)


def test_an_empty_tail_has_no_c() -> None:
    assert least_c([Fraction(5)], 2) is None
    assert least_c([Fraction(5)], 1) == 1
