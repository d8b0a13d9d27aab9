"""Counting queries answered from marginals, against every table of whole counts that agrees with them."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import pytest

from privacy_sql.kernels.marginals import counting_bounds
from privacy_sql.kernels.marginals.counting_bounds import CountQuestion, answers, summed_out
from privacy_sql.kernels.marginals.junction_tree import finest, maximal_sets
from privacy_sql.kernels.marginals.leaf_domain import LeafDomain
from tests.oracles import marginals as oracle
from tests.seeds import OFTEN, seeds

# two columns with a hierarchy of bands of two, two without
PATHS = (
    tuple((0, leaf // 2, leaf) for leaf in range(3)),
    tuple((0, leaf // 2, leaf) for leaf in range(3)),
    tuple((0, leaf) for leaf in range(2)),
    tuple((0, leaf) for leaf in range(2)),
)


def node(a: int, leaf: int, r: int) -> int:
    return PATHS[a][leaf][r]


def chosen(chance: random.Random, width: int) -> tuple[list[tuple[int, ...]], dict[tuple[int, ...], int]]:
    """Some marginals of a small table, ties and empty cells included."""
    tops = [len(paths[0]) - 1 for paths in PATHS[:width]]
    collection = [tuple(chance.randint(0, top) for top in tops) for _ in range(chance.randint(1, 4))]
    sizes = [len(paths) for paths in PATHS[:width]]
    cells = oracle.leaf_cells(sizes)
    table = dict.fromkeys(cells, 0)
    for _ in range(chance.randint(1, 5)):
        table[chance.choice(cells)] += 1
    return maximal_sets(collection), table


@pytest.mark.parametrize("seed", seeds(12, OFTEN))
def test_no_table_that_agrees_lies_outside_the_bounds_and_two_marginals_reach_them(seed: int) -> None:
    pytest.importorskip("scipy")
    chance = random.Random(seed)
    width = chance.choice([2, 3])
    collection, table = chosen(chance, width)
    if not collection:
        return
    paths = PATHS[:width]
    sizes, domain = [len(p) for p in paths], LeafDomain(paths)
    counts = {m: {c: n for c, n in oracle.marginal(node, dict(table), m).items() if n} for m in collection}
    at = tuple(chance.randint(0, top) for top in finest(collection))
    asked = [
        None if not r else {node(a, leaf, r): node(a, leaf, r) for leaf in range(sizes[a])}
        for a, r in enumerate(at)
    ]
    found, tight = answers(domain, counts, CountQuestion(at, asked))
    everywhere: dict[tuple[int | None, ...], list[int]] = {}
    tables = list(oracle.consistent_tables(node, sizes, table, collection))
    for number, other in enumerate(tables):
        for cell, n in other.items():
            key = tuple(
                node(a, leaf, r) if r else None for a, (leaf, r) in enumerate(zip(cell, at, strict=True))
            )
            everywhere.setdefault(key, [0] * len(tables))[number] += n
    assert tight
    for key, counted in everywhere.items():
        if key not in found:
            assert max(counted) == 0
            continue
        answer = found[key]
        assert answer.least <= min(counted) and max(counted) <= answer.most
        if len(summed_out(domain, counts, at)) < 3:
            assert (answer.least, answer.most) == (min(counted), max(counted))
    fitted = oracle.fit(node, sizes, table, collection, 150)
    for key, answer in found.items():
        expected = sum(
            n
            for cell, n in fitted.items()
            if key
            == tuple(node(a, x, r) if r else None for a, (x, r) in enumerate(zip(cell, at, strict=True)))
        )
        assert float(answer.expected) == pytest.approx(expected, abs=2e-2)


def test_bounds_of_three_marginals_are_those_of_the_linear_program() -> None:
    """Pairs of three columns, two rows: the pairs fix what the third column must be."""
    pytest.importorskip("scipy")
    domain = LeafDomain((((0, 0), (0, 1)),) * 3)
    pairs = [(1, 1, 0), (0, 1, 1), (1, 0, 1)]
    rows = {(0, 0, 0): 3, (1, 1, 1): 2}
    counts = {m: {} for m in pairs}
    for m, cell in itertools.product(pairs, rows):
        counts[m][tuple(x if r else 0 for x, r in zip(cell, m, strict=True))] = rows[cell]
    classes = {0: 0, 1: 1}
    found, tight = answers(domain, counts, CountQuestion((1, 1, 1), [classes] * 3))
    assert tight and {key: (a.least, a.most) for key, a in found.items()} == {
        (0, 0, 0): (3, 3),
        (1, 1, 1): (2, 2),
    }


def test_where_programs_are_too_large_single_marginals_bound_and_that_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(counting_bounds, "PROGRAM_WORK", 0)
    domain = LeafDomain((((0, 0), (0, 1)),) * 4)
    path = [(1, 1, 0, 0), (0, 1, 1, 0), (0, 0, 1, 1)]
    counts = {m: {} for m in path}
    for m in path:
        places = [a for a, r in enumerate(m) if r]
        for left, right in itertools.product((0, 1), repeat=2):
            cell = [0] * 4
            cell[places[0]], cell[places[1]] = left, right
            counts[m][tuple(cell)] = 4 if left == right else 1
    classes = {0: 0, 1: 1}
    found, tight = answers(domain, counts, CountQuestion((1, 0, 0, 1), [classes, None, None, classes]))
    assert not tight
    assert sum(answer.expected for answer in found.values()) == Fraction(10)
    assert all((answer.least, answer.most) == (0, 5) for answer in found.values())
