"""k-combinatorial anonymity in SQL, against all consistent tables and against the integer program."""

from __future__ import annotations

import random
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, assume, given, settings

import privacy_sql as ps
from privacy_sql.errors import Undecided
from privacy_sql.kernels.marginals import consistent_tables
from privacy_sql.kernels.marginals.junction_tree import maximal_sets
from privacy_sql.kernels.marginals.worst_groups import smallest_sum
from privacy_sql.marginals import tables
from tests.marginal_cases import Small, on_engine, small_collections
from tests.oracles import marginals as oracle
from tests.seeds import START

few = settings(deadline=None, max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])


def verdict(engine: Any, small: Small, k: int = 2) -> ps.Verdict:
    return next(iter(ps.check(engine, on_engine(engine, small), [ps.KCombinatorial(k)]).values()))


@few
@given(small_collections(most_rows=5))
def test_the_verdict_is_that_of_all_consistent_tables(engine: Any, small: Small) -> None:
    assume(oracle.size(small.sizes) <= 18)
    kept = maximal_sets(small.collection)
    seen = oracle.largest_counts(small.node, small.sizes, small.table, kept, small.sensitive)
    found = verdict(engine, small)
    assert found.value == min(n for n in seen.values() if n)
    assert found.safe == all(n == 0 or n >= 2 for n in seen.values())


@few
@given(small_collections(most_rows=10))
def test_a_join_too_large_for_one_statement_gets_the_same_verdict(engine: Any, small: Small) -> None:
    kept = tables.PLAIN_GROUPS
    tables.PLAIN_GROUPS = 0
    try:
        walked = verdict(engine, small)
    finally:
        tables.PLAIN_GROUPS = kept
    once = verdict(engine, small)
    assert (walked.safe, walked.value) == (once.safe, once.value)


def test_each_marginal_safe_does_not_make_the_collection_safe(engine: Any) -> None:
    """The trap: both marginals count two everywhere, together they show one person."""
    rows = pd.DataFrame({"a": ["0", "0", "1", "1"], "b": ["0", "1", "0", "1"], "s": ["x", "y", "x", "y"]})
    table = ps.Table(rows, ["a", "b"], "s")
    found = ps.MarginalSet(engine, table, [{"a": 0, "s": 0}, {"b": 0, "s": 0}])
    link, together = ps.check(engine, found, [ps.KLink(2), ps.KCombinatorial(2)]).values()
    assert link.safe and link.value == 2
    assert not together.safe and together.value == 1
    assert sorted(together.witness["marginals"]) == [1, 2]
    assert set(together.witness.reveal()["cells"]) == {1, 2}


def test_a_collection_without_the_sensitive_column_is_k_link(engine: Any) -> None:
    rows = pd.DataFrame({"a": ["0", "0", "1"], "b": ["0", "1", "0"]})
    found = ps.MarginalSet(engine, ps.Table(rows, ["a", "b"]), [{"a": 0}, {"b": 0}])
    bounds = {(cell["a"], cell["b"]): bound for cell, bound in found.upper_bounds()}
    assert bounds == {("0", "0"): 2, ("0", "1"): 1, ("1", "0"): 1, ("1", "1"): 1}
    assert found.k_combinatorial_max == 1
    assert [v.value for v in ps.check(engine, found, [ps.KLink(1), ps.KCombinatorial(1)]).values()] == [1, 1]


def test_marginals_that_ring_are_decided_by_the_integer_program(engine: Any) -> None:
    """The witness names the cell, its bound and the marginals: all three say something about every cell."""
    rows = pd.DataFrame({"a": list("00011"), "b": list("01100"), "c": list("01011"), "s": list("xyxyx")})
    ring = [{"a": 0, "b": 0}, {"b": 0, "c": 0}, {"a": 0, "c": 0}]
    found = ps.MarginalSet(engine, ps.Table(rows, ["a", "b", "c"], "s"), ring)
    assert not found.decomposable
    (verdict,) = ps.check(engine, found, [ps.KCombinatorial(2)]).values()
    assert verdict.value == 1 and not verdict.safe
    assert (verdict.witness["bound"], verdict.witness["marginals"]) == (1, [1, 2, 3])
    bounds = {tuple(sorted(cell.items())): bound for cell, bound in found.upper_bounds()}
    assert bounds[tuple(sorted(verdict.witness.reveal()["cell"].items()))] == 1
    assert verdict.witness["cells_below_limit"] == sum(bound == 1 for bound in bounds.values())
    assert "cell" not in dict(verdict.witness)


@pytest.mark.parametrize("stop", [0, 10])
def test_the_walk_over_a_large_join_is_the_one_the_driver_uses(engine: Any, stop: int) -> None:
    rows = pd.DataFrame({"a": list("000111"), "b": list("010101"), "s": list("xyxyxy")})
    found = ps.MarginalSet(engine, ps.Table(rows, ["a", "b"], "s"), [{"a": 0, "s": 0}, {"b": 0, "s": 0}])
    assert smallest_sum(found.grouping.join(), stop_below=stop).value == 1


@pytest.mark.parametrize("several", ["set", "multiset"])
def test_where_people_have_several_values_it_counts_people_and_not_their_rows(
    engine: Any, several: str
) -> None:
    """One person with ten values is one person; somebody without a value is one as well."""
    rows = [(0, "a", f"v{n}") for n in range(10)]
    rows += [(person, "b", "v1") for person in range(1, 5)] + [(5, "c", None)]
    drawn = random.Random(START + 4)
    for n in range(5):
        people = rows if not n else drawn.sample(rows, 12)
        frame = pd.DataFrame(people, columns=["id", "job", "s"])
        table = ps.Table(frame, ["job"], "s", identifier="id", values_per_person=several)
        fewest = frame.groupby("job")["id"].nunique().min()
        for asked in (ps.KCombinatorial(3), ps.KLink(3), ps.KAnonymity(3)):
            (found,) = ps.check(engine, table, [asked]).values()
            assert (found.value, found.safe) == (fewest, fewest >= 3)


def test_a_requirement_that_says_no_wins_over_one_that_is_undecided(
    engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three pairs of columns have no closed form, and the programs may take no step."""
    rows = [(a, b, c) for a in "01" for b in "01" for c in "01" for _ in range(3)] + [("0", "0", "2")]
    table = ps.Table(pd.DataFrame(rows, columns=["a", "b", "c"]), ["a", "b", "c"])
    pairs = ps.MarginalSet(engine, table, [{"a": 0, "b": 0}, {"a": 0, "c": 0}, {"b": 0, "c": 0}])
    whole = ps.check(engine, pairs, [ps.KLink(2), ps.KCombinatorial(2)])
    assert [verdict.value for verdict in whole.values()] == [1, 1]
    monkeypatch.setattr(consistent_tables, "PROGRAM_WORK", 0)
    for asked in ([ps.KLink(2), ps.KCombinatorial(2)], [ps.KCombinatorial(2), ps.KLink(2)]):
        found = ps.check(engine, pairs, asked)
        assert not found and found["k_link(k=2)"].value == 1
        other = found["k_combinatorial(k=2)"]
        assert (other.safe, other.value) == (False, None) and "Not decided" in other.notes[0]
    for alone in ([ps.KCombinatorial(2)], [ps.KLink(1), ps.KCombinatorial(2)]):
        with pytest.raises(Undecided) as caught:
            ps.check(engine, pairs, alone)
        assert caught.value.exit == 5
