"""Which collections of anonymized marginals have a closed form, and the tree that gives it.

Kifer & Gehrke 2006, Sect. 5.1 and 6.1. Every attribute with h generalizations becomes h - 1 induced
attributes L_1..L_(h-1), the steps from the root of its hierarchy down to a leaf. A marginal that shows
an attribute uses a first stretch L_1..L_r of them, so a marginal is the tuple of its resolutions r, one
per attribute, with 0 for an attribute it leaves out:

>>> cliques = maximal_sets([(2, 1), (2, 0), (0, 1)])  # the last two are inside the first
>>> cliques
[(2, 1)]

All cliques of an interaction graph have this shape (a neighbour of L_i is a neighbour of every L_j, j < i),
so "intersection" is the smaller resolution everywhere and "union" the larger.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import networkx as nx

Resolutions = tuple[int, ...]
Vertex = tuple[int, int]  # (attribute, i) stands for L_i of that attribute, i = 1, 2, ...


@dataclass(frozen=True)
class Branch:
    """One clique of a junction tree, with its parent's index in the list and the separator between them."""

    clique: Resolutions
    parent: int | None
    separator: Resolutions


def contains(larger: Resolutions, smaller: Resolutions) -> bool:
    """Whether the first has every induced attribute of the second."""
    return all(a >= b for a, b in zip(larger, smaller, strict=True))


def intersection(left: Resolutions, right: Resolutions) -> Resolutions:
    """The induced attributes of both."""
    return tuple(min(a, b) for a, b in zip(left, right, strict=True))


def union(left: Resolutions, right: Resolutions) -> Resolutions:
    """The induced attributes of either."""
    return tuple(max(a, b) for a, b in zip(left, right, strict=True))


def finest(marginals: Sequence[Resolutions]) -> Resolutions:
    """The finest resolution at which each attribute is published (L_max of Theorem 6.1)."""
    return tuple(map(max, zip(*marginals, strict=True)))


def maximal_sets(marginals: Iterable[Resolutions]) -> list[Resolutions]:
    """The marginals that no other marginal contains, each once, in sorted order.

    Nested and repeated marginals add nothing, and neither does one without attributes.
    """
    kept = sorted({m for m in marginals if any(m)})
    return [m for m in kept if not any(contains(other, m) and other != m for other in kept)]


def vertices(marginal: Resolutions) -> list[Vertex]:
    """The induced attributes of a marginal."""
    return [(attribute, i) for attribute, r in enumerate(marginal) for i in range(1, r + 1)]


def interaction_graph(marginals: Iterable[Resolutions]) -> nx.Graph[Vertex]:
    """Induced attributes as vertices, an edge where two are in one marginal (Sect. 5.1, Fig. 2)."""
    import networkx as nx

    graph: nx.Graph[Vertex] = nx.Graph()
    for marginal in marginals:
        members = vertices(marginal)
        graph.add_nodes_from(members)
        graph.add_edges_from(combinations(members, 2))
    return graph


def maximal_cliques(marginals: Sequence[Resolutions]) -> list[Resolutions]:
    """The maximal cliques of the interaction graph, as resolutions, in sorted order.

    >>> maximal_cliques([(1, 1, 0), (0, 1, 1), (1, 0, 1)])  # three pairs make a triangle
    [(1, 1, 1)]
    """
    import networkx as nx

    width = len(marginals[0]) if marginals else 0
    found = nx.find_cliques(interaction_graph(marginals))
    return sorted(tuple(sum(v[0] == a for v in clique) for a in range(width)) for clique in found)


def is_triangulated(marginals: Sequence[Resolutions]) -> bool:
    """Whether every cycle of four or more induced attributes has a chord (Definition 5.1)."""
    import networkx as nx

    return bool(nx.is_chordal(interaction_graph(marginals)))


def is_graphical(marginals: Sequence[Resolutions]) -> bool:
    """Whether every maximal clique of the interaction graph is one of the marginals (Definition 5.5)."""
    return set(maximal_cliques(marginals)) <= set(marginals)


def is_decomposable(marginals: Sequence[Resolutions]) -> bool:
    """Triangulated and graphical (Definition 5.6): the maximum-entropy table has a closed form.

    >>> is_decomposable([(1, 1, 0), (0, 1, 1)]), is_decomposable([(1, 1, 0), (0, 1, 1), (1, 0, 1)])
    (True, False)
    """
    return is_triangulated(marginals) and is_graphical(marginals)


def perfect_separators(order: Sequence[Resolutions]) -> list[Resolutions] | None:
    """The separators S_2..S_p of cliques in this order, or None when the order is not perfect.

    Kifer & Gehrke 2006, Definition 5.7. S_i is complete because it lies inside a clique; it remains to check
    that one earlier clique contains all of it.

    >>> perfect_separators([(1, 1, 0), (0, 1, 1)])
    [(0, 1, 0)]
    """
    separators = []
    for i in range(1, len(order)):
        separator = intersection(order[i], finest(order[:i]))
        if not any(contains(earlier, separator) for earlier in order[:i]):
            return None
        separators.append(separator)
    return separators


def junction_tree(cliques: Sequence[Resolutions], root: int = 0) -> list[Branch]:
    """The cliques of a decomposable graph, parents before children, with their separators.

    Kifer & Gehrke 2006, Definition 7.1, built as the spanning tree of largest intersections. Empty separators
    join unconnected parts; they count every row once and so need no special case.

    >>> [branch.separator for branch in junction_tree([(1, 1, 0), (0, 1, 1), (0, 0, 0)])]
    [(0, 0, 0), (0, 1, 0), (0, 0, 0)]
    """
    import networkx as nx

    if not cliques:
        return []
    complete: nx.Graph[int] = nx.Graph()
    complete.add_node(root)
    for i, j in combinations(range(len(cliques)), 2):
        complete.add_edge(i, j, weight=sum(intersection(cliques[i], cliques[j])))
    tree = nx.maximum_spanning_tree(complete)
    place = {root: 0}
    nothing = (0,) * len(cliques[root])
    branches = [Branch(cliques[root], None, nothing)]
    for parent, child in nx.bfs_edges(tree, root):
        place[child] = len(branches)
        branches.append(Branch(cliques[child], place[parent], intersection(cliques[parent], cliques[child])))
    return branches
