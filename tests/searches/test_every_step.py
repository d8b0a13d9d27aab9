"""Walks over steps: every one against the list of all choices."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privacy_sql.searches import Limits
from privacy_sql.searches.annealing import Annealing
from privacy_sql.searches.beam import Beam
from privacy_sql.searches.every_step import EveryStep, expected

Bits = frozenset[int]


class Subsets:
    """Sets of the numbers below `size`, one number more or less at a time."""

    def __init__(self, size: int) -> None:
        self.size = size

    @property
    def start(self) -> Bits:
        return frozenset()

    def larger(self, choice: Bits) -> Iterable[Bits]:
        return (choice | {i} for i in range(self.size) if i not in choice)

    def smaller(self, choice: Bits) -> Iterable[Bits]:
        return (choice - {i} for i in choice)


def gain(choice: Bits) -> float:
    return -float(sum(i + 1 for i in choice))


def dice(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


forbidden = st.sets(st.frozensets(st.integers(0, 4), min_size=1), max_size=20)


@settings(max_examples=50, deadline=None)
@given(forbidden)
def test_listing_every_step_finds_the_best_safe_choice(unsafe: set[Bits]) -> None:
    found = EveryStep().choose(Subsets(5), lambda c: c not in unsafe, gain)
    everything = [frozenset(i for i in range(5) if n >> i & 1) for n in range(32)]
    assert found.optimal and gain(found.best) == min(gain(c) for c in everything if c not in unsafe)


@settings(max_examples=50, deadline=None)
@given(forbidden, st.integers(0, 1000))
def test_walks_that_prove_nothing_return_safe_choices_and_say_so(unsafe: set[Bits], seed: int) -> None:
    best = EveryStep().choose(Subsets(5), lambda c: c not in unsafe, gain).best
    beam = Beam(3).choose(Subsets(5), lambda c: c not in unsafe, gain)
    walk = Annealing(30, 2).choose(Subsets(5), lambda c: c not in unsafe, gain, dice(seed))
    for found in (beam, walk):
        assert found.best not in unsafe and gain(found.best) >= gain(best) and not found.optimal


def test_a_wide_beam_without_walls_finds_the_best() -> None:
    assert Beam(100).choose(Subsets(5), lambda _: True, gain).best == frozenset(range(5))


def test_the_pace_of_a_listing_never_expects_more_than_there_are() -> None:
    """Numbers of collections one, two, ... edges away, as listed for the columns of the experiments."""
    sizes = [1, 11, 50, 163, 369, 589, 722, 695, 552, 375, 216, 103, 37, 8, 1]
    for length in range(1, len(sizes) + 1):
        assert expected(sizes[:length]) <= sum(sizes)


def test_annealing_goes_on_from_where_it_is_told() -> None:
    start = frozenset({4})
    found = Annealing(1, 1).choose(Subsets(5), lambda c: 4 in c, gain, dice(0), start=start)
    assert 4 in found.best


def test_annealing_gets_out_where_single_steps_are_stuck() -> None:
    """The best choice lies behind two steps back that both cost more."""
    wall = {frozenset({0, 1, 2}), frozenset({1, 2}), frozenset({0, 2})}
    start = frozenset({0, 1})

    def safe(choice: Bits) -> bool:
        return choice not in wall

    assert all(not safe(after) for after in Subsets(3).larger(start))
    found = Annealing(50, 1).choose(Subsets(3), safe, lambda c: -9.0 if c == {2} else gain(c), dice(0), start)
    assert found.best == {2}


def test_a_stopped_walk_keeps_what_it_has() -> None:
    found = Annealing().choose(
        Subsets(3), lambda _: True, gain, dice(0), limits=Limits(stop=lambda: "time limit")
    )
    assert found.stopped == "time limit" and found.best == frozenset()


def test_too_many_choices_are_not_listed() -> None:
    found = EveryStep(max_choices=10).choose(Subsets(5), lambda _: True, gain)
    assert found.best is None and found.stopped == "too many choices"


@pytest.mark.parametrize("search", [EveryStep(), Beam()])
def test_nothing_safe_is_nothing_chosen(search: EveryStep | Beam) -> None:
    assert search.choose(Subsets(3), lambda _: False, gain).best is None


@pytest.mark.parametrize("search", [EveryStep(), Beam()])
def test_a_stopped_search_says_why_and_proves_nothing(search: EveryStep | Beam) -> None:
    found = search.choose(Subsets(3), lambda _: True, gain, Limits(stop=lambda: "time limit"))
    assert found.stopped == "time limit" and not found.optimal
