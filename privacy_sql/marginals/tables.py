"""A collection of anonymized marginals on an engine: the relations that criteria and views read.

Kifer & Gehrke 2006, Sect. 6.1. A marginal is its columns at their levels, `{"age": 1, "sex": 0}`, without
columns that are left out or at the top. Each becomes a relation of counts: `g` (the nonsensitive cell), one
column of codes per attribute and level (`q1_2`), `s` and `n_rows`. It also has the columns at coarser levels
that other marginals use, so that joins over separators need only `=`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from privacy_sql.counted.base import Base
from privacy_sql.counted.grouping import Asks, Clique, Found, Grouping, Origin
from privacy_sql.errors import Undecided, UsageError
from privacy_sql.kernels.marginals.clique_join import JoinClique, exact_group, join_size
from privacy_sql.kernels.marginals.consistent_tables import largest_support, smallest_count_by_program
from privacy_sql.kernels.marginals.junction_tree import (
    Branch,
    Resolutions,
    finest,
    is_decomposable,
    junction_tree,
    maximal_sets,
)
from privacy_sql.kernels.marginals.leaf_domain import Cell, LeafDomain, with_one_value
from privacy_sql.kernels.marginals.max_entropy import fitted_counts, sensitive_groups
from privacy_sql.kernels.marginals.worst_groups import (
    PLAIN_GROUPS,
    fewest_near_top,
    fewest_values,
    least_entropy,
    smallest_sum,
    worst_ratio,
)
from privacy_sql.marginals.columns import Attributes, Shown, published
from privacy_sql.query.template import Query, Sql, names, render
from privacy_sql.verdict import Witness


@dataclass(frozen=True)
class MarginalTables:
    """Published marginals judged together; what `judge.judge` needs of a grouping."""

    base: Origin
    attributes: Attributes
    published: tuple[Resolutions, ...]
    relations_of: Mapping[Resolutions, Sql]  # per maximal marginal
    n_values: int  # sensitive values there can be
    beside: tuple[MarginalTables, ...] = ()  # the same marginals for each further sensitive column

    @cached_property
    def maximal(self) -> list[Resolutions]:
        """The marginals that no other one contains."""
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
        found = []
        for n, branch in enumerate(branches):
            relation, rooted = self.relations_of[branch.clique], branch.parent is None
            clique = Clique(
                number=self.published.index(branch.clique) + 1,
                relation=relation,
                cells=self.base.engine.create(render("marginals/cells.sql", marginal=relation)),
                sensitive=n < len(joined),
                parent=branch.parent or 0,
                shared=() if rooted else tuple(self.attributes.columns(branch.separator)),
                separator=None if rooted else self.separator(branch),
            )
            found.append(clique)
        return tuple(found)

    def separator(self, branch: Branch) -> Sql:
        """The counts of the columns that a clique shares with its parent."""
        columns = self.attributes.columns(branch.separator)
        query = render("marginals/separator.sql", marginal=self.relations_of[branch.clique], columns=columns)
        return self.base.engine.create(query)

    one_table: ClassVar[None] = None  # requirements are judged on all marginals together

    @property
    def attacked(self) -> Grouping | None:
        return CollectionEvidence(self).possible() if self.decomposable else None

    unknowing: ClassVar[None] = None

    @property
    def stored(self) -> MarginalTables:
        """Its counts are tables already."""
        return self

    def of_each_column(self) -> Sequence[MarginalTables]:
        return (self, *self.beside)

    def relations(self, reads_sensitive: bool = True) -> dict[str, Sql]:
        return {}

    def relation(self, name: str) -> object:
        """A collection has only `cliques` to read."""
        if name != "cliques":
            raise KeyError(name)
        return self.cliques

    def gathered(self, asked: Asks[Found]) -> Found | None:
        return asked.together(CollectionEvidence(self))

    def told(self, witness: Witness) -> Witness:
        """A witness with the marginals it is about, and access to their cells."""
        return CollectionEvidence(self).told(witness)

    @property
    def sensitive_place(self) -> int:
        """The index of the sensitive attribute in `numbers`: the last."""
        names = self.attributes.names
        return len(names) if self.attributes.sensitive is None else len(names) - 1

    def join(self) -> list[JoinClique]:
        """The marginals with the sensitive attribute as arrays, for the walk over large joins."""
        parts = []
        for branch in self.tree:
            shared: dict[str, Sql] = {}  # the columns that a separator next to the clique uses
            for beside in self.tree:
                if beside.parent is not None and branch.clique in (
                    beside.clique,
                    self.tree[beside.parent].clique,
                ):
                    plain = self.attributes.without_sensitive(beside.separator)
                    shared.update({str(c): c for c in self.attributes.columns(plain)})
            columns = [*shared.values(), Sql("s")]
            relation = self.relations_of[branch.clique]
            query = render("marginals/counts.sql", marginal=relation, columns=columns)
            parts.append(self.base.engine.arrays(query))
        return joined_cliques(self.tree, parts, self.attributes)

    def numbers(self) -> tuple[LeafDomain, dict[Resolutions, dict[Cell, int]]]:
        """The collection as numbers: nodes at the published levels, and the counts of each marginal.

        The finest published nodes take the place of the leaves: the number of leaves below them changes the
        maximum-entropy table over leaves, but not its sums over published cells.
        """
        width = range(len(self.attributes.names))
        used = [sorted({m[a] for m in self.maximal} - {0}) for a in width]
        place = [{r: i for i, r in enumerate([0, *levels])} for levels in used]
        paths: list[set[tuple[int, ...]]] = [{(0,)} if not levels else set() for levels in used]
        counts = {}
        for marginal in self.maximal:
            shown = [tuple(r for r in used[a] if r <= marginal[a]) for a in width]
            # the columns of each attribute, from coarse to fine
            of_each = [
                [self.attributes.columns(tuple(r if b == a else 0 for b in width))[0] for r in shown[a]]
                for a in width
            ]
            query = render(
                "marginals/counts.sql",
                marginal=self.relations_of[marginal],
                columns=[c for columns in of_each for c in columns],
            )
            rows = [
                (tuple(tuple(row[c] for c in columns) for columns in of_each), row["n_rows"])
                for row in self.base.engine.fetch(query)
            ]
            for a in width:
                if shown[a] and len(shown[a]) == len(used[a]):
                    paths[a] |= {(0, *row[a]) for row, _ in rows}
            small = tuple(place[a][r] for a, r in enumerate(marginal))
            counts[small] = {tuple(nodes[-1] if nodes else 0 for nodes in row): n for row, n in rows}
        domain = LeafDomain(tuple(tuple(sorted(found)) for found in paths))
        return (domain, counts) if self.attributes.sensitive is not None else with_one_value(domain, counts)

    def source_cells(self) -> dict[Cell, int]:
        """The nonsensitive cells of the source, numbered as in `numbers`: one of the consistent tables.

        None if only the published marginals are available.
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


