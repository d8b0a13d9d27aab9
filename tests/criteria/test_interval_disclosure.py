"""Interval disclosure against every set of near values of the definition, and where tools go wrong."""

from __future__ import annotations

import itertools
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import privacy_sql as ps
from privacy_sql.counted.base import count
from privacy_sql.counted.grouping import Grouping
from privacy_sql.criteria import _near
from privacy_sql.judge import evidence, failing
from privacy_sql.kernels import near_values
from privacy_sql.lattice.in_memory import InMemory
from privacy_sql.publishing.rejudging import rejudge
from tests import engines
from tests.criteria.random_tables import few, limits, rows, verdict
from tests.oracles import near_values as oracle

SHARES = st.sampled_from(["1/4", "1/3", "1/2", "3/5", "2/3", "0.75"])
NUMBERS = ["9", "10", "10.0", "-1", "-0.9", "1e1", "0", "0.1", "0.2", " 0.3", None]
WIDTHS = st.sampled_from(["0", "0.1", "1/3", "1", "10", "9.9"])
ILLS = ["a", "b", "c", "d", None]
PATHS = {"a": ["x", "*"], "b": ["x", "*"], "c": ["y", "*"], "d": ["z", "*"]}
APART = st.lists(st.integers(0, 3), min_size=6, max_size=6)

# what tests/test_truth.py draws: published numbers in a hierarchy
DRAWN = st.one_of(
    st.builds(
        ps.IntervalDisclosure,
        st.sampled_from(["0", "0.5", "1", "3"]),
        SHARES,
        st.sampled_from(["absolute", "relative"]),
    ),
    st.builds(ps.IntervalDisclosure, st.sampled_from(["0", "0.5", "1"]), SHARES, st.just("hierarchical")),
)
PLAIN = True  # of numbers


def keeps(asked: Any, rows: Any, known: Any) -> bool:
    """Whether published rows keep the requirement."""
    width, share = Fraction(str(asked.width)), Fraction(str(asked.share))
    return oracle.interval_disclosure(rows, width, share, asked.distance, known.paths).safe


def tried(draw: Any) -> ps.IntervalDisclosure:
    """A requirement near what small tables of numbers attain, for tests of its properties."""
    kind = draw.choice(["absolute", "relative", "hierarchical"])
    return ps.IntervalDisclosure(
        draw.choice(["0", "0.5", "1", *([] if kind == "hierarchical" else ["2"])]),
        draw.choice(["1/3", "1/2", "3/4"]),
        kind,
    )


@few
@given(
    table=rows(st.sampled_from(NUMBERS)),
    width=WIDTHS,
    share=SHARES,
    distance=st.sampled_from(["absolute", "relative"]),
)
def test_near_numbers_are_those_of_the_definition(
    engine: Any, table: Any, width: str, share: str, distance: str
) -> None:
    found = verdict(engine, table, ps.IntervalDisclosure(width, share, distance))
    expected = oracle.interval_disclosure(table, Fraction(width), Fraction(share), distance)
    assert (found.value, found.safe) == expected
    assert_the_template_agrees(engine, table, ps.IntervalDisclosure(width, share, distance), expected.value)


def assert_the_template_agrees(engine: Any, table: Any, criterion: Any, value: Any, **settings: Any) -> None:
    """More counts than are fetched are judged in SQL: the same value, worst case and failing groups."""
    frame = pd.DataFrame(list(table), columns=["g", "s"], dtype=object)
    base = count(engine, ps.Table(frame, ["g"], "s", **settings))
    grouping = Grouping.by(base, base.own_keys())
    rows = engine.fetch(evidence(grouping, criterion))
    assert criterion.judge(rows).value == value
    each = {row["g"]: row for row in engine.fetch(evidence(grouping, criterion, by_group=True))}
    for row in criterion.gather(grouping):
        groups = row["groups"].tolist()
        assert row["g"] == min(groups)
        assert {name: row[name] for name in each[row["g"]]} == each[row["g"]]
        for group in groups:
            assert each.pop(group)["n_near"] == row["n_near"]
    assert not each
    broken = criterion.failing(engine.fetch(evidence(grouping, criterion, by_group=True)))
    assert failing(grouping, criterion) == set(broken)


