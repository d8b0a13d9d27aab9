"""What looks like one of Safe Harbor's identifiers is found by its values, and nothing is called absent."""

from __future__ import annotations

import json
import random
import string
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.cli.main import run
from privacy_sql.studies.safe_harbor import KINDS
from tests.seeds import START

# kind, name of the column, values that are found, values that are not
VALUES: list[tuple[str, str, list[str], list[str]]] = [
    (
        "B",
        "note",
        ["02139-4307", "Cambridge, MA 02139", "0213*"],
        ["021**", "1980-1989", "2139", "M 5", "12-4567"],
    ),
    ("B", "zip", ["02139", "2139", "021394307"], ["*", "M", "none"]),
    (
        "C",
        "seen",
        ["2024-03-05", "2024-03-05 10:00:00", "3/5/2024", "05.03.24", "2024-03", "2024-q2"],
        ["2024"],
    ),
    (
        "C",
        "note",
        ["on March 5, 2024", "5 mar 2024", "since may 2020", "1st of june", "12-dec-99"][:3],
        ["mars 5"],
    ),
    (
        "C",
        "age",
        ["90", "104", "90-94", "95+", ">=91", " 90.5 "],
        ["89", "90+", "≥90", "80-89", "85-99", "*", "<18"],
    ),
    ("C", "points", [], ["90", "104", "95+"]),
    (
        "D",
        "note",
        ["(617) 555-0123", "617-555-0123 x", "+44 20 7946 0958", "+1.617.555.0123"],
        ["617-5555", "5"],
    ),
    ("D", "phone", ["6175550123", "030 1234567"], ["none", "123"]),
    ("E", "fax", ["6175550123"], ["none"]),
    (
        "C",
        "when",
        [
            "2024Q1",
            "Q1 2024",
            "03/2024",
            "Mar-24",
            "march 5",
            "2024_03_05",
            "２０２４年３月５日",
            "5. März 2024",
        ],
        ["1/2", "2024", "1980-1989", "market 5", "market"],
    ),
    (
        "C",
        "ageAtVisit",
        ["[90, 95)", "[90-95)", "90,94", "93 years", "over 95", "93y", "95 and older", "91\t"],
        ["[80, 90)", ">=90", "90 and older", "<90", "[85, 95)"],
    ),
    (
        "C",
        "note",
        ["a 93-year-old woman", "93 years old.", "aged 104"],
        ["90+ years old", "packaged 93", "9 years old"],
    ),
    ("B", "zipCode", ["MA02139", "[02130-02140)", "'02139", "０２１３９"], ["021--", "02*", "SW1A 1AA"]),
    (
        "D",
        "text",
        ["617–555–0123", "617-5550123", "0049 89 1234567", "tel:6175550123"],
        ["6175550123", "hotel 5"],
    ),
    ("E", "text", ["fax 617-555-0123", "Fax no.: 6175550123"], ["617-555-0123"]),
    ("G", "text", ["219.09.9999", "***-**-9999", "219–09–9999"], ["219099999"]),
    ("G", "ssn_last", ["9999", "219099999.0"], ["*"]),
    ("N", "text", ["see a.com/page", "ed.org"], ["a.b", "ed@uni.org", "end.Then"]),
    ("N", "url", ["a.it"], ["none"]),
    ("O", "text", ["::1", "fe80::", "010.000.000.001"], ["std::x", ":"]),
    ("F", "note", ["Ed <ed@uni.example>", "x.y+z@a-b.co.uk"], ["a@b", "@home", "a @ b.com"]),
    ("G", "note", ["219-09-9999", "ssn 219 09 9999."], ["219-09-99990", "1219-09-9999", "2190-9-9999"]),
    ("G", "ssn", ["219099999"], ["none"]),
    ("L", "car", ["1M8GDM9AXKP042788", "11111111111111111"], ["1M8GDM9AXKP042789", "IM8GDM9AXKP042788"]),
    ("N", "note", ["see https://a.example/x", "WWW.example.org"], ["http", "awww.x"]),
    (
        "O",
        "note",
        ["10.0.0.255", "from 192.168.1.1.", "2001:db8::1", "fe80:0:0:0:1:2:3:4"],
        ["1.2.3", "12:30:45"],
    ),
]


def scan(engine: Any, column: str, values: list[Any], **more: Any) -> Any:
    return ps.safe_harbor(engine, ps.Table(pd.DataFrame({column: values}), [column]), **more)


