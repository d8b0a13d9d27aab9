"""What criteria declare about merging and suppression, tried on random tables and the limits of cases."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import privacy_sql as ps
from privacy_sql import registry
from privacy_sql.counted.base import count
from privacy_sql.criteria import make
from privacy_sql.judge import failing
from tests.conftest import cases
from tests.criteria.random_tables import rows, verdict

few = settings(deadline=None, max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
TREE = ps.Tree({"9": ["odd", "*"], "10": ["even", "*"], "-1": ["odd", "*"], "2.5": ["none", "*"]})


def requirements(name: str) -> list[Any]:
    """The limits of a criterion's cases."""
    texts = [case.values[1] for case in cases("criteria") if case.values[0] == name]
    return [make(name, case["params"]) for case in texts]


def declared(word: str) -> list[str]:
    """The criteria that declare a property, of those that a table of one group column can be asked about."""
    kinds = {name: registry.get("criteria", name) for name in registry.available("criteria")}
    return [
        name
        for name, kind in kinds.items()
        if getattr(kind, word) and not kind.needs_population and not kind.needs_base
    ]


@pytest.mark.parametrize("name", declared("safe_under_merging"))
@few
@given(table=rows(), data=st.data())
def test_merging_two_groups_never_makes_a_safe_table_unsafe(
    engine: Any, name: str, table: Any, data: st.DataObject
) -> None:
    criterion = data.draw(st.sampled_from(requirements(name)))
    groups = sorted({group for group, _ in table}, key=str)
    one, other = data.draw(st.sampled_from(groups)), data.draw(st.sampled_from(groups))
    merged = [(one if group == other else group, value) for group, value in table]
    before = verdict(engine, table, criterion, sensitive_hierarchy=TREE)
    after = verdict(engine, merged, criterion, sensitive_hierarchy=TREE)
    assert after.safe or not before.safe


@pytest.mark.parametrize("name", declared("safe_under_suppression"))
@few
@given(table=rows(), data=st.data())
def test_without_the_groups_that_fail_the_rest_is_safe(
    engine: Any, name: str, table: Any, data: st.DataObject
) -> None:
    criterion = data.draw(st.sampled_from(requirements(name)))
    frame = pd.DataFrame(table, columns=["g", "s"], dtype=object)
    base = count(engine, ps.Table(frame, ["g"], "s", sensitive_hierarchy=TREE))
    grouping = base.grouped(base.own_keys())
    lost = failing(grouping, criterion)
    labels = sorted({group for group, _ in table}, key=lambda group: (group is not None, group))
    numbers = dict(zip(labels, _groups(engine, grouping), strict=True))
    kept = [row for row in table if numbers[row[0]] not in lost]
    assert bool(lost) is not verdict(engine, table, criterion, sensitive_hierarchy=TREE).safe
    assert not kept or verdict(engine, kept, criterion, sensitive_hierarchy=TREE).safe


def _groups(engine: Any, grouping: Any) -> list[int]:
    query = ps.Query(f"select g from {grouping.groups} order by g")
    return [row["g"] for row in grouping.base.engine.fetch(query)]
