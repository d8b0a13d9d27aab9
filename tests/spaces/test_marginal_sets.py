"""The space of decomposable collections: its moves, their gains, and what can be reached."""

from __future__ import annotations

from itertools import combinations, product
from math import log

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from privacy_sql.kernels.marginals.junction_tree import (
    Resolutions,
    finest,
    is_decomposable,
    junction_tree,
    maximal_sets,
)
from privacy_sql.kernels.marginals.max_entropy import expected_counts, n_log_n
from privacy_sql.spaces.marginal_sets import Collection, MarginalSets, maximal_masks
from tests.marginal_cases import Small, kl_divergence, small_collections


def space_of(
    small: Small, admissible: object = None, given: Resolutions | None = None, most: int | None = None
) -> MarginalSets:
    total = sum(small.table.values())

    def counts(marginal: Resolutions) -> list[int]:
        return list(small.domain.marginal(small.table, small.domain.finest, marginal).values())

    def entropy(marginal: Resolutions) -> float:
        return log(total) - n_log_n(counts(marginal)) / total

    def spread(attribute: int, resolution: int) -> float:
        below: dict[int, int] = {}
        for path in small.domain.paths[attribute]:
            below[path[resolution]] = below.get(path[resolution], 0) + 1
        return (
            sum(
                n * log(below[small.node(attribute, c[attribute], resolution)])
                for c, n in small.table.items()
            )
            / total
        )

    everything = admissible if callable(admissible) else (lambda _: True)
    return MarginalSets(
        small.domain.finest,
        (small.sensitive,),
        everything,
        entropy,
        spread,
        entropy(small.domain.finest),
        given,
        most,
    )


def divergence(small: Small, marginals: list[Resolutions]) -> float:
    kept = maximal_sets(marginals)
    table = expected_counts(small.domain, junction_tree(kept), small.counts(kept))
    return kl_divergence(small.domain, small.table, table, finest(kept))


def reachable(space: MarginalSets, start: Collection) -> dict[tuple[Resolutions, ...], float]:
    seen, edge = {start.graph: start}, [start]
    while edge:
        for after in space.larger(edge.pop()):
            if after.graph not in seen:
                seen[after.graph] = after
                edge.append(after)
    return {tuple(space.marginals(c)): c.kl for c in seen.values()}


def every_collection(resolutions: Resolutions) -> set[tuple[Resolutions, ...]]:
    """All antichains of marginals that are decomposable, listed without the rules."""
    marginals = [m for m in product(*(range(r + 1) for r in resolutions)) if any(m)]
    found = set()
    for size in range(len(marginals) + 1):
        for chosen in combinations(marginals, size):
            if len(maximal_sets(chosen)) == size and is_decomposable(sorted(chosen)):
                found.add(tuple(sorted(chosen)))
    return found


@pytest.mark.parametrize("resolutions", [(1, 1, 1), (2, 1), (2, 2)])
def test_the_rules_reach_every_decomposable_collection_and_no_other(resolutions: Resolutions) -> None:
    flat = MarginalSets(
        resolutions, (len(resolutions) - 1,), lambda _: True, lambda _: 0.0, lambda _a, _r: 0.0, 0.0
    )
    assert set(reachable(flat, flat.collection([]))) == every_collection(resolutions)


@settings(max_examples=25, deadline=None)
@given(small_collections(most_rows=9))
def test_the_divergence_carried_along_is_that_of_the_table(small: Small) -> None:
    space = space_of(small)
    assume(sum(small.domain.finest) <= 4)
    for marginals, kl in reachable(space, space.collection([])).items():
        if marginals:
            assert kl == pytest.approx(divergence(small, list(marginals)), abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(small_collections(most_rows=9), st.integers(0, 10_000))
def test_a_step_back_undoes_a_step_forward(small: Small, seed: int) -> None:
    space = space_of(small)
    assume(sum(small.domain.finest) <= 5)
    here = space.start
    ahead = list(space.larger(here))
    assume(ahead)
    after = ahead[seed % len(ahead)]
    back = {c.graph: c.kl for c in space.smaller(after)}
    assert back[here.graph] == pytest.approx(here.kl, abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(small_collections(most_rows=9))
def test_every_step_keeps_the_collection_decomposable_and_never_worsens_it(small: Small) -> None:
    """Theorem 6.3, step by step."""
    space = space_of(small)
    for after in [*space.larger(space.start), *space.smaller(space.start)]:
        assert is_decomposable(space.marginals(after))
    assert all(after.kl <= space.start.kl + 1e-12 for after in space.larger(space.start))


def test_a_given_table_stays_through_all_steps_back() -> None:
    flat = MarginalSets(
        (2, 1, 1), (2,), lambda _: True, lambda _: 0.0, lambda _a, _r: 0.0, 0.0, given=(1, 0, 1)
    )
    edge, seen = [flat.start], set()
    while edge:
        here = edge.pop()
        assert any(all(a >= b for a, b in zip(m, (1, 0, 1), strict=True)) for m in flat.marginals(here))
        for after in flat.smaller(here):
            if after.graph not in seen:
                seen.add(after.graph)
                edge.append(after)
    assert seen


def test_no_step_puts_the_sensitive_attribute_into_more_marginals_than_asked() -> None:
    flat = MarginalSets(
        (1, 1, 1), (2,), lambda _: True, lambda _: 0.0, lambda _a, _r: 0.0, 0.0, max_with_sensitive=1
    )
    found = reachable(flat, flat.start)
    assert ((0, 1, 1), (1, 0, 0)) in found and ((0, 1, 1), (1, 0, 1)) not in found
    assert all(sum(bool(m[2]) for m in marginals) <= 1 for marginals in found)


def test_only_admissible_marginals_are_met() -> None:
    flat = MarginalSets((1, 1, 1), (2,), lambda m: sum(m) <= 2, lambda _: 0.0, lambda _a, _r: 0.0, 0.0)
    assert all(sum(m) <= 2 for marginals in reachable(flat, flat.start) for m in marginals)


def test_the_cliques_of_a_square_are_refused() -> None:
    square = (0b1011, 0b0111, 0b1110, 0b1101)
    with pytest.raises(ValueError, match="not triangulated"):
        maximal_masks(square)
