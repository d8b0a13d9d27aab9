"""Chances under given facts: counting equals enumeration, sampling brackets it, the papers' figures."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privacy_sql.kernels.worst_case.known_facts import Chance, KnownFacts
from privacy_sql.kernels.worst_case.world_count import Contradiction, TooMuchWork
from privacy_sql.kernels.worst_case.world_sample import NothingAgreed
from privacy_sql.kernels.worst_case.worlds import Atom, Clause, Fact, Group
from tests.oracles import facts as oracle
from tests.seeds import OFTEN, seeds

few = settings(max_examples=80, deadline=None)
KINDS = ("one", "set", "multiset")


@st.composite
def situations(draw: st.DrawFn) -> tuple[dict[int, Group], list[Clause], str]:
    """Two tiny groups of three values, and facts of any form about their people."""
    kind = draw(st.sampled_from(KINDS))
    groups = {}
    for number in range(draw(st.integers(1, 2))):
        people = draw(st.integers(1, 4 if kind == "one" else 3))
        if kind == "one":
            values = draw(st.lists(st.integers(0, 2), min_size=people, max_size=people))
            counts = {v: values.count(v) for v in set(values)}
        else:
            counts = {v: draw(st.integers(0, people if kind == "set" else 2)) for v in range(3)}
        groups[number] = Group(people, counts)
    atoms = st.sampled_from(
        [Atom(g, p, v) for g in groups for p in range(groups[g].people) for v in range(3)]
    )
    sides = st.tuples(st.lists(atoms, max_size=2), st.lists(atoms, max_size=2)).filter(any)
    clauses = [Clause(tuple(a), tuple(b)) for a, b in draw(st.lists(sides, max_size=4))]
    return groups, clauses, kind


@few
@given(situations(), st.data())
def test_counting_worlds_equals_writing_them_all_down(
    situation: tuple[dict[int, Group], list[Clause], str], data: st.DataObject
) -> None:
    groups, clauses, kind = situation
    group = data.draw(st.sampled_from(sorted(groups)))
    atom = Atom(group, data.draw(st.integers(0, groups[group].people - 1)), data.draw(st.integers(0, 2)))
    expected = oracle.chance(groups, clauses, atom, kind)
    facts = KnownFacts(groups, clauses, kind)  # type: ignore[arg-type]
    if expected is None:
        with pytest.raises(Contradiction):
            facts.chances([atom])
    else:
        assert facts.chances([atom])[0].value == expected


@few
@given(situations(), st.data())
def test_weighted_facts_weigh_worlds_as_written_down(
    situation: tuple[dict[int, Group], list[Clause], str], data: st.DataObject
) -> None:
    groups, clauses, kind = situation
    weights = st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(4, 5), Fraction(1)])
    weighted: list[Fact] = []
    certain = list(clauses)
    while certain and len(weighted) < 3 and data.draw(st.booleans()):
        taken = data.draw(st.integers(1, len(certain)))
        weighted.append(Fact(tuple(certain[:taken]), data.draw(weights)))
        certain = certain[taken:]
    group = data.draw(st.sampled_from(sorted(groups)))
    atom = Atom(group, data.draw(st.integers(0, groups[group].people - 1)), data.draw(st.integers(0, 2)))
    expected = oracle.chance(groups, certain, atom, kind, weighted)
    facts = KnownFacts(groups, certain, kind, weighted=weighted)  # type: ignore[arg-type]
    if expected is None:
        with pytest.raises(Contradiction):
            facts.chances([atom])
    else:
        assert facts.chances([atom])[0].value == expected


def test_an_estimate_under_weighted_facts_holds_the_counted_chance() -> None:
    groups = {0: Group(5, {0: 2, 1: 2, 2: 1}), 1: Group(4, {0: 1, 1: 3})}
    ed, ann = Atom(0, 0, 2), Atom(1, 0, 0)
    doubted = [
        Fact((Clause((ed,), ()),), Fraction(4, 5)),
        Fact((Clause((ann,), (Atom(0, 1, 0),)),), Fraction(1, 4)),
    ]
    exact = KnownFacts(groups, [Clause((), (ann, Atom(0, 0, 0)))], weighted=doubted)
    estimated = replace(exact, work_limit=1, samples=20_000)
    asked = [Atom(0, 0, 1), ann, ed]
    for sure, rough in zip(
        exact.chances(asked), estimated.chances(asked, np.random.default_rng(5)), strict=True
    ):
        assert not rough.exact and rough.low <= sure.value <= rough.high
        assert abs(float(sure.value) - rough.value) < 0.02


@few
@given(situations())
def test_worst_atom_is_the_likeliest_of_the_groups_the_facts_touch(
    situation: tuple[dict[int, Group], list[Clause], str],
) -> None:
    groups, clauses, kind = situation
    facts = KnownFacts(groups, clauses, kind)  # type: ignore[arg-type]
    touched = {atom.group for clause in clauses for atom in (*clause.if_all, *clause.then_any)}
    everything = [
        oracle.chance(groups, clauses, (g, p, v), kind)
        for g in touched
        for p in range(groups[g].people)
        for v in range(3)
    ]
    if None in everything:
        with pytest.raises(Contradiction):
            facts.worst()
    elif not any(everything):
        assert facts.worst() is None
    else:
        found = facts.worst()
        assert found is not None
        assert found[0].value == max(everything)  # type: ignore[type-var]
        if found[1].person < groups[found[1].group].people:
            assert oracle.chance(groups, clauses, found[1], kind) == found[0].value


# an interval may miss once in a hundred times, so the examples are always the same
@settings(max_examples=25, deadline=None, derandomize=True)
@given(situations(), st.integers(0, 2**32 - 1))
def test_sampled_interval_holds_the_counted_chance(
    situation: tuple[dict[int, Group], list[Clause], str], seed: int
) -> None:
    groups, clauses, kind = situation
    atom = Atom(0, 0, 0)
    sampled = KnownFacts(groups, clauses, kind, work_limit=0, samples=20_000)  # type: ignore[arg-type]
    expected = oracle.chance(groups, clauses, atom, kind)
    if expected is None:
        with pytest.raises(NothingAgreed):
            sampled.chances([atom], np.random.default_rng(seed))
        return
    found = sampled.chances([atom], np.random.default_rng(seed))[0]
    assert not found.exact and found.low <= expected <= found.high


def test_tom_has_aids_with_one_quarter_then_a_third_then_a_half() -> None:
    """Chen et al. 2008, Sec. 2: Tom has no cancer; Gary has flu."""
    aids, cancer, flu = range(3)
    group = {2: Group(4, {aids: 1, cancer: 1, flu: 2})}
    gary, tom = 2, 3
    no_cancer, gary_flu = Clause((Atom(2, tom, cancer),), ()), Clause((), (Atom(2, gary, flu),))
    facts: list[Clause] = []
    for fact, expected in ((None, "1/4"), (no_cancer, "1/3"), (gary_flu, "1/2")):
        facts += [fact] if fact else []
        assert KnownFacts(group, facts).chances([Atom(2, tom, aids)])[0].value == Fraction(expected)


def test_group_nobody_speaks_of_keeps_its_shares() -> None:
    groups = {0: Group(4, {0: 3, 1: 1}), 1: Group(2, {0: 1, 1: 1})}
    facts = KnownFacts(groups, [Clause((), (Atom(1, 0, 0),))])
    assert facts.chances([Atom(0, 2, 0)])[0].value == Fraction(3, 4)


def test_long_chain_through_many_groups_is_counted_exactly() -> None:
    groups = {g: Group(10, {0: 3, 1: 3, 2: 4}) for g in range(60)}
    chain = [Clause((Atom(g, 0, 0),), (Atom(g + 1, 0, 0),)) for g in range(59)]
    found = KnownFacts(groups, chain, work_limit=10_000).chances([Atom(59, 0, 0)])[0]
    assert found.exact
    # along the chain, by hand: a = P(no violation so far, the last has it), b = P(..., has it not)
    a, b = Fraction(3, 10), Fraction(7, 10)
    for _ in range(59):
        a, b = (a + b) * Fraction(3, 10), b * Fraction(7, 10)
    assert found.value == a / (a + b)


def test_facts_beyond_the_work_limit_are_refused_without_a_source_of_randomness() -> None:
    groups = {0: Group(6, {0: 2, 1: 2, 2: 2})}
    clauses = [Clause((Atom(0, p, 0),), (Atom(0, p + 1, 1),)) for p in range(5)]
    with pytest.raises(TooMuchWork):
        KnownFacts(groups, clauses, work_limit=10).chances([Atom(0, 0, 0)])


def test_the_interval_of_the_likeliest_holds_the_largest_chance_of_all() -> None:
    groups = {0: Group(9, {0: 3, 1: 3, 2: 3})}
    facts = [Clause((Atom(0, p, 0),), (Atom(0, p + 1, 1),)) for p in range(4)]
    exact = KnownFacts(groups, facts).worst()
    for seed in seeds(20, OFTEN):
        sampled = KnownFacts(groups, facts, work_limit=0, samples=500).worst(np.random.default_rng(seed))
        assert exact is not None and sampled is not None
        assert sampled[0].low <= exact[0].value <= sampled[0].high


def test_an_estimate_stays_an_estimate_beside_an_exact_chance() -> None:
    exact, estimate = Chance(Fraction(1, 2), Fraction(1, 2), Fraction(1, 2)), Chance(0.49, 0.47, 0.51)
    both = estimate.or_larger(exact)
    assert (both.value, both.low, both.high, both.exact) == (0.5, Fraction(1, 2), 0.51, False)
    assert exact.or_larger(exact).exact


def test_sampling_facts_that_no_world_met_claims_nothing() -> None:
    groups = {0: Group(2, {0: 1, 1: 1}), 1: Group(4, {0: 2, 1: 2})}
    both = [Clause((), (Atom(0, 0, 0),)), Clause((), (Atom(0, 1, 0),))]
    facts = KnownFacts(groups, both, work_limit=0, samples=100)
    for atom in (Atom(0, 0, 0), Atom(1, 0, 0)):
        with pytest.raises(NothingAgreed):
            facts.chances([atom], np.random.default_rng(1))
