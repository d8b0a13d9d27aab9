"""Guesses from the nearest published rows, for people of whom no row need be equal to what is known.

Gower's distance: each known column adds at most one. Numbers add their difference as a part of the column's
range, and labels add one if they differ. A missing value is one away from every other. The range of a column
is that of all files that are compared. Distances are whole numbers of a unit that divides every difference,
so equal distances are equal; where that unit is too small, rows that may be equally near count as such.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import lcm

import numpy as np
import numpy.typing as npt

from privacy_sql.errors import UsageError
from privacy_sql.hierarchies.numeric import NUMBER

Ints = npt.NDArray[np.int64]

GRID = 10**15  # parts of the range of a column where differences have no common unit
MOST_PARTS = 2**62  # of the distances of all columns together: they are added as 64-bit integers
MOST_ASKED = 2_000
MOST_PAIRS = 10**9
AT_ONCE = 4 * 10**6  # pairs in one array


@dataclass(frozen=True)
class CodedPeople:
    """The people of one file: codes of their known columns, one line for each combination with the secret."""

    known: Ints  # one column for each known column
    secret: Ints
    n: Ints

    @property
    def people(self) -> int:
        return int(self.n.sum())


class KnownColumnPlaces:
    """The known columns: for each code its place in the range, or only whether two codes are equal."""

    def __init__(self, labels: Sequence[Sequence[str | None]]) -> None:
        """From the labels of the codes of each known column and of the secret, in all files."""
        self._labels = labels
        parts = [_parts(of) for of in labels[:-1]]
        self._one = lcm(*{n.denominator for of in parts for n in of or () if n is not None})
        exact = self._one * len(parts) <= MOST_PARTS
        if not exact:
            self._one = GRID
        # a place is rounded down by less than one part, so a difference is wrong by less than one
        self.slack = 0 if exact else 2 * len(parts)
        self._places = [None if of is None else _places(of, self._one) for of in parts]

    def sample(self, people: CodedPeople, size: int, seed: int) -> tuple[Ints, Ints]:
        """The known codes and the secrets of some people, the same for a seed in whatever order they come."""
        # numbers of codes depend on the order of reading, labels do not
        order = sorted(range(len(people.n)), key=lambda line: self._name(people, line))
        ends = np.cumsum(people.n[order]).tolist()
        drawn = random.Random(seed).sample(range(ends[-1]), min(size, ends[-1]))
        lines = [order[bisect_right(ends, person)] for person in drawn]
        return people.known[lines], people.secret[lines]

    def _name(self, people: CodedPeople, line: int) -> list[tuple[bool, str]]:
        codes = people.known[line].tolist()
        found = [labels[code] for labels, code in zip(self._labels, codes, strict=False)]
        found.append(self._labels[-1][int(people.secret[line])])
        return [(label is not None, label or "") for label in found]

    def distances(self, asked: Ints, shown: Ints) -> Ints:
        """How far each asked combination is from each published one, in parts of a column."""
        found = np.zeros((len(asked), len(shown)), np.int64)
        for column, places in enumerate(self._places):
            ours, theirs = asked[:, column, None], shown[None, :, column]
            if places is None:
                found += np.where(ours == theirs, 0, self._one)
                continue
            place, missing = places
            apart = np.abs(place[ours] - place[theirs])
            found += np.where(missing[ours] ^ missing[theirs], self._one, apart)
        return found


def right_by_nearest(columns: KnownColumnPlaces, asked: tuple[Ints, Ints], shown: CodedPeople) -> Fraction:
    """The expected number guessed right: by the most common secret of the nearest rows, with ties shared."""
    known, own = np.unique(asked[0], axis=0, return_inverse=True)
    rows, row_of = np.unique(shown.known, axis=0, return_inverse=True)
    own, row_of = own.ravel(), row_of.ravel()
    if len(asked[0]) * len(rows) > MOST_PAIRS:
        raise UsageError(
            "too_many_pairs",
            f"{len(asked[0]):,} people and {len(rows):,} different rows are more than {MOST_PAIRS:,} pairs",
            hint="Ask about fewer people with --nearest.",
        )
    right, step = Fraction(0), max(1, AT_ONCE // len(rows))
    for first in range(0, len(known), step):
        distances = columns.distances(known[first : first + step], rows)
        nearest = distances <= distances.min(axis=1, keepdims=True) + columns.slack
        for place, near in enumerate(nearest, start=first):
            lines = near[row_of]
            counts = np.bincount(shown.secret[lines], weights=shown.n[lines])
            best = {*np.flatnonzero(counts == counts.max()).tolist()}
            hits = sum(secret in best for secret in asked[1][own == place].tolist())
            right += Fraction(hits, len(best))
    return right


def _parts(labels: Sequence[str | None]) -> list[Fraction | None] | None:
    """Each number as a part of the range of all, None where it is missing; None if a label is no number.

    >>> [str(part) for part in _parts(["-3", None, "10", "1"])]
    ['0', 'None', '1', '4/13']
    """
    if any(label is not None and not NUMBER.fullmatch(label) for label in labels):
        return None
    numbers = [None if label is None else Fraction(Decimal(label)) for label in labels]
    known = [number for number in numbers if number is not None]
    low = min(known, default=Fraction(0))
    span = max(known, default=low) - low or Fraction(1)
    return [None if number is None else (number - low) / span for number in numbers]


def _places(parts: Sequence[Fraction | None], one: int) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """The place of each number between 0 and one, and which are missing."""
    place = [0 if part is None else int(part * one) for part in parts]
    return np.array(place, np.int64), np.array([part is None for part in parts], np.bool_)
