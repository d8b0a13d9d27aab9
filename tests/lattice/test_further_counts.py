"""A search for a population or for households: in memory as by statements, counted once, refused alike."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.counted.base import count
from privacy_sql.criteria import Criterion
from privacy_sql.errors import PrivacySqlError
from privacy_sql.lattice.search import LatticeSearch
from privacy_sql.query import statements
from tests import engines
from tests.lattice.test_in_memory import NIGHTLY, PARENTS, UTILITIES, people, same_search

OF_COUNTS: list[list[Criterion]] = [
    [ps.KMap(5), ps.KAnonymity(2)],
    [ps.DeltaPresence("0", "3/4")],
    [ps.DeltaPresence("1/3", "0.9"), ps.KLink(2)],
    [ps.HouseholdKAnonymity(2)],
    [ps.HouseholdKAnonymity(2, "share"), ps.LDiversity(2)],
]


@pytest.mark.widens(4)
@pytest.mark.parametrize("require", OF_COUNTS, ids=lambda require: " ".join(map(str, require)))
@pytest.mark.parametrize("allowed", ["0", "1/5", "1/2"])
def test_a_search_for_a_population_or_households_is_the_same_in_memory(
    require: list[Criterion], allowed: str
) -> None:
    found = 0
    with engines.opened() as engine:
        for seed in range(100 if NIGHTLY else 2):
            rng = random.Random(f"{seed} {require} {allowed}")
            several = rng.choice(["one", "set", "multiset"])
            if any(criterion.needs_one_value for criterion in require):
                several = "one"
            table = people(rng.randrange(10**6), several)
            if several != "one":
                require = [criterion for criterion in require if not criterion.reads_sensitive]
            base = count(engine, table)
            if base.holds_rows and base.rows:
                assert LatticeSearch(base, tuple(require)).in_memory
                found += same_search(base, require, rng.choice(UTILITIES), Fraction(allowed))
    assert found or not NIGHTLY


def asked_both_ways(table: ps.Table, require: Sequence[Criterion], allowed: str) -> list[Any]:
    """What a search says, as it chooses to count and by statements: what is minimal, or why it is refused."""
    told: list[Any] = []
    for memory in (None, False):
        with engines.opened() as engine:
            try:
                base = count(engine, table)
                search = LatticeSearch(base, tuple(require), "loss", Fraction(allowed), in_memory=memory)
                found = search.run("all")
                told.append((found.minimal, found.best))
            except PrivacySqlError as problem:
                told.append((problem.code, str(problem)))
    return told


@pytest.mark.parametrize("require", [ps.KMap(2), ps.DeltaPresence(0, "1/2")], ids=str)
@pytest.mark.parametrize("allowed", ["0", "1/2"])
@pytest.mark.parametrize(
    ("population", "code"),
    [
        ([("20", "a"), ("21", "b"), ("44", "d")], "not_in_population"),  # somebody is missing
        ([], "not_in_population"),
        ([("20", "a"), ("21", "b"), ("31", "c"), ("44", "d"), ("21", "z")], "unmapped_value"),
        ([("20", "a"), ("21", "b"), ("31", "c"), ("44", "d"), (None, None)], None),
        (None, "unknown_column"),
    ],
    ids=["lacking", "empty", "uncovered", "missing values", "no column"],
)
def test_what_is_wrong_with_a_population_is_said_alike_in_memory_and_by_statements(
    require: Criterion, allowed: str, population: Any, code: str | None
) -> None:
    rows = pd.DataFrame([("20", "a"), ("21", "b"), ("31", "c"), ("44", "d")], columns=["age", "job"])
    everybody = pd.DataFrame(population or [], columns=["age", "job"], dtype=object)
    jobs = ps.Tree({job: [parent, "*"] for job, parent in PARENTS.items()})
    table = ps.Table(
        rows,
        {"age": ps.Intervals(10), "job": jobs},
        population=everybody[["age"]] if population is None else everybody,
    )
    fast, slow = asked_both_ways(table, [require], allowed)
    assert fast == slow
    assert fast[0] == code if code else isinstance(fast[0], tuple)
    assert "z" not in str(fast[-1]).split()


@pytest.mark.parametrize("k", range(1, 9))
def test_a_population_that_lacks_somebody_is_refused_whichever_choices_are_asked_about(k: int) -> None:
    """At the level of the whole table it has enough people for every k up to seven."""
    towns = ps.Tree({"x": ["g", "h", "*"], "y": ["g", "h", "*"], "z": ["i", "h", "*"]})
    jobs = ps.Tree({"p": ["m", "n", "*"], "q": ["m", "n", "*"], "r": ["o", "n", "*"]})
    rows = pd.DataFrame({"town": ["x", "y", "z"], "job": ["p", "q", "r"]})
    others = pd.DataFrame({"town": ["y"] * 5 + ["z"] * 2, "job": ["p"] * 5 + ["r"] * 2})  # nobody (x, p)
    table = ps.Table(rows, {"town": towns, "job": jobs}, population=others)
    assert {code for code, _ in asked_both_ways(table, [ps.KMap(k)], "0")} == {"not_in_population"}


def test_levels_that_are_not_published_need_no_label_of_the_population() -> None:
    """A value without a label matters only where its column is generalised, in memory too."""
    rows = pd.DataFrame({"job": ["a", "b"]})
    everybody = pd.DataFrame({"job": ["a", "a", "b", "b", "z"]})
    jobs = ps.Tree({job: [parent, "*"] for job, parent in PARENTS.items()})
    table = ps.Table(rows, {"job": jobs}, population=everybody)
    with engines.opened() as engine:
        method = ps.FullDomain(bounds={"job": {"max_level": 0}})
        assert ps.publish(engine, table, [ps.KMap(2)], method).safe
        with pytest.raises(PrivacySqlError, match="does not cover 1 value"):
            ps.publish(engine, table, [ps.KMap(3)], ps.FullDomain())


@pytest.mark.parametrize("require", OF_COUNTS, ids=lambda require: " ".join(map(str, require)))
def test_a_population_and_households_are_counted_once_whatever_is_asked_of_the_choices(
    require: list[Criterion],
) -> None:
    """As many statements for a lattice of fifteen choices as for one of six."""
    table = people(8)
    n_told = []
    for bands in ((10,), (2, 4, 20, 40)):
        wider = ps.Table(
            table.source,
            {**table.hierarchies, "age": ps.Intervals(*bands)},
            "illness",
            population=table.population,
            household="home",
        )
        with engines.opened() as engine, statements.listening([]) as heard:
            base = count(engine, wider)
            search = LatticeSearch(base, tuple(require), "loss", Fraction(1, 5))
            assert search.run("all").best is not None
            n_told.append(len(heard))
    assert n_told[0] == n_told[1]
