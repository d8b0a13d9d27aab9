"""`privacy-sql attack intersection`, `register` and `budget`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from privacy_sql.cli.main import main, run

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
    # Alice is known, and Bob, who is in both releases, fits no group of either
    for limit, code in (("0.5", 1), ("0.99", 1), ("1", 0)):
        assert run(["attack", "intersection", *hospitals, "--max-exposed", limit]).exit == code
    assert run(["attack", "intersection", *hospitals, "--max-exposed", "0.4", "--at", "0.9"]).exit == 1
    people = Path(hospitals[hospitals.index("--people") + 1])
    people.write_text("who,age,zip\nAlice,28,13012\n")
    assert run(["attack", "intersection", *hospitals, "--max-exposed", "0.99"]).exit == 1
    assert run(["attack", "intersection", *hospitals, "--max-exposed", "1"]).exit == 0
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


def test_two_versions_of_a_release_are_told_apart(hospitals: list[str], tmp_path: Path) -> None:
    west, _, *people = hospitals
    (tmp_path / "later").mkdir()
    later = tmp_path / "later" / "west.yml"
    (tmp_path / "later" / "west.csv").write_text(WEST.replace("3*,148**", "2*,148**"))
    later.write_text(DESCRIPTION.format(name="west"))
    outcome = run(["attack", "intersection", west, str(later), *people])
    (told,) = [line for line in outcome.lines if "no group of" in line]
    assert "no group of west (1) or west (2):" in told
    assert [line.partition(":")[0] for line in outcome.lines if ": smallest" in line] == [
        "west (1)",
        "west (2)",
    ]


def test_a_dry_run_registers_nothing(hospitals: list[str], tmp_path: Path) -> None:
    assert run(["register", "add", "west", hospitals[0], "--project", str(tmp_path), "--dry-run"]).exit == 0
    assert not (tmp_path / "privacy_register.jsonl").exists()


def test_a_file_that_is_not_there_is_exit_2(tmp_path: Path) -> None:
    missing = [str(tmp_path / "gone.yml"), "--people", "x.csv", "--project", str(tmp_path)]
    assert run(["attack", "intersection", *missing]).exit == 2
    assert run(["attack", "guess"]).exit == 2


def test_the_budget_shows_its_limit_and_its_charges(tmp_path: Path) -> None:
    from fractions import Fraction

    from privacy_sql.history.ledger import FILE_NAME, Charge, Ledger

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


STAFF = """
version: 1
releases:
  staff:
    source: {file: staff.csv}
    quasi_identifiers:
      - {column: job, hierarchy: {file: jobs.csv}}
      - {column: born, hierarchy: {dates: [month, year]}}
    sensitive: {column: illness}
    require:
      k_anonymity: {k: 2}
    method: {generalise: {levels: {job: 1, born: 2}}}
    output: {target: out/staff.csv}
