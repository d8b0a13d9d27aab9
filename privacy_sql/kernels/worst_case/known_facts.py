"""Disclosure risk given facts: the chance of one atom or of the likeliest (Martin et al. 2007, Def. 5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from privacy_sql.kernels.worst_case.world_count import WORK_LIMIT, TooMuchWork, WorldCount
from privacy_sql.kernels.worst_case.world_sample import SAMPLES, WorldSample
from privacy_sql.kernels.worst_case.worlds import (
    Atom,
    Clause,
    Component,
    Fact,
    Group,
    ValuesPerPerson,
    components,
    pool_of,
)

# Probability that an interval misses the truth, split over everything estimated in one call.
DOUBT = 0.01


class Chance(NamedTuple):
    """Probability of an atom: a fraction when counted, else an estimate with an interval."""

    value: Fraction | float
    low: Fraction | float
    high: Fraction | float

    @property
    def exact(self) -> bool:
        return isinstance(self.value, Fraction)

    def or_larger(self, other: Chance) -> Chance:
        """The larger of two; exact only when both are, since an estimate may be larger in truth."""
        value, low, high = (max(pair) for pair in zip(self, other, strict=True))
        return Chance(value if self.exact and other.exact else float(value), low, high)


@dataclass(frozen=True)
class KnownFacts:
    """Facts about people of some groups. Counting raises Contradiction when no table agrees with them.

    The `clauses` hold; each of the `weighted` facts is believed with its own weight, whatever the others say.
    """

    groups: Mapping[int, Group]
    clauses: Sequence[Clause]
    kind: ValuesPerPerson = "one"
    work_limit: int = WORK_LIMIT
    samples: int = SAMPLES
    weighted: Sequence[Fact] = ()

    def chances(self, atoms: Sequence[Atom], random: np.random.Generator | None = None) -> list[Chance]:
        """The chance of each atom; without `random`, facts that are too entangled to count raise TooMuchWork.

        With `random` their chances are estimated, unless no random table agrees with the facts
        (NothingAgreed).

        >>> hannah, charlie = Atom(1, 0, 0), Atom(0, 0, 0)
        >>> groups = {0: Group(5, {0: 2, 1: 2, 2: 1}), 1: Group(5, {0: 2, 3: 1, 4: 1, 5: 1})}
        >>> KnownFacts(groups, [Clause((hannah,), (charlie,))]).chances([charlie])[0].value
        Fraction(10, 19)
        """
        parts = components(self.groups, self._facts, self._anchored(atoms), self.kind)
        counted: list[WorldCount | WorldSample] = []
        for part in parts:
            try:
                counted.append(WorldCount(part, self.work_limit))
            except TooMuchWork:
                if random is None:
                    raise
                counted.append(WorldSample(part, random, self.samples))
        at = {key: i for i, part in enumerate(parts) for key in part.keys}
        found = []
        for atom in atoms:
            i = at[pool_of(atom, self.kind)]
            found.append(self._read(parts[i], counted[i], atom, DOUBT / max(1, len(atoms))))
        return found

    def worst(self, random: np.random.Generator | None = None) -> tuple[Chance, Atom] | None:
        """The likeliest atom in the groups that the facts mention; None when nobody there has a value."""
        atoms = list(dict.fromkeys(candidates(self.groups, self._mentioned())))
        chances = self.chances(atoms, random)
        if not atoms:
            return None
        best = max(range(len(atoms)), key=lambda i: (chances[i].value, -i))
        # in truth another atom may be the likeliest: the interval covers all of them
        low, high = max(chance.low for chance in chances), max(chance.high for chance in chances)
        return Chance(chances[best].value, low, high), atoms[best]

    def _read(self, part: Component, counted: WorldCount | WorldSample, atom: Atom, doubt: float) -> Chance:
        key = pool_of(atom, self.kind)
        pool, draw = part.pools[part.keys.index(key)], part.number[key, atom.person]
        share = Fraction(1)
        if atom.value in pool.values:
            outcome = pool.values.index(atom.value)
        else:
            # No fact mentions this value, so it gets its part of "any other value", whoever draws it.
            outcome, others = len(pool.values), pool.stock[-1]
            share = Fraction(self.groups[atom.group].counts.get(atom.value, 0), max(others, 1))
        if isinstance(counted, WorldCount):
            exact = counted.chance(draw, outcome) * share
            return Chance(exact, exact, exact)
        return Chance(*(end * float(share) for end in counted.interval(draw, outcome, doubt)))

    @property
    def _facts(self) -> list[Fact]:
        return [*(Fact((clause,)) for clause in self.clauses), *self.weighted]

    def _mentioned(self) -> Iterator[Atom]:
        for fact in self._facts:
            yield from fact.atoms

    def _anchored(self, atoms: Sequence[Atom]) -> Iterator[Atom]:
        """Questions that add people to the pools, but no values where facts already mention some."""
        if self.kind != "one":
            yield from atoms
            return
        spoken: dict[int, int] = {atom.group: atom.value for atom in self._mentioned()}
        for atom in atoms:
            yield atom._replace(value=spoken.get(atom.group, atom.value))


def candidates(groups: Mapping[int, Group], mentioned: Iterable[Atom]) -> Iterator[Atom]:
    """Everybody the facts mention and one more person of each of their groups, with every value there."""
    people: dict[int, dict[int, None]] = {}
    for atom in mentioned:
        people.setdefault(atom.group, {})[atom.person] = None
    for group, named in people.items():
        persons: Iterable[int] = named
        if len(named) < groups[group].people:
            persons = [*named, max(named) + 1]
        for person in persons:
            for value, count in groups[group].counts.items():
                if count:
                    yield Atom(group, person, value)
