"""What SQL does not decide of a collection of marginals: large joins, and collections without a closed form.

Kifer & Gehrke 2006, Sect. 7. Cells are numbered as the templates do, or, where there is no join, named by the
codes of the finest published levels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from privacy_sql.counted.grouping import Clique
from privacy_sql.kernels.marginals.clique_join import JoinClique, exact_group, join_size
from privacy_sql.kernels.marginals.consistent_tables import largest_support, smallest_count_by_program
from privacy_sql.kernels.marginals.junction_tree import Resolutions, finest
from privacy_sql.kernels.marginals.max_entropy import fitted_counts, sensitive_groups
from privacy_sql.kernels.marginals.worst_groups import (
    PLAIN_GROUPS,
    fewest_values,
    least_entropy,
    smallest_sum,
    worst_ratio,
)
from privacy_sql.query.template import render
from privacy_sql.verdict import Witness

if TYPE_CHECKING:
    from privacy_sql.marginals.tables import MarginalTables

Rows = list[dict[str, Any]]
MOST_NEAR = 1_000  # groups near the worst that are handed on


@dataclass(frozen=True)
class CollectionEvidence:
    """The evidence of one collection, and where its worst cells lie."""

    tables: MarginalTables

    def smallest_bound(self, k: int) -> Rows | None:
        """The cell with the smallest positive bound; None where the template says it."""
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
        return [{**row, **_numbered(worst.groups)}, *self._cells_of_others(k)]

    def _cells_of_others(self, k: int) -> Rows:
        """The smallest cell of every marginal without the sensitive attribute."""
        found = []
        for clique in self.tables.cliques:
            if not clique.sensitive:
                query = render("criteria/k_link.sql", cliques=[clique], by_group=False)
                least = min(self.tables.base.engine.fetch(query), key=lambda row: int(row["n_people"]))
                bound = int(least["n_people"])
                below = int(bound < k)
                found.append({"bound": bound, "n_below": below, "marginal": clique.number, "g": least["g"]})
        return found

    def least_diverse(self, ell: int, kind: str) -> Rows | None:
        """The groups that are least diverse; None where the template says it."""
        tables = self.tables
        if not tables.tree:
            # nobody's value depends on anything published: every value is as likely for everyone
            return [{"counts": [Fraction(1)] * tables.n_values, "cells": (), "meet": 0}]
        if not tables.decomposable:
            domain, counts = tables.numbers()
            fitted = fitted_counts(domain, counts, largest_support(domain, counts))
            groups = sensitive_groups(fitted, tables.sensitive_place)
            meet = len(tables.maximal)
            return [{"counts": values, "cells": cell, "meet": meet} for cell, values in groups.items()]
        join = tables.join() if len(tables.tree) > 1 else []
        return walked(join, ell, kind) if join and join_size(join) > PLAIN_GROUPS else None

    def told(self, witness: Witness) -> Witness:
        """A witness with the numbers of the marginals whose cells meet, and the door to those cells."""
        cells: tuple[int, ...] = witness.private.get("cells") or ()
        if not cells:
            return witness
        if not self.tables.decomposable:  # every marginal has a part in what is fitted or programmed
            every = sorted(clique.number for clique in self.tables.cliques)
            return witness.revealed_by(lambda _: {"cell": self._named(cells)}, marginals=every)
        places = self._places(cells, witness.private.get("marginal"))
        return witness.revealed_by(lambda _: self._revealed(places), marginals=[c.number for c, _ in places])

    def _places(self, cells: tuple[int, ...], number: int | None) -> list[tuple[Clique, int]]:
        joined = [clique for clique in self.tables.cliques if clique.sensitive]
        if len(cells) == len(joined) and number in (None, joined[0].number):
            return list(zip(joined, cells, strict=True))
        return [(clique, cells[0]) for clique in self.tables.cliques if clique.number == number]

    def _revealed(self, places: Sequence[tuple[Clique, int]]) -> dict[str, Any]:
        """INTERNAL: the published labels of the cells, per marginal."""
        return {"cells": {clique.number: self._cell(clique, cell) for clique, cell in places}}

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

    def _named(self, cell: tuple[int, ...]) -> dict[str, Any]:
        """INTERNAL: the labels of a cell of the whole collection, at the finest published levels."""
        plain = self.tables.attributes.without_sensitive(finest(self.tables.maximal))
        return self._labels(plain, [code for code, r in zip(cell, plain, strict=False) if r])

    def _labels(self, plain: Resolutions, codes: Sequence[int]) -> dict[str, Any]:
        """INTERNAL: column -> label, for the codes of the columns that are shown."""
        attributes = self.tables.attributes
        shown = [a for a, r in enumerate(plain) if r]
        return {
            attributes.names[a]: self.tables.base.label(
                attributes.aliases[a], attributes.finest[a] - plain[a], code
            )
            for a, code in zip(shown, codes, strict=True)
        }


def walked(join: Sequence[JoinClique], ell: int, kind: str) -> Rows:
    """The least diverse groups of a join, by a walk over it."""
    if kind == "entropy":
        near = least_entropy(join)
        groups = [ids for _, ids in near.groups[:MOST_NEAR]]
        whole = near.whole and len(near.groups) <= MOST_NEAR
    else:
        worst = worst_ratio(join, ell) if kind == "recursive" else fewest_values(join)
        groups, whole = [worst.groups], worst.exact
    return [
        {
            "counts": [n for n in exact_group(join, ids) if n],
            "cells": tuple(_numbered(ids).values()),
            "exact": whole,
            "n_groups": join_size(join),
        }
        for ids in groups
    ]


def _numbered(groups: Sequence[int]) -> dict[str, int]:
    """Numbers of joined cells as the templates name them (their numbers start at 1)."""
    return {"g" if i == 1 else f"g{i}": g + 1 for i, g in enumerate(groups, start=1)}
