"""Chances under facts by writing down every world: one value per person, sets, multisets. Slow, obvious."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

World = dict[tuple[int, int], set[int]]  # (group, person) -> the values the person has
Fact = tuple[list[tuple[int, int, int]], list[tuple[int, int, int]]]  # atoms (group, person, value)
Groups = Mapping[int, tuple[int, Mapping[int, int]]]  # group -> (people, counts)


def worlds(groups: Groups, kind: str) -> Iterator[World]:
    """Every world; under multiset one for every way to hand out the single occurrences."""
    parts = [list(_of_group(g, people, counts, kind)) for g, (people, counts) in groups.items()]
    for combination in itertools.product(*parts):
        yield {place: values for part in combination for place, values in part.items()}


def _of_group(group: int, people: int, counts: Mapping[int, int], kind: str) -> Iterator[World]:
    if kind == "one":
        values = [value for value, n in counts.items() for _ in range(n)]
        for order in set(itertools.permutations(values)):
            yield {(group, person): {value} for person, value in enumerate(order)}
        return
    choices = []
    for value, n in counts.items():
        if kind == "set":
            holders = itertools.combinations(range(people), n)
        else:
            holders = itertools.product(range(people), repeat=n)
        choices.append([(value, set(who)) for who in holders])
    for combination in itertools.product(*choices):
        yield {
            (group, person): {value for value, who in combination if person in who}
            for person in range(people)
        }


def chance(
    groups: Groups,
    facts: Sequence[Fact],
    atom: tuple[int, int, int],
    kind: str,
    weighted: Sequence[tuple[Sequence[Fact], Fraction]] = (),
    without: Mapping[int, int] | None = None,
) -> Fraction | None:
    """P(atom | facts); None when no world agrees with the facts.

    Where lines without a value are printed, exactly `without` people of each group have none.

    A world counts p times for each weighted fact (all of some facts, p) that holds in it, 1 - p times for
    each that does not.
    """

    def holds(world: World, a: tuple[int, int, int]) -> bool:
        return a[2] in world[a[0], a[1]]

    def all_hold(world: World, some: Sequence[Fact]) -> bool:
        return all(
            any(holds(world, b) for b in then_any)
            for if_all, then_any in some
            if all(holds(world, a) for a in if_all)
        )

    total = found = Fraction(0)
    for world in worlds(groups, kind):
        nothing = Counter(place[0] for place, values in world.items() if not values)
        if without is not None and any(nothing[g] != n for g, n in without.items()):
            continue
        weight = Fraction(all_hold(world, facts))
        for some, p in weighted:
            weight *= p if all_hold(world, some) else 1 - p
        total += weight
        found += weight * holds(world, atom)
    return found / total if total else None
