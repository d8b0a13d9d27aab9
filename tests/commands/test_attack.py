"""`privacy-sql attack intersection`, `register` and `budget`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from privacy_sql.cli import main, run

DESCRIPTION = "file: {name}.csv\nsensitive: illness\ncolumns: [age, zip]\n"
WEST = "age,zip,illness\n<30,130**,AIDS\n<30,130**,flu\n3*,148**,flu\n"
EAST = "age,zip,illness\n<35,130**,AIDS\n<35,130**,cold\n3*,148**,flu\n3*,148**,cold\n"


@pytest.fixture
def hospitals(tmp_path: Path) -> list[str]:
    for name, rows in (("west", WEST), ("east", EAST)):
        (tmp_path / f"{name}.csv").write_text(rows)
        (tmp_path / f"{name}.yml").write_text(DESCRIPTION.format(name=name))
    (tmp_path / "people.csv").write_text("who,age,zip\nAlice,28,13012\nBob,28,99999\n")
    people = ["--people", str(tmp_path / "people.csv"), "--project", str(tmp_path)]
    return [str(tmp_path / "west.yml"), str(tmp_path / "east.yml"), *people]


def _json(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, object]]:
    with pytest.raises(SystemExit) as left:
        main([*arguments, "--json"])
    return left.value.code, json.loads(capsys.readouterr().out)


def test_the_attack_reports_counts_and_exit_0(
    hospitals: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    code, content = _json(["attack", "intersection", *hospitals], capsys)
    assert (code, content["attack"]["P"], content["attack"]["perfect"]) == (0, 2, "50")
    assert not any(value in json.dumps(content) for value in ("Alice", "13012", "AIDS"))


def test_more_exposed_than_allowed_is_exit_1(hospitals: list[str]) -> None:
    assert run(["attack", "intersection", *hospitals, "--max-exposed", "0.4"]).exit == 1
    assert run(["attack", "intersection", *hospitals, "--max-exposed", "0.5"]).exit == 0
    assert run(["attack", "intersection", *hospitals, "--max-exposed", "0.4", "--at", "0.9"]).exit == 1
    assert run(["attack", "intersection", *hospitals, "--max-exposed", "lots"]).exit == 2


def test_people_are_named_only_when_asked_for(hospitals: list[str]) -> None:
    outcome = run(["attack", "intersection", *hospitals, "--identifier", "who", "--show-values"])
    assert outcome.lines[0].startswith("INTERNAL")
    assert "Alice: AIDS" in outcome.lines and "Bob: not found" in outcome.lines


def test_a_registered_release_is_attacked_by_name(hospitals: list[str], tmp_path: Path) -> None:
    west, east, *people = hospitals
    project = ["--project", str(tmp_path)]
    assert run(["register", "add", "west", west, *project]).exit == 0
    assert run(["attack", "intersection", "west", east, *people]).more["attack"]["perfect"] == "50"
    assert run(["attack", "intersection", "wst", east, *people]).exit == 2
    assert "west" in run(["register", "list", *project]).lines[0]
    assert run(["register", "verify", *project]).exit == 0
    Path(west).write_text(Path(west).read_text() + "\n")
    assert run(["register", "verify", *project]).exit == 3


def test_a_dry_run_registers_nothing(hospitals: list[str], tmp_path: Path) -> None:
    assert run(["register", "add", "west", hospitals[0], "--project", str(tmp_path), "--dry-run"]).exit == 0
    assert not (tmp_path / "privacy_register.jsonl").exists()


def test_a_file_that_is_not_there_is_exit_2(tmp_path: Path) -> None:
    missing = [str(tmp_path / "gone.yml"), "--people", "x.csv", "--project", str(tmp_path)]
    assert run(["attack", "intersection", *missing]).exit == 2
    assert run(["attack", "guess"]).exit == 2


def test_the_budget_shows_its_limit_and_its_charges(tmp_path: Path) -> None:
    from fractions import Fraction

    from privacy_sql.ledger import FILE_NAME, Charge, Ledger

    project = ["--project", str(tmp_path)]
    assert run(["budget", "limit", "--epsilon", "2", *project]).exit == 0
    Ledger(tmp_path / FILE_NAME).charge(Charge("r", Fraction(1, 2)))
    shown = run(["budget", "show", *project]).more["budget"]
    assert (shown["epsilon"], shown["limit_epsilon"]) == ("1/2", "2")
    assert run(["budget", "limit", "--epsilon", "-1", *project]).exit == 2
    assert run(["budget", "limit", "--epsilon", "x", *project]).exit == 2


def test_a_vacuous_bound_says_so() -> None:
    lines = run(["budget", "explain", "--epsilon", "1", "--people", "10"]).lines
    assert "vacuous" in lines[-1]
    assert run(["budget", "explain", "--epsilon", "0", "--people", "10"]).exit == 2


def test_the_games_stay_below_the_bounds() -> None:
    outcome = run(
        ["budget", "game", "--mechanism", "parity", "--epsilon", "1", "--people", "2", "--priors", "20"]
    )
    game = outcome.more["game"]
    assert game["max_sd"] == pytest.approx(game["bound_tight"])
    assert outcome.lines[-1] == "the bounds hold"
    open_ = run(["budget", "game", "--mechanism", "publish_one_record", "--epsilon", "1", "--priors", "5"])
    assert open_.lines[-1].startswith("no bound holds")
    assert open_.more["game"]["bound_tight"] is None is open_.more["game"]["bound_printed"]
