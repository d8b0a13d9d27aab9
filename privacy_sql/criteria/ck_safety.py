"""(c,k)-safety: k facts more, whichever hurt most, leave every guess below c."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from privacy_sql import registry
from privacy_sql.counted.base import no_rows
from privacy_sql.criteria import Criterion, Exact, Splits, at_least, exact
from privacy_sql.criteria._on_arrays import OnArrays
from privacy_sql.errors import Undecided, UsageError, number_of, people
from privacy_sql.kernels.worst_case.disclosure import (
    MOST_FACTS,
    Knowledge,
    Place,
    TooManyFacts,
    growing_certainty,
    shapes_to_leave_out,
    worst_knowledge,
)
from privacy_sql.kernels.worst_case.group_shapes import GroupShapes
from privacy_sql.kernels.worst_case.running import RunningWorstCase
from privacy_sql.query.template import render
from privacy_sql.verdict import Verdict, Witness, shown

if TYPE_CHECKING:
    from privacy_sql.counted.base import Base
    from privacy_sql.counted.grouping import Grouping
    from privacy_sql.counted.groups import Bools, Groups, Ints
    from privacy_sql.criteria import Evidence


@dataclass(frozen=True)
class CKSafety(OnArrays):
    """The best guess of an adversary who knows the groups and k implications more stays below c.

    martin2007, Def. 13; `value` is the maximum disclosure of Def. 6, exact. Merging groups never raises it
    (Theorem 14). Leaving out whole groups leaves fewer implications to choose from and changes no other
    group, so it cannot raise it either. Every person has one sensitive value.
    """

    name: ClassVar[str] = "ck_safety"
    question: ClassVar[str] = "How sure can somebody be who knows k facts more, whichever help most?"
    against: ClassVar[str] = (
        "somebody who knows who is in which group and the given number of facts more, whichever help most"
    )
    unit: ClassVar[str] = "share"
    relation: ClassVar[str] = "<"
    safe_under_merging: ClassVar[bool] = True
    safe_under_suppression: ClassVar[bool] = True

    c: Exact
    k: int

    def __post_init__(self) -> None:
        at_least(self.k, 0, self.name, "k")
        if not exact(self.c, self.name, "c", 0, 1):
            raise UsageError(
                "bad_parameter",
                "c of ck_safety must be above 0",
                hint="No release keeps every guess below 0.",
            )

    @property
    def needs_one_value(self) -> bool:
        return True

    @property
    def limit(self) -> Fraction:
        return exact(self.c, self.name, "c", 0, 1)

    def necessary(self) -> Sequence[Criterion]:
        """With d values in a group, d - 1 facts disclose everything there: k + 2 values are needed."""
        return (registry.get("criteria", "l_diversity")(self.k + 2),)

    def splits(self, whole: Grouping) -> Splits:
        """The worst case re-evaluated where a search cuts groups (Sec. 3.3.3)."""
        return _Splits(self.k, self.limit, _histograms(whole))

    def gather(self, grouping: Grouping) -> Mapping[str, Any]:
        return group_counts(grouping)

    def judge(self, evidence: Evidence) -> Verdict:
        """The worst knowledge decides.

        >>> import numpy as np
        >>> counts = {"g": np.array([0, 0, 0, 1, 1, 1, 1]), "n_rows": np.array([2, 2, 1, 2, 1, 1, 1])}
        >>> str(CKSafety(c="2/3", k=1).judge(counts).value)
        '2/3'
        """
        shapes, groups, shape = GroupShapes.from_columns(evidence["g"], evidence["n_rows"], self.k + 1)
        with within_reach():
            knowledge = worst_knowledge(shapes, self.k)
        numbers = [int((shape == place.shape).nonzero()[0][place.copy]) for place in knowledge.places]
        target = next(number for number, place in zip(numbers, knowledge.places, strict=True) if place.target)
        facts = {
            "facts": knowledge.facts,
            "size": int(shapes.size[shape[target]]),
            "places": [
                _told(shapes, number, place) for number, place in zip(numbers, knowledge.places, strict=True)
            ],
            "knows": list(_in_words(numbers, knowledge)),
            "certainty": [str(p) for p in _certainty(shapes, knowledge)],
        }
        private = {"g": int(groups[target]), "others": [int(groups[n]) for n in numbers if n != target]}
        return self.verdict(knowledge.value, Witness(facts, private), _story(target + 1, facts, knowledge))

    def fits(self, base: Base) -> bool:
        return bool(base.table.values_per_person == "one")

    def decide(self, groups: Groups) -> Verdict:
        if not len(groups):
            return self.verdict(None, Witness({}))
        with within_reach():
            knowledge = worst_knowledge(self._shapes(groups)[0], self.k)
        return self.verdict(knowledge.value, Witness({}))

    def breaking(self, groups: Groups) -> Bools:
        if not len(groups):
            return groups.none
        shapes, shape = self._shapes(groups)
        with within_reach():
            unsafe = shapes_to_leave_out(shapes, self.k, self.limit)
        return groups.in_any(shape, unsafe)

    def _shapes(self, groups: Groups) -> tuple[GroupShapes, Ints]:
        return GroupShapes.from_ranked(groups.people, groups.start, groups.ranked, self.k + 1)

    def failing(self, evidence: Evidence) -> list[int]:
        """Groups to leave out so that the others are safe together."""
        shapes, groups, shape = GroupShapes.from_columns(evidence["g"], evidence["n_rows"], self.k + 1)
        with within_reach():
            unsafe = shapes_to_leave_out(shapes, self.k, self.limit)
        return [int(group) for group, kind in zip(groups, shape.tolist(), strict=True) if kind in unsafe]


class _Splits:
    """Which cuts keep the maximum disclosure below the limit."""

    def __init__(self, facts: int, limit: Fraction, whole: dict[int, dict[int, int]]) -> None:
        self._facts, self._limit = facts, limit
        with within_reach():
            self._running = RunningWorstCase([counts.values() for counts in whole.values()], facts)

    def seen(self, grouping: Grouping) -> dict[int, dict[int, int]]:
        return _histograms(grouping)

    def allows(self, evidence: dict[int, dict[int, int]], groups: Sequence[int]) -> bool:
        whole, parts = _cut(evidence, groups)
        return self._running.trial([whole], parts)[self._facts] < self._limit

    def accept(self, evidence: dict[int, dict[int, int]], groups: Sequence[int]) -> None:
        whole, parts = _cut(evidence, groups)
        self._running.change([whole], parts)


def _histograms(grouping: Grouping) -> dict[int, dict[int, int]]:
    """Per group its counts by sensitive value."""
    query = render("counted/histogram.sql", candidate=grouping.histogram, sensitive=True, counted=True)
    found = grouping.base.engine.arrays(query)
    made: dict[int, dict[int, int]] = {}
    for g, s, n in zip(found["g"].tolist(), found["s"].tolist(), found["n_rows"].tolist(), strict=True):
        made.setdefault(g, {})[s] = n
    return made


def _cut(evidence: dict[int, dict[int, int]], groups: Sequence[int]) -> tuple[list[int], list[list[int]]]:
    """The counts of a group and those of its parts."""
    parts = [evidence[g] for g in groups]
    whole: Counter[int] = Counter()
    for part in parts:
        whole.update(part)
    return [*whole.values()], [[*part.values()] for part in parts]


def group_counts(grouping: Grouping) -> Mapping[str, Any]:
    """The counts of every group as arrays; they are as many as groups and values, not as rows.

    Tables in which a person may have several values are refused: they have other worlds than counted here.
    """
    table = grouping.base.table
    if table.values_per_person != "one":
        raise UsageError(
            "several_values",
            f"maximum disclosure is defined for one sensitive value per person, and {table.name} declares"
            f" {table.values_per_person}",
            hint="privacy_skyline covers sets and multisets of values.",
        )
    if not table.sensitives:
        raise UsageError("no_sensitive", "maximum disclosure needs a sensitive column", where=table.name)
    if not grouping.base.rows:
        raise no_rows(table)
    query = render("criteria/ck_safety.sql", histogram=grouping.histogram)
    arrays: Mapping[str, Any] = grouping.base.engine.arrays(query)
    return arrays


@contextmanager
def within_reach() -> Iterator[None]:
    """Turn too many facts into a clear answer: neither safe nor unsafe."""
    try:
        yield
    except TooManyFacts:
        raise Undecided(
            "too_many_facts",
            f"with so many values in a group, maximum disclosure is computed for at most {MOST_FACTS} facts",
            hint="Ask about fewer facts.",
        ) from None


def _told(shapes: GroupShapes, number: int, place: Place) -> dict[str, Any]:
    """One group of the worst knowledge: its number, its counts, and how many top values each person is
    claimed to have one of."""
    return {
        "group": number + 1,
        "size": int(shapes.size[place.shape]),
        "counts": [int(n) for n in shapes.top[place.shape, : max(place.atoms)]],
        "claims": list(place.atoms),
        "target": place.target,
    }


def _certainty(shapes: GroupShapes, knowledge: Knowledge) -> list[Fraction]:
    """How sure the adversary is before the first fact and after each one."""
    groups = [
        (int(shapes.size[place.shape]), [int(n) for n in shapes.top[place.shape]])
        for place in knowledge.places
    ]
    target = next(number for number, place in enumerate(knowledge.places) if place.target)
    return growing_certainty(groups, [place.atoms for place in knowledge.places], target)


def _in_words(numbers: list[int], knowledge: Knowledge) -> Iterator[str]:
    """The implications, one sentence each; one about the target's own values is a plain no."""
    target = next(number for number, place in zip(numbers, knowledge.places, strict=True) if place.target) + 1
    for number, place in zip(numbers, knowledge.places, strict=True):
        for person, claimed in enumerate(place.atoms, start=1):
            for rank in range(1, claimed + 1):
                if place.target and person == 1:
                    if rank > 1:
                        yield f"person 1 of group {target} does not have its {ranked(rank)} value"
                else:
                    yield (
                        f"if person {person} of group {number + 1} has its {ranked(rank)} value,"
                        f" then person 1 of group {target} has its {ranked(1)} value"
                    )


def ranked(rank: int) -> str:
    """How a value is told apart from the others of its group without naming it.

    >>> [ranked(rank) for rank in (1, 2, 3, 11, 22)]
    ['commonest', '2nd commonest', '3rd commonest', '11th commonest', '22nd commonest']
    """
    if rank == 1:
        return "commonest"
    ending = {1: "st", 2: "nd", 3: "rd"}.get(rank % 10, "th") if rank % 100 not in (11, 12, 13) else "th"
    return f"{rank}{ending} commonest"


def _story(target: int, facts: Mapping[str, Any], knowledge: Knowledge) -> str:
    """The worst case in plain words."""
    chance, size = shown(knowledge.value), people(facts["size"])
    if not knowledge.facts:
        return (
            "Who knows only who is in which group, and guesses the commonest value for somebody of group"
            f" {target} ({size}), is right with probability {chance}."
        )
    known = number_of(knowledge.facts, "fact")
    return (
        f"Who also knows {known} is right with probability {chance} in saying that person 1 of group {target}"
        f" ({size}) has its commonest value: {'; '.join(facts['knows'])}. Take as person 1 somebody"
        " who has that value, and all of this is true."
    )
