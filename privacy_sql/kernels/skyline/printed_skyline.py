"""Breach probability where the published rows also show how many people of a group have no value.

chen2008, Defs. 1 to 3, for people with several values (sets, or multisets of occurrences). The paper counts
every way to assign the values to people. A reader of the published table knows more: a person without a value
has a line of their own, so exactly that many people hold nothing and everybody else holds something. Where no
such line is published, somebody with none of the other values must have this one. Theorem 2 does not hold for
these worlds, so this module counts them, by inclusion and exclusion over who holds nothing, for every way to
spread the knowledge over groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from heapq import nsmallest
from itertools import combinations
from math import comb, prod
from typing import NamedTuple

from privacy_sql.kernels.skyline.breach_probability import Amounts, ValuesPerPerson

MOST_WORK = 100_000_000  # bits handled for one question; a question that needs more stays undecided
MOST_KEPT = 100_000  # results kept between questions, some hundred bytes each
MOST_CHOICES = 10_000  # sets of ruled-out values tried in one group


class PrintedGroup(NamedTuple):
    """What one group shows about a value: people, its lines, other values' lines, people without a value."""

    people: int
    holders: int
    others: tuple[int, ...]
    without: int
    number: int = 0


class WorstPrinted(NamedTuple):
    """The worst case: the odds against the value, and the group of the target."""

    odds: Fraction
    target: PrintedGroup

    @property
    def chance(self) -> Fraction:
        return 1 / (1 + self.odds)


Factors = dict[tuple[int, int], Fraction]
"""The least factor that knowledge of (k, m) people can bring."""


