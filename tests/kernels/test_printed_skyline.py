"""What is kept of printed groups: as much as is useful, and never so much that it grows without end."""

from __future__ import annotations

from itertools import product

import pytest

from privacy_sql.kernels.skyline import printed_skyline
from privacy_sql.kernels.skyline.breach_probability import Amounts, ValuesPerPerson
from privacy_sql.kernels.skyline.printed_skyline import PrintedGroup, PrintedSkyline


@pytest.mark.parametrize("case", ["set", "multiset"])
def test_results_are_forgotten_beyond_a_number_and_stay_the_same(
    case: ValuesPerPerson, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = Amounts(1, 1, 1)
    shapes = product(range(3, 8), (1, 2), ((2,), (1, 2)), (0, 1))
    questions = [
        [PrintedGroup(n, holders, others, no), PrintedGroup(6, 2, (3,), 0)]
        for n, holders, others, no in shapes
    ]
    everything = PrintedSkyline(case)
    expected = [everything.worst(groups, asked) for groups in questions]
    monkeypatch.setattr(printed_skyline, "MOST_KEPT", 40)
    forgetful, most = PrintedSkyline(case), 0
    for groups, known in zip(questions, expected, strict=True):
        assert forgetful.worst(groups, asked) == known
        most = max(most, len(forgetful._odds) + len(forgetful._factors))
    assert most < 80 < len(everything._odds) + len(everything._factors)