@few
@given(table=rows(st.sampled_from(ILLS)), cells=APART, width=st.integers(0, 3), share=SHARES)
def test_balls_are_drawn_round_every_value_of_the_matrix(
    engine: Any, table: Any, cells: list[int], width: int, share: str
) -> None:
    matrix = {one: {one: 0} for one in "abcd"}
    for (one, other), cell in zip(itertools.combinations("abcd", 2), cells, strict=True):
        matrix[one][other] = matrix[other][one] = cell
    criterion = ps.IntervalDisclosure(width, share, "matrix")
    found = verdict(engine, table, criterion, distances={"s": matrix})
    expected = oracle.interval_disclosure(table, Fraction(width), Fraction(share), "matrix", matrix)
    assert (found.value, found.safe) == expected
    assert_arrays_agree(table, criterion, expected.value, distances={"s": matrix})


@few
@given(table=rows(st.sampled_from(ILLS)), width=limits("0", "1"), share=SHARES)
def test_near_in_a_hierarchy_is_what_has_one_label(
    engine: Any, table: Any, width: Fraction, share: str
) -> None:
    found = verdict(
        engine,
        table,
        ps.IntervalDisclosure(str(width), share, "hierarchical"),
        sensitive_hierarchy=ps.Tree(PATHS),
    )
    expected = oracle.interval_disclosure(table, width, Fraction(share), "hierarchical", PATHS)
    assert (found.value, found.safe) == expected
    asked = ps.IntervalDisclosure(str(width), share, "hierarchical")
    assert_the_template_agrees(engine, table, asked, expected.value, sensitive_hierarchy=ps.Tree(PATHS))


def assert_arrays_agree(table: Any, criterion: Any, value: Any, **settings: Any) -> None:
    frame = pd.DataFrame(list(table), columns=["g", "s"], dtype=object)
    with engines.opened() as engine:
        base = count(engine, ps.Table(frame, ["g"], "s", **settings))
        assert criterion.decide(InMemory(base, with_sensitive=True).groups((0,))).value == value


@few
@given(table=rows(st.sampled_from(["9", "10", "-1", "a", None])), share=SHARES)
def test_at_width_zero_it_is_the_probabilistic_l_diversity(engine: Any, table: Any, share: str) -> None:
    numbers = [(group, None if value == "a" else value) for group, value in table]
    ell = str(1 / Fraction(share))
    near = verdict(engine, numbers, ps.IntervalDisclosure(0, share))
    alike = verdict(engine, numbers, ps.LDiversity(ell, kind="probabilistic"))
    assert (near.value, near.safe) == (alike.value, alike.safe)


@given(
    numbers=st.lists(st.fractions(min_value=-4, max_value=4, max_denominator=3), max_size=9),
    width=limits("0", "3"),
    relative=st.booleans(),
)
def test_every_window_lies_in_two_neighbouring_bins_and_every_bin_in_one_window(
    numbers: list[Fraction], width: Fraction, relative: bool
) -> None:
    line = near_values.by_number([*numbers, None], width, relative=relative)
    bins, places = near_values.bins(line), line.place.tolist()
    reach = line.upto.tolist()
    for place, upto, own in zip(places, reach, bins, strict=True):
        inside = {bins[i] for i, other in enumerate(places) if place <= other <= upto}
        assert inside <= {own, own + 1}
        same = [i for i, other in enumerate(bins) if other == own]
        assert max(places[i] for i in same) <= max(
            reach[i] for i in same if places[i] == min(places[j] for j in same)
        )
        for i, other in enumerate(places[:-1]):
            near = place > 0 and oracle._near(
                [numbers[places.index(place)], numbers[i]], width, "relative" if relative else "absolute"
            )
            assert (place <= other <= upto) is bool(near and other >= place)


