"""Maxent ℓ-diversity in SQL, against the fit on the leaves, exact at ties, walked where joins are large."""

from __future__ import annotations

from fractions import Fraction
from math import exp, log
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import privacy_sql as ps
from privacy_sql.errors import PrivacySqlError
from privacy_sql.kernels.marginals.junction_tree import is_decomposable, maximal_sets
from privacy_sql.marginals import tables
from tests.marginal_cases import Small, on_engine, small_collections
from tests.oracles import marginals as oracle

few = settings(deadline=None, max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])


def verdict(engine: Any, small: Small, **params: Any) -> ps.Verdict:
    return next(iter(ps.check(engine, on_engine(engine, small), [ps.MaxentLDiversity(**params)]).values()))


def groups(small: Small, sweeps: int = 3) -> list[list[float]]:
    """Expected counts per nonsensitive leaf cell, from the fit."""
    kept = maximal_sets(small.collection)
    fitted = oracle.fit(small.node, small.sizes, small.table, kept, sweeps)
    found: dict[Any, list[float]] = {}
    for leaf, count in fitted.items():
        if count > 1e-12:
            found.setdefault(leaf[:-1], []).append(count)
    return list(found.values())


@few
@given(small_collections(most_rows=10), st.integers(1, 3))
def test_the_critical_c_is_that_of_the_fitted_leaves(engine: Any, small: Small, ell: int) -> None:
    assume(is_decomposable(maximal_sets(small.collection)))
    tails = [(max(g), sum(sorted(g, reverse=True)[ell - 1 :])) for g in groups(small)]
    found = verdict(engine, small, l=ell, c=2)
    if any(tail < 1e-12 for _, tail in tails):
        assert found.value is None and not found.safe
    else:
        assert float(found.value) == pytest.approx(max(head / tail for head, tail in tails), abs=1e-9)


@few
@given(small_collections(most_rows=10))
def test_entropy_and_distinct_values_are_those_of_the_fitted_leaves(engine: Any, small: Small) -> None:
    assume(is_decomposable(maximal_sets(small.collection)))
    entropies = [exp(-sum(n / sum(g) * log(n / sum(g)) for n in g)) for g in groups(small)]
    assert float(verdict(engine, small, l=2, kind="entropy").value) == pytest.approx(min(entropies), abs=1e-9)
    assert verdict(engine, small, l=2, kind="distinct").value == min(map(len, groups(small)))


@few
@given(small_collections(most_rows=10), st.sampled_from(["0", "1/10", "1/3", "1/2", "0.9"]))
def test_the_relaxed_kind_counts_what_the_paper_promises_of_the_fitted_leaves(
    engine: Any, small: Small, epsilon: str
) -> None:
    """Values at least (1 - epsilon)^p times as likely as the likeliest, for p marginals with the column."""
    kept = maximal_sets(small.collection)
    holding = sum(bool(marginal[-1]) for marginal in kept)
    share = float((1 - Fraction(epsilon)) ** holding)
    found = verdict(engine, small, l=2, kind="relaxed", epsilon=epsilon)
    low, high = (
        min(sum(n >= share * max(g) * edge for n in g) for g in groups(small, 200))
        for edge in (1 + 1e-6, 1 - 1e-6)
    )
    assert max(low, 1) <= found.value <= high
    assert found.safe is (found.value >= 2)
    assert found.exact is is_decomposable(kept)


def test_the_relaxed_kind_is_exact_where_counts_lie_on_the_limit(engine: Any) -> None:
    rows = pd.DataFrame([("a", v) for v in "xxxxxxxxxx" + "yyyyyyyyy" + "zzz"], columns=["g", "s"])
    for epsilon, value in (("0.1", 2), ("0.0999999999999", 1), ("0.7", 3), ("0", 1)):
        (found,) = ps.check(
            engine, ps.Table(rows, ["g"], "s"), [ps.MaxentLDiversity(2, kind="relaxed", epsilon=epsilon)]
        ).values()
        assert (found.value, found.safe, found.exact) == (value, value >= 2, True)
        assert found.witness["near_the_likeliest"] == value


