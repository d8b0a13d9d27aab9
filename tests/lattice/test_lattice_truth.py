"""Every choice of small lattices is judged again by the definitions: several requirements, NULL, suppression.

What a search calls safe is safe by brute force, and its minimal choices are all minimal ones. A choice with
suppression publishes what stays when failing groups leave, and those that fail then, until none fails.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.counted.base import count
from privacy_sql.lattice.search import LatticeSearch
from tests.oracles import full_domain as oracle
from tests.oracles.lattice import minimal
from tests.seeds import seeds

AGES, JOBS, ILLS = (
    ["20", "21", "25", "31", "38", None],
    ["a", "b", "c", "d", None],
    ["flu", "cold", "mumps", None],
)
PARENTS = {"a": "x", "b": "x", "c": "y", "d": "y"}
LABELS: list[list[Callable[[Any], Any]]] = [
    [lambda v: v, lambda v: v and int(v) // 10, lambda v: "*"],
    [lambda v: v, lambda v: PARENTS.get(v), lambda v: "*"],
]
Values = Sequence[Any]
Group = Callable[[Values, Values], bool]
"""Whether a group with these sensitive values is safe in a table with those."""


def share(values: Values, value: Any) -> Fraction:
    return Fraction(values.count(value), len(values))


def close(t: str) -> Group:
    return lambda own, all_: sum(abs(share(own, v) - share(all_, v)) for v in set(all_)) / 2 <= Fraction(t)


def gaining(beta: str, enhanced: bool) -> Group:
    def safe(own: Values, all_: Values) -> bool:
        for value in set(own):
            before, now = share(all_, value), share(own, value)
            bound = min(Fraction(beta), Fraction(-math.log(before))) if enhanced else Fraction(beta)
            if now > before and (now - before) / before > bound:
                return False
        return True

    return safe


def disclosing(delta: str) -> Group:
    def safe(own: Values, all_: Values) -> bool:
        return all(
            value in own and abs(math.log(share(own, value) / share(all_, value))) < float(delta)
            for value in set(all_)
        )

    return safe


def entropy(ell: str) -> Group:
    def safe(own: Values, _: Values) -> bool:
        bits = -sum(n / len(own) * math.log(n / len(own)) for n in Counter(own).values())
        return bits >= math.log(Fraction(ell)) - 1e-12

    return safe


def alone(rule: Callable[[Any], bool]) -> Group:
    return lambda own, _: rule(list(own))


RULES: list[tuple[Any, Group]] = [
    (ps.KAnonymity(2), alone(oracle.k_anonymous(2))),
    (ps.KAnonymity(3), alone(oracle.k_anonymous(3))),
    (ps.LDiversity(2), alone(oracle.distinct(2))),
    (ps.LDiversity(3), alone(oracle.distinct(3))),
    (ps.LDiversity("2", kind="entropy"), entropy("2")),
    (ps.LDiversity(2, kind="recursive", c=2), alone(oracle.recursive(2, 2))),
    (
        ps.LDiversity("3/2", kind="probabilistic"),
        alone(lambda own: max(Counter(own).values()) * 3 <= len(own) * 2),
    ),
    (
        ps.AlphaKAnonymity("1/2", 2),
        alone(lambda own: len(own) >= 2 and max(Counter(own).values()) * 2 <= len(own)),
    ),
    (ps.TCloseness("0.3"), close("0.3")),
    (ps.TCloseness("1/2"), close("1/2")),
    (ps.BetaLikeness("1"), gaining("1", enhanced=False)),
    (ps.BetaLikeness("2", "enhanced"), gaining("2", enhanced=True)),
    (ps.DeltaDisclosure("0.7"), disclosing("0.7")),
]


def left(rows: Sequence[Any], choice: Sequence[int], rules: Sequence[Group]) -> list[Any]:
    """What stays when failing groups leave, and those that fail then."""
    kept = list(rows)
    while kept:
        groups: dict[Any, list[Any]] = {}
        for row in kept:
            key = tuple(levels[level](v) for levels, level, v in zip(LABELS, choice, row, strict=False))
            groups.setdefault(key, []).append(row)
        everybody = [row[2] for row in kept]
        stay = [
            row
            for group in groups.values()
            if all(safe([row[2] for row in group], everybody) for safe in rules)
            for row in group
        ]
        if len(stay) == len(kept):
            break
        kept = stay
    return kept


def drawn(seed: int) -> tuple[list[Any], list[tuple[Any, Group]], Fraction]:
    rng = random.Random(seed)
    rows = [
        tuple(rng.choice(values) for values in (AGES[: rng.randint(2, 6)], JOBS[-rng.randint(1, 5) :], ILLS))
        for _ in range(rng.randint(1, 14))
    ]
    wanted = rng.sample(RULES, rng.randint(1, 3))
    names = [str(criterion) for criterion, _ in wanted]
    assert len(set(names)) == len(names)
    return rows, wanted, rng.choice([Fraction(0), Fraction(1, 5), Fraction(1, 2)])


def table(rows: Sequence[Any]) -> ps.Table:
    frame = pd.DataFrame(rows, columns=["age", "job", "illness"], dtype=object)
    jobs = ps.Tree({job: [parent, "*"] for job, parent in PARENTS.items()})
    return ps.Table(frame, {"age": ps.Intervals(10), "job": jobs}, "illness")


@pytest.mark.parametrize("seed", seeds(15))
def test_the_safe_choices_of_a_lattice_are_those_of_the_definitions(engine: Any, seed: int) -> None:
    rows, wanted, allowed = drawn(seed)
    require, rules = [criterion for criterion, _ in wanted], [rule for _, rule in wanted]
    stays = {(age, job): left(rows, (age, job), rules) for age in range(3) for job in range(3)}
    safe = {c for c, kept in stays.items() if kept and len(rows) - len(kept) <= allowed * len(rows)}
    search = LatticeSearch(count(engine, table(rows)), tuple(require), "loss", allowed)
    found = search.run("all")
    assert set(found.minimal) == minimal(safe), (require, allowed)
    assert found.safe_choices == len(safe)
    best = LatticeSearch(search.base, tuple(require), "loss", allowed).run("best")
    assert best.best is None or best.best in safe
    assert best.optimal == found.optimal == bool(safe)
    if safe:
        assert best.cost == pytest.approx(found.cost)
        assert search.shown(best.best).n_suppressed == len(rows) - len(stays[best.best])


def crowd(seed: int) -> tuple[list[Any], list[Any], str]:
    """People with their age and job, and one row for each of their values; some have none."""
    rng = random.Random(seed)
    people = [(rng.choice(AGES[:4]), rng.choice(JOBS[-4:])) for _ in range(rng.randint(2, 9))]
    kind = rng.choice(["set", "multiset"])
    rows = []
    for number, person in enumerate(people):
        values: Any = (
            [rng.choice(ILLS[:3]) for _ in range(rng.randint(1, 4))] if rng.random() < 0.8 else [None]
        )
        rows += [(str(number), *person, value) for value in (set(values) if kind == "set" else values)]
    return people, rows, kind


@pytest.mark.parametrize("seed", seeds(6))
@pytest.mark.parametrize("allowed", ["0", "1/5", "1/2"])
def test_no_more_rows_and_no_more_people_are_suppressed_than_allowed(
    engine: Any, seed: int, allowed: str
) -> None:
    people, rows, kind = crowd(seed)
    frame = pd.DataFrame(rows, columns=["id", "age", "job", "illness"], dtype=object)
    kinds = dict(table([("20", "a", "flu")]).hierarchies)
    several = ps.Table(frame, kinds, "illness", identifier="id", values_per_person=kind)
    valued = [row for row in rows if row[3] is not None]
    safe = set()
    for choice in [(age, job) for age in range(3) for job in range(3)]:
        groups: dict[Any, set[str]] = {}
        for number, person in enumerate(people):
            key = tuple(levels[level](v) for levels, level, v in zip(LABELS, choice, person, strict=True))
            groups.setdefault(key, set()).add(str(number))
        gone = {number for group in groups.values() if len(group) < 2 for number in group}
        n_rows = sum(row[0] in gone for row in valued)
        if len(gone) <= Fraction(allowed) * len(people) and n_rows <= Fraction(allowed) * len(valued):
            safe.add(choice)
    search = LatticeSearch(count(engine, several), (ps.KAnonymity(2),), "loss", Fraction(allowed))
    found = search.run("all")
    assert set(found.minimal) == minimal(safe)
    assert found.safe_choices == len(safe)
    if safe and valued:
        method = ps.FullDomain(max_suppressed=allowed)
        assert ps.publish(engine, several, [ps.KAnonymity(2)], method).safe
