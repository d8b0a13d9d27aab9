"""Interaction graphs, maximal cliques and perfect sequences of collections of marginals."""

from __future__ import annotations

from itertools import combinations, permutations
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from privacy_sql.kernels.marginals.junction_tree import (
    contains,
    intersection,
    is_decomposable,
    is_graphical,
    is_triangulated,
    junction_tree,
    maximal_cliques,
    maximal_sets,
    perfect_separators,
    union,
)
from tests.marginal_cases import in_numbers, resolutions_of, vector_cases
from tests.oracles import marginals as oracle

Vertex = tuple[int, int]  # (attribute, i): the induced attribute L_i

collections = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 1), st.integers(0, 1)),
    min_size=1,
    max_size=4,
).filter(lambda c: any(map(any, c)))


@pytest.mark.parametrize("case", vector_cases(), ids=lambda case: case["id"])
def test_the_interaction_graphs_of_the_vectors_are_judged_as_stated(case: Any) -> None:
    kept = maximal_sets(in_numbers(case).collection)
    expected = case["expected"]
    assert is_triangulated(kept) == expected["triangulated"]
    assert is_graphical(kept) == expected["graphical"]
    assert is_decomposable(kept) == expected["decomposable"]
    cliques = [resolutions_of(case, heights) for heights in expected["maximal_cliques"]]
    assert maximal_cliques(kept) == sorted(cliques)
    for sequence in expected.get("sequences", []):
        found = perfect_separators([cliques[i] for i in sequence["order"]])
        assert (found is not None) == sequence["perfect"]
        assert found is None or found == [resolutions_of(case, s) for s in sequence["separators"]]


@settings(max_examples=60, deadline=None)
@given(collections)
def test_triangulated_and_graphical_agree_with_the_definitions(collection: list[tuple[int, ...]]) -> None:
    kept = maximal_sets(collection)
    assert is_triangulated(kept) == oracle.triangulated(kept)
    assert is_graphical(kept) == oracle.graphical(kept)


@settings(max_examples=60, deadline=None)
@given(collections)
def test_dropping_nested_marginals_changes_no_graph(collection: list[tuple[int, ...]]) -> None:
    assert maximal_cliques(maximal_sets(collection)) == maximal_cliques([m for m in collection if any(m)])


@settings(max_examples=60, deadline=None)
@given(collections)
def test_a_junction_tree_is_a_perfect_sequence_with_its_parents_as_separators(
    collection: list[tuple[int, ...]],
) -> None:
    kept = maximal_sets(collection)
    if is_decomposable(kept):
        for root in range(len(kept)):
            tree = junction_tree(kept, root)
            separators = perfect_separators([branch.clique for branch in tree])
            assert separators == [branch.separator for branch in tree[1:]]


@settings(max_examples=40, deadline=None)
@given(collections)
def test_a_triangulated_graph_and_no_other_has_a_perfect_sequence(collection: list[tuple[int, ...]]) -> None:
    cliques = maximal_cliques(maximal_sets(collection))
    perfect = any(perfect_separators(order) is not None for order in permutations(cliques))
    assert perfect == oracle.triangulated(cliques)


def complete_sets(vertices: list[Vertex], joined: set[frozenset[Vertex]]) -> list[frozenset[Vertex]]:
    return [
        frozenset(members)
        for size in range(1, len(vertices) + 1)
        for members in combinations(vertices, size)
        if all(frozenset(pair) in joined for pair in combinations(members, 2))
    ]


def reach(
    start: frozenset[Vertex], joined: set[frozenset[Vertex]], without: frozenset[Vertex]
) -> set[Vertex]:
    """The vertices that paths from `start` come to when some vertices are taken away."""
    reached = set(start)
    while more := {v for e in joined if e & reached for v in e} - reached - without:
        reached |= more
    return reached


