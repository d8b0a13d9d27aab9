"""The experiments of Chen et al. 2008, held to independent computations; times are never asserted."""

from __future__ import annotations

import os
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from privacy_sql.errors import PrivacySqlError
from privacy_sql.kernels.skyline.breach_probability import Amounts, breach_probability
from privacy_sql.kernels.skyline.dynamic_program import breach_by_program
from privacy_sql.papers import chen
from privacy_sql.studies.skyline import Skylines
from tests import engines

DATA = os.environ.get("PRIVACY_SQL_DATA")
needs_data = pytest.mark.skipif(not DATA, reason="needs the data sets: set PRIVACY_SQL_DATA")


@pytest.fixture(scope="module")
def release() -> Any:
    with engines.opened() as engine:
        grouping = chen.diverse_release(engine, Path(str(DATA)))
        skylines = Skylines.of(grouping)
        (figure,) = chen.run(engine, Path(str(DATA)), ["table2"])
        yield skylines, skylines.code(chen.VALUE), figure


@pytest.mark.parametrize("amounts", [(0, 0, 0), (10, 10, 10), (4, 32, 10)])
def test_both_algorithms_of_figure_6_give_one_answer(amounts: tuple[int, int, int]) -> None:
    counts = chen.uniform_groups(300, np.random.default_rng(0))
    assert (counts.sum(axis=1) == chen.GROUP).all() and counts.shape == (300, chen.VALUES)
    ruled_out, known, family = amounts
    people, holders = counts.sum(axis=1), counts[:, 0]
    taken = np.sort(counts[:, 1:], axis=1)[:, ::-1][:, :ruled_out].sum(axis=1)
    program = breach_by_program(people, holders, taken, known, family)
    assert program == pytest.approx(
        float(chen.check_counts(people, holders, taken, Amounts(*amounts))), abs=1e-12
    )
    assert all(seconds > 0 for seconds in chen.measured_improvement(counts, amounts, runs=1))


def test_a_part_that_does_not_exist_is_refused() -> None:
    with engines.opened() as engine, pytest.raises(PrivacySqlError, match="fig99"):
        next(chen.run(engine, Path(), ["fig99"]))


@needs_data
def test_every_group_of_the_release_is_diverse(release: Any) -> None:
    skylines, _, _ = release
    ranked = skylines.tables.ranked
    assert ranked.sum() == 45_222
    assert (ranked[:, 0] < 3 * ranked[:, 5:].sum(axis=1)).all()


@needs_data
def test_table_2_is_the_edge_of_what_every_group_withstands(release: Any) -> None:
    skylines, code, figure = release
    tables = skylines.tables
    held = np.flatnonzero(tables.counts[:, tables.values.index(code)])
    for ruled_out in range(7):
        groups = [tables.group(int(row), code, ruled_out) for row in held]
        for known, family in product(range(0, 9), range(0, 7)):
            safe = breach_probability(groups, Amounts(ruled_out, known, family), "one") < Fraction("0.95")
            under = any(np.all(np.array((ruled_out, known, family)) <= point) for point in figure.rows)
            assert safe == under, (ruled_out, known, family)
