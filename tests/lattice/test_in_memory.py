"""Groups in memory and statements give the same answers: verdicts, values, failing groups, searches, costs.

Random tables with NULLs, values in a hierarchy and numbers, one value per person, sets and multisets, one and
several sensitive columns, populations with values that the table lacks, and households; limits at what is
attained, just below and just above it. What both say is held against the definitions in
`test_lattice_truth.py`, `test_suppression_truth.py` and `test_several_sensitive.py`, and here where a
population or households decide.
"""

from __future__ import annotations

import contextlib
import math
import os
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.counted.base import Base, count
from privacy_sql.criteria import Criterion
from privacy_sql.judge import decided, failing
from privacy_sql.lattice import in_memory
from privacy_sql.lattice.costs import GroupsInSql
from privacy_sql.lattice.in_memory import InMemory, lattice_of
from privacy_sql.lattice.result import result
from privacy_sql.lattice.rollup import Rollup
from privacy_sql.lattice.search import LatticeSearch
from privacy_sql.utilities.average_group_size import AverageGroupSize
from privacy_sql.verdict import Verdict
from tests import engines
from tests.oracles import households
from tests.oracles.population import extreme_shares, fewest_fitting
from tests.seeds import seeds

NIGHTLY = os.environ.get("HYPOTHESIS_PROFILE") == "nightly"
SEEDS = range(100 if NIGHTLY else 2)
AGES = ["20", "21", "25", "31", "38", "44", None]
JOBS = ["a", "b", "c", "d", None]
PARENTS = {"a": "x", "b": "x", "c": "y", "d": "y"}
ILLS = {"flu": "cold", "cough": "cold", "mumps": "viral", "zoster": "viral"}
HOMES = ["h1", "h2", "h3", "h4", "h5", None]
OTHERS = {f"{home}, too" for home in ("h1", "h2", "h3", "h4", "nobody")}  # of the value "y"
WAGES = ["1", "2", "2.5", "7", "30"]
STEP = Fraction(1, 10**9)

Make = Callable[[Fraction], Criterion]
"""A requirement with this limit."""
Labels = tuple[Any, ...]
Measured = Callable[[Criterion, list[Labels], list[Labels], list[tuple[Any, Any]]], Fraction]
"""The value by the labels of the people, those of the population, and the home and the illness of each."""


@dataclass(frozen=True)
class Kind:
    """A requirement whose limit is chosen: how it is made, about which column, and what is a limit."""

    make: Make
    sensitive: str = "illness"
    several: bool = False  # whether it is defined where people have several values
    whole: bool = False
    least: Fraction = Fraction(0)
    most: Fraction = Fraction(1)
    measured: Measured | None = None  # its value by the definition
    twins: bool = False  # whether every household has another that looks like it
    tied: bool = False  # whether rows say who lives together
    of_homes: bool = False  # whether the value is one of a household


def nearest(asked: Any, people: list[Labels], population: list[Labels], _: Any) -> Fraction:
    """The lowest or the highest share, whichever is nearer to its limit, or farther beyond it."""
    low, high = Fraction(str(asked.low)), Fraction(str(asked.high))
    least, most = extreme_shares(people, population)
    return least if least - low < high - most else most


def of_households(
    asked: Any, people: list[Labels], _: list[Labels], lived: list[tuple[Any, Any]]
) -> Fraction:
    homes = [(labels, home) for labels, (home, _) in zip(people, lived, strict=True)]
    return households.measured(homes, asked.kind, asked.known)


def of_their_values(_: Any, people: list[Labels], __: list[Labels], lived: list[tuple[Any, Any]]) -> Fraction:
    return households.largest_share([(labels, *own) for labels, own in zip(people, lived, strict=True)])


