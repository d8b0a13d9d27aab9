"""Groups as arrays: how many people each has, and how often each sensitive value occurs in it.

The arrays have the same facts as the relations of a `Grouping`; a search judges hundreds of choices on them
without SQL. They come from combinations of codes and grow with groups and values, never with rows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from privacy_sql.query.template import Sql, names, render

if TYPE_CHECKING:
    from privacy_sql.counted.base import Base
    from privacy_sql.counted.grouping import Grouping
    from privacy_sql.table import Table

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Numbers = npt.NDArray[Any]

# sums of whole numbers are exact in floats below this
EXACT = 2**53
# a packed key stays below the sign of 64 bits
MOST_BITS = 62


class SensitiveValues:
    """Facts about the sensitive values of a table, by code; the base remembers each of them."""

    def __init__(self, base: Base) -> None:
        self.base = base

    @property
    def n_codes(self) -> int:
        """One more than the highest code; NULL is code 0."""
        return int(self.base.statistics["s"]["top"]) + 1

    @property
    def numbers(self) -> npt.NDArray[np.float64] | None:
        """Each value as a number; None if a value is not a number, or two are the same as doubles."""

        def counted() -> npt.NDArray[np.float64] | None:
            values = self.base.dictionaries["s"]
            query = render("counted/value_numbers.sql", values=values, value=Sql("v.value"))
            found = self.base.engine.arrays(query)
            if not found["is_number"].all():
                return None
            numbers = np.zeros(self.n_codes)
            numbers[found["code"]] = found["number"]
            told = np.unique(found["number"]).size == found["number"].size
            return numbers if told or int(found["length"].max(initial=0)) <= 15 else None

        return self.base.memory.once("numbers of values", counted)

    @property
    def levels(self) -> list[Ints]:
        """The label of each value at every level of the sensitive column's hierarchy, as codes."""

        def counted() -> list[Ints]:
            kind = self.base.table.sensitive_hierarchy
            height = 0 if kind is None or isinstance(kind, Mapping) else kind.height
            columns = names(["code", *(f"c{level}" for level in range(height + 1))])
            query = render("counted/listed.sql", relation=self.base.sensitive_codes, columns=columns)
            found = self.base.engine.arrays(query)
            levels = [np.zeros(self.n_codes, np.int64) for _ in range(height + 1)]
            for level, codes in enumerate(levels):
                codes[found["code"]] = found[f"c{level}"]
            return levels

        return self.base.memory.once("levels of values", counted)

    def watched(self, named: Sequence[str]) -> Bools:
        """The values with one of these names, as a mask by code."""
        wanted = tuple(named)

        def looked_up() -> Bools:
            columns = {"position": ("bigint", [*range(len(wanted))]), "name": ("varchar", list(wanted))}
            loaded = self.base.engine.load(columns, "named")
            query = render("criteria/named_values.sql", values=self.base.dictionaries["s"], named=loaded)
            found = np.zeros(self.n_codes, np.bool_)
            found[[row["code"] for row in self.base.engine.fetch(query)]] = True
            return found

        return self.base.memory.once(("watched", wanted), looked_up)


class Homes(NamedTuple):
    """The people of households in groups: a line for each group, household and, if asked, value."""

    group: Ints  # its place among the groups
    home: Ints
    n: Ints
    value: Ints | None = None


class Beside(Protocol):
    """What is counted beside the groups of a choice once it is asked for, by the packed keys of groups."""

    @property
    def table(self) -> Table:
        """The table they are of."""

    @property
    def n_population(self) -> int:
        """How many people the whole population has."""

    def population(self, key: Ints) -> Ints:
        """How many people of the population fit each group."""

    def homes(self, key: Ints, with_values: bool) -> Homes:
        """The households in groups."""


