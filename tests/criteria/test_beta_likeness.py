"""β-likeness of both kinds against brute force on random tables."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given

import privacy_sql as ps
from tests.criteria.random_tables import few, limits, rows, verdict
from tests.oracles import classical


@few
@given(table=rows(), beta=limits("0", "4"))
def test_the_largest_gain_is_that_of_the_definition(engine: Any, table: Any, beta: Fraction) -> None:
    found = verdict(engine, table, ps.BetaLikeness(str(beta)))
    assert (found.value, found.safe) == classical.basic_beta_likeness(table, beta)


@few
@given(table=rows(), beta=limits("1/4", "4"))
def test_the_largest_bounded_gain_is_that_of_the_definition(engine: Any, table: Any, beta: Fraction) -> None:
    found = verdict(engine, table, ps.BetaLikeness(str(beta), "enhanced"))
    expected = classical.enhanced_beta_likeness(table, beta)
    assert found.safe is expected.safe
    assert float(found.value) == pytest.approx(float(expected.value), abs=1e-12)


@pytest.mark.parametrize(("beta", "kind"), [("-1", "basic"), ("0", "enhanced"), ("1", "sharp")])
def test_a_parameter_out_of_range_is_refused(beta: str, kind: str) -> None:
    with pytest.raises(ps.PrivacySqlError):
        ps.BetaLikeness(beta, kind)
