"""The grammar of facts: every form, quoted names, and errors that name the line but no word of it."""

from __future__ import annotations

import pytest

from privacy_sql.errors import PrivacySqlError
from privacy_sql.studies.facts import Atom, Clause, parse_atom, parse_facts


def test_is_and_not_are_one_sided_clauses() -> None:
    is_fact, not_fact, also_not = parse_facts(["Gary is Flu", "", "Ed not Mumps", "Ed is not Mumps"])
    assert is_fact == Clause((), (Atom("Gary", "Flu"),), 1)
    assert not_fact == Clause((Atom("Ed", "Mumps"),), (), 3)
    assert also_not == Clause((Atom("Ed", "Mumps"),), (), 4)


@pytest.mark.parametrize("arrow", ["->", "→"])
def test_an_implication_keeps_its_two_sides(arrow: str) -> None:
    (clause,) = parse_facts([f"Hannah is Flu & Bob is Flu {arrow} Charlie is Flu | Dave is Lung Cancer"])
    assert clause.if_all == (Atom("Hannah", "Flu"), Atom("Bob", "Flu"))
    assert clause.then_any == (Atom("Charlie", "Flu"), Atom("Dave", "Lung Cancer"))


def test_a_family_is_a_circle_of_implications() -> None:
    clauses = parse_facts(["family AIDS: Ann, Cary Jones, Tom"])
    assert [(c.if_all[0].person, c.then_any[0].person) for c in clauses] == [
        ("Ann", "Cary Jones"),
        ("Cary Jones", "Tom"),
        ("Tom", "Ann"),
    ]


def test_quoted_and_foreign_names_stay_as_they_are() -> None:
    lines = ['"Zoë is" is "Flu & ""cold"""', "Łukasz Ōe not 流感", 'family "a: b": "O, Hara", Bob']
    first, second, third, _ = parse_facts(lines)
    assert first.then_any == (Atom("Zoë is", 'Flu & "cold"'),)
    assert second.if_all == (Atom("Łukasz Ōe", "流感"),)
    assert third.if_all == (Atom("O, Hara", "a: b"),)


def test_comments_are_no_facts() -> None:
    assert parse_facts(["# Ed not Mumps", "   "]) == ()


def test_an_atom_is_read_on_its_own() -> None:
    assert parse_atom("Tom is AIDS") == Atom("Tom", "AIDS")


@pytest.mark.parametrize(
    "line",
    [
        "SecretName",
        "SecretName is",
        "is SecretName",
        "SecretName is SecretName is SecretName",
        "SecretName is not SecretName not SecretName",
        "SecretName is SecretName -> ",
        "-> SecretName is SecretName",
        "SecretName is a -> SecretName is b -> SecretName is c",
        "SecretName is a | SecretName is b",
        '"SecretName is SecretName',
        "family SecretName: SecretName",
        "family SecretName: SecretName, SecretName",
        "family : SecretName, Other",
        "family SecretName: SecretName,, Other",
    ],
)
def test_a_line_that_is_no_fact_is_named_by_its_number_alone(line: str) -> None:
    with pytest.raises(PrivacySqlError) as raised:
        parse_facts(["Ed not Mumps", line])
    assert raised.value.exit == 2
    assert "facts line 2" in str(raised.value)
    assert "SecretName" not in str(raised.value)


def test_all_unreadable_lines_are_reported_at_once() -> None:
    with pytest.raises(PrivacySqlError) as raised:
        parse_facts(["x", "Ed not Mumps", "y"])
    assert [problem.where for problem in raised.value.parts] == ["facts line 1", "facts line 3"]
