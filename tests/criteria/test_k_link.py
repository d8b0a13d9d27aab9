"""k-link anonymity of tables and of collections of marginals."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.errors import PrivacySqlError

ROWS = pd.DataFrame(
    {
        "age": ["31", "33", "38", "42", "42", "47"],
        "sex": ["F", "F", "M", "M", "F", "F"],
        "ill": ["a", "b", "a", "b", "a", "c"],
    }
)
TABLE = ps.Table(ROWS, {"age": ps.Intervals(5, 10), "sex": ps.KeepOrDrop()}, "ill")


def verdict(engine: Any, collection: list[dict[str, int]], k: int) -> ps.Verdict:
    return next(iter(ps.check(engine, ps.MarginalSet(engine, TABLE, collection), [ps.KLink(k)]).values()))


def test_the_smallest_cell_of_any_marginal_decides(engine: Any) -> None:
    assert verdict(engine, [{"age": 2}, {"sex": 0}], 2).value == 2
    assert verdict(engine, [{"age": 2}, {"sex": 0}], 3).safe is False


def test_the_sensitive_value_is_summed_out(engine: Any) -> None:
    assert verdict(engine, [{"age": 2, "ill": 0}], 3).value == 3


def test_more_people_than_there_are_is_not_safe(engine: Any) -> None:
    assert not verdict(engine, [{"age": 2}], 7).safe


def test_the_witness_names_the_marginal_and_reveals_its_cell(engine: Any) -> None:
    found = verdict(engine, [{"sex": 0}, {"age": 2, "sex": 0}], 2).witness
    assert found["marginal"] == 2 and "M" not in str(dict(found))
    assert found.reveal()["cells"] == {2: {"age": "30-39", "sex": "M"}}


@pytest.mark.parametrize("k", [0, -1, 1.5, True])
def test_k_is_a_whole_number_of_at_least_one(k: Any) -> None:
    with pytest.raises(PrivacySqlError, match="k of k_link"):
        ps.KLink(k)
