"""Which values lie near one another: each has a place on a line, and a window from there reaches so far.

A window is a set of values so close that an adversary treats them as one. This module decides in whole
numbers which values a window may hold; the caller has the counts and finds out how many people it holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from privacy_sql.kernels.ratios import whole_numbers

# whole numbers below this are added in 64 bits
MACHINE = 2**62


class ValueLine(NamedTuple):
    """For each value its place, and the last place in the window that starts there."""

    place: npt.NDArray[np.int64]
    upto: npt.NDArray[np.int64]


def by_number(
    numbers: Sequence[int | Decimal | Fraction | None], width: Fraction, *, relative: bool = False
) -> ValueLine:
    """Numbers at most `width` apart; `relative`: of one sign, the largest at most 1 + width times the least.

    Missing numbers have place 0 and lie near nothing else.

    >>> by_number([Decimal("0.7"), Fraction("0.8"), None, 4], Fraction("0.1"))
    ValueLine(place=array([1, 2, 0, 3]), upto=array([2, 2, 0, 3]))
    >>> by_number([-110, -100, 0], Fraction("0.1"), relative=True).upto
    array([2, 2, 3])
    """
    given = [number for number in numbers if number is not None]
    whole, scale = whole_numbers(given)
    try:
        line = np.array(whole, np.int64)
    except OverflowError:
        line = np.array(whole, np.object_)
    known, at = np.unique(line, return_inverse=True)
    largest = max(map(abs, known[[0, -1]].tolist())) if len(known) else 0
    if relative:
        above, below = (1 + width).as_integer_ratio()
        most = largest * max(above, below)
    else:
        further = int(width * scale)  # gaps between whole numbers are whole: a fraction adds nothing
        most = largest + further
    if most >= MACHINE:
        known = known.astype(np.object_)
    if relative:
        farthest = np.where(known > 0, known * above // below, known * below // above)
    else:
        farthest = known + further
    # place 0 is for missing values
    place = np.zeros(len(numbers), np.int64)
    own = slice(None) if len(given) == len(numbers) else [number is not None for number in numbers]
    place[own] = at + 1
    reach = np.concatenate([[0], np.searchsorted(known, farthest, side="right")])
    return ValueLine(place, reach[place])


def by_label(labels: Sequence[int | None]) -> ValueLine:
    """Values that share a label; a missing value is at place 0.

    >>> by_label([7, None, 5, 7]).place
    array([2, 0, 1, 2])
    """
    places = {label: place for place, label in enumerate(sorted({*labels} - {None}), start=1)}  # type: ignore[type-var]
    place = np.array([0 if label is None else places[label] for label in labels], np.int64)
    return ValueLine(place, place)


def bins(line: ValueLine) -> list[int]:
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
