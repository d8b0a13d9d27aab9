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
from itertools import combinations
from math import comb, prod
from typing import NamedTuple

from privacy_sql.kernels.skyline.breach_probability import Amounts, ValuesPerPerson

MOST_WORK = 100_000_000  # bits handled for one question; beyond, it is not decided
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

    def worst(self, groups: Sequence[Printed], amounts: Amounts) -> Worst | None:
        """The least odds against the value over all knowledge of at most these amounts, if anybody has it."""
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
        """The least factor of knowledge spread over some groups, for every amount of it."""
        _, known, family = amounts
        total = {(k, m): Fraction(1) for k in range(known + 1) for m in range(family + 1)}
        for shape, n in count.items():
            for _ in range(min(n, known + family)):
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
            having = self._worlds(shape, known, (), "has") if 1 + known + family <= shape.people else 0
            # more values ruled out are never worse for whoever knows them
            choices = set(combinations(sorted(shape.others), min(ruled_out, len(shape.others))))
            lacking = min(self._worlds(shape, known + family, chosen, "lacks") for chosen in choices)
            self._odds[key] = Fraction(lacking, having) if having else None
        return self._odds[key]

    def family_factor(self, shape: Printed, known: int, family: int) -> Fraction | None:
        """The chance that none of a family has the value, when `known` others of the group do not."""
        key = (shape, known, family)
        if key not in self._factors:
            fits = known + family <= shape.people
            possible = self._worlds(shape, known, (), "elsewhere") if fits else 0
            none = self._worlds(shape, known + family, (), "elsewhere")
            self._factors[key] = Fraction(none, possible) if possible else None
        return self._factors[key]

    def _worlds(self, shape: Printed, without: int, ruled_out: tuple[int, ...], target: str) -> int:
        """Ways to hand out the values so that `without` people lack this one and all that is printed is true.

        The target has the value, lacks it and those ruled out, or lies elsewhere. Who holds nothing is
        settled by inclusion and exclusion: at least `j` people, `b` of these among the people known about.
        """
        n, here = shape.people, int(target != "elsewhere")
        rest = list(shape.others)
        for count in ruled_out:
            rest.remove(count)
        free = n - without - here
        total = 0
        for j in range(shape.without, n + 1) if free >= 0 else ():
            several = self._ways(n - j, rest)
            if not several:
                break  # too few people are left for the values, and fewer still are no better
            inside = sum(
                comb(without, b) * comb(free, j - a - b) * own * self._ways(n - here - j + a, ruled_out)
                for a in ((0, 1) if target == "lacks" else (0,))
                for b in range(max(0, j - a - free), min(without, j - a) + 1)
                if (own := self._own(free - (j - a - b), shape.holders, target))
            )
            total += (-1) ** (j - shape.without) * comb(j, shape.without) * several * inside
        return total

    def _own(self, places: int, count: int, target: str) -> int:
        """Ways to hand out the value itself among the people who may have it."""
        if target != "has":
            return self._ways(places, (count,))
        if self.case == "set":
            return comb(places, count - 1)
        return int((places + 1) ** count - places**count)

    def _ways(self, places: int, counts: Iterable[int]) -> int:
        """Ways to hand out so many lines of each value among some people."""
        if places < 0:
            return 0
        return prod(comb(places, n) if self.case == "set" else places**n for n in counts)
