"""Breach probabilities against the paper, the shared vectors and enumeration of worlds."""

from __future__ import annotations

import json
import math
import random
from fractions import Fraction
from functools import reduce
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privacy_sql.kernels.skyline.breach_probability import (
    Amounts,
    SkylineGroup,
    breach_probability,
    chance,
    is_safe,
    least_amounts,
    negated_ratio,
    worst_case,
)
from privacy_sql.kernels.skyline.dynamic_program import breach_by_program
from privacy_sql.kernels.skyline.find import find_skyline
from privacy_sql.kernels.skyline.groups import Histograms
from privacy_sql.kernels.skyline.screening import MOST_FAMILY, screened
from tests.oracles.skyline import Oracle
from tests.seeds import seeds as drawn_seeds

CASES = {"SVPI": "one", "MVPI_SET": "set", "MVPI_MULTISET": "multiset"}
VECTORS = [
    vector
    for vector in json.loads(
        (Path(__file__).parents[2] / "fixtures" / "vectors" / "ck_skyline.json").read_text()
    )
    if vector["kind"].startswith("skyline_")
]


def of_kind(kind):
    chosen = [vector for vector in VECTORS if vector["kind"] == kind]
    return pytest.mark.parametrize("vector", chosen, ids=[vector["id"] for vector in chosen])


def tables_of(vector):
    return Histograms.of(vector["groups"], vector.get("individuals")), CASES[vector["case"]]


def breach(tables, value, amounts, case):
    return breach_probability(tables.about(value, amounts[0], case), Amounts(*amounts), case)


@of_kind("skyline_bp")
def test_a_breach_probability_of_the_shared_vectors_is_met_exactly(vector):
    tables, case = tables_of(vector)
    amounts = vector["l"], vector["k"], vector["m"]
    assert breach(tables, vector["sigma"], amounts, case) == Fraction(vector["answer"])


@of_kind("skyline_safe")
def test_a_verdict_of_the_shared_vectors_is_met(vector):
    tables, case = tables_of(vector)
    safe = all(
        is_safe(
            tables.about(vector["sigma"], ruled_out, case), Amounts(ruled_out, k, m), Fraction(limit), case
        )
        for ruled_out, k, m, limit in vector["points"]
    )
    assert safe is vector["answer"]


@of_kind("skyline_find")
def test_a_skyline_of_the_shared_vectors_is_found(vector):
    tables, case = tables_of(vector)
    found = find_skyline(tables, vector["sigma"], Fraction(vector["c"]), case)
    assert [list(point) for point in found] == vector["answer"]


def histograms(most_people, most_groups, case):
    """Small releases as lists of (people, {value: count}); "s" is the value asked about."""
    values = ("s", "a", "b")
    if case == "one":
        group = st.lists(st.sampled_from(values), min_size=1, max_size=most_people).map(
            lambda occurrences: (len(occurrences), {v: occurrences.count(v) for v in set(occurrences)})
        )
    else:
        most = 3 if case == "set" else 2
        group = st.tuples(st.integers(1, most), st.tuples(*[st.integers(0, most)] * 3)).map(
            lambda drawn: (
                drawn[0],
                {v: min(c, drawn[0]) if case == "set" else c for v, c in zip(values, drawn[1], strict=True)},
            )
        )
    return st.lists(group, min_size=1, max_size=most_groups)


def as_tables(release):
    return Histograms.of([counts for _, counts in release], [people for people, _ in release])


amounts_strategy = st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 2))
seeds = st.integers(0, 10**9)


def tiny_release(rng, case):
    """One or two groups, four to seven people, nearly always with something left to find out."""
    release = []
    for _ in range(rng.integers(1, 3)):
        s, a, b, c = (int(x) for x in rng.integers([1, 0, 0, 0], [3, 3, 3, 2]))
        if case == "one":
            a += s + a + b + c < 3
            release.append(
                (s + a + b + c, {"s": s, "a": a, "b": b, "c": c} if s + a + b + c < 6 else {"s": s, "a": 3})
            )
        else:
            people = int(rng.integers(2, 5 if case == "set" else 4))
            counts = {"s": s, "a": a, "b": min(b, 1)}
            release.append((people, {v: min(n, people - 1) for v, n in counts.items()}))
    return [(sum(counts.values()) if case == "one" else people, counts) for people, counts in release]


def amounts_for(rng):
    return tuple(int(x) for x in rng.integers(0, [3, 3, 3]))


@pytest.mark.parametrize("case", ["one", "set", "multiset"])
def test_breach_probability_equals_the_worst_over_all_worlds_and_groundings(case):
    @settings(max_examples=40, deadline=None, print_blob=True)
    @given(seeds)
    def agrees(seed):
        rng = np.random.default_rng(seed)
        release, amounts = tiny_release(rng, case), amounts_for(rng)
        assert breach(as_tables(release), "s", amounts, case) == Oracle(release, case).breach("s", *amounts)

    agrees()


