"""Breach probability where printed rows also say how many people of a group have no value at all.

chen2008, Defs. 1 to 3, for people with several values (sets, or multisets of occurrences). The paper counts
every way to hand the values out. Whoever reads a published table knows more: a person without a value has a
line of their own, so exactly that many people hold nothing and everybody else holds something. Where no such
line is printed, "none of the other values" means this one. Theorem 2 does not hold for these worlds, so they
are counted, by inclusion and exclusion over who holds nothing, for every way to spread the knowledge.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from heapq import nsmallest
from itertools import combinations
from math import comb, prod
from typing import NamedTuple

from privacy_sql.kernels.skyline.breach_probability import Amounts, ValuesPerPerson

MOST_WORK = 100_000_000  # bits handled for one question; beyond, it is not decided
MOST_KEPT = 100_000  # results kept between questions, some hundred bytes each
MOST_CHOICES = 10_000  # sets of values that may be ruled out of one group


class Printed(NamedTuple):
    """What one group shows about a value: people, its lines, the others' lines, people without any."""

    people: int
    holders: int
    others: tuple[int, ...]
    without: int
    number: int = 0


class Worst(NamedTuple):
    """The worst case: the odds against the value, and the group of the target."""

    odds: Fraction
    target: Printed

    @property
    def chance(self) -> Fraction:
        return 1 / (1 + self.odds)


Factors = dict[tuple[int, int], Fraction]
"""The least factor that knowledge of (k, m) people can bring."""


