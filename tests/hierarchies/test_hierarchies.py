"""Hierarchies: labels, nesting, files and specs. test_recode.py holds the SQL to the same labels."""

from __future__ import annotations

import datetime
import doctest
import json
import os
import random
import re
import tracemalloc
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privacy_sql.errors import DataError, PrivacySqlError, UsageError
from privacy_sql.hierarchies import (
    AsIs,
    Breaks,
    Dates,
    Hierarchy,
    Intervals,
    KeepOrDrop,
    Mask,
    Tree,
    from_spec,
)

VECTORS = Path(__file__).parents[2] / "fixtures" / "vectors" / "bt_composition.json"
CANARY = "canary-4711"

PLACES = Tree(
    {
        "Oslo": ["Norway", "Europe", "*"],
        "Bergen": ["Norway", "Europe", "*"],
        "Rome": ["Italy", "Europe", "*"],
        "Lima": ["Peru", "America", "*"],
    }
)
EVERY_KIND: list[Hierarchy] = [
    AsIs(),
    KeepOrDrop(),
    Mask(4, 3, 0),
    Mask(2),
    Intervals(5, 10, 20),
    Intervals(7, origin=-3),
    Intervals(5.0, 10.0),
    Intervals("0.25", "0.5", 2, origin="0.1"),
    Intervals(5, 10, clip={"bottom": 18, "top": 90}),
    Intervals(2, 8, origin=1, clip={"top": 6}),
    Intervals("0.5", clip={"bottom": "-1.25", "top": 3}),
    Intervals(clip={"bottom": 0, "top": 50}),
    Breaks([18, 30, 65], [18, 65]),
    Breaks(-1.5, 0, 2.25),
    Dates("day", "month", "quarter", "year", "five_years", "decade"),
    PLACES,
]
VALUES = (
    st.integers(-200, 200)
    | st.integers()
    | st.decimals(-100, 100, places=2)
    | st.floats(-1000, 1000)
    | st.dates()
    | st.sampled_from(["Oslo", "Rome", "02139", "1e2", " 7 ", "nan", "1_0", "2023-02-29", "2024-02-29", ""])
    | st.text(max_size=8)
)


@pytest.fixture(params=EVERY_KIND, ids=repr)
def hierarchy(request: pytest.FixtureRequest) -> Hierarchy:
    kind: Hierarchy = request.param
    return kind


# --- what every kind promises


def test_the_top_of_every_kind_but_as_is_is_one_star(hierarchy: Hierarchy) -> None:
    if hierarchy != AsIs():
        assert {hierarchy.label(value, hierarchy.height) for value in (None, 3, "x", 2.5)} == {"*"}


def test_null_stays_null_below_the_top(hierarchy: Hierarchy) -> None:
    assert hierarchy.maps(None)
    assert {hierarchy.label(None, level) for level in range(max(1, hierarchy.height))} == {None}


def test_a_level_outside_the_hierarchy_is_refused(hierarchy: Hierarchy) -> None:
    for level in (-1, hierarchy.height + 1):
        with pytest.raises(UsageError, match="levels go from 0 to"):
            hierarchy.label(1, level)


def test_a_recipe_read_back_is_an_equal_hierarchy_with_the_same_checksum(hierarchy: Hierarchy) -> None:
    plain = json.loads(json.dumps(hierarchy.recipe()))
    again = from_spec(plain, "x", Path())
    assert again == hierarchy
    assert again.checksum() == hierarchy.checksum()


def test_equal_hierarchies_have_equal_hashes(hierarchy: Hierarchy) -> None:
    again = from_spec(hierarchy.recipe(), "x", Path())
    assert hash(again) == hash(hierarchy)


def test_different_hierarchies_have_different_checksums() -> None:
    assert len({kind.checksum() for kind in EVERY_KIND}) == len(EVERY_KIND)


