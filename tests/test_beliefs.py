"""Priors and posteriors on tables: SQL and memory agree with each other and with the definition."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import privacy_sql as ps
from privacy_sql import beliefs
from privacy_sql.base import count
from privacy_sql.kernels.posterior import swept
from privacy_sql.studies.background_knowledge import Beliefs, estimated
from tests.oracles import background_knowledge as oracle

JOBS = ps.Tree({"cook": ["food", "*"], "baker": ["food", "*"], "nurse": ["care", "*"]})
JOB, ILL, AGES = ["cook", "baker", "nurse"], ["flu", "cold", "burn"], [20, 25, 30, 40]
rows = st.lists(
    st.tuples(st.sampled_from(AGES), st.sampled_from(JOB), st.sampled_from("mf"), st.sampled_from(ILL)),
    min_size=1,
    max_size=12,
)
bandwidth = st.sampled_from(["0", "3/10", "3/4", "1", "5/4", "inf"])


@pytest.fixture(scope="module")
def shared() -> Iterator[Any]:
    with ps.connect() as made:
        yield made


def table(people: Any, **more: Any) -> ps.Table:
    frame = pd.DataFrame(people, columns=["age", "job", "sex", "ill"])
    return ps.Table(frame, {"age": ps.AsIs(), "job": JOBS, "sex": ps.KeepOrDrop()}, "ill", **more)


@settings(max_examples=30, deadline=None)
@given(rows, st.tuples(bandwidth, bandwidth, bandwidth))
def test_the_sql_chain_and_the_dense_prior_equal_the_definition(
    shared: Any, people: Any, given_: Any
) -> None:
    ages = sorted({row[0] for row in people})
    span = (max(ages) - min(ages)) or 1
    apart = [
        [[Fraction(abs(a - b), span) for b in ages] for a in ages],
        [[JOBS.distance(a, b) for b in JOB] for a in JOB],
        [[Fraction(a != b) for b in "mf"] for a in "mf"],
    ]
    who = [(ages.index(row[0]), JOB.index(row[1]), "mf".index(row[2])) for row in people]
    what = [ILL.index(row[3]) for row in people]
    numbers = [math.inf if b == "inf" else Fraction(b) for b in given_]
    dense = ps.prior(shared, table(people), list(given_), path="dense")
    chain = ps.prior(shared, table(people), list(given_), path="chain")
    assert (dense.path, chain.path) == ("dense", "chain")
    for kind, exact, sql in zip(dense.kinds, dense, chain, strict=True):
        target = (ages.index(kind[0]), JOB.index(kind[1]), "mf".index(kind[2]))
        expect = oracle.prior(who, what, 3, apart, numbers, target)
        assert [exact.get(ill, 0) for ill in ILL] == expect
        assert [sql.get(ill, 0) for ill in ILL] == pytest.approx([float(x) for x in expect], abs=1e-12)


def people_of(n: int, seed: int = 3) -> list[Any]:
    random = np.random.default_rng(seed)
    return [
        (
            int(random.integers(17, 90)),
            JOB[random.integers(3)],
            "mf"[random.integers(2)],
            ILL[random.integers(3)],
        )
        for _ in range(n)
    ]


@pytest.mark.parametrize("given_", ["0.3", "1.25", ["inf", "0.3", "1.25"]])
def test_the_chain_in_blocks_agrees_with_the_dense_prior_to_twelve_digits(
    shared: Any, monkeypatch: Any, given_: Any
) -> None:
    monkeypatch.setattr(beliefs, "CHAIN_ROWS", 500)
    study = beliefs.studied(count(shared, table(people_of(2000))))
    assert not study.exact
    dense, chain = (beliefs.prior(study, given_, path=path).beliefs for path in ("dense", "chain"))
    assert np.abs(dense - chain).max() < 1e-12


def test_the_choice_of_path_is_automatic_and_said(shared: Any, monkeypatch: Any) -> None:
    asked = table(people_of(50))
    assert ps.prior(shared, asked, "1.25").path == "dense"
    monkeypatch.setattr(beliefs, "MEMORY_BUDGET", 10)
    assert ps.prior(shared, asked, "1.25").path == "chain"


@pytest.mark.parametrize("given_", ["0", "0.05", "1.5", "inf"])
def test_a_wide_numeric_column_by_running_sums_equals_the_pairs(
    shared: Any, monkeypatch: Any, given_: Any
) -> None:
    people = [(None if age % 11 == 0 else age, *rest) for age, *rest in people_of(400)]
    asked, bs = table(people), [given_, "0", "inf"]
    pairs = beliefs.prior(beliefs.studied(count(shared, asked)), bs)
    monkeypatch.setattr("privacy_sql.resemblance.WIDE", 5)
    sums = beliefs.prior(beliefs.studied(count(shared, asked)), bs)
    assert (pairs.path, sums.path) == ("dense", "running sums")
    assert np.abs(pairs.beliefs.astype(float) - sums.beliefs).max() < 1e-12
    with pytest.raises(ps.PrivacySqlError, match="Bin it first"):
        ps.prior(shared, asked, "1.5")


def test_a_target_nobody_resembles_has_no_prior(shared: Any) -> None:
    found = ps.prior(shared, table(people_of(5)), "0", targets=[[1000, "cook", "m"]])
    assert list(found) == [None] and found.kinds == ((1000, "cook", "m"),)


@pytest.mark.parametrize("sweeps", [1, 5])
def test_the_estimates_of_all_groups_in_one_statement_equal_those_in_memory(shared: Any, sweeps: int) -> None:
    base = count(shared, table(people_of(300)))
    study = beliefs.studied(base)
    prior = beliefs.prior(study, "0.3").beliefs.astype(float)
    groups = beliefs.published(base.grouped(base.keys({"job": 2, "age": 0})), study)
    before = prior[groups.kind]
    expect = swept(before, groups.group, groups.people, groups.counts, sweeps)
    found = estimated(study, groups, prior, sweeps)
    assert found["sinkhorn"] == pytest.approx(expect.values, abs=1e-12)
    once = swept(before, groups.group, groups.people, groups.counts, 1)
    assert found["omega"] == pytest.approx(once.values, abs=1e-12)


@settings(max_examples=15, deadline=None)
@given(rows)
def test_posteriors_of_a_table_equal_brute_force_and_add_up_to_what_is_published(
    shared: Any, people: Any
) -> None:
    frame = pd.DataFrame(people, columns=["age", "job", "sex", "ill"]).head(6)
    asked = ps.Table(frame, {"age": ps.AsIs(), "job": JOBS}, "ill", group="sex")
    priors_found = ps.prior(shared, asked, "3/4")
    before = dict(zip(priors_found.kinds, priors_found, strict=True))
    found = ps.posterior(shared, asked, bandwidth="3/4")
    groups = sorted(frame["sex"].unique())
    for number, sex in enumerate(groups, start=1):
        inside = frame[frame["sex"] == sex]
        counts = [int((inside["ill"] == ill).sum()) for ill in ILL]
        priors = [
            [before[age, job].get(ill, 0) for ill in ILL]
            for age, job in zip(inside["age"], inside["job"], strict=True)
        ]
        after = oracle.posterior([[Fraction(x) for x in row] for row in priors], counts)
        by_kind = {entry.kind: entry for entry in found if entry.group == number}
        assert sum(entry.people for entry in by_kind.values()) == len(inside)
        for kind, expect in zip(zip(inside["age"], inside["job"], strict=True), after, strict=True):
            entry = by_kind[kind]
            assert [entry.posterior.get(ill, 0) for ill in ILL] == pytest.approx(
                [float(x) for x in expect], abs=1e-9
            )


def test_a_declared_domain_gives_beliefs_their_order_and_a_zero_where_nobody_has_the_value(
    shared: Any,
) -> None:
    domain = ["gout", *ILL]
    found = ps.prior(shared, table([(20, "cook", "m", "cold")], domains={"ill": domain}), "1")
    assert found[0].keys() == domain and list(found[0]) == [0, 0, 1, 0]


def test_beliefs_do_not_print_the_values_they_are_about() -> None:
    assert "flu" not in repr(Beliefs({"flu": 1.0}))


def test_named_beliefs_are_compared_value_by_value() -> None:
    assert ps.belief_distance({"a": "1/2", "b": "1/2"}, {"b": "1/2", "a": "1/2"}) == 0
    tree = ps.Tree({"a": ["x", "*"], "b": ["x", "*"], "c": ["y", "*"]})
    near = ps.belief_distance({"a": 1}, {"b": 1, "c": 0}, hierarchy=tree)
    far = ps.belief_distance({"a": 1, "b": 0}, {"c": 1}, hierarchy=tree)
    assert near < far
    assert ps.belief_distance({"a": 1}, {"c": 1}, measure="emd", hierarchy=tree) == 1


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ps.belief_distance([1], [1], measure="cosine"), "js, smoothed_js"),
        (lambda: ps.belief_distance([1], [1, 0]), "one probability"),
        (lambda: ps.belief_distance([2], [2]), "sums to 1"),
        (lambda: ps.belief_distance([1], [1], measure="smoothed_js"), "hierarchy or a matrix"),
        (lambda: ps.smooth([1, 0], [[0, 1], [1, 0]], "inf"), "infinite"),
        (lambda: ps.kernel_weight(1, -1), "0 or more"),
        (lambda: ps.posterior(prior=[[1]], counts=[2]), "sum to"),
    ],
)
def test_questions_that_make_no_sense_are_refused_in_words(call: Any, words: str) -> None:
    with pytest.raises(ps.PrivacySqlError, match=words):
        call()