def marginal_tables(base: Base, collection: Sequence[Shown]) -> MarginalTables:
    """A collection of marginals of a counted table; one error names everything that is wrong with it."""
    attributes = Attributes.of(base.table)
    return of_resolutions(base, attributes, published(attributes, collection))


def of_resolutions(base: Base, attributes: Attributes, chosen: Sequence[Resolutions]) -> MarginalTables:
    """The same from valid resolutions."""
    relations = {
        marginal: base.engine.create(counted(base, attributes, marginal, chosen))
        for marginal in maximal_sets(chosen)
    }
    n_values = base.statistics["s"]["n_values"] if attributes.sensitive is not None else 0
    beside = []
    for side in base.sides:
        other = Attributes.of(side.table)
        beside.append(of_resolutions(side, other, [other.as_in(attributes, marginal) for marginal in chosen]))
    return MarginalTables(base, attributes, tuple(chosen), relations, n_values, tuple(beside))


def counted(
    base: Base, attributes: Attributes, marginal: Resolutions, chosen: Sequence[Resolutions]
) -> Query:
    """The statement that counts one marginal, including the coarser levels that the others use."""
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
    """Arrays of codes as matrices of counts, with the separator cell of each group."""
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
        # one number per combination of codes, the same on both sides
        n_own, number = len(firsts[i]), np.zeros(len(firsts[i]) + len(firsts[parent]), dtype=np.int64)
        if own:
            rows = np.column_stack([np.concatenate([a, b]) for a, b in zip(own, above, strict=True)])
            number = np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)
        cliques.append(JoinClique(matrices[i], parent, number[:n_own], number[n_own:]))
    return cliques