@settings(max_examples=150, deadline=None)
@given(st.lists(VALUES.map(str), min_size=2, max_size=12), st.sampled_from(EVERY_KIND))
def test_values_that_share_a_label_share_every_label_above(values: list[str], kind: Hierarchy) -> None:
    covered = [value for value in values if kind.maps(value)]
    for level in range(kind.height):
        above: dict[object, object] = {}
        for value in covered:
            label = kind.label(value, level)
            assert above.setdefault(label, kind.label(value, level + 1)) == kind.label(value, level + 1)


@settings(max_examples=150, deadline=None)
@given(VALUES, st.sampled_from(EVERY_KIND))
def test_a_value_has_a_label_at_every_level_below_the_top_or_at_none(value: object, kind: Hierarchy) -> None:
    labels = [kind.label(value, level) for level in range(max(1, kind.height))]
    assert all((label is not None) == kind.maps(value) for label in labels)


# --- intervals and breaks: a label covers exactly the values recoded into it


def _covers(label: str, value: Fraction) -> bool:
    """What a label says, read by someone who knows nothing but the label."""
    if whole := re.fullmatch(r"(-?\d+)(?:-(-?\d+))?", label):
        low, high = whole.groups()
        return value.denominator == 1 and int(low) <= value <= int(high or low)
    if half_open := re.fullmatch(r"\[(-?[\d.]+), (-?[\d.]+)\)", label):
        low, high = half_open.groups()
        return Fraction(low) <= value < Fraction(high)
    ends = re.fullmatch(r"(<|>=)?(-?[\d.]+)([+])?", label)
    assert ends is not None
    return value < Fraction(ends[2]) if ends[1] == "<" else value >= Fraction(ends[2])


@settings(max_examples=200, deadline=None)
@given(
    st.decimals(-300, 300, places=2),
    st.decimals(-300, 300, places=2),
    st.sampled_from([kind for kind in EVERY_KIND if kind.numeric]),
)
def test_two_values_share_a_label_exactly_when_the_label_covers_both(
    one: Decimal, other: Decimal, kind: Hierarchy
) -> None:
    clips = isinstance(kind, Intervals) and kind.clips  # then most values stand as they are at level 1
    for level in range(2 if clips else 1, kind.height):
        labels = [kind.label(value, level) for value in (one, other)]
        if None in labels:
            continue
        first, second = map(str, labels)
        assert _covers(first, Fraction(one))
        assert _covers(first, Fraction(other)) == (first == second)


@settings(max_examples=100, deadline=None)
@given(
    st.integers(-40, 140).map(str) | st.decimals(-40, 140, places=1).map(str),
    st.sampled_from([kind for kind in EVERY_KIND if isinstance(kind, Intervals) and kind.clips]),
)
def test_level_1_of_a_clip_hides_only_what_lies_beyond_its_ends(value: str, kind: Intervals) -> None:
    bottom, top = kind.bottom, kind.top
    if bottom is not None and Decimal(value) < bottom:
        expected = f"<{bottom}"
    elif top is not None and Decimal(value) >= top:
        expected = f"{top}+"
    else:
        expected = value
    if kind.maps(value):
        assert kind.label(value, 1) == expected
        nested = {kind.label(value, level) for level in range(1, kind.height)}
        assert nested == {expected} or expected == value
    else:
        assert Decimal(value) % 1 and not kind.fractions and kind.widths


@pytest.mark.parametrize(
    ("value", "label"),
    [(0, "0-4"), (4, "0-4"), (5, "5-9"), (-1, "-5--1"), (-5, "-5--1"), ("24.0", "20-24"), (" 1e1 ", "10-14")],
)
def test_whole_numbers_lie_in_bands_named_by_their_ends(value: object, label: str) -> None:
    assert Intervals(5).label(value, 1) == label


@pytest.mark.parametrize(
    "value", [24.5, "24.5", "x", "", "nan", "1_0", "1e999", 10**15, True, "0x10", "２４"]
)
def test_bands_of_whole_numbers_do_not_cover_anything_else(value: object) -> None:
    assert not Intervals(5).maps(value)


