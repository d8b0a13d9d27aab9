"""How well people can be guessed and how large their groups are, as counts of people and never as values.

The guess about a person is the best one of an adversary who knows the group of everybody and a limited number
of facts about people of that one group (martin2007, Sec. 3.3.1). With facts about other groups the worst case
of the whole table may be higher: that is `ck_safety`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from privacy_sql.criteria.ck_safety import group_counts, refuse_other_worlds, within_reach
from privacy_sql.errors import UsageError
from privacy_sql.publishing.baseline import guess

if TYPE_CHECKING:
    from privacy_sql.counted.grouping import Grouping
    from privacy_sql.counted.groups import Groups
    from privacy_sql.kernels.worst_case.group_shapes import GroupShapes, Ints

PARTS = 20  # bars of guesses, each a twentieth wide; certainty has a bar of its own
MOST_FACTS = 12
NEAR = 1e-9  # floats closer than this to the end of a bar are compared as fractions


@dataclass(frozen=True)
class Bar:
    """People from `low` to `high`. Sizes include `high`; guesses exclude it, unless both ends are 1."""

    low: Fraction
    high: Fraction
    people: int
    groups: int


@dataclass(frozen=True)
class Risks:
    """Two histograms of the people of one partition; the first is None when no column is sensitive."""

    guesses: tuple[Bar, ...] | None
    sizes: tuple[Bar, ...]

    @property
    def people(self) -> int:
        return sum(bar.people for bar in self.sizes)


def of_grouping(grouping: Grouping, facts: int = 0) -> Risks:
    """The risks of groups in an engine."""
    refuse_bad_facts(facts)
    # people in a group, those with its most common value, and how many groups are like this
    counted = guess(grouping).groups
    sizes = _by_size([(n, alike) for n, _, alike in counted])
    if not grouping.base.table.sensitives:
        return Risks(None, sizes)
    if not facts:
        return Risks(_by_place([(_place(top or 0, n), n * alike, alike) for n, top, alike in counted]), sizes)
    from privacy_sql.kernels.worst_case.group_shapes import GroupShapes

    counts = group_counts(grouping)
    shapes, _, _ = GroupShapes.from_columns(counts["g"], counts["n_rows"], facts + 1)
    return Risks(_of_shapes(shapes, facts), sizes)


def of_groups(groups: Groups, facts: int = 0) -> Risks:
    """The same numbers for groups in memory."""
    refuse_bad_facts(facts)
    sizes = _by_size([(n, 1) for n in groups.people.tolist()])
    if groups.values is None:
        return Risks(None, sizes)
    if not facts:
        pairs = zip(groups.top.tolist(), groups.people.tolist(), strict=True)
        return Risks(_by_place([(_place(min(top, n), n), n, 1) for top, n in pairs]), sizes)
    shapes, _ = _shapes_of(groups, facts)
    return Risks(_of_shapes(shapes, facts), sizes)


def places_of(groups: Groups, facts: int = 0) -> list[int]:
    """The bar of guesses for each group in memory."""
    refuse_bad_facts(facts)
    if not facts:
        pairs = zip(groups.top.tolist(), groups.people.tolist(), strict=True)
        return [_place(min(top, n), n) for top, n in pairs]
    shapes, shape = _shapes_of(groups, facts)
    found = _places(shapes, facts)
    return [found[kind] for kind in shape.tolist()]


def sure_of(groups: Groups, some: Sequence[int], facts: int = 0) -> list[Fraction]:
    """The exact probability of the best guess in some groups in memory."""
    from privacy_sql.kernels.worst_case.disclosure import worst_case_disclosure

    if not facts:
        return [min(Fraction(1), Fraction(int(groups.top[g]), int(groups.people[g]))) for g in some]
    import numpy as np

    shapes, shape = _shapes_of(groups, facts)
    with within_reach():
        return [worst_case_disclosure(shapes.some(np.array([shape[g]])), facts) for g in some]


def _shapes_of(groups: Groups, facts: int) -> tuple[GroupShapes, Ints]:
    from privacy_sql.kernels.worst_case.group_shapes import GroupShapes

    assert groups.values is not None
    refuse_other_worlds(groups.values.base)
    return GroupShapes.from_ranked(groups.people, groups.start, groups.ranked, facts + 1)


def refuse_bad_facts(facts: int) -> None:
    if isinstance(facts, bool) or not isinstance(facts, int) or not 0 <= facts <= MOST_FACTS:
        hint = "A disclosure curve takes more facts."
        raise UsageError("bad_parameter", f"facts must be a whole number from 0 to {MOST_FACTS}", hint=hint)


def _of_shapes(shapes: GroupShapes, facts: int) -> tuple[Bar, ...]:
    kinds = zip(_places(shapes, facts), shapes.size.tolist(), shapes.copies.tolist(), strict=True)
    return _by_place([(place, size * alike, alike) for place, size, alike in kinds])


def _places(shapes: GroupShapes, facts: int) -> list[int]:
    """The bar of each shape. Floats find it; fractions decide near the end of a bar."""
    import numpy as np

    from privacy_sql.kernels.worst_case.disclosure import worst_case_disclosure
    from privacy_sql.kernels.worst_case.one_group import least_chances, least_target_odds

    atoms = facts + 1
    shown = np.count_nonzero(shapes.top, axis=1)
    # a guess is certain only when the facts rule out all values of the group but one
    certain = (shown < atoms) | ((shown == atoms) & (shapes.top.sum(axis=1) == shapes.size))
    place = np.full(len(shapes.size), PARTS)
    rest = np.flatnonzero(~certain)
    if len(rest):
        others = shapes.some(rest)
        odds = least_target_odds(others, atoms, least_chances(others, atoms))[:, atoms]
        sure = PARTS / (1 + odds)
        place[rest] = np.floor(sure)
        for number in rest[np.abs(sure - np.round(sure)) < NEAR].tolist():
            with within_reach():
                value = worst_case_disclosure(shapes.some(np.array([number])), facts)
            place[number] = _place(value.numerator, value.denominator)
    return [int(number) for number in place.tolist()]


def _place(part: int, whole: int) -> int:
    """The bar of a guess that is right for `part` of `whole`; the last bar is for certainty.

    >>> [_place(part, 20) for part in (0, 1, 2, 19, 20)]
    [0, 1, 2, 19, 20]
    """
    return part * PARTS // whole


def ends_of(place: int) -> tuple[Fraction, Fraction]:
    """Where a bar of guesses begins and ends."""
    return Fraction(place, PARTS), Fraction(min(place + 1, PARTS), PARTS)


def _by_place(kinds: Sequence[tuple[int, int, int]]) -> tuple[Bar, ...]:
    """Bars in order, the one for certainty last, from (place, people, groups)."""
    people, groups = [0] * (PARTS + 1), [0] * (PARTS + 1)
    for place, n, alike in kinds:
        people[place] += n
        groups[place] += alike
    return tuple(Bar(*ends_of(place), people[place], groups[place]) for place in range(PARTS + 1))


def size_of(number: int) -> tuple[int, int]:
    """The bar for a group of this size: 1, 2 to 4, 5 to 9, 10 to 19, 20 to 49 and so on.

    >>> [size_of(n) for n in (1, 4, 5, 19, 20, 70, 1234)]
    [(1, 1), (2, 4), (5, 9), (10, 19), (20, 49), (50, 99), (1000, 1999)]
    """
    ten = 10 ** (len(str(number)) - 1)
    low = max(ten * step for step in (1, 2, 5) if ten * step <= number)
    high = {1: 2 * ten, 2: 5 * ten, 5: 10 * ten}[low // ten] - 1
    return low, high


def _by_size(kinds: Sequence[tuple[int, int]]) -> tuple[Bar, ...]:
    """Bars of the sizes that occur, from (people of a group, groups)."""
    found: dict[tuple[int, int], list[int]] = {}
    for n, alike in kinds:
        bar = found.setdefault(size_of(n), [0, 0])
        bar[0] += n * alike
        bar[1] += alike
    return tuple(Bar(Fraction(low), Fraction(high), *counts) for (low, high), counts in sorted(found.items()))
