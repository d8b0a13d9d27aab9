"""Cut a table into boxes as long as it stays safe, a whole level of the tree at a time, in SQL.

Chen et al. 2008, Fig. 4 (SkylineAnonymize), for every criterion. The base's distinct combinations move from
box to box inside the engine. Python receives the reach of each open box, the evidence about candidate parts,
and sends back which cuts are accepted: counts of boxes, never rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from privacy_sql.base import Base, count
from privacy_sql.criteria import Criterion, Splits
from privacy_sql.grouping import Grouping, Key
from privacy_sql.judging import failing
from privacy_sql.progress import report
from privacy_sql.query import Query, Sql, names, render
from privacy_sql.spaces.partitions import NONE, Axis, Integers, Ranges, information_gain, ranges_of

ORDERED = ("Intervals", "Breaks", "Dates", "AsIs")


@dataclass(frozen=True)
class Plan:
    """How boxes are cut: which axis first, where, and whether people of one place may be parted."""

    split: str = "median"
    class_column: str | None = None
    relaxed: bool = False


@dataclass(frozen=True)
class Boxes:
    """A partition: the box of every combination, and the grouping it makes."""

    base: Base
    combinations: Sql
    final: Sql  # c, box, g
    grouping: Grouping
    axes: tuple[Axis, ...]
    numeric: frozenset[str]
    cuts: int


class Partitioning:
    """One partition of one base under some requirements."""

    def __init__(self, base: Base, require: Sequence[Criterion], plan: Plan) -> None:
        self.base, self.require, self.plan = base, require, plan
        self.engine = base.engine
        self.splits: dict[str, Splits] = {}
        self.cuts = 0
        self._next = 1

    # -- what stays the same ---------------------------------------------------------------------------

    @cached_property
    def numeric(self) -> frozenset[str]:
        """Columns whose values are all numbers: they are cut by size."""
        return frozenset(
            column for column in self.base.columns if self._ordered(column) and self._is_numeric(column)
        )

    def _is_numeric(self, column: str) -> bool:
        query = render(
            "partitions/numeric.sql", dictionary=self.base.dictionaries[column], value=Sql("d.value")
        )
        return not self.engine.fetch(query)[0]["n_others"]

    def _ordered(self, column: str) -> bool:
        return type(self.base.columns[column][1]).__name__ in ORDERED

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """The quasi-identifiers as axes, in the table's order."""
        return tuple(
            Axis(column, True) if self._ordered(column) else Axis(column, False, kind.height)
            for column, (_, kind) in self.base.columns.items()
        )

    @cached_property
    def axis_tables(self) -> dict[str, Sql]:
        return {
            axis.column: self._axis(axis.column) if axis.ordered else self.base.level_codes[axis.column]
            for axis in self.axes
        }

    def _axis(self, column: str) -> Sql:
        return self.engine.create(
            render(
                "partitions/axis.sql",
                dictionary=self.base.dictionaries[column],
                numeric=column in self.numeric,
                value=Sql("d.value"),
            )
        )

    @cached_property
    def combinations(self) -> Sql:
        return self.engine.create(
            render(
                "partitions/combinations.sql",
                people=self.base.people or self.base.relation,
                axes=[(Sql(a.column), self.axis_tables[a.column], a.ordered, a.levels) for a in self.axes],
            )
        )

    @cached_property
    def numbered(self) -> Sql:
        return self._numbered(self.base.relation, self.base.inside())

    @cached_property
    def numbered_people(self) -> Sql | None:
        people = self.base.people
        return self._numbered(people, self.base.inside(people)) if people else None

    @cached_property
    def classes(self) -> tuple[Sql, Sql]:
        """The relation that counts classes by combination, and its class column."""
        if self.plan.class_column is None:
            return self.numbered, Sql("s")
        table = replace(
            self.base.table,
            sensitive=self.plan.class_column,
            insensitive=[c for c in self.base.table.insensitive if c != self.plan.class_column],
            sensitive_hierarchy=None,
        )
        other = count(self.engine, table)
        self._other = other
        return self._numbered(other.relation, other.inside()), Sql("s")

    def _numbered(self, relation: Sql, inside: Sequence[Sql]) -> Sql:
        columns = names(axis.column for axis in self.axes)
        others = [name for name in inside if name not in columns]
        return self.engine.create(
            render(
                "partitions/numbered_base.sql",
                base=relation,
                combinations=self.combinations,
                columns=columns,
                others=others,
            )
        )

    @cached_property
    def root(self) -> Sql:
        return self.engine.create(render("partitions/root.sql", combinations=self.combinations))

    @cached_property
    def whole(self) -> Grouping:
        """The whole table as one group."""
        return self.grouping(self._numbered_final(self.root))

    # -- the tree, level by level ------------------------------------------------------------------------

    def run(self) -> Boxes:
        """Cut until no box can be cut safely along any axis. The whole table has to be safe already."""
        for criterion in self.require:
            splits = criterion.splits(self.whole)
            if splits is not None:
                self.splits[str(criterion)] = splits
        done: list[Sql] = []
        open_: Sql | None = self.root
        depth = 0
        while open_ is not None:
            depth += 1
            report("partition", depth, depth + 1)
            open_, closed = self._level(open_)
            done.append(closed)
        final = self._numbered_final(self.engine.create(render("partitions/together.sql", pieces=done)))
        grouping = replace(self.grouping(final), placed=self._rows(final))
        return Boxes(self.base, self.combinations, final, grouping, self.axes, self.numeric, self.cuts)

    def _rows(self, final: Sql) -> Sql:
        """The source rows with the number of their box."""
        base = self.base
        quasi = names(base.columns)
        raw = names(f"r_{column}" for column in base.columns)
        return self.engine.create(
            render(
                "partitions/rows.sql",
                coded=base.coded,
                combinations=self.combinations,
                final=final,
                quasi=quasi,
                columns=[*quasi, *raw, *names(base.others.values())],
            ),
            view=True,
        )

    def _level(self, placed: Sql) -> tuple[Sql | None, Sql]:
        """Try to cut every open box once: the boxes that come of it, and those that stay as they are."""
        ranges = ranges_of(self.engine.arrays(self._ranges(placed)), self.axes)
        order = ranges.order(self._scores(placed, ranges))
        taken: list[Sql] = []
        undecided = np.ones(len(ranges.boxes), dtype=bool)
        for step in range(order.shape[1]):
            asking = undecided & (order[:, step] != NONE)
            if not asking.any():
                break
            trial, parts = self._trial(placed, ranges, order[:, step], asking)
            accepted = self._accepted(trial, parts)
            if accepted:
                taken.append(self._take(trial, accepted, parts))
                placed = self._without(placed, accepted)
                undecided &= ~np.isin(ranges.boxes, accepted)
        if not taken:
            return None, placed
        return self.engine.create(render("partitions/together.sql", pieces=taken)), placed

    def _ranges(self, placed: Sql) -> Query:
        axes = [(Sql(a.column), a.ordered, a.levels) for a in self.axes]
        return render("partitions/ranges.sql", placed=placed, combinations=self.combinations, axes=axes)

    def _scores(self, placed: Sql, ranges: Ranges) -> Any:
        """Information gain of the cut along each axis, per box; None where the widest axis comes first."""
        if self.plan.split != "information_gain":
            return None
        relation, class_column = self.classes
        scores = np.full(ranges.widths.shape, -1.0)
        for axis in range(len(self.axes)):
            asking = ranges.cuttable[:, axis]
            if asking.any():
                trial, _ = self._trial(placed, ranges, np.full(len(asking), axis), asking)
                query = render(
                    "partitions/classes.sql", trial=trial, base=relation, class_column=class_column
                )
                found = self.engine.arrays(query)
                gains = information_gain(found["box"], found["g"], found["class"], found["n_rows"])
                scores[:, axis] = [gains.get(box, -1.0) for box in ranges.boxes.tolist()]
                self.engine.drop(trial)
        return scores

    def _trial(self, placed: Sql, ranges: Ranges, axis: Integers, asking: Any) -> tuple[Sql, dict[str, Any]]:
        """The asked boxes cut along their axis: the group each combination would be in, and the groups."""
        rows = np.flatnonzero(asking)
        chosen = axis[rows]
        asked = self.engine.load(
            {
                "box": ("bigint", ranges.boxes[rows].tolist()),
                "axis": ("bigint", chosen.tolist()),
                "level": ("bigint", ranges.level[rows, chosen].tolist()),
                "middle": ("double", ranges.middle[rows, chosen].tolist()),
            },
            "asked",
        )
        axes = [(number, Sql(a.column), a.ordered, a.levels) for number, a in enumerate(self.axes)]
        along = self.engine.create(
            render(
                "partitions/chosen.sql", placed=placed, asked=asked, combinations=self.combinations, axes=axes
            ),
            view=True,
        )
        split = "middle" if self.plan.split == "range" else "median"
        parts = self.engine.create(
            render("partitions/parts.sql", chosen=along, split=split, relaxed=self.plan.relaxed)
        )
        numbers = self.engine.create(render("partitions/numbers.sql", parts=parts))
        trial = self.engine.create(render("partitions/trial.sql", parts=parts, numbers=numbers))
        found = self.engine.arrays(Query(f"select box, g, n_people from {numbers} order by g", "parts"))
        return trial, found

    def _accepted(self, trial: Sql, parts: dict[str, Any]) -> list[int]:
        """The boxes whose parts are safe, alone and with all the others, in the order of the queue."""
        grouping = self.grouping(trial)
        alone = [criterion for criterion in self.require if str(criterion) not in self.splits]
        unsafe = {g for criterion in alone for g in failing(grouping, criterion)}
        cut: dict[int, list[int]] = {}
        for box, part in zip(parts["box"].tolist(), parts["g"].tolist(), strict=True):
            cut.setdefault(box, []).append(part)
        able = [(box, groups) for box, groups in cut.items() if len(groups) > 1 and not unsafe & {*groups}]
        if self.splits and able:
            able = self._together(grouping, able)
        self.cuts += len(able)
        return [box for box, _ in able]

    def _together(self, grouping: Grouping, able: list[tuple[int, list[int]]]) -> list[tuple[int, list[int]]]:
        """Ask the criteria that look at all groups at once, one cut after the other."""
        seen = [splits.seen(grouping) for splits in self.splits.values()]
        kept = []
        for box, groups in able:
            asked = list(zip(self.splits.values(), seen, strict=True))
            if all(splits.allows(evidence, groups) for splits, evidence in asked):
                for splits, evidence in asked:
                    splits.accept(evidence, groups)
                kept.append((box, groups))
        return kept

    def _take(self, trial: Sql, accepted: list[int], parts: dict[str, Any]) -> Sql:
        """The accepted parts as new boxes, with numbers nobody has had."""
        boxes = self.engine.load({"box": ("bigint", accepted)}, "accepted")
        taken = self.engine.create(
            render("partitions/taken.sql", trial=trial, accepted=boxes, offset=self._next)
        )
        self._next += int(parts["g"].max()) + 1
        return taken

    def _without(self, placed: Sql, accepted: list[int]) -> Sql:
        boxes = self.engine.load({"box": ("bigint", accepted)}, "accepted")
        return self.engine.create(render("partitions/left_over.sql", placed=placed, accepted=boxes))

    # -- groupings -----------------------------------------------------------------------------------------

    def _numbered_final(self, placed: Sql) -> Sql:
        return self.engine.create(render("partitions/final.sql", placed=placed))

    def grouping(self, trial: Sql) -> Grouping:
        """A relation (c, g) as a grouping that criteria can be asked about."""
        base, engine = self.base, self.engine

        def members(relation: Sql, inside: Sequence[Sql]) -> Sql:
            return engine.create(
                render("partitions/members.sql", trial=trial, relation=relation, columns=inside), view=True
            )

        candidate = members(self.numbered, base.inside())
        people = (
            members(self.numbered_people, base.inside(base.people)) if self.numbered_people else candidate
        )
        has_values = bool(base.table.sensitives)
        histogram = engine.create(
            render("histogram.sql", candidate=candidate, sensitive=has_values, counted=False)
        )
        counted = people if base.people else histogram
        groups = engine.create(render("groups.sql", histogram=counted))
        made = Grouping(base, (Key("box"),), candidate, people, histogram, groups)
        if has_values:
            # a part is compared with the whole table, not with the boxes that are tried beside it
            made.__dict__["overall"] = self.overall
        return made

    @cached_property
    def overall(self) -> Sql:
        return self.engine.create(render("overall.sql", histogram=self.base.relation))


def box_labels(boxes: Boxes, axis_tables: dict[str, Sql]) -> dict[str, Sql]:
    """What is published of each box along each quasi-identifier: (g, label)."""
    base = boxes.base
    made = {}
    for axis in boxes.axes:
        shared = {"final": boxes.final, "combinations": boxes.combinations, "column": Sql(axis.column)}
        if axis.ordered:
            query = render(
                "partitions/range_labels.sql",
                **shared,
                axis=axis_tables[axis.column],
                dictionary=base.dictionaries[axis.column],
                numeric=axis.column in boxes.numeric,
            )
        else:
            query = render(
                "partitions/node_labels.sql",
                **shared,
                levels=base.levels[axis.column],
                codes=base.level_codes[axis.column],
                height=axis.levels,
            )
        made[axis.column] = base.engine.create(query)
    return made
