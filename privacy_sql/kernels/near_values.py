"""Which values lie near one another: a place on a line for each, and how far a window from there reaches.

A window is a set of values that an adversary takes for one. Which values it may hold is decided here, in
whole numbers; how many people it holds is counted by whoever has the counts.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from fractions import Fraction
from math import lcm
from typing import NamedTuple


class Line(NamedTuple):
    """For each value its place, the last place of the window that begins there, and its bin.

    Every window lies in one bin or in two whose numbers follow one another, and every bin in one window.
    """

    place: list[int]
    upto: list[int]
    bin: list[int]


def by_number(numbers: Sequence[Fraction | None], width: Fraction, *, relative: bool = False) -> Line:
    """Numbers at most `width` apart; `relative`: of one sign, the largest at most 1 + width times the least.

    A missing number is at place 0, near nothing else.

    >>> by_number([Fraction("0.7"), Fraction("0.8"), None, Fraction(4)], Fraction("0.1"))
    Line(place=[1, 2, 0, 3], upto=[2, 2, 0, 3], bin=[2, 2, 0, 4])
    >>> by_number([Fraction(-110), Fraction(-100), Fraction(0)], Fraction("0.1"), relative=True).upto
    [2, 2, 3]
    """
    scale = lcm(*{number.denominator for number in numbers if number is not None})
    whole = [
        None if number is None else number.numerator * (scale // number.denominator) for number in numbers
    ]
    known = sorted({number for number in whole if number is not None})
    farthest = _times(1 + width) if relative else _plus(width * scale)
    # place 0 is that of what is missing
    reach = [0, *(bisect_right(known, farthest(number)) for number in known)]
    places = {number: place for place, number in enumerate(known, start=1)}
    return _line([0 if number is None else places[number] for number in whole], reach)


def by_label(labels: Sequence[int | None]) -> Line:
    """Values that share a label; a missing value is at place 0."""
    places = {label: place for place, label in enumerate(sorted({*labels} - {None}), start=1)}  # type: ignore[type-var]
    return _line([0 if label is None else places[label] for label in labels], [*range(len(places) + 1)])


def _plus(width: Fraction) -> Callable[[int], int]:
    whole = width.numerator // width.denominator  # between whole numbers, a fraction of one adds nothing
    return lambda number: number + whole


def _times(factor: Fraction) -> Callable[[int], int]:
    above, below = factor.numerator, factor.denominator
    return lambda number: number * above // below if number > 0 else number * below // above


def _line(place: list[int], reach: Sequence[int]) -> Line:
    bins: list[int] = []
    number = 0
    while len(bins) < len(reach):
        last = reach[len(bins)]
        bins += [number] * (last + 1 - len(bins))
        # where no window leads on, the next number stays free
        number += 1 if reach[last] > last else 2
    return Line(place, [reach[own] for own in place], [bins[own] for own in place])
