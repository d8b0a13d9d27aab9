"""(c,k)-safety's mathematics against brute force, the paper's figures and its theorems."""

from __future__ import annotations

import itertools
import json
import random
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privacy_sql.kernels.worst_case.disclosure import (
    AtomsOfPerson,
    WorstKnowledge,
    growing_certainty,
    implication_curve,
    negation_curve,
    worst_case_disclosure,
    worst_knowledge,
)
from privacy_sql.kernels.worst_case.group_shapes import GroupShapes, Shape
from privacy_sql.kernels.worst_case.running import RunningWorstCase
from tests.oracles import worst_case as oracle

FIG_3 = [[2, 2, 1, 0, 0, 0], [2, 0, 0, 1, 1, 1]]  # flu, lung cancer, mumps; breast, heart, ovarian
VECTORS = json.loads((Path(__file__).parents[2] / "fixtures/vectors/ck_skyline.json").read_text())

few = settings(max_examples=60, deadline=None)
groups_of = st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=6).filter(any), min_size=1, max_size=6)


def tiny_groups(people: int, values: int = 3) -> st.SearchStrategy[list[list[int]]]:
    """Tables so small that all of them and all formulas can be written down."""
    group = st.lists(st.integers(0, 3), min_size=values, max_size=values).filter(any)
    return st.lists(group, min_size=1, max_size=3).filter(lambda gs: sum(map(sum, gs)) <= people)


def replayed(groups: list[list[int]], knowledge: WorstKnowledge, facts: int | None = None) -> Fraction | None:
    """The chance of the target given the witness's implications, or the first of them, by counting tables."""
    shapes = GroupShapes.of(groups)
    sorted_shapes = [tuple(sorted((n for n in g if n), reverse=True)) for g in groups]
    starts = np.cumsum([0, *map(sum, groups)])
    target, others = [], []
    for place in knowledge.places:
        shape = tuple(n for n in shapes.top[place.shape].tolist() if n)
        number = [i for i, s in enumerate(sorted_shapes) if s == shape][place.copy]
        ranked = sorted(range(len(groups[number])), key=lambda v, g=groups[number]: -g[v])
        atoms = [
            (int(starts[number]) + person, ranked[rank])
            for person, claimed in enumerate(place.atoms)
            for rank in range(claimed)
        ]
        target += atoms[: place.target]
        others += atoms[place.target :]
    assert len(target) == 1 and len(others) == knowledge.facts
    return oracle.chance(oracle.tables(groups), target[0], [([a], target) for a in others[:facts]])


@few
@given(tiny_groups(people=6), st.integers(0, 3))
def test_certainty_after_each_fact_is_what_all_tables_say(groups: list[list[int]], facts: int) -> None:
    knowledge = worst_knowledge(GroupShapes.of(groups), facts)
    shapes = GroupShapes.of(groups)
    counts = [(int(shapes.size[p.shape]), shapes.top[p.shape].tolist()) for p in knowledge.places]
    target = next(number for number, place in enumerate(knowledge.places) if place.target)
    found = growing_certainty(counts, [place.atoms for place in knowledge.places], target)
    assert found == [replayed(groups, knowledge, told) for told in range(knowledge.facts + 1)]


@few
@given(tiny_groups(people=4))
def test_curves_equal_the_best_of_all_basic_implications_and_negations(groups: list[list[int]]) -> None:
    worlds = oracle.tables(groups)
    shapes = GroupShapes.of(groups)
    sentences = oracle.basic_implications(worlds)
    assert implication_curve(shapes, 1) == [oracle.maximum_disclosure(worlds, sentences, k) for k in (0, 1)]
    negations = oracle.negations(worlds)
    expected = [oracle.maximum_disclosure(worlds, negations, k) for k in range(3)]
    assert negation_curve(shapes, 2) == expected


@few
@given(tiny_groups(people=3))
def test_two_basic_implications_of_any_form_do_no_more_than_the_curve_says(groups: list[list[int]]) -> None:
    worlds = oracle.tables(groups)
    found = oracle.maximum_disclosure(worlds, oracle.basic_implications(worlds), 2)
    assert worst_case_disclosure(GroupShapes.of(groups), 2) == found


@settings(max_examples=25, deadline=None)
@given(tiny_groups(people=6))
def test_two_simple_implications_reach_the_curve_in_larger_tables(groups: list[list[int]]) -> None:
    worlds = oracle.tables(groups)
    found = oracle.maximum_disclosure(worlds, oracle.simple_implications(worlds), 2)
    assert worst_case_disclosure(GroupShapes.of(groups), 2) == found


