"""What has to be counted to know the chance of an atom given some facts.

A world is a table that agrees with the release. Groups that no chain of facts links are independent, and
people in no fact are interchangeable, so only components of linked draws matter: a draw is one person whose
value the facts mention, and draws of one pool share its stock. The possible worlds (Chen et al. 2008, Sec.
3.1):

    one       every person has exactly one value: a pool is a group, people draw without replacement
    set       a value of a group belongs to so many different people: a pool is a value of a group
    multiset  every occurrence of a value belongs to anybody of the group: a pool is a value of a group
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal, NamedTuple

ValuesPerPerson = Literal["one", "set", "multiset"]
PoolKey = tuple[int, int]  # group, and the value where each value is a pool


class Group(NamedTuple):
    """A published group: how many people, and how often each value occurs among them."""

    people: int
    counts: Mapping[int, int]


class Atom(NamedTuple):
    """Person number `person` of a group has a value."""

    group: int
    person: int
    value: int


class Clause(NamedTuple):
    """If all of `if_all` hold, one of `then_any` holds."""

    if_all: tuple[Atom, ...]
    then_any: tuple[Atom, ...]


class Fact(NamedTuple):
    """Clauses that together are believed with a weight: 1 means known, 1/2 means no information.

    Worlds in which all of them hold count `weight` times, the others 1 - `weight` times.
    """

    clauses: tuple[Clause, ...]
    weight: Fraction = Fraction(1)

    @property
    def atoms(self) -> Iterator[Atom]:
        """All atoms in its clauses."""
        for clause in self.clauses:
            yield from (*clause.if_all, *clause.then_any)


@dataclass(frozen=True)
class Pool:
    """Draws from one stock: outcome i is value `values[i]`, the last any other value, or not having it.

    `stock[i]` bounds how many people can have outcome i.
    """

    people: int
    values: tuple[int, ...]
    stock: tuple[int, ...]
    multiset: bool

    def ways(self, drawn: Sequence[int]) -> int:
        """In how many ways the drawn people can get each outcome this often, up to a common factor.

        >>> Pool(4, (0, 1), (2, 1, 1), False).ways([1, 0, 1])
        2
        """
        if not self.multiset:
            return math.prod(map(math.perm, self.stock, drawn))
        # Each occurrence goes to a drawn person who has it, or to nobody drawn; all who have it get one.
        having, lacking = drawn
        return sum(
            (-1) ** j * math.comb(having, j) * (self.people - lacking - j) ** self.stock[0]
            for j in range(having + 1)
        )


class Draw(NamedTuple):
    """A person's outcome in a pool."""

    pool: int
    person: int


Outcome = tuple[int, int]  # number of a draw, outcome


@dataclass(frozen=True)
class Component:
    """Draws linked by facts, pool by pool, and the facts: per clause the outcomes that would make it true.

    `doubted` are the facts with a weight below 1: their clauses and the weight. The other clauses hold.
    """

    keys: tuple[PoolKey, ...]
    pools: tuple[Pool, ...]
    draws: tuple[Draw, ...]
    negative: tuple[tuple[Outcome, ...], ...]
    positive: tuple[tuple[Outcome, ...], ...]
    doubted: tuple[tuple[tuple[int, ...], Fraction], ...] = ()

    @cached_property
    def number(self) -> dict[tuple[PoolKey, int], int]:
        """The index of each (pool, person) among the draws."""
        return {(self.keys[draw.pool], draw.person): t for t, draw in enumerate(self.draws)}


def components(
    groups: Mapping[int, Group], facts: Sequence[Fact], asked: Iterable[Atom], kind: ValuesPerPerson
) -> list[Component]:
    """The independent parts of the count; every pool that a fact or question mentions is in one of them."""
    mentioned: dict[PoolKey, set[Atom]] = {}
    for atom in [*asked, *(atom for fact in facts for atom in fact.atoms)]:
        mentioned.setdefault(pool_of(atom, kind), set()).add(atom)
    found = []
    for keys, inside in _linked(mentioned, facts, kind):
        found.append(_component(groups, {key: mentioned[key] for key in keys}, inside, kind))
    return found


