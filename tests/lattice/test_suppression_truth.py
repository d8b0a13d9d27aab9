"""What a search with suppression finds is what the definitions find at every choice, for every requirement.

The rule: groups that fail leave, then those that fail without them, until none fails; a choice is safe if few
enough people left and the rest is safe by the definition. Which groups fail is said here by hand. Where the
rule has a choice (two groups the worst knowledge is equally about) every one is tried. The requirements of
`test_lattice_truth.py` are not repeated, and `composition` names no group to leave out.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise, permutations, product
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.counted.base import count
from privacy_sql.criteria import Criterion
from privacy_sql.lattice.search import LatticeSearch
from tests import engines
from tests.oracles import background_knowledge, households, known_columns, risks, worst_case
from tests.oracles.lattice import minimal
from tests.oracles.skyline import Oracle
from tests.oracles.verdicts import Known, keeps, number
from tests.seeds import seeds

AGES, JOBS, VALUES = ["20", "21", "25", "31", None], ["a", "b", None], ["1", "2", "10", None]
HOMES = ["h1", "h2", "h3", "h4", None]
LABELS: list[list[Callable[[Any], Any]]] = [
    [lambda v: v, lambda v: v and int(v) // 10, lambda v: "*"],
    [lambda v: v, lambda v: "*"],
]
CHOICES = list(product(range(3), range(2)))
Label = tuple[Any, ...]
Groups = Mapping[Label, Sequence["Person"]]
Out = frozenset[Label]


@dataclass(frozen=True)
class Person:
    age: str | None
    job: str | None
    value: str | None
    home: str | None

    def label(self, choice: Sequence[int]) -> Label:
        pairs = zip(LABELS, choice, (self.age, self.job), strict=True)
        return tuple(levels[level](value) for levels, level, value in pairs)


@dataclass(frozen=True)
class World:
    """A table at one choice: the people, the labels of the population, and the choice."""

    people: Sequence[Person]
    population: Sequence[Label]
    choice: Sequence[int]


Failing = Callable[[Any, Groups, World], list[Out]]
"""The sets of groups that may be the ones to leave out: one set, or more where the rule has a choice."""
Safe = Callable[[Any, Groups, World], bool]


@dataclass(frozen=True)
class Rule:
    """A requirement as it is drawn, which groups it leaves out, and when the rest is safe."""

    drawn: Callable[[random.Random], Criterion]
    failing: Failing
    safe: Safe
    tied: bool = False
    nulls: bool = True
    most: int = 13  # people


def rows(groups: Groups) -> list[tuple[Any, Any]]:
    return [(label, person.value or "") for label, own in groups.items() for person in own]


def safe_by_definition(asked: Any, groups: Groups, world: World) -> bool:
    return keeps(asked, rows(groups), Known(population=world.population))


def one_by_one(fails: Callable[[Any, Label, Groups, World], bool]) -> Failing:
    return lambda asked, groups, world: [frozenset(g for g in groups if fails(asked, g, groups, world))]


def alone(asked: Any, group: Label, groups: Groups, world: World) -> bool:
    """A group fails if it would not be safe alone, among the people of the population who fit it."""
    fitting = replace(world, population=[label for label in world.population if label == group])
    return not safe_by_definition(asked, {group: groups[group]}, fitting)


def riskiest(asked: Any, groups: Groups, world: World) -> list[Out]:
    """The fewest of the groups, those of the highest risk first, whose absence makes the rest safe."""
    among = world.population if asked.needs_population else [g for g in groups for _ in groups[g]]
    alike: dict[int, list[Label]] = {}
    for group in groups:
        alike.setdefault(among.count(group), []).append(group)
    found = []
    for order in product(*(permutations(alike[n]) for n in sorted(alike))):
        labels = [group for part in order for group in part]
        for n in range(len(labels) + 1):
            left = {group: groups[group] for group in labels[n:]}
            if not left or safe_at_risk(asked, left, world):
                found.append(frozenset(labels[:n]))
                break
    return list(dict.fromkeys(found))


def safe_at_risk(asked: Any, groups: Groups, world: World) -> bool:
    published = [group for group, own in groups.items() for _ in own]
    above = None if asked.above is None else number(asked.above)
    found = risks.measured(asked.measures, published, world.population, asked.adversary, above)
    return found <= number(asked.at_most)


def counts(groups: Groups) -> list[list[int]]:
    values = sorted({person.value or "" for own in groups.values() for person in own})
    return [[sum((p.value or "") == value for p in own) for value in values] for own in groups.values()]


def told_by_facts(asked: Any, groups: Groups, world: World) -> list[Out]:
    """Groups that disclose too much alone; then, while the rest does, those like the worst guess's group."""
    unsafe = frozenset(g for g in groups if not safe_by_definition(asked, {g: groups[g]}, world))
    found: list[Out] = []
    open_ = [unsafe]
    while open_:
        gone = open_.pop()
        left = {group: own for group, own in groups.items() if group not in gone}
        if not left or safe_by_definition(asked, left, world):
            found.append(gone)
            continue
        numbers = counts(left)
        worlds = worst_case.tables(numbers)
        ends = [0]
        for own in numbers:
            ends.append(ends[-1] + sum(own))
        values = range(len(numbers[0]))
        by_group = [
            worst_case.one_consequent(worlds, asked.k, values, range(first, last))
            for first, last in pairwise(ends)
        ]
        shapes = [sorted(own) for own in numbers]
        worst = [shape for shape, told in zip(shapes, by_group, strict=True) if told == max(by_group)]
        for target in worst:
            like = {group for group, shape in zip(left, shapes, strict=True) if shape == target}
            open_.append(gone | like)
    return list(dict.fromkeys(found))


