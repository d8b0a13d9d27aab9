"""`privacy-sql facts`: answers, errors by line, and nothing that names a person unless asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from privacy_sql.cli.main import run

CHEN = "name,group,disease\n" + "".join(
    f"{name},{group},{disease}\n"
    for name, group, disease in zip(
        ["Ann", "Bob", "Cary", "Dick", "Ed", "Frank", "Gary", "Tom"],
        "11112222",
        ["AIDS", "Flu", "Flu", "AIDS", "Flu", "Cancer", "Flu", "AIDS"],
        strict=True,
    )
)


@pytest.fixture
def people(tmp_path: Path) -> list[str]:
    source = tmp_path / "people.csv"
    source.write_text(CHEN)
    return ["--source", str(source), "--quasi", "group", "--sensitive", "disease", "--identifier", "name"]


def test_a_file_of_facts_gives_tom_s_chance(people: list[str], tmp_path: Path) -> None:
    known = tmp_path / "known.txt"
    known.write_text("# what a friend knows\nTom not Cancer\n\nGary is Flu\n", encoding="utf-8")
    outcome = run(["facts", str(known), *people, "--atom", "Tom is AIDS"])
    assert outcome.exit == 0, outcome.errors
    assert outcome.more["answers"][0]["value"] == "1/2"


def test_the_likeliest_guess_is_named_only_when_values_are_asked_for(people: list[str]) -> None:
    hidden = run(["facts", *people, "--fact", "Tom not Flu", "--fact", "Tom not AIDS"])
    assert hidden.more["answers"][0]["value"] == "1"
    text = "\n".join(hidden.lines) + str(hidden.to_json())
    assert not any(word in text for word in ("Tom", "Cancer", "Flu"))
    shown = run(["facts", *people, "--fact", "Tom not Flu", "--fact", "Tom not AIDS", "--show-values"])
    assert shown.more["answers"][0]["witness"]["name"] == "Tom"
    assert shown.more["answers"][0]["witness"]["value"] == "Cancer"
    assert shown.lines[0].startswith("INTERNAL")


@pytest.mark.parametrize(
    ("fact", "code"),
    [
        ("Tom Cancer", "unreadable_fact"),
        ("Tim not Cancer", "unknown_person"),
        ("Tom not Measles", "unknown_value"),
        ("Tom is Flu & Gary is Flu -> Tom is AIDS", None),
    ],
)
def test_a_fact_that_cannot_be_used_exits_2_and_names_its_line(
    people: list[str], fact: str, code: str | None
) -> None:
    outcome = run(["facts", *people, "--fact", "Ed is Flu", "--fact", fact])
    assert outcome.exit == (2 if code else 0)
    assert [(error["code"], error["where"]) for error in outcome.errors] == (
        [(code, "facts line 2")] if code else []
    )


def test_facts_that_contradict_the_release_exit_2(people: list[str]) -> None:
    outcome = run(["facts", *people, "--fact", "Tom is Cancer", "--fact", "Gary is Cancer"])
    assert outcome.exit == 2 and outcome.errors[0]["code"] == "contradiction"


def test_a_file_that_is_not_there_or_not_text_is_an_error(people: list[str], tmp_path: Path) -> None:
    assert run(["facts", str(tmp_path / "none.txt"), *people]).exit == 2
    (tmp_path / "bad.txt").write_bytes(b"\xff\xfe\x00")
    assert run(["facts", str(tmp_path / "bad.txt"), *people]).exit == 3
