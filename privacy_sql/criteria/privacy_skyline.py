"""Privacy skyline: three kinds of knowledge, each up to an amount, leave every guess below its limit."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from privacy_sql.counted.groups import Bools, Groups, Ints, starts
from privacy_sql.criteria import Criterion, Row, Splits
from privacy_sql.criteria._named_values import absent_notes, named_values
from privacy_sql.criteria._on_arrays import OnArrays
from privacy_sql.criteria._printed_skyline import (
    PrintedAnswer,
    PrintedGroups,
    PrintedSplits,
    counted_in,
)
from privacy_sql.criteria._skyline_points import Limit, per_value_of, points_of
from privacy_sql.criteria._skyline_words import facts_of, story
from privacy_sql.errors import UsageError
from privacy_sql.kernels.skyline.breach_probability import (
    Amounts,
    SkylineGroup,
    ValuesPerPerson,
    breach_probability,
    is_safe,
    least_amounts,
    worst_case,
)
from privacy_sql.kernels.skyline.groups import Histograms, worst_groups
from privacy_sql.kernels.skyline.leave_out import rows_to_leave_out
from privacy_sql.kernels.skyline.running import GroupCounts, RunningSkyline, SkylineQuestion, TriedGroups
from privacy_sql.kernels.skyline.screening import Screened, screened
from privacy_sql.query.template import Query, Sql, literal, render
from privacy_sql.verdict import Number, Verdict, Witness

if TYPE_CHECKING:
    from privacy_sql.counted.base import Base
    from privacy_sql.counted.grouping import Grouping
    from privacy_sql.table import Table

# counts of every group and value side by side, needed to leave groups out
MOST_COUNTS = 50_000_000
# floats that differ by more than this are in the right order
TOLD_APART = 1e-9


class _Part(NamedTuple):
    """One point for one sensitive value: the groups that may be worst, and their result."""

    value_code: int
    point: Limit
    groups: tuple[SkylineGroup, ...]
    value: Number | None
    safe: bool

    def slack(self) -> tuple[bool, Fraction]:
        """The distance below the limit; failing and undecided ones come first."""
        return self.safe, self.point.limit - Fraction(2 if self.value is None else self.value)


class _PointResult(NamedTuple):
    """The result of a point: the largest breach probability over its values."""

    amounts: Amounts
    limit: Fraction
    value: Number
    safe: bool


@dataclass(frozen=True)
class _SkylineEvidence:
    """The rows of the template with everything needed to read them."""

    case: ValuesPerPerson
    rows: Sequence[Row]
    number: Callable[[int], int] = int  # the place of a group among all groups
    absent: tuple[str, ...] = ()  # values of `per_value` that do not occur
    own: Mapping[int, int] = field(default_factory=dict)  # code of a value -> number of its own skyline
    counts: Callable[[], tuple[Histograms, Any]] | None = None  # of all groups, and their g


@dataclass(frozen=True)
class PrivacySkyline(Criterion):
    """Breach probability stays below c for every point [values ruled out, others known, family, c].

    chen2008, Defs. 3 and 4; `points` apply to every sensitive value without its own skyline in `per_value`;
    `value` is the breach probability with the least slack. The kinds of knowledge depend on the table's
    `values_per_person` (Defs. 1 and 2). If every person has one value, merging groups never raises it
    (Theorem 3); with several values it can. Leaving out whole groups leaves fewer places for the same
    knowledge.
    """

    name: ClassVar[str] = "privacy_skyline"
    question: ClassVar[str] = (
        "How sure can somebody be who knows facts about the target, a family and other people?"
    )
    against: ClassVar[str] = (
        "somebody who knows the groups and so many facts about the target, other people and a family"
    )
    unit: ClassVar[str] = "share"
    relation: ClassVar[str] = "<"
    safe_under_suppression: ClassVar[bool] = True

    points: Any = ()
    per_value: Any = None
    must_occur: bool = False  # a value of `per_value` that does not occur is an error, as in a project

    def __post_init__(self) -> None:
        if not self.limits:
            hint = "For example points=[[1, 1, 5, 0.9]]: values ruled out, others known, family, limit."
            raise UsageError("missing_parameter", f"{self.name} needs points or per_value", hint=hint)

    @property
    def limits(self) -> list[Limit]:
        """All points with the number of their skyline: 0 for `points`, then those of `per_value`."""
        found = [Limit(0, *point) for point in points_of(self.points, f"points of {self.name}")]
        for number, (value, points) in enumerate(per_value_of(self.per_value).items(), start=1):
            where = f'per_value "{value}" of {self.name}'
            found += [Limit(number, *point) for point in points_of(points, where)]
        return found

    @property
    def slider(self) -> str | None:
        """The points where all have one limit: the value is then the largest breach probability."""
        return "points" if not self.per_value and len({point.limit for point in self.limits}) == 1 else None

    @property
    def breaches(self) -> Sequence[Fraction]:
        """The limits of `points`, which hold for every value without its own."""
        return [point.limit for point in self.limits if not point.skyline]

    @property
    def slider_places(self) -> tuple[tuple[str | int, ...], ...]:
        return () if self.slider is None else tuple(("points", n, 3) for n in range(len(self.points)))

    @property
    def limit(self) -> Number:
        return self.limits[0].limit if self.slider else super().limit

    def on(self, table: Table) -> Criterion:
        """The requirement for a release of one table.

        With one value per person a search may prune on it. With several, a reader of the printed rows knows
        how many people have none.
        """
        one = table.values_per_person == "one"
        kind = _WithOneValueEach if one else _AsPrinted
        if type(self) in (PrivacySkyline, _WithOneValueEach, _AsPrinted):
            return kind(self.points, self.per_value, self.must_occur)
        # a subclass of somebody's own goes first, whatever it changes
        own = vars(type(self)).get("__own__", type(self))
        made: PrivacySkyline = object.__new__(type(own.__name__, (own, kind), {"__own__": own}))
        vars(made).update(vars(self))
        return made

    def in_project(self) -> Self:
        return replace(self, must_occur=True)

    def as_published(self) -> Self:
        """The rows of everybody with a value may be suppressed."""
        return replace(self, must_occur=False)

    @property
    def params(self) -> dict[str, Any]:
        return {key: value for key, value in super().params.items() if key != "must_occur"}

    def __str__(self) -> str:
        shown_points = [
            f"{key}={_bare(value)}"
            for key, value in (("points", self.points), ("per_value", self.per_value))
            if value
        ]
        return f"{self.name}({', '.join(shown_points)})"

    def gather(self, grouping: Grouping) -> _SkylineEvidence | PrintedGroups:
        """Evaluate all points for all values in one statement."""
        own, absent = self._own_skylines(grouping.base)
        query = render("criteria/group_counts.sql", groups=grouping.groups, histogram=grouping.histogram)
        return _SkylineEvidence(
            case=grouping.base.table.values_per_person,
            rows=grouping.base.engine.fetch(self._query(grouping, own)),
            number=lambda g: int(grouping.number(g)["group"]),
            absent=absent,
            own=own,
            counts=lambda: Histograms.from_columns(grouping.base.engine.arrays(query)),
        )

    def splits(self, whole: Grouping) -> Splits[Any] | None:
        return self.on(whole.base.table).splits(whole)

    def _own_skylines(self, base: Base) -> tuple[dict[int, int], tuple[str, ...]]:
        """Code of each value in `per_value` -> number of its skyline; and the values that do not occur."""
        wanted = list(per_value_of(self.per_value))
        return named_values(base, wanted, self.name, must_occur=self.must_occur)

    def _query(self, grouping: Grouping, own: Mapping[int, int]) -> Query:
        engine, limits = grouping.base.engine, self.limits
        # ruling out more values than exist rules out all of them
        most = grouping.base.statistics["s"]["n_values"]
        points = {
            "skyline": [limit.skyline for limit in limits],
            "point": list(range(len(limits))),
            "ruled_out": [min(limit.amounts.ruled_out, most) for limit in limits],
            "known": [limit.amounts.known for limit in limits],
            "family": [limit.amounts.family for limit in limits],
        }
        plan = {"s": ("bigint", list(own)), "skyline": ("bigint", list(own.values()))}
        # a large odd number for each place, so that groups with other counts have another weighted sum
        draw = random.Random(1)
        weights = [(place, draw.getrandbits(28) | 1) for place in range(1, max(points["ruled_out"]) + 2)]
        return render(
            "criteria/privacy_skyline.sql",
            histogram=grouping.histogram,
            groups=grouping.groups,
            overall=grouping.overall,
            points=engine.load({name: ("bigint", column) for name, column in points.items()}, "points"),
            plan=engine.load(plan, "plan") if own else None,
            case_name=grouping.base.table.values_per_person,
            # logarithms of factorials grow with the largest group, and their rounding with them
            rounding=literal(repr(max(1e-5, 1e-13 * grouping.base.rows))),
            n_codes=grouping.base.statistics["s"]["top"] + 1,
            lengths=[(length, weights[: length + 1]) for length in sorted({*points["ruled_out"]} - {0})],
            shifts=[
                (Sql("0"), Sql("none")),
                (Sql("a.known"), Sql("known")),
                (Sql("(a.known + 1)"), Sql("more")),
            ],
        )

    def judge(self, evidence: object) -> Verdict:
        """The part with the least slack decides, a failing one first.

        >>> seven = {"s": 1, "point": 0, "g": 1, "n_people": 7, "n_holders": 1}
        >>> rows = [{**seven, "place": 1, "n_rows": 4, "own": 0}]
        >>> str(PrivacySkyline([[1, 0, 1, "0.4"]]).judge(_SkylineEvidence("one", rows)).value)
        '3/8'
        """
        assert isinstance(evidence, _SkylineEvidence)
        limits = self.limits
        parts = [
            _part(code, limits[point], groups, evidence.case)
            for (code, point), groups in _by_part(evidence.rows)
        ]
        notes = absent_notes(evidence.absent)
        if not parts:
            return self.verdict(Fraction(0), Witness({}), limit=limits[0].limit, notes=notes)
        worst = min(parts, key=_Part.slack)
        witness, told = _witness(worst, evidence) if worst.groups else (Witness({}), "")
        return self.verdict(
            worst.value,
            witness,
            told,
            safe=all(part.safe for part in parts),
            limit=worst.point.limit,
            notes=notes,
            points=tuple(_results(limits, parts)),
        )

    def failing(self, evidence: object) -> list[int]:
        """The groups to leave out so that the others together are safe."""
        assert isinstance(evidence, _SkylineEvidence) and evidence.counts is not None
        tables, groups = evidence.counts()
        rows = rows_to_leave_out(tables, self.limits, evidence.own, evidence.case)
        return [int(group) for group in groups[rows]]


class _SkylineSplits(Splits["_SeenParts"]):
    """The cuts that keep every breach probability below its limit; parts are identified by their g."""

    def __init__(self, limits: Sequence[Limit], own: Mapping[int, int], whole: Groups) -> None:
        questions = [
            SkylineQuestion(value, limit.amounts, limit.limit)
            for value in np.unique(whole.value).tolist()
            for limit in limits
            if limit.skyline == own.get(value, 0)
        ]
        self._running = RunningSkyline(questions, _counts(whole))

    def seen(self, grouping: Grouping) -> _SeenParts:
        return self.seen_in(Groups.counted(grouping))

    def seen_in(self, groups: Groups) -> _SeenParts:
        keys = groups.key.tolist()
        return _SeenParts(self._running.seen(_counts(groups)), dict(zip(keys, range(len(keys)), strict=True)))

    def hopeless(self, evidence: _SeenParts) -> Collection[int]:
        return [g for g, row in evidence.rows.items() if evidence.seen.breaking[row]]

    def allows(self, evidence: _SeenParts, groups: Sequence[int]) -> bool:
        return self._running.allows(evidence.seen, [evidence.rows[g] for g in groups])

    def accept(self, evidence: _SeenParts, groups: Sequence[int]) -> None:
        self._running.accept(evidence.seen, [evidence.rows[g] for g in groups])


class _SeenParts(NamedTuple):
    """What is known of the parts of cuts, and the row of each there."""

    seen: TriedGroups
    rows: Mapping[int, int]


def _counts(groups: Groups) -> GroupCounts:
    return GroupCounts(groups.people, groups.start, groups.value, groups.n, groups.ranked)


def _side_by_side(groups: Groups) -> Histograms:
    """The counts of every group, paired with every value it shows."""
    shown, column = np.unique(groups.value, return_inverse=True)
    counts = np.zeros((len(groups), len(shown)), np.int64)
    counts[groups.of_each, column.reshape(-1)] = groups.n
    return Histograms(counts, groups.people, tuple(shown.tolist()))


@dataclass(frozen=True)
class _ByValue:
    """The groups that show each sensitive value, one value after the other."""

    groups: Groups
    codes: tuple[int, ...]
    places: Ints  # of the counts of every value
    first: Ints  # where those of each begin, and where the last ends

    @classmethod
    def of(cls, groups: Groups) -> _ByValue:
        places = np.argsort(groups.value, kind="stable")
        value = groups.value[places]
        first = starts(value)
        return cls(groups, tuple(value[first].tolist()), places, np.append(first, len(value)))

    def taken(self, ruled_out: int, places: Ints) -> Ints:
        """The people that ruled-out values remove: without the value itself or the next one, if fewer."""
        sums = [
            self.groups.top_sums(length)[self.groups.of_each[places]] for length in (ruled_out, ruled_out + 1)
        ]
        return np.asarray(np.minimum(sums[0], sums[1] - self.groups.n[places]))

    def screened(self, amounts: Amounts) -> Screened:
        """An estimate of how sure somebody can be of every value."""
        places = self.places
        people, holders = self.groups.people[self.groups.of_each[places]], self.groups.n[places]
        return screened(people, holders, self.taken(amounts.ruled_out, places), self.first[:-1], amounts)

    def part(self, value: int, point: Limit) -> _Part:
        """The exact result for one value."""
        places = self.places[self.first[value] : self.first[value + 1]]
        people, holders = self.groups.people[self.groups.of_each[places]], self.groups.n[places]
        groups = worst_groups(people, holders, self.taken(point.amounts.ruled_out, places))
        return _part(self.codes[value], point, tuple(groups), "one")


def _places(mask: Bools) -> list[tuple[int, int]]:
    """The points and values that are marked, value by value."""
    value, point = np.nonzero(mask.T)
    return list(zip(point.tolist(), value.tolist(), strict=True))


@dataclass(frozen=True)
class _WithOneValueEach(PrivacySkyline, OnArrays):
    """chen2008, Theorem 3: merging groups never raises a breach probability."""

    safe_under_merging: ClassVar[bool] = True

    __str__ = PrivacySkyline.__str__

    def fewest_people(self, table: Table) -> int:
        """A holder, who is not certain: one person more than can be ruled out or known, or k + 1 with m more.

        Both factors of a ratio above 0 say so (Sec. 7.1): T(l,k) = (n - s - S_l - k) / s where S_l >= l, else
        all other values are ruled out; and V(m,k+1), which is 0 once k + 1 + m > n - s.
        """
        least: dict[int, int] = {0: 1, **{limit.skyline: 1 for limit in self.limits}}
        for skyline, (ruled_out, known, family), _ in self.limits:
            least[skyline] = max(least[skyline], known + max(ruled_out, family) + 2)
        return min(least.values())

    def fits(self, base: Base) -> bool:
        """No, if pairing every group with every value gives too many counts."""
        return bool(base.combinations * base.statistics["s"]["n_values"] <= MOST_COUNTS)

    def decide(self, groups: Groups) -> Verdict:
        """Floats decide what is far from its limit and from the least slack; fractions decide the rest."""
        by_value = _ByValue.of(groups)
        own, limits = self._own(groups), self.limits
        numbers = np.array([own.get(code, 0) for code in by_value.codes])
        asked = np.array([numbers == limit.skyline for limit in limits])
        if not asked.any():
            return self.verdict(Fraction(0), Witness({}), limit=limits[0].limit)
        found = [by_value.screened(limit.amounts) for limit in limits]
        chance = np.where(asked, [its.chance for its in found], -np.inf)
        certain = asked & np.array([its.certain for its in found])
        slack = np.array([[float(limit.limit)] for limit in limits]) - chance
        near = np.abs(slack) <= TOLD_APART
        undecided = asked & ~certain & (near | np.isnan(slack))
        unsafe = certain | (slack < -TOLD_APART)
        parts = {where: by_value.part(where[1], limits[where[0]]) for where in _places(undecided)}
        unsafe[tuple(np.array([where for where in parts if not parts[where].safe], int).reshape(-1, 2).T)] = (
            True
        )
        # of the failing ones, if any, the one with the least slack
        told = unsafe if unsafe.any() else asked
        least = np.nanmin(np.where(told & ~np.isnan(slack), slack, np.inf))
        worst: _Part | None = None
        for where in _places(told & ~(slack > least + TOLD_APART)):
            point, value = where
            if certain[where]:
                part = _Part(by_value.codes[value], limits[point], (), Fraction(1), False)
            else:
                part = parts.get(where) or by_value.part(value, limits[point])
            if worst is None or part.slack() < worst.slack():
                worst = part
        assert worst is not None
        return self.verdict(worst.value, Witness({}), safe=not unsafe.any(), limit=worst.point.limit)

    def splits(self, whole: Grouping) -> _SkylineSplits:
        """Five minima per value and point, while a search cuts groups (Fig. 4)."""
        own, _ = self._own_skylines(whole.base)
        return _SkylineSplits(self.limits, own, Groups.counted(whole))

    def splits_in(self, whole: Groups) -> _SkylineSplits:
        return _SkylineSplits(self.limits, self._own(whole), whole)

    def breaking(self, groups: Groups) -> Bools:
        rows = rows_to_leave_out(_side_by_side(groups), self.limits, self._own(groups), "one")
        return groups.marked(np.array(rows, np.int64))

    def _own(self, groups: Groups) -> dict[int, int]:
        if not per_value_of(self.per_value):
            return {}
        assert groups.values is not None
        base = groups.values.base
        own, _ = base.memory.once(("own skylines", str(self)), lambda: self._own_skylines(base))
        return own


@dataclass(frozen=True)
class _AsPrinted(PrivacySkyline, OnArrays):
    """People with several values, as a published table shows them; Theorem 2 does not apply to them."""

    needs_base: ClassVar[bool] = True  # people without a value are counted by original combinations
    cuts_may_help: ClassVar[bool] = True  # smaller groups may tell less about people without a value

    __str__ = PrivacySkyline.__str__

    def gather(self, grouping: Grouping) -> PrintedGroups:
        own, absent = self._own_skylines(grouping.base)
        return PrintedGroups.of(grouping, own, absent)

    def splits(self, whole: Grouping) -> PrintedSplits:
        own, _ = self._own_skylines(whole.base)
        return PrintedSplits(self.limits, own, whole.base.table.values_per_person)

    def splits_in(self, whole: Groups) -> None:
        """Boxes are cut by statements here, as `needs_base` says."""

    def judge(self, evidence: object) -> Verdict:
        """The question with the least slack decides, a failing one first."""
        assert isinstance(evidence, PrintedGroups)
        limits = self.limits
        parts = evidence.answers(limits)
        if not parts:
            return self.verdict(Fraction(0), Witness({}), limit=limits[0].limit, notes=evidence.notes(parts))
        worst = min(parts, key=PrintedAnswer.slack)
        witness, told = evidence.witness(worst)
        return self.verdict(
            worst.value,
            witness,
            told,
            safe=all(part.safe for part in parts),
            limit=worst.point.limit,
            notes=evidence.notes(parts),
            points=tuple(_results(limits, parts)),
        )

    def failing(self, evidence: object) -> list[int]:
        assert isinstance(evidence, PrintedGroups)
        return list(evidence.to_leave_out(self.limits))

    def fits(self, base: Base) -> bool:
        """Not where a reader may not know all columns: statements ask for them as well."""
        few = base.combinations * base.statistics["s"]["n_values"] <= MOST_COUNTS
        return bool(few and not base.table.also_known)

    def decide(self, groups: Groups) -> Verdict:
        parts = self._printed(groups).answers(self.limits)
        if not parts:
            return self.verdict(Fraction(0), Witness({}), limit=self.limits[0].limit)
        worst = min(parts, key=PrintedAnswer.slack)
        safe = all(part.safe for part in parts)
        return self.verdict(worst.value, Witness({}), safe=safe, limit=worst.point.limit)

    def breaking(self, groups: Groups) -> Bools:
        gone = np.array([*self._printed(groups).to_leave_out(self.limits)], np.int64)
        return np.isin(groups.key, gone)

    def _printed(self, groups: Groups) -> PrintedGroups:
        assert groups.values is not None and groups.holders is not None
        base, without = groups.values.base, groups.people - groups.holders
        own, absent = base.memory.once(("own skylines", str(self)), lambda: self._own_skylines(base))
        case, tables = base.table.values_per_person, _side_by_side(groups)
        return PrintedGroups(case, tables, groups.key, without, counted_in(base), own=own, absent=absent)


def _part(code: int, point: Limit, groups: tuple[SkylineGroup, ...], case: ValuesPerPerson) -> _Part:
    if not groups:  # every requested value occurs somewhere, so there is always a group
        return _Part(code, point, groups, None, False)
    value = breach_probability(groups, point.amounts, case)
    if isinstance(value, Fraction):
        return _Part(code, point, groups, value, value < point.limit <= 1)
    return _Part(code, point, groups, value, is_safe(groups, point.amounts, point.limit, case))


def _by_part(rows: Iterable[Row]) -> list[tuple[tuple[int, int], tuple[SkylineGroup, ...]]]:
    """The groups of each (value, point), their other values' counts largest first."""
    found: dict[tuple[int, int], dict[int, list[Row]]] = {}
    for row in rows:
        groups = found.setdefault((row["s"], row["point"]), {})
        if row["g"] is not None:
            groups.setdefault(row["g"], []).append(row)
    parts = []
    for key, by_number in sorted(found.items()):
        made = []
        for number, its in sorted(by_number.items()):
            others = sorted((row["n_rows"] for row in its if not row["own"]), reverse=True)
            made.append(SkylineGroup(its[0]["n_people"], its[0]["n_holders"], tuple(others), number))
        parts.append((key, tuple(made)))
    return parts


def _results(limits: Sequence[Limit], parts: Sequence[_Part | PrintedAnswer]) -> Iterable[_PointResult]:
    """The largest result of each point over its sensitive values."""
    for limit in limits:
        asked = [part for part in parts if part.point == limit]
        values = [Fraction(1) if part.value is None else part.value for part in asked]
        yield _PointResult(
            limit.amounts, limit.limit, max(values, default=Fraction(0)), all(part.safe for part in asked)
        )


def _witness(part: _Part, evidence: _SkylineEvidence) -> tuple[Witness, str]:
    """The worst knowledge with the smallest amounts, as numbers and in words."""
    least = least_amounts(part.groups, part.point.amounts, evidence.case)
    worst = worst_case(part.groups, least, evidence.case)
    g, f = worst.target.number, worst.family.number
    numbers = evidence.number(g), evidence.number(f)
    facts = facts_of(worst, least, part.point.amounts, numbers, evidence.case)
    private = {"g": g, "others": [f] if f != g else [], "value_code": part.value_code}
    return Witness(facts, private), story(part.value, facts, numbers[0])


def _bare(value: object) -> str:
    """A list or mapping as the user would write it, numbers without quotes."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_bare(part)}" for key, part in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_bare, value)) + "]"
    return str(value)