def told_by_points(asked: Any, groups: Groups, world: World) -> list[Out]:
    """The same for each value and point of a skyline in turn, one group at a time."""
    values = sorted({person.value or "" for own in groups.values() for person in own})
    states: set[Out] = {frozenset()}
    for value, (*amounts, limit) in product(values, asked.points):
        bound = number(limit)

        def oracle(left: Sequence[Label]) -> Oracle:
            named = [
                (
                    len(groups[g]),
                    {v: n for v in values if (n := sum((p.value or "") == v for p in groups[g]))},
                )
                for g in left
            ]
            return Oracle(named, "one")

        unsafe = frozenset(
            g for g in groups if oracle([g]).breach(value, *map(int, amounts)) >= bound
            and any((p.value or "") == value for p in groups[g])
        )  # fmt: skip
        open_, done = [gone | unsafe for gone in states], set()
        while open_:
            gone = open_.pop()
            left = [group for group in groups if group not in gone]
            worlds = oracle(left) if left else None
            worst = worlds.breach(value, *map(int, amounts)) if worlds else Fraction(0)
            if worlds is None or worst < bound:
                done.add(gone)
                continue
            for place, group in enumerate(left):
                if worlds.breach(value, *map(int, amounts), group=place) == worst:
                    open_.append(gone | {group})
        states = done
    return list(states)


def of_home(asked: Any, group: Label, groups: Groups, world: World) -> bool:
    """Whether the people of a group are from too few households, or too few look like theirs."""
    lived = [(label, person.home) for label, own in groups.items() for person in own]
    if asked.known == "member":
        own = [(label, home) for label, home in lived if label == group]
        return not households.keeps(own, asked.k, asked.kind, "member")
    return households.fewest(lived, asked.known)[group] < asked.k


def safe_homes(asked: Any, groups: Groups, world: World) -> bool:
    lived = [(label, person.home) for label, own in groups.items() for person in own]
    return households.keeps(lived, asked.k, asked.kind, asked.known)


def known_by_columns(asked: Any, group: Label, groups: Groups, world: World) -> bool:
    """Whether too few others have some labels that a group has."""
    labelled = [(label, "") for label, own in groups.items() for _ in own]
    place = [label for label, _ in labelled].index(group)
    sets = known_columns.sets(len(group), asked.m)
    return any(known_columns.crowds(labelled, some)[place] < asked.k for some in sets)


def enough_for_columns(asked: Any, groups: Groups, world: World) -> bool:
    labelled = [(label, "") for label, own in groups.items() for _ in own]
    return known_columns.keeps(labelled, asked.m, asked.k, None)


