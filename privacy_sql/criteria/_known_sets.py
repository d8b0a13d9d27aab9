"""The people of each set of columns, on arrays: many sets are added up from one table of a larger set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from privacy_sql.counted.groups import Bools, Ints, totals
from privacy_sql.kernels.larger_sets import larger_sets

# a table of all labels of a set is made if it has at most one place for so many combinations
FEWER = 16
LEAST_PLACES = 4096
# packed labels stay below the sign of 64 bits
MOST_KEYS = 2**62


class Crowds(NamedTuple):
    """Everybody who shares the labels of a set, and how often the most common value occurs among them."""

    people: Ints
    top: Ints | None  # None if nothing is asked of values

    @property
    def met(self) -> Crowds:
        """Without labels that nobody has."""
        held = self.people > 0
        return Crowds(self.people[held], None if self.top is None else self.top[held])

    @property
    def share(self) -> Fraction | None:
        """The largest share of one value, exactly.

        >>> Crowds(np.array([3, 4]), np.array([2, 3])).share
        Fraction(3, 4)
        """
        if self.top is None:
            return None
        # a quotient of doubles is rounded the same way for equal fractions and never out of order
        shares = self.top / self.people
        largest = np.flatnonzero(shares == shares.max())
        pairs = {*zip(self.top[largest].tolist(), self.people[largest].tolist(), strict=True)}
        return max(Fraction(top, people) for top, people in pairs)

    def below(self, k: int, share: Fraction | None) -> Bools:
        """Which of them are fewer than k, or have a value with more than a share."""
        found = np.asarray(self.people < k)
        if share is None or self.top is None:
            return found
        size = int(self.people.max(initial=0)) + 1
        if share.denominator < MOST_KEYS // size and size < MOST_KEYS // size:
            over = self.top * share.denominator > self.people * share.numerator
            return np.asarray(found | over)
        pairs = zip(self.top.tolist(), self.people.tolist(), strict=True)
        return found | np.array([top > share * people for top, people in pairs], np.bool_)


@dataclass(frozen=True)
class Coded:
    """Combinations of labels as codes, one array for each column, and how many people have each."""

    codes: Mapping[str, npt.NDArray[Any]]
    n: Ints
    value: npt.NDArray[Any] | None = None  # the sensitive value of each, where a share is asked

    def of_sets(self, sets: Sequence[tuple[str, ...]]) -> Iterator[tuple[tuple[str, ...], Crowds]]:
        """The crowds of every set, in any order.

        >>> coded = Coded({"a": np.array([0, 0, 1]), "b": np.array([0, 1, 1])}, np.array([5, 1, 2]))
        >>> {own: crowds.people.tolist() for own, crowds in coded.of_sets([("a",), ("b",), ("a", "b")])}
        {('a',): [6, 2], ('b',): [5, 3], ('a', 'b'): [5, 1, 2]}
        """
        order = {name: place for place, name in enumerate(self.codes)}
        asked: dict[frozenset[int], list[tuple[str, ...]]] = {}
        for columns in sets:
            asked.setdefault(frozenset(order[name] for name in columns), []).append(columns)
        room = max(LEAST_PLACES, len(self.n) // FEWER) // self._n_values
        for larger, held in _covers(list(asked), [self._size(name) for name in self.codes], room):
            for one, crowds in self._added_up(larger, held):
                for columns in asked[one]:
                    yield columns, crowds

    def failing(self, sets: Iterable[tuple[Sequence[str], int, Fraction | None]]) -> tuple[Bools, Bools]:
        """The combinations whose crowd of some set is smaller than its k, and those that break any limit."""
        small, failing = np.zeros(len(self.n), np.bool_), np.zeros(len(self.n), np.bool_)
        for columns, k, share in sets:
            own, crowds = self._counted([self.codes[name] for name in columns])
            small |= (crowds.people < k)[own]
            failing |= crowds.below(k, share)[own]
        return small, failing

    @property
    def _n_values(self) -> int:
        return 1 if self.value is None else int(self.value.max(initial=0)) + 1

    def _size(self, name: str) -> int:
        return int(self.codes[name].max(initial=0)) + 1

    def _added_up(
        self, larger: Sequence[int], held: Sequence[frozenset[int]]
    ) -> Iterator[tuple[frozenset[int], Crowds]]:
        """The crowds of some sets inside a larger one."""
        names = list(self.codes)
        columns = [self.codes[names[place]] for place in larger]
        sizes = [self._size(names[place]) for place in larger]
        if self.value is not None:
            columns, sizes = [*columns, self.value], [*sizes, self._n_values]
        if prod(sizes) > max(LEAST_PLACES, len(self.n) // FEWER):
            for one in held:  # too many labels for a table
                yield one, self._counted([self.codes[names[place]] for place in sorted(one)])[1].met
            return
        # the place of each combination in a table of all labels, in a third of the time of numpy's own
        at = columns[0].astype(np.int64)
        for column, size in zip(columns[1:], sizes[1:], strict=True):
            at *= size
            at += column
        table = totals(at, self.n, prod(sizes)).reshape(sizes)
        for one in held:
            others = tuple(axis for axis, place in enumerate(larger) if place not in one)
            counts = table.sum(axis=others)
            if self.value is None:
                yield one, Crowds(counts.ravel(), None).met
            else:
                yield one, Crowds(counts.sum(axis=-1).ravel(), counts.max(axis=-1).ravel()).met

    def _counted(self, columns: Sequence[npt.NDArray[Any]]) -> tuple[Ints, Crowds]:
        """A number for the labels of every combination, and the crowd with that number, if there is any."""
        own = _numbered(columns)
        people = totals(own, self.n, int(own.max(initial=0)) + 1)
        if self.value is None:
            return own, Crowds(people, None)
        with_value = _numbered([own, self.value])
        n = totals(with_value, self.n, int(with_value.max(initial=0)) + 1)
        top = np.zeros(len(people), np.int64)
        np.maximum.at(top, own, n[with_value])
        return own, Crowds(people, top)


def _covers(
    sets: Sequence[frozenset[int]], sizes: Sequence[int], room: int
) -> Iterator[tuple[list[int], list[frozenset[int]]]]:
    """Larger sets of at most `room` places, and the sets inside each."""
    if len(sizes) >= MOST_KEYS.bit_length():
        yield from ((sorted(one), [one]) for one in sets)
        return
    bits = {sum(1 << place for place in one): one for one in sets}
    for larger, held in larger_sets(list(bits), sizes, room):
        inside = [place for place in range(len(sizes)) if larger >> place & 1]
        yield inside, [bits[one] for one in held]


def _numbered(columns: Sequence[npt.NDArray[Any]]) -> Ints:
    """A small number for each combination of codes: packed, and counted again where that is too large."""
    key = columns[0].astype(np.int64)
    top = int(key.max(initial=0)) + 1
    for column in columns[1:]:
        size = int(column.max(initial=0)) + 1
        if top * size >= MOST_KEYS:
            key = np.unique(key, return_inverse=True)[1]
            top = int(key.max(initial=0)) + 1
        key, top = key * size + column, top * size
    if top > 2 * len(key):
        key = np.unique(key, return_inverse=True)[1]
    return np.asarray(key, np.int64)
