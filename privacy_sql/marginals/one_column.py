"""Marginals of one base, counted once each, and whether they meet the requirements on its sensitive column.

Kifer & Gehrke 2006, Sect. 7 and 8. Leaf cells are counted once; each marginal is one GROUP BY over them and
gives its entropy, its smallest cell and its matrix of sensitive counts. The requirements are judged once for
every set of marginals with the sensitive column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import fsum, log
from typing import Any

import numpy as np

from privacy_sql.counted.base import Base
from privacy_sql.criteria import Criterion
from privacy_sql.errors import Undecided, UsageError
from privacy_sql.judge import decided
from privacy_sql.kernels.marginals.clique_join import JoinClique
from privacy_sql.kernels.marginals.junction_tree import Resolutions, junction_tree
from privacy_sql.marginals.columns import Attributes
from privacy_sql.marginals.tables import MarginalTables, joined_cliques, of_resolutions, walked
from privacy_sql.query.template import Sql, render
from privacy_sql.verdict import Verdict


@dataclass(frozen=True)
class CountedMarginal:
    """What one GROUP BY says about a marginal."""

    arrays: Mapping[str, Any]  # g, code columns, s, n_rows
    entropy: float
    smallest: int  # rows of the smallest nonsensitive cell


@dataclass
class OneColumn:
    """The requirements for one sensitive column; all others count as quasi-identifiers."""

    base: Base
    require: tuple[Criterion, ...]
    most: int | None = None  # the most marginals with the sensitive column
    counted: dict[Resolutions, CountedMarginal] = field(default_factory=dict)
    allowed: dict[Resolutions, bool] = field(default_factory=dict)
    verdicts: dict[tuple[Resolutions, ...], bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.attributes = Attributes.of(self.base.table)
        # what takes longest is asked last: how many people there can be, then what is about other releases
        order = sorted(self.require, key=lambda c: (c.needs_register, not c.reads_sensitive))
        deciding = [(c, c.in_marginals) for c in order]
        if unfit := [str(c) for c, its in deciding if its is None]:
            raise UsageError(
                "unfit_requirement",
                f"{', '.join(unfit)} does not say how a search for marginals decides it",
                hint="Name the marginals in `collection`; they are then judged as they are.",
            )
        self.k = max((its.smallest_cell for _, its in deciding if its), default=1)
        self.alone = [its for c, its in deciding if its and not c.needs_register]
        self.composed = [its for c, its in deciding if its and c.needs_register]

    @cached_property
    def leaf_cells(self) -> Sql:
        """The leaf cells with every column at every level."""
        columns = []
        for alias, height in zip(self.attributes.aliases, self.attributes.finest, strict=True):
            if alias != "s":
                for level in range(height):
                    codes = self.base.level_codes[alias] if level else None
                    columns.append((Sql(f"{alias}_{level}"), Sql(alias), level, codes))
        query = render(
            "marginals/leaf_cells.sql",
            base=self.base.relation,
            columns=columns,
            joined=list({column: codes for _, column, level, codes in columns if level}.items()),
            sensitive=self.attributes.sensitive is not None,
        )
        return self.base.engine.create(query)

    def count(self, marginal: Resolutions) -> CountedMarginal:
        """One marginal, counted on first use together with the coarser levels of its columns."""
        if marginal not in self.counted:
            self.counted[marginal] = self._count(marginal)
        return self.counted[marginal]

    def _count(self, marginal: Resolutions) -> CountedMarginal:
        sensitive = self.holds_sensitive(marginal)
        names = [
            Sql(f"{self.attributes.aliases[a]}_{level}")
            for a, r in enumerate(self.attributes.without_sensitive(marginal))
            for level in range(self.attributes.finest[a] - r, self.attributes.finest[a] if r else 0)
        ]
        query = render(
            "marginals/marginal.sql",
            base=self.leaf_cells,
            columns=[(name, name, 0, None) for name in names],
            joined=[],
            own=self.attributes.columns(self.attributes.without_sensitive(marginal)),
            sensitive=sensitive,
        )
        arrays = self.base.engine.arrays(query)
        rows = np.asarray(arrays["n_rows"], dtype=np.float64)
        cells = np.bincount(np.asarray(arrays["g"], dtype=np.int64), weights=rows)[1:]
        # engines count in any order, and the last bit of a sum would break ties
        entropy = log(self.base.rows) - fsum((rows * np.log(rows)).tolist()) / self.base.rows
        return CountedMarginal(arrays, entropy, int(cells.min()))

    def holds_sensitive(self, marginal: Resolutions) -> bool:
        """Whether a marginal shows the sensitive column."""
        c = self.attributes.sensitive
        return c is not None and bool(marginal[c])

    def admissible(self, marginal: Resolutions) -> bool:
        """Whether a marginal meets the requirements on its own; every coarser one then does, too."""
        if marginal not in self.allowed:
            linked = self.count(marginal).smallest >= self.k
            self.allowed[marginal] = linked and (
                not self.holds_sensitive(marginal) or self.safe_together((marginal,))
            )
        return self.allowed[marginal]

    def safe_together(self, cliques: tuple[Resolutions, ...]) -> bool:
        """Whether marginals with the sensitive column together meet the requirements."""
        if cliques not in self.verdicts:
            self.verdicts[cliques] = self._decide(cliques)
        return self.verdicts[cliques]

    def _decide(self, cliques: tuple[Resolutions, ...]) -> bool:
        joined = _Joined(self, cliques)
        try:
            if not all(its.holds_of(joined) for its in self.alone):
                return False
        except Undecided:  # a collection that cannot be decided is not chosen
            return False
        return all(its.holds_of(joined) for its in self.composed)

    def keeps(self, marginals: Sequence[Resolutions]) -> bool:
        """Whether a decomposable collection of admissible marginals meets the requirements.

        Marginals without the sensitive column do not matter here (Prop. 7.3).
        """
        cliques = tuple(m for m in marginals if self.holds_sensitive(m))
        if self.most is not None and len(cliques) > self.most:
            return False  # a step back can split a marginal in two
        return self.safe_together(cliques)


@dataclass
class _Joined:
    """Marginals with the sensitive column, as requirements ask about them."""

    column: OneColumn
    marginals: tuple[Resolutions, ...]

    @cached_property
    def cliques(self) -> Sequence[JoinClique]:
        if not self.marginals:
            return ()
        tree = junction_tree(self.marginals)
        counted = [self.column.count(branch.clique).arrays for branch in tree]
        return joined_cliques(tree, counted, self.column.attributes)

    @property
    def n_values(self) -> int:
        known = self.column.attributes.sensitive is not None
        return int(self.column.base.statistics["s"]["n_values"]) if known else 0

    def least_diverse(self, ell: int, kind: str, share: Fraction) -> Sequence[Mapping[str, Any]]:
        return walked(self.cliques, ell, kind, share)

    @cached_property
    def tables(self) -> MarginalTables:
        base = replace(self.column.base.beside(), sides=())
        return of_resolutions(base, self.column.attributes, self.marginals)

    def judged(self, criterion: Criterion) -> Verdict:
        return decided(self.tables, criterion)
