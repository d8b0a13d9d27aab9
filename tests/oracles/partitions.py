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


def safe_cuts(
    boxes: Sequence[Sequence[Row]], columns: Sequence[int], safe: Callable[[list[list[Row]]], bool]
) -> Iterator[tuple[int, int]]:
    """Boxes and columns whose median cut would leave the whole partition safe."""
    for number, box in enumerate(boxes):
        others = [list(other) for place, other in enumerate(boxes) if place != number]
        for column in columns:
            parts = median_cut(box, column)
            if parts and safe([*others, *parts]):
                yield number, column
