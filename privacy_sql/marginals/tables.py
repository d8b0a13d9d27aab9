"""A collection of anonymized marginals on an engine: the relations that criteria and views are made of.

Kifer & Gehrke 2006, Sect. 6.1. A marginal is its columns at their levels, `{"age": 1, "sex": 0}`; a column
left out, or at the top, is not in it. Each becomes a relation of counts: `g` (the nonsensitive cell), one
column of codes per attribute and level (`q1_2`), `s` and `n_rows`. Columns at the coarser levels that other
marginals use come along, so that joins over separators need only `=`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from privacy_sql.counted.base import Base
from privacy_sql.counted.grouping import Asks, Clique, Found, Known
from privacy_sql.kernels.marginals.clique_join import JoinClique
from privacy_sql.kernels.marginals.junction_tree import (
    Branch,
    Resolutions,
    finest,
    is_decomposable,
    junction_tree,
    maximal_sets,
)
from privacy_sql.kernels.marginals.leaf_domain import Cell, LeafDomain, with_one_value
from privacy_sql.marginals.columns import Attributes, Shown, published
from privacy_sql.marginals.evidence import CollectionEvidence
from privacy_sql.query.template import Query, Sql, render
from privacy_sql.verdict import Witness


@dataclass(frozen=True)
class MarginalTables:
    """Published marginals as one thing to judge; what `judging.judge` needs of a grouping."""

    base: Known
    attributes: Attributes
    published: tuple[Resolutions, ...]
    relations_of: Mapping[Resolutions, Sql]  # per maximal marginal
    n_values: int  # sensitive values there can be

    @cached_property
    def maximal(self) -> list[Resolutions]:
        """The marginals that lie inside no other."""
        return maximal_sets(self.published)

    @cached_property
    def decomposable(self) -> bool:
        """Whether the maximum-entropy table has a closed form."""
        return is_decomposable(self.maximal)

    @cached_property
    def tree(self) -> list[Branch]:
        """The junction tree of the marginals with the sensitive attribute (Prop. 7.3)."""
        c = self.attributes.sensitive
        return junction_tree([m for m in self.maximal if c is not None and m[c]])

    @cached_property
    def cliques(self) -> tuple[Clique, ...]:
        """The maximal marginals: those with the sensitive attribute along their tree, then the others."""
        joined = [branch.clique for branch in self.tree]
        others = [m for m in self.maximal if m not in joined]
        branches = [*self.tree, *(Branch(m, None, (0,) * len(m)) for m in others)]
        return tuple(self._clique(branch, bool(n < len(joined))) for n, branch in enumerate(branches))

    def _clique(self, branch: Branch, sensitive: bool) -> Clique:
        relation = self.relations_of[branch.clique]
        shared = tuple(self.attributes.columns(branch.separator)) if branch.parent is not None else ()
        engine = self.base.engine
        return Clique(
            number=self.published.index(branch.clique) + 1,
            relation=relation,
            cells=engine.create(render("marginals/cells.sql", marginal=relation)),
            sensitive=sensitive,
            parent=branch.parent or 0,
            shared=shared,
            separator=self.separator(branch) if branch.parent is not None else None,
        )

    def separator(self, branch: Branch) -> Sql:
        """The counts of what a clique shares with its parent."""
        columns = self.attributes.columns(branch.separator)
        query = render("marginals/separator.sql", marginal=self.relations_of[branch.clique], columns=columns)
        return self.base.engine.create(query)

    one_table: ClassVar[None] = None  # requirements are asked of all marginals together
    unknowing: ClassVar[None] = None

    def of_each_column(self) -> Sequence[MarginalTables]:
        return (self,)

    def relations(self, reads_sensitive: bool = True) -> dict[str, Sql]:
        return {}

    def relation(self, name: str) -> object:
        """Nothing but `cliques` can be read of a collection."""
        if name != "cliques":
            raise KeyError(name)
        return self.cliques

    def gathered(self, asked: Asks[Found]) -> Found | None:
        return asked.together(CollectionEvidence(self))

    def told(self, witness: Witness) -> Witness:
        """A witness with the marginals it is about, and the door to their cells."""
        return CollectionEvidence(self).told(witness)

    @property
    def sensitive_place(self) -> int:
        """Where `numbers` has the sensitive attribute: last."""
        names = self.attributes.names
        return len(names) if self.attributes.sensitive is None else len(names) - 1

    def join(self) -> list[JoinClique]:
        """The marginals with the sensitive attribute as arrays, for the walk over large joins."""
        parts = [self._arrays(branch) for branch in self.tree]
        return joined_cliques(self.tree, parts, self.attributes)

    def numbers(self) -> tuple[LeafDomain, dict[Resolutions, dict[Cell, int]]]:
        """The collection in numbers only: nodes at the published levels, and the counts of each marginal.

        The finest published nodes stand for the leaves: how many leaves lie below them changes the
        maximum-entropy table over leaves, but not how it falls on published cells.
        """
        width = range(len(self.attributes.names))
        used = [sorted({m[a] for m in self.maximal} - {0}) for a in width]
        place = [{r: i for i, r in enumerate([0, *levels])} for levels in used]
        paths: list[set[tuple[int, ...]]] = [{(0,)} if not levels else set() for levels in used]
        counts = {}
        for marginal in self.maximal:
            shown = [tuple(r for r in used[a] if r <= marginal[a]) for a in width]
            rows = self._rows(marginal, shown)
            for a in width:
                if shown[a] and len(shown[a]) == len(used[a]):
                    paths[a] |= {(0, *row[a]) for row, _ in rows}
            small = tuple(place[a][r] for a, r in enumerate(marginal))
            counts[small] = {tuple(nodes[-1] if nodes else 0 for nodes in row): n for row, n in rows}
        domain = LeafDomain(tuple(tuple(sorted(found)) for found in paths))
        return (domain, counts) if self.attributes.sensitive is not None else with_one_value(domain, counts)

    def source_cells(self) -> dict[Cell, int]:
        """The nonsensitive cells of the source, as `numbers` names them: one of the consistent tables.

        Nothing where only the published marginals are at hand.
        """
        if not isinstance(self.base, Base):
            return {}
        plain = self.attributes.without_sensitive(finest(self.maximal))
        shown = [a for a, r in enumerate(plain) if r]
        columns = self.attributes.columns(plain)
        relation = self.base.engine.create(counted(self.base, self.attributes, plain, self.published))
        query = render("marginals/counts.sql", marginal=relation, columns=columns)
        cells: dict[Cell, int] = {}
        width = len(plain) if self.attributes.sensitive is not None else len(plain) + 1
        for row in self.base.engine.fetch(query):
            codes = dict(zip(shown, (row[column] for column in columns), strict=True))
            cells[tuple(codes.get(a, 0) for a in range(width))] = row["n_rows"]
        return cells

    def _rows(
        self, marginal: Resolutions, shown: Sequence[tuple[int, ...]]
    ) -> list[tuple[tuple[tuple[int, ...], ...], int]]:
        """Per cell of a marginal: per attribute the codes from the coarsest level on, and its rows."""
        width = len(marginal)
        single = [
            [self.attributes.columns(tuple(r if b == a else 0 for b in range(width)))[0] for r in shown[a]]
            for a in range(width)
        ]
        query = render(
            "marginals/counts.sql",
            marginal=self.relations_of[marginal],
            columns=[c for columns in single for c in columns],
        )
        return [
            (tuple(tuple(row[c] for c in columns) for columns in single), row["n_rows"])
            for row in self.base.engine.fetch(query)
        ]

    def _arrays(self, branch: Branch) -> Mapping[str, Any]:
        relation = self.relations_of[branch.clique]
        columns = [*self._shared_columns(branch.clique), Sql("s")]
        query = render("marginals/counts.sql", marginal=relation, columns=columns)
        return self.base.engine.arrays(query)

    def _shared_columns(self, clique: Resolutions) -> list[Sql]:
        """The columns of a clique that some separator beside it uses."""
        needed: dict[str, Sql] = {}
        for branch in self.tree:
            if branch.parent is not None and clique in (branch.clique, self.tree[branch.parent].clique):
                plain = self.attributes.without_sensitive(branch.separator)
                needed.update({str(c): c for c in self.attributes.columns(plain)})
        return list(needed.values())


def marginal_tables(base: Base, collection: Sequence[Shown]) -> MarginalTables:
    """A collection of marginals of a counted table; everything wrong with it is said at once."""
    attributes = Attributes.of(base.table)
    return of_resolutions(base, attributes, published(attributes, collection))


def of_resolutions(base: Base, attributes: Attributes, chosen: Sequence[Resolutions]) -> MarginalTables:
    """The same from resolutions that are known to be right."""
    relations = {
        marginal: base.engine.create(counted(base, attributes, marginal, chosen))
        for marginal in maximal_sets(chosen)
    }
    n_values = base.statistics["s"]["n_values"] if attributes.sensitive is not None else 0
    return MarginalTables(base, attributes, tuple(chosen), relations, n_values)


def counted(
    base: Base, attributes: Attributes, marginal: Resolutions, chosen: Sequence[Resolutions]
) -> Query:
    """The statement that counts one marginal, with the coarser levels that the others use."""
    columns = []
    for a, r in enumerate(attributes.without_sensitive(marginal)):
        alias = attributes.aliases[a]
        for level in attributes.levels_beside(a, r, chosen):
            codes = base.level_codes[alias] if level else None
            columns.append((Sql(f"{alias}_{level}"), Sql(alias), level, codes))
    return render(
        "marginals/marginal.sql",
        base=base.relation,
        columns=columns,
        joined=list({column: codes for _, column, level, codes in columns if level}.items()),
        own=attributes.columns(attributes.without_sensitive(marginal)),
        sensitive=attributes.sensitive is not None and bool(marginal[attributes.sensitive]),
    )


def joined_cliques(
    tree: Sequence[Branch], parts: Sequence[Mapping[str, Any]], attributes: Attributes
) -> list[JoinClique]:
    """Arrays of codes as matrices of counts, with the separator cell each group lies in."""
    values = np.unique(np.concatenate([part["s"] for part in parts]))
    firsts, matrices = [], []
    for part in parts:
        _, first, group = np.unique(part["g"], return_index=True, return_inverse=True)
        matrix = np.zeros((len(first), len(values)), dtype=np.int64)
        matrix[group, np.searchsorted(values, part["s"])] = part["n_rows"]
        firsts.append(first)
        matrices.append(matrix)
    cliques = [JoinClique(matrices[0])]
    for i, branch in enumerate(tree[1:], start=1):
        parent = branch.parent or 0
        columns = attributes.columns(attributes.without_sensitive(branch.separator))
        own = [np.asarray(parts[i][c])[firsts[i]] for c in columns]
        above = [np.asarray(parts[parent][c])[firsts[parent]] for c in columns]
        block, block_of_parent = _numbered(own, above, len(firsts[i]), len(firsts[parent]))
        cliques.append(JoinClique(matrices[i], parent, block, block_of_parent))
    return cliques


def _numbered(own: list[Any], above: list[Any], n_own: int, n_above: int) -> tuple[Any, Any]:
    """One number per combination of codes, the same on both sides."""
    if not own:
        return np.zeros(n_own, dtype=np.int64), np.zeros(n_above, dtype=np.int64)
    rows = np.column_stack([np.concatenate([a, b]) for a, b in zip(own, above, strict=True)])
    number = np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)
    return number[:n_own], number[n_own:]
