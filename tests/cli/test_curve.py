"""`privacy-sql curve`: both curves of a table, and of every release of a project."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from privacy_sql.cli.main import main, run

FIG_3 = "sex,disease\n" + "".join(
    f"{sex},{disease}\n"
    for sex, diseases in (
        ("M", ["Flu", "Flu", "Lung", "Lung", "Mumps"]),
        ("F", ["Flu", "Flu", "Breast", "Heart", "Ovarian"]),
    )
    for disease in diseases
)


@pytest.fixture
def people(tmp_path: Path) -> list[str]:
    source = tmp_path / "people.csv"
    source.write_text(FIG_3)
    return ["--source", str(source), "--quasi", "sex", "--sensitive", "disease"]


def test_curve_prints_the_exact_values_of_both_languages(
    people: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        main(["curve", *people, "--facts", "2", "--json"])
    assert left.value.code == 0
    content = json.loads(capsys.readouterr().out)
    assert (content["verb"], content["rows"], content["groups"]) == ("curve", 10, 2)
    (curve,) = content["curves"]
    assert [point["value"] for point in curve["implications"]] == ["2/5", "2/3", "1"]
    assert [point["value"] for point in curve["negations"]] == ["2/5", "2/3", "1"]


def test_curve_of_the_example_project_is_that_of_its_release(tmp_path: Path) -> None:
    assert run(["init", "--example", str(tmp_path)]).exit == 0
    outcome = run(["curve", "--project", str(tmp_path), "--facts", "3"])
    assert outcome.exit == 0, outcome.errors
    (curve,) = outcome.more["curves"]
    assert curve["groups"] < 2000
    assert 0 < curve["implications"][0]["value_float"] < curve["implications"][3]["value_float"] <= 1


@pytest.mark.parametrize("facts", ["-1", "10001", "x"])
def test_a_number_of_facts_out_of_range_is_a_usage_error(people: list[str], facts: str) -> None:
    outcome = run(["curve", *people, "--facts", facts])
    assert outcome.exit == 2 and outcome.errors