def minimal_separators(
    x: frozenset[Vertex], y: frozenset[Vertex], vertices: list[Vertex], joined: set[frozenset[Vertex]]
) -> list[frozenset[Vertex]]:
    """Definition 5.2: the sets between x and y that every path meets, none with a smaller one inside."""
    rest = [v for v in vertices if v not in x | y]
    found: list[frozenset[Vertex]] = []
    for size in range(len(rest) + 1):
        for members in map(frozenset, combinations(rest, size)):
            if not any(smaller <= members for smaller in found) and not reach(x, joined, members) & y:
                found.append(members)
    return found


@settings(max_examples=25, deadline=None)
@given(collections)
def test_minimal_separators_are_complete_and_coarser_than_what_they_separate(
    collection: list[tuple[int, ...]],
) -> None:
    """Theorem 6.2, all three parts, for every pair of complete sets of a decomposable collection."""
    kept = maximal_sets(collection)
    assume(is_decomposable(kept))
    vertices, joined = sorted({v for m in kept for v in oracle.induced(m)}), oracle.edges(kept)
    complete = complete_sets(vertices, joined)
    for x, y in combinations(complete, 2):
        if x & y or any(frozenset((v, w)) in joined for v in x for w in y):
            continue  # neighbours cannot be separated
        assert not {a for a, _ in x} & {a for a, _ in y}
        for between in minimal_separators(x, y, vertices, joined):
            assert not between or between in complete
            assert all(i > j for side in (x, y) for a, i in side for b, j in between if a == b)


@settings(max_examples=60, deadline=None)
@given(collections)
def test_the_cliques_with_the_sensitive_attribute_are_a_perfect_sequence_of_their_own(
    collection: list[tuple[int, ...]],
) -> None:
    """Proposition 7.3 (1) and (2); the sensitive attribute is the last one."""
    kept = maximal_sets(collection)
    with_c = [m for m in kept if m[-1]]
    assume(with_c and is_decomposable(kept))
    assert is_decomposable(with_c)
    for root in range(len(kept)):
        order = [branch.clique for branch in junction_tree(kept, root)]
        separators = perfect_separators(order)
        assert separators is not None
        theirs = perfect_separators([clique for clique in order if clique[-1]])
        assert theirs == [separator for separator in separators if separator[-1]]


def test_a_junction_tree_runs_through_shared_attributes() -> None:
    """Definition 7.1 on Fig. 2(a): what two cliques share is in every clique between them."""
    tree = junction_tree([(1, 1, 1, 0, 0), (0, 1, 1, 1, 0), (0, 0, 0, 1, 1)])
    assert [(branch.clique, branch.parent) for branch in tree] == [
        ((1, 1, 1, 0, 0), None),
        ((0, 1, 1, 1, 0), 0),
        ((0, 0, 0, 1, 1), 1),
    ]


@pytest.mark.parametrize("with_c", [False, True])
def test_figure_1_bde_is_triangulated_but_not_graphical(with_c: bool) -> None:
    """The trap of the paper's own example, also with Figure 1(c) beside it: there is no closed form."""
    case = next(c for c in vector_cases() if c["id"] == "figure1-bde")
    ages_in_fives = [resolutions_of(case, {"Age": 1})] * with_c
    kept = maximal_sets(in_numbers(case).collection + ages_in_fives)
    assert is_triangulated(kept) and not is_graphical(kept) and not is_decomposable(kept)


def test_three_pairs_have_a_triangle_that_is_no_marginal() -> None:
    assert not is_graphical([(1, 1, 0), (0, 1, 1), (1, 0, 1)])


def test_no_marginal_has_no_tree() -> None:
    assert junction_tree([]) == []
    assert maximal_sets([(0, 0), (0, 0)]) == []


@given(collections)
def test_intersection_lies_inside_and_union_around_both(collection: list[tuple[int, ...]]) -> None:
    left, right = collection[0], collection[-1]
    assert contains(left, intersection(left, right)) and contains(union(left, right), right)
