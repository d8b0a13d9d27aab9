"""The most an adversary with k extra facts can learn about one person (Martin et al. 2007).

The adversary knows who is in which group. Theorem 9: the k most harmful facts are implications "if p_i has
s_i then p has s" with one common consequent A, so the odds against A have to be minimised,

    P(neither A nor any antecedent holds) / P(A holds)                                  (Formula 1, Sec. 3.3)

over k + 1 atoms. `least_chances` does it within a group (MINIMIZE1), `Combination` across groups (MINIMIZE2).
Floats find the candidates and fractions decide between them, so every returned value is exact. "k facts"
means at most k facts. The theorem holds for every A separately, so the guess may be limited to one value
(`GroupShapes.guessed`): then A is about that value, and the other atoms are about any value.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import prod
from typing import NamedTuple

import numpy as np

from privacy_sql.kernels.worst_case.exchange import useful_groups
from privacy_sql.kernels.worst_case.group_shapes import Floats, GroupShapes, Ints
from privacy_sql.kernels.worst_case.one_group import (
    NEAR,
    TINY,
    Partition,
    exact_chances,
    least_chances,
    least_target_odds,
    others_with,
)

# The work grows with the square of the useful facts: where a group has d values, d - 1 facts are enough.
MOST_FACTS = 500


class TooManyFacts(Exception):
    """More facts are useful than maximum disclosure is computed for."""


class AtomsOfPerson(NamedTuple):
    """Part of the worst knowledge: atoms about person i of a group name the `atoms[i]` most frequent values.

    For person 0 of the target's group they name the guessed value and the most frequent others.
    """

    shape: int
    copy: int
    atoms: tuple[int, ...]
    target: bool


class WorstKnowledge(NamedTuple):
    """The worst knowledge: the implications "each other atom -> the target's atom" reach `value`."""

    value: Fraction
    facts: int
    places: tuple[AtomsOfPerson, ...]


def implication_curve(shapes: GroupShapes, facts: int) -> list[Fraction]:
    """Maximum disclosure for 0, 1, ..., `facts` implications (Martin et al. 2007, Definition 6).

    Differs from the paper: for Fig. 3 and one fact it is 2/3 ("no lung cancer"), where Sec. 2.3 says 10/19.

    >>> [str(v) for v in implication_curve(GroupShapes.of([[2, 2, 1], [2, 1, 1, 1]]), 3)]
    ['2/5', '2/3', '1', '1']
    """
    useful = shapes.useful_facts(facts)
    odds = Combination(shapes, useful + 1).least_odds(range(1, useful + 2))
    return [1 / (1 + r) for r in odds] + [Fraction(1)] * (facts - useful)


def worst_case_disclosure(shapes: GroupShapes, facts: int) -> Fraction:
    """Maximum disclosure against at most `facts` implications, exactly (Martin et al. 2007, Sec. 3.3.3).

    >>> worst_case_disclosure(GroupShapes.of([[4, 3, 1, 1, 1], [4, 4, 1, 1, 1]]), 2)
    Fraction(22, 31)
    """
    atoms = shapes.useful_facts(facts) + 1
    return 1 / (1 + Combination(shapes, atoms).least_odds([atoms])[0])


def worst_knowledge(shapes: GroupShapes, facts: int) -> WorstKnowledge:
    """Which atoms reach the maximum disclosure, by walking MINIMIZE2 and MINIMIZE1 back.

    >>> found = worst_knowledge(GroupShapes.of([[2, 2, 1], [2, 1, 1, 1]]), 1)
    >>> found.value, found.facts, found.places
    (Fraction(2, 3), 1, (AtomsOfPerson(shape=0, copy=0, atoms=(2,), target=True),))
    """
    atoms = shapes.useful_facts(facts) + 1
    combination = Combination(shapes, atoms)
    odds = combination.least_odds([atoms])[0]
    places = []
    for stage, h, target in combination.walk_back(atoms):
        shape, copy = combination.stages[stage]
        places.append(AtomsOfPerson(shape, copy, combination.exact(shape, target)[h][1], target))
    return WorstKnowledge(1 / (1 + odds), atoms - 1, tuple(places))


def growing_certainty(
    groups: Sequence[tuple[int, Sequence[int]]],
    atoms: Sequence[Sequence[int]],
    target: int,
    guessed: int | None = None,
) -> list[Fraction]:
    """How sure the adversary is after each further fact of the worst knowledge (Formula 1).

    Takes per group its people and largest counts, and how many of its top values the atoms name for each
    person. The first person of group `target` is the target; their value is guessed from the start, and
    `guessed` is its count, by default that of the most common value.

    >>> [str(p) for p in growing_certainty([(5, [2, 2]), (5, [2])], [[2], [1]], 0)]
    ['2/5', '2/3', '10/13']
    """
    claimed = [[0] * len(people) for people in atoms]
    claimed[target][0] = 1
    size, top = groups[target]
    asked = top[0] if guessed is None else guessed
    share = Fraction(asked, size)
    steps = [share]
    for group, people in enumerate(atoms):
        for person, wanted in enumerate(people):
            while claimed[group][person] < wanted:
                claimed[group][person] += 1
                fail = prod(
                    _all_fail(*counts, told, asked if place == target else None)
                    for place, (counts, told) in enumerate(zip(groups, claimed, strict=True))
                )
                steps.append(share / (share + fail))
    return steps


def _all_fail(size: int, top: Sequence[int], atoms: Sequence[int], guessed: int | None) -> Fraction:
    """The chance that none of these people of a group has any of the values named for them (Lemma 12)."""
    claimed = [sum(top[:n]) for n in atoms]
    if guessed is not None:
        claimed[0] = others_with(top, guessed, atoms[0] - 1)
    factors = (
        Fraction(max(size - held - i, 0), max(size - i, 1))
        for i, (n, held) in enumerate(zip(atoms, claimed, strict=True))
        if n
    )
    return prod(factors, start=Fraction(1))


def negation_curve(shapes: GroupShapes, facts: int) -> list[Fraction]:
    """Maximum disclosure for 0, 1, ..., `facts` negated atoms: the adversary of l-diversity (Fig. 5, dotted).

    >>> [str(v) for v in negation_curve(GroupShapes.of([[4, 3, 1]]), 2)]
    ['1/2', '4/5', '1']
    """
    useful = shapes.useful_facts(facts)
    first, curve = shapes.top[:, 0], []
    for ruled_out in range(useful + 1):
        left = shapes.size - shapes.top[:, 1 : ruled_out + 1].sum(axis=1)
        share = first / left
        near = np.flatnonzero(share >= share.max() * (1 - NEAR))
        curve.append(max(Fraction(*pair) for pair in {(int(first[s]), int(left[s])) for s in near}))
    return curve + [Fraction(1)] * (facts - useful)


def shapes_to_leave_out(shapes: GroupShapes, facts: int, limit: Fraction) -> set[int]:
    """Shapes to leave out so that the remaining groups disclose less than `limit` together.

    First those that disclose too much on their own; then, while several groups together still do, the shape
    of the group that the worst knowledge is about.

    >>> shapes = GroupShapes.of([[4, 3, 1, 1, 1], [4, 4, 1, 1, 1], [5]])
    >>> sorted(shapes_to_leave_out(shapes, 2, Fraction(22, 31)))
    [0, 2]
    """
    # a group with at most facts + 1 values is disclosed for certain, whatever its counts; if nobody has the
    # guessed value, at most `facts` values of somebody there disclose it elsewhere
    few = np.where(shapes.target > 0, facts + 1, facts)
    reached = np.cumsum(shapes.top[:, : facts + 1], axis=1)
    last = np.minimum(few, reached.shape[1]) - 1
    held = np.where(last < 0, 0, reached[np.arange(len(last)), last])
    rich = np.flatnonzero(held < shapes.size)
    if len(rich) and facts > MOST_FACTS:
        raise TooManyFacts
    if (shapes.target[rich] > 0).any():
        rich = rich[_left_alone(shapes.some(rich), facts + 1, limit)]
    return set(range(len(shapes.size))) - set(rich.tolist())


def _left_alone(shapes: GroupShapes, atoms: int, limit: Fraction) -> Ints:
    """The shapes that remain when those unsafe on their own go first, then the worst of the rest."""
    odds = Odds.of(shapes, atoms)
    alone = 1 / (1 + odds.target[:, atoms])
    safe = alone < float(limit)
    for shape in np.flatnonzero(np.abs(alone - float(limit)) <= NEAR):
        size, guessed = int(shapes.size[shape]), int(shapes.target[shape])
        top = [n for n in shapes.top[shape].tolist() if n]
        against = exact_chances(size, top, atoms, guessed)[atoms][0] * Fraction(size, guessed)
        safe[shape] = 1 / (1 + against) < limit
    left = np.flatnonzero(safe)
    while (shapes.target[left] > 0).any():
        combination = Combination(shapes.some(left), atoms, odds.some(left))
        if 1 / (1 + combination.least_odds([atoms])[0]) < limit:
            break
        stage = next(stage for stage, _, target in combination.walk_back(atoms) if target)
        left = np.delete(left, combination.stages[stage][0])
    return left


State = tuple[int, bool]  # atoms placed so far, is A among them
Option = tuple[int, bool, int, bool]  # the state before, atoms taken here, is A here


class Odds(NamedTuple):
    """By shape and number of atoms: the least chance that all fail, and the least odds with A there."""

    chances: Floats
    target: Floats

    @classmethod
    def of(cls, shapes: GroupShapes, atoms: int) -> Odds:
        chances = least_chances(shapes, atoms)
        return cls(chances, least_target_odds(shapes, atoms, chances))

    def some(self, rows: Ints) -> Odds:
        return Odds(self.chances[rows], self.target[rows])


class Combination:
    """MINIMIZE2 (Sec. 3.3.3) over the few groups that can matter, for all numbers of atoms up to `atoms`.

    Differs from the paper's listing: the last group ends with 1 when A is placed and with infinity when it is
    not, and the search starts with A not placed.
    """

    def __init__(
        self, shapes: GroupShapes, atoms: int, odds: Odds | None = None, *, exact: bool = True
    ) -> None:
        """Unless `exact`, groups whose odds differ by rounding only come in any order; uses `tables` only."""
        if atoms > MOST_FACTS + 1:
            raise TooManyFacts
        if not (shapes.target > 0).any():
            raise ValueError("nobody has the value that is guessed")
        self.shapes, self.atoms = shapes, atoms
        self.chances, self.target_odds = Odds.of(shapes, atoms) if odds is None else odds
        self.menus, self.cutoffs = useful_groups(shapes, self.chances, self.target_odds, exact=exact)
        self.stages = list(self.menus)
        table = np.full((2, self.atoms + 1), np.inf)
        table[0, 0] = 1.0
        tables = [table]
        for (shape, _), menu in self.menus.items():
            last, table = table, table.copy()
            with np.errstate(invalid="ignore"):
                for h, target in menu:
                    if target:
                        offer = last[0, : self.atoms + 1 - h] * self.target_odds[shape, h]
                        np.fmin(table[1, h:], offer, out=table[1, h:])
                    else:
                        offer = last[:, : self.atoms + 1 - h] * self.chances[shape, h]
                        np.fmin(table[:, h:], offer, out=table[:, h:])
            tables.append(table)
        self.tables = tables
        self._exact: dict[tuple[int, bool], list[tuple[Fraction, Partition]]] = {}
        self._choices: list[dict[State, tuple[Fraction, Option]]] = []

    def least_odds(self, atoms: Iterable[int]) -> list[Fraction]:
        """The least odds against A for each number of atoms; fractions decide where floats are close."""
        ends = [(h, True) for h in atoms]
        options = self._near_options(ends)
        values: dict[State, Fraction] = {(0, False): Fraction(1)}
        self._choices = []
        for stage, (shape, _) in enumerate(self.stages):
            choice = {
                state: min(
                    (values[j, placed] * self._factor(shape, h, here), (j, placed, h, here))
                    for j, placed, h, here in before
                )
                for state, before in options[stage].items()
            }
            values = {state: value for state, (value, _) in choice.items()}
            self._choices.append(choice)
        return [values[end] for end in ends]

    def _near_options(self, ends: Sequence[State]) -> list[dict[State, list[Option]]]:
        """Per stage, the states that can lie on a best path and the steps into them that may be least."""
        wanted = set(ends)
        found = []
        for stage in range(len(self.stages) - 1, -1, -1):
            options = {state: self._options(stage, *state) for state in wanted}
            wanted = {(j, placed) for steps in options.values() for j, placed, _, _ in steps}
            found.append(options)
        return found[::-1]

    def _options(self, stage: int, atoms: int, placed: bool) -> list[Option]:
        """Steps into a state whose odds as floats are so close to the least that fractions must decide."""
        shape, before = self.stages[stage][0], self.tables[stage]
        limit = max(self.tables[stage + 1][int(placed), atoms] * (1 + NEAR), TINY)
        options: list[Option] = []
        if before[int(placed), atoms] <= limit:
            options.append((atoms, placed, 0, False))
        for h, target in self.menus[self.stages[stage]]:
            if h > atoms or (target and not placed):
                continue
            was_placed = placed and not target
            factor = self.target_odds[shape, h] if target else self.chances[shape, h]
            earlier = before[int(was_placed), atoms - h]
            if np.isfinite(earlier) and earlier * factor <= limit:
                options.append((atoms - h, was_placed, h, target))
        return options

    def _factor(self, shape: int, h: int, target: bool) -> Fraction:
        chance = self.exact(shape, target)[h][0] if h else Fraction(1)
        if not target:
            return chance
        return chance * Fraction(int(self.shapes.size[shape]), int(self.shapes.target[shape]))

    def exact(self, shape: int, target: bool) -> list[tuple[Fraction, Partition]]:
        """Exact chances and partitions of one shape, with or without A, computed when first asked for."""
        commonest = bool(self.shapes.target[shape] == self.shapes.top[shape, 0])  # is among them anyway
        key = shape, target and not commonest
        if key not in self._exact:
            top = [n for n in self.shapes.top[shape].tolist() if n]
            guessed = int(self.shapes.target[shape]) if key[1] else None
            self._exact[key] = exact_chances(int(self.shapes.size[shape]), top, self.atoms, guessed)
        return self._exact[key]

    def walk_back(self, atoms: int) -> list[tuple[int, int, bool]]:
        """(stage, atoms, is A here) of every group that the last computed best choice uses."""
        state: State = (atoms, True)
        path = []
        for stage in range(len(self.stages) - 1, -1, -1):
            j, placed, h, here = self._choices[stage][state][1]
            if h:
                path.append((stage, h, here))
            state = (j, placed)
        return path[::-1]
