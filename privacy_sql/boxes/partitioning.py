"""Cut a table into boxes as long as it stays safe, a whole level of the tree at a time.

Chen et al. 2008, Fig. 4 (SkylineAnonymize), for every criterion. The base's distinct combinations move from
box to box: in arrays if they fit and every requirement supports it, and otherwise inside the engine, where a
level takes a fixed number of statements over the combinations in open boxes. This module decides which cuts
to take, from the reach of each open box and the evidence about candidate parts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic

import numpy as np

from privacy_sql import deadlines
from privacy_sql.boxes.candidate_cuts import BoxesInSql
from privacy_sql.boxes.in_memory import BoxesInMemory, fits
from privacy_sql.boxes.open_boxes import OpenBoxes, T, Taken
from privacy_sql.boxes.positions import Places
from privacy_sql.counted.base import Base
from privacy_sql.counted.grouping import Grouping
from privacy_sql.criteria import Criterion, Splits
from privacy_sql.display.progress import report
from privacy_sql.errors import Undecided
from privacy_sql.judge import refuse_unfit
from privacy_sql.query.template import Sql, names, render
from privacy_sql.spaces.partitions import Bools, Floats, Integers, Ranges, Tries, information_gain, ranges_of


@dataclass(frozen=True)
class CutPlan:
    """How boxes are cut: which axis first, where, and whether people at one place may be separated."""

    split: str = "median"
    class_column: str | None = None
    relaxed: bool = False
    as_they_are: tuple[str, ...] = ()  # no box has two values of these columns


@dataclass(frozen=True)
class Boxes:
    """A partition: its grouping, and how far each box reaches along every quasi-identifier."""

    places: Places
    grouping: Grouping
    reach: Sql  # box, least and most places
    cuts: int
    final: Sql  # c, g: the box of every combination
    stopped: str | None = None  # why boxes were not cut that may be cut safely

    @cached_property
    def printed(self) -> Sql:
        """The published labels of each box, one column for each quasi-identifier: (g, label_q1..)."""
        places, base = self.places, self.places.base
        as_they_are = {base.aliases[name] for name in places.as_they_are}
        columns: list[tuple[Sql, str, Sql, Sql | None, bool | int]] = []
        for axis in places.axes:
            column = Sql(axis.column)
            if axis.column in as_they_are:
                columns.append((column, "known", self.final, places.members, 0))
            elif axis.ordered:
                values = places.ordered_tables[axis.column], base.dictionaries[axis.column]
                columns.append((column, "ordered", *values, axis.numeric))
            else:
                nodes = base.shown_levels[axis.column], None
                columns.append((column, "node", *nodes, axis.levels))
        return base.engine.create(render("boxes/labels.sql", reach=self.reach, columns=columns))

    def apart(self) -> Boxes:
        """The same partition after joining boxes with the same labels, until all labels differ.

        A reader sees one group if two boxes have the same labels, which happens if a tree has one label at
        two levels; so the joined group is judged. A joined box reaches as far as both.
        """
        boxes, engine, places = self, self.places.engine, self.places
        columns = labels_of(places.base.columns)
        while True:
            query = render("boxes/alike_sizes.sql", labels=boxes.printed, columns=columns)
            if not engine.fetch(query)[0]["n_alike"]:
                return boxes
            alike = engine.create(render("boxes/alike.sql", labels=boxes.printed, columns=columns))
            final = engine.create(render("boxes/joined.sql", final=boxes.final, alike=alike))
            grouping, reach = places.grouped(final), places.reach_of(final)
            boxes = replace(boxes, grouping=grouping, reach=reach, final=final)


class Partitioning:
    """One partition of one base under some requirements."""

    def __init__(
        self, base: Base, require: Sequence[Criterion], plan: CutPlan, *, in_memory: bool | None = None
    ) -> None:
        self.base, self.require, self.plan = base, require, plan
        by_gain = plan.split == "information_gain"
        about_values = by_gain or any(c.reads_sensitive for c in require)
        by_value = about_values and bool(base.table.sensitives)
        self.places = Places(base, by_value, plan.class_column if by_gain else None, plan.as_they_are)
        self.in_memory = in_memory  # whether to count boxes in memory; None: decide from the table

    @cached_property
    def fewest(self) -> int:
        """No box with fewer people is safe."""
        return max((criterion.fewest_people(self.base.table) for criterion in self.require), default=1)

    @cached_property
    def in_arrays(self) -> BoxesInMemory | None:
        """Everybody in one box, in arrays; None where the table or what is required is for the engine."""
        if self.in_memory is None:
            self.in_memory = fits(self.base, self.require)
        return BoxesInMemory(self.places, self.fewest, self.relaxed) if self.in_memory else None

    @property
    def relaxed(self) -> bool:
        """Only a median parts people of one place."""
        return self.plan.relaxed and self.plan.split == "median"

    def surely_safe(self) -> bool:
        """Whether arrays tell that the whole table is safe; where they do not, its verdict is asked."""
        refuse_unfit(self.base, self.require)
        table = self.base.table
        if table.also_known or self.base.sides or not self.base.holds_rows or self.in_arrays is None:
            return False
        try:
            return all(
                criterion.on_arrays is not None and criterion.on_arrays.decide(self.in_arrays.whole).safe
                for criterion in self.require
            )
        except Undecided:
            return False

    @cached_property
    def whole(self) -> Grouping:
        """The whole table as one group, or one group for each combination of the columns that are not cut."""
        return Grouping.by(self.base, [self.base.key(self.base.aliases[c]) for c in self.plan.as_they_are])

    def run(self) -> Boxes:
        """Cut until no box can be cut safely along any axis. The whole table must be safe."""
        if self.in_arrays is not None:
            whole = self.in_arrays.whole
            found = {str(c): c.on_arrays.splits_in(whole) for c in self.require if c.on_arrays}
            return _Tree(self.in_arrays, self, found).grown()
        asked = {str(criterion): criterion.splits(self.whole) for criterion in self.require}
        return _Tree(BoxesInSql(self.places, self.require, self.fewest, self.relaxed), self, asked).grown()


class _Tree(Generic[T]):
    """The boxes of a partition, level by level."""

    def __init__(
        self, open_: OpenBoxes[T], of: Partitioning, splits: Mapping[str, Splits[Any] | None]
    ) -> None:
        self.open, self.of, self.fewest = open_, of, of.fewest
        self.splits = {name: its for name, its in splits.items() if its is not None}
        self.axes = of.places.axes
        # the requirements on every part by itself
        self.alone = [criterion for criterion in of.require if str(criterion) not in self.splits]
        self.by_gain = of.plan.split == "information_gain"
        self.cuts = 0
        self.stopped: str | None = None
        self._next = 0  # the next free number of a box

    def grown(self) -> Boxes:
        """Cut every box as long as it stays safe."""
        closed: list[int] = []
        people = done = 0
        reach: Floats | None = None
        is_open = True
        while is_open:
            ranges = ranges_of(self.open.reach(), self.axes, reach)
            reach = ranges.reach
            people = people or int(ranges.people.sum())
            self._next = max(self._next, int(ranges.boxes.max()) + 1)
            cut, taken = self._level_in_time(ranges)
            closed += ranges.boxes[~cut].tolist()
            done += int(ranges.people[~cut].sum())
            report("partition", done, people)
            is_open = self.open.move(ranges, taken, cut)
        deadlines.finished()
        final, reached = self.open.finished(sorted(closed))
        places = self.of.places
        return Boxes(places, places.grouped(final), reached, self.cuts, final, self.stopped)

    def _level_in_time(self, ranges: Ranges) -> tuple[Bools, list[Taken[T]]]:
        """Like `_level`, but without any cut when the time is up; what was cut before is safe."""
        cuts = self.cuts
        self.stopped = deadlines.reason()
        if self.stopped is None:
            try:
                return self._level(ranges)
            except KeyboardInterrupt:
                if not deadlines.rang():
                    raise
                self.cuts, self.stopped = cuts, deadlines.reason()
        return np.zeros(len(ranges.boxes), np.bool_), []

    def _level(self, ranges: Ranges) -> tuple[Bools, list[Taken[T]]]:
        """Try to cut every open box once; returns the boxes that are cut, and where."""
        # both parts of a cut box must have as many people as any requirement needs
        large = ranges.people >= 2 * self.fewest
        # the most informative cut along every axis of each box; None if the widest axis comes first
        tries = Tries.of(ranges, ranges.order(), self.axes, large & self.by_gain)
        seen = self.open.tried(ranges, tries, self.of.plan.split) if len(tries) else None
        scores = None  # information gain of the cut along each axis, per box
        if seen is not None:
            found, scores = seen.classes(), np.full(ranges.widths.shape, -1.0)
            parts, classes, counts = (found[name].astype(np.int64) for name in ("g", "class", "n_rows"))
            gains = information_gain(seen.tries.of_parts(parts), parts, classes, counts)
            scores[seen.tries.row[: len(gains)], seen.tries.axis[: len(gains)]] = gains
        order = ranges.order(scores)
        undecided = large.copy()
        taken: list[Taken[T]] = []
        for split, turns in self._rounds(order.shape[1]):
            tries = Tries.of(ranges, order[:, turns], self.axes, undecided)
            if not len(tries):
                continue
            known = seen if split == self.of.plan.split else None
            trial = self.open.tried(ranges, tries, split, known)
            # tries whose parts are safe, alone and with all the others, in queue order
            able, parts = trial.able(self.alone)
            if self.splits and len(able):
                accepted = self._together(trial, able, parts)
            else:
                accepted = trial.tries.first_of_each_box(able)
            self.cuts += len(accepted)
            self.open.let_go(trial)
            undecided[tries.row[accepted]] = False
            taken.append(Taken(trial, accepted, self._next))
            self._next += tries.end
        if seen is not None:
            self.open.let_go(seen)
        return large & ~undecided, taken

    def _rounds(self, axes: int) -> Iterator[tuple[str, slice]]:
        """The rounds of a level: where to cut boxes, and along which axes.

        First the first axis of every box alone, then the others together for the remaining boxes, then
        medians if no informative cut is safe. Requirements that read the original quasi-identifiers see each
        combination in one part at a time.
        """
        alone = any(criterion.needs_base for criterion in self.of.require)
        turns = [slice(n, n + 1) for n in range(axes)] if alone else [slice(0, 1), slice(1, axes)]
        for split in dict.fromkeys([self.of.plan.split, *(["median"] if self.by_gain else [])]):
            yield from ((split, turn) for turn in turns)

    def _together(self, trial: T, able: Integers, parts: Integers) -> Integers:
        """Judge the criteria that look at all groups at once, one try after the other."""
        asked = [(splits, trial.seen(splits)) for splits in self.splits.values()]
        tries = trial.tries
        for splits, evidence in asked:
            hopeless = np.array([*splits.hopeless(evidence)], dtype=np.int64)
            able = np.setdiff1d(able, tries.of_parts(hopeless))
        begin = np.searchsorted(parts, tries.lowest[able])
        end = np.searchsorted(parts, np.append(tries.lowest, tries.end)[able + 1])
        numbers, taken, box = parts.tolist(), list[int](), -1
        for number, row, first, last in np.column_stack([able, tries.row[able], begin, end]).tolist():
            if row == box:
                continue  # an earlier try cut it
            groups = numbers[first:last]
            if all(splits.allows(evidence, groups) for splits, evidence in asked):
                for splits, evidence in asked:
                    splits.accept(evidence, groups)
                taken.append(number)
                box = row
        return np.array(taken, dtype=np.int64)


def labels_of(columns: Iterable[str]) -> list[Sql]:
    """What `sql/boxes/labels.sql` calls the labels of quasi-identifiers."""
    return names(f"label_{column}" for column in columns)


def printing_alike(grouping: Grouping, unknown: Collection[str]) -> tuple[Sql, Sql]:
    """Values (g, s, n_rows) and people (g, n_rows) of boxes, joined if all labels but some are equal."""
    create = grouping.base.engine.create
    columns = labels_of(alias for name, alias in grouping.base.aliases.items() if name not in unknown)
    alike = create(render("boxes/alike.sql", labels=grouping.printed, columns=columns))
    values = names(["s"]) if grouping.base.table.sensitives else []
    found = [(grouping.histogram, values, Sql("n_rows")), (grouping.groups, [], Sql("n_people"))]
    histogram, members = (
        create(render("boxes/printing_alike.sql", relation=relation, columns=columns, n=n, alike=alike))
        for relation, columns, n in found
    )
    return histogram, members