def test_the_same_bands_for_fractions_cover_a_fraction() -> None:
    kind = Intervals(5, 10).for_fractions()
    assert kind == Intervals(5.0, 10.0)
    assert (kind.label(24.5, 1), kind.label(-0.5, 2), kind.label(24, 1)) == (
        "[20, 25)",
        "[-10, 0)",
        "[20, 25)",
    )


def test_a_bound_that_binary_numbers_cannot_hold_falls_into_its_own_band() -> None:
    kind = Intervals("0.01")
    for hundredths in range(-300, 300):
        text = f"{Decimal(hundredths).scaleb(-2)}"
        assert str(kind.label(text, 1)).startswith(f"[{text}, ")


def test_a_width_of_one_names_the_number() -> None:
    assert Intervals(1, 2).label(7, 1) == "7"


@pytest.mark.parametrize("widths", [(5, 12), (10, 5), (5, 5), ("0.5", "0.75")])
def test_widths_that_do_not_nest_are_refused_naming_the_level(widths: Sequence[int]) -> None:
    with pytest.raises(UsageError, match="level 2 of the intervals"):
        Intervals(*widths)


@pytest.mark.parametrize(
    "widths", [(), (0,), (-5,), ("five",), (True,), ("1e-7",), (float("nan"),), (10**16,)]
)
def test_widths_that_are_no_widths_are_refused(widths: Sequence[int]) -> None:
    with pytest.raises(UsageError):
        Intervals(*widths)


def test_widths_and_decimals_beyond_exact_arithmetic_are_refused() -> None:
    with pytest.raises(UsageError, match="15 digits"):
        Intervals("0.000001", 10**12)


@pytest.mark.parametrize(
    ("cuts", "message"),
    [
        (([18, 65], [30]), "level 2 of the breaks does not nest"),
        (([18, 65], [18, 65]), "level 2 of the breaks does not nest"),
        (([65, 18],), "level 1 of the breaks needs cut points in ascending order"),
        (([],), "level 1 of the breaks"),
        ((), "level 1 of the breaks"),
        (("18, 65",), "numbers"),
        (([18], 65), "one list"),
    ],
)
def test_breaks_that_do_not_nest_or_rise_are_refused(cuts: tuple[list[int], ...], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Breaks(*cuts)


# --- masks and dates


@pytest.mark.parametrize("kept", [(), (3, 4), (3, 3), (-1,), (True,), ("4",)])
def test_masks_that_do_not_shrink_are_refused(kept: tuple[int, ...]) -> None:
    with pytest.raises(UsageError):
        Mask(*kept)


def test_a_mask_ends_in_a_star_whether_zero_is_written_or_not() -> None:
    assert Mask(4, 3, 0).level_names() == ("raw", "4", "3", "0")
    assert Mask(4, 3).level_names() == ("raw", "4", "3", "*")


def test_a_mask_leaves_shorter_text_alone() -> None:
    assert Mask(3).label("ab", 1) == "ab"


@given(st.dates(datetime.date(1, 1, 1)))
def test_every_day_of_the_calendar_is_covered(day: datetime.date) -> None:
    kind = Dates("day", "month", "year")
    assert [kind.label(day, level) for level in (1, 2, 3)] == [
        day.isoformat(),
        day.isoformat()[:7],
        day.isoformat()[:4],
    ]


@settings(max_examples=300)
@given(st.integers(1, 9999), st.integers(0, 14), st.integers(0, 33))
def test_a_day_is_covered_exactly_when_the_calendar_has_it(year: int, month: int, day: int) -> None:
    try:
        datetime.date(year, month, day)
        exists = True
    except ValueError:
        exists = False
    assert Dates("day").maps(f"{year:04}-{month:02}-{day:02}") == exists


def test_february_29_is_covered_exactly_in_leap_years() -> None:
    kind = Dates("day")
    for year in range(1, 10000):
        leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
        assert kind.maps(f"{year:04}-02-29") == leap


def test_a_timestamp_is_read_as_its_day() -> None:
    moment = datetime.datetime(2024, 12, 31, 23, 59)
    assert [Dates("day", "quarter").label(moment, level) for level in (1, 2)] == ["2024-12-31", "2024-Q4"]


@pytest.mark.parametrize("units", [(), ("week",), ("year", "month"), ("month", "month")])
def test_dates_that_do_not_nest_are_refused(units: tuple[str, ...]) -> None:
    with pytest.raises(UsageError):
        Dates(*units)


# --- trees


def test_the_semantic_distance_agrees_with_the_vectors() -> None:
    cases = json.loads(VECTORS.read_text())["cases"]
    checked = [case for case in cases if case["kind"] == "distance_categorical"]
    assert len(checked) == 2
    for case in checked:
        given_, tree = case["input"], Tree(case["input"]["paths"])
        assert tree.distance(given_["a"], given_["b"]) == Fraction(case["expect"]["d"]), case["id"]


def test_a_value_is_at_distance_zero_from_itself_only() -> None:
    leaves = PLACES.nodes[0]
    assert {(a, b) for a in leaves for b in leaves if PLACES.distance(a, b) == 0} == {(a, a) for a in leaves}


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1), st.integers(0, 2)), min_size=2, unique=True))
def test_the_distance_is_the_lowest_level_with_one_label_over_the_height(
    rows: list[tuple[int, int, int]],
) -> None:
    tree = Tree({f"{a}{b}{c}": [f"{a}{b}", f"{a}", "*"] for a, b, c in rows})
    for one in tree.nodes[0]:
        for other in tree.nodes[0]:
            shared = next(level for level in range(4) if tree.label(one, level) == tree.label(other, level))
            assert tree.distance(one, other) == Fraction(shared, tree.height)


