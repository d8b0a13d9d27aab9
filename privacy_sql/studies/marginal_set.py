"""A collection of anonymized marginals: its graph, maximum-entropy table, privacy and usefulness.

Everything here is internal, because it reads the table and its cells hold values.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from math import log, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from privacy_sql.counted.base import count, no_rows
from privacy_sql.counted.grouping import Judgeable
from privacy_sql.engines import Engine
from privacy_sql.errors import UsageError
from privacy_sql.kernels.marginals.consistent_tables import (
    largest_counts,
    largest_counts_by_program,
    largest_support,
)
from privacy_sql.kernels.marginals.junction_tree import (
    Resolutions,
    finest,
    is_decomposable,
    is_graphical,
    is_triangulated,
    junction_tree,
    maximal_cliques,
    perfect_separators,
)
from privacy_sql.kernels.marginals.leaf_domain import Cell, with_one_value
from privacy_sql.kernels.marginals.max_entropy import (
    closed_form_kl,
    expected_counts,
    fitted_counts,
    least_c,
    n_log_n,
    sensitive_groups,
)
from privacy_sql.kernels.marginals.worst_groups import fewest_near_top
from privacy_sql.marginals.columns import Attributes, Levels
from privacy_sql.marginals.leaves import leaves
from privacy_sql.marginals.tables import MarginalTables, counted, marginal_tables
from privacy_sql.marginals.views import maximum_entropy
from privacy_sql.query.template import Query, render

if TYPE_CHECKING:
    from privacy_sql.query.template import Sql
    from privacy_sql.table import Table

LISTED_CELLS = 2_000_000  # the most leaf cells that are listed


class Probabilities(dict[tuple[Any, ...], Any]):
    """Leaf cell (values in the order of the columns) -> probability; 0 for every cell not listed."""

    def __missing__(self, cell: tuple[Any, ...]) -> int:
        return 0


class MarginalSet(Judgeable):
    """The marginals of a table at given levels, taken together (kifer2006, Sect. 5 to 7).

    `collection` gives the level of each column for every marginal; a marginal does not show columns that are
    left out or at their top level. `domain` says what a leaf is: "active", the values of the table, or
    "hierarchy", all values of the hierarchies. Divergences depend on it.

    >>> import pandas as pd
    >>> import privacy_sql as ps
    >>> rows = pd.DataFrame({"age": ["3", "4", "7"], "sex": ["F", "M", "M"], "ill": ["a", "b", "a"]})
    >>> with ps.connect() as engine:
    ...     table = ps.Table(rows, {"age": ps.Intervals(5), "sex": ps.KeepOrDrop()}, "ill")
    ...     found = ps.MarginalSet(engine, table, [{"age": 1, "ill": 0}, {"sex": 0}])
    ...     found.decomposable, found.k_link_max, found.critical_c(1)
    (True, 1, Fraction(1, 1))
    """

    def __init__(
        self, engine: Engine, table: Table, collection: Sequence[Any], domain: str = "active"
    ) -> None:
        if not isinstance(collection, Sequence) or isinstance(collection, str):
            hint = 'For example [{"age": 2}, {"zip": 1}].'
            raise UsageError("bad_argument", "a collection of marginals must be a list", hint=hint)
        self._base = count(engine, table, several=True)
        if not self._base.rows:
            raise no_rows(table)
        self._tables: MarginalTables = marginal_tables(self._base, collection)
        self._leaves = leaves(self._base, self._attributes, domain)
        if self._attributes.sensitive is not None:
            values = len(self._leaves.domain.paths[self._attributes.sensitive])
            self._tables = replace(self._tables, n_values=values)

    @property
    def grouping(self) -> MarginalTables:
        return self._tables

    @property
    def _attributes(self) -> Attributes:
        return self._tables.attributes

    @property
    def _maximal(self) -> list[Resolutions]:
        return self._tables.maximal

    @cached_property
    def _counts(self) -> dict[Resolutions, dict[Cell, int]]:
        return {m: self._fetched(m, self._tables.relations_of[m]) for m in self._maximal}

    def _fetched(self, marginal: Resolutions, relation: Sql) -> dict[Cell, int]:
        columns = self._attributes.columns(marginal)
        rows = self._base.engine.fetch(render("marginals/counts.sql", marginal=relation, columns=columns))
        places = [a for a, r in enumerate(marginal) if r]
        found: dict[Cell, int] = {}
        for row in rows:
            cell = [0] * len(marginal)
            for a, column in zip(places, columns, strict=True):
                cell[a] = row[column]
            found[tuple(cell)] = row["n_rows"]
        return found

    @property
    def triangulated(self) -> bool:
        """Whether the interaction graph over induced attributes has no cycle without a chord."""
        return is_triangulated(self._maximal)

    @property
    def graphical(self) -> bool:
        """Whether every maximal clique of that graph is a marginal."""
        return is_graphical(self._maximal)

    @property
    def decomposable(self) -> bool:
        """Both: the maximum-entropy table has a closed form."""
        return is_decomposable(self._maximal)

    @property
    def maximal_cliques(self) -> list[dict[str, int]]:
        """The maximal cliques of the interaction graph, as column -> level, in the order of these."""
        return [self._attributes.levels(clique) for clique in self._cliques]

    @cached_property
    def _cliques(self) -> list[Resolutions]:
        return sorted(
            maximal_cliques(self._maximal), key=lambda m: sorted(self._attributes.levels(m).items())
        )

    def perfect_sequence(self, order: Sequence[Levels | int]) -> list[dict[str, int]] | None:
        """The separators of the maximal cliques in this order; None if it is not a perfect sequence.

        The order lists the cliques, or their positions in `maximal_cliques`.
        """
        known = self._cliques
        chosen = [known[c] if isinstance(c, int) else self._attributes.resolutions(c) for c in order]
        if sorted(chosen) != sorted(known):
            raise UsageError("bad_order", "the order must name every maximal clique once")
        found = perfect_separators(chosen)
        return None if found is None else [self._attributes.levels(s) for s in found]

    @cached_property
    def _at(self) -> Resolutions:
        return finest(self._maximal)

    @cached_property
    def _expected(self) -> dict[Cell, Any]:
        """Expected counts of the finest published cells."""
        domain = self._leaves.domain
        if self.decomposable:
            return dict(expected_counts(domain, junction_tree(self._maximal), self._counts))
        return dict(fitted_counts(domain, self._counts, largest_support(domain, self._counts)))

    def max_entropy(self, exact: bool = True) -> Probabilities:
        """The maximum-entropy probability of every leaf cell that has one; exact if decomposable.

        Collections that are not decomposable have no exact form and give floats.
        """
        size = sum(self._leaves.domain.leaves(cell, self._at) for cell in self._expected)
        if size > LISTED_CELLS:
            hint = "Use `expected_count`, or publish coarser marginals."
            raise UsageError("too_many_cells", f"the table has {size} leaf cells", hint=hint)
        found = Probabilities()
        for cell, expected in self._expected.items():
            share = expected / self._base.rows / self._leaves.domain.leaves(cell, self._at)
            # the leaves of a cell, as values
            below = [self._members[a][cell[a]] for a in range(len(cell))]
            stack: list[tuple[Any, ...]] = [()]
            for values in below:
                stack = [(*left, value) for left in stack for value in values]
            for leaf in iter(stack):
                found[leaf] = share if exact else float(share)
        return found

    @cached_property
    def _members(self) -> list[dict[int, list[Any]]]:
        """Per column: node at the finest published level -> the values below it."""
        found = []
        for a, paths in enumerate(self._leaves.domain.paths):
            members: dict[int, list[Any]] = {}
            for path in paths:
                members.setdefault(path[self._at[a]], []).append(self._leaves.values[a][path[-1]])
            found.append(members)
        return found

    def expected_count(
        self, where: Mapping[str, Collection[Any] | Callable[[Any], bool]]
    ) -> Fraction | float:
        """The expected number of rows with these values: column -> values, or a function that tests a value.

        An analyst who has nothing but the published marginals gets the same estimate.
        """
        unknown = [name for name in where if name not in self._attributes.names]
        if unknown:
            raise UsageError("unknown_column", f'the marginals have no column "{unknown[0]}"')
        shares = []  # for each node, the share of its leaves that the condition selects
        for name, members in zip(self._attributes.names, self._members, strict=True):
            wanted = where.get(name)
            if wanted is None:
                shares.append(dict.fromkeys(members, Fraction(1)))
                continue
            asked = wanted if callable(wanted) else set(wanted).__contains__
            shares.append(
                {
                    node: Fraction(sum(bool(asked(value)) for value in values), len(values))
                    for node, values in members.items()
                }
            )
        parts = (
            expected * prod(share[node] for share, node in zip(shares, cell, strict=True))
            for cell, expected in self._expected.items()
        )
        return sum(parts, Fraction(0))

    def sample(self, n: int, random: np.random.Generator) -> list[tuple[Any, ...]]:
        """`n` invented rows drawn from the maximum-entropy table, values in the order of the columns."""
        cells = sorted(self._expected)
        weights = np.array([float(self._expected[cell]) for cell in cells])
        drawn = random.choice(len(cells), size=n, p=weights / weights.sum())
        rows = []
        for cell in (cells[i] for i in drawn):
            below = [self._members[a][node] for a, node in enumerate(cell)]
            rows.append(tuple(values[int(random.integers(len(values)))] for values in below))
        return rows

    @cached_property
    def kl(self) -> float:
        """KL divergence of the table from its maximum-entropy reconstruction, in nats."""
        (row,) = self._base.engine.fetch(render("marginals/n_log_n.sql", counts=self._base.relation))
        total, n_leaf = self._base.rows, float(row["n_log_n"])
        spread = []  # per column at its finest level: rows times the logarithm of the leaves below their node
        for a, resolution in enumerate(self._at):
            holder = next((m for m in self._maximal if m[a] == resolution and m[a]), None)
            rows = {0: total} if holder is None else {}
            for cell, n in ({} if holder is None else self._counts[holder]).items():
                rows[cell[a]] = rows.get(cell[a], 0) + n
            spread.append(sum(n * log(len(self._members[a][node])) for node, n in rows.items()))
        if self.decomposable:
            tree = junction_tree(self._maximal)
            domain = self._leaves.domain
            separators = [
                domain.marginal(self._counts[b.clique], b.clique, b.separator).values() for b in tree[1:]
            ]
            cliques = [n_log_n(counts.values()) for counts in self._counts.values()]
            return closed_form_kl(total, n_leaf, cliques, map(n_log_n, separators), spread)
        query = counted(self._base, self._attributes, self._at, self._maximal)
        counts = self._fetched(self._at, self._base.engine.create(query))
        fitted = sum(n * log(self._expected[cell]) for cell, n in counts.items())
        return (n_leaf + sum(spread) - fitted) / total

    def maximum_entropy_sql(self, relations: Sequence[str]) -> Query:
        """The maximum-entropy table as one SELECT that joins the published marginals over their separators.

        `relations` are the names of their tables, in the order of `marginals`. Only decomposable collections
        have this closed form.
        """
        return maximum_entropy(self._attributes, self._maximal, relations)

    @property
    def marginals(self) -> list[dict[str, int]]:
        """The published marginals as column -> level, without those that another one contains."""
        return [self._attributes.levels(m) for m in self._maximal]

    @property
    def k_link_max(self) -> int:
        """The largest k for which the collection is k-link anonymous: its smallest nonsensitive cell."""
        smallest = []
        for marginal, counts in self._counts.items():
            plain = self._attributes.without_sensitive(marginal)
            smallest.append(min(self._leaves.domain.marginal(counts, marginal, plain).values()))
        return min(smallest)

    def upper_bounds(self) -> list[tuple[dict[str, Any], int]]:
        """The largest count of each nonsensitive cell (finest published levels) in a consistent table."""
        plain = self._attributes.without_sensitive(self._at)
        if self._leaves.domain.size(plain) > LISTED_CELLS:
            raise UsageError("too_many_cells", "the marginals have too many nonsensitive cells to list")
        bounds = self._bounds
        return [
            (
                {
                    name: self._leaves.labels[a][plain[a]][cell[a]]
                    for a, name in enumerate(self._attributes.names)
                    if plain[a]
                },
                bounds.get(cell, 0),
            )
            for cell in self._leaves.domain.cells(plain)
        ]

    @cached_property
    def _bounds(self) -> dict[Cell, int]:
        decide = largest_counts if self.decomposable else largest_counts_by_program
        if self._attributes.sensitive is not None:
            return decide(self._leaves.domain, self._counts, self._attributes.sensitive)
        bounds = decide(*with_one_value(self._leaves.domain, self._counts), len(self._at))
        return {cell[:-1]: bound for cell, bound in bounds.items()}

    @property
    def k_combinatorial_max(self) -> int:
        """The largest k for which the collection is k-combinatorially anonymous."""
        return min(bound for bound in self._bounds.values() if bound)

    def critical_c(self, l: int) -> Fraction | float | None:  # noqa: E741 - the paper's letter
        """The smallest c for which the maximum-entropy table is (c, l)-diverse; None if no c is enough."""
        c = self._sensitive()
        if not self._at[c]:
            n_values = len(self._leaves.domain.paths[c])
            return Fraction(1, n_values - l + 1) if 1 <= l <= n_values else None
        per_group = [least_c(counts, l) for counts in sensitive_groups(self._expected, c).values()]
        worst = [value for value in per_group if value is not None]
        return max(worst) if len(worst) == len(per_group) else None

    def relaxed_diversity(self, epsilon: Fraction | str) -> int:
        """The largest l for which the collection is maxent l-diverse with ε-relaxation (kifer2006, Sect. 7).

        Every group then has at least l values that are at least (1 - ε)^p times as frequent as its most
        frequent one, p being the number of marginals with the sensitive column.
        """
        share = Fraction(epsilon)
        if not 0 <= share < 1:
            raise UsageError("bad_parameter", "epsilon must be at least 0 and below 1")
        if not self.decomposable:
            raise UsageError("not_decomposable", "the relaxation is defined only for decomposable marginals")
        if not self._at[self._sensitive()]:
            return self._tables.n_values
        join = self._tables.join()
        return int(fewest_near_top(join, (1 - share) ** len(join)).value)

    def _sensitive(self) -> int:
        if self._attributes.sensitive is None:
            raise UsageError("no_sensitive", "the table has no sensitive column")
        return self._attributes.sensitive
