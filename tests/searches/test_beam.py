"""The beam: safe choices, the best of those it met, and never called proven."""

from hypothesis import given, settings

from privacy_sql.searches import Limits
from privacy_sql.searches.beam import Beam
from tests.searches.planted import Subsets, forbidden, gain, least_gain


def found(puzzle):
    return Beam(width=1000).choose(puzzle, puzzle.is_safe, puzzle.cost)


@settings(max_examples=50, deadline=None)
@given(forbidden)
def test_a_beam_returns_a_safe_choice_and_says_that_nothing_is_proven(unsafe):
    found = Beam(3).choose(Subsets(5), lambda c: c not in unsafe, gain)
    assert found.best not in unsafe and gain(found.best) >= least_gain(unsafe) and not found.optimal


def test_a_wide_beam_without_walls_finds_the_best():
    assert Beam(100).choose(Subsets(5), lambda _: True, gain).best == frozenset(range(5))


def test_nothing_safe_is_nothing_chosen():
    assert Beam().choose(Subsets(3), lambda _: False, gain).best is None


def test_a_stopped_search_says_why_and_proves_nothing():
    found = Beam().choose(Subsets(3), lambda _: True, gain, Limits(stop=lambda: "time limit"))
    assert found.stopped == "time limit" and not found.optimal
