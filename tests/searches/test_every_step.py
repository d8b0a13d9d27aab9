"""The list of every choice that steps reach: the best of them, proven, or nothing."""

from hypothesis import given, settings

from privacy_sql.searches import Limits
from privacy_sql.searches.every_step import EveryStep, expected
from tests.searches.planted import Subsets, forbidden, gain, least_gain


def found(puzzle):
    return EveryStep().choose(puzzle, puzzle.is_safe, puzzle.cost)


@settings(max_examples=50, deadline=None)
@given(forbidden)
def test_listing_every_step_finds_the_best_safe_choice(unsafe):
    found = EveryStep().choose(Subsets(5), lambda c: c not in unsafe, gain)
    assert found.optimal and gain(found.best) == least_gain(unsafe)


def test_the_pace_of_a_listing_never_expects_more_than_there_are():
    """Numbers of collections one, two, ... edges away, as listed for the columns of the experiments."""
    sizes = [1, 11, 50, 163, 369, 589, 722, 695, 552, 375, 216, 103, 37, 8, 1]
    for length in range(1, len(sizes) + 1):
        assert expected(sizes[:length]) <= sum(sizes)


def test_too_many_choices_are_not_listed():
    found = EveryStep(max_choices=10).choose(Subsets(5), lambda _: True, gain)
    assert found.best is None and found.stopped == "too many choices"


def test_nothing_safe_is_nothing_chosen():
    assert EveryStep().choose(Subsets(3), lambda _: False, gain).best is None


def test_a_stopped_search_says_why_and_proves_nothing():
    found = EveryStep().choose(Subsets(3), lambda _: True, gain, Limits(stop=lambda: "time limit"))
    assert found.stopped == "time limit" and not found.optimal
