"""Changes of a table under which nothing about the people in it changes, tried on every criterion's cases.

Rows in another order, other names, a quasi-identifier published twice: the verdict stays. Every person three
times: shares stay, sizes grow. A quasi-identifier more and merged groups, where a criterion declares it, are
in tests/test_fails_closed.py and tests/criteria/test_declared_properties.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any
from zlib import crc32

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql import registry
from privacy_sql.criteria import make
from tests import cases as reading
from tests import engines
from tests.conftest import NIGHTLY, cases


def shuffled(table: ps.Table) -> ps.Table:
    return both(table, lambda rows: rows.sample(frac=1, random_state=7))


def both(table: ps.Table, change: Callable[[pd.DataFrame], pd.DataFrame]) -> ps.Table:
    """The same change to the people and to the population they are drawn from."""
    population = None if table.population is None else change(table.population)
    return replace(table, source=change(table.source), population=population)


def renamed(table: ps.Table, columns: Sequence[str]) -> ps.Table:
    """Other values in some columns, sorted the other way round; NULL stays NULL."""

    def change(rows: pd.DataFrame) -> pd.DataFrame:
        kept = [column for column in columns if column in rows]
        return rows.assign(**{column: rows[column].map(names[column]).astype(object) for column in kept})

    names: dict[str, dict[Any, Any]] = {}
    for column in columns:
        frames = [rows for rows in (table.source, table.population) if rows is not None and column in rows]
        values = {value for rows in frames for value in rows[column] if value is not None}
        names[column] = {value: f"v{n}" for n, value in enumerate(sorted(values, reverse=True), 10)}
        names[column][None] = None
    return both(table, change)


def doubled(table: ps.Table) -> ps.Table:
    """Every quasi-identifier published twice."""
    copies = {column: f"{column} again" for column in table.hierarchies}
    made = both(table, lambda rows: rows.assign(**{copy: rows[column] for column, copy in copies.items()}))
    return replace(
        made, quasi={**table.hierarchies, **{copies[name]: kind for name, kind in table.hierarchies.items()}}
    )


def same(name: str, case: dict[str, Any]) -> dict[str, Callable[[ps.Table], ps.Table]]:
    """What changes nothing for a criterion, as far as a case names no value."""
    found = {"rows in another order": shuffled, "quasi-identifiers twice": doubled}
    if name != "composition":  # the releases it stands on name the values
        found["quasi-identifiers of other names"] = lambda table: renamed(table, list(table.hierarchies))
        named = {"per_value", "values", "width"} & set(case["params"]) or "sensitive_hierarchy" in case.get(
            "table", {}
        )
        if not named and case["params"].get("distance") not in ("ordered", "hierarchical"):
            found["sensitive values of other names"] = lambda table: renamed(table, table.sensitives)
    return found


@pytest.mark.widens(4)
@pytest.mark.parametrize(("name", "case"), cases("criteria"))
def test_a_table_that_says_the_same_of_everybody_gets_the_same_verdict(
    engine: Any, name: str, case: dict[str, Any]
) -> None:
    before = judged(engine, name, case)
    changes = list(same(name, case).items())
    # in the build one change of a case, which one the name of the case decides
    one = crc32(case["name"].encode()) % len(changes)
    for what, change in changes if NIGHTLY else changes[one : one + 1]:
        after = judged(engine, name, case, change)
        assert (after.safe, after.value, after.limit) == (before.safe, before.value, before.limit), what


def judged(
    engine: Any, name: str, case: dict[str, Any], change: Callable[[ps.Table], ps.Table] = lambda table: table
) -> ps.Verdict:
    criterion = make(name, case["params"])
    return ps.check(engine, change(reading.table(case)), [criterion])[str(criterion)]


def thrice(table: ps.Table) -> ps.Table:
    """Every person three times, as three persons."""
    identifier, count = table.identifier, table.count

    def grown(rows: pd.DataFrame) -> pd.DataFrame:
        if count in rows:
            return rows.assign(**{count: rows[count] * 3})
        copies = [rows.assign(**{c: rows[c] + f" {n}" for c in (identifier,) if c in rows}) for n in range(3)]
        return pd.concat(copies)

    return both(table, grown)


# more people of each kind never help who knows of a few; a share beside a size
OTHERS = {"ck_safety", "privacy_skyline", "alpha_k_anonymity", "reidentification_risk"}


@pytest.mark.widens(4)
@pytest.mark.parametrize("name", registry.available("criteria"))
def test_every_person_three_times_leaves_every_share_and_makes_every_size_three_times_larger(
    name: str,
) -> None:
    with engines.opened() as engine:
        for found in [each.values[1] for each in cases("criteria") if each.values[0] == name]:
            before, after = judged(engine, name, found), judged(engine, name, found, thrice)
            if name in OTHERS:
                assert after.value <= before.value and (after.safe or not before.safe), found["name"]
            elif before.value is None:
                assert after.value is None, found["name"]
            else:
                # a number of people grows with them; all else is a share
                unit = registry.get("criteria", name).unit_of(before.params, before.relation)
                times = 3 if unit == "people" else 1
                assert after.value == pytest.approx(times * Fraction(before.value)), found["name"]