@dataclass(frozen=True)
class Groups:
    """The groups of one choice, or parts of the same table that are tried together.

    The counts of group i are `value` and `n` from start[i] up to start[i + 1].

    `people` and `holders` are counted separately if a person may have several values, because a group may
    then have no value at all. Without a sensitive column, or if nobody needs it, `value` is empty.
    """

    key: Ints  # the packed key of each group, in ascending order
    people: Ints
    start: Ints
    value: Ints
    n: Ints
    values: SensitiveValues | None = None
    overall: Ints | None = None  # by code of a value
    rows: Ints | None = None  # of each group, where a person may have several
    holders: Ints | None = None  # people with at least one value
    beside: Beside | None = None  # where groups are those of a choice of levels

    @classmethod
    def of(cls, histogram: Sequence[dict[Any, int]], people: Sequence[int] | None = None) -> Groups:
        """Make groups from one mapping code -> count per group.

        >>> Groups.of([{1: 2, 2: 1}, {2: 4}]).people.tolist()
        [3, 4]
        """
        value = np.array([code for group in histogram for code in group], np.int64)
        n = np.array([count for group in histogram for count in group.values()], np.int64)
        start = np.cumsum([0, *map(len, histogram)])
        sizes = [sum(group.values()) for group in histogram] if people is None else people
        overall = np.bincount(value, n, minlength=1).astype(np.int64)
        return cls(np.arange(len(start) - 1), np.array(sizes, np.int64), start, value, n, None, overall)

    @classmethod
    def counted(cls, grouping: Grouping) -> Groups:
        """The same of relations, where everybody has one value."""
        query = render("counted/histogram.sql", candidate=grouping.histogram, sensitive=True, counted=True)
        found = grouping.base.engine.arrays(query)
        order = np.lexsort((found["s"], found["g"]))
        g, value, n = (np.asarray(found[name]).astype(np.int64)[order] for name in ("g", "s", "n_rows"))
        first = starts(g)
        return cls(g[first], np.add.reduceat(n, first), np.append(first, len(g)), value, n)

    def __len__(self) -> int:
        return len(self.people)

    @cached_property
    def population(self) -> Ints:
        """How many people of the population fit each group."""
        assert self.beside is not None, "no population is counted by these groups"
        return self.beside.population(self.key)

    @property
    def n_outside(self) -> int:
        """How many people of the population fit no group."""
        assert self.beside is not None, "no population is counted by these groups"
        return self.beside.n_population - int(self.population.sum())

    def homes(self, *, with_values: bool = False) -> Homes:
        """The households in each group."""
        assert self.beside is not None, "no households are counted by these groups"
        return self.beside.homes(self.key, with_values)

    @cached_property
    def n_values(self) -> Ints:
        """How many values each group shows."""
        return np.diff(self.start)

    @cached_property
    def of_each(self) -> Ints:
        """The group of every count."""
        return np.repeat(np.arange(len(self)), self.n_values)

    @cached_property
    def n_all(self) -> int:
        """How many values the whole table has, counting repetitions."""
        return int((self.n if self.overall is None else self.overall).sum())

    @cached_property
    def ranked(self) -> Ints:
        """The counts of every group, the largest first."""
        most = int(self.n.max(initial=0))
        bits = most.bit_length()
        if len(self).bit_length() + bits < 63:  # sorting by one key is ten times faster than by two
            packed = (self.of_each << bits) | (most - self.n)
            packed.sort()
            return most - (packed & ((1 << bits) - 1))
        return self.n[np.lexsort((-self.n, self.of_each))]

    @cached_property
    def top(self) -> Ints:
        """How often the most common value of each group occurs; 0 where it has none."""
        return self.largest(self.n)

    def top_sums(self, places: int) -> Ints:
        """How often the `places` most common values of each group occur together."""
        sums = np.concatenate([[0], np.cumsum(self.ranked)])
        return np.asarray(sums[self.start[:-1] + np.minimum(places, self.n_values)] - sums[self.start[:-1]])

    def top_of(self, named: Sequence[str]) -> Ints:
        """How often the most common of some values occurs in each group."""
        assert self.values is not None
        return self.largest(np.where(self.values.watched(named)[self.value], self.n, 0))

    @cached_property
    def showing(self) -> Ints:
        """The groups that show any value at all."""
        return np.flatnonzero(self.n_values)

    def counts(self, group: int) -> list[int]:
        """How often each value of one group occurs."""
        return list(self.n[self.start[group] : self.start[group + 1]].tolist())

    def histogram(self, group: int) -> dict[int, int]:
        """How often each value of one group occurs, by its code."""
        its = slice(self.start[group], self.start[group + 1])
        return dict(zip(self.value[its].tolist(), self.n[its].tolist(), strict=True))

    @cached_property
    def entropies(self) -> npt.NDArray[np.float64]:
        """The entropy of every group in nats, as floats."""
        weight = self.sums(self.n * np.log(self.n))
        return np.asarray(np.log(self.people) - weight / self.people)

    def between(self, numbers: Numbers, low: float, high: float) -> tuple[list[int], Ints]:
        """The groups whose number lies between two bounds: uneven ones, and those of equal counts."""
        near = np.flatnonzero((numbers >= low) & (numbers <= high))
        even = self.top[near] * self.n_values[near] == self.people[near]
        return list(near[~even].tolist()), near[even]

    @staticmethod
    def one_for_each(numbers: Ints, groups: Ints) -> list[int]:
        """One of some groups for each number they have."""
        return list(groups[np.unique(numbers[groups], return_index=True)[1]].tolist())

    @cached_property
    def lacking(self) -> Bools:
        """Which groups lack a value of the table."""
        assert self.overall is not None
        return np.asarray(self.n_values < np.count_nonzero(self.overall))

    @cached_property
    def by_share(self) -> tuple[Ints, Ints]:
        """The counts in the order of their values, then of their shares; and where each value ends."""
        order = np.lexsort((self.n / self.people[self.of_each], self.value))
        value = self.value[order]
        ends = np.flatnonzero(value[1:] != value[:-1]) + 1
        return order, np.concatenate([[0], ends, [len(order)]] if len(order) else [[0]]).astype(np.int64)

    @cached_property
    def middles(self) -> list[int]:
        """For each value the first of its counts in that order whose share is the overall share or more."""
        assert self.overall is not None
        order, ends = self.by_share
        overall = self.overall[self.value[order]]
        below = self.n[order] * self.n_all < self.people[self.of_each[order]] * overall
        sums = np.concatenate([[0], np.cumsum(below)])
        return list((ends[:-1] + sums[ends[1:]] - sums[ends[:-1]]).tolist())

    def by_value(self) -> Iterator[tuple[int, Ints]]:
        """The places of the counts of each value."""
        order = np.argsort(self.value, kind="stable")
        value = self.value[order]
        for places in np.split(order, np.flatnonzero(value[1:] != value[:-1]) + 1):
            if len(places):
                yield int(self.value[places[0]]), places

    @property
    def shown(self) -> tuple[Ints, Ints]:
        """How often each label (with each value, if any) occurs, and the group of each."""
        if self.overall is not None:
            return self.n, self.of_each
        return self.people if self.rows is None else self.rows, np.arange(len(self))

    @property
    def by_code(self) -> Ints:
        """How often each value occurs in all groups together, by its code."""
        return totals(self.value, self.n, int(self.value.max(initial=0)) + 1)

    @property
    def none(self) -> Bools:
        """No group, as a mask."""
        return np.zeros(len(self), np.bool_)

    def marked(self, places: Ints) -> Bools:
        """Some groups, as a mask."""
        found = self.none
        found[places] = True
        return found

    @staticmethod
    def in_any(kinds: Ints, wanted: Collection[int]) -> Bools:
        """The groups of some kinds, as a mask."""
        return np.isin(kinds, np.fromiter(wanted, np.int64, len(wanted)))

    def sums(self, numbers: Numbers) -> Numbers:
        """Add up one number per count over each group."""
        return self._reduced(np.add, numbers)

    def largest(self, numbers: Numbers) -> Numbers:
        """The largest of one number per count in each group; 0 if there is none."""
        return self._reduced(np.maximum, numbers)

    def _reduced(self, reduce: np.ufunc, numbers: Numbers) -> Numbers:
        found = np.zeros(len(self), numbers.dtype)
        held = self.n_values > 0
        if held.any():
            found[held] = reduce.reduceat(numbers, self.start[:-1][held])
        return found

    def holding(self, counts: Bools) -> Groups:
        """The groups with some of their counts, if everybody has one value; empty groups disappear."""
        n_values = np.bincount(self.of_each[counts], minlength=len(self))
        kept, value, n = n_values > 0, self.value[counts], self.n[counts]
        start = np.concatenate([[0], np.cumsum(n_values[kept])])
        people = np.add.reduceat(n, start[:-1]) if len(n) else n
        overall = None if self.overall is None else totals(value, n, len(self.overall))
        made = replace(self, key=self.key[kept], people=people, start=start, value=value, n=n)
        return replace(made, overall=overall)

    def without(self, gone: Bools) -> Groups:
        """The groups that stay, which then form the whole table."""
        kept = ~gone
        counts = kept[self.of_each]
        value, n = self.value[counts], self.n[counts]
        return replace(
            self,
            key=self.key[kept],
            people=self.people[kept],
            start=np.concatenate([[0], np.cumsum(self.n_values[kept])]),
            value=value,
            n=n,
            overall=None if self.overall is None else totals(value, n, len(self.overall)),
            rows=None if self.rows is None else self.rows[kept],
            holders=None if self.holders is None else self.holders[kept],
        )


