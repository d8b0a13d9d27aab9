"""Partitions by brute force: every candidate cut of every box of a published table, from its rows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

Row = tuple[Any, ...]


def median_cut(rows: Sequence[Row], column: int) -> list[list[Row]] | None:
    """Rows parted at the place nearest the middle of the people, the lower of two equally near."""
    places = sorted({row[column] for row in rows})
    if len(places) < 2:
        return None
    below = {place: sum(row[column] <= place for row in rows) for place in places[:-1]}
    cut = min(below, key=lambda place: (abs(2 * below[place] - len(rows)), place))
    return [[row for row in rows if row[column] <= cut], [row for row in rows if row[column] > cut]]


def most_telling_cut(rows: Sequence[Row], column: int) -> list[list[Row]] | None:
    """Rows parted where the parts' classes (the last column) have least entropy, at the lowest such place."""
    places = sorted({row[column] for row in rows})[:-1]
    if not places:
        return None

    def parts(place: Any) -> list[list[Row]]:
        return [[r for r in rows if r[column] <= place], [r for r in rows if r[column] > place]]

    def left_to_tell(place: Any) -> float:
        return sum(len(part) * entropy(part) for part in parts(place))

    return parts(min(places, key=lambda place: (round(left_to_tell(place), 3), place)))


def most_telling_cut_by_bands(
    rows: Sequence[Row], column: int, width: int, fewest: int
) -> list[list[Row]] | None:
    """Parted at the place that tells most in the two bands around the end of a band that tells most."""

    def best(places: Sequence[Any]) -> Any:
        parted = {
            p: ([r for r in rows if r[column] <= p], [r for r in rows if r[column] > p]) for p in places
        }
        told = {
            p: (round(sum(len(part) * entropy(part) for part in parts), 5), p)
            for p, parts in parted.items()
            if min(map(len, parts)) >= fewest
        }
        return min(told, key=lambda place: told[place], default=None)

    places = sorted({row[column] for row in rows})
    bands = sorted({place // width for place in places})
    end = best([max(p for p in places if p // width == band) for band in bands])
    if end is not None:
        first = bands.index(end // width)
        places = [place for place in places if place // width in bands[first : first + 2]]
    cut = best(places)
    return (
        None if cut is None else [[r for r in rows if r[column] <= cut], [r for r in rows if r[column] > cut]]
    )


def entropy(rows: Sequence[Row]) -> float:
    """Nats about the class of one of these rows."""
    counts = Counter(row[-1] for row in rows).values()
    return -sum(n / len(rows) * math.log(n / len(rows)) for n in counts)


def every_cut(rows: Sequence[Row], column: int) -> list[list[list[Row]]]:
    """Rows parted at each place in turn."""
    return [
        [[row for row in rows if row[column] <= place], [row for row in rows if row[column] > place]]
        for place in sorted({row[column] for row in rows})[:-1]
    ]


def safe_cuts(
    boxes: Sequence[Sequence[Row]],
    columns: Sequence[int],
    safe: Callable[[list[list[Row]]], bool],
    *,
    anywhere: bool = False,
) -> Iterator[tuple[int, int]]:
    """Boxes and columns whose median cut, or a cut anywhere, would leave the whole partition safe."""
    for number, box in enumerate(boxes):
        others = [list(other) for place, other in enumerate(boxes) if place != number]
        for column in columns:
            median = median_cut(box, column)
            cuts = every_cut(box, column) if anywhere else [median] if median else []
            if any(safe([*others, *parts]) for parts in cuts):
                yield number, column


class Along:
    """One quasi-identifier of rows: places in order, or the nodes of a hierarchy level by level."""

    def __init__(
        self, column: int, values: Sequence[Any], levels: Sequence[Callable[[Any], Any]] = ()
    ) -> None:
        self.column, self.levels = column, levels
        known = [value for value in values if value is not None]
        self.numbers = all(isinstance(value, int | float) for value in known)
        order = {value: place for place, value in enumerate(sorted(set(known)), start=1)}
        self.place = {None: 0, **order}

    def size(self, value: Any) -> float:
        return float(value) if self.numbers else self.place[value]

    def height(self, rows: Sequence[Row]) -> int:
        """The highest level below the one label of all at which rows differ; 0 where they do not."""
        found = [
            n for n, at in enumerate(self.levels, start=1) if len({at(r[self.column]) for r in rows}) > 1
        ]
        return max(found, default=0)

    def span(self, rows: Sequence[Row]) -> float:
        if self.levels:
            return self.height(rows) / len(self.levels)
        held = {row[self.column] for row in rows} - ({None} if self.numbers else set())
        sizes = [self.size(value) for value in held]
        return max(sizes, default=0.0) - min(sizes, default=0.0)

    def can_be_cut(self, rows: Sequence[Row]) -> bool:
        return len({row[self.column] for row in rows}) > 1

    def cut(self, rows: Sequence[Row], split: str) -> list[list[Row]]:
        """The parts of rows, those of the lower places first."""
        if self.levels:
            at = self.levels[self.height(rows) - 1]
            nodes = sorted({at(row[self.column]) for row in rows}, key=str)
            return [[row for row in rows if at(row[self.column]) == node] for node in nodes]
        places = [(*row[: self.column], self.place[row[self.column]], *row[self.column :]) for row in rows]
        if split == "median":
            parts = median_cut(places, self.column) or [places]
        else:
            held = {row[self.column] for row in rows} - ({None} if self.numbers else set())
            middle = (min(map(self.size, held)) + max(map(self.size, held))) / 2
            top = max(row[self.column] for row in places)
            low = [r for r in places if not r[self.column] or self.size(r[self.column + 1]) <= middle]
            edge = min(max(row[self.column] for row in low) + 1, top)
            parts = [[r for r in places if (r[self.column] >= edge) == above] for above in (False, True)]
        return [[(*row[: self.column], *row[self.column + 1 :]) for row in part] for part in parts]


def partition(
    rows: Sequence[Row], axes: Sequence[Along], safe: Callable[[list[list[Row]]], bool], split: str
) -> list[list[Row]]:
    """SkylineAnonymize as it is said: level by level, the widest axis of every box first, then its others.

    A cut is taken when the whole partition with it is safe. `rows` are one box that is safe.
    """
    whole = [axis.span(rows) or 1.0 for axis in axes]
    closed: list[list[Row]] = []
    boxes = [list(rows)]
    while boxes:
        order = [
            sorted(
                (n for n, axis in enumerate(axes) if axis.can_be_cut(box)),
                key=lambda n, box=box: (-axes[n].span(box) / whole[n], n),  # type: ignore[misc]
            )
            for box in boxes
        ]
        cut: dict[int, list[list[Row]]] = {}
        for turns in (slice(0, 1), slice(1, None)):
            for number, box in enumerate(boxes):
                for axis in [] if number in cut else order[number][turns]:
                    parts = axes[axis].cut(box, split)
                    others = [cut.get(n, [other]) for n, other in enumerate(boxes) if n != number]
                    everybody = [*closed, *(part for some in others for part in some), *parts]
                    if len(parts) > 1 and safe(everybody):
                        cut[number] = parts
                        break
        closed += [box for number, box in enumerate(boxes) if number not in cut]
        boxes = [part for parts in cut.values() for part in parts]
    return closed
