"""What a release costs its readers, by every utility and by typical queries (kifer2006, li2009)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from privacy_sql import registry
from privacy_sql.counted.base import Base
from privacy_sql.counted.grouping import Grouping
from privacy_sql.lattice.costs import Costs, GroupsInSql, Shown
from privacy_sql.lattice.in_memory import GroupMask, GroupsInMemory, InMemory, fits
from privacy_sql.lattice.search import without_values
from privacy_sql.lattice.steering import Steering
from privacy_sql.query.template import names, render
from privacy_sql.release import Release
from privacy_sql.utilities import Answered, Query
from privacy_sql.utilities._counting_queries import Answers
from privacy_sql.utilities.loss import Loss
from privacy_sql.utilities.query_error import QueryError, some
from privacy_sql.verdict import finite

UTILITIES = ("kl", "loss", "discernibility", "average_group_size")


class Typical(QueryError):
    """Counts of one sensitive value among people with a random third of the values of some columns."""

    per_kind = 25
    share = 1 / 3

    def __init__(self, kinds: Sequence[Sequence[int]]) -> None:
        self.kinds = kinds

    def queries(self, domains: Sequence[int]) -> list[Query]:
        """The queries, grouped by kind.

        >>> queries = Typical([[], [0]]).queries([9, 4, 2])
        >>> len(queries), sorted(queries[0]), sorted(queries[-1]), len(queries[-1][0]), len(queries[-1][2])
        (50, [2], [0, 2], 3, 1)
        """
        generator = np.random.default_rng(self.seed)
        last = len(domains) - 1
        return [
            {column: some(domains[column], self.share, generator) for column in columns}
            | {last: some(domains[last], 0, generator)}
            for columns in self.kinds
            for _ in range(self.per_kind)
        ]


@dataclass(frozen=True)
class UsefulnessFound:
    """Utilities by name, and for each kind of query (the columns it uses) the mean relative error.

    `kept`: the share of detail each column keeps; `loss` is 1 minus their mean.
    """

    utilities: dict[str, float | None]
    errors: list[tuple[list[str], float]]
    kept: dict[str, float] = field(default_factory=dict)


def usefulness(release: Release) -> UsefulnessFound:
    """What a release with one level per column costs, or how well one with permuted values answers.

    >>> import pandas as pd, privacy_sql as ps
    >>> rows = pd.DataFrame({"age": ["1", "2", "3", "4"], "ill": ["a", "b", "a", "a"]})
    >>> table = ps.Table(rows, {"age": ps.Intervals(2)}, "ill")
    >>> with ps.connect() as engine:
    ...     release = ps.publish(engine, table, [ps.KAnonymity(4)], ps.Generalise({"age": 2}))
    ...     usefulness(release).errors[0]
    ([], 0.0)
    """
    base = release.base
    if release.group:
        return UsefulnessFound({}, list(_errors(base, lambda utility: _permuted(release.groups, utility))))
    shown = shown_of(release)
    costs = Costs(base, weights=Steering(importance=importance(release)).weights(list(base.table.quasi)))
    reads = [registry.get("utilities", name)() for name in UTILITIES]
    able = [
        u for u in reads if (base.table.sensitives or not u.needs_sensitive) and not without_values(u, base)
    ]
    utilities = {u.name: finite(u.shown(costs.cost(u, shown))) for u in able}
    errors = (
        _errors(base, lambda utility: costs.answers(utility, shown))
        if base.table.sensitives and base.rows
        else ()
    )
    by_column = zip(base.table.quasi, costs.published_labels(shown), strict=True)
    kept = {name: 1 - Loss().part(*labels, costs.n_people) for name, labels in by_column}
    return UsefulnessFound(utilities, list(errors), kept)


def importance(release: Release) -> Mapping[str, Any]:
    """How much each column counts in a loss, as where its choice was searched; others count 1."""
    searched: Mapping[str, Any] = (release.search or {}).get("importance", {})
    return release.importance or searched


def _permuted(grouping: Grouping, utility: QueryError) -> Answered:
    """The answers when values are permuted: a reader gives every person a share of each value."""
    aliases = names(f"k{number}" for number, _ in enumerate(grouping.base.columns, start=1))
    query = render(
        "studies/permuted.sql",
        candidate=grouping.candidate,
        histogram=grouping.histogram,
        groups=grouping.groups,
        columns=list(zip(names(grouping.base.columns), aliases, strict=True)),
    )
    answers = Answers(grouping.base, utility)
    bottom = (0,) * len(grouping.base.columns)
    return answers.actual, answers.estimated(grouping.base.engine.create(query), bottom)


def shown_of(release: Release) -> Shown:
    """The choice of a release with one level per column and its suppressed groups, in memory if they fit."""
    grouping = release.groups
    base = grouping.base
    choice = tuple(release.levels.get(name, 0) for name in base.table.quasi)
    if fits(base, ()):
        counts = InMemory(base, with_sensitive=bool(base.table.sensitives))
        every = counts.groups(choice)
        if grouping.gone is None:
            return Shown(choice, GroupsInMemory(counts, every))
        left = GroupsInSql(grouping)
        kept = counts.packing.packed([left.labels(position) for position, _ in enumerate(choice)])
        return Shown(choice, GroupsInMemory(counts, every), GroupMask(~np.isin(every.key, kept)))
    whole = Grouping.by(base, base.keys(release.levels))
    gone: frozenset[int] = frozenset()
    if grouping.gone is not None:
        rows = base.engine.fetch(render("counted/listed.sql", relation=grouping.gone, columns=names(["g"])))
        gone = frozenset(row["g"] for row in rows)
    return Shown(choice, GroupsInSql(whole), gone)


def _errors(base: Base, answered: Callable[[QueryError], Answered]) -> Iterator[tuple[list[str], float]]:
    """The sensitive value alone, then each column on its own, then all pairs of neighbouring columns."""
    quasi = list(base.table.quasi)
    alone: list[list[int]] = [[column] for column in range(len(quasi))]
    pairs = [[column, column + 1] for column in range(len(quasi) - 1)]
    utility = Typical([[], *alone, *pairs])
    true, estimated = answered(utility)
    for kind, columns in enumerate(utility.kinds):
        numbers = range(kind * utility.per_kind, (kind + 1) * utility.per_kind)
        actual = {number: true[number] for number in numbers if number in true}
        yield [quasi[column] for column in columns], utility.value(actual, estimated)
