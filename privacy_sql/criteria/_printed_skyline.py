"""What published rows show about people with several values, judged by a privacy skyline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from privacy_sql.criteria import Splits
from privacy_sql.criteria._named_values import absent_notes
from privacy_sql.criteria._skyline_points import Limit
from privacy_sql.criteria._skyline_words import in_words
from privacy_sql.display import progress
from privacy_sql.display.rounding import how_sure
from privacy_sql.errors import people
from privacy_sql.kernels.skyline.breach_probability import Amounts, ValuesPerPerson
from privacy_sql.kernels.skyline.groups import Histograms, Integers
from privacy_sql.kernels.skyline.printed_skyline import PrintedGroup, PrintedSkyline, WorstPrinted
from privacy_sql.query.template import names, render
from privacy_sql.verdict import Witness

if TYPE_CHECKING:
    from privacy_sql.counted.base import Base
    from privacy_sql.counted.grouping import Grouping

UNDECIDED = "the groups are too large to count every way in which people may have several values"


class PrintedAnswer(NamedTuple):
    """One point for one sensitive value; without a result it was too large to decide."""

    value_code: int
    point: Limit
    worst: WorstPrinted | None
    value: Fraction | None
    safe: bool

    def slack(self) -> tuple[bool, Fraction]:
        """The distance below the limit; failing and undecided ones come first."""
        return self.safe, self.point.limit - Fraction(2 if self.value is None else self.value)


@dataclass(frozen=True)
class PrintedGroups:
    """The lines of every group by value, its people, and how many of these have no value."""

    case: ValuesPerPerson
    tables: Histograms
    groups: Integers  # g of each row of `tables`
    without: Integers
    counted: PrintedSkyline  # what was worked out of groups of this table
    number: Any = None  # the index of a group among all groups
    own: Mapping[int, int] = field(default_factory=dict)  # code of a value -> number of its own skyline
    absent: tuple[str, ...] = ()

    @classmethod
    def of(cls, grouping: Grouping, own: Mapping[int, int], absent: tuple[str, ...] = ()) -> PrintedGroups:
        engine = grouping.base.engine
        query = render("criteria/group_counts.sql", groups=grouping.groups, histogram=grouping.histogram)
        tables, groups = Histograms.from_columns(engine.arrays(query))
        listed = render("counted/listed.sql", relation=grouping.holders, columns=names(["g", "n_rows"]))
        found = engine.arrays(listed)
        held = dict(zip(np.asarray(found["g"]).tolist(), np.asarray(found["n_rows"]).tolist(), strict=True))
        holders = np.array([held.get(g, 0) for g in groups.tolist()], dtype=np.int64)
        return cls(
            grouping.base.table.values_per_person,
            tables,
            groups,
            tables.people - holders,
            counted_in(grouping.base),
            lambda g: int(grouping.number(g)["group"]),
            own,
            absent,
        )

    def about(self, value: int, rows: Iterable[int]) -> list[PrintedGroup]:
        """What some groups show about a value; groups without it say nothing about it."""
        column = self.tables.values.index(value)
        found = []
        for row in rows:
            counts = self.tables.counts[row].tolist()
            if holders := counts.pop(column):
                others = tuple(sorted(n for n in counts if n))
                people_here, without = int(self.tables.people[row]), int(self.without[row])
                found.append(PrintedGroup(people_here, holders, others, without, row))
        return found

    def questions(self, limits: Sequence[Limit]) -> list[tuple[int, Limit]]:
        """Every value with its points."""
        return [
            (value, limit)
            for value in self.tables.values
            for limit in limits
            if limit.skyline == self.own.get(value, 0)
        ]

    def answers(self, limits: Sequence[Limit], rows: Sequence[int] | None = None) -> list[PrintedAnswer]:
        """The result of every question for all groups, or for some of them."""
        rows = range(len(self.groups)) if rows is None else rows
        return [
            answer(self.counted, value, limit, shown)
            for value, asked in groupby(self.questions(limits), key=itemgetter(0))
            for shown in [self.about(value, rows)]
            for _, limit in asked
        ]

    def to_leave_out(self, limits: Sequence[Limit]) -> Iterable[int]:
        """The groups to leave out so that the others together are safe: failing ones, then the worst."""
        counted, questions = self.counted, self.questions(limits)
        told: dict[tuple[PrintedGroup, Limit], bool] = {}  # equal groups are decided once

        def kept_alone(value: int, limit: Limit, row: int) -> bool:
            for group in self.about(value, [row]):
                shape = group._replace(number=0)
                if (shape, limit) not in told:
                    told[shape, limit] = answer(counted, value, limit, [group]).safe
                return told[shape, limit]
            return answer(counted, value, limit, []).safe

        alone = []
        for row in range(len(self.groups)):
            progress.report("asking what each group tells alone", row, len(self.groups))
            if all(kept_alone(value, limit, row) for value, limit in questions):
                alone.append(row)
        for value, limit in questions:
            found = answer(counted, value, limit, self.about(value, alone))
            while not found.safe and found.worst is not None:
                alone.remove(found.worst.target.number)
                found = answer(counted, value, limit, self.about(value, alone))
            if not found.safe:
                alone = []
        kept = set(alone)
        return [int(g) for row, g in enumerate(self.groups.tolist()) if row not in kept]

    def notes(self, parts: Sequence[PrintedAnswer]) -> tuple[str, ...]:
        absent = absent_notes(self.absent)
        undecided = any(not part.safe and part.value is None for part in parts)
        return (*absent, *([f"Not decided, so not safe: {UNDECIDED}."] if undecided else []))

    def witness(self, part: PrintedAnswer) -> tuple[Witness, str]:
        """The worst case in numbers, and in words."""
        if part.worst is None:
            return Witness({}), ""
        target, amounts = part.worst.target, part.point.amounts
        place = self.number(int(self.groups[target.number]))
        knows = [f"that {people(target.without)} of group {place} have no value, as the table shows"]
        knows += in_words(amounts, place, place, place, self.case)
        facts = {
            "values_per_person": self.case,
            "amounts": amounts._asdict(),
            "asked": amounts._asdict(),
            "size": target.people,
            "holders": target.holders,
            "without_value": target.without,
            "knows": knows,
        }
        crowd = f"{people(target.people)}, {target.holders} lines with the value in question"
        told = (
            f"Somebody who learns {'; '.join(knows)} is {how_sure(part.value)} sure that person 1 of group"
            f" {place} ({crowd}) has the value. The people known about may be in other groups."
        )
        private = {"g": int(self.groups[target.number]), "others": [], "value_code": part.value_code}
        return Witness(facts, private), told


def counted_in(base: Base) -> PrintedSkyline:
    """What is worked out of groups of one table, for all its choices: many have groups that are alike."""
    case = base.table.values_per_person
    return base.memory.once("printed skyline", lambda: PrintedSkyline(case))


def answer(
    counted: PrintedSkyline, value: int, limit: Limit, groups: Sequence[PrintedGroup]
) -> PrintedAnswer:
    """One question about some groups; one that takes too much work is not safe."""
    if not groups:
        return PrintedAnswer(value, limit, None, Fraction(0), limit.limit > 0)
    if not counted.affordable(groups, limit.amounts):
        return PrintedAnswer(value, limit, None, None, False)
    worst = counted.worst(groups, limit.amounts)
    assert worst is not None
    # only certainty reaches 1, and a limit of 1 excludes nothing else
    return PrintedAnswer(value, limit, worst, worst.chance, worst.chance < limit.limit)


class PrintedSplits(Splits[tuple[PrintedGroups, dict[int, int]]]):
    """The cuts that keep every result below its limit, as far as the worst groups so far show.

    This only guides the search: every group is judged again at the end, together with all others.
    """

    def __init__(self, limits: Sequence[Limit], own: Mapping[int, int], case: ValuesPerPerson) -> None:
        self.limits, self.own = limits, own
        self.counted = PrintedSkyline(case)
        self.worst: dict[tuple[int, Amounts], list[PrintedGroup]] = {}  # the most telling groups so far

    def seen(self, grouping: Grouping) -> tuple[PrintedGroups, dict[int, int]]:
        found = PrintedGroups.of(grouping, self.own)
        return found, {g: row for row, g in enumerate(found.groups.tolist())}

    def allows(self, evidence: tuple[PrintedGroups, dict[int, int]], groups: Sequence[int]) -> bool:
        found, rows = evidence
        for value, limit in found.questions(self.limits):
            parts = found.about(value, [rows[g] for g in groups])
            beside = self.worst.get((value, limit.amounts), [])
            # parts too large to count are cut further, and judged when they are small enough
            if not self.counted.affordable([*parts, *beside], limit.amounts):
                continue
            if not answer(self.counted, value, limit, [*parts, *beside]).safe:
                return False
        return True

    def accept(self, evidence: tuple[PrintedGroups, dict[int, int]], groups: Sequence[int]) -> None:
        found, rows = evidence
        for value, limit in found.questions(self.limits):
            key, (_, known, family) = (value, limit.amounts), limit.amounts
            parts = found.about(value, [rows[g] for g in groups])
            if (known or family) and self.counted.affordable(parts, limit.amounts):
                every = [*self.worst.get(key, []), *parts]
                factors = {it: self.counted.family_factor(it, known, family) for it in every}
                # None: nobody can know so much of a group, which then tells nothing
                told = {it: Fraction(1) if factor is None else factor for it, factor in factors.items()}
                self.worst[key] = [min(every, key=told.__getitem__)] if every else []