"""
TRADES = "baker;food;all_jobs\nfood;food;all_jobs\nnurse;care;all_jobs\ncook;care;all_jobs\n"
PEOPLE = "job,born,illness\nbaker,1987-05-14,flu\nfood,1987-06-01,flu\nnurse,1987-05-14,flu\n"
PEOPLE += "cook,1987-01-01,cold\n"


@pytest.fixture
def staff(tmp_path: Path) -> Path:
    (tmp_path / "privacy.yml").write_text(STAFF)
    (tmp_path / "jobs.csv").write_text(TRADES)
    (tmp_path / "staff.csv").write_text(PEOPLE)
    return tmp_path


def _attacked(staff: Path, release: str, *more: str) -> Any:
    people = ["--people", str(staff / "staff.csv"), "--project", str(staff), *more]
    return run(["attack", "intersection", release, *people])


def test_people_are_found_by_trees_and_dates_of_our_own_releases(staff: Path) -> None:
    project = ["--project", str(staff)]
    (staff / "privacy_register.jsonl").touch()
    assert run(["run", *project]).exit == 0
    manifest = str(staff / "out" / "staff.csv.manifest.json")
    for release in ("staff", manifest):
        found = _attacked(staff, release, "--max-exposed", "0.4")
        # baker and food are in one group of flu; nurse and cook, in the other, have one of two
        assert (found.exit, found.more["attack"]["exposed"]["1"], found.more["attack"]["n_ok"]) == (
            1,
            "50",
            4,
        )
        assert "at 1        50.0 %" in found.lines
    # two people change trades, and what is out is read as it was
    (staff / "jobs.csv").write_text(
        TRADES.replace("food;food", "food;care").replace("cook;care", "cook;food")
    )
    for release in ("staff", manifest):
        assert _attacked(staff, release).more["attack"]["exposed"]["1"] == "50"


def test_a_release_without_its_hierarchy_is_refused_and_can_be_registered_anew(staff: Path) -> None:
    project = ["--project", str(staff)]
    assert run(["run", *project]).exit == 0
    manifest = str(staff / "out" / "staff.csv.manifest.json")
    (staff / "old.csv").write_text(TRADES)
    (staff / "jobs.csv").write_text(TRADES.replace("food;food", "food;care"))
    assert run(["register", "add", "staff", manifest, *project]).exit == 0
    for release in ("staff", manifest):
        refused = _attacked(staff, release)
        assert refused.exit == 3 and "register add" in refused.errors[0]["hint"]
    anew = ["register", "add", "staff", manifest, *project, "--hierarchy"]
    assert run([*anew, f"trade={staff / 'old.csv'}"]).exit == 2
    assert run([*anew, f"job={staff / 'jobs.csv'}"]).exit == 3
    assert run([*anew, f"job={staff / 'old.csv'}"]).exit == 0
    for release in ("staff", manifest):
        assert _attacked(staff, release).more["attack"]["exposed"]["1"] == "50"


def test_people_in_groups_nobody_can_read_are_not_told_to_be_safe(staff: Path) -> None:
    (staff / "other.csv").write_text("job,illness\nall_jobs,flu\n")
    (staff / "other.yml").write_text("file: other.csv\nsensitive: illness\ncolumns: [job]\n")
    (staff / "secret.csv").write_text("job,illness\nfood,gout\nsome trade,flu\nbaker,cold\nbaker,flu\n")
    (staff / "secret.yml").write_text("file: secret.csv\nsensitive: illness\ncolumns: [job]\n")
    # the root by its own name covers everybody
    assert _attacked(staff, str(staff / "other.yml")).more["attack"]["exposed"]["1"] == "100"
    # nurse and cook are not found, and may be those of some trade
    found = _attacked(staff, str(staff / "secret.yml"), "--max-exposed", "0.5")
    assert found.exit == 1 and found.more["attack"]["exposed"]["1"] != "0"
    # a file about other people: nobody is found, and that is no answer
    (staff / "secret.csv").write_text("born,illness\n1950-1960,flu\n")
    (staff / "secret.yml").write_text(
        "file: secret.csv\nsensitive: illness\ncolumns: {born: {labels: {1950-1960: {prefix: '195'}}}}\n"
    )
    nobody = _attacked(staff, str(staff / "secret.yml"))
    assert (nobody.exit, nobody.errors[0]["code"]) == (3, "nobody_located")


def test_people_who_are_not_found_are_never_told_to_be_safe(staff: Path) -> None:
    """It said "2 found in every release, 2 not" and 0 % exposed, with exit 0."""
    (staff / "other.csv").write_text("born,illness\n1987-05-14,flu\n1987-05-14,cold\n")
    (staff / "other.yml").write_text(
        "file: other.csv\nsensitive: illness\ncolumns: {born: {labels: {1987-05-14: {prefix: '1987-05'}}}}\n"
    )
    found = _attacked(staff, str(staff / "other.yml"), "--max-exposed", "0.4")
    assert (found.exit, found.more["attack"]["exposed"]["1"], found.more["attack"]["PVP"]["1"]) == (
        1,
        "50",
        "0",
    )
    assert "2 not and count as exposed" in "\n".join(found.lines)
    assert any("match no group of other" in warning for warning in found.more["warnings"])
