"""Full-domain generalisation at the best levels that are safe."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from math import prod
from typing import ClassVar

from privacy_sql import deadlines, registry
from privacy_sql.counted.base import Base
from privacy_sql.criteria import one_of
from privacy_sql.display.progress import report
from privacy_sql.errors import UsageError, number_of
from privacy_sql.lattice.result import SearchResult, nothing_safe, result
from privacy_sql.lattice.search import LatticeSearch, lacking, without_values
from privacy_sql.lattice.steering import Steering
from privacy_sql.methods import Asked, Method, Proposal, at_levels, refuse_suppression, seconds_of, share
from privacy_sql.searches import Limits
from privacy_sql.searches.full_domain import Goal
from privacy_sql.table import Table
from privacy_sql.utilities import Utility

log = logging.getLogger("privacy_sql")

BYTES = 350  # the most bytes per combination, including the cached choices
SHOWN = "at the finest level that is safe for its row"


@dataclass(frozen=True)
class FullDomain(Method):
    """Every quasi-identifier at one level: the safe choice that costs least.

    martin2007, Sec. 3.4; kifer2006, Sec. 3.1. At most `max_suppressed` of the rows are left out. A
    requirement that is not safe under merging is judged for every choice, so the lattice may have at most
    `most_choices` choices.

    >>> FullDomain(minimise="discernibility", max_suppressed="0.01").minimise
    'discernibility'
    """

    name: ClassVar[str] = "full_domain"
    several_sensitive: ClassVar[bool] = True
    shows_labels: ClassVar[bool] = True
    leaves_out: ClassVar[bool] = True
    searches: ClassVar[bool] = True
    chooses_levels: ClassVar[bool] = True

    minimise: str = "loss"
    max_suppressed: str | int | float = 0
    time_limit: int | float | str | None = None  # seconds
    most_choices: int = 10_000
    local_recoding: bool = False  # search suppressed rows again, at coarser levels
    suppress: str = "rows"  # or "cells": every column shows its lowest level or nothing, row by row
    # {column: {"min_level": 1, "max_level": 3}}: no other level is published
    bounds: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    importance: Mapping[str, str | float] = field(default_factory=dict)  # the weight of each column's loss

    def __post_init__(self) -> None:
        share(self.max_suppressed, "max_suppressed")
        one_of(self.suppress, ("rows", "cells"), "full_domain", "suppress")
        utility: Utility = registry.get("utilities", self.minimise)()
        if self.steering.importance and utility.by_label is None:
            names = registry.available("utilities")
            sums = [name for name in names if registry.get("utilities", name)().by_label is not None]
            raise UsageError(
                "no_weighted_utility",
                f"{self.minimise} is not a sum over columns, so importance has no effect on it",
                hint=f"Minimise one of {', '.join(sums)}, or remove importance.",
            )
        seconds_of(self.time_limit)

    @property
    def seconds(self) -> float | None:
        return seconds_of(self.time_limit)

    @property
    def steering(self) -> Steering:
        """The bounds and weights of columns."""
        return Steering(self.bounds, self.importance, self.suppress == "cells")

    def steered(self, steering: Steering) -> FullDomain:
        """The same within bounds; the method's own settings for a column apply as well."""
        return replace(
            self,
            bounds={**self.bounds, **steering.bounds},
            importance={**self.importance, **steering.importance},
        )

    @property
    def recodes(self) -> bool:
        return self.local_recoding or self.suppress == "cells"

    def at_one_level(self) -> FullDomain:
        return replace(self, local_recoding=False, suppress="rows")

    def refuse_search(self, table: Table, asked: Asked) -> None:
        self.refuse_unfit(table, asked)

    def propose(self, base: Base, asked: Asked) -> Proposal:
        if self.recodes:
            recoded = self._recoded(base, asked)
            if recoded is not None:
                return recoded
        # only a search needs the costs of minimal choices and the frontier; a release needs the best choice
        found = self._found(base, asked, "best", only_best=True)
        assert found.best is not None
        proposal = at_levels(base, dict(found.best["levels"]), asked, self.allowed)
        return replace(proposal, search=found.summary(), lattice=found.lattice)

    def _recoded(self, base: Base, asked: Asked) -> Proposal | None:
        """A local recoding; None if its rounds are safe one by one but not together."""
        from privacy_sql.methods._recoding import Recoding

        self.refuse_unfit(base.table, asked)
        recoding = Recoding(base, asked, self.minimise, self.allowed, self._limits(), self.steering)
        recoding.run()
        deadlines.finished()
        if recoding.stopped == "interrupted":
            raise KeyboardInterrupt
        if not recoding.rounds:
            return None
        grouping = recoding.grouping()
        if not asked.judge(grouping):
            return None
        return Proposal(
            grouping=grouping,
            view=recoding.view(),
            choice=recoding.described(),
            quasi=tuple(base.table.quasi),
            shown_as=dict.fromkeys(base.table.quasi, SHOWN),
            suppressed=base.rows - recoding.n_published,
            search={
                "minimise": self.minimise,
                "stopped": recoding.stopped,
                "values": recoding.values(),
                **self.steering.to_json(),
            },
        )

    @property
    def allowed(self) -> Fraction:
        return share(self.max_suppressed, "max_suppressed")

    def search(self, base: Base, asked: Asked, goal: Goal = "all") -> SearchResult:
        """The safe choices of a table; if there are none, an error says why."""
        return self._found(base, asked, goal)

    def _found(self, base: Base, asked: Asked, goal: Goal, *, only_best: bool = False) -> SearchResult:
        self.refuse_unfit(base.table, asked)
        if without_values(registry.get("utilities", self.minimise)(), base):
            needs = f"{self.minimise} needs somebody with a sensitive value"
            raise UsageError("no_value", needs, where=base.table.name, hint="Minimise loss, for example.")
        notes = [note for criterion in asked.require if (note := criterion.beforehand(base))]
        for note in notes:
            log.warning(note)
        search = LatticeSearch(
            base, asked.require, self.minimise, self.allowed, steering=self.steering, only_best=only_best
        )
        if self.size(base.table) > self.most_choices:
            memory = f"in up to {-(-base.combinations * BYTES // 10**6):,} MB of memory"
            where = memory if search.in_memory else "in SQL, because there are too many for memory"
            log.warning(
                "%s: choices are counted from %s combinations of values, %s",
                *(base.table.name, f"{base.combinations:,}", where),
            )
        limits = self._limits()
        found = search.run(goal, limits)
        if found.stopped == "interrupted":
            raise KeyboardInterrupt
        if found.best is None:
            raise nothing_safe(search, found, limits)
        try:
            told = result(search, found, briefly=bool(found.stopped), only_best=only_best)
        except KeyboardInterrupt:
            if not deadlines.rang():
                raise
            told = result(search, found, briefly=True, only_best=only_best)
        deadlines.finished()
        return replace(told, notes=tuple(notes))

    def size(self, table: Table) -> int:
        """How many choices of levels there are."""
        return prod(map(len, self.steering.levels(table)))

    def tell_size(self, table: Table) -> None:
        """Log the size of a search before anything is counted."""
        if (size := self.size(table)) > self.most_choices:
            limit = "without a time limit" if self.time_limit is None else f"{self.time_limit} s at most"
            log.warning(
                "%s: %s have %s choices of levels, %s",
                *(table.name, number_of(len(table.quasi), "quasi-identifier"), f"{size:,}", limit),
            )

    def refuse_unfit(self, table: Table, asked: Asked) -> None:
        """Refuse what cannot be searched, before anything is counted."""
        if not table.quasi or table.group:
            raise UsageError(
                "nothing_to_generalise",
                "full_domain needs quasi-identifiers, and makes the groups itself",
                where=table.name,
                hint="Name quasi-identifiers and remove the group column.",
            )
        size = self.size(table)
        several = len(table.sensitives) > 1 and not table.joint
        if several and (self.allowed or self.recodes):
            refuse_suppression(table, asked)
        if missing := lacking(registry.get("utilities", self.minimise)(), table, asked.require):
            raise UsageError(
                "no_value",
                f"{self.minimise} needs {missing}",
                where=table.name,
                hint="Minimise loss, for example.",
            )
        if self.recodes:
            if table.values_per_person != "one":
                told = "local_recoding publishes people row by row, but people have several values each"
                raise UsageError("several_values", told, where=table.name)
            of_population = [str(criterion) for criterion in asked.require if criterion.needs_population]
            if of_population:
                told = f"{', '.join(of_population)} compares people at one level, local_recoding has several"
                hint = "Use max_suppressed without local_recoding."
                raise UsageError("no_population_groups", told, where=table.name, hint=hint)
        if size > self.most_choices and asked.not_safe_under_merging:
            names = ", ".join(asked.not_safe_under_merging)
            raise UsageError(
                "too_many_choices",
                f"{names} is not safe under merging, so all {size} choices would have to be measured",
                where=table.name,
                hint=f"Use fewer levels, raise most_choices ({self.most_choices}), or use multidimensional.",
            )

    def _limits(self) -> Limits:
        """The time limit of the whole task, or of the search alone if there is none."""
        end = float("inf") if self.seconds is None else time.monotonic() + self.seconds
        return Limits(
            stop=lambda: deadlines.reason() or ("time limit" if time.monotonic() > end else None),
            progress=partial(report, "search"),
            interrupt=lambda: "time limit" if deadlines.rang() else "interrupted",
        )
