"""Priors and posteriors on tables: SQL and memory agree with each other and with the definition."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import privacy_sql as ps
from privacy_sql.beliefs import beliefs, prior_chain, studied_table
from privacy_sql.beliefs.group_posteriors import estimated, exact
from privacy_sql.counted.base import count
from privacy_sql.counted.grouping import Grouping
from privacy_sql.kernels.beliefs.move import exact_posteriors
from privacy_sql.kernels.beliefs.posterior import swept
from privacy_sql.studies.background_knowledge import Beliefs
from tests import engines
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
    with engines.opened() as made:
        yield made


def table(people: Any, **more: Any) -> ps.Table:
    frame = pd.DataFrame(people, columns=["age", "job", "sex", "ill"])
    return ps.Table(frame, {"age": ps.AsIs(), "job": JOBS, "sex": ps.KeepOrDrop()}, "ill", **more)


@settings(max_examples=30, deadline=None)
@given(rows, st.tuples(bandwidth, bandwidth, bandwidth))
@example([(20, "cook", "m", "flu"), (30, "cook", "f", "cold"), (40, "nurse", "m", "flu")], ("inf",) * 3)
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
    for kind, fractions, sql in zip(dense.kinds, dense, chain, strict=True):
        target = (ages.index(kind[0]), JOB.index(kind[1]), "mf".index(kind[2]))
        expect = oracle.prior(who, what, 3, apart, numbers, target)
        assert [fractions.get(ill, 0) for ill in ILL] == expect
        assert all(isinstance(share, Fraction) for share in fractions)
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


@pytest.mark.everywhere
@pytest.mark.parametrize("given_", ["0.3", "1.25", ["inf", "0.3", "1.25"]])
def test_the_chain_in_blocks_agrees_with_the_dense_prior_to_twelve_digits(
    engine: Any, monkeypatch: Any, given_: Any
) -> None:
    monkeypatch.setattr(prior_chain, "CHAIN_ROWS", 500)
    study = studied_table.studied(count(engine, table(people_of(2000))))
    assert not study.exact
    dense, chain = (beliefs.prior(study, given_, path=path).beliefs for path in ("dense", "chain"))
    assert np.abs(dense - chain).max() < 1e-12


def test_the_choice_of_path_is_automatic_and_said(shared: Any, monkeypatch: Any) -> None:
    asked = table(people_of(50))
    assert ps.prior(shared, asked, "1.25").path == "dense"
    monkeypatch.setattr(beliefs, "MEMORY_BUDGET", 10)
    assert ps.prior(shared, asked, "1.25").path == "chain"


def wide(people: int = 400) -> ps.Table:
    """Ages of which many differ, and some are missing."""
    return table([(None if age % 11 == 0 else age, *rest) for age, *rest in people_of(people)])


@pytest.mark.parametrize("given_", ["0", "0.05", "1.5", "inf"])
def test_a_wide_numeric_column_by_running_sums_equals_the_pairs(
    shared: Any, monkeypatch: Any, given_: Any
) -> None:
    bs = [given_, "0", "inf"]
    pairs = beliefs.prior(studied_table.studied(count(shared, wide())), bs)
    monkeypatch.setattr("privacy_sql.beliefs.resemblance.WIDE", 5)
    for path, said in (("auto", "running sums"), ("chain", "chain of running sums")):
        sums = beliefs.prior(studied_table.studied(count(shared, wide())), bs, path=path)
        if given_ != "inf":  # everybody is alike there, and nothing is left to sum
            assert (pairs.path, sums.path) == ("dense", said)
        assert np.abs(pairs.beliefs.astype(float) - sums.beliefs.astype(float)).max() < 1e-12


@pytest.mark.parametrize("given_", [["0.3", "0.75", "1.25"], ["1.5", "1.25", "0"], ["0", "1.25", "inf"]])
def test_a_wide_column_beside_others_that_resemble_each_other_goes_through_sql(
    engine: Any, monkeypatch: Any, given_: Any
) -> None:
    pairs = beliefs.prior(studied_table.studied(count(engine, wide())), given_, path="dense")
    monkeypatch.setattr("privacy_sql.beliefs.resemblance.WIDE", 5)
    monkeypatch.setattr(prior_chain, "CHAIN_ROWS", 5_000)
    sums = beliefs.prior(studied_table.studied(count(engine, wide())), given_)
    assert sums.path == "chain of running sums"
    assert np.abs(pairs.beliefs - sums.beliefs).max() < 1e-12


def test_running_sums_of_numbers_with_sixteen_digits_lose_nothing(engine: Any, monkeypatch: Any) -> None:
    start = 10**15
    rows = [(start + age * age, *rest) for age, *rest in people_of(60)]
    exact = ps.prior(engine, table(rows), ["0.2", "0", "inf"])
    monkeypatch.setattr("privacy_sql.beliefs.resemblance.WIDE", 5)
    sums = ps.prior(engine, table(rows), ["0.2", "0", "inf"], path="chain")
    for expect, found in zip(exact, sums, strict=True):
        assert list(found) == pytest.approx([float(x) for x in expect], abs=1e-12)


def test_what_is_too_wide_for_running_sums_is_refused_in_words(shared: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("privacy_sql.beliefs.resemblance.WIDE", 5)
    with pytest.raises(ps.PrivacySqlError, match="with the uniform kernel"):
        ps.prior(shared, wide(), "0.5", kernel="uniform")
    with pytest.raises(ps.PrivacySqlError, match="too wide for memory"):
        ps.prior(shared, wide(), "1.5", path="dense")
    frame = pd.DataFrame({"a": range(9), "b": range(9), "ill": ILL * 3})
    with pytest.raises(ps.PrivacySqlError, match="beside b"):
        ps.prior(shared, ps.Table(frame, ["a", "b"], "ill"), "0.5")
    huge = table([(10**18 + age, *rest) for age, *rest in people_of(60)] + [(0, "cook", "m", "flu")])
    with pytest.raises(ps.PrivacySqlError, match="too large to sum"):
        ps.prior(shared, huge, "0.5", path="chain")


def test_a_target_nobody_resembles_has_no_prior(shared: Any) -> None:
    found = ps.prior(shared, table(people_of(5)), "0", targets=[[1000, "cook", "m"]])
    assert list(found) == [None] and found.kinds == ((1000, "cook", "m"),)


@pytest.mark.parametrize("sweeps", [1, 5, 12])
def test_the_estimates_of_all_groups_at_once_equal_those_in_memory(shared: Any, sweeps: int) -> None:
    base = count(shared, table(people_of(300)))
    study = studied_table.studied(base)
    prior = beliefs.prior(study, "0.3").beliefs.astype(float)
    groups = beliefs.published(Grouping.by(base, base.keys({"job": 2, "age": 0})), study)
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
    found = ps.posterior(shared, asked, bandwidth="3/4") + ps.posterior(
        shared, asked, bandwidth="3/4", path="sql"
    )
    groups = sorted(frame["sex"].unique())
    for number, sex in enumerate(groups, start=1):
        inside = frame[frame["sex"] == sex]
        counts = [int((inside["ill"] == ill).sum()) for ill in ILL]
        priors = [
            [before[age, job].get(ill, 0) for ill in ILL]
            for age, job in zip(inside["age"], inside["job"], strict=True)
        ]
        after = oracle.posterior([[Fraction(x) for x in row] for row in priors], counts)
        for path in ("memory", "sql"):
            by_kind = {e.kind: e for e in found if (e.group, e.path) == (number, path)}
            assert sum(entry.people for entry in by_kind.values()) == len(inside)
            for kind, expect in zip(zip(inside["age"], inside["job"], strict=True), after, strict=True):
                entry = by_kind[kind]
                assert entry.known == "exact"
                assert [entry.posterior.get(ill, 0) for ill in ILL] == pytest.approx(
                    [float(x) for x in expect], abs=1e-9
                )


@pytest.mark.everywhere
def test_exact_posteriors_in_sql_equal_those_in_memory_to_twelve_digits(engine: Any) -> None:
    base = count(engine, table(people_of(300)))
    study = studied_table.studied(base)
    prior = beliefs.prior(study, "0.3").beliefs.astype(float)
    groups = beliefs.published(Grouping.by(base, base.keys({"job": 2, "age": 0})), study)
    sql, known = exact(study, groups, prior)
    memory, also = exact_posteriors(prior, groups.group, groups.kind, groups.people, groups.counts)
    assert set(known) == set(also) == {"exact"} and len(known) > 100
    assert np.abs(sql - memory).max() < 1e-12


def test_a_group_above_the_cap_of_sql_is_undecided_and_has_no_posterior(engine: Any) -> None:
    base = count(engine, table(people_of(300)))
    study = studied_table.studied(base)
    prior = beliefs.prior(study, "0.3").beliefs.astype(float)
    groups = beliefs.published(Grouping.by(base, base.keys({"job": 2, "sex": 0, "age": 0})), study)
    states = np.prod(groups.counts + 1, axis=1)
    after, known = exact(study, groups, prior, cap=int(np.median(states)))
    assert [how == "exact" for how in known] == (states <= np.median(states)).tolist()
    assert (np.isnan(after).any(axis=1) == (states > np.median(states))[groups.group]).all()


def test_a_release_that_cannot_have_happened_has_no_posterior_in_sql_either(shared: Any) -> None:
    prior = np.array([[1.0, 0.0], [1.0, 0.0], [0.5, 0.5]])
    base = count(shared, table(people_of(3)))
    group, kind = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 2])
    groups = beliefs.PublishedGroups(
        np.arange(2), group, kind, np.ones(4, dtype=int), np.array([[1, 1], [1, 1]])
    )
    after, known = exact(studied_table.studied(base), groups, prior)
    assert known == ("impossible", "exact")
    assert np.isnan(after[:2]).all() and after[2:].tolist() == [[1, 0], [0, 1]]


def test_no_group_small_enough_for_sql_leaves_all_undecided(shared: Any) -> None:
    found = ps.posterior(shared, table(people_of(3)), bandwidth="0.3", path="sql")
    assert {entry.known for entry in found} == {"exact"}
    frame = pd.DataFrame({"age": [20, 30] * 150, "ill": ILL * 100, "g": [1] * 300})
    (first, *_) = ps.posterior(
        shared, ps.Table(frame, ["age"], "ill", group="g"), bandwidth="0.3", path="sql"
    )
    assert (first.known, first.posterior, first.path) == ("undecided", None, "sql")


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
        (lambda: ps.belief_distance([2], [2]), "sum to 1"),
        (lambda: ps.belief_distance([], []), "one probability"),
        (lambda: ps.belief_distance([1], [1], measure="smoothed_js"), "hierarchy or a matrix"),
        (lambda: ps.smooth([1, 0], [[0, 1], [1, 0]], "inf"), "infinite"),
        (lambda: ps.kernel_weight(1, -1), "0 or more"),
        (lambda: ps.posterior(prior=[[1]], counts=[2]), "sum to"),
        (lambda: ps.posterior(None, None, method="omega", path="memory"), "memory .for exact posteriors."),
    ],
)
def test_questions_that_make_no_sense_are_refused_in_words(call: Any, words: str) -> None:
    with pytest.raises(ps.PrivacySqlError, match=words):
        call()