def sum_of_logs(n: Ints, of: Numbers | None = None) -> float:
    """The sum of n ln x, where x is n by default; what does not occur adds nothing."""
    counted = n > 0
    return float((n[counted] * np.log((n if of is None else of)[counted])).sum())


def totals(codes: Ints, n: Ints, length: int) -> Ints:
    """How often each code occurs; the float sums are exact in this range."""
    assert int(n.sum()) < EXACT, "more people than doubles can count exactly"
    return np.bincount(codes, n, minlength=length).astype(np.int64)


@dataclass(frozen=True)
class Combinations:
    """Distinct combinations, packed and in order, with their counts."""

    keys: Ints
    n: Ints

    @classmethod
    def added_up(cls, keys: Ints, n: Ints) -> Combinations:
        """Equal combinations counted together."""
        span = int(keys.max(initial=-1)) + 1
        if span <= len(keys) and int(n.sum()) < EXACT:  # one place for each possible key, and nothing to sort
            occurs = np.zeros(span, np.bool_)
            occurs[keys] = True
            found = np.flatnonzero(occurs)
            return cls(found, totals(keys, n, span)[found])
        bits = int(n.max(initial=0)).bit_length()
        if int(keys.max(initial=0)).bit_length() + bits <= MOST_BITS:
            packed = (keys << bits) | n  # one array sorts several times faster than an order of another
            packed.sort()
            keys, n = packed >> bits, packed & ((1 << bits) - 1)
        else:
            order = np.argsort(keys)
            keys, n = keys[order], n[order]
        first = starts(keys)
        return cls(keys[first], np.add.reduceat(n, first) if len(first) else n)


def starts(keys: Ints) -> Ints:
    """Where each run of equal keys begins."""
    return np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])[: len(keys)])
