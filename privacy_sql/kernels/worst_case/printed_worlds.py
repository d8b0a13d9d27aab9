"""Chances given facts where people have several values and the release prints who many have none.

A person without a value has a line of their own, so exactly that many people of a group hold nothing and
everybody else holds something (see `skyline/printed_skyline.py`). That links all values of a group, so
worlds are counted for every way to settle the atoms that facts mention, by inclusion and exclusion over who
holds nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import comb, prod

from privacy_sql.kernels.worst_case.known_facts import Chance, candidates
from privacy_sql.kernels.worst_case.world_count import WORK_LIMIT, Contradiction, TooMuchWork
from privacy_sql.kernels.worst_case.worlds import Atom, Clause, Fact, Group, ValuesPerPerson

Settled = Mapping[Atom, bool]
LINES_PER_STEP = 20_000  # people times lines whose ways are counted in about the time of one step


class PrintedFacts:
    """Facts about people of some groups, of which `without` people each hold nothing.

    Counting raises Contradiction when no table agrees with them and TooMuchWork beyond its limit, which holds
    for all questions together.

    >>> facts = [Fact((Clause((Atom(0, 0, 1),), ()),))]  # person 0 has not the value 1, so has the value 2
    >>> PrintedFacts({0: Group(2, {1: 1, 2: 1})}, {0: 0}, facts, "set").chance(Atom(0, 0, 2)).value
    Fraction(1, 1)
    """

    def __init__(
        self,
        groups: Mapping[int, Group],
        without: Mapping[int, int],
        facts: Sequence[Fact],
        kind: ValuesPerPerson,
        work_limit: int = WORK_LIMIT,
    ) -> None:
        self.groups, self.without, self.facts, self.kind = groups, without, facts, kind
        self.steps_left = work_limit
        self._parts = list(_linked(facts))
        self._possible = False
        self._kept: dict[tuple[int, tuple[tuple[Atom, bool], ...]], int] = {}

    def chance(self, asked: Atom) -> Chance:
        """The chance of one atom."""
        if not self._possible:
            for _, facts in self._parts:
                self._worlds(facts, None)
            self._possible = True
        linked = [facts for groups, facts in self._parts if asked.group in groups]
        every, found = self._worlds(linked[0] if linked else [], asked)
        exact = Fraction(found) / every
        return Chance(exact, exact, exact)

    def worst(self) -> tuple[Chance, Atom] | None:
        """The likeliest atom in the groups that the facts mention; None when nobody there has a value."""
        every = dict.fromkeys(candidates(self.groups, [atom for fact in self.facts for atom in fact.atoms]))
        return max(((self.chance(atom), atom) for atom in every), key=lambda it: it[0].value, default=None)

    def _worlds(self, facts: Sequence[Fact], asked: Atom | None) -> tuple[Fraction, Fraction]:
        """The worlds that agree with linked facts, by their weight, and those in which the atom holds."""
        atoms = {atom: None for fact in facts for atom in fact.atoms} | ({asked: None} if asked else {})
        certain = [clause for fact in facts if fact.weight == 1 for clause in fact.clauses]
        doubted = [fact for fact in facts if fact.weight != 1]
        every = found = Fraction(0)
        for settled in self._ways_to_settle(list(atoms), certain):
            weight = Fraction(prod(self._ways(g, settled) for g in {atom.group for atom in atoms}))
            for fact in doubted:
                holds = all(_holds(clause, settled) for clause in fact.clauses)
                weight *= fact.weight if holds else 1 - fact.weight
            every += weight
            found += weight if asked and settled[asked] else 0
        if not every:
            raise Contradiction
        return every, found

    def _ways_to_settle(self, atoms: Sequence[Atom], certain: Sequence[Clause]) -> Iterator[Settled]:
        """Every way in which the atoms can be true or false and the clauses hold."""
        settled: dict[Atom, bool] = {}
        # short clauses first: an atom that a fact settles alone has one way
        short = sorted(certain, key=lambda clause: len(clause.if_all + clause.then_any))
        order = list(dict.fromkeys([*(a for c in short for a in (*c.if_all, *c.then_any)), *atoms]))
        place = {atom: number for number, atom in enumerate(order)}
        last: dict[Atom, list[Clause]] = {}
        for clause in certain:
            last.setdefault(max(clause.if_all + clause.then_any, key=place.__getitem__), []).append(clause)

        def settle(at: int) -> Iterator[Settled]:
            if at == len(order):
                yield settled
                return
            for holds in (False, True):
                self._spend(1)
                settled[order[at]] = holds
                if all(_holds(clause, settled) for clause in last.get(order[at], ())):
                    yield from settle(at + 1)

        return settle(0)

    def _ways(self, g: int, settled: Settled) -> int:
        """The worlds of one group in which its atoms are settled like this."""
        key = g, tuple((atom, holds) for atom, holds in settled.items() if atom.group == g)
        if key not in self._kept:
            self._kept[key] = self._count(g, dict(key[1]))
        return self._kept[key]

    def _count(self, g: int, settled: Settled) -> int:
        """Inclusion and exclusion over who holds nothing: `nobody` named people and `j` in all, at least."""
        (people, counts), without = self.groups[g], self.without[g]
        about: dict[int, set[int]] = {}
        for atom in settled:
            about.setdefault(atom.person, set()).add(atom.value)
        asked = Counter(atom.value for atom in settled)
        having = Counter(atom.value for atom, holds in settled.items() if holds)
        holding = {atom.person for atom, holds in settled.items() if holds}
        # people without any of these values, by the facts about them
        alike = Counter(frozenset(values) for person, values in about.items() if person not in holding)
        others = people - len(about)
        total = 0
        for taken in product(*(range(n + 1) for n in alike.values())):
            chosen = prod(map(comb, alike.values(), taken))
            nobody, spared = sum(taken), Counter[int]()
            for values, n in zip(alike, taken, strict=True):
                spared.update(dict.fromkeys(values, n))
            for j in range(max(nobody, without), nobody + others + 1):
                ways = chosen * comb(others, j - nobody) * comb(j, without) * (-1) ** (j - without)
                for value in counts.keys() | asked.keys():
                    lines = counts.get(value, 0)
                    self._spend(1 + people * lines // LINES_PER_STEP)
                    free = people - asked[value] - (j - spared[value])
                    ways *= self._handed_out(lines, having[value], free)
                    if not ways:
                        break
                total += ways
        return total

    def _handed_out(self, lines: int, having: int, free: int) -> int:
        """Ways to hand out the lines of a value: so many people get some, others are free to."""
        if self.kind == "set":
            return comb(free, lines - having) if lines >= having else 0
        return sum((-1) ** i * comb(having, i) * (free + having - i) ** lines for i in range(having + 1))

    def _spend(self, steps: int) -> None:
        self.steps_left -= steps
        if self.steps_left < 0:
            raise TooMuchWork


def _holds(clause: Clause, settled: Settled) -> bool:
    return not all(settled[atom] for atom in clause.if_all) or any(settled[atom] for atom in clause.then_any)


def _linked(facts: Iterable[Fact]) -> Iterator[tuple[set[int], list[Fact]]]:
    """The facts of each set of groups that a chain of facts links."""
    parts: list[tuple[set[int], list[Fact]]] = []
    for fact in facts:
        groups, together = {atom.group for atom in fact.atoms}, [fact]
        for part in [part for part in parts if part[0] & groups]:
            parts.remove(part)
            groups |= part[0]
            together = part[1] + together
        parts.append((groups, together))
    return iter(parts)
