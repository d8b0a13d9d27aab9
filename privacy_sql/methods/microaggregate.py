"""Microaggregation: groups of near rows, published as the centre of each group."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from privacy_sql import deadlines
from privacy_sql.counted.base import Base, Key
from privacy_sql.counted.grouping import Grouping
from privacy_sql.errors import DataError, NotSafe, UsageError
from privacy_sql.kernels.microaggregation import SIZES, Allocation
from privacy_sql.methods import Asked, Method, Proposal, refuse_known, refuse_population, seconds_of
from privacy_sql.query.template import Query, Sql, names, render
from privacy_sql.table import Table

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
# the work grows with the square of the combinations; this many take about a minute and a half
MOST_COMBINATIONS = 100_000


@dataclass(frozen=True)
class Microaggregate(Method):
    """Groups of `k` rows by MDAV; numbers are published as the mean of the group, other values as the median.

    ganta2008, Sec. 3.1 (Domingo-Ferrer and Mateo-Sanz's MDAV). Numbers are divided by their range; other
    values are ranks in the order of their hierarchy, divided by the number of ranks. `size` is fixed or
    variable (up to 2k - 1 rows, following gaps; `gain` says how readily a group grows). Rows with the same
    quasi-identifiers may be in several groups, chosen at random, unless `together`; groups with the same
    centre count as one, as a reader sees them. Insensitive columns that count as known are published
    unchanged, so each of their values has its own groups. The engine counts combinations; this method reads
    their codes and never a value. If `time_limit` passes before every row has a group, nothing is published.

    >>> Microaggregate(k=5).size
    'fixed'
    """

    name: ClassVar[str] = "microaggregate"
    refuses_because: ClassVar[str] = "a mean has no label that people of the population could be matched with"
    shows_centres: ClassVar[bool] = True

    k: int
    size: str = "fixed"
    together: bool = False
    gain: str | float = "0.2"
    seed: int | None = None
    time_limit: int | float | str | None = None  # seconds

    def __post_init__(self) -> None:
        seconds_of(self.time_limit)
        if self.k < 1:
            raise UsageError("bad_parameter", "k of microaggregate must be 1 or more")
        if self.size not in SIZES:
            raise UsageError("bad_parameter", f"size of microaggregate must be one of {', '.join(SIZES)}")

    @property
    def seconds(self) -> float | None:
        return seconds_of(self.time_limit)

    def refuse_unfit(self, table: Table, asked: Asked) -> None:
        """Refuse requirements on a population, before anything is counted, because means are not labels."""
        refuse_population(self.name, asked)
        refuse_known(self.name, table, asked)

    def propose(self, base: Base, asked: Asked) -> Proposal:
        return self._proposed(base, told_apart=True)

    def as_dealt(self, base: Base) -> Proposal:
        """Groups with the same centre kept separate, as the paper counts them; no reader can do this."""
        return self._proposed(base, told_apart=False)

    def _proposed(self, base: Base, *, told_apart: bool) -> Proposal:
        if base.table.values_per_person != "one":
            hint = "Publish by generalise or full_domain."
            raise UsageError(
                "several_values", "microaggregate needs one row per person", where=base.table.name, hint=hint
            )
        if not set(base.table.quasi) - set(base.table.also_known):
            raise UsageError("no_quasi", "microaggregate needs a quasi-identifier")
        if base.rows < self.k:
            raise DataError("too_few_rows", f"{base.table.name} has {base.rows} rows, fewer than k={self.k}")
        if base.combinations > MOST_COMBINATIONS:
            hint = "Use multidimensional, or coarser columns."
            raise UsageError(
                "too_large", f"{base.combinations} combinations are too many to compare", hint=hint
            )
        counted = _Combinations(base)
        allocation = self._allocate(counted)
        deadlines.finished()
        centres = _centres(counted, allocation)
        if told_apart:  # a reader cannot tell rows of groups with the same centre apart: these are joined
            centres, joined = np.unique(centres, axis=0, return_inverse=True)
            allocation = allocation._replace(group=joined.ravel()[allocation.group])
        generator = np.random.default_rng(secrets.randbits(256) if self.seed is None else self.seed)
        # rows of one combination are assigned to its groups at random, so that no order distinguishes them
        line = np.repeat(np.arange(len(counted.lines)), counted.line_rows)
        dealt = line[np.lexsort((generator.random(len(line)), counted.point[line]))]
        order = np.argsort(allocation.point, kind="stable")
        group = np.repeat(allocation.group[order], allocation.rows[order])
        width = int(allocation.group.max()) + 1
        pairs, rows = np.unique(dealt * width + group, return_counts=True)
        grouping = _grouping(counted, _Shares(pairs // width, pairs % width, rows.astype(np.int64)))
        return Proposal(
            grouping=grouping,
            view=_view(counted, grouping, centres),
            choice={"k": self.k, "size": self.size, "together": self.together},
            quasi=tuple(base.table.quasi),
            shown_as={
                name: "centre of its group" for name in base.table.quasi if name not in base.table.also_known
            },
            rehearsal=self.seed is not None,
        )

    def _allocate(self, counted: _Combinations) -> Allocation:
        """Groups within each combination of the unchanged columns."""
        parts: list[Allocation] = []
        groups = 0
        for here in counted.apart:
            if counted.n_rows[here].sum() < self.k:
                raise NotSafe(
                    "too_few_rows",
                    f"fewer than {self.k} people share a value of {', '.join(counted.base.table.also_known)}",
                    where=counted.base.table.name,
                    hint="Name the column under quasi_identifiers instead, or drop it.",
                )
            gain = {"gain": float(self.gain)} if self.size == "variable" else {}
            points, rows = counted.scaled[here], counted.n_rows[here]
            found = SIZES[self.size](points, rows, self.k, together=self.together, **gain)
            parts.append(found._replace(point=here[found.point], group=found.group + groups))
            groups += int(found.group.max()) + 1
        return Allocation(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


class _Combinations:
    """The counted base as arrays of codes: lines (a combination and a sensitive value) and combinations."""

    def __init__(self, base: Base) -> None:
        self.base = base
        self.columns = names(base.aliases.values())
        self.inside = [*self.columns, *([Sql("s")] if base.table.sensitives else [])]
        query = render("counted/listed.sql", relation=base.relation, columns=[*self.inside, Sql("n_rows")])
        found = base.engine.arrays(query)
        self.lines: Ints = np.array([found[column] for column in self.inside], dtype=np.int64).T
        self.line_rows: Ints = found["n_rows"].astype(np.int64)
        codes = self.lines[:, : len(self.columns)]
        self.codes, self.point = np.unique(codes, axis=0, return_inverse=True)
        self.point = self.point.ravel()
        self.n_rows: Ints = np.bincount(self.point, weights=self.line_rows).astype(np.int64)
        self.as_they_are = [
            base.columns[column][0] in base.table.also_known for column in map(str, self.columns)
        ]
        self.numeric = [
            None if exact else _numbers(base, str(column))
            for column, exact in zip(self.columns, self.as_they_are, strict=True)
        ]
        places = [_places(base, str(column)) for column in self.columns]
        self.values = np.array(
            [
                (place if numbers is None else numbers)[self.codes[:, j]]
                for j, (numbers, place) in enumerate(zip(self.numeric, places, strict=True))
            ]
        ).T

    @property
    def apart(self) -> list[Ints]:
        """The combinations by their values in the unchanged columns, or all together."""
        if not any(self.as_they_are):
            return [np.arange(len(self.codes))]
        _, part = np.unique(self.codes[:, self.as_they_are], axis=0, return_inverse=True)
        part = part.ravel()
        return [np.flatnonzero(part == number) for number in range(int(part.max()) + 1)]

    @cached_property
    def scaled(self) -> Floats:
        """The combinations as points, with every column divided by its range."""
        spread = np.ptp(self.values, axis=0)
        return np.asarray(self.values / np.where(spread == 0, 1, spread))


@dataclass(frozen=True)
class _Shares:
    """How many rows of each line go to each group, and which rows."""

    line: Ints
    group: Ints
    rows: Ints

    @property
    def ranges(self) -> tuple[Ints, Ints]:
        """First and last row of each share within its line, counted from 1; shares are in line order."""
        ends = np.cumsum(self.rows)
        new_line = np.flatnonzero(np.diff(self.line, prepend=-1))
        before = np.repeat(np.append(0, ends[new_line[1:] - 1]), np.diff(np.append(new_line, len(self.line))))
        return ends - self.rows - before + 1, ends - before


def _centres(counted: _Combinations, allocation: Allocation) -> Floats:
    """A line per group: the mean of numbers, and the middle code of other values."""
    order = np.lexsort((allocation.point, allocation.group))
    point, group, rows = allocation.point[order], allocation.group[order], allocation.rows[order]
    sizes = np.bincount(group, weights=rows)
    centres = np.empty((len(sizes), len(counted.columns)))
    for j, numbers in enumerate(counted.numeric):
        values = counted.values[point, j]
        if numbers is not None:
            centres[:, j] = np.bincount(group, weights=values * rows) / sizes
        else:
            # per group the position of the row in the middle, the lower one of two
            along = np.lexsort((values, group))
            reached = np.cumsum(rows[along])
            ends = np.flatnonzero(np.diff(group[along], append=-1))
            starts = np.append(0, reached[ends[:-1]])
            half = starts + (reached[ends] - starts + 1) // 2
            centres[:, j] = counted.codes[point[np.asarray(along[np.searchsorted(reached, half)])], j]
    return centres


def _grouping(counted: _Combinations, shares: _Shares) -> Grouping:
    base = counted.base
    first, last = shares.ranges
    lines = counted.lines[shares.line]
    relation = base.engine.load(
        {
            "k1": ("bigint", shares.group.tolist()),
            **{str(column): ("bigint", lines[:, j].tolist()) for j, column in enumerate(counted.inside)},
            "n_rows": ("bigint", shares.rows.tolist()),
            "first_row": ("bigint", first.tolist()),
            "last_row": ("bigint", last.tolist()),
        },
        "shares",
    )
    columns = [Sql("k1"), *counted.inside, Sql("n_rows")]
    keyed = render("counted/listed.sql", relation=relation, columns=columns)
    placed = render(
        "methods/dealt_rows.sql",
        coded=base.coded,
        columns=counted.columns,
        others=names(base.others.values()),
        values=base.dictionaries.get("s"),
        shares=relation,
    )
    grouping = Grouping.of(base, [Key("box", 0, int(shares.group.max()) + 1)], keyed)
    # ganta2008, Def. 6: the adversary is assumed to know the centre of everybody
    return replace(grouping.over(lambda: base.engine.create(placed, view=True)), located_by="members")


def _view(counted: _Combinations, grouping: Grouping, centres: Floats) -> Query:
    base = counted.base
    columns: dict[str, tuple[str, list[Any]]] = {"k1": ("bigint", list(range(len(centres))))}
    for column, numbers, middle in zip(counted.columns, counted.numeric, centres.T, strict=True):
        # the centre of values is the code of one of them
        if numbers is None:
            columns[f"m_{column}"] = ("bigint", middle.astype(np.int64).tolist())
        else:
            columns[f"m_{column}"] = ("double", middle.tolist())
    exact = {
        str(column): None if numbers is not None else base.dictionaries[str(column)]
        for column, numbers in zip(counted.columns, counted.numeric, strict=True)
    }
    inside = {**base.aliases, **base.others}
    shown = [
        (name, Sql(inside[name]), exact.get(inside[name])) for name in base.source_columns if name in inside
    ]
    return render(
        "methods/microaggregate.sql",
        rows=grouping.rows,
        columns=counted.columns,
        centres=base.engine.load(columns, "centres"),
        shown=shown,
    )


def _numbers(base: Base, column: str) -> Floats | None:
    """The numbers of a column's codes; None if it is not a column of numbers."""
    name, kind = base.columns[column]
    if kind.height and not kind.numeric:
        return None
    query = render("methods/readable.sql", dictionary=base.dictionaries[column], value=Sql("value"))
    found = base.engine.fetch(query)
    if any(row["number"] is None and row["exact"] is not None for row in found):
        return None
    if any(row["exact"] is None for row in found):
        hint = "Fill them in, exclude the rows with `where:`, or give the column a hierarchy of labels."
        raise DataError(
            "null_number", f"{name} has rows without a number, which cannot be grouped", hint=hint
        )
    numbers = np.zeros(max(row["code"] for row in found) + 1)
    for row in found:
        numbers[row["code"]] = row["number"]
    return numbers


def _places(base: Base, column: str) -> Floats:
    kind = base.columns[column][1]
    if kind.height > 1:
        query = render("methods/ordinal.sql", levels=base.levels[column], height=kind.height)
        found = base.engine.fetch(query)
        places = np.zeros(max(row["code"] for row in found) + 1)
        for row in found:
            places[row["code"]] = row["place"]
        return places
    return np.arange(base.statistics[column]["top"] + 1, dtype=np.float64)