def test_a_label_at_two_levels_is_two_nodes() -> None:
    tree = Tree(
        {
            "Private": ["Private", "Paid", "*"],
            "Local": ["Government", "Paid", "*"],
            "None": ["None", "None", "*"],
        }
    )
    assert tree.leaves_under(2) == {"Paid": 2, "None": 1}
    assert tree.distance("Private", "Local") == Fraction(2, 3)


def test_the_leaves_under_each_level_add_up_to_all_leaves() -> None:
    assert [sum(PLACES.leaves_under(level).values()) for level in range(4)] == [4, 4, 4, 4]
    assert PLACES.leaves_under(3) == {"*": 4}


def test_a_star_is_added_only_when_the_last_level_is_not_one_value() -> None:
    assert Tree({"a": ["A"], "b": ["B"]}).level_names() == ("raw", "level 1", "*")
    assert Tree({"a": ["any"], "b": ["any"]}).level_names() == ("raw", "*")
    assert Tree({"a": ["any"], "b": ["any"]}).label("a", 1) == "*"
    assert Tree({"a": []}).height == 1


def test_native_values_are_found_by_their_text() -> None:
    tree = Tree({"24": ["20-29", "*"], "true": ["x", "*"]})
    assert (tree.label(24, 1), tree.label(True, 1), tree.maps(24.5)) == ("20-29", "x", False)


def test_levels_that_are_not_nested_are_refused_naming_the_level() -> None:
    paths = {"a": ["A", "1", "X"], "b": ["A", "2", "X"], "c": ["B", "2", "Y"]}
    with pytest.raises(DataError, match="level 1 of the tree does not nest in level 2: 1 of its labels"):
        Tree(paths)


def test_paths_of_unequal_length_are_refused() -> None:
    with pytest.raises(DataError, match="differ in their number of levels"):
        Tree({"a": ["A", "*"], "b": ["*"]})


def test_a_distance_to_an_unknown_value_is_refused_without_naming_it() -> None:
    with pytest.raises(DataError) as caught:
        PLACES.distance("Rome", CANARY)
    assert CANARY not in str(caught.value)


