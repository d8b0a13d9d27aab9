"""Chances given facts where lines without a value are printed: counting equals enumeration."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privacy_sql.kernels.worst_case.printed_worlds import PrintedFacts
from privacy_sql.kernels.worst_case.world_count import Contradiction, TooMuchWork
from privacy_sql.kernels.worst_case.worlds import Atom, Clause, Fact, Group
from tests.oracles import facts as oracle

Situation = tuple[dict[int, Group], dict[int, int], list[Clause], str]
VALUES = 3


@st.composite
def situations(draw: st.DrawFn) -> Situation:
    """One or two tiny groups that some table has, and facts of any form about their people."""
    kind = draw(st.sampled_from(["set", "multiset"]))
    groups, without = {}, {}
    for number in range(draw(st.integers(1, 2))):
        values = st.lists(st.integers(0, VALUES - 1), max_size=2, unique=kind == "set")
        people = draw(st.lists(values, min_size=1, max_size=3))
        held = [value for values in people for value in values]
        groups[number] = Group(len(people), {value: held.count(value) for value in set(held)})
        without[number] = sum(not values for values in people)
    atoms = st.sampled_from(
        [Atom(g, p, v) for g in groups for p in range(groups[g].people) for v in range(VALUES)]
    )
    sides = st.tuples(st.lists(atoms, max_size=2), st.lists(atoms, max_size=2)).filter(any)
    clauses = [Clause(tuple(a), tuple(b)) for a, b in draw(st.lists(sides, max_size=4))]
    return groups, without, clauses, kind


@settings(max_examples=150, deadline=None)
@given(situations(), st.data())
def test_counting_equals_writing_down_every_world_with_so_many_empty_lines(
    situation: Situation, data: st.DataObject
) -> None:
    groups, without, certain, kind = situation
    weighted: list[Fact] = []
    while certain and len(weighted) < 2 and data.draw(st.booleans()):
        taken = data.draw(st.integers(1, len(certain)))
        weight = data.draw(st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(1)]))
        weighted.append(Fact(tuple(certain[:taken]), weight))
        certain = certain[taken:]
    facts: Sequence[Fact] = [*(Fact((clause,)) for clause in certain), *weighted]
    group = data.draw(st.sampled_from(sorted(groups)))
    atom = Atom(group, data.draw(st.integers(0, groups[group].people - 1)), data.draw(st.integers(0, 2)))
    expected = oracle.chance(groups, certain, atom, kind, weighted, without)  # type: ignore[arg-type]
    counted = PrintedFacts(groups, without, facts, kind)  # type: ignore[arg-type]
    if expected is None:
        with pytest.raises(Contradiction):
            counted.chance(atom)
    else:
        assert counted.chance(atom).value == expected
        found = counted.worst()
        if found is not None:
            people = range(groups[found[1].group].people)
            every = [
                oracle.chance(groups, certain, (g, p, v), kind, weighted, without)  # type: ignore[arg-type]
                for g in {atom.group for fact in facts for atom in fact.atoms}
                for p in range(groups[g].people)
                for v in range(VALUES)
            ]
            assert found[1].person <= len(people) and found[0].value == max(filter(None, every))


@pytest.mark.parametrize("kind", ["set", "multiset"])
def test_facts_beyond_the_limit_have_no_number(kind: str) -> None:
    groups = {0: Group(30, {value: 10 for value in range(5)})}
    facts = [Fact((Clause((Atom(0, person, 0),), (Atom(0, 0, 1),)),)) for person in range(1, 6)]
    assert PrintedFacts(groups, {0: 0}, facts, kind).chance(Atom(0, 0, 1)).exact  # type: ignore[arg-type]
    with pytest.raises(TooMuchWork):
        PrintedFacts(groups, {0: 0}, facts, kind, 100).chance(Atom(0, 0, 1))  # type: ignore[arg-type]
