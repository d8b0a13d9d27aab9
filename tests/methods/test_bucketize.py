"""Bucketization: buckets of different values, groups found by a search, and what the published rows keep."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import privacy_sql as ps
from privacy_sql.errors import NoSafeChoice, PrivacySqlError
from privacy_sql.query.template import Query

# how it publishes the forty-eight people of tests/parts.py
EXAMPLE = {"by": ["age"]}

few = settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
PEOPLE = st.lists(
    st.tuples(st.sampled_from("pqr"), st.sampled_from(["a", "b", "c", "d", None])), min_size=4, max_size=16
)
ALWAYS = [ps.KAnonymity(1)]


def table(rows: Any, **more: Any) -> ps.Table:
    frame = pd.DataFrame(rows, columns=["quasi", "value"], dtype=object)
    return ps.Table(frame, {"quasi": ps.KeepOrDrop()}, "value", **more)


def published(engine: Any, release: ps.Release) -> list[dict[str, Any]]:
    return list(release.base.engine.fetch(release.view))


def buckets(rows: list[dict[str, Any]]) -> list[list[Any]]:
    found = defaultdict(list)
    for row in rows:
        found[row["group_id"]].append(row["value"])
    return [found[number] for number in sorted(found)]


@few
@given(rows=PEOPLE, values=st.integers(2, 4))
def test_an_anatomy_bucket_never_holds_a_value_twice(engine: Any, rows: Any, values: int) -> None:
    commonest = max(Counter(value for _, value in rows).values())
    method = ps.Bucketize("anatomy", l=values)
    if commonest * values > len(rows):
        with pytest.raises(PrivacySqlError, match="too frequent"):
            ps.publish(engine, table(rows), ALWAYS, method)
        return
    release = ps.publish(engine, table(rows), ALWAYS, method)
    left = published(engine, release)
    assert all(len(bucket) >= values and len(set(bucket)) == len(bucket) for bucket in buckets(left))
    assert Counter(row["quasi"] for row in left) == Counter(quasi for quasi, _ in rows)
    assert Counter(row["value"] for row in left) == Counter(value for _, value in rows)
    found = ps.check(engine, release, [ps.LDiversity(values)])
    assert found and release.choice["l"] == values


def test_without_l_the_smallest_safe_buckets_are_taken(engine: Any) -> None:
    rows = [(quasi, value) for quasi in "pqr" for value in "abcd"]
    release = ps.publish(engine, table(rows), [ps.CKSafety("0.6", 1)], ps.Bucketize("anatomy"))
    # one fact leaves 1/2 in buckets of three; in buckets of two it leaves nothing to guess
    assert release.choice["l"] == 3 and release.safe
    with pytest.raises(NoSafeChoice):
        ps.publish(engine, table(rows), [ps.CKSafety("0.2", 1)], ps.Bucketize("anatomy"))


def test_groups_found_by_a_search_are_published_with_exact_quasi_identifiers(engine: Any) -> None:
    rows = [(quasi, value) for quasi in "pqr" for value in "abcd"] + [("z", "a")]
    require = [ps.CKSafety("0.6", 1)]
    release = ps.publish(engine, table(rows), require, ps.Bucketize("full_domain"))
    assert release.safe and release.choice["by"] == {"quasi": 1}
    left = published(engine, release)
    assert Counter(row["quasi"] for row in left) == Counter(quasi for quasi, _ in rows)
    assert release.search is not None and release.search["optimal"]
    fine = ps.publish(engine, table(rows[:-1]), require, ps.Bucketize("full_domain"))
    assert fine.choice["by"] == {"quasi": 0}


@pytest.mark.parametrize(
    "method", [ps.Bucketize("anatomy", l=2), ps.Bucketize("full_domain", mask={"quasi": 1})]
)
def test_a_bucketized_release_is_audited_written_and_verified(
    engine: Any, tmp_path: Path, method: Any
) -> None:
    rows = [(quasi, value) for quasi in "pqr" for value in "abcd"]
    release = ps.publish(engine, table(rows), [ps.CKSafety("3/4", 0)], method)
    ps.verify(ps.write(engine, release, tmp_path / "people.csv"))
    left = pd.read_csv(tmp_path / "people.csv", dtype=str)
    assert len(left) == 12
    assert set(left["quasi"]) == ({"*"} if method.mask else set("pqr"))


@pytest.mark.parametrize("by", ["anatomy", ["quasi"], []])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_two_tables_hold_people_and_values_apart(engine: Any, tmp_path: Path, by: Any, ending: str) -> None:
    rows = [(quasi, value, "note") for quasi in "pqr" for value in ("a", "b", "c", None)]
    frame = pd.DataFrame(rows, columns=["quasi", "value", "remark"], dtype=object)
    source = ps.Table(
        frame,
        {"quasi": ps.KeepOrDrop()},
        "value",
        insensitive={"columns": ["remark"], "acknowledge": "a test reads it"},
    )
    method = ps.Bucketize(by, layout="two_tables", l=3 if by == "anatomy" else None)
    require = [ps.KAnonymity(3), ps.CKSafety("2/3", 1)]
    release = ps.publish(engine, source, require, method)
    place = ps.write(engine, release, tmp_path / f"out.{ending}")
    assert [entry["file"] for entry in ps.verify(place)["output"]["files"]] == [
        f"out.people.{ending}",
        f"out.values.{ending}",
    ]
    read = pd.read_csv if ending == "csv" else pd.read_parquet
    assert set(ps.verify(place)["parts"]) == {"people", "values"}
    people, values = (read(tmp_path / f"out.{name}.{ending}") for name in ("people", "values"))
    assert list(people) == ["group_id", "quasi", "remark"]
    assert list(values) == ["group_id", "value", "n_people"]
    assert Counter(people["group_id"]) == Counter(values.groupby("group_id")["n_people"].sum().to_dict())
    one_table = Counter((row["group_id"], row["value"]) for row in published(engine, release))
    apart = {(g, v if isinstance(v, str) else None): n for g, v, n in values.itertuples(index=False)}
    assert one_table == apart
    (tmp_path / f"out.values.{ending}").write_bytes(b"group_id,value,n_people\n1,a,12\n")
    with pytest.raises(PrivacySqlError):
        ps.verify(place)


def test_two_tables_are_audited_from_what_was_written(
    engine: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from privacy_sql.publishing import audit

    rows = [(quasi, value) for quasi in "pqr" for value in "abcd"]
    release = ps.publish(engine, table(rows), [ps.CKSafety("2/3", 0)], ps.Bucketize([], layout="two_tables"))
    monkeypatch.setattr(audit, "same_parts", lambda *_: None)
    values = Query("select 1 as group_id, 'a' as value, 12 as n_people")
    proposal = replace(release.proposal, parts={**release.parts, "values": values})
    lying = replace(release, proposal=proposal)
    with pytest.raises(PrivacySqlError, match="do not meet"):
        ps.write(engine, lying, tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []


def test_two_releases_of_one_table_deal_differently_and_a_seed_repeats(engine: Any) -> None:
    rows = [(f"p{i}", "abcdefgh"[i % 8]) for i in range(64)]

    def dealt(**more: Any) -> list[Any]:
        release = ps.publish(engine, table(rows), ALWAYS, ps.Bucketize("anatomy", l=4, **more))
        assert release.rehearsal is ("seed" in more)
        return sorted((row["quasi"], row["group_id"]) for row in published(engine, release))

    assert dealt() != dealt()
    assert dealt(seed=1) == dealt(seed=1) != dealt(seed=2)


@pytest.mark.parametrize(
    "more",
    [
        {"by": "anatomi"},
        {"by": "anatomy", "l": 1},
        {"by": ["quasi"], "l": 2},
        {"by": [], "layout": "three"},
        {"by": "full_domain", "minimise": "beauty"},
    ],
)
def test_a_parameter_that_does_not_fit_is_refused(more: Any) -> None:
    with pytest.raises(PrivacySqlError) as raised:
        ps.Bucketize(**more)
    assert raised.value.exit == 2


def test_anatomy_refuses_tables_whose_rows_are_not_people(engine: Any) -> None:
    rows = pd.DataFrame({"quasi": list("pq"), "value": list("ab"), "n": ["3", "4"]})
    for more in ({"group": "n"}, {"identifier": "n", "values_per_person": "set"}):
        with pytest.raises(PrivacySqlError, match="one row per person"):
            ps.publish(engine, ps.Table(rows, ["quasi"], "value", **more), ALWAYS, ps.Bucketize("anatomy"))


def test_facts_about_somebody_who_may_be_in_several_buckets_are_refused(engine: Any) -> None:
    rows = pd.DataFrame({"id": list("abcd"), "quasi": ["p"] * 4, "value": list("wxyz")})
    people = ps.Table(rows, ["quasi"], "value", identifier="id")
    release = ps.publish(engine, people, ALWAYS, ps.Bucketize("anatomy", l=2))
    with pytest.raises(PrivacySqlError, match="several groups"):
        ps.disclosure_risk(engine, release, ["a is w"])
