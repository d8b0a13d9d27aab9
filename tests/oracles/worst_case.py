"""Worst-case disclosure straight from the definitions: every table, every formula. Slow and obvious.

A group is a list of counts; its values are named 0, 1, 2, ... in that order, the same in every group. People
are numbered through all groups. A set of tables is an integer with one bit per table.
"""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterable, Sequence
from fractions import Fraction
from functools import cache, reduce

Groups = Sequence[Sequence[int]]
Atom = tuple[int, int]  # (person, value)
Implication = tuple[list[Atom], list[Atom]]  # all of these -> one of those


def tables(groups: Groups) -> list[tuple[int, ...]]:
    """Every assignment of values to people that agrees with the published groups."""
    per_group = []
    for counts in groups:
        values = [value for value, n in enumerate(counts) for _ in range(n)]
        per_group.append(sorted(set(itertools.permutations(values))))
    return [tuple(itertools.chain(*parts)) for parts in itertools.product(*per_group)]


def atom_sets(worlds: Sequence[Sequence[int]]) -> dict[Atom, int]:
    """For each atom, the tables in which it holds; also for atoms that hold nowhere."""
    values = sorted({value for world in worlds for value in world})
    return {
        (person, value): sum(1 << i for i, world in enumerate(worlds) if world[person] == value)
        for person in range(len(worlds[0]))
        for value in values
    }


def basic_implications(worlds: Sequence[Sequence[int]]) -> set[int]:
    """Definition 2: all of some atoms -> at least one of some atoms."""
    atoms = set(atom_sets(worlds).values())
    return {
        ~all_of & _every(worlds) | one_of
        for all_of in _closed(atoms, int.__and__)
        for one_of in _closed(atoms, int.__or__)
    }


def simple_implications(worlds: Sequence[Sequence[int]]) -> set[int]:
    """Definition 7: one atom -> one atom."""
    atoms = set(atom_sets(worlds).values())
    return {~a & _every(worlds) | b for a in atoms for b in atoms}


def negations(worlds: Sequence[Sequence[int]]) -> set[int]:
    """Somebody does not have some value."""
    return {~a & _every(worlds) for a in atom_sets(worlds).values()}


def maximum_disclosure(
    worlds: Sequence[Sequence[int]], sentences: set[int], facts: int, guessed: Container[int] | None = None
) -> Fraction:
    """Definition 6: the best guess of any atom given at most `facts` of the sentences.

    With `guessed`, of any atom that is about one of these values.
    """
    known = {_every(worlds)}
    for _ in range(facts):
        known |= {a & b for a in known for b in sentences}
    atoms = {worlds for atom, worlds in atom_sets(worlds).items() if guessed is None or atom[1] in guessed}
    return max(
        (Fraction((atom & k).bit_count(), k.bit_count()) for k in known if k for atom in atoms),
        default=Fraction(0),
    )


def one_consequent(
    worlds: Sequence[Sequence[int]],
    facts: int,
    guessed: Container[int],
    people: Container[int] | None = None,
) -> Fraction:
    """The best guess of one of these values by implications that all say "then this person has it".

    With `people`, about one of these. By Lemmas 10 and 11, which hold for each atom by itself, no other
    knowledge does more.
    """
    atoms = {atom: held for atom, held in atom_sets(worlds).items() if held}
    unions = {0}
    for _ in range(facts):
        unions |= {a | b for a in unions for b in atoms.values()}
    best = Fraction(0)
    for (person, value), held in atoms.items():
        if value in guessed and (people is None or person in people):
            least = min((~held & ~some & _every(worlds)).bit_count() for some in unions)
            best = max(best, Fraction(held.bit_count(), held.bit_count() + least))
    return best


def chance(worlds: Sequence[Sequence[int]], target: Atom, facts: Iterable[Implication]) -> Fraction | None:
    """P(target | facts) by counting tables; None when no table agrees with the facts."""
    facts = list(facts)
    left = [
        world
        for world in worlds
        if all(any(_holds(world, b) for b in one_of) for all_of, one_of in facts if _all(world, all_of))
    ]
    return Fraction(sum(_holds(world, target) for world in left), len(left)) if left else None


def recursion_of_the_paper(groups: Groups, facts: int) -> Fraction:
    """MINIMIZE1 and MINIMIZE2 as listed, with memo, in the conventions that make the listing right."""
    shapes = [sorted((n for n in counts if n), reverse=True) for counts in groups]

    @cache
    def minimize1(b: int, i: int, most: int, left: int) -> Fraction:
        if left == 0:
            return Fraction(1)
        people = sum(shapes[b]) - i
        if people == 0:
            return Fraction(0)
        return min(
            Fraction(max(0, people - sum(shapes[b][:k])), people) * minimize1(b, i + 1, k, left - k)
            for k in range(1, min(most, left) + 1)
        )

    @cache
    def minimize2(b: int, left: int, placed: bool) -> Fraction | float:
        if b == len(shapes):
            return Fraction(1) if placed and not left else float("inf")
        best: Fraction | float = float("inf")
        for h in range(left + 1):
            here = minimize1(b, 0, h, h)
            best = min(best, _times(here, minimize2(b + 1, left - h, placed)))
            if not placed:
                with_target = minimize1(b, 0, h + 1, h + 1) * Fraction(sum(shapes[b]), shapes[b][0])
                best = min(best, _times(with_target, minimize2(b + 1, left - h, True)))
        return best

    odds = minimize2(0, facts, False)
    assert isinstance(odds, Fraction)
    return 1 / (1 + odds)


def _times(factor: Fraction, rest: Fraction | float) -> Fraction | float:
    return rest if isinstance(rest, float) else factor * rest


def _every(worlds: Sequence[Sequence[int]]) -> int:
    return (1 << len(worlds)) - 1


def _closed(sets: set[int], join) -> set[int]:  # type: ignore[no-untyped-def]
    """The joins of all non-empty subsets."""
    return reduce(lambda found, one: found | {one} | {join(one, other) for other in found}, sets, set())


def _holds(world: Sequence[int], atom: Atom) -> bool:
    return world[atom[0]] == atom[1]


def _all(world: Sequence[int], atoms: Iterable[Atom]) -> bool:
    return all(_holds(world, atom) for atom in atoms)
