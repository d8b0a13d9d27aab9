"""Search the collections of marginals of a base: counts one marginal at a time, everything else from those.

Kifer & Gehrke 2006, Sect. 6.2 and 8. Leaf cells are counted once; each marginal is one GROUP BY over them,
asked for once, and gives its entropy, its smallest cell and its matrix of sensitive counts. A collection's
divergence is then a sum of entropies, and its diversity is asked once per set of marginals that hold the
sensitive column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from math import fsum, log
from typing import Any

import numpy as np

from privacy_sql.counted.base import Base
from privacy_sql.criteria import Criterion
from privacy_sql.criteria.k_combinatorial import KCombinatorial
from privacy_sql.criteria.k_link import KLink
from privacy_sql.criteria.maxent_l_diversity import MaxentLDiversity
from privacy_sql.errors import Undecided
from privacy_sql.judge import refuse_one_table
from privacy_sql.kernels.marginals.junction_tree import (
    Resolutions,
    finest,
    is_decomposable,
    junction_tree,
    maximal_sets,
)
from privacy_sql.kernels.marginals.worst_groups import smallest_sum, worst_ratio
from privacy_sql.marginals.columns import Attributes
from privacy_sql.marginals.leaves import Leaves, leaves
from privacy_sql.marginals.tables import joined_cliques, walked
from privacy_sql.progress import report
from privacy_sql.query.template import Sql, render
from privacy_sql.searches import Limits, Reached
from privacy_sql.searches.annealing import Annealing
from privacy_sql.searches.beam import Beam
from privacy_sql.searches.every_step import EveryStep
from privacy_sql.spaces.marginal_sets import Collection, MarginalSets

# what counting a marginal, and deciding about some of them together, cost in entropies looked at
COUNTING, DECIDING = 1_500, 1_000


@dataclass(frozen=True)
class CountedMarginal:
    """What one GROUP BY says of a marginal."""

    arrays: Mapping[str, Any]  # g, code columns, s, n_rows
    entropy: float
    smallest: int  # rows of the smallest nonsensitive cell


@dataclass
class MarginalSearch:
    """The collections of one base, and which of them keep the requirements.

    `domain` is what a leaf is, as for `MarginalSet`. Requirements other than the three on collections are
    refused: they are about one table.
    """

    base: Base
    require: tuple[Criterion, ...]
    domain: str = "active"
    given: Resolutions | None = None
    max_with_sensitive: int | None = None
    counted: dict[Resolutions, CountedMarginal] = field(default_factory=dict)
    allowed: dict[Resolutions, bool] = field(default_factory=dict)
    verdicts: dict[tuple[Resolutions, ...], bool] = field(default_factory=dict)
    looked: int = 0  # entropies asked for, a few per collection that is met

    def __post_init__(self) -> None:
        refuse_one_table(self.require)
        self.attributes = Attributes.of(self.base.table)
        self.k = max([c.k for c in self.require if isinstance(c, (KLink, KCombinatorial))], default=1)
        self.bounded = [c for c in self.require if isinstance(c, KCombinatorial)]
        self.diverse = [c for c in self.require if isinstance(c, MaxentLDiversity)]

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

    @property
    def work(self) -> int:
        """How much was done so far, in entropies looked at: the same on every machine."""
        return self.looked + COUNTING * len(self.counted) + DECIDING * len(self.verdicts)

    def entropy(self, marginal: Resolutions) -> float:
        """The entropy of a marginal, in nats."""
        self.looked += 1
        return self.count(marginal).entropy

    def count(self, marginal: Resolutions) -> CountedMarginal:
        """One marginal, counted when first asked for; coarser levels of its columns come along."""
        if marginal not in self.counted:
            self.counted[marginal] = self._count(marginal)
        return self.counted[marginal]

    def _count(self, marginal: Resolutions) -> CountedMarginal:
        sensitive = self._holds_sensitive(marginal)
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
        # an engine counts in an order of its own, and ties are broken by the last bit of a sum
        entropy = log(self.base.rows) - fsum((rows * np.log(rows)).tolist()) / self.base.rows
        return CountedMarginal(arrays, entropy, int(cells.min()))

    def _holds_sensitive(self, marginal: Resolutions) -> bool:
        c = self.attributes.sensitive
        return c is not None and bool(marginal[c])

    def admissible(self, marginal: Resolutions) -> bool:
        """Whether a marginal keeps the requirements on its own; true then of every coarser one too."""
        if marginal not in self.allowed:
            linked = self.count(marginal).smallest >= self.k
            self.allowed[marginal] = linked and (
                not self._holds_sensitive(marginal) or self.safe_together((marginal,))
            )
        return self.allowed[marginal]

    def safe_together(self, cliques: tuple[Resolutions, ...]) -> bool:
        """Whether marginals with the sensitive column keep the requirements about all of them together."""
        if cliques not in self.verdicts:
            self.verdicts[cliques] = self._decide(cliques)
        return self.verdicts[cliques]

    def _decide(self, cliques: tuple[Resolutions, ...]) -> bool:
        tree = junction_tree(cliques)
        join = joined_cliques(tree, [self.count(b.clique).arrays for b in tree], self.attributes)
        try:
            for criterion in self.diverse:
                if criterion.kind == "recursive":
                    worst = worst_ratio(join, criterion.l, stop_above=float(criterion.limit))
                    safe = worst.exact and worst.value <= criterion.limit
                else:
                    safe = criterion.judge(walked(join, criterion.l, criterion.kind, criterion.share)).safe
                if not safe:
                    return False
            return all(smallest_sum(join, stop_below=c.k).value >= c.k for c in self.bounded)
        except Undecided:  # what cannot be decided is not chosen
            return False

    def safe(self, collection: Collection) -> bool:
        """Whether a collection of admissible marginals is safe.

        Marginals without the sensitive column do not matter for the rest (Prop. 7.3): the space holds
        decomposable collections only.
        """
        cliques = tuple(m for m in self.space.marginals(collection) if self._holds_sensitive(m))
        if not cliques:
            n_values = len(self._leaves.domain.paths[-1]) if self.attributes.sensitive is not None else 0
            return all(
                criterion.l <= n_values
                and (criterion.kind != "recursive" or criterion.limit * (n_values - criterion.l + 1) >= 1)
                for criterion in self.diverse
            )
        if self.max_with_sensitive is not None and len(cliques) > self.max_with_sensitive:
            return False  # a step back can part a marginal into two
        return self.safe_together(cliques)

    @cached_property
    def _leaves(self) -> Leaves:
        return leaves(self.base, self.attributes, self.domain)

    @cached_property
    def _rows_of_leaves(self) -> list[dict[int, int]]:
        """Per column: leaf number -> its rows."""
        found = []
        for alias in self.attributes.aliases:
            column = Sql("s") if alias == "s" else Sql(f"{alias}_0")
            query = render("marginals/separator.sql", marginal=self.leaf_cells, columns=[column])
            found.append({int(row[column]): int(row["n_rows"]) for row in self.base.engine.fetch(query)})
        return found

    def spread(self, a: int, resolution: int) -> float:
        """What spreading a column's nodes evenly over their leaves costs, in nats per row."""
        below: dict[int, int] = {}
        rows: dict[int, int] = {}
        for path in self._leaves.domain.paths[a]:
            below[path[resolution]] = below.get(path[resolution], 0) + 1
            rows[path[resolution]] = rows.get(path[resolution], 0) + self._rows_of_leaves[a].get(path[-1], 0)
        return fsum(n * log(below[node]) for node, n in rows.items()) / self.base.rows

    @cached_property
    def original_entropy(self) -> float:
        """The entropy of the table itself, in nats."""
        (row,) = self.base.engine.fetch(render("marginals/n_log_n.sql", counts=self.base.relation))
        # rounded, for an engine may add up in any order, and a last bit would break ties
        return round(log(self.base.rows) - float(row["n_log_n"]) / self.base.rows, 12)

    @cached_property
    def space(self) -> MarginalSets:
        c = self.attributes.sensitive
        return MarginalSets(
            self.attributes.finest,
            (len(self.attributes.names) - 1 if c is None else c),
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
        """No collection leaves less divergence: that of all columns in one table, each as fine as it may be.

        Whatever marginals are published, they are marginals of that table, and more constraints never make
        the maximum-entropy table worse.
        """
        table = finest(self.space.marginals(self.space.start))
        spread = fsum(self.spread(a, r) for a, r in enumerate(table))
        return max(0.0, self.count(table).entropy + spread - self.original_entropy)

    def minimal_tables(self) -> list[Resolutions]:
        """The finest safe tables: the sensitive column and every other one at some level."""
        c = self.attributes.sensitive
        ranges = [(1,) if a == c else range(r + 1) for a, r in enumerate(self.attributes.finest)]
        safe: list[Resolutions] = []
        for table in sorted(product(*ranges), key=sum):
            coarser = [(*table[:a], r - 1, *table[a + 1 :]) for a, r in enumerate(table) if r and a != c]
            if all(other in safe for other in coarser) and self.admissible(table):
                safe.append(table)
        return maximal_sets(safe)

    def incremental(self, given: Resolutions) -> list[tuple[str, float]]:
        """Single-column marginals added to a table in order of gain: the column and the divergence then.

        Kifer & Gehrke 2006, Fig. 9. Every column comes at its finest admissible level; marginals without the
        sensitive column cost no safety.
        """
        chosen, steps = [given], []
        left: dict[int, Resolutions] = {}
        for a, most in enumerate(self.attributes.finest):
            alone = (tuple(r if b == a else 0 for b in range(len(given))) for r in range(most, 0, -1))
            if a != self.attributes.sensitive:
                own = next((marginal for marginal in alone if self.admissible(marginal)), None)
                left |= {a: own} if own else {}
        while left:
            after = {a: self.kl([*chosen, marginal]) for a, marginal in left.items()}
            best = min(after, key=lambda a: after[a])
            chosen.append(left.pop(best))
            steps.append((self.attributes.names[best], after[best]))
        return steps

    def steps(self, chosen: Sequence[Resolutions]) -> list[dict[str, Any]]:
        """What is lost with one marginal, two of them, ...: the injected table first, then most gain first.

        A marginal is added where those so far stay decomposable with it, which one of them always does.
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
        """The best safe collection: the beam's, then all listed where they are few, else annealed on."""

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
    """The same limits, with progress reported under the name of a task."""
    return Limits(limits.stop, limits.budget, lambda done, total: report(task, done, total))