@given(
    texts=st.lists(
        st.sampled_from(
            [
                "1",
                "1.0",
                "1.25",
                "-2",
                "0",
                "-0.1",
                "7e3",
                "0.0000001",
                "4611686018427387903",
                "-9e18",
                "1e30",
            ]
        )
        | st.none(),
        max_size=9,
    ),
    width=st.sampled_from(["0", "0.1", "2.25", "1/3", "9e18"]).map(Fraction),
    relative=st.booleans(),
)
def test_what_is_near_follows_from_the_exact_numbers_however_large(
    texts: list[str | None], width: Fraction, relative: bool
) -> None:
    numbers = [None if text is None else Decimal(text) for text in texts]
    line = near_values.by_number(numbers, width, relative=relative)
    exact = [None if number is None else Fraction(number) for number in numbers]
    order = sorted({number for number in exact if number is not None})
    assert line.place.tolist() == [0 if n is None else order.index(n) + 1 for n in exact]
    for number, upto in zip(exact, line.upto.tolist(), strict=True):
        kind = "relative" if relative else "absolute"
        near = [
            n for n in order if number is not None and n >= number and oracle._near([number, n], width, kind)
        ]
        assert upto == (order.index(max(near)) + 1 if near else 0)


@given(
    counts=st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 6), st.integers(1, 3)),
        min_size=1,
        max_size=14,
        unique_by=lambda count: count[:2],
    ),
    width=st.integers(0, 3),
)
def test_windows_of_values_that_share_a_place_are_those_of_the_definition(
    counts: list[tuple[int, int, int]], width: int
) -> None:
    numbers = [None, 1, 1, 2, 4, 4, 9]  # of the codes
    line = near_values.by_number(numbers, Fraction(width))
    found = _near.fullest_of_kinds(*map(np.array, zip(*counts, strict=True)), [*range(7)], line)
    told = {int(g): row for row in found for g in row["groups"]}
    assert sorted(told) == sorted({g for g, _, _ in counts})
    for group, row in told.items():
        own = [(numbers[code], n) for g, code, n in counts if g == group]
        starts = {value for value, _ in own}
        held = {
            start: [
                (value, n)
                for value, n in own
                if (value is start if start is None or value is None else start <= value <= start + width)
            ]
            for start in starts
        }
        most = max(sum(n for _, n in window) for window in held.values())
        assert (row["n_people"], row["n_near"]) == (sum(n for _, n in own), most)
        if row["g"] == group:
            window = next(
                window
                for start, window in sorted(
                    held.items(), key=lambda item: (item[0] is not None, item[0] or 0)
                )
                if sum(n for _, n in window) == most
            )
            values = {value for value, _ in window}
            assert row["n_values"] == len(values)
            ends = [
                0 if v is None else numbers.index(v)
                for v in (min(values, key=lambda v: v or 0), max(values, key=lambda v: v or 0))
            ]
            assert [row["low"], row["high"]] == ends


def test_a_merged_group_is_never_worse_than_both_parts_as_it_is_with_centres_that_occur(engine: Any) -> None:
    parts = [("x", "0"), ("x", "2"), ("y", "1"), ("y", "3")]
    whole = [("z", value) for _, value in parts]
    asked = ps.IntervalDisclosure(2, "3/4")
    assert verdict(engine, parts, asked).value == 1 and verdict(engine, whole, asked).value == Fraction(3, 4)


