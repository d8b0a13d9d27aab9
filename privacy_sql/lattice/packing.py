"""Combinations of codes as whole numbers, and how their counts at a finer choice make those at a coarser one.

LeFevre et al. 2005 (Incognito), roll-up property. A combination is one integer in which every column has its
own bits at every level, so a coarser choice changes only the bits of the columns it generalises.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from privacy_sql.counted.base import Base
from privacy_sql.counted.groups import Combinations, Ints
from privacy_sql.counted.levels import ValueLabels
from privacy_sql.spaces.lattice import Choice

# a counted choice is kept if it has this many times fewer combinations than what it was counted from
WORTH_KEEPING = 3
# the most that is kept, in multiples of the base
MOST_KEPT = 2


def width(base: Base, column: str) -> int:
    """How many bits the codes of a column need."""
    return int(base.statistics[column]["top"]).bit_length() if column in base.statistics else 0


def widths(base: Base) -> list[int]:
    """The same of every quasi-identifier."""
    return [width(base, column) for column in base.columns]


class KnownChoices:
    """One counted relation at the choices seen so far; the smallest ones are kept."""

    def __init__(self, finest: Combinations, packing: Packing, low: int) -> None:
        self._packing, self._low = packing, low  # bits of the sensitive value, below all others
        # choices and their combinations change together: an interrupt may come at any time
        self._known = (np.zeros((1, len(packing.widths)), np.int64), [finest])

    def at(self, choice: Choice) -> Combinations:
        """The combinations of a choice, counted from the smallest finer choice at hand."""
        choices, kept = self._known
        sizes = [len(counted.keys) for counted in kept]
        finer = np.flatnonzero((choices <= np.array(choice)).all(axis=1)).tolist()
        source = min(finer, key=sizes.__getitem__)
        below = choices[source].tolist()
        if list(choice) == below:
            return kept[source]
        keys = self._packing.coarser(kept[source].keys, below, choice, self._low)
        made = Combinations.added_up(keys, kept[source].n)
        room = MOST_KEPT * sizes[0] - sum(sizes[1:])
        if len(made.keys) * WORTH_KEEPING <= sizes[source] and len(made.keys) <= room:
            self._known = (np.concatenate([choices, [choice]]), [*kept, made])
        return made


class Packing:
    """The position of each quasi-identifier's code in a packed key, and how codes become coarser."""

    def __init__(self, widths: Sequence[int], labels: Sequence[ValueLabels]) -> None:
        self.widths = list(widths)  # the bits of every column
        self.shifts = [sum(self.widths[n + 1 :]) for n in range(len(self.widths))]
        self._labels = labels
        self._tables: dict[tuple[int, int], Ints] = {}

    def packed(self, columns: Sequence[Ints]) -> Ints:
        """One key for each combination of codes."""
        keys = np.zeros(len(columns[0]), np.int64)
        for codes, shift, width in zip(columns, self.shifts, self.widths, strict=True):
            assert int(codes.max(initial=0)) < 1 << width, "a code does not fit into its bits"
            keys |= codes.astype(np.int64) << shift
        return keys

    def codes(self, keys: Ints, position: int) -> Ints:
        """The codes of one column."""
        return (keys >> self.shifts[position]) & ((1 << self.widths[position]) - 1)

    def coarser(self, keys: Ints, below: Sequence[int], choice: Sequence[int], low: int) -> Ints:
        """The keys at a coarser choice; the `low` bits below them do not change."""
        kept, constant, tables = -1, 0, []
        for position, (was, level) in enumerate(zip(below, choice, strict=True)):
            if was == level:
                continue
            shift, mask = self.shifts[position] + low, (1 << self.widths[position]) - 1
            kept &= ~(mask << shift)
            at = self._labels[position].at[level]
            if len(at) and (at == at[0]).all():  # all values have the same label, so no lookup is needed
                constant |= int(at[0]) << shift
                continue
            if (position, level) not in self._tables:  # the code at this level for every code at a finer one
                table = np.zeros(mask + 1, np.int64)
                finer_levels = self._labels[position].at[:level]
                for finer in reversed(finer_levels):
                    table[finer] = at
                assert all((table[finer] == at).all() for finer in finer_levels), "labels are not nested"
                self._tables[position, level] = table
            tables.append((shift, mask, self._tables[position, level]))
        made = (keys & kept) | constant
        for shift, mask, table in tables:
            made |= table[(keys >> shift) & mask] << shift
        return np.asarray(made)