class PrintedSkyline:
    """The worst cases of groups that are read from print; what is worked out for one group is kept.

    >>> group = Printed(people=4, holders=1, others=(3,), without=0)
    >>> PrintedSkyline("set").worst([group], Amounts(1, 0, 0)).chance  # who has not the one has the other
    Fraction(1, 1)
    """

    def __init__(self, case: ValuesPerPerson) -> None:
        self.case = case
        self._odds: dict[tuple[Printed, int, int, int], Fraction | None] = {}
        self._factors: dict[tuple[Printed, int, int], Fraction | None] = {}
        self._last: tuple[Printed | None, list[int]] = (None, [])

    def worst(self, groups: Sequence[Printed], amounts: Amounts) -> Worst | None:
        """The least odds against the value over all knowledge of at most these amounts, if anybody has it."""
        if len(self._odds) + len(self._factors) > MOST_KEPT:  # not amid a question, which needs its own again
            self._odds.clear()
            self._factors.clear()
        if self._is_a_share(amounts):
            held = (Worst(Fraction(g.people - g.holders, g.holders), g) for g in groups if g.holders)
            return min(held, key=lambda found: found.odds, default=None)
        count: dict[Printed, int] = {}
        target: dict[Printed, Printed] = {}
        for group in groups:
            if group.holders:
                shape = group._replace(number=0)
                count[shape] = count.get(shape, 0) + 1
                target.setdefault(shape, group)
        everywhere = self._elsewhere(count, amounts)
        # as if the target's own group were there once more: no worst case of it has lower odds
        floors = {shape: self._least(shape, amounts, everywhere) for shape in count}
        found: Worst | None = None
        for shape in sorted(count, key=floors.__getitem__):
            if found is not None and floors[shape] >= found.odds:
                break
            others = {**count, shape: count[shape] - 1}
            odds = self._least(shape, amounts, self._elsewhere(others, amounts))
            if found is None or odds < found.odds:
                found = Worst(odds, target[shape])
        return found

    def _is_a_share(self, amounts: Amounts) -> bool:
        """Without knowledge everybody of a group is as likely to be in the set of its holders."""
        return self.case == "set" and not any(amounts)

    def affordable(self, groups: Iterable[Printed], amounts: Amounts) -> bool:
        """Whether the worlds of all groups can be counted: a limit of work, the same on every machine."""
        if self._is_a_share(amounts):
            return True
        ruled_out, known, family = amounts
        shapes = {group._replace(number=0) for group in groups if group.holders}
        spread = (known + 1) * (family + 1)
        work = len(shapes) * spread**2 * (known + family + 1) * 1000
        for shape in shapes:
            choices = comb(len(shape.others), min(ruled_out, len(shape.others)))
            if choices > MOST_CHOICES:
                return False
            lines = shape.people + shape.holders + sum(shape.others)
            work += (choices + spread) * shape.people * (known + family + 1) * lines
        return work <= MOST_WORK

    def _least(self, shape: Printed, amounts: Amounts, beside: Factors) -> Fraction:
        """The least odds for a target of this group, the rest of the knowledge lying in other groups."""
        ruled_out, known, family = amounts
        found = [
            odds * beside[known - k, family - m]
            for k, m in beside
            if (odds := self.target_odds(shape, ruled_out, k, m)) is not None
        ]
        return min(found, default=Fraction(0))  # no world at all: nothing may be called safe

    def _elsewhere(self, count: Mapping[Printed, int], amounts: Amounts) -> Factors:
        """The least factor of knowledge spread over some groups, for every amount of it.

        Knowledge lies in `known + family` groups at most. So of the groups with the least factors for one
        amount no more than that many are needed: a further one could give its place to one of them.
        """
        _, known, family = amounts
        pairs = [(k, m) for k in range(known + 1) for m in range(family + 1)]
        total = {pair: Fraction(1) for pair in pairs}
        needed: dict[Printed, int] = {}
        for pair in pairs[1:]:
            able = {
                shape: found for shape in count if (found := self.family_factor(shape, *pair)) is not None
            }
            places = known + family
            for shape in nsmallest(places, able, key=able.__getitem__):
                if places > 0:
                    needed[shape] = max(needed.get(shape, 0), min(count[shape], places))
                    places -= count[shape]
        for shape, n in needed.items():
            for _ in range(n):
                before = dict(total)
                for k, m in total:
                    total[k, m] = min(
                        before[k - here, m - kin] * factor
                        for here in range(k + 1)
                        for kin in range(m + 1)
                        if (factor := self.family_factor(shape, here, kin)) is not None
                    )
        return total

    def target_odds(self, shape: Printed, ruled_out: int, known: int, family: int) -> Fraction | None:
        """Odds against the target when `known` people of the group and a family of so many are known about.

        None where nothing can be known of so many people.
        """
        key = (shape, ruled_out, known, family)
        if key not in self._odds:
            having = self._worlds(shape, known, "has") if 1 + known + family <= shape.people else 0
            self._odds[key] = (
                Fraction(self._lacking(shape, known + family, ruled_out), having) if having else None
            )
        return self._odds[key]

    def family_factor(self, shape: Printed, known: int, family: int) -> Fraction | None:
        """The chance that none of a family has the value, when `known` others of the group do not."""
        key = (shape, known, family)
        if key not in self._factors:
            fits = known + family <= shape.people
            possible = self._worlds(shape, known, "elsewhere") if fits else 0
            none = self._worlds(shape, known + family, "elsewhere")
            self._factors[key] = Fraction(none, possible) if possible else None
        return self._factors[key]

    def _worlds(self, shape: Printed, without: int, target: str) -> int:
        """Ways to hand out the values so that `without` people lack this one and all that is printed is true.

        The target has the value or lies elsewhere. Who holds nothing is settled by inclusion and exclusion:
        over `j` people, at least, who do.
        """
        return sum(
            ways * self._own(shape, without, target, j)
            for j, ways in enumerate(self._others(shape), start=shape.without)
        )

    def _lacking(self, shape: Printed, without: int, ruled_out: int) -> int:
        """The same for a target who lacks the value and those ruled out, of which no others leave fewer.

        The target is one of the `j` people, or holds some value that is not ruled out.
        """
        own = [
            self._own(shape, without, "lacks", shape.without - 1 + j)
            for j in range(len(self._others(shape)) + 1)
        ]
        every = self._others(shape)
        nothing = sum(ways * its for ways, its in zip(every, own, strict=False))
        some = [ways * its for ways, its in zip(every, own[1:], strict=True)]
        left = range(shape.people - shape.without, 0, -1)  # people who may hold something
        # more values ruled out are never worse for whoever knows them
        chosen = set(combinations(sorted(shape.others), min(ruled_out, len(shape.others))))
        return nothing + min(
            sum(
                ways * self._spared(m, counts) // m ** self._drawn(counts)
                for m, ways in zip(left, some, strict=False)
            )
            if counts
            else sum(some)
            for counts in chosen
        )

    def _spared(self, places: int, counts: Sequence[int]) -> int:
        """With `_drawn`, the share of the ways in which one of some people is not handed out these lines."""
        if self.case == "set":
            return prod(places - n for n in counts)
        return int((places - 1) ** sum(counts))

    def _drawn(self, counts: Sequence[int]) -> int:
        return len(counts) if self.case == "set" else sum(counts)

    def _others(self, shape: Printed) -> list[int]:
        """Ways to hand out the other values where `j` people hold nothing, with their signs."""
        told, found = self._last
        if told != shape:
            n, found = shape.people, []
            for j in range(shape.without, n + 1):
                ways = self._ways(n - j, shape.others)
                if not ways:
                    break  # too few people are left for the values, and fewer still are no better
                found.append((-1) ** (j - shape.without) * comb(j, shape.without) * ways)
            self._last = shape, found
        return found

    def _own(self, shape: Printed, without: int, target: str, j: int) -> int:
        """Ways to say which `j` people beside the target hold nothing, and to hand out the value to others.

        In sets the value is handed out first: the others who hold nothing are then any that are left
        (Vandermonde's sum over how many of them are people known about).
        """
        free = shape.people - without - (target != "elsewhere")
        count = shape.holders - (target == "has" and self.case == "set")
        if free < 0 or j < 0:
            return 0
        if self.case == "set":
            return comb(free, count) * comb(free - count + without, j) if count <= free else 0
        found = 0
        for b in range(max(0, j - free), min(without, j) + 1):
            places = free - (j - b)
            ways = (places + 1) ** count - places**count if target == "has" else places**count
            found += comb(without, b) * comb(free, j - b) * ways
        return found

    def _ways(self, places: int, counts: Iterable[int]) -> int:
        """Ways to hand out so many lines of each value among some people."""
        return prod(comb(places, n) if self.case == "set" else places**n for n in counts)
