"""Cut a table into boxes as long as it stays safe, a whole level of the tree at a time, in SQL.

Chen et al. 2008, Fig. 4 (SkylineAnonymize), for every criterion. The base's distinct combinations move from
box to box inside the engine. Python receives the reach of each open box, the evidence about candidate parts,
and sends back which cuts are accepted: counts of boxes, never rows. A level costs a fixed number of
statements over the combinations of boxes that are still open.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from privacy_sql.boxes.candidate_cuts import Trial, Trials
from privacy_sql.boxes.positions import Places
from privacy_sql.counted.base import Base
from privacy_sql.counted.grouping import Grouping
from privacy_sql.criteria import Criterion, Splits
from privacy_sql.judge import failing
from privacy_sql.progress import report
from privacy_sql.query.template import Sql, names, render
from privacy_sql.spaces.partitions import Bools, Floats, Integers, Ranges, Tries, information_gain, ranges_of


@dataclass(frozen=True)
class Plan:
    """How boxes are cut: which axis first, where, and whether people of one place may be parted."""

    split: str = "median"
    class_column: str | None = None
    relaxed: bool = False
    as_they_are: tuple[str, ...] = ()  # no box holds two values of these columns


@dataclass(frozen=True)
class Boxes:
    """A partition: the grouping it makes, and how far each box reaches along every quasi-identifier."""

    places: Places
    grouping: Grouping
    reach: Sql  # box, least and most places
    cuts: int
    final: Sql  # c, g: the box of every combination

    def apart(self) -> Boxes:
        """The same partition with boxes that print alike joined, until each prints something of its own.

        A reader sees one group where two boxes print the same, as they may where a tree has one label at two
        levels, so that group is what is judged. A joined box reaches as far as both.
        """
        boxes, engine = self, self.places.engine
        while True:
            labels = list(box_labels(boxes).values())
            alike = engine.create(render("boxes/alike.sql", labels=labels))
            (found,) = engine.fetch(render("boxes/alike_sizes.sql", alike=alike))
            if not found["n_alike"]:
                return boxes
            final = engine.create(render("boxes/joined.sql", final=boxes.final, alike=alike))
            places = boxes.places
            boxes = Boxes(places, places.grouped(final), places.reach_of(final), boxes.cuts, final)


class Partitioning:
    """One partition of one base under some requirements."""

    def __init__(self, base: Base, require: Sequence[Criterion], plan: Plan) -> None:
        self.base, self.require, self.plan = base, require, plan
        self.engine = base.engine
        about_values = self._by_gain or any(c.reads_sensitive for c in require)
        by_value = about_values and bool(base.table.sensitives)
        self.places = Places(base, by_value, plan.class_column if self._by_gain else None, plan.as_they_are)
        self.fewest = max((criterion.fewest_people(base.table) for criterion in require), default=1)
        # only a median parts people of one place
        self.relaxed = plan.relaxed and plan.split == "median"
        self.trials = Trials(self.places, require, self.fewest, self.relaxed)
        self.splits: dict[str, Splits] = {}
        self.cuts = 0
        self._next = 0  # no box has had this number or a larger one
        self._reach: Floats | None = None

    @cached_property
    def whole(self) -> Grouping:
        """The whole table as one group, or one for each combination of the columns that stay as they are."""
        return Grouping.by(self.base, [self.base.key(self.base.aliases[c]) for c in self.plan.as_they_are])

    # -- the tree, level by level ------------------------------------------------------------------------

    def run(self) -> Boxes:
        """Cut until no box can be cut safely along any axis. The whole table has to be safe already."""
        for criterion in self.require:
            splits = criterion.splits(self.whole)
            if splits is not None:
                self.splits[str(criterion)] = splits
        pieces: list[Sql] = []
        closed: list[int] = []
        open_: Sql | None = self.places.relation
        people = done = 0
        while open_ is not None:
            ranges = self._ranges(open_)
            people = people or int(ranges.people.sum())
            self._next = max(self._next, int(ranges.boxes.max()) + 1)
            accepted, targets = self._level(open_, ranges)
            closed += ranges.boxes[~accepted].tolist()
            done += int(ranges.people[~accepted].sum())
            report("partition", done, people)
            open_ = self._next_level(open_, targets, pieces, bool(accepted.all()))
        # the pieces together, their boxes numbered from 1
        numbers = {"box": sorted(closed), "g": list(range(1, len(closed) + 1))}
        numbered = self.engine.load({name: ("bigint", c) for name, c in numbers.items()}, "numbers")
        final = self.engine.create(render("boxes/final.sql", pieces=pieces, numbers=numbered))
        self.trials.drop(*(piece for piece in pieces if piece != self.places.relation))
        reach = self.places.reach_of(final)
        return Boxes(self.places, self.places.grouped(final), reach, self.cuts, final)

    def _ranges(self, boxes: Sql) -> Ranges:
        query = render("boxes/ranges.sql", boxes=boxes, axes=self.places.shown_axes)
        ranges = ranges_of(self.engine.arrays(query), self.places.axes, self._reach)
        self._reach = ranges.reach
        return ranges

    def _level(self, boxes: Sql, ranges: Ranges) -> tuple[Bools, Sql | None]:
        """Try to cut every open box once: those that are cut, and where."""
        # both parts of a box that is cut hold as many people as any requirement takes
        large = ranges.people >= 2 * self.fewest
        # the cut that tells most along every axis of each box; None where the widest axis comes
        # first
        tries = Tries.of(ranges, ranges.order(), self.places.axes, large & self._by_gain)
        seen = self.trials.counted(boxes, ranges, tries, self.plan.split, None) if len(tries) else None
        order = ranges.order(self._scores(ranges, seen))
        undecided = large.copy()
        chosen: list[tuple[Tries, Integers]] = []
        cuts: list[Sql] = []
        for split, turns in self._rounds(order.shape[1]):
            tries = Tries.of(ranges, order[:, turns], self.places.axes, undecided)
            if not len(tries):
                continue
            known = seen if split == self.plan.split else None
            trial = self.trials.counted(boxes, ranges, tries, split, known)
            self.trials.drop(*([trial.cells] if known is None else []))
            accepted = self._accepted(boxes, trial)
            undecided[tries.row[accepted]] = False
            chosen.append((tries, accepted))
            cuts.append(trial.cuts)
        self.trials.drop(*([seen.cells] if seen else []))
        cut = large & ~undecided
        return cut, self._targets(ranges, chosen, cuts) if cut.any() else None

    def _rounds(self, axes: int) -> Iterator[tuple[str, slice]]:
        """What is asked of a level: where boxes are cut, and along which of their axes.

        The first axis of every box alone, then the others together for the boxes that are left, and medians
        where no cut that tells most is safe. Requirements that read the original quasi-identifiers see each
        combination in one part at a time.
        """
        alone = any(criterion.needs_base for criterion in self.require)
        turns = [slice(n, n + 1) for n in range(axes)] if alone else [slice(0, 1), slice(1, axes)]
        for split in dict.fromkeys([self.plan.split, *(["median"] if self._by_gain else [])]):
            yield from ((split, turn) for turn in turns)

    @property
    def _by_gain(self) -> bool:
        return self.plan.split == "information_gain"

    def _scores(self, ranges: Ranges, seen: Trial | None) -> Floats | None:
        """Information gain of the cut along each axis, per box."""
        if seen is None:
            return None
        scores = np.full(ranges.widths.shape, -1.0)
        told, measure = self.places.of_classes
        query = render("boxes/classes.sql", parts=seen.parts, told=told, measure=measure)
        found, tries = self.engine.arrays(query), seen.tries
        gains = information_gain(tries.of_parts(found["g"]), found["g"], found["class"], found["n_rows"])
        scores[tries.row[: len(gains)], tries.axis[: len(gains)]] = gains
        self.trials.drop(seen.parts, seen.asked)
        return scores

    def _accepted(self, boxes: Sql, trial: Trial) -> Integers:
        """The tries that are taken: their parts are safe, alone and with all the others, in queue order."""
        grouping, made = self.trials.grouping(boxes, trial)
        sizes = self.engine.arrays(render("boxes/sizes.sql", groups=grouping.groups))
        alone = [criterion for criterion in self.require if str(criterion) not in self.splits]
        unsafe = set(sizes["g"][sizes["n_people"] < self.fewest].tolist())
        unsafe |= {g for criterion in alone for g in failing(grouping, criterion)}
        able = trial.tries.able(sizes["g"], unsafe)
        if self.splits and len(able):
            taken = self._together(grouping, trial.tries, able, sizes["g"])
        else:
            taken = trial.tries.first_of_each_box(able)
        self.cuts += len(taken)
        self.trials.drop(*made, trial.parts, trial.asked)
        return taken

    def _together(self, grouping: Grouping, tries: Tries, able: Integers, parts: Integers) -> Integers:
        """Ask the criteria that look at all groups at once, one try after the other."""
        asked = [(splits, splits.seen(grouping)) for splits in self.splits.values()]
        bounds = np.searchsorted(parts, np.append(tries.lowest, tries.end))
        taken: list[int] = []
        box = -1
        for number in able.tolist():
            if tries.row[number] == box:
                continue  # an earlier try has cut it
            groups = parts[bounds[number] : bounds[number + 1]].tolist()
            if all(splits.allows(evidence, groups) for splits, evidence in asked):
                for splits, evidence in asked:
                    splits.accept(evidence, groups)
                taken.append(number)
                box = int(tries.row[number])
        return np.array(taken, dtype=np.int64)

    # -- the next level ------------------------------------------------------------------------------------

    def _targets(self, ranges: Ranges, chosen: Sequence[tuple[Tries, Integers]], cuts: Sequence[Sql]) -> Sql:
        """Which boxes are cut, along which way and where, and the new numbers of their parts."""
        columns: dict[str, list[int]] = {"box": [], "way": [], "trial": [], "ordered": [], "lowest": []}
        for number, (tries, accepted) in enumerate(chosen):
            columns["trial"] += [number] * len(accepted)
            columns["box"] += ranges.boxes[tries.row[accepted]].tolist()
            columns["way"] += tries.way[accepted].tolist()
            columns["ordered"] += self.trials.ordered[tries.axis[accepted]].tolist()
            columns["lowest"] += (tries.lowest[accepted] + self._next).tolist()
            self._next += tries.end
        accepted_ = self.engine.load({name: ("bigint", c) for name, c in columns.items()}, "accepted")
        targets = self.engine.create(
            render("boxes/targets.sql", accepted=accepted_, cuts=cuts, relaxed=self.relaxed)
        )
        self.trials.drop(accepted_, *dict.fromkeys(cuts))
        return targets

    def _next_level(self, boxes: Sql, targets: Sql | None, pieces: list[Sql], all_cut: bool) -> Sql | None:
        """Move everybody of the boxes that are cut; the others stay where they are for good."""
        if targets is None:
            pieces.append(boxes)
            return None
        moved = self.engine.create(
            render(
                "boxes/moved.sql",
                boxes=boxes,
                targets=targets,
                ways=self.places.ways,
                columns=self.places.columns,
                relaxed=self.relaxed,
            )
        )
        if not all_cut:
            pieces.append(self.engine.create(render("boxes/left_over.sql", boxes=boxes, targets=targets)))
        self.trials.drop(targets, *([boxes] if boxes != self.places.relation else []))
        return moved


def box_labels(boxes: Boxes) -> dict[str, Sql]:
    """What is published of each box along each quasi-identifier: (g, label)."""
    base, tables = boxes.places.base, boxes.places.axis_tables
    places, made = boxes.places, {}
    as_they_are = {base.aliases[name] for name in places.as_they_are}
    for axis in places.axes:
        column = {"reach": boxes.reach, "column": Sql(axis.column)}
        if axis.column in as_they_are:
            query = render(
                "boxes/known_labels.sql",
                final=boxes.final,
                members=places.members,
                column=Sql(axis.column),
            )
        elif axis.ordered:
            query = render(
                "boxes/range_labels.sql",
                **column,
                axis=tables[axis.column],
                dictionary=base.dictionaries[axis.column],
                numeric=axis.numeric,
            )
        else:
            query = render(
                "boxes/node_labels.sql",
                **column,
                levels=base.levels[axis.column],
                codes=base.level_codes[axis.column],
                height=axis.levels,
            )
        made[axis.column] = base.engine.create(query)
    return made


def printing_alike(grouping: Grouping, unknown: Collection[str]) -> tuple[Sql, Sql]:
    """Values (g, s, n_rows) and people (g, n_rows) of boxes, together where all but some labels are alike."""
    create = grouping.base.engine.create
    labels = [label for name, label in grouping.printed.items() if name not in unknown]
    alike = create(render("boxes/alike.sql", labels=labels))
    values = names(["s"]) if grouping.base.table.sensitives else []
    found = [(grouping.histogram, values, Sql("n_rows")), (grouping.groups, [], Sql("n_people"))]
    histogram, members = (
        create(render("boxes/printing_alike.sql", relation=relation, columns=columns, n=n, alike=alike))
        for relation, columns, n in found
    )
    return histogram, members
