"""The product of the leaf values with a hierarchy above each attribute, in numbers only.

Kifer & Gehrke 2006, Sect. 6.1. A node of a hierarchy is a number per resolution; resolution 0 is the
root, the last one the leaves. A cell is one node per attribute, at given resolutions. The paper codes a node
as the path of child numbers to it, and gives paths that do not exist a count of 0; here only real nodes have
numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

from privacy_sql.kernels.marginals.junction_tree import Resolutions

Cell = tuple[int, ...]
Counts = Mapping[Cell, int]


@dataclass(frozen=True)
class LeafDomain:
    """`paths[attribute][leaf]` is the node above the leaf at resolution 0, 1, ..., itself last.

    >>> age = ((0, 0, 0), (0, 0, 1), (0, 1, 2))  # three ages, the first two in one band
    >>> domain = LeafDomain((age,))
    >>> domain.project((1,), (2,), (1,)), domain.leaves((0,), (1,))
    ((0,), 2)
    """

    paths: tuple[tuple[tuple[int, ...], ...], ...]

    @cached_property
    def finest(self) -> Resolutions:
        """The resolution of the leaves, per attribute."""
        return tuple(len(leaves[0]) - 1 for leaves in self.paths)

    @cached_property
    def _paths_of_nodes(self) -> list[list[dict[int, tuple[int, ...]]]]:
        """Per attribute and resolution: node -> the nodes above it, from the root."""
        return [
            [{path[r]: path[: r + 1] for path in leaves} for r in range(len(leaves[0]))]
            for leaves in self.paths
        ]

    @cached_property
    def _leaves_of_nodes(self) -> list[list[dict[int, int]]]:
        """Per attribute and resolution: node -> how many leaves lie below it."""
        counted = []
        for attribute, leaves in enumerate(self.paths):
            levels: list[dict[int, int]] = [{} for _ in range(self.finest[attribute] + 1)]
            for path in leaves:
                for resolution, node in enumerate(path):
                    levels[resolution][node] = levels[resolution].get(node, 0) + 1
            counted.append(levels)
        return counted

    def project(self, cell: Cell, at: Resolutions, to: Resolutions) -> Cell:
        """The coarser cell (resolutions `to`) that holds this one."""
        levels = self._paths_of_nodes
        return tuple(levels[a][at[a]][cell[a]][to[a]] for a in range(len(cell)))

    def leaves(self, cell: Cell, at: Resolutions) -> int:
        """How many leaf cells lie in this one: child(t, L_max) of Theorem 6.1, the real leaves."""
        return prod(self._leaves_of_nodes[a][at[a]][cell[a]] for a in range(len(cell)))

    def cells(self, at: Resolutions) -> Iterator[Cell]:
        """Every cell at these resolutions, including empty ones."""
        return product(*(sorted(self._leaves_of_nodes[a][at[a]]) for a in range(len(at))))

    def size(self, at: Resolutions) -> int:
        """How many cells there are at these resolutions."""
        return prod(len(self._leaves_of_nodes[a][at[a]]) for a in range(len(at)))

    def marginal(self, counts: Counts, at: Resolutions, to: Resolutions) -> dict[Cell, int]:
        """The counts summed up to coarser cells; cells without rows are left out."""
        summed: dict[Cell, int] = {}
        for cell, n_rows in counts.items():
            if n_rows:
                coarse = self.project(cell, at, to)
                summed[coarse] = summed.get(coarse, 0) + n_rows
        return summed


def with_one_value(
    domain: LeafDomain, marginals: Mapping[Resolutions, Counts]
) -> tuple[LeafDomain, dict[Resolutions, dict[Cell, int]]]:
    """The same with an attribute of a single value at the end, in place of a missing sensitive one.

    >>> with_one_value(LeafDomain((((0, 0), (0, 1)),)), {(1,): {(1,): 5}})
    (LeafDomain(paths=(((0, 0), (0, 1)), ((0,),))), {(1, 0): {(1, 0): 5}})
    """
    longer = {(*m, 0): {(*cell, 0): n for cell, n in counts.items()} for m, counts in marginals.items()}
    return LeafDomain((*domain.paths, ((0,),))), longer
