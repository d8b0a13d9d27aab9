"""Search the collections of marginals of a base: count each marginal once, and derive everything else.

Kifer & Gehrke 2006, Sect. 6.2 and 8. Leaf cells are counted once; each marginal is one GROUP BY over them.
The divergence of a collection is then a sum of entropies. Safety is judged for every sensitive column in
turn, with the others as quasi-identifiers (`one_column.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import fsum, log
from typing import Any

import numpy as np

from privacy_sql.counted.base import Base
from privacy_sql.criteria import Criterion
from privacy_sql.display.progress import report
from privacy_sql.judge import refuse_one_table
from privacy_sql.kernels.marginals.junction_tree import (
    Resolutions,
    finest,
    is_decomposable,
    maximal_sets,
)
from privacy_sql.marginals.leaves import leaves
from privacy_sql.marginals.one_column import OneColumn
from privacy_sql.query.template import Sql, render
from privacy_sql.searches import Limits, Reached
from privacy_sql.searches.annealing import Annealing
from privacy_sql.searches.beam import Beam
from privacy_sql.searches.every_step import EveryStep
from privacy_sql.spaces.marginal_sets import Collection, MarginalSets

# the cost of counting a marginal and of judging several together, in entropies
COUNTING, DECIDING = 1_500, 1_000


@dataclass
class MarginalSearch:
    """The collections of one base, and which of them meet the requirements.

    `domain` says what a leaf is, as for `MarginalSet`. Requirements about one table are refused, and those
    that do not say how a search decides them (`Criterion.in_marginals`).
    """

    base: Base
    require: tuple[Criterion, ...]
    domain: str = "active"
    given: Resolutions | None = None
    max_with_sensitive: int | None = None
    looked: int = 0  # entropies used, a few for every collection

    def __post_init__(self) -> None:
        refuse_one_table(self.require)
        sides = (self.base, *self.base.sides)
        self.columns = tuple(OneColumn(side, self.require, self.max_with_sensitive) for side in sides)
        self.attributes = self.columns[0].attributes
        self.sensitive = tuple(
            a for a, name in enumerate(self.attributes.names) if name in self.base.table.declared_sensitive
        )

    @property
    def work(self) -> int:
        """The work done so far, counted in entropies so that it is the same on every machine."""
        done = (COUNTING * len(one.counted) + DECIDING * len(one.verdicts) for one in self.columns)
        return self.looked + sum(done)

    @property
    def k(self) -> int:
        """The fewest rows any cell may have."""
        return self.columns[0].k

    def entropy(self, marginal: Resolutions) -> float:
        """The entropy of a marginal, in nats."""
        self.looked += 1
        return self.columns[0].count(marginal).entropy

    def admissible(self, marginal: Resolutions) -> bool:
        """Whether a marginal meets the requirements on its own; every coarser one then does, too."""
        if not self.columns[0].admissible(marginal):
            return False
        return all(one.admissible(self._as_in(one, marginal)) for one in self.columns[1:])

    def safe(self, collection: Collection) -> bool:
        """Whether a collection of admissible marginals is safe for every sensitive column."""
        marginals = self.space.marginals(collection)
        if not self.columns[0].keeps(marginals):
            return False
        return all(one.keeps([self._as_in(one, m) for m in marginals]) for one in self.columns[1:])

    def _as_in(self, one: OneColumn, marginal: Resolutions) -> Resolutions:
        """A marginal in the order of another sensitive column's attributes."""
        return one.attributes.as_in(self.attributes, marginal)

    @cached_property
    def _leaves(self) -> list[list[tuple[tuple[int, ...], int]]]:
        """Per column the path to every leaf, and the rows of that leaf."""
        found = []
        paths = leaves(self.base, self.attributes, self.domain).domain.paths
        for alias, its in zip(self.attributes.aliases, paths, strict=True):
            column = Sql("s") if alias == "s" else Sql(f"{alias}_0")
            query = render("marginals/separator.sql", marginal=self.columns[0].leaf_cells, columns=[column])
            rows = {int(row[column]): int(row["n_rows"]) for row in self.base.engine.fetch(query)}
            found.append([(path, rows.get(path[-1], 0)) for path in its])
        return found

    def spread(self, a: int, resolution: int) -> float:
        """The cost, in nats per row, of spreading a column's nodes evenly over their leaves."""
        below: dict[int, int] = {}
        rows: dict[int, int] = {}
        for path, n in self._leaves[a]:
            below[path[resolution]] = below.get(path[resolution], 0) + 1
            rows[path[resolution]] = rows.get(path[resolution], 0) + n
        return fsum(n * log(below[node]) for node, n in rows.items()) / self.base.rows

    @cached_property
    def original_entropy(self) -> float:
        """The entropy of the table itself, in nats."""
        (row,) = self.base.engine.fetch(render("marginals/n_log_n.sql", counts=self.base.relation))
        # rounded, because engines add up in any order and the last bit would break ties
        return round(log(self.base.rows) - float(row["n_log_n"]) / self.base.rows, 12)

    @cached_property
    def space(self) -> MarginalSets:
        return MarginalSets(
            self.attributes.finest,
            self.sensitive,
            self.admissible,
            self.entropy,
            self.spread,
            self.original_entropy,
            self.given,
            self.max_with_sensitive,
        )

    def kl(self, marginals: Sequence[Resolutions]) -> float:
        """The divergence of a decomposable collection, in nats."""
        return self.space.collection(list(marginals)).kl

    @cached_property
    def least_kl(self) -> float:
        """The least divergence of any collection: that of one table with all columns as fine as allowed.

        Any published marginals are marginals of that table, and more constraints never make the
        maximum-entropy table worse.
        """
        table = finest(self.space.marginals(self.space.start))
        spread = fsum(self.spread(a, r) for a, r in enumerate(table))
        return max(0.0, self.columns[0].count(table).entropy + spread - self.original_entropy)

    def minimal_tables(self) -> list[Resolutions]:
        """The finest safe tables: every sensitive column unchanged, and every other one at some level."""
        ranges = [(1,) if a in self.sensitive else range(r + 1) for a, r in enumerate(self.attributes.finest)]
        safe: list[Resolutions] = []
        for table in sorted(product(*ranges), key=sum):
            coarser = [(*table[:a], r - 1, *table[a + 1 :]) for a, r in enumerate(table) if r > ranges[a][0]]
            if all(other in safe for other in coarser) and self.admissible(table):
                safe.append(table)
        return maximal_sets(safe)

    def incremental(self, given: Resolutions) -> list[tuple[str, float]]:
        """Add single-column marginals to a table in order of gain: each column and the divergence after it.

        Kifer & Gehrke 2006, Fig. 9. Every column has its finest admissible level; marginals without the
        sensitive column do not reduce safety.
        """
        chosen, steps = [given], []
        left: dict[int, Resolutions] = {}
        for a, most in enumerate(self.attributes.finest):
            alone = (tuple(r if b == a else 0 for b in range(len(given))) for r in range(most, 0, -1))
            if a not in self.sensitive:
                own = next((marginal for marginal in alone if self.admissible(marginal)), None)
                left |= {a: own} if own else {}
        while left:
            after = {a: self.kl([*chosen, marginal]) for a, marginal in left.items()}
            best = min(after, key=lambda a: after[a])
            chosen.append(left.pop(best))
            steps.append((self.attributes.names[best], after[best]))
        return steps

    def steps(self, chosen: Sequence[Resolutions]) -> list[dict[str, Any]]:
        """What is lost with one marginal, with two, ...: the injected table, then the largest gain first.

        A marginal is added only if the collection stays decomposable; there is always one.
        """
        start = [m for m in chosen if self.given is not None and m == self.given]
        taken, left, told = start, [m for m in chosen if m not in start], []
        if start:
            told.append({"levels": self.attributes.levels(start[0]), "kl": self.kl(start)})
        while left:
            after = {m: self.kl([*taken, m]) for m in left if is_decomposable([*taken, m])}
            best = min(after, key=lambda m: after[m])
            taken, left = [*taken, best], [m for m in left if m != best]
            told.append({"levels": self.attributes.levels(best), "kl": after[best]})
        return told

    def best(
        self,
        width: int,
        most_choices: int,
        random: np.random.Generator,
        limits: Limits,
    ) -> Reached[Collection]:
        """The best safe collection: by beam search, then by listing all if they are few, or by annealing."""

        def cost(collection: Collection) -> float:
            return collection.kl

        wide = Beam(width).choose(self.space, self.safe, cost, _told(limits, "beam"))
        if wide.best is None or wide.stopped:
            return wide
        every = EveryStep(most_choices).choose(self.space, self.safe, cost, _told(limits, "all collections"))
        if every.optimal:
            return every
        told = _told(limits, "annealing")
        more = Annealing().choose(self.space, self.safe, cost, random, start=wide.best, limits=told)
        explored = wide.explored + more.explored
        return Reached(more.best, explored, stopped=more.stopped or every.stopped)


def _told(limits: Limits, task: str) -> Limits:
    """The same limits, with progress shown under the name of a task."""
    return Limits(limits.stop, limits.budget, lambda done, total: report(task, done, total))
