"""The choices of a lattice, counted in memory by sorting and adding up packed codes, without SQL per choice.

As in `rollup.py`, a coarser choice is counted from the smallest finer one already counted; `packing.py` does
it, and `further_counts.py` counts a population and households the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from privacy_sql.counted.base import Base
from privacy_sql.counted.groups import (
    EXACT,
    MOST_BITS,
    Bools,
    Combinations,
    Groups,
    Ints,
    SensitiveValues,
    starts,
    totals,
)
from privacy_sql.criteria import Criterion
from privacy_sql.lattice import further_counts
from privacy_sql.lattice.further_counts import FurtherCounts
from privacy_sql.lattice.packing import KnownChoices, Packing, width, widths
from privacy_sql.query.template import Sql, names, render
from privacy_sql.spaces.lattice import Choice, Lattice

# above this many combinations the engine counts, because it has a memory limit and spills to disk
MOST_COMBINATIONS = 4_000_000


def fits(base: Base, require: Sequence[Criterion]) -> bool:
    """Whether a table's choices can be counted, and these requirements decided, in memory."""
    if not base.engine.embedded or base.combinations > MOST_COMBINATIONS or base.rows >= EXACT:
        return False
    if sum(widths(base)) + width(base, "s") > MOST_BITS:
        return False
    implied = [c for criterion in require for c in (criterion, *criterion.necessary())]
    return all(
        criterion.on_arrays is not None and criterion.on_arrays.fits(base) for criterion in implied
    ) and further_counts.fits(base, implied, MOST_COMBINATIONS)


def lattice_of(base: Base) -> Lattice:
    """One axis per quasi-identifier, with the labels its values show at each level."""
    return Lattice(
        tuple(
            tuple(max(1, int(np.count_nonzero(np.bincount(codes)))) for codes in labels.at)
            for labels in base.domains
        )
    )


class InMemory:
    """The groups of every choice of a base; with their sensitive values if `with_sensitive`."""

    def __init__(self, base: Base, *, with_sensitive: bool) -> None:
        self.base = base
        self.with_sensitive = with_sensitive
        self._low = width(base, "s") if with_sensitive else 0
        self.packing = Packing(widths(base), base.domains)
        self._values = self._known(base.relation, with_sensitive)
        self._people = self._known(base.people, False) if base.people else None
        self._holders = self._known(base.holders, False) if base.holders else None

    @cached_property
    def overall(self) -> Ints | None:
        """How often each sensitive value occurs in the whole table."""
        if not self.with_sensitive:
            return None
        finest = self._values.at((0,) * len(self.packing.widths))
        return totals(finest.keys & ((1 << self._low) - 1), finest.n, SensitiveValues(self.base).n_codes)

    @cached_property
    def n_of_source(self) -> Ints:
        """How often each combination occurs in the source."""
        return self._values.at((0,) * len(self.packing.widths)).n

    def _known(self, relation: Sql, with_sensitive: bool) -> KnownChoices:
        columns = names([*self.base.columns, *(["s"] if with_sensitive else []), "n_rows"])
        found = self.base.engine.arrays(render("counted/listed.sql", relation=relation, columns=columns))
        *codes, n_rows = map(np.asarray, found.values())
        quasi = codes[:-1] if with_sensitive else codes
        keys = self.packing.packed(quasi)
        if with_sensitive:
            keys = (keys << self._low) | codes[-1].astype(np.int64)
        counted = Combinations.added_up(keys, n_rows.astype(np.int64))
        return KnownChoices(counted, self.packing, self._low if with_sensitive else 0)

    def groups(self, choice: Choice) -> Groups:
        """The groups of a choice."""
        found = self._values.at(choice)
        group = found.keys >> self._low
        if self._people is None:
            first = starts(group)
            key, people = group[first], np.add.reduceat(found.n, first) if len(first) else found.n
            start, rows, holders = np.append(first, len(group)), None, None
        else:
            members = self._people.at(choice)
            key, people = members.keys, members.n
            assert self._holders is not None
            held = self._holders.at(choice)
            rows, holders = self._beside(key, group, found.n), self._beside(key, held.keys, held.n)
            n_values = np.bincount(np.searchsorted(key, group), minlength=len(key))
            start = np.concatenate([[0], np.cumsum(n_values)])
        return Groups(
            key=key,
            people=people,
            start=start if self.with_sensitive else np.zeros(len(key) + 1, np.int64),
            value=found.keys & ((1 << self._low) - 1) if self.with_sensitive else found.keys[:0],
            n=found.n if self.with_sensitive else found.n[:0],
            values=SensitiveValues(self.base) if self.with_sensitive else None,
            overall=self.overall,
            rows=rows,
            holders=holders,
            beside=FurtherCounts(self.base, self.packing, choice),
        )

    @staticmethod
    def _beside(key: Ints, group: Ints, n: Ints) -> Ints:
        """Counts added up for each group; some may have none."""
        places = np.searchsorted(key, group)
        assert not len(group) or (key[np.minimum(places, len(key) - 1)] == group).all(), (
            "a group has no people"
        )
        return totals(places, n, len(key))


