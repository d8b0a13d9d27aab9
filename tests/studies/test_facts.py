"""The grammar of facts: every form, quoted names, and errors that name the line but no word of it."""

from __future__ import annotations

import itertools
import re
from fractions import Fraction

import pytest

from privacy_sql.errors import PrivacySqlError
from privacy_sql.studies.facts import NamedAtom, NamedClause, NamedFact, parse_atom, parse_facts


def only(line: str) -> NamedClause:
    """The one clause of a line."""
    ((clause,),) = [fact.clauses for fact in parse_facts([line])]
    return clause


def test_is_and_not_are_one_sided_clauses() -> None:
    is_fact, not_fact, also_not = parse_facts(["Gary is Flu", "", "Ed not Mumps", "Ed is not Mumps"])
    assert is_fact == NamedFact((NamedClause((), (NamedAtom("Gary", "Flu"),)),), 1)
    assert not_fact == NamedFact((NamedClause((NamedAtom("Ed", "Mumps"),), ()),), 3)
    assert also_not == NamedFact((NamedClause((NamedAtom("Ed", "Mumps"),), ()),), 4)
    assert only("Ed does not have lung cancer") == NamedClause((NamedAtom("Ed", "lung cancer"),), ())
    assert only("Ed has lung cancer") == NamedClause((), (NamedAtom("Ed", "lung cancer"),))
    assert only("he who has is Flu") == NamedClause((), (NamedAtom("he who has", "Flu"),))


@pytest.mark.parametrize("arrow", ["->", "→"])
def test_an_implication_keeps_its_two_sides(arrow: str) -> None:
    clause = only(f"Hannah is Flu & Bob is Flu {arrow} Charlie is Flu | Dave is Lung Cancer")
    assert clause.if_all == (NamedAtom("Hannah", "Flu"), NamedAtom("Bob", "Flu"))
    assert clause.then_any == (NamedAtom("Charlie", "Flu"), NamedAtom("Dave", "Lung Cancer"))


def test_a_family_is_a_circle_of_implications() -> None:
    clauses = parse_facts(["family AIDS: Ann, Cary Jones, Tom"])[0].clauses
    assert [(c.if_all[0].person, c.then_any[0].person) for c in clauses] == [
        ("Ann", "Cary Jones"),
        ("Cary Jones", "Tom"),
        ("Tom", "Ann"),
    ]


def test_quoted_and_foreign_names_stay_as_they_are() -> None:
    lines = ['"Zoë is" is "Flu & ""cold"""', "Łukasz Ōe not 流感", 'family "a: b": "O, Hara", Bob']
    first, second, third = (fact.clauses[0] for fact in parse_facts(lines))
    assert first.then_any == (NamedAtom("Zoë is", 'Flu & "cold"'),)
    assert second.if_all == (NamedAtom("Łukasz Ōe", "流感"),)
    assert third.if_all == (NamedAtom("O, Hara", "a: b"),)


PEOPLE = {
    "a": NamedAtom("Ann", "Flu"),
    "b": NamedAtom("Bob", "Flu"),
    "c": NamedAtom("Cid", "Flu"),
    "d": NamedAtom("Dan", "Flu"),
}


def meant(text: str, world: dict[str, bool]) -> bool:
    """What a line says of a world, by Python's own logic."""
    sides = [
        _side(part, world)
        for part in text.replace("<->", "=").replace("->", ">").replace("=", ">").split(">")
    ]
    if len(sides) == 1:
        return sides[0]
    return sides[0] == sides[1] if "<->" in text else not sides[0] or sides[1]


def _side(text: str, world: dict[str, bool]) -> bool:
    join = any if "|" in text else all
    return join(
        world[part.strip()[-1]] is not part.strip().startswith("!")
        for part in text.replace("|", "&").split("&")
    )


@pytest.mark.parametrize(
    "text",
    [
        *(
            "a",
            "!a",
            "a | b",
            "a & b",
            "!a | b | !c",
            "!a & !b",
            "a -> b",
            "!a -> b",
            "a -> !b",
            "!a & b -> c | !d",
        ),
        *(
            "a | b -> c",
            "a -> b & c",
            "a | !b -> c & !d",
            "a <-> b",
            "!a <-> b",
            "a & b <-> c | d",
            "a | b <-> c",
        ),
        *("a & b <-> c & !d", "a | b <-> !c | d", "a & b <-> !c", "a -> a", "a <-> !a"),
    ],
)
def test_every_form_says_what_its_words_mean(text: str) -> None:
    words = text
    for letter, atom in PEOPLE.items():
        words = words.replace(f"!{letter}", f"{atom.person} not {atom.value}")
    for letter, atom in PEOPLE.items():
        words = re.sub(rf"\b{letter}\b", f"{atom.person} is {atom.value}", words)
    (fact,) = parse_facts([words])
    for truth in itertools.product([False, True], repeat=4):
        world = dict(zip(PEOPLE, truth, strict=True))
        holding = {PEOPLE[letter] for letter, holds in world.items() if holds}
        said = all(holding.intersection(c.then_any) or not holding.issuperset(c.if_all) for c in fact.clauses)
        assert said is meant(text, world), (text, world)


@pytest.mark.parametrize(
    ("line", "weight"),
    [
        ("0.8: Ed does not have Mumps", "4/5"),
        ("  1/3 :  Ed not Mumps", "1/3"),
        ("0: Ed not Mumps", "0"),
        ("1: Ed not Mumps", "1"),
        ("0.25: family Mumps: Ed, Ann", "1/4"),
        (".8: Ed not Mumps", "4/5"),
    ],
)
def test_a_number_before_a_fact_is_its_weight(line: str, weight: str) -> None:
    (fact,) = parse_facts([line])
    assert fact.weight == Fraction(weight)
    assert {atom.value for clause in fact.clauses for atom in (*clause.if_all, *clause.then_any)} == {"Mumps"}


def test_a_name_with_a_number_and_a_colon_in_it_is_no_weight() -> None:
    assert only("12:30 is Flu").then_any == (NamedAtom("12:30", "Flu"),)
    assert only('"0.8: Ed" is Flu').then_any == (NamedAtom("0.8: Ed", "Flu"),)


def test_comments_are_no_facts() -> None:
    assert parse_facts(["# Ed not Mumps", "   "]) == ()


def test_an_atom_is_read_on_its_own() -> None:
    assert parse_atom("Tom is AIDS") == parse_atom("Tom has AIDS") == NamedAtom("Tom", "AIDS")
    assert parse_atom('Tom is ""') == NamedAtom("Tom", "")
    with pytest.raises(PrivacySqlError, match="somebody has a value"):
        parse_atom("Tom does not have AIDS")


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
        "SecretName is a | SecretName is b & SecretName is c",
        "SecretName is a <-> SecretName is b -> SecretName is c",
        "SecretName is a |",
        "1.2: SecretName is a",
        "-0.1: SecretName is a",
        "1/0: SecretName is a",
        "0,8: SecretName is a",
        "80%: SecretName is a",
        "80 % : SecretName is a",
        "0.8.1: SecretName is a",
        "0.8:SecretName is a",
        "1,000: family Secret: SecretName, Other",
        "0.8: ",
        "SecretName does not have",
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