def worst_of(release, case, amounts):
    """The worst knowledge of these amounts, with the fewest facts."""
    groups = as_tables(release).about("s", amounts[0], case)
    least = least_amounts(groups, Amounts(*amounts), case)
    return least, worst_case(groups, least, case)


def replay(release, case, amounts, kinds=3):
    """Ground the witness, or its first kinds of facts, in people and values, and ask all worlds."""
    least, worst = worst_of(release, case, amounts)
    assert all(few <= allowed for few, allowed in zip(least, amounts, strict=True))
    g, f = worst.target.number, worst.family.number
    t, crowd = (g, 0), {g: [(g, i) for i in range(1, release[g][0])]}
    crowd.setdefault(f, [(f, i) for i in range(release[f][0])])
    others = sorted((value for value in release[g][1] if value != "s"), key=lambda v: -release[g][1][v])
    xs = others[: least.ruled_out]
    where = f if worst.term == 2 else g
    told = [
        v for v, n in release[where][1].items() for _ in range(n) if v != "s" and (where != g or v not in xs)
    ]
    facts = [(crowd[where].pop(), told[i] if case == "one" else "s") for i in range(least.known)]
    family = [crowd[f].pop() for _ in range(least.family)]
    oracle = Oracle(release, case)
    parts = oracle.about_target(t, "s", xs), oracle.about_others(facts), oracle.about_family(t, "s", family)
    known = reduce(int.__and__, parts[:kinds], oracle.all)
    return oracle.probability(oracle.has(t, "s"), known)


@pytest.mark.parametrize("case", ["one", "set", "multiset"])
def test_the_witness_replayed_in_all_worlds_attains_the_breach_probability(case):
    @settings(max_examples=60, deadline=None, print_blob=True)
    @given(seeds)
    def attains(seed):
        rng = np.random.default_rng(seed)
        release, amounts = tiny_release(rng, case), amounts_for(rng)
        assert replay(release, case, amounts) == breach(as_tables(release), "s", amounts, case)

    attains()


@pytest.mark.parametrize("case", ["one", "set", "multiset"])
def test_the_chance_after_each_kind_of_knowledge_is_what_all_worlds_say(case):
    for seed in range(60):
        rng = np.random.default_rng(seed)
        release, amounts = tiny_release(rng, case), amounts_for(rng)
        least, worst = worst_of(release, case, amounts)
        for kinds in range(4):
            known = Amounts(*(n if kind < kinds else 0 for kind, n in enumerate(least)))
            expected = float(replay(release, case, amounts, kinds))
            assert chance(worst, known, case) == pytest.approx(expected, abs=1e-12), (seed, kinds)


@pytest.mark.parametrize("case", ["one", "set", "multiset"])
def test_the_witness_holds_no_fact_that_could_be_left_out(case):
    for seed in range(60):
        rng = np.random.default_rng(seed)
        release, amounts = tiny_release(rng, case), amounts_for(rng)
        least = least_amounts(as_tables(release).about("s", amounts[0], case), Amounts(*amounts), case)
        reached = breach(as_tables(release), "s", amounts, case)
        for kind in range(3):
            fewer = [amount - (kind == i) for i, amount in enumerate(least)]
            assert min(fewer) < 0 or breach(as_tables(release), "s", fewer, case) < reached, (
                release,
                amounts,
            )


@pytest.mark.parametrize("case", ["one", "set", "multiset"])
def test_the_skyline_is_exactly_the_edge_of_the_safe_amounts(case):
    bounds = range(9)

    @settings(max_examples=40, deadline=None)
    @given(histograms(7, 3, case), st.sampled_from(["1/3", "1/2", "0.6", "0.95", "1"]))
    def is_the_edge(release, limit):
        tables, limit = as_tables(release), Fraction(limit)
        points = find_skyline(tables, "s", limit, case)
        for amounts in product(range(4), bounds, bounds):
            under = any(
                all(p is None or a <= p for a, p in zip(amounts, point, strict=True)) for point in points
            )
            assert under == (breach(tables, "s", amounts, case) < limit), amounts

    is_the_edge()


def random_tables(rng, case, groups=40, values=6):
    sizes = rng.integers(1, 60, size=groups)
    counts = np.stack([rng.multinomial(size, rng.dirichlet(np.ones(values))) for size in sizes])
    if case == "one":
        return Histograms(counts, counts.sum(axis=1), tuple(range(values)))
    people = counts.max(axis=1) + rng.integers(0, 9, size=groups)
    return Histograms(counts, people, tuple(range(values)))


