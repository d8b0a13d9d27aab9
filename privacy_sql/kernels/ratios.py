"""Ratios of whole numbers compared with a limit, for many groups at once and without rounding errors.

A ratio is kept as its two numbers. Comparing p/q with a/b means comparing p·b with a·q: in 64 bits where both
products fit, otherwise in floats, except for the few ratios near the limit, which Python's integers decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import lcm

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

# products of at most this size are exact in 64 bits
LARGEST = 2**62
# two quotients that differ by more than this, relatively, are in the right order as floats
TOLD_APART = 1e-9


@dataclass(frozen=True)
class Ratios:
    """One ratio above / below for each group; 0 / 0 does not occur, and x / 0 is unbounded.

    >>> halves = Ratios(np.array([1, 2, 3]), np.array([2, 4, 4]))
    >>> halves.keep("<=", Fraction(1, 2)).tolist(), halves.keep("<", Fraction(1, 2)).tolist()
    ([True, True, False], [False, False, False])
    >>> halves.value(halves.worst("<"))
    Fraction(3, 4)
    """

    above: Ints
    below: Ints

    @classmethod
    def of(cls, above: Ints, below: Ints | None = None) -> Ratios:
        """These ratios, or whole numbers as ratios with denominator 1."""
        return cls(above, np.ones_like(above) if below is None else below)

    def keep(self, relation: str, limit: Fraction | int) -> Bools:
        """Which ratios keep to the limit; an unbounded one never does."""
        limit = Fraction(limit)
        bounded = self.below > 0
        if _fits(self.above, limit.denominator) and _fits(self.below, limit.numerator):
            sign = np.sign(self.above * limit.denominator - self.below * limit.numerator)
        else:
            # the sign of ratio - limit: from floats, and from integers near the limit
            with np.errstate(divide="ignore"):
                distance = self.above / self.below - float(limit)
            sign = np.sign(distance).astype(np.int64)
            near = np.flatnonzero(~(np.abs(distance) > TOLD_APART * max(1.0, abs(float(limit)))))
            for place in near.tolist():
                more = int(self.above[place]) * limit.denominator - int(self.below[place]) * limit.numerator
                sign[place] = (more > 0) - (more < 0)
        if relation.startswith("<"):
            sign = -sign
        return np.asarray((sign >= 0 if relation.endswith("=") else sign > 0) & bounded)

    def worst(self, relation: str) -> int:
        """The index of the ratio farthest on the wrong side: the largest, or for >= the smallest."""
        if not self.below.all():
            return int(np.flatnonzero(self.below == 0)[0])
        smallest = relation.startswith(">")
        shares = self.above / self.below
        place = int(shares.argmin() if smallest else shares.argmax())
        room = TOLD_APART * max(1.0, abs(float(shares[place])))
        near = np.flatnonzero(np.abs(shares - shares[place]) <= room)
        # few distinct ratios are so close together, however many groups share them
        while len(near):
            beyond = Ratios(self.above[near], self.below[near]).keep(
                "<" if smallest else ">", self.value(place)
            )
            near = near[beyond]
            if len(near):
                place = int(near[0])
        return place

    def value(self, place: int) -> Fraction:
        """One of the ratios."""
        return Fraction(int(self.above[place]), int(self.below[place]))

    def worst_value(self, relation: str) -> Fraction | None:
        """The ratio farthest on the wrong side; None where it is unbounded, and where there is none."""
        if not len(self.above):
            return None
        place = self.worst(relation)
        return self.value(place) if self.below[place] else None


def _fits(numbers: Ints, factor: int) -> bool:
    largest = max(abs(int(numbers.max(initial=0))), abs(int(numbers.min(initial=0))))
    return largest * abs(factor) < LARGEST


def whole_numbers(numbers: Sequence[int | float | Decimal | Fraction]) -> tuple[list[int], int]:
    """Exact numbers as whole numbers of one unit, and how many units are 1.

    >>> whole_numbers([Decimal("1e2"), 7]), whole_numbers([Decimal("0.7"), 4, Fraction(1, 3)])
    (([100, 7], 1), ([21, 120, 10], 30))
    """
    whole = list(map(int, numbers))
    if whole == numbers:  # as most are, and faster than by their fractions
        return whole, 1
    ratios = [number.as_integer_ratio() for number in numbers]
    scale = lcm(*{below for _, below in ratios})
    return [above * (scale // below) for above, below in ratios], scale