COUNTED: dict[str, Kind] = {
    "k_map": Kind(
        lambda x: ps.KMap(int(x)),
        several=True,
        whole=True,
        least=Fraction(1),
        most=Fraction(99),
        measured=lambda _, people, population, __: Fraction(fewest_fitting(people, population)),
    ),
    "presence, high": Kind(lambda x: ps.DeltaPresence(0, str(x)), several=True, measured=nearest),
    "presence, low": Kind(lambda x: ps.DeltaPresence(str(x), 1), several=True, measured=nearest),
    "k_link": Kind(
        lambda x: ps.KLink(int(x)),
        several=True,
        whole=True,
        least=Fraction(1),
        most=Fraction(99),
        measured=lambda _, people, __, ___: Fraction(min(map(people.count, people))),
    ),
    "households": Kind(
        lambda x: ps.HouseholdKAnonymity(int(x)),
        whole=True,
        least=Fraction(2),
        most=Fraction(99),
        measured=of_households,
    ),
    "households, share": Kind(
        lambda x: ps.HouseholdKAnonymity(max(2, math.ceil(1 / x)), "share"),
        least=Fraction(1, 99),
        measured=of_households,
        twins=True,
    ),
    "households, all": Kind(
        lambda x: ps.HouseholdKAnonymity(int(x), known="all"),
        whole=True,
        least=Fraction(2),
        most=Fraction(99),
        measured=of_households,
        twins=True,
        tied=True,
    ),
    "households, two": Kind(
        lambda x: ps.HouseholdKAnonymity(int(x), known=2),
        whole=True,
        least=Fraction(2),
        most=Fraction(99),
        measured=of_households,
        twins=True,
        tied=True,
    ),
    "households, values": Kind(
        lambda x: ps.HouseholdKAnonymity(1, known="all", share=str(x)),
        least=STEP,
        most=1 - STEP,
        measured=of_their_values,
        twins=True,
        tied=True,
        of_homes=True,
    ),
}
KINDS = COUNTED | {
    "k": Kind(
        lambda x: ps.KAnonymity(int(x)), several=True, whole=True, least=Fraction(1), most=Fraction(99)
    ),
    "risk": Kind(lambda x: ps.ReidentificationRisk(str(x)), several=True, least=STEP, most=1 - STEP),
    "risk, average": Kind(
        lambda x: ps.ReidentificationRisk(str(x), "average"), several=True, least=STEP, most=1 - STEP
    ),
    "risk, above": Kind(lambda x: ps.ReidentificationRisk(str(x), above="0.3"), several=True, most=1 - STEP),
    "distinct": Kind(lambda x: ps.LDiversity(str(x)), several=True, least=Fraction(1), most=Fraction(99)),
    "entropy": Kind(lambda x: ps.LDiversity(str(x), kind="entropy"), least=Fraction(1), most=Fraction(99)),
    "recursive": Kind(lambda x: ps.LDiversity(2, kind="recursive", c=str(x)), most=Fraction(99)),
    "recursive, not strict": Kind(
        lambda x: ps.LDiversity(3, kind="recursive", c=str(x), strict=False), most=Fraction(99)
    ),
    "probabilistic": Kind(
        lambda x: ps.LDiversity(str(1 / x), kind="probabilistic"), several=True, least=Fraction(1, 99)
    ),
    "alpha": Kind(lambda x: ps.AlphaKAnonymity(str(x), 2), several=True),
    "alpha, watched": Kind(lambda x: ps.AlphaKAnonymity(str(x), 1, ["flu", "zoster", "none"]), several=True),
    "t": Kind(lambda x: ps.TCloseness(str(x))),
    "t, hierarchical": Kind(lambda x: ps.TCloseness(str(x), distance="hierarchical")),
    "t, ordered": Kind(lambda x: ps.TCloseness(str(x), distance="ordered"), sensitive="wage"),
    "near": Kind(lambda x: ps.IntervalDisclosure("1/2", str(x)), sensitive="wage", least=STEP, most=1 - STEP),
    "near, relative": Kind(
        lambda x: ps.IntervalDisclosure(2, str(x), "relative"), sensitive="wage", least=STEP, most=1 - STEP
    ),
    "near, hierarchical": Kind(
        lambda x: ps.IntervalDisclosure("1/2", str(x), "hierarchical"), least=STEP, most=1 - STEP
    ),
    "beta": Kind(lambda x: ps.BetaLikeness(str(x)), most=Fraction(99)),
    "beta, enhanced": Kind(lambda x: ps.BetaLikeness(str(x), "enhanced"), least=STEP, most=Fraction(99)),
    "delta": Kind(lambda x: ps.DeltaDisclosure(str(x)), most=Fraction(99)),
    "ck": Kind(lambda x: ps.CKSafety(str(x), 1), least=STEP),
    "ck, per value": Kind(
        lambda x: ps.CKSafety(
            "0.95",
            0,
            {"flu": {"c": str(x), "k": 1}, "mumps": {"c": "0.9", "k": 2}, "none": {"c": "0.1", "k": 0}},
        ),
        least=STEP,
    ),
    "skyline": Kind(
        lambda x: ps.PrivacySkyline(
            [[0, 0, 0, str(x)], [1, 1, 0, "0.99"]], {"flu": [[1, 0, 1, str(x)]], "gout": [[0, 0, 0, "0.5"]]}
        ),
        several=True,
        least=STEP,
    ),
}


