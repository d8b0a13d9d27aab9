"""What cuts would give: the parts of boxes, counted in SQL before anything is decided.

Chen et al. 2008, Fig. 4, line 5: candidate cuts of a box. All boxes of a level are asked about together, each
along the ways its tries name. Among many places a cut is sought in two steps, from counts of bands of places
and then within the band that holds the median, or within the two that the cut telling most lies between, so
that no statement sorts or keeps as many lines as there are combinations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from privacy_sql.boxes.positions import PEOPLE, Places
from privacy_sql.counted.base import Key
from privacy_sql.counted.grouping import Grouping
from privacy_sql.criteria import Criterion
from privacy_sql.query.template import Query, Sql, render
from privacy_sql.spaces.partitions import Integers, Ranges, Tries


@dataclass(frozen=True)
class Trial:
    """Cuts that are tried together: the relations that say what each would give."""

    tries: Tries
    asked: Sql  # box, way, ordered, lowest, n_people, band, middle, top
    cells: Sql  # box, way, place, what is told, measures
    cuts: Sql  # box, way, edge
    parts: Sql  # g, what is told, measures


class Trials:
    """Counts the parts of boxes; a `relaxed` median may part people of one place."""

    def __init__(self, places: Places, require: Sequence[Criterion], fewest: int, relaxed: bool) -> None:
        self.places, self.require = places, require
        self.engine = places.engine
        self.relaxed = relaxed
        self.how: dict[str, Any] = {"relaxed": relaxed, "fewest": fewest}
        self.what: dict[str, Any] = {"told": places.told, "measures": places.measures}

    @cached_property
    def ordered(self) -> Integers:
        """Per axis whether its places have an order."""
        return np.array([axis.ordered for axis in self.places.axes], dtype=np.int64)

    def counted(self, boxes: Sql, ranges: Ranges, tries: Tries, split: str, seen: Trial | None) -> Trial:
        """The parts each try would give, cut where `split` says; `seen` has all these cuts and more."""
        create = self.engine.create
        # the middle of a range is known without counting
        bands = np.ones_like(tries.row) if split == "range" else ranges.bands()[tries.row, tries.axis]
        asked = self.engine.load(self._asked(ranges, tries, split, bands), "asked")
        if seen is None:
            cells = self._cells(boxes, asked, split, banded=self.relaxed or bands.max() > 1)
            cuts = create(self._cuts(split, cells, asked))
        else:
            cells, cuts = seen.cells, seen.cuts
        parts = create(
            render("boxes/parts.sql", cells=cells, cuts=cuts, asked=asked, **self.how, **self.what)
        )
        return Trial(tries, asked, cells, cuts, parts)

    def _cells(self, boxes: Sql, asked: Sql, split: str, banded: bool) -> Sql:
        """The people of each box by place along each way asked about: by single places where it is cut."""
        known = {"boxes": boxes, "asked": asked, "ways": self.places.ways, **self.how, **self.what}
        cells = self.engine.create(render("boxes/cells.sql", banded=banded, **known))
        if not banded:
            return cells
        middles = self.engine.create(self._cuts(split, cells, asked, banded=True))
        refined = self.engine.create(render("boxes/refined.sql", cells=cells, middles=middles, **known))
        self.drop(cells, middles)
        return refined

    def _cuts(self, split: str, cells: Sql, asked: Sql, banded: bool = False) -> Query:
        """Where ordered axes are cut; `banded` asks for the bands of places that are looked into."""
        told, measure = self.places.of_classes
        sizes = self.places.sizes_of_ways if split == "range" else []
        about = {"class": told, "measure": measure, "sizes": sizes, "banded": banded}
        return render(f"boxes/{split}_cuts.sql", cells=cells, asked=asked, **about, **self.how)

    def _asked(
        self, ranges: Ranges, tries: Tries, split: str, bands: Integers
    ) -> dict[str, tuple[str, list[Any]]]:
        row, axis = tries.row, tries.axis
        asked: dict[str, tuple[str, list[Any]]] = {
            "box": ("bigint", ranges.boxes[row].tolist()),
            "way": ("bigint", tries.way.tolist()),
            "ordered": ("bigint", self.ordered[axis].tolist()),
            "lowest": ("bigint", tries.lowest.tolist()),
            "n_people": ("bigint", ranges.people[row].tolist()),
            "band": ("bigint", bands.tolist()),
        }
        if split == "range":
            asked["middle"] = ("double", ranges.middle[row, axis].tolist())
            asked["top"] = ("bigint", ranges.top[row, axis].tolist())
        return asked

    # -- the parts as groups that requirements are asked about -------------------------------------------

    def grouping(self, boxes: Sql, trial: Trial) -> tuple[Grouping, list[Sql]]:
        """The parts as groups, and the relations made for them, the last first."""
        create, places, base = self.engine.create, self.places, self.places.base
        groups = create(render("boxes/part_sizes.sql", parts=trial.parts))
        histogram = create(self._histogram(trial, groups), view=True)
        made = [histogram, groups]
        candidate = people = histogram  # read by requirements about the original quasi-identifiers only
        if any(criterion.needs_base for criterion in self.require):
            assigned = self._assigned(boxes, trial)
            candidate = people = places.members_of(assigned)
            made = [candidate, assigned, *made]
            if base.people:
                people = places.members_of(assigned, people=True)
                made = [people, *made]
        # a part is compared with the whole table, not with the boxes that are tried beside it
        whole = self._overall if base.table.sensitives else None
        return Grouping(base, (Key("box"),), candidate, people, histogram, groups, whole=whole), made

    def _histogram(self, trial: Trial, groups: Sql) -> Query:
        places = self.places
        parts, measure = (trial.parts, places.of_values) if places.by_value else (groups, PEOPLE)
        several = len(places.counted) > 1
        how = {"measure": measure, "by_value": places.by_value, "several": several}
        return render("boxes/part_values.sql", parts=parts, **how)

    def _assigned(self, boxes: Sql, trial: Trial) -> Sql:
        query = render(
            "boxes/assigned.sql",
            boxes=boxes,
            asked=trial.asked,
            cuts=trial.cuts,
            ways=self.places.ways,
            relaxed=self.relaxed,
        )
        return self.engine.create(query, view=True)

    @cached_property
    def _overall(self) -> Sql:
        return self.engine.create(render("counted/overall.sql", histogram=self.places.base.relation))

    def drop(self, *relations: Sql) -> None:
        """Drop what is not read any more."""
        for relation in relations:
            self.engine.drop(relation)
