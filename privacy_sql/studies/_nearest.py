"""Guesses from the nearest published rows, for people of whom no row need be equal to what is known.

Gower's distance: each known column adds at most one. Numbers add their difference as a part of the column's
range, and labels add one if they differ. A missing value is one away from every other. The range of a column
is that of all files that are compared. Its parts are whole billionths, so equal distances are equal.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from privacy_sql.errors import UsageError
from privacy_sql.hierarchies.numeric import NUMBER

Ints = npt.NDArray[np.int64]

GRID = 10**9  # parts of the range of a column
MOST_ASKED = 2_000
MOST_PAIRS = 10**9
AT_ONCE = 4 * 10**6  # pairs in one array


@dataclass(frozen=True)
class People:
    """The people of one file: codes of their known columns, one line for each combination with the secret."""

    known: Ints  # one column for each known column
    secret: Ints
    n: Ints

    @property
    def people(self) -> int:
        return int(self.n.sum())


class Columns:
    """The known columns: for each code its place in the range, or only whether two codes are equal."""

    def __init__(self, labels: Sequence[Sequence[str | None]]) -> None:
        """From the labels of the codes of each column, in all files."""
        self._labels = labels
        self._places = [_places(of) for of in labels]

    def sample(self, people: People, size: int, seed: int) -> tuple[Ints, Ints]:
        """The known codes and the secrets of some people, the same for a seed in whatever order they come."""
        # numbers of codes depend on the order of reading, labels do not
        order = sorted(range(len(people.n)), key=lambda line: self._name(people, line))
        ends = np.cumsum(people.n[order]).tolist()
        drawn = random.Random(seed).sample(range(ends[-1]), min(size, ends[-1]))
        lines = [order[bisect_right(ends, person)] for person in drawn]
        return people.known[lines], people.secret[lines]

    def _name(self, people: People, line: int) -> list[tuple[bool, str]]:
        codes = people.known[line].tolist()
        found = [labels[code] for labels, code in zip(self._labels, codes, strict=False)]
        found.append(self._labels[-1][int(people.secret[line])])
        return [(label is not None, label or "") for label in found]

    def distances(self, asked: Ints, shown: Ints) -> Ints:
        """How far each asked combination is from each published one, in billionths."""
        found = np.zeros((len(asked), len(shown)), np.int64)
        for column, places in enumerate(self._places[: asked.shape[1]]):
            ours, theirs = asked[:, column, None], shown[None, :, column]
            if places is None:
                found += np.where(ours == theirs, 0, GRID)
                continue
            place, missing = places
            apart = np.abs(place[ours] - place[theirs])
            found += np.where(missing[ours] ^ missing[theirs], GRID, apart)
        return found


def right_by_nearest(columns: Columns, asked: tuple[Ints, Ints], shown: People) -> Fraction:
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
        nearest = distances == distances.min(axis=1, keepdims=True)
        for place, near in enumerate(nearest, start=first):
            lines = near[row_of]
            counts = np.bincount(shown.secret[lines], weights=shown.n[lines])
            best = {*np.flatnonzero(counts == counts.max()).tolist()}
            hits = sum(secret in best for secret in asked[1][own == place].tolist())
            right += Fraction(hits, len(best))
    return right


def _places(labels: Sequence[str | None]) -> tuple[Ints, npt.NDArray[np.bool_]] | None:
    """The place of each number in the range, and which are missing; None if a label is no number.

    >>> places = _places(["10", None, "20", "15"])
    >>> [part.tolist() for part in places]
    [[0, 0, 1000000000, 500000000], [False, True, False, False]]
    """
    if any(label is not None and not NUMBER.fullmatch(label) for label in labels):
        return None
    numbers = [None if label is None else Fraction(Decimal(label)) for label in labels]
    known = [number for number in numbers if number is not None]
    low, span = min(known, default=Fraction(0)), max(known, default=0) - min(known, default=0)
    place = [0 if n is None or not span else int((n - low) / span * GRID) for n in numbers]
    return np.array(place, np.int64), np.array([number is None for number in numbers], np.bool_)
