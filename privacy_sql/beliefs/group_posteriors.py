"""Beliefs after a release, for all groups at once, in SQL: Li, Li and Zhang 2009, Sec. III."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privacy_sql.beliefs import beliefs, studied_table
from privacy_sql.display.progress import report
from privacy_sql.engines import Engine
from privacy_sql.kernels.beliefs.move import EXACT, IMPOSSIBLE, UNDECIDED
from privacy_sql.kernels.beliefs.posterior import count_states
from privacy_sql.query.template import Query, Sql, render

Array = NDArray[Any]

SWEEPS = 20
"""The number of Sinkhorn sweeps for all groups."""

TOGETHER = 5
"""The sweeps in one statement; with each nested window, engines take twice the time to plan."""

SQL_STATES = 20_000
"""The most count vectors of a group for an exact posterior in SQL."""

MOST_PEOPLE = 200
"""The most people in a group for an exact posterior in SQL; each costs a statement over all groups."""


def estimated(
    study: studied_table.Studied, groups: beliefs.PublishedGroups, before: Array, sweeps: int = SWEEPS
) -> dict[str, Array]:
    """Ω and Sinkhorn of every kind in every group, all groups at once; nan if neither is defined."""
    engine = study.base.engine
    told = _loaded(engine, groups, before, np.ones(len(groups.counts), dtype=bool))
    swept = None
    while sweeps > TOGETHER:
        last: Sql | None = swept
        swept = engine.create(_sweeps(told, last, TOGETHER))
        sweeps -= TOGETHER
        if last:
            engine.drop(last)
    found = engine.arrays(_sweeps(told, swept, sweeps))
    return {name: _placed(groups, found, found[name]) for name in ("omega", "sinkhorn")}


def _sweeps(told: dict[str, Sql], swept: Sql | None, sweeps: int) -> Query:
    return render("beliefs/posterior.sql", **told, swept=swept, sweeps=sweeps)


def exact(
    study: studied_table.Studied, groups: beliefs.PublishedGroups, before: Array, cap: int = SQL_STATES
) -> tuple[Array, tuple[str, ...]]:
    """The exact posterior of every kind in every group (nan: none), and how it was computed.

    Each person of the largest group is a layer: one statement over all groups that computes, from both ends,
    how likely each vector of values is for the first people and for the last. Groups above the cap are
    undecided.
    """
    size = groups.counts.sum(axis=1)
    fits = np.array([count_states(n) <= cap for n in groups.counts], dtype=bool) & (size <= MOST_PEOPLE)
    after = np.full((len(groups.group), groups.counts.shape[1]), np.nan)
    if fits.any():
        engine = study.base.engine
        told = _loaded(engine, groups, before, fits)
        total = np.array([count_states(n) - 1 for n in groups.counts[fits]])
        of_groups = load(engine, "groups", g=np.flatnonzero(fits), k=size[fits], total=total)
        numbers = load(engine, "numbers", i=np.arange(groups.people.max()))
        choices = engine.create(render("beliefs/choices.sql", **told, numbers=numbers))
        layers: list[Sql] = []
        n_layers = int(size[fits].max())
        for layer in range(1, n_layers):
            report("computing exact beliefs, group by group", layer, n_layers)
            state = layers[-1] if layers else None
            layers.append(
                engine.create(render("beliefs/layer.sql", choices=choices, state=state, layer=layer))
            )
        found = engine.arrays(render("beliefs/exact.sql", choices=choices, layers=layers, groups=of_groups))
        for relation in (choices, *layers):
            engine.drop(relation)
        after = _placed(groups, found, found["p"])
    off = np.zeros(groups.counts.shape)
    np.add.at(off, groups.group, after * groups.people[:, None])
    # nan if nothing was found; columns must sum to the counts that the group publishes
    possible = (np.abs(off - groups.counts) < 1e-6 * size[:, None]).all(axis=1)
    after[~possible[groups.group]] = np.nan
    known = np.where(fits, np.where(possible, EXACT, IMPOSSIBLE), UNDECIDED)
    return after, tuple(known.tolist())


def _loaded(engine: Engine, groups: beliefs.PublishedGroups, before: Array, some: Array) -> dict[str, Sql]:
    """People, histograms and priors of some groups in the engine."""
    here = some[groups.group]
    g, s = np.nonzero(groups.counts * some[:, None])
    c, value = np.nonzero(before > 0)
    people = {"g": groups.group[here], "c": groups.kind[here], "n_people": groups.people[here]}
    n_rows = groups.counts[g, s]
    # the factors of values in the number of a count vector, group by group; 0 if too large
    strides, total, last = [], 1, -1
    for group, n in zip(g.tolist(), n_rows.tolist(), strict=True):
        total = 1 if group != last else total
        strides.append(total if total < 2**62 else 0)
        total, last = total * (n + 1), group
    stride = np.array(strides, dtype=np.int64)
    return {
        "people": load(engine, "people", **people),
        "histogram": load(engine, "histogram", g=g, s=s, n_rows=n_rows, stride=stride),
        "prior": load(engine, "prior", c=c, s=value, p=before[c, value]),
    }


def _placed(groups: beliefs.PublishedGroups, found: dict[str, Array], values: Array) -> Array:
    """Beliefs with one row per (group, kind); nan if none was found."""
    place = {pair: i for i, pair in enumerate(zip(groups.group.tolist(), groups.kind.tolist(), strict=True))}
    at = [place[pair] for pair in zip(found["g"].tolist(), found["c"].tolist(), strict=True)]
    made = np.full((len(groups.group), groups.counts.shape[1]), np.nan)
    made[at] = 0.0
    made[at, found["s"].astype(int)] = values
    return made


def load(engine: Engine, origin: str, **columns: Array) -> Sql:
    """Load arrays as a small relation."""
    typed = {
        name: ("double" if column.dtype == float else "bigint", column.tolist())
        for name, column in columns.items()
    }
    return engine.load(typed, origin)