def people(seed: int, values_per_person: str = "one", several: bool = False) -> ps.Table:
    rng = random.Random(seed)
    ills = [*rng.sample(sorted(ILLS), rng.randint(1, 4)), *([None] if rng.random() < 0.4 else [])]
    rows = []
    for number in range(rng.randint(1, 30)):
        person = (str(number), rng.choice(AGES[-rng.randint(1, 7) :]), rng.choice(JOBS[: rng.randint(1, 5)]))
        held = (
            [rng.choice(ills) for _ in range(rng.randint(1, 3))]
            if values_per_person != "one"
            else [rng.choice(ills)]
        )
        for ill in set(held) if values_per_person == "set" else held:
            rows.append((*person, ill, rng.choice(WAGES)))
    frame = pd.DataFrame(rows, columns=["id", "age", "job", "illness", "wage"], dtype=object)
    whole = frame.drop_duplicates("id").drop(columns="id")
    others = [
        (rng.choice([*AGES, "29", "77"]), rng.choice(JOBS), rng.choice(ills), rng.choice(WAGES))
        for _ in range(rng.randint(0, 20))
    ]
    if values_per_person == "one":
        homes = rng.sample(HOMES, rng.randint(2, 6))
        frame["home"] = [rng.choice(homes) for _ in range(len(frame))]
    jobs = ps.Tree({job: [parent, "*"] for job, parent in PARENTS.items()})
    ill = ps.Tree({ill: [kind, "*"] for ill, kind in ILLS.items()})
    more = {} if values_per_person == "one" else {"identifier": "id", "values_per_person": values_per_person}
    return ps.Table(
        frame,
        {"age": ps.Intervals(10), "job": jobs},
        ["illness", "wage"] if several else "illness",
        sensitive_hierarchy=None if several else ill,
        # the columns of a population may be in another order
        population=pd.concat([pd.DataFrame(others, columns=whole.columns, dtype=object), whole])[
            ["wage", "job", "illness", "age"]
        ],
        household="home" if values_per_person == "one" else None,
        **more,
    )


def about(table: ps.Table, kind: Kind) -> ps.Table:
    """The table with the sensitive column a requirement is about, and rows that say who lives together."""
    if kind.sensitive != "illness":
        return ps.Table(table.source, dict(table.hierarchies), kind.sensitive)
    if not kind.twins:
        return table
    # every household has one that looks like it, of which some have another value
    whole = table.source["home"].fillna("nobody") if kind.of_homes else table.source["home"]
    twins = table.source.assign(home=[home and f"{home}, too" for home in whole])
    frame = pd.concat([table.source.assign(home=whole), twins])
    if kind.of_homes:
        frame["illness"] = ["y" if home in OTHERS else "x" for home in frame["home"]]
    home = {"column": "home", "published": "number" if kind.tied else "no"}
    return ps.Table(frame, dict(table.hierarchies), "illness", household=home)