def test_many_groups_of_near_values_and_a_worse_one_are_told_by_it(engine: Any) -> None:
    """The bins leave only a few groups to be looked at closely, and the worst is among them."""
    table = [(f"g{group}", str(10 * n + group % 7)) for group in range(300) for n in range(4)]
    table += [("h", "8.5"), ("h", "11"), ("h", "40"), ("h", "90")]
    asked = ps.IntervalDisclosure(3, "1/4")
    found = verdict(engine, table, asked)
    assert_the_template_agrees(engine, table, asked, Fraction(1, 2))
    assert (found.value, found.safe) == (Fraction(1, 2), False)
    assert (found.witness["size"], found.witness["count"], found.witness["values"]) == (4, 2, 2)


def test_group_numbers_that_leave_no_room_for_a_place_are_counted_the_same() -> None:
    line = near_values.by_number([Fraction(n) for n in range(5)], Fraction(1))
    g, s, n = [3, 3, 9, 9, 9, 1], [2, 5, 1, 2, 4, 3], [1, 4, 2, 2, 3, 6]

    def counted(groups: list[int]) -> list[dict[str, Any]]:
        found = _near.fullest_of_kinds(np.array(groups), np.array(s), np.array(n), [1, 2, 3, 4, 5], line)
        return [{**row, "g": groups.index(row["g"]), "groups": len(row["groups"])} for row in found]

    assert counted(g) == counted([2**61 + group for group in g]) == counted([group - 10 for group in g])
    assert [row["n_near"] for row in counted(g)] == [4, 6, 4]