# --- files


def _file(folder: Path, text: str | bytes) -> Path:
    path = folder / "zip.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(
    "text",
    [
        "a;A;*\nb;B;*\n",
        "a,A,*\nb,B,*\n",
        "a;A\nb;B\n",
        "zip;region;all\na;A;*\nb;B;*",
        "\ufeffa;A\r\nb;B\r\n\r\n",
        '"a",A\nb,B',
    ],
)
def test_files_in_every_accepted_form_give_the_same_labels(tmp_path: Path, text: str) -> None:
    tree = Tree.from_file(_file(tmp_path, text), "zip")
    assert list(tree.rows()) == [("a", "A", "*"), ("b", "B", "*")]


def test_a_header_names_the_levels(tmp_path: Path) -> None:
    path = _file(tmp_path, "zip;region;state\na;A;x\nb;B;y")
    assert Tree.from_file(path, "zip").level_names() == ("raw", "region", "state", "*")


def test_a_first_row_without_the_column_name_is_a_row(tmp_path: Path) -> None:
    path = _file(tmp_path, "zip;region\na;A")
    assert Tree.from_file(path, "postcode").maps("zip")


def test_a_comma_inside_a_value_does_not_split_it(tmp_path: Path) -> None:
    tree = Tree.from_file(_file(tmp_path, 'Aide, home;Care;*\n"semi;colon";Care;*'), "job")
    assert tree.nodes[0] == ("Aide, home", "semi;colon")


def test_equal_rows_count_once(tmp_path: Path) -> None:
    tree = Tree.from_file(_file(tmp_path, "a;A\na;A\nb;B\na;A\n"), "zip")
    assert tree.leaves_under(1) == {"A": 1, "B": 1}


def test_the_checksum_ignores_the_order_of_rows_and_the_place_of_the_file(tmp_path: Path) -> None:
    one = Tree.from_file(_file(tmp_path, "a;A\nb;B\n"), "zip")
    assert one.checksum() == Tree({"b": ["B", "*"], "a": ["A", "*"]}).checksum()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{CANARY};A\n{CANARY};B\n", "1 raw values have two different rows"),
        (f"a;{CANARY};x\nb;{CANARY};y\n", "level 1 of zip.csv does not nest in level 2"),
        (f"a;A\n{CANARY};A;B\n", "differ in their number of levels"),
        (f"a;A\n{CANARY};\n", "line 2 of the hierarchy file zip.csv has an empty cell"),
        (f"a;A\n;{CANARY}\n", "line 2 .* empty cell"),
        (b"a;A\n" + CANARY.encode() + b"\xff;B\n", "line 2 of the hierarchy file zip.csv is not UTF-8"),
        (f'a;A\n"{CANARY};B\n', "a misplaced quote or field"),
        (f"a;A\n{CANARY}\0;B\n", "line 2 .* NUL"),
        (f"a;A\n{CANARY * 20000};B\n", "a misplaced quote or field"),
        ("", "has no rows"),
        ("zip;region\n", "has no rows"),
        (f"zip;region\n{CANARY};A;B\n", "differ in their number of levels"),
    ],
)
def test_a_faulty_file_is_refused_without_echoing_what_it_holds(
    tmp_path: Path, text: str | bytes, message: str
) -> None:
    with pytest.raises(DataError, match=message) as caught:
        Tree.from_file(_file(tmp_path, text), "zip")
    assert CANARY not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_missing_file_is_a_usage_error_that_names_the_place_in_the_project_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the hierarchy file missing does not exist") as caught:
        from_spec({"file": "missing"}, "zip", tmp_path, "quasi_identifiers[1].hierarchy")
    assert caught.value.where == "quasi_identifiers[1].hierarchy.file"