@pytest.mark.parametrize(
    ("kind", "column", "found", "others"), VALUES, ids=[f"{k} {c}" for k, c, *_ in VALUES]
)
def test_values_are_found_one_by_one(
    engine: Any, kind: str, column: str, found: list[str], others: list[str]
) -> None:
    for value in found:
        seen = scan(engine, column, [value, "other", "other", None])
        assert seen.state(kind) == "found", value
        (one,) = [each for each in seen.seen if each.kind == kind]
        assert (one.rows, one.values, seen.rows) == (1, 1, 4), value
    for value in others:
        assert scan(engine, column, [value, value]).state(kind) != "found", value


def test_one_match_among_many_is_enough_and_is_counted(engine: Any) -> None:
    seen = scan(engine, "note", ["fine"] * 50 + ["ed@uni.example"] * 3 + ["al@uni.example", None])
    (one,) = [each for each in seen.seen if each.kind == "F"]
    assert (one.column, one.rows, one.values) == ("note", 4, 2)


def _checked(text: str) -> bool:
    """The check of a vehicle's number, as the regulation (49 CFR 565.15) words it."""
    worth = dict(zip("ABCDEFGHJKLMNPRSTUVWXYZ", map(int, "12345678123457923456789"), strict=True))
    total = sum(
        weight * (int(sign) if sign.isdigit() else worth[sign])
        for weight, sign in zip((8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2), text, strict=True)
    )
    return "0123456789X"[total % 11] == text[8]


def test_a_vehicle_number_is_one_where_its_digit_says_so(engine: Any) -> None:
    draw = random.Random(START)
    signs = [sign for sign in string.ascii_uppercase + string.digits if sign not in "IOQ"]
    drawn = ["".join(draw.choices(signs, k=17)) for _ in range(300)]
    # at its ninth place stands a digit or X
    drawn += [text[:8] + draw.choice("0123456789X") + text[9:] for text in drawn]
    right = sum(map(_checked, drawn))
    assert 20 < right < 200
    (one,) = [each for each in scan(engine, "car", drawn).seen if each.kind == "L"]
    assert one.state == "found" and one.values == right


@pytest.mark.everywhere
def test_three_digits_are_to_be_decided_without_a_list_of_areas(engine: Any) -> None:
    values = ["021**", "021**", "036**", "000**", "036**", "*"]
    seen = scan(engine, "home", values)
    assert seen.state("B") == "to decide"
    areas = pd.DataFrame({"zip3": ["021", "036"], "people": ["700000", "19999"]})
    few = scan(engine, "home", values, areas=areas)
    assert few.state("B") == "found"
    assert [(each.rows, each.values) for each in few.seen if each.kind == "B"] == [(2, 1)]
    enough = areas.assign(people=["700000", "20000"])
    assert scan(engine, "home", values, areas=enough).state("B") == "not seen"
    # what is not listed, or listed with no number, has nobody
    for listed in (areas[:1], areas.assign(people=["700000", "many"]), areas.assign(people=["700000", None])):
        assert scan(engine, "home", values, areas=listed).state("B") == "found"
    assert scan(engine, "zip", ["021", "021"]).state("B") == "to decide"


def test_a_sign_that_is_not_certain_is_to_be_decided(engine: Any) -> None:
    for kind, column, value in [
        ("B", "zip", "SW1A 1AA"), ("B", "zip", "21"), ("C", "age", "85-94"), ("C", "age", "[85, 95)"),
        ("C", "age", ">90"), ("C", "x", "March"), ("C", "birth_month", "3"), ("C", "weekday", "Monday"),
        ("C", "dob", "03051980"), ("C", "date", "12/31"), ("D", "x", "6175550123"), ("G", "x", "219099999"),
    ]:  # fmt: skip
        assert scan(engine, column, [value, value]).state(kind) == "to decide", value


def test_three_digits_that_lost_their_zeros_are_looked_up_with_them(engine: Any) -> None:
    areas = pd.DataFrame({"zip3": [21, 36], "people": [700_000, 19_999]})
    seen = scan(engine, "zip", ["21", "036", "21", "0"], areas=areas)
    assert [(each.state, each.rows, each.values) for each in seen.seen if each.kind == "B"] == [
        ("found", 1, 1)
    ]


def test_a_code_in_several_rows_of_one_person_is_a_code_and_a_blank_is_none(engine: Any) -> None:
    frame = pd.DataFrame(
        {"id": [1, 1, 2, 2, 3], "code": ["a", "a", "b", "b", " "], "ill": ["x", "y", "x", "y", "x"]}
    )
    several = ps.Table(frame, ["code"], "ill", identifier="id", values_per_person="set")
    found = [(each.column, each.rows, each.values) for each in ps.safe_harbor(engine, several).seen]
    assert found == [("code", 4, 2)]
    assert scan(engine, "x", ["a", "b", "", "", None]).state("R") == "found"
    assert scan(engine, "x", ["", "", None]).state("R") == "not seen"


