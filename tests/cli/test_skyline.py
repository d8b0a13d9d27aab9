"""`privacy-sql skyline`: one value or all, as a table and as JSON, without names unless asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from privacy_sql.cli.main import main, run

SEVEN = "age,job\n" + "".join(
    f"3*,{job}\n" for job in ("exec", "exec", "clerk", "cook", "baker", "nurse", "smith")
)
TABLE_2 = [[0, 4, 0], [1, 3, 1], [2, 1, 3], [2, 2, 2], [3, 0, 4], [3, 1, 2], [4, 0, 3]]


@pytest.fixture
def people(tmp_path: Path) -> list[str]:
    source = tmp_path / "people.csv"
    source.write_text(SEVEN)
    return ["--source", str(source), "--quasi", "age", "--sensitive", "job"]


def asked(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, Any]]:
    with pytest.raises(SystemExit) as left:
        main(["skyline", *arguments, "--json"])
    return int(left.value.code or 0), json.loads(capsys.readouterr().out)


def test_the_skyline_of_one_value_is_that_of_table_2(people: list[str], capsys: Any) -> None:
    code, content = asked([*people, "--value", "exec"], capsys)
    (skyline,) = content["skylines"]
    assert (code, skyline["value"], skyline["limit"]) == (0, "exec", "19/20")
    assert skyline["points"] == TABLE_2
    assert "the values of 5 people of group 1" in skyline["story"]


def test_all_values_come_by_number_and_never_by_name(people: list[str], capsys: Any) -> None:
    _, content = asked([*people, "--limit", "0.9"], capsys)
    assert [skyline["value"] for skyline in content["skylines"]] == [f"value {n}" for n in range(1, 7)]
    assert content["skylines"][0]["people"] == 2
    assert not any(job in json.dumps(content) for job in ("exec", "clerk", "cook"))


def test_names_are_shown_to_those_who_ask_and_marked(people: list[str]) -> None:
    outcome = run(["skyline", *people, "--show-values"])
    assert outcome.lines[0].startswith("INTERNAL")
    assert outcome.more["skylines"][0]["value"] == "exec"


def test_the_table_says_when_nothing_is_safe_and_when_nothing_is_asked(people: list[str]) -> None:
    lines = "\n".join(run(["skyline", *people, "--value", "exec", "--limit", "2/7"]).lines)
    assert "not safe without any knowledge" in lines
    lines = "\n".join(run(["skyline", *people, "--value", "nobody"]).lines)
    assert "any           any     any" in lines


@pytest.mark.parametrize("limit", ["0", "1.1", "nan", "x"])
def test_a_limit_out_of_range_is_a_usage_error(people: list[str], limit: str, capsys: Any) -> None:
    code, content = asked([*people, "--limit", limit], capsys)
    assert code == 2 and "above 0" in content["errors"][0]["message"]


def test_the_example_project_has_a_skyline_for_every_value_of_its_release(tmp_path: Path) -> None:
    assert run(["init", "--example", str(tmp_path)]).exit == 0
    outcome = run(["skyline", "--project", str(tmp_path), "--limit", "1"])
    assert outcome.exit == 0, outcome.errors
    assert len(outcome.more["skylines"]) > 1
