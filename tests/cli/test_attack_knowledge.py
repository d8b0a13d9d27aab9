"""`privacy-sql attack knowledge`: on a file with groups, and on the releases of a project."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from privacy_sql.cli.main import main, run

ROWS = "age,sex,ill,g\n20,m,flu,1\n22,f,cold,1\n40,m,flu,2\n60,f,gout,2\n61,m,gout,1\n63,f,flu,2\n"


@pytest.fixture
def people(tmp_path: Path) -> list[str]:
    source = tmp_path / "people.csv"
    source.write_text(ROWS)
    return ["--source", str(source), "--quasi", "age,sex", "--sensitive", "ill", "--group", "g"]


def test_every_adversary_gets_her_line_and_no_value_is_named(
    people: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [
        "attack",
        "knowledge",
        *people,
        "--bandwidth",
        "0.3",
        "--bandwidth",
        "inf",
        "--t",
        "0.05",
        "--json",
    ]
    with pytest.raises(SystemExit) as left:
        main([*arguments, "--numeric", "age"])
    text = capsys.readouterr().out
    assert left.value.code == 0 and not any(word in text for word in ("flu", "cold", "gout"))
    (found,) = json.loads(text)["attacks"]
    assert [a["bandwidth"] for a in found["adversaries"]] == ["0.3", "inf"]
    assert found["rows"] == 6 and found["groups"] == 2 and found["exact"] is True
    assert all(a["witness"]["group"] in (1, 2) for a in found["adversaries"])


def test_a_column_compared_as_numbers_gives_another_adversary(people: list[str]) -> None:
    words, numbers = (
        run(["attack", "knowledge", *people, "--bandwidth", "0.3", *more]).more["attacks"][0]["adversaries"][
            0
        ]
        for more in ([], ["--numeric", "age"])
    )
    assert words["max_risk"] != numbers["max_risk"]


def test_more_exposed_people_than_allowed_is_exit_1(people: list[str]) -> None:
    arguments = ["attack", "knowledge", *people, "--bandwidth", "inf", "--t", "0.001"]
    assert run([*arguments, "--max-exposed", "0.5"]).exit == 1
    assert run([*arguments, "--max-exposed", "1"]).exit == 0


def test_an_estimate_says_so(people: list[str]) -> None:
    outcome = run(["attack", "knowledge", *people, "--posterior", "omega"])
    assert any("estimates" in line for line in outcome.lines)
    assert outcome.more["attacks"][0]["exact"] is False


def test_values_are_named_only_on_request_and_marked(people: list[str]) -> None:
    outcome = run(["attack", "knowledge", *people, "--bandwidth", "0.3", "--show-values"])
    assert outcome.lines[0].startswith("INTERNAL")
    assert set(outcome.more["attacks"][0]["internal"][0]["values"]) <= {"flu", "cold", "gout"}


def test_the_releases_of_a_project_are_attacked_as_they_would_be_published(tmp_path: Path) -> None:
    assert run(["init", "--example", str(tmp_path)]).exit == 0
    outcome = run(
        ["attack", "knowledge", "--project", str(tmp_path), "--bandwidth", "0.3", "--posterior", "omega"]
    )
    assert outcome.exit == 0, outcome.errors
    (found,) = outcome.more["attacks"]
    assert found["rows"] > 10_000 and 0 < found["adversaries"][0]["max_risk"] < 1


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--bandwidth", "-1"], "0 or more"),
        (["--bandwidth", "x"], "a bandwidth must be a number"),
        (["--t", "x"], "t of bt_privacy"),
        (["--distance", "smoothed_js"], "smoothing needs distances"),
        (["--numeric", "sex"], "numeric domain of sex does not cover 2 values"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(people: list[str], more: list[str], words: str) -> None:
    outcome = run(["attack", "knowledge", *people, *more])
    assert outcome.exit in (2, 3)
    assert words in outcome.errors[0]["message"]


def test_several_bandwidths_stand_between_commas_and_what_is_decided_comes_first(people: list[str]) -> None:
    outcome = run(["attack", "knowledge", *people, "--bandwidth", "0.3,inf", "--numeric", "age"])
    (found,) = outcome.more["attacks"]
    assert [a["bandwidth"] for a in found["adversaries"]] == ["0.3", "inf"]
    for line, adversary in zip(outcome.lines[1:3], found["adversaries"], strict=True):
        assert line.startswith(f"  bandwidth {adversary['bandwidth']}: decided for everybody: beliefs about ")
        assert f"about {adversary['vulnerable']} " in line


def test_what_is_undecided_names_the_option_that_decides_it(tmp_path: Path) -> None:
    source = tmp_path / "people.csv"
    rows = [f"{20 + n},{'abcdefghij'[n % 10]},{n % 2}" for n in range(500)]
    source.write_text("age,ill,g\n" + "\n".join(rows) + "\n")
    asked = ["attack", "knowledge", "--source", str(source), "--quasi", "age", "--sensitive", "ill"]
    outcome = run([*asked, "--group", "g", "--bandwidth", "0.3"])
    assert outcome.lines[1] == "  bandwidth 0.3: decided for nobody"
    assert any("--posterior estimate" in line for line in outcome.lines)
    estimated = run([*asked, "--group", "g", "--bandwidth", "0.3", "--posterior", "estimate"])
    assert "decided for everybody" in estimated.lines[1]


def test_a_manifest_is_attacked_as_it_was_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The levels are those of the file, also where a search would choose others now."""
    (tmp_path / "people.csv").write_text(
        "age,sex,ill\n" + "".join(f"{20 + n % 40},{'fm'[n % 2]},{'abc'[n % 3]}\n" for n in range(120))
    )
    project = {
        "version": "1",
        "releases": {
            "people": {
                "source": {"file": "people.csv"},
                "quasi_identifiers": [
                    {"column": "age", "hierarchy": {"intervals": ["10", "20"]}},
                    {"column": "sex", "hierarchy": "keep_or_drop"},
                ],
                "sensitive": "ill",
                "require": {"k_anonymity": {"k": "5"}},
                "method": "full_domain",
                "output": {"target": "out.csv"},
            }
        },
    }
    place = tmp_path / "privacy.yml"
    place.write_text(json.dumps(project))
    monkeypatch.chdir(tmp_path)
    assert run(["run"]).exit == 0
    asked = ["attack", "knowledge", "--bandwidth", "0.3", "--posterior", "estimate"]
    before = run(asked).more["attacks"]
    place.write_text(json.dumps(project).replace('"k": "5"', '"k": "60"'))  # a search would choose others
    assert run(asked).more["attacks"] != before
    for path in ("out.csv", "out.csv.manifest.json"):
        found = run([*asked, path])
        assert found.exit == 0, found.errors
        assert found.more["attacks"] == before
    text = (tmp_path / "people.csv").read_text()
    (tmp_path / "people.csv").write_text(text.replace("20,f,a", "30,f,a"))
    changed = run([*asked, "out.csv"])
    assert changed.exit == 3 and changed.errors[0]["code"] == "source_changed"
    assert run([*asked, "out.csv", "--select", "people"]).exit == 2