def test_merged_groups_may_break_the_relaxed_kind_though_their_parts_keep_it(engine: Any) -> None:
    asked = ps.MaxentLDiversity(2, kind="relaxed", epsilon="0.1")
    rows = [("1", v) for v in "xxyy"] + [("2", v) for v in "xxzz"]
    parts = ps.Table(pd.DataFrame(rows, columns=["g", "s"]), ["g"], "s")
    whole = ps.Table(pd.DataFrame([("1", v) for _, v in rows], columns=["g", "s"]), ["g"], "s")
    assert ps.check(engine, parts, [asked]) and not ps.check(engine, whole, [asked])
    assert not asked.safe_under_merging and ps.MaxentLDiversity(2, c=1).safe_under_merging
    levels = ps.Table(parts.source, {"g": ps.KeepOrDrop()}, "s")
    release = ps.publish(engine, levels, [asked], ps.FullDomain())
    assert release.safe and release.levels == {"g": 0}


@pytest.mark.parametrize("kind", ["distinct", "relaxed"])
def test_a_thousand_groups_on_the_limit_are_safe(engine: Any, kind: str) -> None:
    rows = pd.DataFrame([(str(g), v) for g in range(1_100) for v in "xy"], columns=["g", "s"])
    asked = ps.MaxentLDiversity(2, kind=kind, epsilon="0.2" if kind == "relaxed" else None)
    (found,) = ps.check(engine, ps.Table(rows, ["g"], "s"), [asked]).values()
    assert found.safe and found.value == 2


def test_a_search_for_the_relaxed_kind_does_not_call_its_collection_the_best(engine: Any) -> None:
    rows = pd.DataFrame([(a, b, s) for a in "012" for b in "01" for s in "xyxyz"], columns=["a", "b", "s"])
    asked = ps.MaxentLDiversity(2, kind="relaxed", epsilon="0.2")
    release = ps.publish(engine, ps.Table(rows, ["a", "b"], "s"), [ps.KLink(2), asked], ps.Marginals())
    assert release.safe and release.search["optimal"] is False


@few
@given(small_collections(most_rows=10), st.integers(1, 3))
def test_a_join_too_large_for_one_statement_gets_the_same_verdict(
    engine: Any, small: Small, ell: int
) -> None:
    relaxed = [{"l": ell, "kind": "relaxed", "epsilon": epsilon} for epsilon in ("0", "1/3", "0.5")]
    for params in (
        {"l": ell, "c": 2},
        {"l": ell, "kind": "distinct"},
        {"l": ell, "kind": "entropy"},
        *relaxed,
    ):
        once = verdict(engine, small, **params)
        kept = tables.PLAIN_GROUPS
        tables.PLAIN_GROUPS = 0
        try:
            walked = verdict(engine, small, **params)
        finally:
            tables.PLAIN_GROUPS = kept
        assert (walked.safe, walked.exact) == (once.safe, once.exact)
        assert walked.value == (pytest.approx(once.value) if "kind" in params else once.value)


def pairs(engine: Any) -> ps.MarginalSet:
    rows = {"a": list("000111"), "b": list("000111"), "s": list("xxyxyy")}
    table = ps.Table(pd.DataFrame(rows), ["a", "b"], "s")
    return ps.MarginalSet(engine, table, [{"a": 0, "s": 0}, {"b": 0, "s": 0}])


def test_each_marginal_safe_does_not_make_the_collection_safe(engine: Any) -> None:
    """The trap: each marginal needs c = 2, their join 4."""
    (found,) = ps.check(engine, pairs(engine), [ps.MaxentLDiversity(l=2, c=2)]).values()
    assert found.value == 4 and not found.safe and found.exact
    assert sorted(found.witness["marginals"]) == [1, 2]
    assert set(found.witness.reveal()["cells"]) == {1, 2}


