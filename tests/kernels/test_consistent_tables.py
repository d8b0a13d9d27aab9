"""Largest counts over all tables that agree with the marginals."""

from __future__ import annotations

import random
import sys
from collections import Counter
from itertools import product
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from privacy_sql.errors import Undecided
from privacy_sql.kernels.marginals import consistent_tables
from privacy_sql.kernels.marginals.consistent_tables import (
    largest_counts,
    largest_counts_by_program,
    largest_support,
    smallest_count_by_program,
)
from privacy_sql.kernels.marginals.junction_tree import finest, is_decomposable, maximal_sets
from privacy_sql.kernels.marginals.leaf_domain import Cell, LeafDomain, with_one_value
from tests.marginal_cases import Small, in_numbers, resolutions_of, small_collections, vector_cases
from tests.oracles import marginals as oracle


def bounds_of(small: Small) -> dict[Cell, int]:
    kept = maximal_sets(small.collection)
    decide = largest_counts if is_decomposable(kept) else largest_counts_by_program
    return decide(small.domain, small.counts(kept), small.sensitive)


@pytest.mark.parametrize("case", vector_cases(), ids=lambda case: case["id"])
def test_upper_bounds_and_largest_k_of_the_vectors(case: Any) -> None:
    small, expected = in_numbers(case), case["expected"]
    kept = maximal_sets(small.collection)
    bounds = bounds_of(small)
    names = [c for c in case["columns"] if c != "count"]
    at = finest(kept)
    for labels, largest in expected["upper_bounds"]:
        heights = {name: small.domain.finest[a] - at[a] for a, name in enumerate(names)}
        cell = tuple(
            _node(case, small, name, a, at[a], heights[name], labels) if name in labels else 0
            for a, name in enumerate(names)
        )
        assert bounds.get(cell, 0) == largest
    assert min(n for n in bounds.values() if n) == expected["k_combinatorial_max"]
    smallest = [min(_without_c(small, m).values()) for m in kept]
    assert min(smallest) == expected["k_link_max"]
    assert resolutions_of(case, {}) == (0,) * len(names)


def _node(case: Any, small: Small, name: str, a: int, at: int, height: int, labels: dict[str, str]) -> int:
    rows = case["attributes"][name]
    leaf = next(i for i, row in enumerate(rows) if row[height] == labels[name])
    return small.domain.paths[a][leaf][at]


def _without_c(small: Small, marginal: tuple[int, ...]) -> dict[Cell, int]:
    only = tuple(0 if a == small.sensitive else r for a, r in enumerate(marginal))
    return small.domain.marginal(small.table, small.domain.finest, only)


@settings(max_examples=20, deadline=None)
@given(small_collections(most_rows=5))
def test_largest_counts_are_those_of_all_consistent_tables(small: Small) -> None:
    assume(oracle.size(small.sizes) <= 18)
    kept = maximal_sets(small.collection)
    at = tuple(0 if a == small.sensitive else r for a, r in enumerate(finest(kept)))
    seen: dict[Cell, int] = {}
    for leaf, largest in oracle.largest_counts(
        small.node, small.sizes, small.table, kept, small.sensitive
    ).items():
        cell = small.domain.project(leaf, small.domain.finest, at)
        seen[cell] = max(seen.get(cell, 0), largest)
    found = bounds_of(small)
    assert {x: n for x, n in found.items() if n} == {x: n for x, n in seen.items() if n}


@settings(max_examples=25, deadline=None)
@given(small_collections(most_rows=8))
def test_the_closed_form_and_the_integer_program_agree(small: Small) -> None:
    kept = maximal_sets(small.collection)
    assume(is_decomposable(kept))
    counts = small.counts(kept)
    closed = largest_counts(small.domain, counts, small.sensitive)
    assert largest_counts_by_program(small.domain, counts, small.sensitive) == closed


def test_summing_the_sensitive_attribute_out_first_would_pass_unsafe_data() -> None:
    """The trap: each marginal counts two rows at a0 and at b0, but value by value only one can meet."""
    table = {(0, 0, 0): 1, (0, 1, 1): 1, (1, 0, 2): 1}
    flat = ((0, 0), (0, 1), (0, 2))
    pair = ((0, 0), (0, 1))
    small = Small(LeafDomain((pair, pair, flat)), table, [(1, 0, 1), (0, 1, 1)], 2)
    assert [_without_c(small, m)[(0, 0, 0)] for m in small.collection] == [2, 2]
    assert bounds_of(small)[(0, 0, 0)] == 1