def test_a_tree_of_fifty_thousand_values_stays_within_200_bytes_each(tmp_path: Path) -> None:
    people = 50_000
    path = tmp_path / "big.csv"
    with path.open("w") as file:
        file.writelines(f"value{i};g{i // 10};h{i // 1000};k{i // 10000}\n" for i in range(people))
    tracemalloc.start()
    tree = Tree.from_file(path, "x")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200 * people
    assert tree.leaves_under(3)["k0"] == 10_000


@pytest.fixture
def study_data() -> Path:
    folder = os.environ.get("PRIVACY_SQL_DATA")
    if not folder:
        pytest.skip("needs the data sets: set PRIVACY_SQL_DATA")
    return Path(folder)


def test_the_hierarchies_of_the_study_data_load_with_their_number_of_labels(study_data: Path) -> None:
    sizes = {}
    for path in sorted((study_data / "hierarchies").rglob("*.csv")):
        tree = Tree.from_file(path, path.stem)
        sizes[f"{path.parent.name}/{path.stem}"] = [len(level) for level in tree.nodes]
    assert sizes["adult/age_5_10_20_40"] == [74, 16, 9, 5, 3, 1]
    assert sizes["adult/workclass_fung"] == [8, 5, 2, 1]
    assert sizes["acs2018/occupation"] == [530, 26, 1]
    assert {levels[-1] for levels in sizes.values()} == {1}


# as ARX exports a hierarchy: no header, a semicolon between levels, a quoted cell where it needs one
ARX = {
    "bands": (
        "1;[0, 5[;[0, 10[;*\r\n7;[5, 10[;[0, 10[;*\r\n12;[10, 15[;[10, 20[;*\r\n",
        "7",
        ("[5, 10[", "[0, 10["),
    ),
    "redaction": ("02139;0213*;021**;*****\n02140;0214*;021**;*****\n", "02139", ("0213*", "021**")),
    "order": ('"a;b";"{a;b, c}";*\nc;"{a;b, c}";*\nd;{d};*\n', "a;b", ("{a;b, c}",)),
    "values alone": ("Female;*\nMale;*\n", "Male", ()),
}


@pytest.mark.parametrize(("text", "value", "above"), ARX.values(), ids=ARX)
def test_a_hierarchy_as_arx_exports_it_is_read(
    tmp_path: Path, text: str, value: str, above: tuple[str, ...]
) -> None:
    (tmp_path / "x.csv").write_bytes(text.encode())
    tree = Tree.from_file(tmp_path / "x.csv", "x")
    assert tuple(tree.label(value, level) for level in range(tree.height + 1)) == (value, *above, "*")


@pytest.mark.parametrize("name", ["job.ahs", "job.csv"])
def test_the_rules_of_arx_are_never_executed_and_the_error_says_what_to_export(
    tmp_path: Path, name: str
) -> None:
    """A Java object begins with these bytes, whatever the file is called."""
    (tmp_path / name).write_bytes(b"\xac\xed\x00\x05sr\x00\x10CANARY")
    with pytest.raises(UsageError, match="rules of an ARX hierarchy") as refused:
        Tree.from_file(tmp_path / name, "job")
    assert "export the hierarchy as CSV" in refused.value.hint and "CANARY" not in str(refused.value)


def test_the_hierarchies_that_come_with_arx_are_read(study_data: Path) -> None:
    files = sorted((study_data / "hierarchies" / "arx").glob("*.csv"))
    heights = {path.stem.partition("hierarchy_")[2]: Tree.from_file(path, "x").height for path in files}
    assert (heights["age"], heights["education"], heights["sex"]) == (4, 3, 1) and len(heights) == 9


def test_bands_of_the_age_file_are_those_of_intervals(study_data: Path) -> None:
    tree = Tree.from_file(study_data / "hierarchies" / "adult" / "age_5_10_20_40.csv", "age")
    bands = Intervals(5, 10, 20, 40)
    for age in range(17, 91):
        assert [tree.label(age, level) for level in range(6)] == [
            bands.label(age, level) for level in range(6)
        ]


