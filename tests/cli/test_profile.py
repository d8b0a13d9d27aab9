"""`profile`: kinds, shares of people alone, roles with reasons, and the sets of columns that identify."""

from __future__ import annotations

from pathlib import Path

import pytest

from privacy_sql.cli.main import run
from tests.command_line import call

LINES = [
    f"P{n:03d},{20 + n % 40},20{n % 20:02d}-03-05,{10000 + n % 70},{'CANARY' + str(n % 3)},{n / 7:.2f},\n"
    for n in range(140)
]


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    longest = "a_column_with_a_name_longer_than_any_table_of_a_terminal"
    path.write_text(f"id,age,seen,zip,{longest},weight,nothing\n" + "".join(LINES))
    return path


def test_every_column_has_its_kind_its_share_of_people_alone_and_a_role_with_a_reason(people: Path) -> None:
    told = call("profile", "--source", people, "--json").json
    (rows,) = told["tables"].values()
    kinds = {row["column"]: row["kind"] for row in rows}
    assert list(kinds.values()) == ["identifier", "number", "date", "code", "text", "number", "empty"]
    assert {row["column"]: row["alone"] for row in rows}["id"] == "1"
    assert rows[5]["alone"] == "1" and rows[1]["alone"] == "0"
    assert [row["role"] for row in rows][:4] == ["identifier", "quasi", "quasi", "quasi"]
    assert all(row["reason"] for row in rows)


def test_the_columns_are_aligned_whatever_their_names(people: Path) -> None:
    said = call("profile", "--source", people).out.splitlines()
    head, *rows = said[1:9]
    assert "CANARY" not in "\n".join(said)
    for word in ("kind", "role", "why"):
        place = head.index(word)
        assert all(row[place - 2 : place] == "  " and row[place] != " " for row in rows), word


def test_identify_says_how_many_people_few_columns_single_out(people: Path) -> None:
    asked = ["profile", "--source", people, "--identify", "2", "--quasi", "age,zip"]
    said = call(*asked).out
    # 40 ages and 70 zip codes meet again after 280 people
    assert "140 of 140 people can be singled out with at most 2 columns" in said
    told = call(*asked, "--json").json["identified"]
    (found,) = told.values()
    assert found["people_by_least_size"] == {"1": 0, "2": 140}
    assert call("profile", "--source", people, "--identify", "--quasi", "age,nobody").exit == 2


def test_a_file_without_a_header_shows_nobody(tmp_path: Path) -> None:
    place = tmp_path / "people.csv"
    for day in ("1980-01-{:02d}", "{:02d}.01.1980"):
        place.write_text("".join(f"P{n};CANARY{n};{day.format(n % 28 + 1)};{n % 3}\n" for n in range(90)))
        for words in (
            ["profile", "--source", str(place)],
            ["init", "--from", str(place), str(tmp_path / "p")],
        ):
            outcome = run(words)
            assert outcome.exit == 3 and "CANARY" not in str(outcome.to_json())
            assert [error["code"] for error in outcome.errors] == ["no_header"]
    assert not (tmp_path / "p").exists()
    place.write_text("born,2024-01-01\n" + "".join(f"1980-01-{n % 28 + 1:02d},{n % 5}\n" for n in range(90)))
    assert run(["profile", "--source", str(place)]).exit == 0  # counts of a day


def test_identify_counts_people_and_not_their_rows(tmp_path: Path) -> None:
    visits = tmp_path / "visits.csv"
    rows = [f"p{n},{30 + n % 5},{1000 + n},{ill}" for n in range(60) for ill in ("flu", "cold")]
    visits.write_text("\n".join(["patient_id,age,zip,diagnosis", *rows, ""]))
    told = call("profile", "--source", visits, "--identify", "2", "--quasi", "age,zip")
    assert "60 of 60 people" in told.out, told.everything
    # who asks about the identifier itself asks about rows
    told = call("profile", "--source", visits, "--identify", "1", "--quasi", "patient_id,age")
    assert told.exit == 0 and " of 120 people" in told.out, told.everything
