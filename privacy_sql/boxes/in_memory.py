"""Boxes as arrays: the combinations of a table are stored box after box, and a cut reorders them.

This gives exactly the cuts and box numbers that `candidate_cuts.py` gives in SQL. An axis is one column of
ranks: the places of an ordered axis, or the values of a hierarchy sorted by their highest node, then the next
one below, so that the ends of a box give the highest level at which it differs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import log
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from privacy_sql.boxes.open_boxes import Columns, OpenBoxes, Taken, Trial
from privacy_sql.boxes.positions import PEOPLE, Places
from privacy_sql.counted.base import Base
from privacy_sql.counted.groups import EXACT, Combinations, Groups, Ints, SensitiveValues, starts, totals
from privacy_sql.criteria import Criterion, Splits, Tried
from privacy_sql.query.template import Sql, names, render
from privacy_sql.spaces.partitions import Axis, Bools, Floats, Ranges, Tries

# above this many combinations the engine cuts, because it has a memory limit and spills to disk
MOST_COMBINATIONS = 4_000_000
# combinations that are handled together, each once for every try of its box
AT_ONCE = 2_000_000
# logarithms of whole numbers up to this one are cached
MOST_LOGARITHMS = 10_000_000
Ranks = npt.NDArray[np.int32]
NOWHERE = np.iinfo(np.int64).min  # the edge of a cut without one: everybody lies above it


def fits(base: Base, require: Sequence[Criterion]) -> bool:
    """Whether a table can be cut, and all requirements decided, in memory."""
    if not base.engine.embedded or base.combinations > MOST_COMBINATIONS or base.rows >= EXACT:
        return False
    return all(
        criterion.on_arrays is not None
        and criterion.on_arrays.fits(base)
        and not criterion.needs_base  # its parts are cut by statements
        and not criterion.needs_population  # boxes have no labels to compare
        for criterion in require
    )


@dataclass(frozen=True)
class CombinationCounts:
    """What each combination has: the counts from start[i] up to start[i + 1], each of one code."""

    start: Ints
    code: Ints
    n: Ints
    n_codes: int  # above every code

    @classmethod
    def of(cls, at: Ints, code: Ints, n: Ints, combinations: int) -> CombinationCounts:
        order = np.argsort(at, kind="stable")
        start = np.concatenate([[0], np.cumsum(np.bincount(at, minlength=combinations))])
        return cls(start, code[order], n[order], int(code.max(initial=0)) + 1)

    def at(self, combinations: Ints) -> tuple[Ints, Ints, Ints]:
        """The counts of some combinations: the index of each among them, its code, and the count."""
        owner, place = spread(self.start, combinations)
        return owner, self.code[place], self.n[place]

    def only(self, combinations: Ints) -> CombinationCounts:
        """The same of some combinations, in their order."""
        _, place = spread(self.start, combinations)
        n = (self.start[1:] - self.start[:-1])[combinations]
        return replace(
            self, start=np.concatenate([[0], np.cumsum(n)]), code=self.code[place], n=self.n[place]
        )


def spread(start: Ints, wanted: Ints) -> tuple[Ints, Ints]:
    """The entries from start[i] up to start[i + 1] for every wanted i: their owner and their position.

    >>> owner, place = spread(np.array([0, 2, 5]), np.array([1, 0]))
    >>> owner.tolist(), place.tolist()
    ([0, 0, 0, 1, 1], [2, 3, 4, 0, 1])
    """
    n = start[wanted + 1] - start[wanted]
    owner = np.repeat(np.arange(len(wanted)), n)
    return owner, np.arange(len(owner)) + np.repeat(start[wanted] - (np.cumsum(n) - n), n)


class AxisInMemory:
    """One axis: the rank of every code, and what is at every rank."""

    def __init__(self, places: Places, axis: Axis, position: int) -> None:
        self.axis = axis
        if axis.ordered:
            code, rank, size = places.listed[position]
            self.at = [np.arange(int(rank.max(initial=0)) + 1)]
            self.size = self.at[0].astype(np.float64)
            if axis.numeric:
                self.size[rank] = size
        else:
            labels = places.base.labels[position]
            code, levels = labels.code, labels.at[: axis.levels]
            order = np.lexsort(levels)  # the highest level first
            code, rank = code[order], np.arange(len(order))
            self.at = [codes[order] for codes in levels]
            self.size = np.zeros(0)
        self.rank = np.zeros(int(code.max(initial=0)) + 1, np.int32)
        self.rank[code] = rank

    def ends(self, rank: Ranks, begin: Ints) -> dict[str, Ints]:
        """The smallest and the largest place, or node at every level, of finished boxes."""
        places = {f"_{level}": codes[rank] for level, codes in enumerate(self.at)}
        if self.axis.ordered:
            places = {"": rank.astype(np.int64)}
        return {
            f"{end}_{self.axis.column}{level}": pick.reduceat(place, begin)
            for level, place in places.items()
            for end, pick in (("lo", np.minimum), ("hi", np.maximum))
        }

    def reach(self, low: Ints, high: Ints, known: Ints) -> dict[str, Ints | Floats]:
        """How far boxes reach, from their ends; `known` is the lowest rank of a value that is not missing."""
        column = self.axis.column
        if not self.axis.ordered:
            ends = [(codes[low], codes[high]) for codes in self.at]
            return {
                f"{end}_{column}_{level}": pick(*pair)
                for level, pair in enumerate(ends)
                for end, pick in (("lo", np.minimum), ("hi", np.maximum))
            }
        found: dict[str, Ints | Floats] = {f"lo_{column}": low, f"hi_{column}": high}
        if self.axis.numeric:
            found |= {f"from_{column}": self.size[known], f"to_{column}": self.size[high]}
        return found


class Parts(NamedTuple):
    """Where everybody would be after some tries: combinations, each once for every try of its box."""

    first: int  # the first of the tries
    tried: Ints
    combination: Ints
    part: Ints  # the index of its part in `number`
    number: Ints  # of every part, in order
    people: Ints  # of every part


class TrialInMemory(Trial):
    """Cuts that are tried together, and their places."""

    def __init__(self, counted: BoxesInMemory, tries: Tries, edge: Ints, edge_c: Ints | None) -> None:
        self.counted, self.tries = counted, tries
        self.edge = edge  # the first place above a cut, of an ordered axis
        self.edge_c = (
            edge_c  # and the first combination above it among those at the edge, where they are parted
        )
        self._groups: Groups | None = None

    def part_of(self, tried: Ints, combination: Ints) -> Ints:
        """The number of the part that each combination would be in after a try."""
        place = self.counted.places_along(self.tries, tried, combination)
        edge = self.edge[tried]
        above = place >= edge
        if self.edge_c is not None:
            above &= (place > edge) | (self.counted.c[combination] >= self.edge_c[tried])
        ordered = self.counted.ordered[self.tries.axis[tried]]
        return np.asarray(self.tries.lowest[tried] + np.where(ordered, above, place))

    def _parts(self) -> Iterator[Parts]:
        ends = np.append(self.tries.lowest, self.tries.end)
        for first, last, tried, combination in self.counted.lying(self.tries.row):
            part = self.part_of(tried, combination) - ends[first]
            number, part = numbered(part, int(ends[last] - ends[first]))
            people = totals(part, self.counted.people[combination], len(number))
            yield Parts(first, tried, combination, part, number + ends[first], people)

    def classes(self) -> Columns:
        told = self.counted.classes
        found: list[tuple[Ints, Ints, Ints]] = []
        for parts in self._parts():
            owner, code, n = told.at(parts.combination)
            counted = Combinations.added_up(parts.part[owner] * told.n_codes + code, n)
            found.append((parts.number[counted.keys // told.n_codes], counted.keys % told.n_codes, counted.n))
        g, classes, n_rows = (np.concatenate(columns) for columns in zip(*found, strict=True))
        return {"g": g, "class": classes, "n_rows": n_rows}

    def able(self, alone: Sequence[Criterion]) -> tuple[Ints, Ints]:
        # the tries that give several parts, all large enough, and their parts as groups
        values, fewest = self.counted.values, self.counted.fewest
        able, keys, people, cells, n_before = [], [], [], [], 0
        for parts in self._parts():
            home = self.tries.of_parts(parts.number) - parts.first
            n_tries = int(parts.tried[-1]) - parts.first + 1
            small = np.bincount(home[parts.people < fewest], minlength=n_tries) > 0
            fine = (np.bincount(home, minlength=n_tries) > 1) & ~small
            kept = fine[home]
            able.append(parts.first + np.flatnonzero(fine))
            keys.append(parts.number[kept])
            people.append(parts.people[kept])
            if values is not None:
                asked = fine[parts.tried - parts.first]
                place = (np.cumsum(kept) - 1 + n_before)[parts.part[asked]]
                owner, code, n = values.at(parts.combination[asked])
                cells.append(Combinations.added_up(place[owner] * values.n_codes + code, n))
            n_before += int(np.count_nonzero(kept))
        groups = self.counted.groups(np.concatenate(keys), np.concatenate(people), cells)
        gone = groups.none
        for criterion in alone:
            assert criterion.on_arrays is not None
            gone |= criterion.on_arrays.breaking(groups) if len(groups) else gone
        self._groups = groups
        return np.setdiff1d(np.concatenate(able), self.tries.of_parts(groups.key[gone])), groups.key

    def seen(self, splits: Splits[Tried]) -> Tried:
        assert self._groups is not None
        return splits.seen_in(self._groups)


class BoxesInMemory(OpenBoxes[TrialInMemory]):
    """Open boxes as arrays; a `relaxed` median may separate people at one place."""

    def __init__(self, places: Places, fewest: int, relaxed: bool) -> None:
        self.places, self.base = places, places.base
        self.fewest, self.relaxed = fewest, relaxed
        self.axes = [AxisInMemory(places, axis, position) for position, axis in enumerate(places.axes)]
        self.ordered = np.array([axis.ordered for axis in places.axes])
        # what is at every rank along every way, one way after the other, and how large it is
        ways = [(axis, at) for axis in self.axes for at in axis.at]
        lengths = np.array([len(at) for _, at in ways])
        self._offset = np.cumsum(lengths) - lengths
        self._places = np.concatenate([at for _, at in ways])
        self._sizes = np.concatenate([axis.size if axis.axis.ordered else at * 0.0 for axis, at in ways])
        self._logs = np.full(1, 0.0)
        self._read()

    def _read(self) -> None:
        """Put everybody into the first boxes."""
        base, places = self.base, self.places
        told, columns = places.told_of_members, list(base.columns)
        # lines of a combination add up here
        members = places.members if base.people else places.candidate
        found = self._listed(members, [*columns, *([told] if told else [])])
        # the combinations, in the order of their numbers
        self.c, first, at = np.unique(found["g"], return_index=True, return_inverse=True)
        apart = [found[base.aliases[name]][first] for name in places.as_they_are]
        codes = zip(self.axes, columns, strict=True)
        self.rank = np.stack([axis.rank[found[column][first]] for axis, column in codes])
        self.people = totals(at, found["n_rows"], len(self.c))
        counts = {}
        if told:
            counts[PEOPLE] = CombinationCounts.of(at, found[told], found["n_rows"], len(self.c))
        for part in places.beside:
            its = self._listed(part.relation, ["s"])
            at = np.searchsorted(self.c, its["g"])
            counts[part.measure] = CombinationCounts.of(at, its["s"], its["n_rows"], len(self.c))
        self.values = counts.get(places.of_values) if places.by_value else None
        self._classes = counts.get(places.of_classes[1])
        self.overall = None
        if self.values is not None:
            n_codes = SensitiveValues(base).n_codes
            self.overall = totals(self.values.code, self.values.n, n_codes)
        self._everybody = self.c, self.rank
        self._which = np.arange(len(self.c))  # of the open combinations among all
        self._final = np.zeros(len(self.c), np.int64)  # the number of the box of each
        box = np.zeros(len(self.c), np.int64)
        if apart:
            box = np.unique(np.column_stack(apart), axis=0, return_inverse=True)[1].reshape(-1)
        self._ordered_by(box, np.arange(len(self.c)))

    @property
    def whole(self) -> Groups:
        """The open boxes as groups."""
        begin, cells = self._begin, []
        if self.values is not None:
            owner, code, n = self.values.at(np.arange(len(self.people)))
            box = np.repeat(np.arange(len(self.number)), begin[1:] - begin[:-1])
            cells = [Combinations.added_up(box[owner] * self.values.n_codes + code, n)]
        return self.groups(self.number, np.add.reduceat(self.people, begin[:-1]), cells)

    def groups(self, key: Ints, people: Ints, cells: Sequence[Combinations]) -> Groups:
        """Groups from their people, and how often each value occurs in each, packed."""
        start = np.zeros(len(key) + 1, np.int64)
        value = n = start[:0]
        if self.values is not None:
            packed = np.concatenate([some.keys for some in cells])
            n, value = np.concatenate([some.n for some in cells]), packed % self.values.n_codes
            np.cumsum(np.bincount(packed // self.values.n_codes, minlength=len(key)), out=start[1:])
        return Groups(key, people, start, value, n, SensitiveValues(self.base), self.overall)

    def _listed(self, relation: Sql, columns: Sequence[str]) -> dict[str, Ints]:
        query = render("counted/listed.sql", relation=relation, columns=names(["g", *columns, "n_rows"]))
        found = self.places.engine.arrays(query)
        return {name: np.asarray(column).astype(np.int64) for name, column in found.items()}

    def _ordered_by(self, box: Ints, combinations: Ints) -> None:
        """Continue with some of the combinations, each in a box."""
        order = np.argsort(box, kind="stable")
        box, combinations = box[order], combinations[order]
        self.c, self.people = self.c[combinations], self.people[combinations]
        self.rank, self._which = self.rank[:, combinations], self._which[combinations]
        if self.values is not None:
            same = self._classes is self.values
            self.values = self.values.only(combinations)
            self._classes = self.values if same else self._classes
        if self._classes is not None and self._classes is not self.values:
            self._classes = self._classes.only(combinations)
        first = starts(box)
        self.number = box[first]
        self._begin = np.append(first, len(box))

    @property
    def classes(self) -> CombinationCounts:
        """The class of an information gain."""
        assert self._classes is not None
        return self._classes

    def lying(self, rows: Ints) -> Iterator[tuple[int, int, Ints, Ints]]:
        """The combinations of boxes, in portions: the first box, the last, and the index of each."""
        upto = np.cumsum((self._begin[1:] - self._begin[:-1])[rows])
        first = 0
        while first < len(rows):
            before = int(upto[first - 1]) if first else 0
            last = max(first + 1, int(np.searchsorted(upto, before + AT_ONCE, side="right")))
            owner, combination = spread(self._begin, rows[first:last])
            yield first, last, owner + first, combination
            first = last

    def places_along(self, tries: Tries, tried: Ints, combination: Ints) -> Ints:
        """Where combinations lie along the tried ways."""
        return np.asarray(self._places[self._along(tries, tried, combination)])

    def _along(self, tries: Tries, tried: Ints, combination: Ints) -> Ints:
        rank = self.rank[tries.axis[tried], combination]
        return np.asarray(self._offset[tries.way[tried]] + rank)

    # -- how far boxes reach ---------------------------------------------------------------------------

    def reach(self) -> Columns:
        begin = self._begin[:-1]
        found: dict[str, Ints | Floats] = {"box": self.number}
        found["n_people"] = np.add.reduceat(self.people, begin)
        for axis, rank in zip(self.axes, self.rank, strict=True):
            low, high = np.minimum.reduceat(rank, begin), np.maximum.reduceat(rank, begin)
            known = low
            if axis.axis.numeric and not low.all():  # NULL lies at place 0
                known = np.minimum.reduceat(np.where(rank > 0, rank, np.iinfo(np.int32).max), begin)
                known = np.where(known > high, 0, known)
            found |= axis.reach(low, high, known)
        return found

    # -- where boxes are cut ---------------------------------------------------------------------------

    def tried(
        self, ranges: Ranges, tries: Tries, split: str, known: TrialInMemory | None = None
    ) -> TrialInMemory:
        if known is not None:
            place = np.zeros((len(ranges.boxes), len(self.axes)), np.int64)
            place[known.tries.row, known.tries.axis] = np.arange(len(known.tries))
            same = place[tries.row, tries.axis]
            return TrialInMemory(self, tries, known.edge[same], None)
        edge = np.full(len(tries), NOWHERE)
        edge_c = np.zeros(len(tries), np.int64) if self.relaxed else None
        cut = {"median": self._medians, "range": self._middles, "information_gain": self._most_telling}[split]
        asked = np.flatnonzero(self.ordered[tries.axis])
        for first, last, place, combination in self.lying(tries.row[asked]):
            its = asked[first:last]
            found, beside = cut(ranges, tries, its, place - first, combination)
            edge[its] = found
            if edge_c is not None and beside is not None:
                edge_c[its] = beside
        return TrialInMemory(self, tries, edge, edge_c)

    def let_go(self, trial: TrialInMemory) -> None:
        """Keep nothing but the places of its cuts."""

    def _medians(
        self, ranges: Ranges, tries: Tries, asked: Ints, tried: Ints, combination: Ints
    ) -> tuple[Ints, Ints | None]:
        """Cut next to the place of the middle person, on the side that makes the halves more equal."""
        place = self.places_along(tries, asked[tried], combination)
        n = self.people[combination]
        if self.relaxed:
            order = np.lexsort((self.c[combination], place, tried))
            tried, place, n = tried[order], place[order], n[order]
        else:
            row, axis = tries.row[asked], tries.axis[asked]
            bottom, width = ranges.bottom[row, axis], (ranges.top - ranges.bottom)[row, axis] + 1
            offset = np.cumsum(width) - width
            number, at = numbered((offset - bottom)[tried] + place, int(width.sum()))
            n = totals(at, n, len(number))
            tried = np.searchsorted(offset, number, side="right") - 1
            place = number - (offset - bottom)[tried]
        first = starts(tried)
        upto = np.cumsum(n)
        before, everybody = upto[first] - n[first], np.add.reduceat(n, first)
        middle = np.searchsorted(upto, before + (everybody + 1) // 2)
        so_far, own = upto[middle] - before, n[middle]
        nearer = 2 * so_far - everybody < everybody - 2 * (so_far - own)
        below = (so_far == own) | ((so_far < everybody) & nearer)
        if self.relaxed:
            return place[middle], self.c[combination][order][middle] + below
        return place[middle] + below, None

    def _middles(
        self, ranges: Ranges, tries: Tries, asked: Ints, tried: Ints, combination: Ints
    ) -> tuple[Ints, Ints | None]:
        """Cut above the last place in the lower half of the range; NULL lies below, the top above."""
        row, axis = tries.row[asked], tries.axis[asked]
        along = self._along(tries, asked[tried], combination)
        place = self._places[along]
        low = (place == 0) | (self._sizes[along] <= ranges.middle[row, axis][tried])
        last = np.maximum.reduceat(np.where(low, place, -1), starts(tried))
        return np.where(last < 0, NOWHERE, np.minimum(last + 1, ranges.top[row, axis])), None

    def _most_telling(
        self, ranges: Ranges, tries: Tries, asked: Ints, tried: Ints, combination: Ints
    ) -> tuple[Ints, Ints | None]:
        """The most informative cut about a class; among many places, between the two best bands."""
        owner, code, n = self.classes.at(combination)
        place = self.places_along(tries, asked[tried], combination)[owner]
        tried = tried[owner]
        band = ranges.bands()[tries.row[asked], tries.axis[asked]]
        within = place // band[tried] * band[tried]
        if band.max(initial=1) > 1:
            first, edge = self._told(tried, within, code, n, len(asked), banded=True)
            looked = (band > 1) & (first != NOWHERE)
            stop = np.where(edge == NOWHERE, first, edge) + band
            inside = np.where(place < first[tried], -1, np.minimum(place, stop[tried]))
            within = np.where(looked[tried], inside, within)
        return self._told(tried, within, code, n, len(asked), banded=False)[1], None

    def _told(
        self, tried: Ints, place: Ints, code: Ints, n: Ints, n_tries: int, *, banded: bool
    ) -> tuple[Ints, Ints]:
        """The places below and above the most informative cut, the lowest of several."""
        span, n_codes = int(place.max(initial=0)) + 2, self.classes.n_codes
        number, at = numbered(tried * span + place + 1, n_tries * span)
        cells = Combinations.added_up(at * n_codes + code, n)
        line, count = cells.keys // n_codes, cells.n
        its, above = number // span, number % span - 1  # the try and the place of each line
        order = np.argsort(its[line] * n_codes + cells.keys % n_codes, kind="stable")
        upto, everybody = _running(count[order], (its[line] * n_codes + cells.keys % n_codes)[order])
        below, of_class = np.empty_like(upto), np.empty_like(upto)
        below[order], of_class[order] = upto, everybody
        change = self._nats(below, of_class - below) - self._nats(below - count, of_class - below + count)
        first = starts(line)
        n_line = np.add.reduceat(count, first)
        told, _ = _running(np.add.reduceat(change, first), its)
        below, everybody = _running(n_line, its)
        score = told - self._nats(below, everybody - below)
        last = np.append(its[1:] != its[:-1], True)
        edge = np.where(last, NOWHERE, np.append(above[1:], 0))
        left = everybody - below >= self.fewest
        if banded:  # one band has all places that leave enough people on both sides
            left |= below - n_line < self.fewest
        allowed = (below >= self.fewest) & left
        begin = starts(its)
        best = np.maximum.reduceat(np.where(allowed, score, NOWHERE), begin)
        chosen = allowed & (score == best[np.searchsorted(its[begin], its)])
        far = np.iinfo(np.int64).max
        found = np.full((2, n_tries), NOWHERE)
        for where, values in zip(found, (above, np.where(edge == NOWHERE, far, edge)), strict=True):
            least = np.minimum.reduceat(np.where(chosen, values, far), begin)
            where[its[begin]] = np.where(least == far, NOWHERE, least)
        return found[0], found[1]

    def _nats(self, one: Ints, other: Ints) -> Ints:
        """The sum of n ln n of two numbers in whole millionths of a nat, with the same digits as in SQL."""
        return np.floor(1_000_000 * (one * self._ln(one) + other * self._ln(other))).astype(np.int64)

    def _ln(self, numbers: Ints) -> Floats:
        """Logarithms of whole numbers (0 for 0) from the library of the engines; others round differently."""
        most = int(numbers.max(initial=0))
        if most > MOST_LOGARITHMS:
            found, at = np.unique(numbers, return_inverse=True)
            return np.array([log(max(n, 1)) for n in found.tolist()])[at]
        if most >= len(self._logs):
            self._logs = np.append(self._logs, np.full(most + 1 - len(self._logs), np.nan))
        missing = np.unique(numbers[np.isnan(self._logs[numbers])])
        self._logs[missing] = [log(max(n, 1)) for n in missing.tolist()]
        return np.asarray(self._logs[numbers])

    # -- the next level --------------------------------------------------------------------------------

    def move(self, ranges: Ranges, taken: Sequence[Taken[TrialInMemory]], cut: Bools) -> bool:
        n = self._begin[1:] - self._begin[:-1]
        box = np.repeat(self.number, n)
        goes = np.repeat(cut, n)
        self._final[self._which[~goes]] = box[~goes]
        for trial, tries, number in taken:
            owner, combination = spread(self._begin, trial.tries.row[tries])
            box[combination] = trial.part_of(tries[owner], combination) + number
        self._ordered_by(box[goes], np.flatnonzero(goes))
        return bool(cut.any())

    def finished(self, closed: Sequence[int]) -> tuple[Sql, Sql]:
        c, rank = self._everybody
        g = np.searchsorted(np.array(closed), self._final) + 1
        engine = self.places.engine
        final = engine.load_whole_numbers({"c": c, "g": g}, "final")
        order = np.argsort(g, kind="stable")
        begin = starts(g[order])
        columns: dict[str, Ints] = {}
        for axis, its in zip(self.axes, rank, strict=True):
            columns |= axis.ends(its[order], begin)
        return final, engine.load_whole_numbers({"box": g[order][begin], **columns}, "reach")


def _running(n: Ints, of: Ints) -> tuple[Ints, Ints]:
    """Running sums and totals over runs of equal numbers."""
    first = starts(of)
    upto = np.cumsum(n)
    before = np.repeat(upto[first] - n[first], np.diff(np.append(first, len(n))))
    everybody = np.repeat(np.add.reduceat(n, first) if len(n) else n, np.diff(np.append(first, len(n))))
    return upto - before, everybody


def numbered(numbers: Ints, span: int) -> tuple[Ints, Ints]:
    """The numbers below `span` that occur, in order, and the index of each among them."""
    if span > 8 * len(numbers) + 1024:
        found, place = np.unique(numbers, return_inverse=True)
        return found, place
    occurs = np.zeros(span, np.bool_)
    occurs[numbers] = True
    return np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[numbers]