def by_definition(table: ps.Table, kind: Kind, criterion: Criterion, choice: tuple[int, ...]) -> Fraction:
    """The value of a requirement on a population or on households, counted person by person."""
    assert kind.measured is not None
    frame = table.source.drop_duplicates("id") if table.identifier else table.source

    def labels(people: pd.DataFrame) -> list[Labels]:
        ages = [(age, age and int(age) // 10, "*")[choice[0]] for age in people["age"]]
        jobs = [(job, job and PARENTS[job], "*")[choice[1]] for job in people["job"]]
        return list(zip(ages, jobs, strict=True))

    lived = list(zip(frame["home"], frame["illness"], strict=True)) if "home" in frame else []
    population = [] if table.population is None else labels(table.population)
    return kind.measured(criterion, labels(frame), population, lived)


def labels(seen: Any, gone: Sequence[int]) -> set[tuple[int, ...]]:
    """Groups by what they are published under."""
    columns = [seen.labels(position).tolist() for position, _ in enumerate(("age", "job"))]
    return {row for row, out in zip(zip(*columns, strict=True), seen.among(gone), strict=True) if out}


def alike(one: Verdict, other: Verdict) -> bool:
    if isinstance(one.value, float) or isinstance(other.value, float):
        assert one.value is not None and other.value is not None
        return one.safe == other.safe and float(one.value) == pytest.approx(float(other.value), abs=1e-9)
    return (one.safe, one.value, one.limit, one.relation) == (
        other.safe,
        other.value,
        other.limit,
        other.relation,
    )


class Both:
    """One base, counted by statements and in memory."""

    def __init__(self, base: Base) -> None:
        self.base = base
        self.rollup = Rollup(base, with_sensitive=True)
        self.arrays = InMemory(base, with_sensitive=True)

    def compared(self, choice: tuple[int, ...], criterion: Criterion) -> Verdict:
        """The verdict both give, after looking that they give the same, also on which groups fail."""
        arrays = criterion.on_arrays
        assert arrays and arrays.fits(self.base)
        grouping, groups = self.rollup.grouping(choice), self.arrays.groups(choice)
        told, found = decided(grouping, criterion), arrays.decide(groups)
        assert alike(found, told), (choice, str(criterion), found, told)
        seen, held = GroupsInSql(grouping), in_memory.GroupsInMemory(self.arrays, groups)
        theirs = labels(seen, frozenset(failing(grouping, criterion)))
        mine = labels(held, held.failing([criterion]))
        assert mine == theirs, (choice, str(criterion))
        return told


def near(value: Any, kind: Kind) -> Iterator[Fraction]:
    """Limits at what is attained, just below and just above."""
    if value is None:
        return
    attained = Fraction(value)
    steps = [-1, 0, 1] if kind.whole else [-STEP, 0, STEP]
    yield from (x for x in (attained + step for step in steps) if kind.least <= x <= kind.most)


@pytest.mark.widens(6)
@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("values_per_person", ["one", "set", "multiset"])
def test_verdicts_values_and_failing_groups_are_those_of_the_template(
    name: str, values_per_person: str
) -> None:
    kind = KINDS[name]
    if values_per_person != "one" and not kind.several:
        return
    n_safe, n_not = 0, 0
    with engines.opened() as engine:
        for seed in SEEDS:
            table = about(people(seed, values_per_person), kind)
            both = Both(count(engine, table))
            every = list(both.rollup.lattice.choices())
            for choice in every if NIGHTLY else every[seed % 4 :: 4]:
                first = kind.make(max(kind.least, min(kind.most, Fraction(2)))).on(table)
                assert in_memory.fits(both.base, [first])
                for limit in near(both.compared(choice, first).value, kind):
                    asked = kind.make(limit).on(table)
                    verdict = both.compared(choice, asked)
                    n_safe, n_not = n_safe + verdict.safe, n_not + (not verdict.safe)
                    if kind.measured is not None:
                        assert verdict.value == by_definition(table, kind, asked, choice), (choice, asked)
    assert n_safe and n_not


REQUIRED: list[list[Criterion]] = [
    [ps.KAnonymity(2)],
    [ps.KAnonymity(3), ps.LDiversity(2)],
    [ps.KAnonymity(2), ps.LDiversity(2, kind="recursive", c=2)],
    [ps.LDiversity("2", kind="entropy")],
    [ps.LDiversity("3/2", kind="probabilistic")],
    [ps.AlphaKAnonymity("1/2", 2)],
    [ps.TCloseness("0.3"), ps.KAnonymity(2)],
    [ps.BetaLikeness("1"), ps.LDiversity(2)],
    [ps.BetaLikeness("2", "enhanced")],
    [ps.DeltaDisclosure("0.9")],
    [ps.CKSafety("0.8", 1)],
    [ps.PrivacySkyline([[1, 0, 1, "0.8"], [0, 1, 0, "0.7"]])],
    [ps.IntervalDisclosure("1/2", "3/4", "hierarchical")],
    [ps.ReidentificationRisk("0.3", "average")],
]
UTILITIES = [
    "loss",
    "discernibility",
    "kl",
    "query_error",
    "ambiguity",
    "classification",
    "average_group_size",
]


def same_search(base: Base, require: Sequence[Criterion], utility: str, allowed: Fraction) -> bool:
    """Whether any choice is safe, after looking that both ways of searching say the same of everything."""
    asked = tuple(criterion.on(base.table) for criterion in require)
    slow, fast = (LatticeSearch(base, asked, utility, allowed, in_memory=memory) for memory in (False, True))
    theirs, mine = slow.run("all"), fast.run("all")
    assert mine.minimal == theirs.minimal, (require, allowed)
    assert (mine.safe_choices, mine.complete, mine.optimal) == (
        theirs.safe_choices,
        theirs.complete,
        theirs.optimal,
    )
    if mine.best is None:
        assert theirs.best is None
        return False
    assert theirs.best is not None
    assert mine.cost == pytest.approx(theirs.cost)
    for search, other in ((slow, fast), (fast, slow)):  # each choice costs both ways what the other says
        search.complete([theirs.best, mine.best])
        assert other.pricing.cost(mine.best) == pytest.approx(mine.cost)
        assert search.shown(mine.best).n_suppressed == other.shown(mine.best).n_suppressed
        for choice in search.verdicts:
            other.complete([choice])
            for requirement, verdict in search.asked(choice).items():
                assert alike(verdict, other.asked(choice)[requirement]), (choice, requirement)
    one, two = result(slow, theirs).to_json(), result(fast, theirs).to_json()
    assert one["best"]["values"] == pytest.approx(two["best"]["values"])
    assert one["best"].get("suppressed") == two["best"].get("suppressed")
    assert [choice["levels"] for choice in one["minimal"]] == [choice["levels"] for choice in two["minimal"]]
    for choice, other_choice in zip(one["minimal"], two["minimal"], strict=True):
        assert choice["values"] == pytest.approx(other_choice["values"])
    return True


@pytest.mark.widens(6)
@pytest.mark.parametrize("values_per_person", ["one", "set", "multiset"])
@pytest.mark.parametrize("allowed", ["0", "1/5", "1/2"])
def test_a_search_in_memory_finds_what_a_search_by_statements_finds(
    values_per_person: str, allowed: str
) -> None:
    found = 0
    with engines.opened() as engine:
        for seed in range(300 if NIGHTLY else 2):
            rng = random.Random(f"{seed} {values_per_person} {allowed} {found}")
            table = people(rng.randrange(10**6), values_per_person)
            fit = [
                require
                for require in REQUIRED
                if values_per_person == "one"
                or not any(c.needs_one_value or c.on(table).needs_base for c in require)
            ]
            base = count(engine, table)
            if base.holds_rows and base.rows:
                found += same_search(base, rng.choice(fit), rng.choice(UTILITIES), Fraction(allowed))
    assert found


@pytest.mark.widens(4)
@pytest.mark.parametrize("values_per_person", ["set", "multiset"])
def test_the_skyline_of_people_with_several_values_is_searched_the_same_in_memory(
    values_per_person: str,
) -> None:
    found, require = 0, [ps.PrivacySkyline([[0, 0, 1, "0.99"], [0, 1, 0, "0.95"]]), ps.KAnonymity(2)]
    with engines.opened() as engine:
        for seed in range(100 if NIGHTLY else 2):
            rng = random.Random(f"{seed} {values_per_person} printed")
            base = count(engine, people(rng.randrange(10**6), values_per_person))
            for allowed in ("0", "1/2") if base.holds_rows and base.rows else ():
                found += same_search(base, require, "classification", Fraction(allowed))
    assert found


@pytest.mark.parametrize("allowed", ["0", "1/4"])
def test_a_search_for_several_sensitive_columns_is_the_same_in_memory(allowed: str) -> None:
    found = 0
    with engines.opened() as engine:
        for seed in SEEDS:
            rng = random.Random(f"{seed} several {allowed}")
            base = count(engine, people(rng.randrange(10**6), several=True), several=True)
            require = rng.choice(
                [
                    [ps.KAnonymity(2)],
                    [ps.LDiversity(2)],
                    [ps.AlphaKAnonymity("0.7", 2)],
                    [ps.KMap(3)],
                    [ps.DeltaPresence(0, "3/4")],
                    [ps.KLink(2)],
                ]
            )
            found += same_search(base, require, rng.choice(UTILITIES[:2]), Fraction(allowed))
    assert found


@pytest.mark.parametrize("seed", seeds(2))
def test_every_engine_gives_the_same_answers_as_arrays(engine: Any, seed: int) -> None:
    base = count(engine, people(seed + 5))
    for require in (REQUIRED[2], REQUIRED[6]):
        same_search(base, require, "discernibility", Fraction(1, 5))


class Stricter(ps.KAnonymity):
    """A requirement of somebody's own that judges otherwise than what it is made from."""

    def judge(self, evidence: Any) -> Verdict:
        return self.verdict(0, ps.Witness({}))


class Averaged(AverageGroupSize):
    """A utility of somebody's own, whose template is another's."""

    def value(self, rows: Any, published: Any) -> float:
        return 1.0


def test_what_is_changed_by_somebody_is_asked_of_its_own_template() -> None:
    assert ps.KAnonymity(2).on_arrays and not Stricter(2).on_arrays
    assert AverageGroupSize.on_arrays and not Averaged.on_arrays
    with engines.opened() as engine:
        base = count(engine, people(3))
        assert LatticeSearch(base, (ps.KAnonymity(2),)).in_memory
        search = LatticeSearch(base, (Stricter(2),))
        assert not search.in_memory and search.run("all").best is None


def test_an_interrupt_while_a_choice_is_counted_leaves_the_counts_as_they_were(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The search still describes what it found by then, from the same counts."""
    with engines.opened() as engine:
        rows = pd.DataFrame({"age": [str(n) for n in range(400)], "job": [str(n % 7) for n in range(400)]})
        ages = {"age": ps.Intervals(5, 50), "job": ps.KeepOrDrop()}
        base = count(engine, ps.Table(rows, ages))
        arrays, undisturbed = (InMemory(base, with_sensitive=False) for _ in range(2))
        choices = list(lattice_of(base).choices())
        joined = np.concatenate

        for choice in choices:
            for turn in range(5):  # at one step after the other
                calls = iter(range(turn))

                def interrupted(parts: Any, calls: Iterator[int] = calls) -> Any:
                    if next(calls, None) is None:
                        raise KeyboardInterrupt
                    return joined(parts)

                monkeypatch.setattr(np, "concatenate", interrupted)
                with contextlib.suppress(KeyboardInterrupt):
                    arrays.groups(choice)
                monkeypatch.setattr(np, "concatenate", joined)
            mine, theirs = arrays.groups(choice), undisturbed.groups(choice)
            assert (mine.key.tolist(), mine.people.tolist()) == (theirs.key.tolist(), theirs.people.tolist())


def test_larger_tables_and_wider_keys_are_counted_by_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    with engines.opened() as engine:
        base = count(engine, people(3))
        monkeypatch.setattr(in_memory, "MOST_COMBINATIONS", base.combinations - 1)
        assert not LatticeSearch(base, (ps.KAnonymity(2),)).in_memory
        monkeypatch.setattr(in_memory, "MOST_COMBINATIONS", base.combinations)
        assert LatticeSearch(base, (ps.KAnonymity(2),)).in_memory
        monkeypatch.setattr(in_memory, "MOST_BITS", 3)
        assert not LatticeSearch(base, (ps.KAnonymity(2),)).in_memory