def every_group(tables, column, ruled_out):
    return [tables.group(int(row), column, ruled_out) for row in np.flatnonzero(tables.counts[:, column])]


@pytest.mark.parametrize("case", ["one", "set", "multiset"])
@pytest.mark.parametrize("seed", range(6))
def test_leaving_out_beaten_groups_never_changes_a_breach_probability(case, seed):
    rng = np.random.default_rng(seed)
    tables = random_tables(rng, case)
    for amounts in product((0, 1, 3), (0, 1, 7), (0, 1, 7)):
        full = every_group(tables, 0, amounts[0])
        few = tables.about(0, amounts[0], case)
        assert set(few) <= set(full)
        exact = breach_probability(full, Amounts(*amounts), case)
        assert breach_probability(few, Amounts(*amounts), case) == exact


def test_groups_with_the_same_counts_but_another_target_value_are_kept_apart():
    tables = Histograms.of([{"s": 5, "a": 3, "b": 3}, {"s": 3, "a": 5, "b": 3}], [6, 6])
    assert breach(tables, "s", (1, 0, 0), "set") == max(
        breach(Histograms.of([group], [6]), "s", (1, 0, 0), "set")
        for group in ({"s": 5, "a": 3, "b": 3}, {"s": 3, "a": 5, "b": 3})
    )


@pytest.mark.parametrize("case", ["one", "set", "multiset"])
def test_floats_agree_with_the_integers_they_stand_in_for(case):
    tables = random_tables(np.random.default_rng(7), case)
    for amounts in product((0, 2), (0, 3), (0, 5)):
        groups = tables.about(0, amounts[0], case)
        exact = breach_probability(groups, Amounts(*amounts), case)
        guess = 1 / (1 + math.exp(worst_case(groups, Amounts(*amounts), case).log_ratio))
        assert guess == pytest.approx(float(exact), abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_the_dynamic_program_finds_no_better_way_to_spread_the_knowledge(seed):
    tables = random_tables(np.random.default_rng(seed), "one", groups=15)
    for amounts in [(0, 0, 0), (1, 3, 2), (2, 0, 4), (0, 5, 0), (3, 2, 1)]:
        full = every_group(tables, 0, amounts[0])
        program = breach_by_program(
            np.array([g.people for g in full]),
            np.array([g.holders for g in full]),
            np.array([sum(g.others) for g in full]),
            *amounts[1:],
            exact=True,
        )
        assert breach(tables, 0, amounts, "one") == program


def test_the_dynamic_program_in_floats_agrees_on_fig_6_sized_groups():
    counts = np.random.default_rng(3).multinomial(100, [1 / 20] * 20, size=700)
    tables = Histograms(counts, counts.sum(axis=1), tuple(range(20)))
    others = np.sort(counts[:, 1:], axis=1)[:, ::-1][:, :10].sum(axis=1)
    program = breach_by_program(counts.sum(axis=1), counts[:, 0], others, 10, 10)
    assert program == pytest.approx(float(breach(tables, 0, (10, 10, 10), "one")), abs=1e-12)


def test_the_group_of_seven_has_the_skyline_of_table_2():
    tables = Histograms.of([{"Exec": 2, **dict.fromkeys("abcde", 1)}])
    assert find_skyline(tables, "Exec", Fraction("0.95"), "one") == [
        (0, 4, 0), (1, 3, 1), (2, 1, 3), (2, 2, 2), (3, 0, 4), (3, 1, 2), (4, 0, 3)
    ]  # fmt: skip


def test_a_breach_probability_of_exactly_three_eighths_is_not_below_three_eighths():
    tables = Histograms.of([{"s": 1, "a": 4, "b": 1, "c": 1}])
    groups = tables.about("s", 1, "one")
    assert breach_probability(groups, Amounts(1, 0, 1), "one") == Fraction(3, 8)
    assert not is_safe(groups, Amounts(1, 0, 1), Fraction(3, 8), "one")
    assert is_safe(groups, Amounts(1, 0, 1), Fraction(3, 8) + Fraction(1, 10**30), "one")


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=4), st.integers(2, 9))
def test_k_anonymity_is_safety_at_0_k_minus_2_0_when_values_are_identities(sizes, k):  # Prop. 3
    groups = [{f"{number}.{person}": 1 for person in range(size)} for number, size in enumerate(sizes)]
    tables = Histograms.of(groups)
    safe = all(
        is_safe(tables.about(value, 0, "one"), Amounts(0, k - 2, 0), Fraction(1), "one")
        for value in tables.values
    )
    assert safe == (min(sizes) >= k)


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.lists(st.integers(1, 9), min_size=1, max_size=5), min_size=1, max_size=3),
    st.integers(2, 5),
    st.fractions(Fraction(1, 4), 4, max_denominator=8),
)
def test_recursive_diversity_is_safety_at_l_minus_2_0_0(groups, diversity, c):  # Prop. 4
    tables = Histograms.of([dict(enumerate(counts)) for counts in groups])
    safe = all(
        is_safe(tables.about(v, diversity - 2, "one"), Amounts(diversity - 2, 0, 0), c / (c + 1), "one")
        for v in tables.values
    )
    ranked = [sorted(counts, reverse=True) for counts in groups]
    assert safe == all(counts[0] < c * sum(counts[diversity - 1 :]) for counts in ranked)