def moved(asked: Any, groups: Groups, world: World) -> dict[Label, bool]:
    """For each group, whether a belief about its people moves too far from that about all people."""
    ages, jobs = (sorted({getattr(p, name) for p in world.people}) for name in ("age", "job"))
    values = sorted({p.value for p in world.people})
    span = max(map(int, ages)) - min(map(int, ages))
    apart = [
        [[Fraction(abs(int(a) - int(b)), span or 1) for b in ages] for a in ages],
        [[Fraction(a != b) for b in jobs] for a in jobs],
    ]
    codes = [(ages.index(p.age), jobs.index(p.job)) for p in world.people]
    own = [values.index(p.value) for p in world.people]
    members = [[i for i, p in enumerate(world.people) if p.label(world.choice) == g] for g in groups]
    far = dict.fromkeys(groups, False)
    for bandwidth, limit in asked.skyline:
        found = background_knowledge.group_risks(
            codes, own, len(values), apart, members, [number(bandwidth)] * 2
        )
        for group, risk in zip(groups, found, strict=True):
            far[group] |= risk > float(number(limit)) - 1e-9
    return far


LIMITS = ["1/4", "1/3", "1/2", "0.6", "2/3"]
SHARES = ["1/3", "1/2", "2/3", "3/4", "0.9"]
RULES: dict[str, Rule] = {
    "k_map": Rule(lambda rng: ps.KMap(rng.randint(2, 6)), one_by_one(alone), safe_by_definition),
    "delta_presence": Rule(
        lambda rng: ps.DeltaPresence(rng.choice(["0", "0", "1/4"]), rng.choice(SHARES)),
        one_by_one(alone),
        safe_by_definition,
    ),
    "k_link": Rule(lambda rng: ps.KLink(rng.randint(2, 4)), one_by_one(alone), safe_by_definition),
    "k_combinatorial": Rule(
        lambda rng: ps.KCombinatorial(rng.randint(2, 3)), one_by_one(alone), safe_by_definition
    ),
    "maxent_l_diversity": Rule(
        lambda rng: rng.choice(
            [
                ps.MaxentLDiversity(l=2, kind="distinct"),
                ps.MaxentLDiversity(l=2, c="2"),
                ps.MaxentLDiversity(l=2, kind="relaxed", epsilon="1/3"),
            ]
        ),
        one_by_one(alone),
        safe_by_definition,
    ),
    "interval_disclosure": Rule(
        lambda rng: ps.IntervalDisclosure(
            rng.choice(["0", "1"]), rng.choice(SHARES), rng.choice(["absolute", "relative"])
        ),
        one_by_one(alone),
        safe_by_definition,
        nulls=False,
    ),
    "households, one known": Rule(
        lambda rng: ps.HouseholdKAnonymity(rng.randint(2, 3), rng.choice(["distinct", "share"])),
        one_by_one(of_home),
        safe_homes,
    ),
    "households, several known": Rule(
        lambda rng: ps.HouseholdKAnonymity(2, known=rng.choice(["all", 1, 2])),
        one_by_one(of_home),
        safe_homes,
        tied=True,
    ),
    "known_columns": Rule(
        lambda rng: ps.KnownColumns(m=rng.randint(1, 2), k=rng.randint(2, 3)),
        one_by_one(known_by_columns),
        enough_for_columns,
    ),
    "risk": Rule(
        lambda rng: ps.ReidentificationRisk(
            rng.choice(LIMITS),
            **rng.choice(
                [
                    {},
                    {"measure": "average"},
                    {"above": "1/3"},
                    {"adversary": "journalist"},
                    {"adversary": "journalist", "measure": "average"},
                    {"adversary": "marketer"},
                ]
            ),
        ),
        riskiest,
        safe_at_risk,
    ),
    "ck_safety": Rule(
        lambda rng: ps.CKSafety(rng.choice(SHARES), rng.randint(0, 1)),
        told_by_facts,
        safe_by_definition,
        most=9,
    ),
    "privacy_skyline": Rule(
        lambda rng: ps.PrivacySkyline(
            [[*rng.choice([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]), rng.choice(SHARES)]]
        ),
        told_by_points,
        safe_by_definition,
        most=7,
    ),
    "bt_privacy": Rule(
        lambda rng: ps.BTPrivacy([["3/10", rng.choice(["0.1", "0.2", "0.5"])]], distance="js"),
        lambda asked, groups, world: [frozenset(g for g, far in moved(asked, groups, world).items() if far)],
        lambda asked, groups, world: not any(moved(asked, groups, world).values()),
        nulls=False,
        most=9,
    ),
}


