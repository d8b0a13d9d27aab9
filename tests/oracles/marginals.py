"""Anonymized marginals straight from the definitions: every table, every cycle, every leaf. Slow and obvious.

Everything works on leaf cells (tuples of leaf numbers); `node(attribute, leaf, resolution)` is the only
thing known of the hierarchies. A collection is a list of tuples of resolutions, as in the package.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from math import prod

Cell = tuple[int, ...]
Node = Callable[[int, int, int], int]
Collection = Sequence[tuple[int, ...]]


def leaf_cells(sizes: Sequence[int]) -> list[Cell]:
    return list(itertools.product(*(range(size) for size in sizes)))


def place(node: Node, cell: Cell, resolutions: tuple[int, ...]) -> Cell:
    return tuple(node(a, leaf, r) for a, (leaf, r) in enumerate(zip(cell, resolutions, strict=True)))


def marginal(node: Node, table: dict[Cell, float], resolutions: tuple[int, ...]) -> dict[Cell, float]:
    summed: dict[Cell, float] = {}
    for cell, n in table.items():
        key = place(node, cell, resolutions)
        summed[key] = summed.get(key, 0) + n
    return summed


def fit(
    node: Node, sizes: Sequence[int], table: dict[Cell, int], collection: Collection, sweeps: int
) -> dict[Cell, float]:
    """The maximum-entropy table: all leaves alike, then scaled to each marginal again and again."""
    total = sum(table.values())
    cells = leaf_cells(sizes)
    fitted = {cell: total / len(cells) for cell in cells}
    for _ in range(sweeps):
        for resolutions in collection:
            wanted, have = marginal(node, dict(table), resolutions), marginal(node, fitted, resolutions)
            for cell in cells:
                key = place(node, cell, resolutions)
                if fitted[cell]:
                    fitted[cell] *= wanted.get(key, 0) / have[key]
    return fitted


def consistent_tables(
    node: Node, sizes: Sequence[int], table: dict[Cell, int], collection: Collection
) -> Iterator[dict[Cell, int]]:
    """Every table of whole counts over the leaves with the same marginals."""
    cells = leaf_cells(sizes)
    wanted = [marginal(node, dict(table), r) for r in collection]
    left = [dict(w) for w in wanted]
    keys = [[place(node, cell, r) for r in collection] for cell in cells]
    chosen = [0] * len(cells)

    def fill(i: int, rows: int) -> Iterator[dict[Cell, int]]:
        if i == len(cells):
            if rows == 0 and all(not any(rest.values()) for rest in left):
                yield dict(zip(cells, chosen, strict=True))
            return
        most = min([rows] + [rest.get(k, 0) for rest, k in zip(left, keys[i], strict=True)])
        for n in range(int(most) + 1):
            chosen[i] = n
            for rest, k in zip(left, keys[i], strict=True):
                if n:
                    rest[k] -= n
            yield from fill(i + 1, rows - n)
            for rest, k in zip(left, keys[i], strict=True):
                if n:
                    rest[k] += n
        chosen[i] = 0

    yield from fill(0, sum(table.values()))


def largest_counts(
    node: Node, sizes: Sequence[int], table: dict[Cell, int], collection: Collection, sensitive: int
) -> dict[Cell, int]:
    """Definition 4.2 by enumeration: per nonsensitive leaf cell the largest count over consistent tables."""
    largest: dict[Cell, int] = {}
    for other in consistent_tables(node, sizes, table, collection):
        summed: dict[Cell, int] = {}
        for cell, n in other.items():
            x = (*cell[:sensitive], 0, *cell[sensitive + 1 :])
            summed[x] = summed.get(x, 0) + n
        for x, n in summed.items():
            largest[x] = max(largest.get(x, 0), n)
    return largest


def edges(collection: Collection) -> set[frozenset[tuple[int, int]]]:
    """The interaction graph: pairs of induced attributes that stand in one marginal."""
    found = set()
    for resolutions in collection:
        members = induced(resolutions)
        found |= {frozenset(pair) for pair in itertools.combinations(members, 2)}
    return found


def induced(resolutions: tuple[int, ...]) -> list[tuple[int, int]]:
    return [(a, i) for a, r in enumerate(resolutions) for i in range(1, r + 1)]


def triangulated(collection: Collection) -> bool:
    """Definition 5.1: no cycle of four or more without a chord."""
    joined = edges(collection)
    everyone = sorted({v for r in collection for v in induced(r)})
    for size in range(4, len(everyone) + 1):
        for members in itertools.combinations(everyone, size):
            inside = [e for e in joined if e <= set(members)]
            degrees = [sum(v in e for e in inside) for v in members]
            if all(d == 2 for d in degrees) and connected(members, inside):
                return False
    return True


def connected(members: Sequence[tuple[int, int]], inside: Sequence[frozenset[tuple[int, int]]]) -> bool:
    reached = {members[0]}
    while True:
        more = {v for e in inside if e & reached for v in e} - reached
        if not more:
            return reached == set(members)
        reached |= more


def graphical(collection: Collection) -> bool:
    """Definition 5.5: every largest set of pairwise joined induced attributes is a marginal's own set."""
    joined = edges(collection)
    everyone = sorted({v for r in collection for v in induced(r)})
    complete = [
        set(members)
        for size in range(1, len(everyone) + 1)
        for members in itertools.combinations(everyone, size)
        if all(frozenset(pair) in joined for pair in itertools.combinations(members, 2))
    ]
    own = [set(induced(r)) for r in collection]
    return all(any(c < d for d in complete) or c in own for c in complete)


def size(sizes: Sequence[int]) -> int:
    return prod(sizes)
