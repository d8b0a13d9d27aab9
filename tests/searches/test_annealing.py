"""Simulated annealing: safe choices, out of places where single steps are stuck, and never called proven."""

from hypothesis import given, settings
from hypothesis import strategies as st

from privacy_sql.searches import Limits
from privacy_sql.searches.annealing import Annealing
from tests.searches.planted import Subsets, dice, forbidden, gain, least_gain


def found(puzzle):
    return Annealing(rounds=30).choose(puzzle, puzzle.is_safe, puzzle.cost, dice(0))


@settings(max_examples=50, deadline=None)
@given(forbidden, st.integers(0, 1000))
def test_annealing_returns_a_safe_choice_and_says_that_nothing_is_proven(unsafe, seed):
    found = Annealing(30, 2).choose(Subsets(5), lambda c: c not in unsafe, gain, dice(seed))
    assert found.best not in unsafe and gain(found.best) >= least_gain(unsafe) and not found.optimal


def test_annealing_goes_on_from_where_it_is_told():
    start = frozenset({4})
    found = Annealing(1, 1).choose(Subsets(5), lambda c: 4 in c, gain, dice(0), start=start)
    assert 4 in found.best


def test_annealing_gets_out_where_single_steps_are_stuck():
    """The best choice lies behind two steps back that both cost more."""
    wall = {frozenset({0, 1, 2}), frozenset({1, 2}), frozenset({0, 2})}
    start = frozenset({0, 1})

    def safe(choice):
        return choice not in wall

    assert all(not safe(after) for after in Subsets(3).larger(start))
    found = Annealing(50, 1).choose(Subsets(3), safe, lambda c: -9.0 if c == {2} else gain(c), dice(0), start)
    assert found.best == {2}


def test_a_stopped_walk_keeps_what_it_has():
    found = Annealing().choose(
        Subsets(3), lambda _: True, gain, dice(0), limits=Limits(stop=lambda: "time limit")
    )
    assert found.stopped == "time limit" and found.best == frozenset()