def pool_of(atom: Atom, kind: ValuesPerPerson) -> PoolKey:
    """The pool from which the atom's person draws."""
    return (atom.group, -1 if kind == "one" else atom.value)


def _linked(
    pools: Iterable[PoolKey], facts: Sequence[Fact], kind: ValuesPerPerson
) -> list[tuple[list[PoolKey], list[Fact]]]:
    """Pools linked by facts, with their facts: the connected components."""
    leader = {key: key for key in pools}

    def find(key: PoolKey) -> PoolKey:
        while leader[key] != key:
            leader[key] = leader[leader[key]]
            key = leader[key]
        return key

    for fact in facts:
        first, *others = [pool_of(atom, kind) for atom in fact.atoms]
        for key in others:
            leader[find(key)] = find(first)
    parts: dict[PoolKey, tuple[list[PoolKey], list[Fact]]] = {}
    for key in leader:
        parts.setdefault(find(key), ([], []))[0].append(key)
    for fact in facts:
        parts[find(pool_of(next(fact.atoms), kind))][1].append(fact)
    return list(parts.values())


def _component(
    groups: Mapping[int, Group],
    mentioned: Mapping[PoolKey, set[Atom]],
    facts: Sequence[Fact],
    kind: ValuesPerPerson,
) -> Component:
    clauses = [clause for fact in facts for clause in fact.clauses]
    ends = list(itertools.accumulate(len(fact.clauses) for fact in facts))
    order = _order(mentioned, clauses, kind)
    keys = tuple(dict.fromkeys(key for key, _ in order))
    pools = {}
    for key in keys:
        group, values = groups[key[0]], tuple(sorted({atom.value for atom in mentioned[key]}))
        counts = tuple(group.counts.get(value, 0) for value in values)
        left = group.people - (0 if kind == "multiset" else sum(counts))
        pools[key] = Pool(group.people, values, (*counts, left), kind == "multiset")
    number = {place: t for t, place in enumerate(order)}

    def literals(atoms: Iterable[Atom]) -> tuple[Outcome, ...]:
        found = []
        for atom in atoms:
            key = pool_of(atom, kind)
            found.append((number[key, atom.person], pools[key].values.index(atom.value)))
        return tuple(found)

    return Component(
        keys,
        tuple(pools.values()),
        tuple(Draw(keys.index(key), person) for key, person in order),
        tuple(literals(clause.if_all) for clause in clauses),
        tuple(literals(clause.then_any) for clause in clauses),
        tuple(
            (tuple(range(end - len(fact.clauses), end)), fact.weight)
            for fact, end in zip(facts, ends, strict=True)
            if fact.weight != 1
        ),
    )


def _order(
    mentioned: Mapping[PoolKey, set[Atom]], clauses: Sequence[Clause], kind: ValuesPerPerson
) -> list[tuple[PoolKey, int]]:
    """Draws in an order that keeps few clauses open: pools first, then the people inside each."""
    places = {key: {(key, atom.person) for atom in atoms} for key, atoms in mentioned.items()}
    touching: dict[tuple[PoolKey, int], set[int]] = {place: set() for ps in places.values() for place in ps}
    for number, clause in enumerate(clauses):
        for atom in (*clause.if_all, *clause.then_any):
            touching[pool_of(atom, kind), atom.person].add(number)
    left = Counter(itertools.chain.from_iterable(touching.values()))
    order: list[tuple[PoolKey, int]] = []
    begun: set[int] = set()
    pools = set(places)
    while pools:
        near = {key for key in pools if any(touching[place] & begun for place in places[key])}
        key = min(
            near or pools, key=lambda k: (len(set().union(*(touching[p] for p in places[k])) - begun), k)
        )
        pools.remove(key)
        people = set(places[key])
        while people:
            place = min(
                people, key=lambda p: (sum(left[n] > 1 and n not in begun for n in touching[p]), p[1])
            )
            people.remove(place)
            order.append(place)
            for number in touching[place]:
                left[number] -= 1
                (begun.discard if not left[number] else begun.add)(number)
    return order