class PrintedSkyline:
    """The worst cases of published groups; results for a group are kept for the next question.

    >>> group = PrintedGroup(people=4, holders=1, others=(3,), without=0)
    >>> PrintedSkyline("set").worst([group], Amounts(1, 0, 0)).chance  # who has not the one has the other
    Fraction(1, 1)
    """

    def __init__(self, case: ValuesPerPerson) -> None:
        self.case = case
        self._odds: dict[tuple[PrintedGroup, int, int, int], Fraction | None] = {}
        self._factors: dict[tuple[PrintedGroup, int, int], Fraction | None] = {}
        self._last: tuple[PrintedGroup | None, list[int]] = (None, [])

    def worst(self, groups: Sequence[PrintedGroup], amounts: Amounts) -> WorstPrinted | None:
        """The least odds against the value over all knowledge of at most these amounts, if anybody has it."""
        if len(self._odds) + len(self._factors) > MOST_KEPT:  # not within a question, which needs its own
            self._odds.clear()
            self._factors.clear()
        if self._is_a_share(amounts):
            held = (WorstPrinted(Fraction(g.people - g.holders, g.holders), g) for g in groups if g.holders)
            return min(held, key=lambda found: found.odds, default=None)
        count: dict[PrintedGroup, int] = {}
        target: dict[PrintedGroup, PrintedGroup] = {}
        for group in groups:
            if group.holders:
                shape = group._replace(number=0)
                count[shape] = count.get(shape, 0) + 1
                target.setdefault(shape, group)
        everywhere = self._elsewhere(count, amounts)
        # counts the target's own group twice; that can only lower the odds, never raise them
        floors = {shape: self._least(shape, amounts, everywhere) for shape in count}
        found: WorstPrinted | None = None
        for shape in sorted(count, key=floors.__getitem__):
            if found is not None and floors[shape] >= found.odds:
                break
            others = {**count, shape: count[shape] - 1}
            odds = self._least(shape, amounts, self._elsewhere(others, amounts))
            if found is None or odds < found.odds:
                found = WorstPrinted(odds, target[shape])
        return found

    def _is_a_share(self, amounts: Amounts) -> bool:
        """Without knowledge everybody in a group is equally likely to be one of its holders."""
        return self.case == "set" and not any(amounts)

    def affordable(self, groups: Iterable[PrintedGroup], amounts: Amounts) -> bool:
        """Whether the worlds of all groups can be counted; the limit of work is the same on every machine."""
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

    def _least(self, shape: PrintedGroup, amounts: Amounts, beside: Factors) -> Fraction:
        """The least odds for a target in this group when the rest of the knowledge is about other groups."""
        ruled_out, known, family = amounts
        found = [
            odds * beside[known - k, family - m]
            for k, m in beside
            if (odds := self.target_odds(shape, ruled_out, k, m)) is not None
        ]
        return min(found, default=Fraction(0))  # no world is possible: nothing may be called safe

    def _elsewhere(self, count: Mapping[PrintedGroup, int], amounts: Amounts) -> Factors:
        """The least factor that knowledge spread over some groups can bring, for every amount of knowledge.

        Knowledge is about `known + family` groups at most. So for each amount only that many groups with the
        least factors matter: any other group could be replaced by one of them.
        """
        _, known, family = amounts
        pairs = [(k, m) for k in range(known + 1) for m in range(family + 1)]
        total = {pair: Fraction(1) for pair in pairs}
        needed: dict[PrintedGroup, int] = {}
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

    def target_odds(self, shape: PrintedGroup, ruled_out: int, known: int, family: int) -> Fraction | None:
        """Odds against the target given facts about `known` people of the group and a family of that size.

        None where the group has too few people for that.
        """
        key = (shape, ruled_out, known, family)
        if key not in self._odds:
            having = self._worlds(shape, known, "has") if 1 + known + family <= shape.people else 0
            self._odds[key] = (
                Fraction(self._lacking(shape, known + family, ruled_out), having) if having else None
            )
        return self._odds[key]

    def family_factor(self, shape: PrintedGroup, known: int, family: int) -> Fraction | None:
        """The chance that none of a family has the value, when `known` others of the group do not."""
        key = (shape, known, family)
        if key not in self._factors:
            fits = known + family <= shape.people
            possible = self._worlds(shape, known, "elsewhere") if fits else 0
            none = self._worlds(shape, known + family, "elsewhere")
            self._factors[key] = Fraction(none, possible) if possible else None
        return self._factors[key]

    def _worlds(self, shape: PrintedGroup, without: int, target: str) -> int:
        """Ways to assign the values so that `without` people lack this one and everything published is true.

        The target has the value or is in another group. Inclusion and exclusion settles who holds nothing:
        `j` counts people who do, at least.
        """
        every = self._others(shape)
        own = self._owns(shape, without, target, shape.without, len(every))
        return sum(ways * its for ways, its in zip(every, own, strict=True))

    def _lacking(self, shape: PrintedGroup, without: int, ruled_out: int) -> int:
        """The same for a target who lacks the value and those values whose absence leaves the fewest ways.

        The target is one of the `j` people, or holds some value that is not ruled out.
        """
        every = self._others(shape)
        own = self._owns(shape, without, "lacks", shape.without - 1, len(every) + 1)
        nothing = sum(ways * its for ways, its in zip(every, own, strict=False))
        some = [ways * its for ways, its in zip(every, own[1:], strict=True)]
        left = range(shape.people - shape.without, 0, -1)  # people who can hold something
        if not ruled_out or not shape.others:
            return nothing + sum(some)
        if self.case == "set" and ruled_out == 1:
            # a value of n lines is the target's in n times so many worlds: the one with most lines tells most
            most = max(shape.others)
            return nothing + sum(some) - sum(most * ways // m for m, ways in zip(left, some, strict=False))
        # ruling out more values never helps the adversary less
        chosen = set(combinations(sorted(shape.others), min(ruled_out, len(shape.others))))
        least: int = min(
            sum(ways * self._spared(m, counts) // m**drawn for m, ways in zip(left, some, strict=False))
            for counts, drawn in ((each, len(each) if self.case == "set" else sum(each)) for each in chosen)
        )
        return nothing + least

    def _spared(self, places: int, counts: Sequence[int]) -> int:
        """The numerator of the share of the ways in which one of some people gets none of these lines."""
        if self.case == "set":
            return prod(places - n for n in counts)
        return int((places - 1) ** sum(counts))

    def _others(self, shape: PrintedGroup) -> list[int]:
        """Ways to assign the other values where `j` people hold nothing, with their signs."""
        told, found = self._last
        if told != shape:
            found, signed = [], 1
            for j, ways in enumerate(self._ways(shape.people - shape.without, shape.others), shape.without):
                if not ways:
                    break  # too few people are left for the values; from here on there are only fewer
                found.append(signed * ways)
                signed = -signed * (j + 1) // (j + 1 - shape.without)  # comb(j, without)
            self._last = shape, found
        return found

    def _owns(self, shape: PrintedGroup, without: int, target: str, first: int, n: int) -> list[int]:
        """`_own` for `n` numbers of people from `first` on, in sets each from the one before it."""
        free = shape.people - without - (target != "elsewhere")
        count = shape.holders - (target == "has")
        if self.case != "set" or free < 0 or count > free:
            return [self._own(shape, without, target, j) for j in range(first, first + n)]
        many, its, found = free - count + without, 0, []
        for j in range(first, first + n):
            if j < 0 or j > many:
                its = 0
            elif its:
                its = its * (many - j + 1) // j
            else:
                its = comb(free, count) * comb(many, j)
            found.append(its)
        return found

    def _own(self, shape: PrintedGroup, without: int, target: str, j: int) -> int:
        """Ways to choose `j` people beside the target who hold nothing, and to assign the value to others.

        For sets the value is assigned first; those who hold nothing are then any of the others (Vandermonde's
        sum over how many of them the adversary knows about).
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

    def _ways(self, places: int, counts: Sequence[int]) -> Iterator[int]:
        """Ways to assign so many lines of each value among some people, and among one fewer each time."""
        if self.case != "set":
            lines = sum(counts)
            yield from (m**lines for m in range(places, -1, -1))
            return
        ways = prod(comb(places, n) for n in counts)
        for m in range(places, 0, -1):
            yield ways
            ways = ways * prod(m - n for n in counts) // m ** len(counts)  # comb(m - 1, n) of each
        yield ways