def test_a_tie_is_safe_and_the_next_number_below_is_not(engine: Any) -> None:
    limits = [ps.MaxentLDiversity(l=2, c=c) for c in ("4", "3.9999999999999999")]
    assert [v.safe for v in ps.check(engine, pairs(engine), limits).values()] == [True, False]


def test_marginals_without_the_sensitive_column_leave_everyone_alike(engine: Any) -> None:
    """Diverse when l <= |C| and 1 <= c (|C| - l + 1), for the values of the table."""
    rows = pd.DataFrame({"a": list("0011"), "s": list("wxyz")})
    found = ps.MarginalSet(engine, ps.Table(rows, ["a"], "s"), [{"a": 0}])
    require = [ps.MaxentLDiversity(l=ell, c=c) for ell, c in ((3, "1/2"), (3, "0.49"), (4, 1), (5, 100))]
    verdicts = list(ps.check(engine, found, require).values())
    assert [v.safe for v in verdicts] == [True, False, True, False]
    assert verdicts[0].value == Fraction(1, 2) and verdicts[3].value is None


def test_a_fitted_table_on_the_limit_is_not_safe(engine: Any) -> None:
    """Marginals that ring have no closed form; their critical c is 1 but for rounding, and 1 is refused."""
    rows = pd.DataFrame([(a, b, s) for a in "01" for b in "01" for s in "xy"], columns=["a", "b", "s"])
    ring = [{"a": 0, "b": 0}, {"b": 0, "s": 0}, {"a": 0, "s": 0}]
    found = ps.MarginalSet(engine, ps.Table(rows, ["a", "b"], "s"), ring)
    require = [ps.MaxentLDiversity(l=2, c=c) for c in ("1", "1.001")]
    verdicts = list(ps.check(engine, found, require).values())
    assert [v.safe for v in verdicts] == [False, True] and not verdicts[0].exact


def test_the_witness_of_a_fitted_table_names_its_group_and_all_marginals(engine: Any) -> None:
    rows = [(a, b, s) for a in "01" for b in "01" for s in "xy"] + [("1", "0", "x")] * 3
    ring = [{"a": 0, "b": 0}, {"b": 0, "s": 0}, {"a": 0, "s": 0}]
    table = ps.Table(pd.DataFrame(rows, columns=["a", "b", "s"]), ["a", "b"], "s")
    (found,) = ps.check(engine, ps.MarginalSet(engine, table, ring), [ps.MaxentLDiversity(l=2, c=2)]).values()
    assert not found.safe and found.witness["marginals"] == [1, 2, 3]
    assert found.witness["marginals_that_meet"] == 3
    assert found.witness.reveal()["cell"] == {"a": "1", "b": "0"}  # where the three more with x are
    assert "cell" not in dict(found.witness)


def test_expected_counts_of_hundreds_of_digits_are_decided_all_the_same() -> None:
    """Many marginals multiply their counts: such numbers are no floats any more, their shares still are."""
    huge = 10**400
    counts = [Fraction(huge + 1, huge + 7), Fraction(huge + 1, huge + 9)]
    rows = [{"counts": counts, "cells": (1,), "exact": True}]
    found = [ps.MaxentLDiversity(l=ell, kind="entropy").judge(rows) for ell in (1, 2)]
    assert [v.safe for v in found] == [True, False]
    assert found[0].value == pytest.approx(2)


@pytest.mark.parametrize(
    "params",
    [
        *({"l": 0, "c": 1}, {"l": 2}, {"l": 2, "c": 1, "kind": "entropy"}, {"l": 2, "c": "x"}),
        *({"l": 2, "kind": "relaxed", "epsilon": e} for e in (None, 1, "-0.1", "x")),
        *({"l": 2, "c": 1, "epsilon": "0.1"}, {"l": 2, "kind": "relaxed", "c": 1, "epsilon": "0.1"}),
    ],
)
def test_bad_parameters_are_refused(params: dict[str, Any]) -> None:
    with pytest.raises(PrivacySqlError):
        ps.MaxentLDiversity(**params)
