"""What some requirements count beside the groups of a choice: a population, and households; in memory.

Both are counted once for all choices, as combinations of codes, and added up for a choice as the table is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from privacy_sql.counted.base import Base
from privacy_sql.counted.groups import EXACT, MOST_BITS, Combinations, Homes, Ints
from privacy_sql.counted.households import households_counted
from privacy_sql.counted.population import people_of, shared_labels
from privacy_sql.criteria import Criterion
from privacy_sql.errors import DataError, SeveralErrors, UsageError
from privacy_sql.lattice.packing import KnownChoices, Packing, width, widths
from privacy_sql.query.template import Sql, names, render
from privacy_sql.spaces.lattice import Choice
from privacy_sql.table import Table


def fits(base: Base, require: Sequence[Criterion], most: int) -> bool:
    """Whether what requirements count beside groups, at most so many combinations, can be held in memory.

    What cannot be counted at all is left to the statements, which refuse it at the choices that it concerns.
    """
    try:
        for criterion in require:
            if "population" in criterion.reads and not Population.fits(base, most):
                return False
            if "households" in criterion.reads and not Households.fits(base, most, criterion.reads_sensitive):
                return False
    except (DataError, UsageError, SeveralErrors):
        return False
    return True


class Population:
    """The population of a table at every choice, in codes that it shares with the table."""

    def __init__(self, base: Base) -> None:
        theirs = _people(base)
        labels = shared_labels(base, theirs)
        found = _listed(theirs, theirs.relation, [theirs.aliases[name] for name in base.aliases])
        self.n = theirs.rows
        self._packing = Packing(_shared_widths(base, theirs), labels)
        shared = []
        for its, codes in zip(labels, found[:-1], strict=True):
            table = np.zeros(int(its.code.max(initial=0)) + 1, np.int64)
            table[its.code] = its.at[0]
            shared.append(table[codes])
        self._known = KnownChoices(
            Combinations.added_up(self._packing.packed(shared), found[-1]), self._packing, 0
        )

    @classmethod
    def fits(cls, base: Base, most: int) -> bool:
        """Whether it can be held in memory; refuses one that lacks a column, or a label."""
        if base.population is None:
            return False
        theirs = _people(base)
        if theirs.combinations > most or theirs.rows >= EXACT:
            return False
        return sum(_shared_widths(base, theirs)) <= MOST_BITS and cls.of(base) is not None

    @classmethod
    def of(cls, base: Base) -> Population:
        """The same for every search of a base."""
        return base.memory.once("population in memory", lambda: cls(base.at_home))

    def at(self, choice: Choice) -> Combinations:
        """How many of its people have which labels."""
        return self._known.at(choice)

    def fitting(self, found: Combinations, key: Ints, packing: Packing) -> Ints:
        """How many of its people at a choice fit each group of the table, by the packed key of the group."""
        if not len(found.keys):
            return np.zeros_like(key)
        own = self._packing.packed([packing.codes(key, position) for position in range(len(packing.widths))])
        place = np.minimum(np.searchsorted(found.keys, own), len(found.keys) - 1)
        return np.where(found.keys[place] == own, found.n[place], 0)


class Households:
    """How many people of each household have which labels, at every choice; with their values if asked."""

    def __init__(self, base: Base, packing: Packing, with_values: bool) -> None:
        counted, value = households_counted(base, with_values)
        self._with_values = with_values
        self._home = int(counted.statistics["s"]["top"]).bit_length()
        self._value = width(base, "s") if with_values else 0
        self._low = self._home + self._value
        columns = [*base.columns, "s", *([str(value)] if with_values else [])]
        *codes, n = _listed(base, counted.relation, columns)
        quasi = len(base.columns)
        keys = (packing.packed(codes[:quasi]) << self._home) | codes[quasi]
        if with_values:
            keys = (keys << self._value) | codes[-1]
        self._known = KnownChoices(Combinations.added_up(keys, n), packing, self._low)

    @staticmethod
    def fits(base: Base, most: int, with_values: bool) -> bool:
        """Whether they can be held in memory."""
        if base.table.household is None:
            return False
        counted, _ = households_counted(base, with_values)
        bits = int(counted.statistics["s"]["top"]).bit_length() + (width(base, "s") if with_values else 0)
        return counted.combinations <= most and sum(widths(base)) + bits <= MOST_BITS

    @classmethod
    def of(cls, base: Base, packing: Packing, with_values: bool) -> Households:
        """The same for every search of a base."""
        key = ("households in memory", with_values)
        return base.memory.once(key, lambda: cls(base.at_home, packing, with_values))

    def at(self, choice: Choice) -> Combinations:
        """How many people of each household have which labels."""
        return self._known.at(choice)

    def living(self, found: Combinations, key: Ints) -> Homes:
        """The households at a choice in some groups, by the packed keys of these."""
        group = found.keys >> self._low
        place = np.minimum(np.searchsorted(key, group), max(len(key) - 1, 0))
        stays = key[place] == group if len(key) else np.zeros(len(group), np.bool_)
        keys = found.keys[stays]
        home = (keys >> self._value) & ((1 << self._home) - 1)
        value = keys & ((1 << self._value) - 1) if self._with_values else None
        return Homes(place[stays], home, found.n[stays], value)


@dataclass(frozen=True)
class FurtherCounts:
    """Beside the groups of one choice of a base, whatever is asked for."""

    base: Base
    packing: Packing
    choice: Choice

    @property
    def table(self) -> Table:
        return self.base.table

    @property
    def n_population(self) -> int:
        return Population.of(self.base).n

    @cached_property
    def _population(self) -> Combinations:
        return Population.of(self.base).at(self.choice)

    def population(self, key: Ints) -> Ints:
        return Population.of(self.base).fitting(self._population, key, self.packing)

    @cached_property
    def _homes(self) -> dict[bool, Combinations]:
        return {}

    def homes(self, key: Ints, with_values: bool) -> Homes:
        households = Households.of(self.base, self.packing, with_values)
        if with_values not in self._homes:
            self._homes[with_values] = households.at(self.choice)
        return households.living(self._homes[with_values], key)


def _people(base: Base) -> Base:
    return people_of(base, [name for name, _ in base.columns.values()])


def _shared_widths(base: Base, theirs: Base) -> list[int]:
    """The bits of codes of each column that are above those of the table and below the population's own."""
    tops = [
        int(base.statistics[column]["top"]) + 1 + int(theirs.statistics[theirs.aliases[name]]["top"])
        for column, (name, _) in base.columns.items()
    ]
    return [top.bit_length() for top in tops]


def _listed(base: Base, relation: Sql, columns: Sequence[str]) -> list[Ints]:
    """Some columns of a counted relation and its counts."""
    asked = [*columns, "n_rows"]
    query = render("counted/listed.sql", relation=relation, columns=names(asked))
    found = base.engine.arrays(query)
    return [np.asarray(found[column]).astype(np.int64) for column in asked]