@settings(max_examples=25, deadline=None)
@given(tiny_groups(people=8, values=4))
def test_one_simple_implication_reaches_the_curve_in_tables_of_eight(groups: list[list[int]]) -> None:
    worlds = oracle.tables(groups)
    found = oracle.maximum_disclosure(worlds, oracle.simple_implications(worlds), 1)
    assert worst_case_disclosure(GroupShapes.of(groups), 1) == found


@few
@given(groups_of, st.integers(0, 7))
def test_fast_curve_equals_the_recursion_of_the_paper(groups: list[list[int]], facts: int) -> None:
    curve = implication_curve(GroupShapes.of(groups), facts)
    assert curve == [oracle.recursion_of_the_paper(groups, k) for k in range(facts + 1)]
    assert worst_case_disclosure(GroupShapes.of(groups), facts) == curve[-1]


# a few common values and many rare ones: several people with several facts each are the worst there
steep = st.builds(
    lambda common, rare: [*common, *[1] * rare],
    st.lists(st.integers(2, 9), min_size=2, max_size=3),
    st.integers(2, 8),
)


@few
@given(st.lists(steep, min_size=1, max_size=3), st.integers(2, 6))
def test_facts_dealt_to_several_people_several_each_are_found(groups: list[list[int]], facts: int) -> None:
    found = worst_knowledge(GroupShapes.of(groups), facts)
    assert found.value == oracle.recursion_of_the_paper(groups, facts)


@few
@given(tiny_groups(people=8, values=4), st.integers(0, 3), st.sets(st.integers(0, 3), min_size=1))
def test_some_values_alone_are_guessed_no_better_than_by_any_facts_with_one_consequent(
    groups: list[list[int]], facts: int, guessed: set[int]
) -> None:
    worlds = oracle.tables(groups)
    shapes = [Shape.of(g, max(g[value] for value in guessed)) for g in groups]
    worst = oracle.one_consequent(worlds, facts, guessed)
    if not any(shape.guessed for shape in shapes):
        assert worst == 0
        return
    assert worst_knowledge(GroupShapes.of_shapes(shapes), facts).value == worst
    assert worst_case_disclosure(GroupShapes.of_shapes(shapes), facts) == worst


@few
@given(groups_of, st.integers(0, 6), st.randoms(use_true_random=False))
def test_merging_groups_never_makes_one_value_likelier(groups: list[list[int]], facts: int, random) -> None:  # type: ignore[no-untyped-def]
    width = max(map(len, groups))
    padded = [g + [0] * (width - len(g)) for g in groups]
    value = random.randrange(width)
    if not any(g[value] for g in padded):
        return

    def worst(some: list[list[int]]) -> Fraction:
        return worst_case_disclosure(GroupShapes.of_shapes(Shape.of(g, g[value]) for g in some), facts)

    one, other = random.randrange(len(padded)), random.randrange(len(padded))
    rest = [g for number, g in enumerate(padded) if number not in (one, other)]
    merged = [a + b for a, b in zip(padded[one], padded[other], strict=True)] if one != other else padded[one]
    assert worst([*rest, merged]) <= worst(padded)
    if any(g[value] for g in rest):
        assert worst(rest) <= worst(padded)


def test_two_people_with_two_facts_each_are_worse_than_one_with_four() -> None:
    """(1/8 beats 1/4 of one person with four facts, and 99/546 of four people with one.)"""
    found = worst_knowledge(GroupShapes.of([[5, 5, 1, 1, 1, 1, 1, 1]]), 3)
    assert (found.value, found.places[0].atoms) == (Fraction(5, 7), (2, 2))


@few
@given(tiny_groups(people=7, values=4), st.integers(0, 3))
def test_replaying_the_witness_attains_the_value(groups: list[list[int]], facts: int) -> None:
    shapes = GroupShapes.of(groups)
    knowledge = worst_knowledge(shapes, facts)
    assert replayed(groups, knowledge) == knowledge.value == worst_case_disclosure(shapes, facts)
    useful = shapes.useful_facts(facts)
    most = negation_curve(shapes, facts)[-1]
    # the same number of values ruled out in each group, of which the worst reaches the curve
    ruled_out = [(AtomsOfPerson(shape, 0, (useful + 1,), True),) for shape in range(len(shapes.size))]
    assert max(replayed(groups, WorstKnowledge(most, useful, places)) for places in ruled_out) == most


