"""(c,k)-safety: even with the k most useful facts, every guess stays below c."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from privacy_sql import registry
from privacy_sql.counted.base import no_rows
from privacy_sql.counted.groups import Groups
from privacy_sql.criteria import Criterion, Exact, Splits, at_least, exact
from privacy_sql.criteria._named_values import absent_notes, named_values, refuse_named_twice
from privacy_sql.criteria._on_arrays import OnArrays
from privacy_sql.display.rounding import how_sure
from privacy_sql.errors import Undecided, UsageError, did_you_mean, number_of, people, raise_all
from privacy_sql.hierarchies.base import text_of
from privacy_sql.kernels.worst_case.disclosure import (
    MOST_FACTS,
    TooManyFacts,
    WorstKnowledge,
    growing_certainty,
    shapes_to_leave_out,
    worst_case_disclosure,
    worst_knowledge,
)
from privacy_sql.kernels.worst_case.group_shapes import GroupShapes
from privacy_sql.kernels.worst_case.running import RunningWorstCase
from privacy_sql.query.template import render
from privacy_sql.verdict import Verdict, Witness

if TYPE_CHECKING:
    from privacy_sql.counted.base import Base
    from privacy_sql.counted.grouping import Grouping
    from privacy_sql.counted.groups import Bools, Ints


PER_VALUE = "For example per_value={flu: {c: 0.2, k: 5}}: less sure than c with at most k facts."


class _Limit(NamedTuple):
    """The probability that nobody may reach, and the number of facts."""

    c: Fraction
    k: int

    def slack(self, value: Fraction) -> tuple[bool, Fraction]:
        """How far a value stays below the limit; failing ones come first."""
        return value < self.c, self.c - value


class _Guess(NamedTuple):
    """The guessed value: its rank in the group, and how many people have it."""

    rank: int
    holders: int


@dataclass(frozen=True)
class _Asked:
    """The groups with the values to guess, and the shape of each."""

    shapes: GroupShapes
    groups: Ints
    shape: Ints


@dataclass(frozen=True)
class _CKEvidence:
    """For each group and sensitive value, how many people have it; the values with their own limits."""

    g: Ints
    n_rows: Ints
    s: Ints | None = None
    own: Mapping[int, int] = field(default_factory=dict)  # code of a value -> number of its limits
    absent: tuple[str, ...] = ()

    def about(self, number: int, facts: int) -> _Asked | None:
        """The question for the values of one limit; None if nobody has any of them."""
        guessed = None if self.s is None else _of_limit(self.s, self.own, number)
        if guessed is not None and not self.n_rows[guessed].any():
            return None
        return _Asked(*GroupShapes.from_columns(self.g, self.n_rows, facts + 1, guessed))

    def rank(self, group: int, count: int) -> int:
        """The rank of a value with this many people among the values of a group."""
        return 1 + int((self.n_rows[self.g == group] > count).sum())


def _of_limit(codes: Ints, own: Mapping[int, int], number: int) -> Bools:
    """The values of one limit; number 0 is for those without their own."""
    named = [code for code, other in own.items() if number in (0, other)]
    return np.asarray(np.isin(codes, named) != (number == 0))


@dataclass(frozen=True)
class CKSafety(OnArrays):
    """The best guess of an adversary who knows the groups and k implications stays below c.

    martin2007, Def. 13; `value` is the maximum disclosure of Def. 6, exact. Merging groups never raises it
    (Theorem 14). Leaving out whole groups leaves fewer implications to choose from and changes no other
    group, so it cannot raise it either. Every person has one sensitive value.

    `per_value` gives single values their own limits, the cost-based disclosure that Sec. 6 leaves open: the
    best guess of exactly that value with at most its k implications stays below its c; c and k apply to the
    other values. The implications may be about any value. `value` is then the one with the least slack.
    """

    name: ClassVar[str] = "ck_safety"
    question: ClassVar[str] = "How sure can somebody become with the k most useful facts?"
    against: ClassVar[str] = (
        "somebody who knows who is in which group, and the most useful facts, up to the given number"
    )
    unit: ClassVar[str] = "share"
    relation: ClassVar[str] = "<"
    safe_under_merging: ClassVar[bool] = True
    safe_under_suppression: ClassVar[bool] = True

    c: Exact
    k: int
    per_value: Mapping[str, Mapping[str, Exact]] | None = None
    must_occur: bool = False  # a value of `per_value` that does not occur is an error, as in a project

    def __post_init__(self) -> None:
        at_least(self.k, 0, self.name, "k")
        assert self.limits

    @property
    def needs_one_value(self) -> bool:
        return True

    @property
    def slider(self) -> str | None:
        return "c" if self.per_value is None else None  # `value` is the one with the least slack

    @property
    def facts(self) -> int | None:
        return self.k if self.per_value is None else None

    @property
    def limit(self) -> Fraction:
        return _above_zero(self.c, "c")

    @property
    def limits(self) -> list[_Limit]:
        """The limits of the values without their own, then of each of the others."""
        own = self.per_value
        if own is not None and not (isinstance(own, Mapping) and own):
            raise _bad(f"per_value of {self.name} must name values", PER_VALUE)
        refuse_named_twice(own or (), self.name)
        found, problems = [_Limit(self.limit, self.k)], []
        for value, limits in (own or {}).items():
            where = f'per_value "{value}"'
            try:
                found.append(_own_limit(limits, where))
            except UsageError as problem:
                problems.append(problem)
        raise_all(problems)
        return found

    def in_project(self) -> Self:
        return replace(self, must_occur=True)

    def as_published(self) -> Self:
        """The rows of everybody with a value may be suppressed."""
        return replace(self, must_occur=False)

    @property
    def params(self) -> dict[str, Any]:
        return {key: value for key, value in super().params.items() if key != "must_occur"}

    def necessary(self) -> Sequence[Criterion]:
        """With d values in a group, d - 1 facts disclose any of them, so at least k + 2 values are needed."""
        least = min(limit.k for limit in self.limits)
        return (registry.get("criteria", "l_diversity")(least + 2),)

    def splits(self, whole: Grouping) -> _CKSplits:
        """The worst case, updated while a search cuts groups (Sec. 3.3.3)."""
        own, _ = self._codes(whole.base)
        return _CKSplits(self.limits, own, Groups.counted(whole))

    def splits_in(self, whole: Groups) -> _CKSplits:
        return _CKSplits(self.limits, self._own(whole), whole)

    def gather(self, grouping: Grouping) -> _CKEvidence:
        counts = group_counts(grouping, by_value=self.per_value is not None)
        own, absent = self._codes(grouping.base)
        return _CKEvidence(counts["g"], counts["n_rows"], counts.get("s"), own, absent)

    def _codes(self, base: Base) -> tuple[dict[int, int], tuple[str, ...]]:
        """Code of each value with its own limits -> their number; and the values that do not occur."""
        wanted = list(map(text_of, self.per_value or {}))
        return named_values(base, wanted, self.name, must_occur=self.must_occur)

    def judge(self, evidence: object) -> Verdict:
        """The worst knowledge decides; of several limits the one with the least slack, a failing one first.

        >>> import numpy as np
        >>> counts = _CKEvidence(np.array([0, 0, 0, 1, 1, 1, 1]), np.array([2, 2, 1, 2, 1, 1, 1]))
        >>> str(CKSafety(c="2/3", k=1).judge(counts).value)
        '2/3'
        """
        assert isinstance(evidence, _CKEvidence)
        found: list[tuple[_Limit, int, _Asked, WorstKnowledge]] = []
        for number, limit in enumerate(self.limits):
            asked = evidence.about(number, limit.k)
            if asked is not None:
                with within_reach():
                    found.append((limit, number, asked, worst_knowledge(asked.shapes, limit.k)))
        limit, number, asked, knowledge = min(found, key=lambda part: part[0].slack(part[3].value))
        witness, told = _witness(evidence, asked, knowledge)
        if evidence.s is not None:
            holding = (evidence.g == witness.private["g"]) & (evidence.n_rows == witness["holders"])
            holding &= _of_limit(evidence.s, evidence.own, number)
            witness.private["value_code"] = int(evidence.s[holding][0])
        return self.verdict(
            knowledge.value,
            witness,
            told,
            safe=all(part.value < each.c for each, _, _, part in found),
            limit=limit.c,
            notes=absent_notes(evidence.absent),
        )

    def fits(self, base: Base) -> bool:
        return bool(base.table.values_per_person == "one")

    def decide(self, groups: Groups) -> Verdict:
        found: list[tuple[tuple[bool, Fraction], _Limit, Fraction]] = []
        for limit, shapes, _ in self._asked(groups):
            with within_reach():
                value = worst_case_disclosure(shapes, limit.k)
            found.append((limit.slack(value), limit, value))
        if not found:
            return self.verdict(None, Witness({}))
        (safe, _), limit, value = min(found)
        return self.verdict(value, Witness({}), safe=safe, limit=limit.c)

    def breaking(self, groups: Groups) -> Bools:
        gone = groups.none
        for limit, shapes, shape in self._asked(groups):
            with within_reach():
                gone |= groups.in_any(shape, shapes_to_leave_out(shapes, limit.k, limit.c))
        return gone

    def _asked(self, groups: Groups) -> Iterator[tuple[_Limit, GroupShapes, Ints]]:
        """For each limit, the groups as shapes, if somebody has one of its values."""
        own = self._own(groups)
        for number, limit in enumerate(self.limits if len(groups) else ()):
            guessed = None
            if self.per_value is not None:
                guessed = groups.largest(np.where(_of_limit(groups.value, own, number), groups.n, 0))
            if guessed is None or guessed.any():
                width = limit.k + 1
                yield (
                    limit,
                    *GroupShapes.from_ranked(groups.people, groups.start, groups.ranked, width, guessed),
                )

    def _own(self, groups: Groups) -> Mapping[int, int]:
        if self.per_value is None:
            return {}
        assert groups.values is not None
        base = groups.values.base
        own, _ = base.memory.once(("limits of values", str(self)), lambda: self._codes(base))
        return own

    def failing(self, evidence: object) -> list[int]:
        """Groups to leave out so that the others are safe together."""
        assert isinstance(evidence, _CKEvidence)
        gone: set[int] = set()
        for number, limit in enumerate(self.limits):
            asked = evidence.about(number, limit.k)
            if asked is not None:
                with within_reach():
                    unsafe = shapes_to_leave_out(asked.shapes, limit.k, limit.c)
                gone |= {
                    int(g)
                    for g, kind in zip(asked.groups, asked.shape.tolist(), strict=True)
                    if kind in unsafe
                }
        return sorted(gone)


def _own_limit(limits: object, where: str) -> _Limit:
    """The c and k of one value; one error names everything that is wrong with them."""
    name = CKSafety.name
    if not isinstance(limits, Mapping) or {*limits} != {"c", "k"}:
        odd = [str(key) for key in limits if key not in ("c", "k")] if isinstance(limits, Mapping) else []
        told = f', and "{odd[0]}" is unknown. {did_you_mean(odd[0], ("c", "k"))}' if odd else ""
        raise _bad(f"{where} of {name} says c and k{told}", PER_VALUE)
    return _Limit(_above_zero(limits["c"], f"c of {where}"), at_least(limits["k"], 0, name, f"k of {where}"))


def _above_zero(c: Exact, parameter: str) -> Fraction:
    limit = exact(c, CKSafety.name, parameter, 0, 1)
    if not limit:
        raise _bad(
            f"{parameter} of {CKSafety.name} must be above 0", "No release can keep every guess below 0."
        )
    return limit


def _bad(message: str, hint: str) -> UsageError:
    return UsageError("bad_parameter", message, hint=hint)


class _CKSplits(Splits["_Seen"]):
    """Which cuts keep the maximum disclosure below every limit; parts are known by their g."""

    def __init__(self, limits: Sequence[_Limit], own: Mapping[int, int], whole: Groups) -> None:
        self._own = own
        self._running: list[tuple[int, RunningWorstCase]] = []
        for number, limit in enumerate(limits):
            guessed = self._guessed(whole, number)
            if guessed.any():
                with within_reach():
                    running = RunningWorstCase(limit.k, limit.c)
                running.change(added=self._rows(running, whole, guessed))
                self._running.append((number, running))

    def _guessed(self, groups: Groups, number: int) -> Ints:
        """How many of each group have the most common value that one of the limits is about."""
        return groups.largest(np.where(_of_limit(groups.value, self._own, number), groups.n, 0))

    @staticmethod
    def _rows(running: RunningWorstCase, groups: Groups, guessed: Ints) -> list[int]:
        """The number of the shape of each group."""
        counts = groups.people, groups.start, groups.ranked
        shapes, shape = GroupShapes.from_ranked(*counts, running.facts + 1, guessed)
        return list(np.array(running.learn(shapes))[shape].tolist())

    def seen(self, grouping: Grouping) -> _Seen:
        return self.seen_in(Groups.counted(grouping))

    def seen_in(self, groups: Groups) -> _Seen:
        rows = [
            self._rows(running, groups, self._guessed(groups, number)) if len(groups) else []
            for number, running in self._running
        ]
        gone = groups.none
        for (_, running), its in zip(self._running, rows, strict=True):
            gone |= running.reaching(its)
        counts = groups.start.tolist(), groups.value.tolist(), groups.n.tolist()
        place = {g: place for place, g in enumerate(groups.key.tolist())}
        return _Seen(place, rows, *counts, groups.key[gone].tolist())

    def hopeless(self, evidence: _Seen) -> Collection[int]:
        return evidence.hopeless

    def allows(self, evidence: _Seen, groups: Sequence[int]) -> bool:
        return all(running.allows(*cut) for running, *cut in self._cut(evidence, groups))

    def accept(self, evidence: _Seen, groups: Sequence[int]) -> None:
        for running, *cut in self._cut(evidence, groups):
            running.change(*cut)

    def _cut(
        self, evidence: _Seen, groups: Sequence[int]
    ) -> Iterator[tuple[RunningWorstCase, list[int], list[int]]]:
        """Of each limit the shape of a group that is cut, and those of its parts."""
        places = [evidence.place[g] for g in groups]
        whole: dict[int, int] = {}
        for place in places:
            its = slice(evidence.start[place], evidence.start[place + 1])
            for value, n in zip(evidence.value[its], evidence.n[its], strict=True):
                whole[value] = whole.get(value, 0) + n
        counts = list(whole.values())
        for (number, running), rows in zip(self._running, evidence.rows, strict=True):
            asked = (n for value, n in whole.items() if self._own.get(value, 0) == number)
            gone = running.number(counts, max(asked, default=0) if self._own else max(counts))
            yield running, [gone], [rows[place] for place in places]


class _Seen(NamedTuple):
    """The parts of cuts: the place of each, its shape for each limit and its counts; those that break one."""

    place: Mapping[int, int]
    rows: list[list[int]]
    start: list[int]
    value: list[int]
    n: list[int]
    hopeless: list[int]


def group_counts(grouping: Grouping, *, by_value: bool = False) -> Mapping[str, Any]:
    """The counts of every group as arrays, which grow with groups and values, not with rows."""
    refuse_other_worlds(grouping.base)
    query = render("criteria/ck_safety.sql", histogram=grouping.histogram, per_value=by_value)
    arrays: Mapping[str, Any] = grouping.base.engine.arrays(query)
    return arrays


def refuse_other_worlds(base: Base) -> None:
    """Refuse tables in which a person may have several values, which the worlds counted here exclude."""
    table = base.table
    if table.values_per_person != "one":
        raise UsageError(
            "several_values",
            f"maximum disclosure needs one sensitive value per person, but {table.name} declares"
            f" {table.values_per_person}",
            hint="Use privacy_skyline, which supports sets and multisets of values.",
        )
    if not table.sensitives:
        raise UsageError("no_sensitive", "maximum disclosure needs a sensitive column", where=table.name)
    if not base.rows:
        raise no_rows(table)


@contextmanager
def within_reach() -> Iterator[None]:
    """Turn too many facts into a clear result: undecided."""
    try:
        yield
    except TooManyFacts:
        raise Undecided(
            "too_many_facts",
            f"with so many values in a group, maximum disclosure is computed for at most {MOST_FACTS} facts",
            hint="Use fewer facts.",
        ) from None


def _witness(evidence: _CKEvidence, asked: _Asked, knowledge: WorstKnowledge) -> tuple[Witness, str]:
    """The worst knowledge in numbers, and in words."""
    numbers = [int((asked.shape == place.shape).nonzero()[0][place.copy]) for place in knowledge.places]
    target, shape = next(
        (number, place.shape) for number, place in zip(numbers, knowledge.places, strict=True) if place.target
    )
    group, count = int(asked.groups[target]), int(asked.shapes.target[shape])
    guess = _Guess(evidence.rank(group, count), count)
    groups = [
        (int(asked.shapes.size[place.shape]), [int(n) for n in asked.shapes.top[place.shape]])
        for place in knowledge.places
    ]
    claims = [place.atoms for place in knowledge.places]
    aimed_at = next(number for number, place in enumerate(knowledge.places) if place.target)
    facts = {
        "facts": knowledge.facts,
        "size": int(asked.shapes.size[shape]),
        "holders": count,
        "guess": guess.rank,
        "places": [
            # person 1 of the target's group is claimed to have the value that is guessed and the top others
            {
                "group": number + 1,
                "size": int(asked.shapes.size[place.shape]),
                "counts": [int(n) for n in asked.shapes.top[place.shape, : max(place.atoms)]],
                "claims": list(place.atoms),
                "target": place.target,
            }
            for number, place in zip(numbers, knowledge.places, strict=True)
        ],
        "knows": list(_in_words(numbers, knowledge, guess)),
        # before the first fact and after each one
        "certainty": [str(p) for p in growing_certainty(groups, claims, aimed_at, count)],
    }
    others = [int(asked.groups[number]) for number in numbers if number != target]
    return Witness(facts, {"g": group, "others": others}), _story(target + 1, facts, knowledge, guess)


def _in_words(numbers: list[int], knowledge: WorstKnowledge, guess: _Guess) -> Iterator[str]:
    """The implications, one sentence each; one about the target's own values is a simple negation."""
    target = next(number for number, place in zip(numbers, knowledge.places, strict=True) if place.target) + 1
    for number, place in zip(numbers, knowledge.places, strict=True):
        for person, claimed in enumerate(place.atoms, start=1):
            if place.target and person == 1:
                # the most common values besides the guessed one
                for rank in [rank for rank in range(1, claimed + 1) if rank != guess.rank][: claimed - 1]:
                    yield f"person 1 of group {target} does not have its {ranked(rank)} value"
                continue
            for rank in range(1, claimed + 1):
                yield (
                    f"if person {person} of group {number + 1} has its {ranked(rank)} value,"
                    f" then person 1 of group {target} has its {ranked(guess.rank)} value"
                )


def ranked(rank: int) -> str:
    """How to refer to a value of a group without naming it.

    >>> [ranked(rank) for rank in (1, 2, 3, 11, 22)]
    ['most common', '2nd most common', '3rd most common', '11th most common', '22nd most common']
    """
    if rank == 1:
        return "most common"
    ending = {1: "st", 2: "nd", 3: "rd"}.get(rank % 10, "th") if rank % 100 not in (11, 12, 13) else "th"
    return f"{rank}{ending} most common"


def _story(target: int, facts: Mapping[str, Any], knowledge: WorstKnowledge, guess: _Guess) -> str:
    """The worst case in plain words."""
    right, size, value = how_sure(knowledge.value), people(facts["size"]), f"{ranked(guess.rank)} value"
    if not knowledge.facts:
        return (
            f"Without further facts, somebody who guesses the {value} for a person of group {target} ({size})"
            f" is right {right} of the time."
        )
    known = number_of(knowledge.facts, "more fact")
    return (
        f"With {known}, somebody who guesses that person 1 of group {target} ({size}) has its {value} is"
        f" right {right} of the time: {'; '.join(facts['knows'])}. All of this is true if person 1 has that"
        " value."
    )
