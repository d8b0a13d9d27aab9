"""Arrays, statements and the definitions give one answer: every requirement, however people are published.

Requirements and methods are those that are found, drawn as their own tests say. On random tables with NULLs
and look-alikes, of one value per person, sets and multisets, of one sensitive column and of two, with and
without suppression: the verdict, its value and the failing groups of every choice of levels, with limits at
what is attained, just below and just above; minimal choices, the best one and what it costs; boxes; and what
every method publishes. `tests/hunt.py` goes on drawing.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import privacy_sql as ps
from privacy_sql import registry
from privacy_sql.boxes import in_memory as boxes
from privacy_sql.boxes.partitioning import CutPlan
from privacy_sql.counted.base import Base, count
from privacy_sql.criteria import Criterion
from privacy_sql.criteria._on_arrays import OnArrays
from privacy_sql.errors import PrivacySqlError
from privacy_sql.judge import Requirements, decided
from privacy_sql.lattice import in_memory as lattice
from privacy_sql.lattice.rollup import Rollup
from privacy_sql.lattice.search import LatticeSearch
from tests import engines, parts
from tests.boxes.test_in_memory import both
from tests.conftest import NIGHTLY
from tests.lattice.test_in_memory import STEP, Both, same_search
from tests.oracles.lattice import minimal
from tests.oracles.verdicts import keeps
from tests.test_truth import CRITERIA, EXCUSES, METHODS, ODD, PERSON, PLAIN, known, label, table

DEEP = NIGHTLY or os.environ.get("HYPOTHESIS_PROFILE") == "hunt"
# the first example is the least one, a table of one person; the second is drawn
few = settings(deadline=None, max_examples=12 if DEEP else 2, suppress_health_check=list(HealthCheck))

# searches ask about one table; the definition of these is held against every world of few people
SLOW = {"privacy_skyline", "bt_privacy"}
UTILITIES = registry.available("utilities")


def with_limit(criterion: Criterion, limit: Fraction) -> Criterion | None:
    """The same requirement with another limit, where one of its parameters is the limit."""
    assert is_dataclass(criterion)
    for parameter in fields(criterion):
        for said in (str(limit), str(1 / limit) if limit else None, int(limit)):
            if said is None or isinstance(vars(criterion).get(parameter.name), bool | tuple):
                continue
            try:
                made: Criterion = replace(criterion, **{parameter.name: said})
                if made.limit == limit != criterion.limit:
                    return made
            except (PrivacySqlError, TypeError, ValueError, AttributeError):
                continue
    return None


def near(criterion: Criterion, value: Any) -> Iterator[Criterion]:
    """The requirement with limits at what is attained, just below and just above."""
    if value is None:
        return
    for step in (-1, -STEP, 0, STEP, 1):
        made = with_limit(criterion, Fraction(value) + step)
        if made is not None:
            yield made


def drawn(data: st.DataObject, criterion: str) -> tuple[list[Any], list[Any]]:
    """People, and others of the population."""
    person = PERSON if criterion in PLAIN else ODD
    people = data.draw(st.lists(person, min_size=1, max_size=4 if criterion in SLOW else 9), label="people")
    return people, [*people, *data.draw(st.lists(person, max_size=3), label="others")]


@pytest.mark.widens(6)
@pytest.mark.parametrize("criterion", sorted(CRITERIA))
@few
@given(data=st.data())
def test_every_choice_is_judged_alike_by_arrays_statements_and_definitions(
    criterion: str, data: st.DataObject
) -> None:
    people, population = drawn(data, criterion)
    asked = data.draw(CRITERIA[criterion], label="asked")
    whole = table(people, population)
    with engines.opened() as engine:
        base = count(engine, whole)
        compared = _Compared(base, people, population)
        choices = [(age, job) for age in range(3) for job in range(3)]
        for choice in choices if DEEP else data.draw(st.permutations(choices))[:2]:
            verdict = compared.verdict(choice, asked.on(whole))
            if verdict is None:
                return
            for other in near(asked, verdict.value):
                compared.verdict(choice, other.on(whole), exact=not isinstance(verdict.value, float))


class _Compared:
    """One table at its choices of levels, asked in three ways."""

    def __init__(self, base: Base, people: list[Any], population: list[Any]) -> None:
        self.base, self.people, self.population = base, people, population
        self.rollup = Rollup(base, with_sensitive=True)

    def verdict(self, choice: tuple[int, int], asked: Criterion, *, exact: bool = True) -> Any:
        """The verdict of all; None where the table is one that this cannot be asked of."""
        try:
            if asked.on_arrays and asked.on_arrays.fits(self.base):
                found = Both(self.base).compared(choice, asked)
            else:
                grouping = ps.Generalise(dict(zip(("age", "job"), choice, strict=True)))
                requirements = Requirements.of(self.base.table, [asked])
                found = decided(grouping.propose(self.base, requirements).grouping, asked)
        except PrivacySqlError:
            return None
        levels = dict(zip(("age", "job"), choice, strict=True))
        rows = [(label(age, job, levels), value or "") for age, job, value in self.people]
        if exact:  # a logarithm at its own limit is decided exactly, where the definition has a float
            facts = known(self.people, self.population, levels)
            assert found.safe == keeps(asked, rows, facts), (choice, str(asked), rows)
        return found


ON_ARRAYS = sorted(
    name
    for name in CRITERIA
    if issubclass(registry.get("criteria", name), OnArrays) and name != "composition"
)
AGES, JOBS, ILLS = [20, 21, 25, 31, None], ["a", "b", "c", None], ["1", "2", "10", None]


def several(data: st.DataObject, criterion: str, kind: str) -> ps.Table:
    """People with several values each, or with two sensitive columns."""
    ills = ILLS[:-1] if criterion in PLAIN else ILLS
    person = st.tuples(
        st.sampled_from(AGES),
        st.sampled_from(JOBS),
        st.lists(st.sampled_from(ills), min_size=1, max_size=1 if kind in ("one", "two") else 3),
        st.sampled_from(["5", "7"] if criterion in PLAIN else ["p", "q", None]),
    )
    people = data.draw(st.lists(person, min_size=2, max_size=14), label="people")
    rows = [
        (str(number), age, job, ill, pay)
        for number, (age, job, held, pay) in enumerate(people)
        for ill in (dict.fromkeys(held) if kind == "set" else held)
    ]
    frame = pd.DataFrame(rows, columns=["id", "age", "job", "illness", "pay"], dtype=object)
    more: dict[str, Any] = (
        {"identifier": "id", "values_per_person": kind} if kind in ("set", "multiset") else {}
    )
    tree = ps.Tree({job: ["x" if job in "ab" else "y", "*"] for job in "abc"})
    frame["age"] = frame["age"].astype("Int64")
    sensitive: Any = ["illness", "pay"] if kind == "two" else "illness"
    return ps.Table(
        frame.drop(columns=[] if more else ["id"]), {"age": ps.Intervals(10), "job": tree}, sensitive, **more
    )


@pytest.mark.widens(6)
@pytest.mark.parametrize("kind", ["one", "set", "multiset", "two"])
@pytest.mark.parametrize("criterion", ON_ARRAYS)
@few
@given(data=st.data())
def test_searches_and_boxes_are_the_same_in_arrays_and_by_statements(
    criterion: str, kind: str, data: st.DataObject
) -> None:
    if not DEEP and kind != "one" and data.draw(st.integers(0, 2)):
        return
    people = several(data, criterion, kind)
    asked = data.draw(CRITERIA[criterion], label="asked")
    allowed = Fraction(data.draw(st.sampled_from(["0", "1/5", "1/2"]), label="allowed"))
    utility = data.draw(st.sampled_from(UTILITIES), label="utility")
    split = data.draw(st.sampled_from(["median", "range", "information_gain"]), label="split")
    with engines.opened() as engine:
        try:
            asked.on(people)
            if kind in ("set", "multiset") and (asked.needs_one_value or asked.on(people).needs_base):
                return
            base = count(engine, people, several=True)
            assume(base.holds_rows and base.rows)
            if not all(lattice.fits(part, [asked.on(part.table)]) for part in (base, *base.sides)):
                return
            require = [asked] if utility != "average_group_size" else [asked, ps.KAnonymity(1)]
            same_search(base, require, utility, allowed)
            if kind != "two":
                both(base, require, CutPlan(split, None, data.draw(st.booleans(), label="relaxed")))
        except PrivacySqlError as problem:
            assert problem.code in {*EXCUSES, "no_hierarchy", "unfit_requirement", "not_a_number"}, problem


BESIDE = ["1", "2", None]  # what people earn


def pay(age: Any, plain: bool) -> str | None:
    return BESIDE[(age or 0) % (2 if plain else 3)]


def shown(people: list[Any], levels: dict[str, int], kind: str, plain: bool) -> list[list[tuple[Any, Any]]]:
    """Label and value of every row, for each sensitive column: whoever guesses one knows the other."""
    rows = [(label(age, job, levels), value or "", pay(age, plain) or "") for age, job, value in people]
    if kind == "one":
        return [[(place, value) for place, value, _ in rows]]
    return [
        [((place, wage), value) for place, value, wage in rows],
        [((place, value), wage) for place, value, wage in rows],
    ]


def with_columns(people: list[Any], population: list[Any], kind: str, plain: bool) -> ps.Table:
    """The people with one sensitive column or with two."""
    whole = table(people, population)
    if kind == "one":
        return whole
    frame = whole.source.assign(pay=pd.Series([pay(age, plain) for age, *_ in people], dtype=object))
    return ps.Table(
        frame.drop(columns="number"), dict(whole.hierarchies), ["illness", "pay"], population=whole.population
    )


@pytest.mark.widens(6)
@pytest.mark.parametrize("kind", ["one", "two"])
@pytest.mark.parametrize("criterion", sorted(CRITERIA))
@few
@given(data=st.data())
def test_a_search_on_every_engine_finds_what_the_definitions_find(
    engine: Any, criterion: str, kind: str, data: st.DataObject
) -> None:
    """Whatever is asked of whichever rows: the safe choices, the minimal ones, and that the best is safe."""
    if not DEEP and not engine.embedded and data.draw(st.integers(0, 3)):
        return
    people, population = drawn(data, criterion)
    asked = data.draw(CRITERIA[criterion], label="asked")
    allowed = Fraction(data.draw(st.sampled_from(["0", "1/5", "1/2"]), label="allowed"))
    whole = with_columns(people, population, kind, criterion in PLAIN)
    if kind == "two" and asked.needs_base:  # whose adversaries know more of a person than a label
        return
    try:
        base = count(engine, whole, several=True)
        ways = [
            LatticeSearch(base, (asked.on(whole),), "loss", Fraction(0), in_memory=memory)
            for memory in (None, False)
        ]
        found = [way.run("all") for way in ways]
    except PrivacySqlError as problem:
        refused = {"no_hierarchy", "unfit_requirement", "not_a_number", "several_sensitive"}
        # who knows the other sensitive column matches people with a population by it, too
        assert problem.code in {*EXCUSES, *refused, *(["unknown_column"] if kind == "two" else [])}, problem
        return
    safe = set()
    for choice in product(range(3), range(3)):
        levels = dict(zip(("age", "job"), choice, strict=True))
        facts = known(people, population, levels)
        if all(keeps(asked, rows, facts) for rows in shown(people, levels, kind, criterion in PLAIN)):
            safe.add(choice if kind == "one" else (*choice, 0))
    for told in found:
        assert set(told.minimal) == minimal(safe), (str(asked), kind)
        assert told.best in safe if safe else told.best is None
        assert told.safe_choices == len(safe) or not told.complete
    if ways[0].in_memory and allowed:
        same_search(base, [asked], data.draw(st.sampled_from(UTILITIES), label="utility"), allowed)


@contextmanager
def statements_only() -> Iterator[None]:
    """Nothing is counted in arrays."""
    with pytest.MonkeyPatch.context() as patched:
        for module in (lattice, boxes):
            patched.setattr(module, "MOST_COMBINATIONS", -1)
        yield


def published(engine: Any, people: ps.Table, asked: Criterion, way: Any) -> Any:
    """What a method publishes, in words that do not depend on how it was counted."""
    try:
        release = ps.publish(engine, people, [asked], way)
        rows = Counter(tuple(map(str, row.values())) for row in release.to_arrow().to_pylist())
    except PrivacySqlError as problem:
        return problem.code
    verdicts = [
        (v.safe, round(v.value, 9) if isinstance(v.value, float) else v.value, v.limit, v.relation)
        for v in release.verdicts.values()
    ]
    return verdicts, rows, release.suppressed, release.proposal.choice


@pytest.mark.parametrize("method", sorted(METHODS))
@few
@given(data=st.data())
def test_every_method_publishes_the_same_counted_in_arrays_and_by_statements(
    engine: Any, method: str, data: st.DataObject
) -> None:
    free = [name for name in ON_ARRAYS if (method, name) not in parts_refused()]
    criterion = data.draw(st.sampled_from(free), label="criterion")
    people, population = drawn(data, criterion if method != "microaggregate" else "t_closeness")
    asked, way = data.draw(CRITERIA[criterion], label="asked"), data.draw(METHODS[method], label="method")
    if "seed" in {parameter.name for parameter in fields(way)}:
        way = replace(way, seed=1)
    whole = table(people, population)
    fast = published(engine, whole, asked, way)
    with statements_only():
        slow = published(engine, whole, asked, way)
    assert fast == slow


def parts_refused() -> set[tuple[str, str]]:
    return {(method, asked) for method, (several, _) in parts.written_down().items() for asked in several}