def drawn(rule: Rule, seed: object) -> tuple[list[Person], list[tuple[Any, Any]]]:
    """People, and everybody of the population by age and job, also of values that the table lacks."""
    rng = random.Random(f"people {seed}")
    ages, jobs, values = AGES[-rng.randint(2, 5) :], JOBS[-rng.randint(1, 3) :], VALUES[: rng.randint(2, 4)]
    if not rule.nulls:
        ages, jobs, values = AGES[:3], JOBS[:2], VALUES[:3]
    people = [
        Person(rng.choice(ages), rng.choice(jobs), rng.choice(values), rng.choice(HOMES))
        for _ in range(rng.randint(2, rule.most))
    ]
    others = [(rng.choice([*AGES, "29"]), rng.choice([*JOBS, "c"])) for _ in range(rng.randint(0, 10))]
    return people, [*others, *((p.age, p.job) for p in people)]


def table(people: Sequence[Person], population: Sequence[Any], *, tied: bool) -> ps.Table:
    frame = pd.DataFrame([vars(person) for person in people], dtype=object)
    return ps.Table(
        frame,
        {"age": ps.Intervals(10), "job": ps.KeepOrDrop()},
        "value",
        household={"column": "home", "published": "number" if tied else "no"},
        population=pd.DataFrame(population, columns=["age", "job"], dtype=object),
    )


def left(groups: Groups, rule: Rule, asked: Any, world: World) -> Iterator[Groups]:
    """What may stay when failing groups leave, and those that fail then."""
    for gone in rule.failing(asked, groups, world) if groups else [frozenset[Label]()]:
        stay = {label: own for label, own in groups.items() if label not in gone}
        yield from left(stay, rule, asked, world) if gone else [groups]


def judged(rule: Rule, asked: Any, world: World, allowed: Fraction) -> set[int | None]:
    """How many people a safe choice may suppress; None if it may not be safe."""
    groups: dict[Label, list[Person]] = {}
    for person in world.people:
        groups.setdefault(person.label(world.choice), []).append(person)
    found: set[int | None] = set()
    for stay in left(groups, rule, asked, world):
        n = len(world.people) - sum(map(len, stay.values()))
        fine = bool(stay) and n <= allowed * len(world.people) and rule.safe(asked, stay, world)
        found.add(n if fine else None)
    return found


@pytest.mark.widens(4)
@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("seed", seeds(6))
def test_the_safe_choices_with_suppression_are_those_of_the_definitions(name: str, seed: int) -> None:
    rule = RULES[name]
    rng = random.Random(f"{name} {seed}")
    asked = rule.drawn(rng)
    people, population = drawn(rule, f"{name} {seed}")
    allowed = rng.choice([Fraction(1, 5), Fraction(1, 2), Fraction(4, 5)])
    told = {}
    for choice in CHOICES:
        labels = [Person(age, job, None, None).label(choice) for age, job in population]
        told[choice] = judged(rule, asked, World(people, labels, choice), allowed)
    if any(len(found) > 1 for found in told.values()):
        return  # two groups that the worst knowledge is equally about: either may leave
    safe = {choice: n for choice, (n,) in told.items() if n is not None}
    with engines.opened() as engine:
        base = count(engine, table(people, population, tied=rule.tied))
        for memory in (None, False):
            require = (asked.on(base.table),)
            search = LatticeSearch(base, require, "loss", allowed, in_memory=memory)
            found = search.run("all")
            assert set(found.minimal) == minimal({*safe}), (asked, allowed, people)
            assert found.safe_choices == len(safe)
            best = LatticeSearch(base, require, "loss", allowed, in_memory=memory).run("best")
            assert (best.best is None) == (not safe) and found.optimal == best.optimal == bool(safe)
            if safe:
                least = pytest.approx(min(search.pricing.cost(choice) for choice in safe))
                assert best.cost == least and found.cost == least and best.best in safe
                for choice, n in safe.items():
                    assert search.shown(choice).n_suppressed == n, (choice, asked)
            if search.in_memory is False:
                break
