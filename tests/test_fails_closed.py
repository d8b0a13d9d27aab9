"""When in doubt, not safe: numbers that are none, ties, empty groups; and what must hold for any table."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql import registry
from privacy_sql.criteria import Criterion
from privacy_sql.judge import Verdicts
from privacy_sql.query.template import Query
from privacy_sql.release import Proposal, Release
from privacy_sql.verdict import COMPARE, TOLERANCE, Verdict, finite, holds
from tests import parts
from tests.seeds import seeds

# -- numbers that are none, and ties -------------------------------------------------------------------------


@pytest.mark.parametrize("relation", COMPARE)
@pytest.mark.parametrize("value", [None, math.nan, math.inf, -math.inf])
def test_a_risk_that_is_no_number_never_holds(relation: str, value: Any) -> None:
    assert not any(holds(value, relation, limit) for limit in (0, 1, Fraction(1, 2), 0.5, -5, 10**6))


@pytest.mark.parametrize("relation", COMPARE)
@pytest.mark.parametrize("distance", [0.0, 1e-12, -1e-12, 9e-10, -9e-10])
def test_a_float_too_close_to_its_limit_never_holds(relation: str, distance: float) -> None:
    assert not holds(0.5 + distance, relation, Fraction(1, 2))


@pytest.mark.parametrize("relation", COMPARE)
def test_beyond_the_tolerance_and_for_exact_numbers_the_comparison_decides(relation: str) -> None:
    compare = COMPARE[relation]
    for step in (3 * TOLERANCE, -3 * TOLERANCE):
        assert holds(0.5 + step, relation, 0.5) == compare(0.5 + step, 0.5)
    for value in (Fraction(1, 2), Fraction(1, 2) + Fraction(1, 10**12), Fraction(1, 2) - Fraction(1, 10**12)):
        assert holds(value, relation, Fraction(1, 2)) == compare(value, Fraction(1, 2))


def test_a_verdict_without_a_number_shows_none_in_json() -> None:
    for value in (None, math.nan, math.inf):
        shown = Verdict("x", "x", {}, False, value, 1, "<=", exact=False).to_json()
        assert (shown["value"], shown["value_float"]) == (None, None)
    assert finite(Fraction(10**400, 10**399)) == 10.0


def test_no_verdict_at_all_is_not_safe() -> None:
    assert not Verdicts()
    empty = Release("r", None, Proposal(None, Query("select 1"), {}, ()), {}, (), "m", 0, 0, base=None)
    assert not empty.safe


# -- any table -----------------------------------------------------------------------------------------------

CRITERIA: list[Criterion] = [
    ps.KAnonymity(2),
    ps.LDiversity(2),
    ps.LDiversity(2, kind="entropy"),
    ps.LDiversity(2, kind="recursive", c=2),
    ps.LDiversity(2, kind="probabilistic"),
    ps.TCloseness("0.3"),
    ps.AlphaKAnonymity("0.6", 2),
    ps.BetaLikeness(1),
    ps.DeltaDisclosure(1),
    ps.CKSafety(c="0.9", k=1),
    ps.PrivacySkyline([[1, 1, 1, "0.9"]]),
    ps.KMap(2),
    ps.DeltaPresence("0", "1/2"),
    ps.KLink(2),
    ps.KCombinatorial(2),
    ps.MaxentLDiversity(l=2, c=2),
    ps.IntervalDisclosure(1, "2/3", distance="matrix"),
    ps.ReidentificationRisk("0.4"),
    ps.HouseholdKAnonymity(2),
    ps.HouseholdKAnonymity(2, kind="share"),
]
APART = [[0, 1, 2], [1, 0, 2], [2, 2, 0]]
ILLS = ["flu", "cold", "gout"]
NEAR = {"illness": {one: dict(zip(ILLS, cells, strict=True)) for one, cells in zip(ILLS, APART, strict=True)}}
MERGING = [criterion for criterion in CRITERIA if criterion.safe_under_merging]


def risk(verdict: Verdict) -> float:
    """Larger is worse, whatever the criterion measures."""
    if verdict.value is None:
        return math.inf
    return float(verdict.value) * (-1 if verdict.relation.startswith(">") else 1)


def people(chance: random.Random, n: int = 12) -> pd.DataFrame:
    rows = [(chance.choice("abcd"), chance.choice("xyz"), chance.choice(ILLS)) for _ in range(n)]
    made = pd.DataFrame(rows, columns=["one", "two", "illness"])
    return made.assign(home=[number % 5 for number in range(n)])


def judged(
    engine: Any, rows: pd.DataFrame, quasi: Sequence[str] = ("one", "two"), criteria: Any = CRITERIA
) -> Any:
    # of everybody once more, and of some strangers
    population = pd.concat([rows[["one", "two"]], people(random.Random(0))[["one", "two"]]])
    table = ps.Table(rows, list(quasi), "illness", population=population, distances=NEAR, household="home")
    return ps.check(engine, table, criteria)


@pytest.mark.parametrize("seed", seeds(6))
def test_another_quasi_identifier_never_lowers_a_risk(engine: Any, seed: int) -> None:
    rows = people(random.Random(seed))
    coarse = judged(engine, rows, ["one"], MERGING)
    for name, verdict in judged(engine, rows, ["one", "two"], MERGING).items():
        assert risk(verdict) >= risk(coarse[name]) - 1e-9, name
        assert coarse[name].safe or not verdict.safe, name


@pytest.mark.parametrize("seed", seeds(6))
def test_merging_groups_never_raises_a_risk(engine: Any, seed: int) -> None:
    chance = random.Random(seed)
    rows = people(chance, 16)
    merged = {value: [chance.choice(["left", "right"]), "*"] for value in "abcd"}
    population = pd.concat([rows, people(random.Random(0))])[["one", "two"]]
    kinds = {"one": ps.Tree(merged), "two": ps.KeepOrDrop()}
    table = ps.Table(rows, kinds, "illness", population=population, distances=NEAR, household="home")
    chain = [{"one": 0, "two": 0}, {"one": 1, "two": 0}, {"one": 1, "two": 1}, {"one": 2, "two": 1}]
    risks = [ps.publish(engine, table, MERGING, ps.Generalise(levels)).verdicts for levels in chain]
    for finer, coarser in pairwise(risks):
        for name in finer:
            assert risk(coarser[name]) <= risk(finer[name]) + 1e-9, name
            assert coarser[name].safe or not finer[name].safe, name


def test_every_criterion_that_is_declared_safe_under_merging_is_tried() -> None:
    kinds = {name: registry.get("criteria", name) for name in registry.available("criteria")}
    declared = {name for name, kind in kinds.items() if kind.safe_under_merging}
    assert {criterion.name for criterion in MERGING} == declared


# -- nothing is safe that was not judged --------------------------------------------------------------------


def test_suppressing_everything_is_not_a_release(engine: Any) -> None:
    rows = pd.DataFrame({"age": [str(n) for n in range(10)], "illness": ["flu"] * 10})
    made = ps.publish(
        engine, ps.Table(rows, ["age"], "illness"), [ps.KAnonymity(2)], ps.Generalise(max_suppressed="0.99")
    )
    assert not made.safe and made.rows_out > 0


@pytest.mark.parametrize(("share", "suppressed"), [("0.1", 0), ("0.19", 0), ("0.2", 2), ("0.3", 2)])
def test_no_more_is_left_out_than_allowed(engine: Any, share: str, suppressed: int) -> None:
    rows = pd.DataFrame({"age": ["1", "2"] + ["3"] * 8})
    made = ps.publish(
        engine, ps.Table(rows, ["age"]), [ps.KAnonymity(2)], ps.Generalise(max_suppressed=share)
    )
    assert (made.suppressed, made.rows_out, made.safe) == (suppressed, 10 - suppressed, suppressed == 2)


def test_what_stays_after_suppression_is_judged_again(engine: Any) -> None:
    # without the one of age 1 the rest shows more of b, and who is 2 never has it
    rows = pd.DataFrame({"age": ["1", "2", "2"] + ["3"] * 10, "illness": ["a"] * 8 + ["b"] * 5})
    table = ps.Table(rows, ["age"], "illness")
    require = [ps.KAnonymity(2), ps.TCloseness("0.4")]
    made = ps.publish(engine, table, require, ps.Generalise(max_suppressed="0.2"))
    assert made.suppressed == 1 and made.verdicts["k_anonymity(k=2)"].safe
    assert ps.check(engine, table, [ps.TCloseness("0.4")])
    assert made.verdicts["t_closeness(t=0.4)"].value == Fraction(5, 12) and not made.safe


@pytest.mark.parametrize("criterion", [ps.KMap(3), ps.DeltaPresence("0", "1/2")])
def test_people_outside_every_group_are_judged_and_cannot_be_left_out(engine: Any, criterion: Any) -> None:
    inside, outside = ["1", "2", "2"], ["2", "2", "3", "3"]
    population = pd.DataFrame({"age": [*inside, *outside]})
    table = ps.Table(pd.DataFrame({"age": inside}), ["age"], population=population)
    assert not ps.publish(engine, table, [criterion], ps.Generalise()).safe
    made = ps.publish(engine, table, [criterion], ps.Generalise(max_suppressed="1/3"))
    assert made.safe and (made.rows_out, made.suppressed) == (2, 1)


# the evidence of the others is more than rows of a template
OF_ROWS = set(registry.available("criteria")) - {"ck_safety", "privacy_skyline", "composition"}


@pytest.mark.parametrize("name", sorted(OF_ROWS))
def test_no_group_at_all_is_never_safe(name: str) -> None:
    verdict = parts.criterion(name).judge([])
    assert not verdict.safe and verdict.value is None


def test_a_requirement_about_sensitive_values_needs_a_sensitive_column(engine: Any) -> None:
    rows = pd.DataFrame({"age": ["1", "1"]})
    with pytest.raises(ps.PrivacySqlError, match="needs a sensitive column"):
        ps.check(engine, ps.Table(rows, ["age"]), [ps.KAnonymity(2), ps.LDiversity(2)])


def test_a_table_without_quasi_identifiers_is_one_group(engine: Any) -> None:
    rows = pd.DataFrame({"illness": ["a", "b", "b"]})
    found = ps.check(engine, ps.Table(rows, [], "illness"), [ps.KAnonymity(3), ps.LDiversity(2)])
    assert [verdict.value for verdict in found.values()] == [3, 2]
