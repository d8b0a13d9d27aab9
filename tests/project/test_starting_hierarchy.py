"""The hierarchy and the role that a column gets before anybody has said what it means."""

from __future__ import annotations

import datetime
import random
from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import pytest

from privacy_sql.cli.main import run
from privacy_sql.engines import connect
from privacy_sql.hierarchies import from_spec
from privacy_sql.project.proposing import Proposed, propose
from privacy_sql.project.starting_hierarchy import BANDS, MOST_PREFIXES, widths


def proposed(tmp_path: Path, columns: Mapping[str, Sequence[object]], *quasi: str) -> dict[str, Proposed]:
    path = tmp_path / "people.csv"
    rows = zip(*columns.values(), strict=True)
    path.write_text("\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)]) + "\n")
    with connect() as engine:
        return {part.column: part for part in propose(engine, path, quasi)[0]}


def test_widths_are_round_nest_and_leave_several_bands() -> None:
    draw = random.Random(1)
    for _ in range(1500):
        extent, whole = draw.uniform(1, 10 ** draw.randrange(1, 8)), draw.random() < 0.5
        found = widths(extent, whole=whole)
        assert all(str(int(width.scaleb(9))).strip("0") in ("1", "2", "5") for width in found)
        assert all(wider % finer == 0 for finer, wider in pairwise(found))
        assert extent / float(found[0]) <= BANDS
        assert len(found) == 1 or extent / float(found[-1]) >= 1.5
        assert not whole or found[0] > 1  # a band of one whole number hides nothing


def test_bands_fit_what_most_people_have_and_the_few_beyond_are_hidden_together(tmp_path: Path) -> None:
    ages = [18 + n % 62 for n in range(1000)] + [97, 99]
    found = proposed(
        tmp_path,
        {
            "age": ages,
            "children": [0, 0, 0, 1, 1, 2] * 160 + [3] * 30 + [4] * 6 + [9] * 6,
            "grade": [1 + n % 14 for n in range(1002)],
            "stars": [1 + n % 5 for n in range(1002)],
            "illness": [f"v{n % 4}" for n in range(1002)],
        },
    )
    assert found["age"].hierarchy == {"intervals": [5, 10, 20], "clip": {"top": 80}}
    assert found["grade"].hierarchy == {"intervals": [5]}
    age = from_spec(found["age"].hierarchy, "age", tmp_path)
    assert [age.label(97, level) for level in range(1, 6)] == ["80+"] * 4 + ["*"]
    assert found["children"].hierarchy == {"clip": {"top": 2}}  # fewer than 5 % have more
    assert found["stars"].hierarchy == "keep_or_drop"


def test_of_few_numbers_the_largest_are_hidden_together(tmp_path: Path) -> None:
    rooms = [1, 2, 3, 4] * 240 + [5] * 22 + [6] * 10 + [12] * 8
    found = proposed(tmp_path, {"rooms": rooms, "illness": [f"v{n % 4}" for n in range(1000)]})
    assert found["rooms"].hierarchy == {"clip": {"top": 4}}
    assert from_spec(found["rooms"].hierarchy, "rooms", tmp_path).label(12, 1) == "4+"


def test_fractions_get_bands_of_fractions(tmp_path: Path) -> None:
    found = proposed(
        tmp_path, {"bmi": [f"{18 + (n % 230) / 10:.1f}" for n in range(3000)], "x": [1, 2] * 1500}
    )
    spec = found["bmi"].hierarchy
    assert spec == {"intervals": ["1.0", "5.0", "10.0"]}
    assert from_spec(spec, "bmi", tmp_path).label("20.4", 2) == "[20, 25)"


@pytest.mark.parametrize(
    ("years", "units"),
    [
        (1, ["month", "quarter"]),
        (3, ["month", "quarter", "year"]),
        (9, ["month", "quarter", "year", "five_years"]),
        (70, ["month", "quarter", "year", "five_years", "decade"]),
    ],
)
@pytest.mark.parametrize("time", ["", " 13:05"])
def test_dates_are_coarsened_as_far_as_they_reach(
    tmp_path: Path, years: int, units: list[str], time: str
) -> None:
    start = datetime.date(2024 - years + 1, 1, 1)
    days = [f"{start + datetime.timedelta(days=n * years * 365 // 900)}{time}" for n in range(900)]
    found = proposed(tmp_path, {"born": days, "illness": [f"v{n % 4}" for n in range(900)]})
    assert found["born"].hierarchy == {"dates": [*(["day"] if time else []), *units]}


def test_codes_lose_one_character_at_a_time_where_that_hides_something(tmp_path: Path) -> None:
    codes = [f"A{n % 3}{n % 7}{n % 10}." for n in range(420)]  # the first says nothing, nor does the last
    found = proposed(
        tmp_path, {"icd_area_code": codes, "zip": [f"{n:05d}" for n in range(420)]}, "zip", "icd_area_code"
    )
    assert found["icd_area_code"].hierarchy == {"mask": [3, 2, 0]}
    zips = found["zip"].hierarchy
    assert zips == {"mask": [4, 3, 0]}  # 00000 to 00419: two digits and fewer are the same for all
    long = [f"{n:03d}" * 4 for n in range(420)]
    (spec,) = [proposed(tmp_path, {"policy": long, "sex": [1, 2] * 210}, "policy")["policy"].hierarchy]
    assert isinstance(spec, Mapping) and spec["mask"] == [2, 1, 0] and len(spec["mask"]) <= MOST_PREFIXES + 1


def test_few_numbers_of_one_length_that_begin_with_0_are_codes(tmp_path: Path) -> None:
    columns = {
        "zip": [f"{1000 + 14 * (n % 40):05}" for n in range(800)],
        "year": [1950 + n % 40 for n in range(800)],
        "illness": ["flu", "cold", "gout", "rash"] * 200,
    }
    found = proposed(tmp_path, columns, "zip", "year")
    assert found["zip"].hierarchy == {"mask": [3, 0]}
    label = from_spec(found["zip"].hierarchy, "zip", tmp_path).label
    assert label("01028", 1) == "010**"  # and not 1000-1099
    assert "intervals" in str(found["year"].hierarchy)


def test_amounts_of_one_length_are_numbers_and_postcodes_are_codes(tmp_path: Path) -> None:
    found = proposed(
        tmp_path,
        {
            "paid": [20000 + 100 * (n % 95) for n in range(1000)],
            "postcode": [20000 + 100 * (n % 95) for n in range(1000)],
            "area": [f"{100 * (n % 95):05d}" for n in range(1000)],
        },
        "paid",
        "postcode",
        "area",
    )
    assert found["paid"].hierarchy == {"intervals": [500, 1000, 2000]}
    for name in ("postcode", "area"):
        spec = found[name].hierarchy
        assert isinstance(spec, Mapping) and "mask" in spec


WORDS = ("pain", "sleep", "care", "visit", "again", "no", "change", "since")
N = 1200


def hospital(draw: random.Random) -> dict[str, list[object]]:
    """Columns of which a person knows at once what they are."""

    def some(*values: object) -> list[object]:
        return [draw.choice(values) for _ in range(N)]

    return {
        "row_number": list(range(N)),
        "patient_id": [f"P{n:05d}" for n in range(N)],
        "surname": some(*(f"Sn{n}" for n in range(40))),
        "first_name": some("Ada", "Bob", "Cem", "Dee"),
        "email": [f"a{n}@example.org" for n in range(N)],
        "street": some(*(f"High St {n}" for n in range(300))),
        "age": [draw.randrange(18, 90) for _ in range(N)],
        "sex": some("F", "M"),
        "weight_kg": [f"{round(draw.gauss(75, 12))}.5" for _ in range(N)],
        "cost_eur": [f"{draw.lognormvariate(7, 1):.2f}" for _ in range(N)],
        "income": some(*range(1000, 4000, 100)),
        "diagnosis": some("flu", "gout", "asthma"),
        "note": [" ".join(draw.choices(WORDS, k=6)) + f" {n}" for n in range(N)],
        "hospital": ["North"] * N,
        "survey_weight": [f"{draw.uniform(1, 9):.3f}" for _ in range(N)],
    }


def test_names_ways_to_reach_somebody_and_free_text_are_never_quasi_identifiers(tmp_path: Path) -> None:
    table = hospital(random.Random(3))
    found = proposed(tmp_path, table)
    profiled = run(["profile", "--source", str(tmp_path / "people.csv")])
    (rows,) = profiled.more["tables"].values()
    for told in (
        {name: (part.role, part.reason) for name, part in found.items()},
        {row["column"]: (row["role"], row["reason"]) for row in rows},
    ):
        assert told["patient_id"][0] == "identifier"  # and not the number of the row, which comes first
        for name in ("surname", "first_name", "email", "street", "row_number"):
            assert told[name][0] == "drop" and told[name][1].startswith("direct identifier: "), name
        assert told["note"] == ("drop", "free text, which may name people")
        assert told["hospital"] == ("drop", "it has one value")
        assert told["diagnosis"][0] == "sensitive" and told["income"][0] == "drop"
        assert "one is proposed, diagnosis" in told["income"][1]
        assert told["weight_kg"][0] == "quasi" and "survey weight" in told["survey_weight"][1]
        assert "number of its own" in told["cost_eur"][1]


def test_a_column_somebody_can_know_stays_where_others_single_out_everybody_before(tmp_path: Path) -> None:
    draw = random.Random(4)
    days = [datetime.date(1950, 1, 1) + datetime.timedelta(days=draw.randrange(18000)) for _ in range(N)]
    columns: dict[str, list[object]] = {
        "birth_date": list(days),
        "zip": [f"{draw.randrange(90000):05d}" for _ in range(N)],
        "sex": [draw.choice("FM") for _ in range(N)],
        "gender": [],
        "city": [draw.choice(["Ash", "Elm", "Oak"]) for _ in range(N)],
        **{f"c{place}": [draw.randrange(5) for _ in range(N)] for place in range(8)},
        "illness": [draw.choice("abc") for _ in range(N)],
    }
    columns["gender"] = [{"F": "w", "M": "m"}[str(sex)] for sex in columns["sex"]]
    found = proposed(tmp_path, columns)
    quasi = [name for name, part in found.items() if part.role == "quasi"]
    assert quasi == ["birth_date", "zip", "sex", "city"]  # gender is sex with other letters
    assert "once those before are coarser" in found["sex"].reason
    assert "already" in found["c0"].reason


def test_what_is_named_sensitive_is_said_to_be_named_and_two_are_explained(tmp_path: Path) -> None:
    proposed(tmp_path, hospital(random.Random(5)))
    source = str(tmp_path / "people.csv")
    one = run(["init", "--from", source, "--sensitive", "income", str(tmp_path / "one")])
    said = "\n".join(one.lines)
    assert "you named income" in said and "one is proposed" not in said
    run(["init", "--from", source, "--sensitive", "income,diagnosis", str(tmp_path / "two")])
    text = (tmp_path / "two" / "privacy.yml").read_text()
    assert "Each is judged against somebody who knows the others" in text
    assert "knows the others" not in (tmp_path / "one" / "privacy.yml").read_text()


def test_a_person_with_several_rows_is_still_a_person(tmp_path: Path) -> None:
    people = [f"P{n // 3:04d}" for n in range(600)]
    sexes, ages = [["F", "M"][n // 3 % 2] for n in range(600)], [30 + n // 3 % 20 for n in range(600)]
    found = proposed(
        tmp_path,
        {"patient_no": people, "sex": sexes, "age": ages, "diagnosis": [f"d{n % 5}" for n in range(600)]},
    )
    assert (
        found["patient_no"].role == "identifier" and "200 people have 600 rows" in found["patient_no"].reason
    )
    place = tmp_path / "p"
    assert run(["init", "--from", str(tmp_path / "people.csv"), str(place)]).exit == 0
    assert "values_per_person: set" in (place / "privacy.yml").read_text()
    assert run(["search", "--project", str(place), "--goal", "best"]).exit in (0, 5)


def test_decimal_widths_are_exact() -> None:
    assert widths(0.02, whole=False)[0] in (Decimal("0.001"), Decimal("0.0010"))