def test_a_collection_too_large_for_the_program_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    case = next(c for c in vector_cases() if c["id"] == "m02")
    small = in_numbers(case)
    monkeypatch.setattr(consistent_tables, "PROGRAM_CELLS", 3)
    with pytest.raises(Undecided):
        largest_counts_by_program(small.domain, small.counts(small.collection), small.sensitive)


def test_marginals_that_multiply_without_end_are_undecided_before_they_are_multiplied() -> None:
    """Three columns of 2,000 values each: their cells would not fit into memory."""
    wide = tuple((0, leaf) for leaf in range(2_000))
    domain = LeafDomain((wide, wide, wide))
    table = {(leaf, leaf, leaf): 1 for leaf in range(2_000)}
    alone = Small(domain, table, [(1, 0, 0), (0, 1, 0), (0, 0, 1)], 2)
    with pytest.raises(Undecided, match="more than 1000000 cells"):
        largest_support(domain, alone.counts(alone.collection))


def test_without_the_extra_the_question_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    case = next(c for c in vector_cases() if c["id"] == "m02")
    small = in_numbers(case)
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    with pytest.raises(Undecided, match=r"privacy-sql\[exact\]"):
        largest_counts_by_program(small.domain, small.counts(small.collection), small.sensitive)


def test_a_program_that_takes_too_many_steps_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    case = next(c for c in vector_cases() if c["id"] == "m02")
    small = in_numbers(case)
    monkeypatch.setattr(consistent_tables, "PROGRAM_WORK", 0)
    with pytest.raises(Undecided):
        largest_counts_by_program(small.domain, small.counts(small.collection), small.sensitive)


def test_the_support_leaves_out_cells_that_no_consistent_table_fills() -> None:
    """Three pairs over two rows: no marginal is empty at (0, 0, 1), yet every consistent table is."""
    pair = ((0, 0), (0, 1))
    domain = LeafDomain((pair, pair, pair))
    table = {(0, 0, 0): 1, (0, 1, 1): 1, (1, 0, 1): 1}
    small = Small(domain, table, [(1, 1, 0), (0, 1, 1), (1, 0, 1)], 2)
    counts = small.counts(small.collection)
    possible = set(consistent_tables.possible_cells(domain, counts))
    assert set(largest_support(domain, counts)) == set(table) < possible


@settings(max_examples=25, deadline=None)
@given(small_collections(most_rows=8), st.integers(1, 4))
def test_the_smallest_bound_is_that_of_all_programs_with_or_without_a_known_table(
    small: Small, k: int
) -> None:
    kept = maximal_sets(small.collection)
    counts = small.counts(kept)
    every = largest_counts_by_program(small.domain, counts, small.sensitive)
    positive = {cell: n for cell, n in every.items() if n}
    at = tuple(0 if a == small.sensitive else r for a, r in enumerate(finest(kept)))
    source = small.domain.marginal(small.table, small.domain.finest, at)
    for known in ({}, source):
        found = smallest_count_by_program(small.domain, counts, small.sensitive, k, known)
        assert found.bound == min(positive.values()) == every[found.cell]
        assert found.n_below == sum(n < k for n in positive.values())


def test_cells_that_a_known_table_fills_need_no_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three pairs of columns, so no closed form; the source holds five of everybody but of the last."""
    sizes, drawn = (4, 4, 4), random.Random(1)
    table = {cell: drawn.randint(5, 9) for cell in product(*map(range, sizes))}
    table[3, 3, 3] = 2
    paths = tuple(tuple((0, n + 1) for n in range(size)) for size in sizes)
    pairs = {tuple(int(a in pair) for a in range(3)): Counter[Cell]() for pair in ((0, 1), (0, 2), (1, 2))}
    for cell, n in table.items():
        for pair, counted in pairs.items():
            counted[tuple(c + 1 if r else 0 for c, r in zip(cell, pair, strict=True))] += n
    domain, counts = with_one_value(LeafDomain(paths), pairs)
    solved: list[Any] = []
    best = consistent_tables._Program.best_table
    monkeypatch.setattr(
        consistent_tables._Program, "best_table", lambda self, at: solved.append(at) or best(self, at)
    )
    known = {(*(c + 1 for c in cell), 0): n for cell, n in table.items()}
    found = smallest_count_by_program(domain, counts, 3, 5, known)
    needed = len(solved)
    every = largest_counts_by_program(domain, counts, 3)
    assert found.bound == min(n for n in every.values() if n)
    assert needed < len(every) / 2 == (len(solved) - needed) / 2
