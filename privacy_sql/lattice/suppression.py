"""Suppression for several sensitive columns: a row that fails for one column is suppressed for all.

martin2007, Sec. 2.1. Each column is judged with the others as quasi-identifiers, so the groups of one cut
across those of another. A *cell* is removed: published labels with all sensitive values. If every group that
contains a safe group is safe, a union of safe remainders is safe and the order does not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from privacy_sql.counted.grouping import Grouping
from privacy_sql.lattice.rollup import Rolled
from privacy_sql.query.template import Sql, render

Cells = Mapping[str, list[int]]
"""Combinations of codes, by the user's column: labels of quasi-identifiers, and sensitive values."""
Failing = Callable[[Grouping], Collection[int]]


@dataclass(frozen=True)
class Thinned:
    """What stays of one choice, per sensitive column, and the removed cells."""

    groupings: tuple[Rolled, ...]
    cells: Cells
    n_suppressed: int


def thinned(groupings: Sequence[Rolled], failing: Failing, most: Fraction) -> Thinned | None:
    """The groups of all columns without the cells of failing groups, until none fails.

    None if more than `most` rows would be suppressed. The groupings are of one choice, counted with their
    values.
    """
    left, total, quiet, turn = list(groupings), groupings[0].n_rows, 0, 0
    gone: dict[str, list[int]] = {name: [] for name in _places(left[0])}
    while quiet < len(left):
        groups = failing(left[turn])
        quiet = 0 if groups else quiet + 1
        if groups:
            engine, places = left[turn].base.engine, _places(left[turn])
            failed = engine.load({"g": ("bigint", sorted(groups))}, "gone")
            columns = [(place, Sql(f"c{n}")) for n, place in enumerate(places.values())]
            query = render("lattice/cells.sql", counted=left[turn].candidate, gone=failed, columns=columns)
            cells = engine.arrays(query)
            found = {
                name: np.asarray(cells[alias]).tolist()
                for name, (_, alias) in zip(places, columns, strict=True)
            }
            gone = {name: [*codes, *found[name]] for name, codes in gone.items()}
            left = [_without(grouping, found) for grouping in left]
            if total - left[0].n_rows > most or not left[0].n_rows:
                return None
        turn = (turn + 1) % len(left)
    return Thinned(tuple(left), gone, total - left[0].n_rows)


def published(groupings: Sequence[Grouping], cells: Cells) -> Grouping:
    """The groups to publish without some cells, and the same for the other sensitive columns."""
    first, *others = [_left(grouping, cells) for grouping in groupings]
    return replace(first, beside=tuple(others))


def _places(grouping: Grouping) -> dict[str, Sql]:
    """Where the candidate has each column."""
    base = grouping.base
    keys = {base.columns[key.column][0]: Sql(f"k{n}") for n, key in enumerate(grouping.keys, start=1)}
    return {**keys, base.table.sensitives[0]: Sql("s")}


def _loaded(grouping: Grouping, cells: Cells) -> tuple[Sql, list[tuple[Sql, Sql]]]:
    """Cells as a relation next to a grouping, and the pairs of columns to compare."""
    aliases = {name: Sql(f"c{n}") for n, name in enumerate(cells)}
    columns: dict[str, Any] = {aliases[name]: ("bigint", codes) for name, codes in cells.items()}
    places = _places(grouping)
    return grouping.base.engine.load(columns, "cells"), [(places[name], aliases[name]) for name in cells]


def _without(grouping: Rolled, cells: Cells) -> Rolled:
    removed, pairs = _loaded(grouping, cells)
    columns = [Sql("g"), *_places(grouping).values(), Sql("n_rows")]
    query = render(
        "lattice/without_cells.sql",
        counted=grouping.candidate,
        removed=removed,
        pairs=pairs,
        columns=columns,
    )
    return grouping.holding(grouping.base.engine.create(query))


def _left(grouping: Grouping, cells: Cells) -> Grouping:
    """A grouping of the base, and its source rows, without some cells."""
    engine, base = grouping.base.engine, grouping.base
    removed, pairs = _loaded(grouping, cells)
    keys = [Sql(f"k{n}") for n, _ in enumerate(grouping.keys, start=1)]
    columns = [Sql("g"), *keys, *base.inside(), Sql("n_rows")]
    context = {"counted": grouping.candidate, "removed": removed, "pairs": pairs}
    candidate = engine.create(render("lattice/without_cells.sql", columns=columns, **context))
    histogram = engine.create(
        render("counted/histogram.sql", candidate=candidate, sensitive=True, counted=False), view=True
    )
    groups = engine.create(render("counted/groups.sql", histogram=candidate))
    gone = engine.create(render("lattice/groups_of_cells.sql", **context))
    rows = render(
        "lattice/rows_left.sql",
        rows=grouping.rows,
        values=base.dictionaries["s"],
        removed=gone,
        columns=grouping.row_columns,
    )
    made = replace(grouping, candidate=candidate, members=candidate, histogram=histogram, groups=groups)
    return made.over(lambda: engine.create(rows, view=True))
