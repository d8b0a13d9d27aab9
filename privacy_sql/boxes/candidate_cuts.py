"""The parts that candidate cuts would give, counted in SQL before anything is decided.

Chen et al. 2008, Fig. 4, line 5: candidate cuts of a box. All boxes of a level are counted together, each
along the ways that its tries name. Among many places, a cut is found in two steps: first from counts of bands
of places, then within the band that has the median, or within the two bands around the most informative cut.
So no statement sorts or keeps as many lines as there are combinations. The base's distinct combinations move
from box to box inside the engine; Python receives counts of boxes, never rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from privacy_sql.boxes.open_boxes import Columns, OpenBoxes, Taken, Trial
from privacy_sql.boxes.positions import PEOPLE, Places
from privacy_sql.counted.base import Key
from privacy_sql.counted.grouping import Grouping
from privacy_sql.criteria import Criterion, Splits, Tried
from privacy_sql.judge import failing
from privacy_sql.query.template import Query, Sql, render
from privacy_sql.spaces.partitions import Bools, Integers, Ranges, Tries


class TrialInSql(Trial):
    """Cuts that are tried together, and the relations that say what each would give."""

    def __init__(self, counted: BoxesInSql, tries: Tries, asked: Sql, cells: Sql, cuts: Sql) -> None:
        self.counted, self.tries = counted, tries
        self.asked = asked  # box, way, ordered, lowest, n_people, band, middle, top
        self.cells = cells  # box, way, place, what is told, measures
        self.cuts = cuts  # box, way, edge
        query = render("boxes/parts.sql", cells=cells, cuts=cuts, asked=asked, **counted.how, **counted.what)
        self.parts = counted.engine.create(query)  # g, what is told, measures
        self.held = [self.parts, asked]  # dropped after deciding which cuts to take

    def classes(self) -> Columns:
        told, measure = self.counted.places.of_classes
        query = render("boxes/classes.sql", parts=self.parts, told=told, measure=measure)
        found = self.counted.engine.arrays(query)
        self.counted.drop(self.parts, self.asked)  # read only once, unlike the places of the cuts
        self.held = [relation for relation in self.held if relation not in (self.parts, self.asked)]
        return found

    def able(self, alone: Sequence[Criterion]) -> tuple[Integers, Integers]:
        query = render("boxes/sizes.sql", groups=self._grouping.groups)
        sizes = self.counted.engine.arrays(query)
        unsafe = set(sizes["g"][sizes["n_people"] < self.counted.fewest].tolist())
        unsafe |= {g for criterion in alone for g in failing(self._grouping, criterion)}
        return self.tries.able(sizes["g"], unsafe), sizes["g"]

    def seen(self, splits: Splits[Tried]) -> Tried:
        return splits.seen(self._grouping)

    @cached_property
    def _grouping(self) -> Grouping:
        """The parts as groups for requirements to judge."""
        counted, create = self.counted, self.counted.engine.create
        places, base = counted.places, counted.places.base
        groups = create(render("boxes/part_sizes.sql", parts=self.parts))
        parts, measure = (self.parts, places.of_values) if places.by_value else (groups, PEOPLE)
        several = len(places.counted) > 1
        how = {"measure": measure, "by_value": places.by_value, "several": several}
        histogram = create(render("boxes/part_values.sql", parts=parts, **how), view=True)
        made = [histogram, groups]
        candidate = people = histogram  # only requirements about the original quasi-identifiers read this
        if any(criterion.needs_base for criterion in counted.require):
            cut = {"asked": self.asked, "cuts": self.cuts, "relaxed": counted.relaxed}
            assigned = create(
                render("boxes/assigned.sql", boxes=counted.boxes, ways=places.ways, **cut), view=True
            )
            candidate = people = places.members_of(assigned)
            made = [candidate, assigned, *made]
            if base.people:
                people = places.members_of(assigned, people=True)
                made = [people, *made]
        self.held = [*made, *self.held]
        # a part is compared with the whole table, not with the other boxes tried now
        whole = base.overall if base.table.sensitives else None
        return Grouping(base, (Key("box"),), candidate, people, histogram, groups, whole=whole)


class BoxesInSql(OpenBoxes[TrialInSql]):
    """Open boxes as a relation of combinations; a `relaxed` median may separate people at one place."""

    def __init__(self, places: Places, require: Sequence[Criterion], fewest: int, relaxed: bool) -> None:
        self.places, self.require = places, require
        self.engine = places.engine
        self.fewest, self.relaxed = fewest, relaxed
        self.how: dict[str, Any] = {"relaxed": relaxed, "fewest": fewest}
        self.what: dict[str, Any] = {"told": places.told, "measures": places.measures}
        self.boxes = places.relation
        self._pieces: list[Sql] = []  # combinations with a final box

    @cached_property
    def ordered(self) -> Integers:
        """Whether the places of each axis have an order."""
        return np.array([axis.ordered for axis in self.places.axes], dtype=np.int64)

    def reach(self) -> Columns:
        return self.engine.arrays(render("boxes/ranges.sql", boxes=self.boxes, axes=self.places.shown_axes))

    def tried(self, ranges: Ranges, tries: Tries, split: str, known: TrialInSql | None = None) -> TrialInSql:
        # the middle of a range needs no counting
        bands = np.ones_like(tries.row) if split == "range" else ranges.bands()[tries.row, tries.axis]
        row, axis = tries.row, tries.axis
        columns: dict[str, tuple[str, list[Any]]] = {
            "box": ("bigint", ranges.boxes[row].tolist()),
            "way": ("bigint", tries.way.tolist()),
            "ordered": ("bigint", self.ordered[axis].tolist()),
            "lowest": ("bigint", tries.lowest.tolist()),
            "n_people": ("bigint", ranges.people[row].tolist()),
            "band": ("bigint", bands.tolist()),
        }
        if split == "range":
            columns["middle"] = ("double", ranges.middle[row, axis].tolist())
            columns["top"] = ("bigint", ranges.top[row, axis].tolist())
        asked = self.engine.load(columns, "asked")
        if known is not None:
            return TrialInSql(self, tries, asked, known.cells, known.cuts)
        # the people of each box by place along each requested way: by single places where it is cut
        banded = self.relaxed or bands.max() > 1
        about = {"boxes": self.boxes, "asked": asked, "ways": self.places.ways, **self.how, **self.what}
        cells = self.engine.create(render("boxes/cells.sql", banded=banded, **about))
        if banded:
            coarse, middles = cells, self.engine.create(self._cuts(split, cells, asked, banded=True))
            cells = self.engine.create(render("boxes/refined.sql", cells=coarse, middles=middles, **about))
            self.drop(coarse, middles)
        trial = TrialInSql(self, tries, asked, cells, self.engine.create(self._cuts(split, cells, asked)))
        trial.held.append(cells)
        return trial

    def _cuts(self, split: str, cells: Sql, asked: Sql, banded: bool = False) -> Query:
        """Where ordered axes are cut; `banded` returns the bands of places to look into."""
        told, measure = self.places.of_classes
        sizes = self.places.sizes_of_ways if split == "range" else []
        about = {"class": told, "measure": measure, "sizes": sizes, "banded": banded}
        return render(f"boxes/{split}_cuts.sql", cells=cells, asked=asked, **about, **self.how)

    def let_go(self, trial: TrialInSql) -> None:
        self.drop(*trial.held)
        trial.held = []

    # -- the next level ------------------------------------------------------------------------------------

    def move(self, ranges: Ranges, taken: Sequence[Taken[TrialInSql]], cut: Bools) -> bool:
        if not cut.any():
            self._pieces.append(self.boxes)
            return False
        targets = self._targets(ranges, taken)
        boxes = self.boxes
        self.boxes = self.engine.create(
            render(
                "boxes/moved.sql",
                boxes=boxes,
                targets=targets,
                ways=self.places.ways,
                columns=self.places.columns,
                relaxed=self.relaxed,
            )
        )
        if not cut.all():
            left = render("boxes/left_over.sql", boxes=boxes, targets=targets)
            self._pieces.append(self.engine.create(left))
        self.drop(targets, *([boxes] if boxes != self.places.relation else []))
        return True

    def _targets(self, ranges: Ranges, taken: Sequence[Taken[TrialInSql]]) -> Sql:
        """Which boxes are cut, along which way and where, and the new numbers of the parts."""
        columns: dict[str, list[int]] = {"box": [], "way": [], "trial": [], "ordered": [], "lowest": []}
        for number, (trial, accepted, first) in enumerate(taken):
            tries = trial.tries
            columns["trial"] += [number] * len(accepted)
            columns["box"] += ranges.boxes[tries.row[accepted]].tolist()
            columns["way"] += tries.way[accepted].tolist()
            columns["ordered"] += self.ordered[tries.axis[accepted]].tolist()
            columns["lowest"] += (tries.lowest[accepted] + first).tolist()
        accepted_ = self.engine.load({name: ("bigint", c) for name, c in columns.items()}, "accepted")
        cuts = [trial.cuts for trial, _, _ in taken]
        targets = render("boxes/targets.sql", accepted=accepted_, cuts=cuts, relaxed=self.relaxed)
        made = self.engine.create(targets)
        self.drop(accepted_, *dict.fromkeys(cuts))
        return made

    def finished(self, closed: Sequence[int]) -> tuple[Sql, Sql]:
        numbers = {"box": list(closed), "g": list(range(1, len(closed) + 1))}
        numbered = self.engine.load({name: ("bigint", c) for name, c in numbers.items()}, "numbers")
        final = self.engine.create(render("boxes/final.sql", pieces=self._pieces, numbers=numbered))
        self.drop(*(piece for piece in self._pieces if piece != self.places.relation))
        return final, self.places.reach_of(final)

    def drop(self, *relations: Sql) -> None:
        """Drop relations that nothing reads any more."""
        for relation in relations:
            self.engine.drop(relation)
