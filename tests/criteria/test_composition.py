"""Composition with other releases, against the attack person by person."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import privacy_sql as ps
from privacy_sql.errors import DataError, PrivacySqlError, UsageError
from privacy_sql.history.register import Register
from tests.manifests import beside
from tests.oracles import composition as oracle

LEVEL = st.sampled_from([Fraction(1), Fraction(1, 2), Fraction(1, 3)])
X = st.sampled_from(["1", "2", "3", "0.3", "0.30", "old", None])
Y = st.sampled_from(["a", "b", "all", None])
ROWS = st.lists(st.tuples(X, Y, st.sampled_from("abc")), min_size=1, max_size=8)
LABELS = st.tuples(
    st.sampled_from(["1-2", "2-3", "1", "3.0", "0.3", "0.30", "*", "some", None]),
    st.sampled_from(["a", "b", "all", "*", "thing", None]),
    st.sampled_from("abcd"),
)
PUBLISHED = st.lists(LABELS, min_size=1, max_size=8)
COLUMNS = ["x", "y"]


def _rows(rows: list[Any]) -> list[dict[str, Any]]:
    return [dict(zip([*COLUMNS, "s"], row, strict=True)) for row in rows]


def _frame(rows: list[Any]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=[*COLUMNS, "s"], dtype=object)


def _others(published: list[list[Any]], columns: list[str]) -> list[dict[str, Any]]:
    return [
        {"name": f"other {n}", "relation": _frame(rows), "sensitive": "s", "columns": columns}
        for n, rows in enumerate(published)
    ]


def _ways(rows: list[Any], published: list[list[Any]], columns: list[str]) -> list[list[Any]]:
    people = _rows(rows)
    return [
        [
            oracle.own_ways(people, COLUMNS, "s", person),
            *(oracle.read_ways(_rows(other), columns, "s", person, people) for other in published),
        ]
        for person in people
    ]


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=ROWS, published=st.lists(PUBLISHED, min_size=1, max_size=3), level=LEVEL, both=st.booleans())
def test_the_share_exposed_is_that_of_every_world_and_every_set_of_releases_that_agree(
    engine: Any, rows: list[Any], published: list[Any], level: Fraction, both: bool
) -> None:
    columns = COLUMNS if both else ["x"]
    ways = _ways(rows, published, columns)
    table = ps.Table(_frame(rows), COLUMNS, "s")
    requirement = ps.Composition(_others(published, columns), str(level), "1/2")
    try:
        value = _exposed(engine, table, requirement)
    except DataError as refused:
        nowhere = any(not any(person[n] for person in ways) for n in range(1, len(published) + 1))
        assert nowhere if refused.code == "nobody_located" else refused.code == "no_common_value"
        return
    assert value == oracle.exposure(ways, level)


def test_a_column_of_other_values_beside_the_shared_one_is_refused_with_what_to_do(engine: Any) -> None:
    rows = pd.DataFrame([("1", "flu", "cook"), ("1", "cold", "nurse")], columns=["x", "ill", "job"])
    other = {"name": "other", "relation": rows[["x", "ill"]], "sensitive": "ill", "columns": ["x"]}
    requirement = ps.Composition([other], "1", "1")
    with pytest.raises(DataError, match="publish other kinds separately") as refused:
        ps.check(engine, ps.Table(rows, ["x"], ["ill", "job"]), [requirement])
    assert refused.value.code == "no_common_value"
    assert ps.check(engine, ps.Table(rows[["x", "ill"]], ["x"], "ill"), [requirement])


@settings(deadline=None, max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=ROWS, published=st.lists(PUBLISHED, min_size=2, max_size=3), level=LEVEL)
def test_one_more_release_never_makes_it_safer(
    engine: Any, rows: list[Any], published: list[Any], level: Fraction
) -> None:
    table, others = ps.Table(_frame(rows), COLUMNS, "s"), _others(published, COLUMNS)
    found = []
    for number in range(1, len(others) + 1):
        try:
            found.append(_exposed(engine, table, ps.Composition(others[:number], str(level), "1/2")))
        except DataError:
            continue  # never safe
    assert found == sorted(found)


def _exposed(engine: Any, table: ps.Table, requirement: Any) -> Any:
    (verdict,) = ps.check(engine, table, [requirement]).values()
    assert verdict.safe is (verdict.value <= Fraction(1, 2))
    return verdict.value


HOSPITAL = {"groups": [{"id": "b", "region": {"age": {"lt": 35}}, "sensitive": ["AIDS", "flu"]}]}
PATIENTS = pd.DataFrame({"age": ["28", "29", "41", "42"], "illness": ["AIDS", "cold", "flu", "cold"]})


def _table(**more: Any) -> ps.Table:
    return ps.Table(PATIENTS, {"age": ps.Intervals(10)}, "illness", **more)


def test_a_release_that_composes_badly_is_not_written(engine: Any, tmp_path: Path) -> None:
    release = ps.publish(
        engine, _table(), [ps.KAnonymity(2), ps.Composition([HOSPITAL])], ps.Generalise({"age": 1})
    )
    (verdict,) = [each for each in release.verdicts.values() if each.criterion == "composition"]
    assert verdict.value == Fraction(1, 2) and not verdict.safe
    with pytest.raises(PrivacySqlError, match="not safe"):
        ps.write(engine, release, tmp_path / "out.csv")


def test_one_of_our_own_releases_is_composed_with_by_its_manifest(engine: Any, tmp_path: Path) -> None:
    first = ps.publish(engine, _table(), [ps.KAnonymity(2)], ps.Generalise({"age": 1}))
    place = ps.write(engine, first, tmp_path / "first.csv")
    Register(tmp_path / "register.jsonl").add("first", place, ours=True)
    requirement = ps.Composition(["first"], "1/2", register=str(tmp_path / "register.jsonl"))
    (verdict,) = ps.check(engine, _table(), [requirement]).values()
    # alone everybody is exposed by the raw table; together with the first release nobody gains a value
    assert verdict.value == 1
    everything = ps.Composition("register", register=str(tmp_path / "register.jsonl"))
    assert [each.name for each in everything.releases().groups] == ["first"]


def test_registered_counts_without_a_sensitive_column_teach_nobody_a_value(tmp_path: Path) -> None:
    (tmp_path / "counts.csv").write_text("sex,n_rows\nF,4\n")
    choice = {"marginals": [{"sex": 0}]}
    place = beside(tmp_path / "counts.csv", release="counts", method="marginals", choice=choice)
    register = Register(tmp_path / "register.jsonl")
    with pytest.raises(UsageError, match="no release is registered"):
        ps.Composition("register", register=str(register.path)).releases()
    register.keep("counts", place)
    out = ps.Composition("register", register=str(register.path)).releases()
    assert (out.groups, out.counts) == ((), ())


def test_only_the_population_shared_by_the_releases_counts(engine: Any) -> None:
    shared = pd.DataFrame({"age": ["28", "29"]})
    (verdict,) = ps.check(engine, _table(population=shared), [ps.Composition([HOSPITAL])]).values()
    # of one both leave AIDS; of the other the table says cold and the hospital otherwise
    assert (verdict.witness["people"], verdict.witness["contradicted"], verdict.value) == (2, 1, 1)


def test_a_declared_release_that_is_missing_refuses(engine: Any, tmp_path: Path) -> None:
    requirement = ps.Composition(["hospital_b"], register=str(tmp_path / "register.jsonl"))
    with pytest.raises(UsageError, match="hospital_b"):
        ps.check(engine, _table(), [requirement])
    with pytest.raises(UsageError, match="no release is registered"):
        ps.check(engine, _table(), [ps.Composition("register", register=str(tmp_path / "r.jsonl"))])


def test_a_release_coded_differently_is_never_safe(engine: Any) -> None:
    coded = {"groups": [{"id": "b", "region": {"age": {"values": ["young"]}}, "sensitive": ["AIDS"]}]}
    with pytest.raises(DataError, match="nobody"):
        ps.check(engine, _table(), [ps.Composition([coded])])


def test_values_named_differently_are_never_safe(engine: Any) -> None:
    renamed = {"groups": [{"id": "b", "region": {"age": {"any": True}}, "sensitive": ["Grippe"]}]}
    with pytest.raises(DataError, match="allow no value for anybody"):
        ps.check(engine, _table(), [ps.Composition([renamed])])


@pytest.mark.parametrize("params", [([],), (["a"], 0), (["a"], 1, 2), (["a"], "x")])
def test_parameters_out_of_range_are_refused(params: Any) -> None:
    with pytest.raises(UsageError):
        ps.Composition(*params)


def test_a_search_reads_the_other_releases_once(engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from privacy_sql.attacks import intersection_summary

    asked = []
    located = intersection_summary.locate_by_all
    monkeypatch.setattr(
        intersection_summary, "locate_by_all", lambda *given: asked.append(1) or located(*given)
    )
    requirement = ps.Composition([HOSPITAL], "1", "1/2")
    release = ps.publish(engine, _table(), [requirement], ps.FullDomain())
    assert release.safe
    assert len(asked) == 1


PLACES = [None, "1", "2", "3", "4", "5"]
CUTS = st.lists(st.integers(1, 5), max_size=3)


@settings(deadline=None, max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(
        st.tuples(st.sampled_from(PLACES), st.sampled_from("ab"), st.sampled_from("pqr")),
        min_size=1,
        max_size=9,
    ),
    cuts=st.lists(CUTS, min_size=4, max_size=4),
    level=LEVEL,
)
def test_a_star_where_null_lies_in_a_box_never_hides_anybody(
    engine: Any, rows: list[Any], cuts: list[Any], level: Fraction
) -> None:
    people = [{"id": n, "qi": {"x": x, "y": y}} for n, (x, y, _) in enumerate(rows)]
    known, starred = [], []
    for first, second in (cuts[:2], cuts[2:]):  # two releases, each cut in x below every y
        boxes: dict[Any, list[Any]] = {}
        for x, y, s in rows:
            edges = first if y == "a" else second
            boxes.setdefault((y, sum(PLACES.index(x) >= edge for edge in set(edges))), []).append((x, y, s))
        known.append(
            {
                "locate": "exact",
                "groups": [
                    {
                        "id": str(box),
                        "qi": [{"x": x, "y": y} for x, y, _ in held],
                        "sensitive": [s for *_, s in held],
                    }
                    for box, held in boxes.items()
                ],
            }
        )
        printed = [(_printed([x for x, *_ in held]), y, s) for held in boxes.values() for _, y, s in held]
        starred.append({"relation": _frame(printed), "sensitive": "s", "columns": COLUMNS})
    found = [ps.intersection_attack(engine, releases, people, [level]) for releases in (known, starred)]
    assert found[0].summary.n_unlocated == found[1].summary.n_unlocated == 0
    assert found[1].exposed(level) >= found[0].exposed(level)


def _printed(held: list[Any]) -> str | None:
    """A box along one column, as it is published."""
    values = sorted({value for value in held if value is not None})
    if None in held:
        return "*" if values else None
    return values[0] if len(values) == 1 else f"{values[0]}-{values[-1]}"


def test_a_release_about_other_people_hides_nobody(engine: Any) -> None:
    # together with A one of four is known; B knows somebody else, and left nobody to count in 0.1.0
    rows = pd.DataFrame({"age": ["20", "20", "40", "40"], "ill": ["flu", "cold", "flu", "cold"]})
    first = {"groups": [{"id": "a", "region": {"age": {"lt": 30}}, "sensitive": ["flu", "gout"]}]}
    other = {"groups": [{"id": "b", "region": {"age": {"ge": 30}}, "sensitive": ["flu", "cold"]}]}
    table = ps.Table(rows, ["age"], "ill")
    for releases in ([first], [first, other], [other, first]):
        (verdict,) = ps.check(engine, table, [ps.Composition(releases)]).values()
        assert (verdict.value, verdict.safe) == (Fraction(1, 2), False)