@few
@given(groups_of, st.integers(0, 6), st.randoms(use_true_random=False))
def test_merging_groups_never_raises_either_curve(groups: list[list[int]], facts: int, random) -> None:  # type: ignore[no-untyped-def]
    width = max(map(len, groups))
    padded = [g + [0] * (width - len(g)) for g in groups]
    before = GroupShapes.of(padded)
    first, second = random.choice(padded), random.choice(padded)
    rest = list(padded)
    rest.remove(first)
    if second in rest:
        rest.remove(second)
        rest.append([a + b for a, b in zip(first, second, strict=True)])
    else:
        rest.append(first)
    after = GroupShapes.of(rest)
    for curve in (implication_curve, negation_curve):
        assert all(new <= old for new, old in zip(curve(after, facts), curve(before, facts), strict=True))


@few
@given(groups_of)
def test_curve_is_strictly_increasing_until_one_value_is_left(groups: list[list[int]]) -> None:
    poorest = min(np.count_nonzero(g) for g in groups)
    curve = implication_curve(GroupShapes.of(groups), 8)
    assert all((value == 1) == (k >= poorest - 1) for k, value in enumerate(curve))
    assert all(a < b for a, b in itertools.pairwise(curve) if a < 1)
    assert all(n <= i for n, i in zip(negation_curve(GroupShapes.of(groups), 8), curve, strict=True))


def test_figure_3_discloses_two_thirds_to_one_fact() -> None:
    assert implication_curve(GroupShapes.of(FIG_3), 2) == [Fraction(2, 5), Fraction(2, 3), 1]
    flu, hannah, charlie = 0, 5, 0
    worlds = oracle.tables(FIG_3)
    implication = ([(hannah, flu)], [(charlie, flu)])
    assert oracle.chance(worlds, (charlie, flu), [implication]) == Fraction(10, 19)


def test_two_groups_together_can_disclose_more_than_each_alone() -> None:
    a, b = [4, 3, 1, 1, 1], [4, 4, 1, 1, 1]
    assert worst_case_disclosure(GroupShapes.of([a, b]), 2) == Fraction(22, 31)
    assert max(worst_case_disclosure(GroupShapes.of([g]), 2) for g in (a, b)) == Fraction(12, 17)


@pytest.mark.parametrize(
    "case", [v for v in VECTORS if v["kind"].startswith("martin")], ids=lambda case: case["id"]
)
def test_kernel_agrees_with_the_vector(case: dict) -> None:  # type: ignore[type-arg]
    shapes = GroupShapes.of(group.values() for group in case["groups"])
    if case["kind"] == "martin_safe":
        assert (worst_case_disclosure(shapes, case["k"]) < Fraction(case["c"])) is case["answer"]
    else:
        curve = implication_curve if "max" in case["kind"] else negation_curve
        assert curve(shapes, case["k"])[-1] == Fraction(case["answer"])


@few
@given(
    st.lists(st.lists(st.integers(1, 4), min_size=1, max_size=5), min_size=1, max_size=12), st.integers(0, 5)
)
def test_equal_groups_counted_once_give_the_same_curve(groups: list[list[int]], facts: int) -> None:
    once = GroupShapes.of(groups)
    top = np.repeat(once.top, once.copies, axis=0)
    each = GroupShapes(np.repeat(once.size, once.copies), top, np.ones(len(top), np.int64))
    assert implication_curve(each, facts) == implication_curve(once, facts)


@few
@given(groups_of, st.integers(0, 4))
def test_counts_beyond_the_largest_k_plus_one_change_nothing(groups: list[list[int]], facts: int) -> None:
    full = GroupShapes.of(groups)
    cut = GroupShapes(full.size, full.top[:, : facts + 1], full.copies)
    assert implication_curve(cut, facts) == implication_curve(full, facts)
    assert negation_curve(cut, facts) == negation_curve(full, facts)


def test_counts_cut_too_short_are_refused() -> None:
    with pytest.raises(ValueError, match="4 largest counts"):
        implication_curve(GroupShapes(np.array([9]), np.array([[3, 2]]), np.array([1])), 3)


@few
@given(st.data())
def test_changing_a_few_groups_gives_the_curve_of_the_new_grouping(data: st.DataObject) -> None:
    groups = data.draw(groups_of)
    facts = data.draw(st.integers(0, 5))

    def known(histograms: list[list[int]]) -> list[int]:
        return [row for histogram in histograms for row in running.learn(GroupShapes.of([histogram]))]

    # at the limit, far from it, and so near that only fractions tell
    step = data.draw(st.sampled_from([Fraction(0), Fraction(1, 10**12), Fraction(1, 10**3)]))
    value = implication_curve(GroupShapes.of(groups), facts)[-1]
    limit = data.draw(st.sampled_from([value - step, value + step, Fraction(1), Fraction(9, 10)]))
    running = RunningWorstCase(facts, limit)
    running.change(added=known(groups))
    for _ in range(3):
        curve = implication_curve(GroupShapes.of(groups), facts)
        assert running.curve() == curve
        assert running.allows([], []) == (curve[-1] < limit)
        removed = data.draw(st.lists(st.sampled_from(groups), max_size=1))
        added = data.draw(groups_of)
        groups = [*groups, *added]
        for histogram in removed:
            groups.remove(histogram)
        change = known(removed), known(added)
        after = implication_curve(GroupShapes.of(groups), facts)
        assert running.allows(*change) == (after[-1] < limit)
        assert running.curve() == curve
        running.change(*change)
        assert running.curve() == after
    assert running.allows([], []) == (after[-1] < limit)