@settings(max_examples=150, deadline=None)
@given(histograms(8, 4, "one").filter(lambda release: len(release) > 1), amounts_strategy)
def test_merging_groups_never_raises_a_breach_probability_when_people_have_one_value(
    release, amounts
):  # Th. 3
    (n1, first), (n2, second), *rest = release
    merged = {v: first.get(v, 0) + second.get(v, 0) for v in first.keys() | second.keys()}
    before = breach(as_tables(release), "s", amounts, "one")
    assert breach(as_tables([(n1 + n2, merged), *rest]), "s", amounts, "one") <= before


@pytest.mark.parametrize(
    ("case", "alone", "ruled_out", "before", "after"),
    [
        ("multiset", {"a": 2}, 1, Fraction(1, 2), Fraction(9, 17)),
        ("set", {"a": 1, "b": 1}, 2, Fraction(1, 2), Fraction(9, 17)),
    ],
)
def test_three_people_with_many_values_show_that_merging_can_raise_it(case, alone, ruled_out, before, after):
    apart, merged = [(1, alone), (2, {"s": 1})], [(3, {**alone, "s": 1})]
    for release, expected in ((apart, before), (merged, after)):
        assert breach(as_tables(release), "s", (ruled_out, 0, 0), case) == expected
        assert Oracle(release, case).breach("s", ruled_out, 0, 0) == expected


def test_a_value_nobody_has_is_never_disclosed_and_has_no_bounds():
    tables = Histograms.of([{"a": 2}])
    assert breach(tables, "zz", (9, 9, 9), "one") == 0
    assert find_skyline(tables, "zz", Fraction(1, 2), "one") == [(None, None, None)]


def test_a_group_holding_one_value_only_is_a_certain_breach_without_any_knowledge():
    tables = Histograms.of([{"s": 3}, {"s": 1, "a": 9}])
    assert breach(tables, "s", (0, 0, 0), "one") == 1
    assert find_skyline(tables, "s", Fraction(1), "one") == []


@pytest.mark.parametrize(
    ("case", "group"),
    [
        ("one", SkylineGroup(2 * 10**6, 900, (5 * 10**5,))),
        ("set", SkylineGroup(10**6, 500, (10**5,))),
        ("multiset", SkylineGroup(4000, 3000, (2000,))),
    ],
)
def test_a_tie_between_large_numbers_is_decided_in_integers(case, group):
    amounts = Amounts(1, 10, 1500 if case != "multiset" else 3)
    numerator, denominator = negated_ratio([group], amounts, case)
    tie = Fraction(denominator, numerator + denominator)
    nudge = Fraction(1, 10**40)
    assert [is_safe([group], amounts, tie + shift, case) for shift in (-nudge, 0, nudge)] == [
        False,
        False,
        True,
    ]


@pytest.mark.parametrize("seed", drawn_seeds(40))
def test_floats_that_screen_values_are_those_of_fractions(seed):
    draw = random.Random(seed)
    ruled_out = draw.choice([0, 1])
    values = []  # per value its groups: people, holders, what a value ruled out takes
    for _ in range(3):
        sizes = [(draw.randint(1, 9), draw.randint(0, 12)) for _ in range(draw.randint(1, 4))]
        values.append([(s + more, s, draw.randint(0, more) * ruled_out) for s, more in sizes])
    people, holders, taken = np.array([group for its in values for group in its]).T
    first = np.cumsum([0, *map(len, values)])[:-1]
    for family in (0, 1, 3, MOST_FAMILY + 1):
        amounts = Amounts(ruled_out, draw.choice([0, 1, 3]), family)
        found = screened(people, holders, taken, first, amounts)
        for its, certain, told in zip(values, *found, strict=True):
            exactly = breach_probability([SkylineGroup(n, s, (lost,)) for n, s, lost in its], amounts, "one")
            assert certain == (exactly == 1)
            if certain or family <= MOST_FAMILY:
                assert told == pytest.approx(float(exactly), abs=1e-12)
