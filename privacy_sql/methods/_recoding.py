"""Local recoding: search suppressed rows again and again, until none can be saved.

Every round takes the best levels for the remaining rows and publishes the groups that are safe at these
levels. A person is published in one round, so groups of different rounds meet only if their labels are the
same. Each of several sensitive columns is judged with the others as quasi-identifiers, and a row suppressed
for one is suppressed for all: the round of a row follows from its quasi-identifiers and sensitive values
together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from privacy_sql.counted.base import Base, Key
from privacy_sql.counted.grouping import Grouping
from privacy_sql.lattice.search import LatticeSearch
from privacy_sql.lattice.steering import FREE, Steering
from privacy_sql.methods import Asked, suppress
from privacy_sql.query.template import Query, Sql, names, render
from privacy_sql.searches import Found, Limits
from privacy_sql.spaces.lattice import Choice
from privacy_sql.utilities.loss import Loss


@dataclass(frozen=True)
class Round:
    """One round: its levels, what it publishes, and what all rounds so far publish."""

    choice: Choice
    n_rows: int
    loss: float  # of the rows it publishes, added up
    plan: Sql  # q1.. (and s where several columns are sensitive), round


class Recoding:
    """The rounds of a local recoding of one base.

    kifer2006, Sec. 3.1, and martin2007, Sec. 2.1, publish one level per column; here each round has its own
    levels.
    """

    def __init__(
        self,
        base: Base,
        asked: Asked,
        minimise: str,
        allowed: Fraction,
        limits: Limits,
        steering: Steering = FREE,
    ) -> None:
        self.base, self.asked, self.minimise, self.limits = base, asked, minimise, limits
        self.steering = steering
        self.spare = int(allowed * base.rows)  # the most rows that may stay unpublished
        self.quasi = names(base.columns)
        self.placed = [*self.quasi, *([Sql("s")] if base.sides else [])]
        self.rounds: list[Round] = []
        self.stopped: str | None = None

    @property
    def loss(self) -> float:
        """The loss of the whole release: each cell by the label of its round, suppressed rows in full."""
        return (sum(part.loss for part in self.rounds) + self._left()) / self.base.rows

    def values(self) -> dict[str, float]:
        return {"loss": self.loss, "granularity": 1 - self.loss}

    @property
    def n_published(self) -> int:
        return sum(part.n_rows for part in self.rounds)

    def run(self) -> None:
        """Run rounds until nothing is left or can be saved, with no more unpublished rows than allowed."""
        while self.stopped is None and self._left() and self._round(self._left() - 1):
            pass
        while self._left() > self.spare and self.rounds:
            self.rounds.pop()  # its rows are searched again, together with those that could not be saved
            if self._round(self.spare):
                break

    def _left(self) -> int:
        return self.base.rows - self.n_published

    def _round(self, most: int) -> bool:
        """Publish the best choice for the remaining rows, with at most `most` suppressed."""
        # the base without what earlier rounds publish; the domains of its columns stay as they are
        rest = self.base
        if self.rounds:
            relation = self._rest_of(rest)
            rest = rest.left(
                relation,
                sides=tuple(side.left(self._rest_of(side)) for side in rest.sides),
                dictionaries={**rest.dictionaries, **self._labels(relation, generalised=False)},
                levels={**rest.levels, **self._labels(relation, generalised=True)},
            )
        allowed = Fraction(most, rest.rows)
        search = LatticeSearch(
            rest, self.asked.require, self.minimise, allowed, steering=self.steering, only_best=True
        )
        found: Found = search.run("best", self.limits)
        self.stopped = found.stopped
        if found.best is None:
            return False
        grouping = Grouping.by(rest, rest.keys(search.rollup.named(found.best)))
        kept, n_suppressed = suppress(grouping, self.asked, allowed)
        if n_suppressed > most:
            return False
        lost = search.pricing.priced(Loss(), found.best) * rest.rows - n_suppressed
        before = self.rounds[-1].plan if self.rounds else None
        plan = render(
            "methods/published_in.sql",
            candidate=kept.candidate,
            columns=self.placed,
            round=len(self.rounds),
            before=before,
        )
        made = self.base.engine.create(plan)
        self.rounds.append(Round(found.best, rest.rows - n_suppressed, lost, made))
        return True

    def _rest_of(self, base: Base) -> Sql:
        """The remaining counts for one sensitive column."""
        query = render(
            "methods/rest.sql",
            counted=base.relation,
            plan=self._plan(base),
            columns=names(base.columns),
            places=self._places(base),
            sensitive=bool(base.table.sensitives),
        )
        return base.engine.create(query)

    def _plan(self, base: Base) -> Sql:
        """The plan so far, on the engine that has the counts of a base."""
        plan = self.rounds[-1].plan
        if base is self.base:
            return plan
        columns = [*self.placed, Sql("round")]
        held = self.base.engine.arrays(render("counted/listed.sql", relation=plan, columns=columns))
        return base.engine.load({c: ("bigint", held[c].tolist()) for c in columns}, "plan")

    def _places(self, base: Base) -> list[tuple[Sql, Sql]]:
        """The columns of a base that determine the round of a combination, and those of the plan."""
        theirs = _columns(base)
        return [(Sql(theirs[name]), Sql(a)) for name, a in _columns(self.base).items() if a in self.placed]

    def _labels(self, relation: Sql, *, generalised: bool) -> dict[str, Sql]:
        """The labels of the columns with (or without) a hierarchy, counted over the remaining rows."""
        return {
            column: self.base.engine.create(
                render(
                    "methods/rest_labels.sql",
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
        rounds = [{"levels": self._levels(part), "rows": part.n_rows} for part in self.rounds]
        return {"rounds": rounds}

    # -- what is published -----------------------------------------------------------------------------

    def grouping(self) -> Grouping:
        """The groups of equal published labels, over all rounds."""
        first, *others = [self._grouping(base) for base in (self.base, *self.base.sides)]
        return replace(first, beside=tuple(others))

    def _grouping(self, base: Base) -> Grouping:
        labels = self._shown_as if base is self.base else self._labelled(base)
        keyed = render(
            "methods/recoded_base.sql",
            base=base.relation,
            plan=self._plan(base),
            places=self._places(base),
            labels=[
                (Sql(f"k{number}"), Sql(column), relation)
                for number, (column, relation) in enumerate(labels.items(), start=1)
            ],
            columns=base.inside(),
        )
        keys = []
        for column, relation in labels.items():
            meant = base.engine.create(render("methods/recoded_keys.sql", labels=relation))
            (found,) = base.engine.fetch(render("counted/sizes.sql", counted=meant))
            keys.append(Key(column, 0, found["n_combinations"], meant))
        made = Grouping.of(base, keys, keyed)
        return replace(made, located_by="members")

    def view(self) -> Query:
        """The published rows, each with the labels of its round."""
        raw = {name: f"r_{alias}" for name, alias in self.base.aliases.items()} | self.base.others
        labels = {
            name: (Sql(column), self._shown_as[column])
            for column, (name, kind) in self.base.columns.items()
            if kind.height
        }
        shown = [
            (name, *labels.get(name, (Sql(raw[name]), None)))
            for name in self.base.source_columns
            if name in raw
        ]
        return render(
            "methods/local_recoding.sql",
            coded=self.base.coded,
            plan=self.rounds[-1].plan,
            quasi=self.quasi,
            values=self.base.dictionaries["s"] if self.base.sides else None,
            shown=shown,
        )

    @cached_property
    def _shown_as(self) -> dict[str, Sql]:
        return self._labelled(self.base)

    def _labelled(self, base: Base) -> dict[str, Sql]:
        """For each column, the label of every raw value in every round: (code, round, label, id)."""
        made = {}
        for column, (name, kind) in base.columns.items():
            labels = [f"l{self._levels(part)[name]}" if kind.height else "value" for part in self.rounds]
            query = render(
                "methods/recoded_labels.sql",
                levels=base.levels[column] if kind.height else base.dictionaries[column],
                shown=list(enumerate(names(labels))),
            )
            made[column] = base.engine.create(query)
        return made

    def _levels(self, part: Round) -> dict[str, int]:
        return dict(zip(self.base.table.quasi, part.choice, strict=True))


def _columns(base: Base) -> Mapping[str, str]:
    """The internal names of the quasi-identifiers and of the sensitive column."""
    return {**base.aliases, **dict.fromkeys(base.table.sensitives, "s")}
