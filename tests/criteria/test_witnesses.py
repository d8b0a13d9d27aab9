"""The group a witness names attains the value by itself: its revealed counts, put into the definition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given

import privacy_sql as ps
from tests.criteria.random_tables import few, rows, verdict
from tests.oracles import classical

Counts = Counter[Any]


def alone(measure: Callable[..., classical.Outcome], *limits: Any) -> Callable[[Counts, Counts], Any]:
    """The value of a criterion that looks at one group at a time."""
    return lambda group, table: measure([("g", value) for value in group.elements()], *limits).value


def compared(measure: Callable[[Fraction, Fraction], Any]) -> Callable[[Counts, Counts], Any]:
    """The largest value over the sensitive values of (share in the group, overall share)."""
    return lambda group, table: max(
        measure(Fraction(group[value], group.total()), Fraction(table[value], table.total()))
        for value in table
    )


def distance(group: Counts, table: Counts) -> Fraction:
    shares = classical.shares(+group), classical.shares(table)
    return classical.earth_movers_distance(*shares, classical.equal_distance)


def change(share: Fraction, overall: Fraction) -> Any:
    return abs(classical.natural_log(share / overall)) if share else None


REPLAYS = [
    (ps.KAnonymity(2), lambda group, table: group.total()),
    (ps.LDiversity(2), lambda group, table: len(group)),
    (ps.LDiversity(2, "recursive", 3), alone(classical.recursive_l_diversity, Fraction(3), 2)),
    (ps.LDiversity(2, "probabilistic"), alone(classical.probabilistic_l_diversity, Fraction(2))),
    (ps.LDiversity(2, "entropy"), alone(classical.entropy_l_diversity, Fraction(2))),
    (ps.AlphaKAnonymity(1, 1), alone(classical.alpha_k_anonymity, Fraction(1), 1)),
    (ps.TCloseness(1), distance),
    (ps.BetaLikeness(1), compared(lambda share, overall: share / overall - 1)),
]


@pytest.mark.parametrize(("criterion", "replay"), REPLAYS, ids=[str(criterion) for criterion, _ in REPLAYS])
@few
@given(table=rows())
def test_the_revealed_group_attains_the_value(engine: Any, criterion: Any, replay: Any, table: Any) -> None:
    found = verdict(engine, table, criterion)
    group = Counter(found.witness.reveal()["values"])
    value = replay(group, Counter(value for _, value in table))
    assert (value is None) is (found.value is None)
    assert value is None or float(value) == pytest.approx(float(found.value), abs=1e-12)


@few
@given(table=rows())
def test_the_group_of_delta_disclosure_lacks_a_value_or_changes_most(engine: Any, table: Any) -> None:
    found = verdict(engine, table, ps.DeltaDisclosure(1))
    group, whole = Counter(found.witness.reveal()["values"]), Counter(value for _, value in table)
    if found.value is None:
        assert set(group) < set(whole)
    else:
        assert float(compared(change)(group, whole)) == pytest.approx(float(found.value), abs=1e-12)
