"""Which values lie near one another: each has a place on a line, and a window from there reaches so far.

A window is a set of values so close that an adversary treats them as one. This module decides in whole
numbers which values a window may hold; the caller has the counts and finds out how many people it holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from math import lcm
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

# whole numbers below this are added in 64 bits
MACHINE = 2**62


class Line(NamedTuple):
    """For each value its place, and the last place in the window that starts there."""

    place: npt.NDArray[np.int64]
    upto: npt.NDArray[np.int64]


def by_number(
    numbers: Sequence[int | Decimal | Fraction | None], width: Fraction, *, relative: bool = False
) -> Line:
    """Numbers at most `width` apart; `relative`: of one sign, the largest at most 1 + width times the least.

    Missing numbers have place 0 and lie near nothing else.

    >>> by_number([Decimal("0.7"), Fraction("0.8"), None, 4], Fraction("0.1"))
    Line(place=array([1, 2, 0, 3]), upto=array([2, 2, 0, 3]))
    >>> by_number([-110, -100, 0], Fraction("0.1"), relative=True).upto
    array([2, 2, 3])
    """
    ratios = [number.as_integer_ratio() for number in numbers if number is not None]
    scale = lcm(*{below for _, below in ratios})
    whole = [above * (scale // below) for above, below in ratios]
    known = sorted({*whole})
    if relative:
        above, below = (1 + width).as_integer_ratio()
        farthest = [number * above // below if number > 0 else number * below // above for number in known]
    else:
        further = int(width * scale)  # gaps between whole numbers are whole: a fraction adds nothing
        farthest = [number + further for number in known]
    largest = max(map(abs, [*known[:1], *known[-1:], *farthest[-1:]]), default=0)
    kind = np.int64 if largest < MACHINE else np.object_
    line = np.array(known, kind)
    # place 0 is for missing values
    place = np.zeros(len(numbers), np.int64)
    place[[number is not None for number in numbers]] = np.searchsorted(line, np.array(whole, kind)) + 1
    reach = np.concatenate([[0], np.searchsorted(line, np.array(farthest, kind), side="right")])
    return Line(place, reach[place])


def by_label(labels: Sequence[int | None]) -> Line:
    """Values that share a label; a missing value is at place 0.

    >>> by_label([7, None, 5, 7]).place
    array([2, 0, 1, 2])
    """
    places = {label: place for place, label in enumerate(sorted({*labels} - {None}), start=1)}  # type: ignore[type-var]
    place = np.array([0 if label is None else places[label] for label in labels], np.int64)
    return Line(place, place)


def bins(line: Line) -> list[int]:
    """For each value its bin: every window lies in one bin or two consecutive ones, every bin in one window.

    >>> bins(by_number([1, 2, 3, 9], Fraction(1)))
    [2, 2, 3, 5]
    """
    reach = np.zeros(int(line.place.max(initial=0)) + 1, np.int64)
    reach[line.place] = line.upto
    found: list[int] = []
    number = 0
    while len(found) < len(reach):
        last = int(reach[len(found)])
        found += [number] * (last + 1 - len(found))
        # where no window continues, the next number stays unused
        number += 1 if reach[last] > last else 2
    return [found[place] for place in line.place.tolist()]