# --- the project file


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (None, AsIs()),
        ("keep_or_drop", KeepOrDrop()),
        ({"intervals": ["5", "10"]}, Intervals(5, 10)),
        ({"intervals": ["5.0"], "origin": "2"}, Intervals(5.0, origin=2)),
        (
            {"intervals": ["5"], "clip": {"bottom": "18", "top": "90"}},
            Intervals(5, clip={"bottom": 18, "top": 90}),
        ),
        ({"clip": {"top": "90"}}, Intervals(clip={"top": 90})),
        ({"mask": ["4", "3", "0"]}, Mask(4, 3, 0)),
        ({"dates": ["month", "year"]}, Dates("month", "year")),
        ({"breaks": ["18", "65"]}, Breaks(18, 65)),
        ({"breaks": [["18", "65"], ["18"]]}, Breaks([18, 65], [18])),
    ],
)
def test_every_form_of_the_project_file_is_read(spec: object, expected: Hierarchy) -> None:
    assert from_spec(spec, "x", Path()) == expected


@pytest.mark.parametrize(
    ("spec", "where", "message"),
    [
        ({"intervalls": ["5"]}, "h", 'Did you mean "intervals"'),
        ("keep", "h", "keep_or_drop"),
        ([], "h", "names one kind"),
        ({}, "h", "names one kind"),
        ({"mask": ["4"], "dates": ["year"]}, "h", "names one kind"),
        ({"mask": ["4"], "origin": "3"}, "h.origin", 'unknown key "origin"'),
        ({"intervals": ["5", "12"]}, "h.intervals", "level 2"),
        ({"intervals": "5"}, "h.intervals", "expected a list"),
        ({"intervals": ["5"], "origin": "x"}, "h.intervals", "numbers"),
        ({"mask": ["4", "x"]}, "h.mask", "whole numbers"),
        ({"dates": ["years"]}, "h.dates", 'Did you mean "year"'),
        ({"clip": {}}, "h.clip", "a bottom, a top or both"),
        ({"clip": {"topp": "9"}}, "h.clip", "a bottom, a top or both"),
        ({"clip": {"bottom": "9", "top": "9"}}, "h.clip", "below its top"),
        ({"mask": ["4"], "clip": {"top": "9"}}, "h", "names one kind"),
        ({"breaks": ["65", "18"]}, "h.breaks", "ascending order"),
        ({"file": ["a"]}, "h.file", "needs a path"),
        ({"tree": {"a": "A"}}, "h.tree", "list of its labels"),
    ],
)
def test_a_wrong_spec_names_its_place_in_the_project_file(spec: object, where: str, message: str) -> None:
    with pytest.raises(PrivacySqlError, match=message) as caught:
        from_spec(spec, "x", Path(), "h")
    assert (caught.value.where, caught.value.exit) == (where, 2)


def test_a_file_is_found_from_the_project_directory_and_kept_as_written(tmp_path: Path) -> None:
    (tmp_path / "hierarchies").mkdir()
    _file(tmp_path / "hierarchies", "a;A\nb;B\n")
    tree = from_spec({"file": "hierarchies/zip.csv"}, "zip", tmp_path)
    assert tree.to_spec() == {"file": "hierarchies/zip.csv"}
    assert from_spec({"file": str(tmp_path / "hierarchies" / "zip.csv")}, "zip", Path("/")) == tree


def test_shuffled_rows_give_the_same_tree_to_every_caller() -> None:
    paths = {f"v{i}": [f"g{i // 3}", f"h{i // 9}"] for i in range(27)}
    order = list(paths)
    random.Random(7).shuffle(order)
    shuffled = Tree({leaf: paths[leaf] for leaf in order})
    assert sorted(shuffled.rows()) == sorted(Tree(paths).rows())


def test_the_examples_of_the_how_to_page_run() -> None:
    page = Path(__file__).parents[2] / "docs" / "hierarchies.md"
    result = doctest.testfile(str(page), module_relative=False)
    assert result.attempted >= 8
    assert result.failed == 0
