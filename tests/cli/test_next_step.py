"""What is said to somebody who does not know what to write: the next command, and the word they missed."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

import pytest

from privacy_sql.cli.main import main, run
from privacy_sql.display import progress
from privacy_sql.project.example import write as write_example

PEOPLE = "age,sex,job,illness,religion\n" + "".join(
    f"{20 + n % 50},{'FM'[n % 2]},{'abc'[n % 3]},{'xyzw'[n % 4]},{'pqrst'[n % 5]}\n" for n in range(240)
)


@pytest.fixture
def people(tmp_path: Path) -> Path:
    place = tmp_path / "the people.csv"
    place.write_text(PEOPLE)
    return place


@pytest.mark.parametrize("option", ["--k", "--l", "--t", "--c"])
def test_a_limit_that_is_taken_for_an_option_is_written_as_a_requirement(people: Path, option: str) -> None:
    asked = ["check", "--source", str(people), "--quasi", "age,sex", "--sensitive", "illness"]
    refused = run([*asked, option, "5"])
    assert refused.exit == 2 and option in refused.errors[0]["message"]
    said = refused.errors[0]["hint"]
    assert said.startswith("Limits stand in a requirement: --require '")
    requirement = said.partition("'")[2].partition("'")[0]
    assert f"{option.strip('-')}=" in requirement
    assert run([*asked, "--require", requirement]).exit in (0, 1)  # what it says to write can be written


def test_any_other_option_that_is_not_there_names_the_help_of_its_verb(people: Path) -> None:
    refused = run(["search", "--kk", "5"])
    assert refused.exit == 2 and "privacy-sql search --help" in refused.errors[0]["hint"]


def test_profile_and_init_name_the_next_command_which_works(people: Path, tmp_path: Path) -> None:
    said = run(["profile", "--source", str(people)]).lines[-1]
    assert said.startswith(f"Next: privacy-sql init --from '{people}' FOLDER ")
    place = tmp_path / "p"
    said = run(["init", "--from", str(people), str(place)]).lines[-1]
    assert said.startswith(f"Next: privacy-sql search --project {place} ")
    assert run(["search", "--project", str(place)]).exit in (0, 5)


def test_two_sensitive_columns_that_fail_together_are_said_to_be_judged_with_each_other_known(
    people: Path, tmp_path: Path
) -> None:
    place = tmp_path / "p"
    named = ["--quasi", "age,sex", "--sensitive", "illness,religion"]
    run(["init", "--from", str(people), *named, str(place)])
    text = (place / "privacy.yml").read_text()
    (place / "privacy.yml").write_text(text.replace("k: 5}", "k: 50}"))
    refused = run(["search", "--project", str(place)])
    assert refused.exit == 5
    hint = refused.errors[0]["hint"]
    assert hint.startswith("Each of illness and religion is judged against somebody who knows the others.")
    assert "dropping illness or religion" in hint  # and what to do


def test_a_search_that_loses_more_than_half_of_the_detail_says_how_to_keep_more(
    people: Path, tmp_path: Path
) -> None:
    place = tmp_path / "p"
    run(["init", "--from", str(people), "--quasi", "age,sex,job", "--sensitive", "illness", str(place)])
    told = run(["search", "--project", str(place)])
    assert told.more["best"]["values"]["loss"] <= 0.5 and "More than half" not in "\n".join(told.lines)
    text = (place / "privacy.yml").read_text()
    assert "importance: 2}" in text  # the detail of an age counts twice
    (place / "privacy.yml").write_text(text.replace("k: 5}", "k: 200}"))
    told = run(["search", "--project", str(place)])
    said = "\n".join(told.lines)
    assert told.more["best"]["values"]["loss"] > 0.5
    assert "More than half of the detail is lost" in said and "privacy-sql explore" in said
    # and which requirement costs so much: the same search without it gives this loss
    (loss,) = re.findall(r"Without k_anonymity\(k=200\) the loss would be (\d\.\d+)\.", said)
    require = next(line for line in text.splitlines() if "k_anonymity" in line)
    (place / "privacy.yml").write_text(text.replace(require + "\n", ""))
    without = run(["search", "--project", str(place)])
    assert f"{without.more['best']['values']['loss']:.4g}" == loss


def test_a_single_requirement_that_costs_much_is_not_compared_with_none(people: Path, tmp_path: Path) -> None:
    place = tmp_path / "p"
    run(["init", "--from", str(people), "--quasi", "age,sex,job", "--sensitive", "illness", str(place)])
    lines = (place / "privacy.yml").read_text().replace("k: 5}", "k: 200}").splitlines()
    kept = [line for line in lines if "l_diversity" not in line and "alpha_k" not in line]
    (place / "privacy.yml").write_text("\n".join(kept) + "\n")
    said = "\n".join(run(["search", "--project", str(place)]).lines)
    assert "More than half of the detail is lost." in said and "Without" not in said


def test_the_explorer_says_its_address_and_then_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    server = pytest.importorskip("privacy_sql.explorer.server", reason="the extra explore is not installed")
    write_example(tmp_path)
    clocks: list[threading.Thread] = []
    lines = progress.LineProgress

    def at_once(stream: TextIO) -> progress.LineProgress:
        told = lines(stream, after=0, every=0.01)
        clocks.append(told.clock)
        return told

    def nobody_comes(decision: object, port: int, opened: Callable[[str], None]) -> None:
        assert all(clock.is_alive() for clock in clocks)
        opened("http://127.0.0.1:1/")
        assert clocks and not any(clock.is_alive() for clock in clocks)

    monkeypatch.setattr(progress, "LineProgress", at_once)
    monkeypatch.setattr(server, "serve", nobody_comes)
    with pytest.raises(SystemExit) as left:
        main(["explore", "--no-browser", "--project", str(tmp_path)])
    before, address, after = capsys.readouterr().err.partition("http://127.0.0.1:1/")
    assert left.value.code == 0 and address and " s: " in before and after == "\n"