Rows = list[dict[str, Any]]
MOST_NEAR = 1_000  # groups near the worst that are handed on
MOST_POSSIBLE = 10_000_000  # combinations of people and values


@dataclass(frozen=True)
class CollectionEvidence:
    """The evidence of one collection, and where its worst cells are."""

    tables: MarginalTables

    def smallest_bound(self, k: int) -> Rows | None:
        """The cell with the smallest positive bound; None if the template finds it."""
        tables = self.tables
        if not tables.decomposable:
            domain, counts = tables.numbers()
            least = smallest_count_by_program(
                domain, counts, tables.sensitive_place, k, tables.source_cells()
            )
            return [{"bound": least.bound, "n_below": least.n_below, "g": None, "cells": least.cell}]
        if len(tables.tree) < 2:
            return None
        join = tables.join()
        if join_size(join) <= PLAIN_GROUPS:
            return None
        worst = smallest_sum(join)
        number = tables.cliques[0].number
        row = {"bound": int(worst.value), "n_below": int(worst.value < k), "marginal": number}
        # and the smallest cell of every marginal without the sensitive attribute
        found = []
        for clique in self.tables.cliques:
            if not clique.sensitive:
                query = render("criteria/k_link.sql", cliques=[clique], by_group=False)
                smallest = min(self.tables.base.engine.fetch(query), key=lambda row: int(row["n_people"]))
                bound = int(smallest["n_people"])
                below = int(bound < k)
                found.append(
                    {"bound": bound, "n_below": below, "marginal": clique.number, "g": smallest["g"]}
                )
        return [{**row, **_joined_cells(worst.groups)}, *found]

    def least_diverse(self, ell: int, kind: str, share: Fraction) -> Rows | None:
        """The groups that are least diverse; None if the template finds them.

        `share` is what the relaxed kind requires of one marginal with the sensitive column.
        """
        tables = self.tables
        if not tables.tree:
            # nothing published depends on the values: each is equally likely for everyone
            return [{"counts": [Fraction(1)] * tables.n_values, "cells": (), "meet": 0}]
        if not tables.decomposable:
            domain, counts = tables.numbers()
            fitted = fitted_counts(domain, counts, largest_support(domain, counts))
            groups = sensitive_groups(fitted, tables.sensitive_place)
            meet = len(tables.maximal)
            told = {"meet": meet, "holding": len(tables.tree)}
            return [{"counts": values, "cells": cell, **told} for cell, values in groups.items()]
        join = tables.join() if len(tables.tree) > 1 else []
        return walked(join, ell, kind, share) if join and join_size(join) > PLAIN_GROUPS else None

    def possible(self) -> Grouping:
        """Everybody in the table with the values that the join of the marginals allows.

        For a decomposable collection these are exactly the values that are possible. Everybody's cells are
        known, so each combination of the original quasi-identifiers is a group of its own.
        """
        tables = self.tables
        if not tables.decomposable:
            raise UsageError(
                "not_decomposable",
                "these marginals together say more than their join, which composition cannot judge",
                hint="Publish a decomposable collection.",
            )
        base, attributes = tables.base, tables.attributes
        assert isinstance(base, Base)  # published files alone never need it
        raw = names(base.aliases.values())
        levels = {
            (alias, attributes.finest[a] - r)
            for branch in tables.tree
            for a, (r, alias) in enumerate(zip(branch.clique, attributes.aliases, strict=True))
            if r and a != attributes.sensitive
        }
        shown = [
            (Sql(f"{alias}_{level}"), Sql(alias), level, base.level_codes[alias] if level else None)
            for alias, level in sorted(levels)
        ]
        everybody = base.engine.create(
            render(
                "marginals/marginal.sql",
                base=base.relation,
                columns=[*((alias, alias, 0, None) for alias in raw), *shown],
                joined=list({column: codes for _, column, level, codes in shown if level}.items()),
                own=raw,
                sensitive=False,
            )
        )
        parts = [
            (
                tables.relations_of[branch.clique],
                attributes.columns(attributes.without_sensitive(branch.clique)),
            )
            for branch in tables.tree
        ]
        values = render("marginals/separator.sql", marginal=base.relation, columns=names(["s"]))
        query = render(
            "marginals/possible.sql",
            everybody=everybody,
            parts=parts,
            values=base.engine.create(values),
            codes=raw,
        )
        found, size = base.engine.filled(query)
        if size > MOST_POSSIBLE:
            raise Undecided(
                "too_many_cells",
                f"the marginals allow more than {MOST_POSSIBLE:,} combinations of people and values",
                hint="Publish columns at coarser levels.",
            )
        groups = base.engine.create(render("marginals/cells.sql", marginal=everybody))
        return Grouping(base, (), found, everybody, found, groups)

    def told(self, witness: Witness) -> Witness:
        """A witness with the numbers of the marginals whose cells meet, and access to those cells."""
        cells: tuple[int, ...] = witness.private.get("cells") or ()
        if not cells:
            return witness
        if not self.tables.decomposable:  # a fit or a linear program uses every marginal
            every = sorted(clique.number for clique in self.tables.cliques)
            # its labels at the finest published levels
            plain = self.tables.attributes.without_sensitive(finest(self.tables.maximal))
            shown = [code for code, r in zip(cells, plain, strict=False) if r]
            return witness.revealed_by(lambda _: {"cell": self._labels(plain, shown)}, marginals=every)
        number = witness.private.get("marginal")
        joined = [clique for clique in self.tables.cliques if clique.sensitive]
        if len(cells) == len(joined) and number in (None, joined[0].number):
            places = list(zip(joined, cells, strict=True))
        else:
            places = [(clique, cells[0]) for clique in self.tables.cliques if clique.number == number]
        return witness.revealed_by(
            lambda _: {"cells": {clique.number: self._cell(clique, cell) for clique, cell in places}},
            marginals=[clique.number for clique, _ in places],
        )

    def _cell(self, clique: Clique, cell: int) -> dict[str, Any]:
        """INTERNAL: the published labels of one cell of a marginal."""
        attributes = self.tables.attributes
        plain = attributes.without_sensitive(self.tables.published[clique.number - 1])
        columns = attributes.columns(plain)
        if not columns:
            return {}
        query = render("marginals/cell.sql", marginal=clique.relation, columns=columns, cell=cell)
        (codes,) = self.tables.base.engine.fetch(query)
        return self._labels(plain, [codes[column] for column in columns])

    def _labels(self, plain: Resolutions, codes: Sequence[int]) -> dict[str, Any]:
        """INTERNAL: column -> label, for the codes of the shown columns."""
        attributes = self.tables.attributes
        shown = [a for a, r in enumerate(plain) if r]
        return {
            attributes.names[a]: self.tables.base.label(
                attributes.aliases[a], attributes.finest[a] - plain[a], code
            )
            for a, code in zip(shown, codes, strict=True)
        }


def walked(join: Sequence[JoinClique], ell: int, kind: str, share: Fraction) -> Rows:
    """The least diverse groups of a join, found by a walk over it."""
    if kind == "entropy":
        near = least_entropy(join)
        groups = [ids for _, ids in near.groups[:MOST_NEAR]]
        whole = near.whole and len(near.groups) <= MOST_NEAR
    else:
        if kind == "recursive":
            worst = worst_ratio(join, ell)
        else:
            worst = fewest_values(join) if kind == "distinct" else fewest_near_top(join, share ** len(join))
        groups, whole = [worst.groups], worst.exact
    return [
        {
            "counts": [n for n in exact_group(join, ids) if n],
            "cells": tuple(_joined_cells(ids).values()),
            "exact": whole,
            "n_groups": join_size(join),
        }
        for ids in groups
    ]


def _joined_cells(groups: Sequence[int]) -> dict[str, int]:
    """Numbers of joined cells as the templates name them (their numbers start at 1)."""
    return {"g" if i == 1 else f"g{i}": g + 1 for i, g in enumerate(groups, start=1)}
