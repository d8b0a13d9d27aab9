"""δ-disclosure against brute force on random tables."""

from __future__ import annotations

from fractions import Fraction
from math import log
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import privacy_sql as ps
from tests.criteria.random_tables import few, limits, rows, verdict
from tests.oracles import classical


@few
@given(table=rows(st.sampled_from(["a", "b"])), delta=limits("0", "3"))
def test_the_largest_change_is_that_of_the_definition(engine: Any, table: Any, delta: Fraction) -> None:
    found = verdict(engine, table, ps.DeltaDisclosure(str(delta)))
    expected = classical.delta_disclosure(table, delta)
    assert found.safe is expected.safe
    if expected.value is None:
        assert found.value is None
    else:
        assert float(found.value) == pytest.approx(float(expected.value), abs=1e-12)


@pytest.mark.parametrize(("away", "safe"), [(-1e-8, False), (-1e-10, False), (1e-10, False), (1e-8, True)])
def test_a_change_that_floats_cannot_tell_from_the_limit_is_not_safe(
    engine: Any, away: float, safe: bool
) -> None:
    table = [("x", "a"), ("x", "b"), ("x", "b"), *[("y", "a")] * 3, *[("y", "b")] * 2]
    change = log(Fraction(3, 5) / Fraction(1, 2))
    change = max(change, -log(Fraction(1, 3) / Fraction(1, 2)))
    assert verdict(engine, table, ps.DeltaDisclosure(repr(change + away))).safe is safe
