"""The chance of an atom under written facts, from a table to an answer."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import privacy_sql as ps
from privacy_sql.errors import PrivacySqlError
from tests.oracles import facts as oracle

FIG_1 = {
    "name": ["Bob", "Charlie", "Dave", "Ed", "Frank", "Gloria", "Hannah", "Irma", "Jessica", "Karen"],
    "sex": ["M"] * 5 + ["F"] * 5,
    "disease": [
        *("Flu", "Flu", "Lung Cancer", "Lung Cancer", "Mumps"),
        *("Flu", "Flu", "Breast Cancer", "Ovarian Cancer", "Heart Disease"),
    ],
}
CHEN = {
    "name": ["Ann", "Bob", "Cary", "Dick", "Ed", "Frank", "Gary", "Tom"],
    "group": ["1"] * 4 + ["2"] * 4,
    "disease": ["AIDS", "Flu", "Flu", "AIDS", "Flu", "Cancer", "Flu", "AIDS"],
}


def patients(**more: Any) -> ps.Table:
    return ps.Table(pd.DataFrame(FIG_1), ["sex"], "disease", identifier="name", **more)


def risk(engine: Any, facts: list[str], atom: str | None = None, table: Any = None) -> Any:
    return ps.disclosure_risk(engine, table or patients(), facts, atom)


@pytest.mark.parametrize(
    ("facts", "atom", "value"),
    [
        ([], "Ed is Lung Cancer", "2/5"),
        (["Ed not Mumps"], "Ed is Lung Cancer", "1/2"),
        (["Ed not Mumps", "Ed not Flu"], "Ed is Lung Cancer", "1"),
        (["Hannah is Flu -> Charlie is Flu"], "Charlie is Flu", "10/19"),
        (["Ed is Mumps"], "Ed is Flu", "0"),
    ],
)
def test_examples_of_the_paper_have_its_chances(engine: Any, facts: Any, atom: str, value: str) -> None:
    assert risk(engine, facts, atom).value == Fraction(value)


def test_tom_s_chances_are_a_quarter_a_third_and_a_half(engine: Any) -> None:
    table = ps.Table(pd.DataFrame(CHEN), ["group"], "disease", identifier="name")
    facts: list[str] = []
    for fact, value in (("# nothing", "1/4"), ("Tom not Cancer", "1/3"), ("Gary is Flu", "1/2")):
        facts.append(fact)
        assert risk(engine, facts, "Tom is AIDS", table).value == Fraction(value)
    family = risk(engine, ["family AIDS: Ann, Cary, Tom"], "Tom is AIDS", table)
    # 2 of 6 tables of group 1 agree with all or nothing: none of the three, or both of the first two
    assert family.value == Fraction(1, 3 * 1 + 1)


def test_without_a_question_the_likeliest_atom_answers(engine: Any) -> None:
    found = risk(engine, ["Ed not Lung Cancer"])
    assert found.value == Fraction(2, 3)
    assert dict(found.witness) == {
        "group": 2,
        "groups": 2,
        "size": 5,
        "person": "somebody the facts name",
        "rank": 1,
        "count": 2,
    }
    assert found.witness.reveal()["name"] == "Ed" and found.witness.reveal()["value"] == "Flu"
    assert "Ed" not in found.explain() and "Flu" not in str(found.to_json())


def test_groups_no_fact_touches_are_considered_too(engine: Any) -> None:
    rows = pd.DataFrame({"id": list("abcd"), "g": list("1122"), "s": ["x", "y", "z", "z"]})
    table = ps.Table(rows, ["g"], "s", identifier="id")
    found = risk(engine, ["a is x"], None, table)
    assert found.value == 1
    assert risk(engine, [], None, table).witness["group"] == 2


def test_a_release_answers_in_its_own_groups(engine: Any) -> None:
    table = patients()
    release = ps.publish(engine, table, [ps.KAnonymity(2)], ps.Bucketize({}))
    assert risk(engine, [], "Ed is Flu", release).value == Fraction(4, 10)


KINDS = st.sampled_from(["one", "set", "multiset"])


@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), kind=KINDS)
def test_answers_equal_brute_force_over_all_tables(engine: Any, data: st.DataObject, kind: str) -> None:
    people = [f"p{i}" for i in range(data.draw(st.integers(1, 4)))]
    group = {person: data.draw(st.sampled_from("ab")) for person in people}
    rows = []
    for person in people:
        n = 1 if kind == "one" else data.draw(st.integers(0, 2))
        values = [data.draw(st.sampled_from("xyz")) for _ in range(n)]
        rows += [(person, group[person], value) for value in (set(values) if kind == "set" else values)]
        if not values:
            rows.append((person, group[person], None))
    frame = pd.DataFrame(rows, columns=["id", "g", "s"], dtype=object)
    known = sorted({s for _, _, s in rows if s})
    if not known:
        return
    atoms = st.tuples(st.sampled_from(people), st.sampled_from(known))
    facts = [(data.draw(atoms), data.draw(atoms)) for _ in range(data.draw(st.integers(0, 2)))]
    atom = data.draw(atoms)
    lines = [f"{a} is {v} -> {b} is {w}" for (a, v), (b, w) in facts]
    table = ps.Table(frame, ["g"], "s", identifier="id", values_per_person=kind)
    expected = _by_oracle(group, rows, facts, atom, kind)
    if expected is None:
        with pytest.raises(PrivacySqlError, match="contradict"):
            risk(engine, lines, f"{atom[0]} is {atom[1]}", table)
    else:
        assert risk(engine, lines, f"{atom[0]} is {atom[1]}", table).value == expected


def _by_oracle(group: dict[str, str], rows: Any, facts: Any, atom: Any, kind: str) -> Fraction | None:
    members: dict[str, list[str]] = defaultdict(list)
    for person, key in group.items():
        members[key].append(person)
    counts = {key: Counter(s for _, g, s in rows if g == key and s is not None) for key in members}
    groups = {key: (len(members[key]), counts[key]) for key in members}

    def placed(a: tuple[str, str]) -> Any:
        return (group[a[0]], members[group[a[0]]].index(a[0]), a[1])

    having = {person for person, _, s in rows if s is not None}
    without = {key: len(set(members[key]) - having) for key in members}
    implied = [([placed(a)], [placed(b)]) for a, b in facts]
    return oracle.chance(groups, implied, placed(atom), kind, without=None if kind == "one" else without)


@pytest.mark.parametrize("kind", ["set", "multiset"])
def test_who_has_none_of_the_other_values_has_the_last_where_no_line_is_empty(engine: Any, kind: str) -> None:
    rows = pd.DataFrame({"id": list("abc"), "g": list("111"), "s": list("xyz")})
    table = ps.Table(rows, ["g"], "s", identifier="id", values_per_person=kind)
    # three people, three values, nobody without one: each has one, as a reader of the three lines sees
    assert risk(engine, [], "a is x", table).value == Fraction(1, 3)
    assert risk(engine, ["a not y"], "a is x", table).value == Fraction(1, 2)
    assert risk(engine, ["a not y", "a not z"], "a is x", table).value == 1
    assert risk(engine, ["a not y", "a not z"], None, table).value == 1
    with pytest.raises(PrivacySqlError, match="contradict"):
        risk(engine, ["a is x", "a is y"], "b is z", table)
    # one line says that somebody has no value
    rows = pd.DataFrame({"id": list("abcd"), "g": list("1111"), "s": ["x", "y", "z", None]})
    table = ps.Table(rows, ["g"], "s", identifier="id", values_per_person=kind)
    assert risk(engine, ["a not y", "a not z"], "a is x", table).value == Fraction(1, 2)


@pytest.mark.parametrize("kind", ["set", "multiset"])
def test_several_values_that_are_too_many_to_count_have_no_number(engine: Any, kind: str) -> None:
    rows = pd.DataFrame({"id": [f"p{i}" for i in range(30)], "s": [f"v{i % 7}" for i in range(30)]})
    table = ps.Table(rows, [], "s", identifier="id", values_per_person=kind)
    with pytest.raises(PrivacySqlError, match="several values") as raised:
        ps.disclosure_risk(engine, table, ["p1 is v1 -> p0 is v0"], "p0 is v0", work_limit=10)
    assert raised.value.exit == 5 and "--atom" in str(raised.value.hint)


@settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), kind=st.sampled_from(["set", "multiset"]))
def test_the_likeliest_guess_about_people_with_several_values_is_the_largest_of_all(
    engine: Any, data: st.DataObject, kind: str
) -> None:
    group = {f"p{i}": data.draw(st.sampled_from("ab")) for i in range(4)}
    rows: list[Any] = []
    for person, key in group.items():
        values = data.draw(st.lists(st.sampled_from("xyz"), max_size=2, unique=kind == "set"))
        rows += [(person, key, value) for value in values or [None]]
    known = sorted({s for _, _, s in rows if s})
    if not known:
        return
    table = ps.Table(
        pd.DataFrame(rows, columns=["id", "g", "s"], dtype=object),
        ["g"],
        "s",
        identifier="id",
        values_per_person=kind,
    )
    person, value = data.draw(st.sampled_from(sorted(group))), data.draw(st.sampled_from(known))
    facts = [((person, value), (person, value))] if data.draw(st.booleans()) else []  # says nothing
    lines = [f"{person} is {value} -> {person} is {value}"] * len(facts)
    every = [_by_oracle(group, rows, facts, (p, v), kind) for p in group for v in known]
    assert risk(engine, lines, None, table).value == max(chance for chance in every if chance is not None)


def test_facts_that_contradict_the_release_are_an_error(engine: Any) -> None:
    with pytest.raises(PrivacySqlError, match="contradict") as raised:
        risk(engine, ["Ed is Mumps", "Frank is Mumps"], "Bob is Flu")
    assert raised.value.exit == 2


def test_unknown_people_and_values_are_named_by_line_alone(engine: Any) -> None:
    with pytest.raises(PrivacySqlError) as raised:
        risk(engine, ["Ed not Mumps", "Edd not Mumps", "Ed not Measles"], "Zoë is Flu")
    assert [(part.code, part.where) for part in raised.value.parts] == [
        ("unknown_person", "facts line 2"),
        ("unknown_person", "atom"),
        ("unknown_value", "facts line 3"),
    ]
    assert not any(word in str(raised.value) for word in ("Edd", "Zoë", "Measles"))


def test_foreign_and_hostile_names_are_found_as_they_stand(engine: Any) -> None:
    names = ["Zoë Łuk", "流 感", 'x"; drop table t; --', "O'Hara"]
    rows = pd.DataFrame({"id": names, "s": ["a b", "c", "c", "c"]})
    table = ps.Table(rows, [], "s", identifier="id")
    facts = ['"x""; drop table t; --" is c', "O'Hara not a b", "流 感 is c"]
    assert risk(engine, facts, "Zoë Łuk is a b", table).value == 1


def test_facts_need_a_table_that_names_its_people(engine: Any) -> None:
    table = ps.Table(pd.DataFrame(FIG_1), ["sex"], "disease")
    with pytest.raises(PrivacySqlError, match="identifier"):
        risk(engine, [], None, table)


def test_beyond_the_work_limit_the_answer_is_estimated_and_says_so(engine: Any) -> None:
    found = ps.disclosure_risk(
        engine,
        patients(),
        ["Hannah is Flu -> Charlie is Flu"],
        "Charlie is Flu",
        work_limit=1,
        random=np.random.default_rng(3),
    )
    assert not found.exact and found.low <= Fraction(10, 19) <= found.high
    assert "estimated" in found.explain() and found.to_json()["estimated"] is True
    assert found.high - found.low < 0.02


def test_facts_no_random_table_meets_are_undecided(engine: Any) -> None:
    rows = pd.DataFrame({"id": [f"p{i}" for i in range(40)], "s": [f"v{i}" for i in range(40)]})
    table = ps.Table(rows, [], "s", identifier="id")
    facts = [f"p{i} is v{i}" for i in range(20)]
    for atom in ("p0 is v0", None):
        with pytest.raises(PrivacySqlError) as raised:
            ps.disclosure_risk(engine, table, facts, atom, work_limit=1)
        assert raised.value.exit == 5