def test_a_list_without_its_columns_is_refused(engine: Any) -> None:
    with pytest.raises(ps.PrivacySqlError) as problem:
        scan(engine, "zip", ["021"], areas=pd.DataFrame({"zip": ["021"], "people": [1]}))
    assert problem.value.code == "no_areas" and problem.value.exit == 3


def test_a_value_of_their_own_is_a_code_of_a_person(engine: Any) -> None:
    assert scan(engine, "x", ["aB", "Ab", "c"]).state("R") == "found"
    assert scan(engine, "x", ["a", "b", "b"]).state("R") == "not seen"
    assert scan(engine, "x", ["a", None]).state("R") == "not seen"
    assert scan(engine, "x", [f"v{n}" for n in range(39)] + ["v0"]).state("R") == "to decide"


def test_a_name_alone_is_named_and_never_found(engine: Any) -> None:
    for kind, column in {
        "A": "last_name", "B": "county", "H": "MRN", "I": "policy", "J": "account_no", "K": "license",
        "M": "device_serial", "P": "fingerprint", "Q": "photo", "R": "patient_uuid",
    }.items():  # fmt: skip
        seen = scan(engine, column, ["x", "x"])
        assert seen.state(kind) == "named", column
        assert "found" not in {each.state for each in seen.seen}
    for plain in (
        "sex",
        "income",
        "education",
        "state",
        "race",
        "hours_per_week",
        "marital_status",
        "candidate",
    ):
        assert not [each for each in scan(engine, plain, ["x", "x"]).seen], plain


def test_dates_and_numbers_are_read_as_they_are_printed(engine: Any) -> None:
    seen = scan(engine, "admitted", list(pd.to_datetime(["2024-03-05", "2024-03-05", None])))
    assert [(each.kind, each.state, each.rows) for each in seen.seen] == [("C", "found", 2)]
    assert scan(engine, "age", [91, 91, 30, 30]).state("C") == "found"
    assert scan(engine, "age", [89.5, 89.5]).state("C") == "not seen"


def test_nothing_is_called_absent_or_compliant(engine: Any) -> None:
    seen = scan(engine, "sex", ["F", "F", "M", "M"])
    told = "\n".join(seen.sentences())
    assert {seen.state(kind) for kind in KINDS} == {"not seen"} and len(KINDS) == 18
    assert "absent" not in told and "complian" not in told and "A person" in told


def test_what_never_leaves_is_not_scanned(engine: Any) -> None:
    frame = pd.DataFrame({"id": ["1", "2"], "mail": ["a@b.de", "c@d.de"], "sex": ["F", "F"], "w": [1, 2]})
    seen = ps.safe_harbor(engine, ps.Table(frame, ["sex"], identifier="id", drop=["mail"], weight="w"))
    assert seen.columns == ("sex",) and not seen.seen
    # a column without a role leaves with a table that is not published here
    assert ps.safe_harbor(engine, ps.Table(frame, ["sex"], identifier="id")).state("F") == "found"


def test_a_release_is_scanned_as_it_would_be_published(engine: Any) -> None:
    frame = pd.DataFrame({"zip": ["02139", "02141", "02142"], "ill": ["a", "b", "a"]})
    table = ps.Table(frame, {"zip": ps.Mask(3, 0)}, "ill")
    assert ps.safe_harbor(engine, table).state("B") == "found"
    masked = ps.publish(engine, table, [ps.KAnonymity(2)], ps.Generalise({"zip": 1}))
    assert ps.safe_harbor(engine, masked).state("B") == "to decide"
    hidden = ps.publish(engine, table, [ps.KAnonymity(2)], ps.Generalise({"zip": 2}))
    assert ps.safe_harbor(engine, hidden).state("B") == "named"


def test_the_verb_says_it_in_lines_and_json(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age,note\n91,secret@uni.example\n30,\n")
    (tmp_path / "areas.csv").write_text("zip3,people\n021,700000\n")
    words = ["risk", "--source", str(tmp_path / "people.csv"), "--safe-harbor"]
    outcome = run([*words, "--areas", str(tmp_path / "areas.csv")])
    assert outcome.exit == 0
    told = "\n".join(outcome.lines)
    assert "F  found      e-mail addresses: note (1 person, 1 value)" in told and "secret" not in told
    (found,) = outcome.more["safe_harbor"]
    assert found["kinds"]["C"]["columns"] == [{"column": "age", "state": "found", "people": 1, "values": 1}]
    assert "secret" not in json.dumps(outcome.more)
    assert (
        run(["risk", "--source", str(tmp_path / "people.csv"), "--areas", str(tmp_path / "areas.csv")]).exit
        == 2
    )