def test_removing_a_group_that_is_not_there_is_refused() -> None:
    running = RunningWorstCase(1, Fraction(1))
    there, _ = running.learn(GroupShapes.of([[1, 2], [3]]))
    running.change(added=[there])
    assert running.number([2, 1], 2) == there and running.number([9], 9) == -1
    for row in (there + 1, running.number([9], 9)):
        with pytest.raises(ValueError, match="not there"):
            running.change(removed=[row])


def test_many_groups_cut_one_after_another_keep_a_limit_that_their_curve_keeps() -> None:
    """Most changes are told from the worst case before, some from floats and some from fractions."""
    draw = random.Random(5)
    allowed = 0
    for _ in range(6):
        facts = draw.randint(0, 3)
        groups = [[draw.choice([1, 1, 2, 3, 5, 8]) for _ in range(draw.randint(3, 6))] for _ in range(40)]
        value = implication_curve(GroupShapes.of(groups), facts)[-1]
        limit = min(Fraction(1), value + draw.choice([Fraction(1, 50), Fraction(1, 10**9)]))
        running = RunningWorstCase(facts, limit)
        running.change(added=[row for group in groups for row in running.learn(GroupShapes.of([group]))])
        for _ in range(60):
            whole = draw.choice(groups)
            low = [draw.randint(0, n) for n in whole]
            parts = [
                [n for n in part if n] for part in (low, [n - m for n, m in zip(whole, low, strict=True)])
            ]
            if not all(parts):
                continue
            after = [*(group for group in groups if group is not whole), *parts]
            change = [running.number(whole, max(whole))], running.learn(GroupShapes.of(parts[:1]))
            change[1].extend(running.learn(GroupShapes.of(parts[1:])))
            expected = implication_curve(GroupShapes.of(after), facts)[-1] < limit
            assert running.allows(*change) == expected
            if expected and draw.random() < 0.9:
                running.change(*change)
                groups, allowed = after, allowed + 1
        assert running.curve() == implication_curve(GroupShapes.of(groups), facts)
    assert allowed > 20


@pytest.mark.parametrize("groups", [[], [[]], [[0, 0]], [[2, -1]]])
def test_groups_that_no_table_can_have_are_refused(groups: list[list[int]]) -> None:
    with pytest.raises(ValueError):
        implication_curve(GroupShapes.of(groups), 1)


def test_negative_number_of_facts_is_refused() -> None:
    with pytest.raises(ValueError, match="negative"):
        implication_curve(GroupShapes.of([[1, 1]]), -1)


def test_huge_number_of_facts_costs_nothing_and_discloses_everything() -> None:
    assert worst_case_disclosure(GroupShapes.of([[2, 2], [5, 1, 1]]), 10**9) == 1


@pytest.mark.parametrize("groups", [[[1]], [[3]], [[1], [1]], [[2, 2], [1]]])
def test_one_person_or_one_value_is_disclosed_without_any_fact(groups: list[list[int]]) -> None:
    assert worst_case_disclosure(GroupShapes.of(groups), 0) == 1


def test_tie_that_floats_get_wrong_is_decided_by_fractions() -> None:
    big = 10**15
    value = worst_case_disclosure(GroupShapes.of([[big, big, big - 1], [big, big, big]]), 1)
    assert value == oracle.recursion_of_the_paper([[big, big, big - 1], [big, big, big]], 1)
    assert value != Fraction(1, 2)


def test_fifty_thousand_groups_and_thirty_two_facts_take_about_a_quarter_of_a_second() -> None:
    top = -np.sort(-np.random.default_rng(7).integers(1, 60, (50_000, 40)), axis=1)
    shapes = GroupShapes(top.sum(axis=1), top, np.ones(len(top), np.int64))
    start = time.process_time()
    assert len(implication_curve(shapes, 32)) == 33
    assert time.process_time() - start < 3  # of the processor: ten times the usual
