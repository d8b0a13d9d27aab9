"""Publish several small generalised tables of counts that are safe together, instead of one table of rows."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from privacy_sql import deadlines
from privacy_sql.counted.base import Base
from privacy_sql.errors import NoSafeChoice, UsageError
from privacy_sql.kernels.marginals.junction_tree import Resolutions, maximal_sets
from privacy_sql.marginals.columns import Attributes, Shown, published
from privacy_sql.marginals.result import MarginalResult
from privacy_sql.marginals.search import MarginalSearch
from privacy_sql.marginals.tables import MarginalTables, of_resolutions
from privacy_sql.marginals.views import COUNT, published_columns
from privacy_sql.methods import Asked, Method, Proposal, _injected, seconds_of
from privacy_sql.query.template import Query, Sql, render
from privacy_sql.searches import Limits
from privacy_sql.searches.full_domain import Goal
from privacy_sql.table import Table

log = logging.getLogger("privacy_sql")

WORK_PER_SECOND = 60_000  # of `MarginalSearch.work` per second: a tenth of what one idle processor does
WORK_LIMIT = "work limit"


@dataclass(frozen=True)
class Marginals(Method):
    """The collection of anonymized marginals that says most about the table and meets the requirements.

    kifer2006, Sec. 6.2 to 8. The search is free by default. `inject` starts from a table that is published
    anyway, given by the level of each column or by its manifest, and keeps it; `recipe` adds to that table
    only the best k-link anonymous marginal of all other columns (the remark after Theorem 6.3). `collection`
    publishes exactly these marginals. At most `max_with_sensitive` marginals have the sensitive column; each
    of several sensitive columns is judged in turn, with the others as quasi-identifiers. With more than
    `most_choices` collections the best one is not proven, and `beam` says how many are followed. `time_limit`
    is first a limit of work, at a fixed rate per second, so that the same search ends with the same
    collection; only a slower machine stops by time.
    """

    name: ClassVar[str] = "marginals"
    refuses_because: ClassVar[str] = (
        "they are about one table; marginals are several tables about the same people, and each "
        "being safe does not make them safe together: `k_link`, `k_combinatorial`, "
        "`maxent_l_diversity` and `composition` are about the collection"
    )
    searches: ClassVar[bool] = True
    several_sensitive: ClassVar[bool] = True
    publishes_rows: ClassVar[bool] = False
    publishes_groups: ClassVar[bool] = False

    inject: Mapping[str, int] | str | None = None
    max_with_sensitive: int | None = None
    recipe: bool = False
    collection: Sequence[Shown] | None = None
    domain: str = "active"
    beam: int = 10
    most_choices: int = 1_000_000
    time_limit: int | float | None = None  # seconds

    def __post_init__(self) -> None:
        if self.collection is not None and (self.inject is not None or self.recipe):
            raise UsageError("bad_parameter", "marginals takes either a collection or inject, not both")
        if self.recipe and self.inject is None:
            raise UsageError("bad_parameter", "recipe needs a table to add to: name it with inject")
        seconds_of(self.time_limit)
        for word, number in (
            ("beam", self.beam),
            ("most_choices", self.most_choices),
            ("max_with_sensitive", self.max_with_sensitive),
        ):
            if number is not None and (isinstance(number, bool) or not isinstance(number, int) or number < 1):
                raise UsageError("bad_parameter", f"{word} of marginals must be a whole number of at least 1")

    @property
    def seconds(self) -> float | None:
        return seconds_of(self.time_limit)

    @property
    def named_marginals(self) -> Sequence[Shown] | None:
        return self.collection

    def tell_size(self, table: Table) -> None:
        """Log from how many marginals a search will choose, before anything is counted."""
        size = prod(
            kind.height + 2 for kind in table.hierarchies.values()
        )  # each column at a level, or left out
        if self.collection is None and size > self.most_choices:
            limit = "without a time limit" if self.seconds is None else f"{self.seconds:g} s at most"
            log.warning("%s: %s possible marginals, %s", table.name, f"{size:,}", limit)

    def within(self, directory: Path) -> Marginals:
        """The same with the path of a manifest relative to a folder."""
        if not isinstance(self.inject, str):
            return self
        return replace(self, inject=str(directory / self.inject))

    def beside(self, written: Mapping[Path, Path]) -> Marginals:
        """The same if `inject` names another release of the project."""
        if not isinstance(self.inject, str) or Path(self.inject) not in written:
            return self
        return replace(self, inject=str(written[Path(self.inject)]))

    def refuse_unfit(self, table: Table, asked: Asked) -> None:
        """Refuse joint sensitive columns, before anything is counted."""
        if len(table.sensitives) > 1 and table.joint:
            hint = "Remove joint; each column is then judged in turn."
            told = "marginals cannot judge sensitive columns jointly"
            raise UsageError("several_sensitive", told, where=table.name, hint=hint)

    def propose(self, base: Base, asked: Asked) -> Proposal:
        if COUNT in base.source_columns:
            raise UsageError("taken_name", f'the source has a column "{COUNT}"', hint="Rename it.")
        attributes = Attributes.of(base.table)
        if self.collection is not None:
            chosen = published(attributes, self.collection)
            return proposal(base, attributes, chosen, {})
        search = self._started(base, asked, attributes)
        return self._recipe(search) if self.recipe else self._best(search)

    def search(self, base: Base, asked: Asked, goal: Goal = "all") -> MarginalResult:
        """The best collection and, with the goal `all`, every minimal safe table; publishes nothing."""
        if self.collection is not None:
            hint = "Remove `collection`, or use `check` and `run`."
            raise UsageError(
                "nothing_to_search", "there is nothing to search, because the marginals are given", hint=hint
            )
        search = self._started(base, asked, Attributes.of(base.table))
        found = self._recipe(search) if self.recipe else self._best(search)
        try:
            tables = search.minimal_tables() if goal == "all" and not deadlines.reason() else []
        except KeyboardInterrupt:
            if not deadlines.rang():
                raise
            tables = []  # the best collection is known, and the time is up
        deadlines.finished()
        told = dict(found.search or {})
        return MarginalResult(
            name=base.table.name,
            rows=base.rows,
            minimal=tuple(
                {"levels": search.attributes.levels(table), "values": {"kl": search.kl([table])}}
                for table in tables
            ),
            best={**found.choice, "values": {"kl": told.pop("kl")}},
            search=told,
            hierarchies=base.table.described_levels,
        )

    def _started(self, base: Base, asked: Asked, attributes: Attributes) -> MarginalSearch:
        """A search with its given table; refuses what no collection can meet."""
        given = None  # the table to start from; a written one must have the counts that are judged
        if self.inject is not None:
            if isinstance(self.inject, str):
                file, content = _injected.read(self.inject)
                _injected.refuse_other_counts(base, file, content)
                levels = dict(content.choice["levels"])
            else:
                levels = dict(self.inject)
            for name in attributes.names:  # a table shows every column, by default at level 0
                levels.setdefault(name, 0)
            (given,) = published(attributes, [levels])
        search = MarginalSearch(base, tuple(asked.require), self.domain, given, self.max_with_sensitive)
        if search.k > base.rows:
            raise NoSafeChoice(
                "k_too_large", f"k = {search.k} is more than the {base.rows} rows of the table"
            )
        if search.given is not None and not search.admissible(search.given):
            raise NoSafeChoice(
                "unsafe_table",
                "the table in `inject` does not meet the requirements itself",
                hint="Choose coarser levels for it.",
            )
        return search

    def _best(self, search: MarginalSearch) -> Proposal:
        start = time.monotonic()

        def stop() -> str | None:
            if self.seconds is None:
                return deadlines.reason()
            # the work is limited first, so that search and run end with the same result on machines that are
            # fast enough
            if search.work > self.seconds * WORK_PER_SECOND:
                return WORK_LIMIT
            over = time.monotonic() - start > self.seconds
            return deadlines.reason() or ("time limit" if over else None)

        # the random walk only picks the collections to measure, so it may be the same every time
        found = search.best(self.beam, self.most_choices, np.random.default_rng(0), Limits(stop))
        if found.best is None:
            raise NoSafeChoice(
                "nothing_safe",
                "no collection of marginals is safe, not even of single columns",
                where=search.base.table.name,
                hint="Lower k or l, or raise c.",
            )
        # the list excludes marginals that are not safe alone, and everything that contains them
        whole = all(criterion.safe_under_merging for criterion in search.require)
        told = {
            "kl": found.best.kl,
            "domain": self.domain,
            "explored": found.explored,
            "optimal": found.optimal and whole,
            "stopped": found.stopped,
            "least_kl": 0.0,  # a lower bound for all safe collections
        }
        if whole and found.optimal:
            told["least_kl"] = found.best.kl
        elif whole and not deadlines.reason():  # no counting for it after the time is up
            told["least_kl"] = min(search.least_kl, found.best.kl)
        chosen = search.space.marginals(found.best)
        return proposal(search.base, search.attributes, chosen, {**told, "steps": search.steps(chosen)})

    def _recipe(self, search: MarginalSearch) -> Proposal:
        """The table and the best k-link anonymous marginal of the nonsensitive columns."""
        given = search.given
        assert given is not None
        # the k-link anonymous marginals of the nonsensitive columns that no finer one contains
        finest = search.attributes.finest
        plain = tuple(0 if a in search.sensitive else r for a, r in enumerate(finest))
        linked: set[Resolutions] = set()
        for marginal in sorted(product(*(range(r + 1) for r in plain)), key=sum):
            coarser = [(*marginal[:a], r - 1, *marginal[a + 1 :]) for a, r in enumerate(marginal) if r]
            if all(other in linked for other in coarser) and (not coarser or search.admissible(marginal)):
                linked.add(marginal)
        linkable = maximal_sets(linked) or [(0,) * len(plain)]
        best = min(linkable, key=lambda marginal: search.kl([given, marginal]))
        chosen = maximal_sets([given, best])
        told = {
            "kl": search.kl(chosen),
            "domain": self.domain,
            "explored": len(search.columns[0].allowed),
            "optimal": True,
            "stopped": None,
            "least_kl": search.kl(chosen),
            "steps": search.steps(chosen),
        }
        return proposal(search.base, search.attributes, chosen, told)


def proposal(
    base: Base, attributes: Attributes, chosen: Sequence[Resolutions], search: Mapping[str, Any]
) -> Proposal:
    """The proposal for a collection: one view per marginal that no other one contains."""
    tables = of_resolutions(base, attributes, maximal_sets(chosen))
    shown = {
        name: place
        for marginal in tables.published
        for name, place in published_columns(attributes, tables.published, marginal).items()
        if place[0] != attributes.sensitive
    }
    parts = {f"marginal_{n}": part(base, tables, m) for n, m in enumerate(tables.published, start=1)}
    # all marginals in one statement
    engine = tables.base.engine
    columns: dict[str, None] = {}
    rows = []
    for number, (marginal, view) in enumerate(zip(tables.published, parts.values(), strict=True), start=1):
        has = published_columns(tables.attributes, tables.published, marginal)
        columns.update(dict.fromkeys(has))
        rows.append((number, engine.create(view, view=True), list(has)))
    return Proposal(
        grouping=tables,
        view=render("methods/all_marginals.sql", parts=rows, columns=list(columns)),
        choice={"marginals": [attributes.levels(m) for m in tables.published]},
        quasi=tuple(shown),
        levels={name: level for name, (_, level) in shown.items()},
        search=dict(search) or None,
        parts=parts,
    )


def part(base: Base, tables: MarginalTables, marginal: Resolutions) -> Query:
    """The view of one marginal."""
    attributes = tables.attributes
    shown = []
    for name, (a, level) in published_columns(attributes, tables.published, marginal).items():
        alias = attributes.aliases[a]
        levels = base.levels[alias] if level else base.dictionaries[alias]
        codes = base.level_codes[alias] if level else None
        labels = base.engine.create(
            render("methods/marginal_labels.sql", levels=levels, codes=codes, level=level)
        )
        column = Sql("s") if a == attributes.sensitive else Sql(f"{alias}_{level}")
        shown.append((name, column, labels))
    return render("methods/marginals.sql", marginal=tables.relations_of[marginal], shown=shown)
