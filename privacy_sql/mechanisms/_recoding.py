"""Local recoding: what a full-domain search suppressed is searched again, until nothing can be saved.

Every round takes the best levels for the rows that are left and publishes the groups that are safe there. A
person is published in one round, so groups of different rounds only meet where their labels read alike.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from privacy_sql.base import Base
from privacy_sql.grouping import Grouping, Key
from privacy_sql.hierarchies import Hierarchy
from privacy_sql.lattice_search import LatticeSearch
from privacy_sql.mechanisms import Asked, suppress
from privacy_sql.query import Query, Sql, names, render
from privacy_sql.searches import Found, Limits
from privacy_sql.spaces.lattice import Choice
from privacy_sql.utilities.loss import Loss


@dataclass(frozen=True)
class Round:
    """One round: its levels, what it publishes, and what all rounds up to it publish."""

    choice: Choice
    n_rows: int
    loss: float  # of the rows it publishes, added up
    plan: Sql  # q1.., round


class Recoding:
    """The rounds of a local recoding of one base.

    kifer2006, Sec. 3.1, and martin2007, Sec. 2.1, publish one level per column; here each round has its own.
    """

    def __init__(self, base: Base, asked: Asked, minimise: str, allowed: Fraction, limits: Limits) -> None:
        self.base, self.asked, self.minimise, self.limits = base, asked, minimise, limits
        self.spare = int(allowed * base.rows)  # rows that may stay unpublished
        self.quasi = names(base.columns)
        self.rounds: list[Round] = []
        self.stopped: str | None = None

    @property
    def loss(self) -> float:
        """The loss of the whole release: every cell by the label of its round, suppressed rows in full."""
        return (sum(part.loss for part in self.rounds) + self._left()) / self.base.rows

    def values(self) -> dict[str, float]:
        return {"loss": self.loss, "granularity": 1 - self.loss}

    @property
    def n_published(self) -> int:
        return sum(part.n_rows for part in self.rounds)

    def run(self) -> None:
        """Rounds until nothing is left or can be saved; then no more rows unpublished than may be."""
        while self.stopped is None and self._left() and self._round(self._left() - 1):
            pass
        while self._left() > self.spare and self.rounds:
            self.rounds.pop()  # its rows are searched again together with those nobody could save
            if self._round(self.spare):
                break

    def _left(self) -> int:
        return self.base.rows - self.n_published

    def _round(self, most: int) -> bool:
        """Publish the best choice for what is left, at most `most` rows of it suppressed."""
        rest = self._rest()
        allowed = Fraction(most, rest.rows)
        search = LatticeSearch(rest, self.asked.require, self.minimise, allowed)
        found: Found = search.run("best", self.limits)
        self.stopped = found.stopped
        if found.best is None:
            return False
        grouping = rest.grouped(rest.keys(search.rollup.named(found.best)))
        kept, n_suppressed = suppress(grouping, self.asked, allowed)
        if n_suppressed > most:
            return False
        lost = search.pricing.priced(Loss(), found.best) * rest.rows - n_suppressed
        before = self.rounds[-1].plan if self.rounds else None
        plan = render(
            "searches/published_in.sql",
            candidate=kept.candidate,
            columns=self.quasi,
            round=len(self.rounds),
            before=before,
        )
        made = self.base.engine.create(plan)
        self.rounds.append(Round(found.best, rest.rows - n_suppressed, lost, made))
        return True

    def _rest(self) -> Base:
        """The base without what earlier rounds publish; the domains of its columns stay as they are."""
        if not self.rounds:
            return self.base
        plan, engine = self.rounds[-1].plan, self.base.engine
        relation = engine.create(
            render(
                "searches/rest.sql",
                counted=self.base.relation,
                plan=plan,
                columns=self.quasi,
                sensitive=bool(self.base.table.sensitives),
            )
        )
        (found,) = engine.fetch(render("sizes.sql", counted=relation))
        rest = copy(self.base)
        for name, value in {
            "relation": relation,
            "rows": found["n_rows"],
            "combinations": found["n_combinations"],
            "dictionaries": {**self.base.dictionaries, **self._labels(relation, generalised=False)},
        }.items():
            object.__setattr__(rest, name, value)
        rest.__dict__["levels"] = {**self.base.levels, **self._labels(relation, generalised=True)}
        rest.__dict__["level_codes"] = self.base.level_codes
        rest.__dict__.pop("once", None)
        return rest

    def _labels(self, relation: Sql, *, generalised: bool) -> dict[str, Sql]:
        """The labels of the columns with (or without) a hierarchy, counted over what is left."""
        return {
            column: self.base.engine.create(
                render(
                    "searches/rest_labels.sql",
                    levels=self.base.levels[column] if generalised else self.base.dictionaries[column],
                    counted=relation,
                    column=Sql(column),
                    labels=names(
                        [f"l{level}" for level in range(kind.height + 1)] if generalised else ["value"]
                    ),
                )
            )
            for column, (_, kind) in self.base.columns.items()
            if bool(kind.height) == generalised
        }

    def described(self) -> dict[str, object]:
        """The rounds as plain data, for the manifest."""
        rounds = [
            {"levels": dict(zip(self.base.table.quasi, part.choice, strict=True)), "rows": part.n_rows}
            for part in self.rounds
        ]
        return {"rounds": rounds}

    @staticmethod
    def _label_columns(kind: Hierarchy) -> list[Sql]:
        return names(f"l{level}" for level in range(kind.height + 1))

    # -- what is published -----------------------------------------------------------------------------

    def grouping(self) -> Grouping:
        """The groups of equal published labels, whichever round they come from."""
        labels = self._shown_as
        keyed = render(
            "mechanisms/recoded_base.sql",
            base=self.base.relation,
            plan=self.rounds[-1].plan,
            quasi=self.quasi,
            labels=[
                (Sql(f"k{number}"), Sql(column), relation)
                for number, (column, relation) in enumerate(labels.items(), start=1)
            ],
            columns=self.base.inside(),
        )
        return Grouping.of(self.base, [self._key(c, relation) for c, relation in labels.items()], keyed)

    def view(self) -> Query:
        """The rows that leave, every one under the labels of its round."""
        labels = self._shown_as
        shown = [
            (name, Sql(self.base.aliases[name]), labels[self.base.aliases[name]])
            if name in self.base.aliases
            else (name, Sql(self.base.others[name]), None)
            for name in self.base.source_columns
            if name in self.base.aliases or name in self.base.others
        ]
        return render(
            "mechanisms/local_recoding.sql",
            coded=self.base.coded,
            plan=self.rounds[-1].plan,
            quasi=self.quasi,
            shown=shown,
        )

    @cached_property
    def _shown_as(self) -> dict[str, Sql]:
        """Per column what every raw value is shown as in every round: (code, round, label, id)."""
        made = {}
        for position, (column, (_, kind)) in enumerate(self.base.columns.items()):
            raw = "l0" if kind.height else "value"
            labels = [f"l{part.choice[position]}" if kind.height else raw for part in self.rounds]
            query = render(
                "mechanisms/recoded_labels.sql",
                levels=self.base.levels[column] if kind.height else self.base.dictionaries[column],
                shown=list(enumerate(names(labels))),
            )
            made[column] = self.base.engine.create(query)
        return made

    def _key(self, column: str, labels: Sql) -> Key:
        meant = self.base.engine.create(render("mechanisms/recoded_keys.sql", labels=labels))
        (found,) = self.base.engine.fetch(render("sizes.sql", counted=meant))
        return Key(column, 0, found["n_combinations"], meant)