@dataclass(frozen=True)
class GroupMask:
    """Some groups of a choice."""

    groups: Bools

    def __bool__(self) -> bool:
        return bool(self.groups.any())

    def __or__(self, other: GroupMask) -> GroupMask:
        return GroupMask(self.groups | other.groups)

    def __sub__(self, other: GroupMask) -> GroupMask:
        return GroupMask(self.groups & ~other.groups)


class GroupsInMemory:
    """The groups of a choice in memory and the answers about them, each computed once.

    `kept` are the positions of these groups among all groups of the choice, if some have been left out.
    """

    grouping: ClassVar[None] = None

    def __init__(self, counts: InMemory, groups: Groups, kept: Ints | None = None, n_before: int = 0) -> None:
        self.counts, self.of = counts, groups
        self._kept, self._n_before = kept, n_before
        self._failing: dict[str, Bools] = {}

    @property
    def in_memory(self) -> Self:
        return self

    def failing(self, criteria: Sequence[Criterion]) -> GroupMask:
        """The groups that break a requirement on their own, among all groups of the choice."""
        found = self.of.none
        for criterion in criteria:
            if str(criterion) not in self._failing:
                assert criterion.on_arrays is not None
                self._failing[str(criterion)] = criterion.on_arrays.breaking(self.of)
            found = found | self._failing[str(criterion)]
        if self._kept is None:
            return GroupMask(found)
        everywhere: npt.NDArray[np.bool_] = np.zeros(self._n_before, np.bool_)
        everywhere[self._kept[found]] = True
        return GroupMask(everywhere)

    def without(self, gone: GroupMask) -> GroupsInMemory:
        """The groups that stay."""
        kept = np.flatnonzero(~gone.groups)
        return GroupsInMemory(self.counts, self.of.without(gone.groups), kept, len(gone.groups))

    def people_in(self, gone: GroupMask) -> int:
        return int(self.of.people[gone.groups].sum()) if gone else 0

    def rows_in(self, gone: GroupMask) -> int:
        """How many rows are in some groups when a person may have several."""
        rows = self.of.people if self.of.rows is None else self.of.rows
        return int(rows[gone.groups].sum()) if gone else 0

    def lines_in(self, gone: GroupMask) -> int:
        """How many lines some groups have: one for each value, and one for each person without any."""
        if not gone:
            return 0
        assert self.of.holders is not None
        return self.rows_in(gone) + self.people_in(gone) - int(self.of.holders[gone.groups].sum())

    @property
    def people(self) -> Ints:
        """The people of each group."""
        return self.of.people

    def labels(self, position: int) -> Ints:
        """The label of one column in each group, as codes."""
        return self.counts.packing.codes(self.of.key, position)

    def among(self, gone: GroupMask) -> Bools:
        """Whether each group is one of these."""
        return gone.groups if gone else self.of.none


def thinned_in_memory(
    every: Sequence[GroupsInMemory], require: Sequence[Criterion], most: Fraction
) -> tuple[list[GroupsInMemory], int] | None:
    """What stays for several sensitive columns after removing what fails for any of them, until none fails.

    A cell is removed: labels with all sensitive values, as in `suppression.py`. None if this would suppress
    more than `most` people.
    """
    left = [seen.of for seen in every]
    cells = [_cells(seen, every[0]) for seen in every]
    total, quiet, turn = left[0].n_all, 0, 0
    gone = np.zeros(len(cells[0]), np.bool_)
    while quiet < len(left):
        failing = left[turn].none
        for criterion in require:
            assert criterion.on_arrays is not None and not criterion.needs_base, "cells have no households"
            failing = failing | criterion.on_arrays.breaking(left[turn])
        quiet = 0 if failing.any() else quiet + 1
        if not quiet:
            gone[cells[turn][failing[left[turn].of_each]]] = True
            for side, groups in enumerate(left):
                stays = ~gone[cells[side]]
                left[side], cells[side] = groups.holding(stays), cells[side][stays]
            if total - left[0].n_all > most or not left[0].n_all:
                return None
        turn = (turn + 1) % len(left)
    made = [GroupsInMemory(seen.counts, groups) for seen, groups in zip(every, left, strict=True)]
    return made, total - left[0].n_all


def _cells(seen: GroupsInMemory, first: GroupsInMemory) -> Ints:
    """The cell number of each count, the same for all sensitive columns of a choice."""
    codes: dict[str, Ints] = {seen.counts.base.table.sensitives[0]: seen.of.value}
    for position, (name, _) in enumerate(seen.counts.base.columns.values()):
        codes[name] = seen.labels(position)[seen.of.of_each]
    names_of_first = [name for name, _ in first.counts.base.columns.values()]
    packed = first.counts.packing.packed([codes[name] for name in names_of_first])
    bits = width(first.counts.base, "s")
    packed = (packed << bits) | codes[first.counts.base.table.sensitives[0]]
    cells = np.empty(len(packed), np.int64)
    cells[np.argsort(packed)] = np.arange(len(packed))
    return cells