def test_more_counts_than_are_fetched_are_judged_in_sql(engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, table = ps.IntervalDisclosure(1, "1/2"), [("x", "1"), ("x", "2"), ("x", "9"), ("y", None)]
    fetched = verdict(engine, table, asked)
    monkeypatch.setattr("privacy_sql.criteria.interval_disclosure.MOST_COUNTS", 0)
    monkeypatch.setattr(_near, "fullest_of_kinds", None)
    assert verdict(engine, table, asked).to_json() == fetched.to_json()


def test_the_witness_counts_and_only_on_request_names_the_ends(engine: Any) -> None:
    table = [("x", str(50000 + n)) for n in range(6)] + [("y", "1"), ("y", "90")]
    found = verdict(engine, table, ps.IntervalDisclosure("5", "1/2"))
    assert found.story == "In the worst group 6 of 6 people have a value within 5 of each other."
    assert {name: found.witness[name] for name in ("size", "count", "values", "width")} == {
        "size": 6,
        "count": 6,
        "values": 6,
        "width": "5",
    }
    assert "50000" not in str(found.to_json()) + repr(found)
    assert found.witness.reveal()["interval"] == ["50000", "50005"]


@pytest.mark.parametrize("stray", ["many", "nan", "inf", "", "1_000"])
def test_values_that_are_no_numbers_are_refused_without_naming_them(engine: Any, stray: str) -> None:
    for distance in ("absolute", "relative"):
        with pytest.raises(ps.PrivacySqlError) as problem:
            verdict(engine, [("x", "1"), ("x", stray)], ps.IntervalDisclosure(1, "1/2", distance))
        assert problem.value.exit == 3 and "many" not in str(problem.value)


def test_numbers_a_double_cannot_tell_apart_are_refused(engine: Any) -> None:
    for near in ("9007199254740992", "9007199254740992.5"):
        with pytest.raises(ps.PrivacySqlError) as problem:
            verdict(engine, [("x", "9007199254740993"), ("y", near)], ps.IntervalDisclosure(0, "1/2"))
        assert problem.value.exit == 3 and "90071" not in str(problem.value)
    alike = [("x", "9007199254740993"), ("x", "9007199254740993.0")]
    assert verdict(engine, alike, ps.IntervalDisclosure(0, "1/2")).value == 1


def test_native_numbers_are_read_as_they_are_written() -> None:
    with engines.opened() as engine:
        # 0.8 - 0.7 lies above 0.1 in single and in double precision, and in what a reader sees it does not
        for values, kind in (([0.7, 0.8], "float64"), ([0.7, 0.8], "float32"), ([7, 8], "int64")):
            frame = pd.DataFrame({"g": ["x", "x"], "s": pd.Series(values, dtype=kind)})
            width = Fraction(str(values[1])) - Fraction(str(values[0]))
            asked = ps.IntervalDisclosure(str(width), "1/2")
            (found,) = ps.check(engine, ps.Table(frame, ["g"], "s"), [asked]).values()
            assert found.value == 1


def test_people_with_several_values_each_are_refused(engine: Any) -> None:
    frame = pd.DataFrame({"id": ["p", "p"], "g": ["x", "x"], "s": ["1", "2"]})
    table = ps.Table(frame, ["g"], "s", identifier="id", values_per_person="set")
    with pytest.raises(ps.PrivacySqlError, match="several values"):
        ps.check(engine, table, [ps.IntervalDisclosure(1, "1/2")])


def test_a_matrix_or_a_hierarchy_that_is_missing_is_asked_for(engine: Any) -> None:
    for distance, word in (("matrix", "distance matrix"), ("hierarchical", "hierarchy")):
        with pytest.raises(ps.PrivacySqlError, match=word) as problem:
            verdict(engine, [("x", "a")], ps.IntervalDisclosure(1, "1/2", distance))
        assert problem.value.exit == 2
    with pytest.raises(ps.PrivacySqlError, match="does not cover 1 value") as problem:
        verdict(
            engine, [("x", "z")], ps.IntervalDisclosure(1, "1/2", "matrix"), distances={"s": {"a": {"a": 0}}}
        )
    assert problem.value.exit == 3


def test_a_matrix_that_would_make_too_many_pairs_is_refused(
    engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("privacy_sql.criteria.interval_disclosure.MOST_PAIRS", 3)
    matrix = {"a": {"a": 0, "b": 1}, "b": {"a": 1, "b": 0}}
    criterion = ps.IntervalDisclosure(0, "1/2", "matrix")
    found = verdict(engine, [("x", "a"), ("x", "b")], criterion, distances={"s": matrix})
    assert found.value == Fraction(1, 2)
    with pytest.raises(ps.PrivacySqlError, match="too many"):
        verdict(engine, [("x", "a"), ("y", "b")], criterion, distances={"s": matrix})


def test_a_width_above_the_height_of_a_hierarchy_is_refused() -> None:
    assert ps.IntervalDisclosure("1.0", "1/2", "hierarchical").width == "1.0"
    for width in ("1.000001", 2, "4/3"):
        with pytest.raises(ps.PrivacySqlError, match="at most 1") as problem:
            ps.IntervalDisclosure(width, "1/2", "hierarchical")
        assert problem.value.exit == 2


@pytest.mark.parametrize(
    ("width", "share"),
    [("-1", "1/2"), ("nan", "1/2"), ("x", "1/2"), (1, "1"), (1, "0"), (1, "1.5"), (1, "nan"), (1, True)],
)
def test_a_limit_out_of_range_is_refused(width: Any, share: Any) -> None:
    with pytest.raises(ps.PrivacySqlError) as problem:
        ps.IntervalDisclosure(width, share)
    assert problem.value.exit == 2


def test_a_release_that_keeps_a_matrix_is_audited_by_the_same_matrix(tmp_path: Path) -> None:
    frame = pd.DataFrame({"age": [1, 2, 3, 4], "s": list("abab")})
    matrix = {"a": {"a": 0, "b": 2}, "b": {"a": 2, "b": 0}}
    table = ps.Table(frame, {"age": ps.Intervals(2)}, "s", distances={"s": matrix})
    with engines.opened() as engine:
        asked = ps.IntervalDisclosure(1, "1/2", "matrix")
        release = ps.publish(engine, table, [asked], ps.FullDomain())
        manifest = ps.write(engine, release, tmp_path / "out.csv")
        assert release.safe and manifest.is_file()
        seen = rejudge(engine, manifest)
    assert [fault.code for fault in seen.faults] == ["not_judged"]
