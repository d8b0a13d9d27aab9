"""The search on integers: it equals the definition on planted lattices, and says only what it proved."""

import pytest

from privacy_sql.searches import Limits
from privacy_sql.searches.full_domain import FullDomainSearch
from privacy_sql.spaces.lattice import Lattice
from privacy_sql.spaces.tags import Answer
from tests.oracles.lattice import every_choice, minimal, planted
from tests.searches.planted import Costs, Puzzle, any_costs, jagged_puzzle, monotone_puzzle
from tests.seeds import OFTEN, seeds


def found(puzzle):
    return FullDomainSearch().choose(puzzle.lattice, puzzle.decide, puzzle.costs)


def check(puzzle, found):
    assert set(found.minimal) == minimal(puzzle.safe)
    assert found.complete and found.undecided == 0 and found.stopped is None
    assert found.safe_choices == len(puzzle.safe)
    assert (found.cost and found.cost[0]) == puzzle.least
    assert found.optimal == bool(puzzle.safe)


@pytest.mark.parametrize("block", range(10))
def test_all_minimal_choices_of_planted_lattices_are_found(block):
    for seed in range(block * 40, block * 40 + 40):
        puzzle = monotone_puzzle(seed)
        check(
            puzzle, FullDomainSearch(width=1 + seed % 3).choose(puzzle.lattice, puzzle.decide, puzzle.costs)
        )
        assert len(set(puzzle.asked)) == len(puzzle.asked), f"seed {seed}: nothing is asked twice"


@pytest.mark.parametrize("goal", ["best", "one"])
def test_safe_choices_are_counted_only_where_all_are_known(goal):
    counted = 0
    for seed in range(100):
        puzzle = monotone_puzzle(seed, costs=any_costs)
        found = FullDomainSearch(goal).choose(puzzle.lattice, puzzle.decide, puzzle.costs)
        assert found.safe_choices in (None, len(puzzle.safe)), seed
        counted += found.safe_choices is not None
    assert counted < 100
    stopped = FullDomainSearch().choose(puzzle.lattice, puzzle.decide, puzzle.costs, Limits(budget=1))
    assert stopped.undecided and stopped.safe_choices is None


def test_several_chains_are_followed_at_once_in_fewer_rounds():
    def rounds(width):
        batches = []
        for seed in seeds(60, OFTEN):
            puzzle = monotone_puzzle(seed)

            def decide(choices, puzzle=puzzle):
                batches.append(len(choices))
                return puzzle.decide(choices)

            check(puzzle, FullDomainSearch(width=width).choose(puzzle.lattice, decide, puzzle.costs))
        return batches

    alone, together = rounds(1), rounds(4)
    assert set(alone) == {1} and max(together) == 4
    assert len(together) < len(alone) * 2 / 3


def test_costs_without_order_are_minimised_over_all_safe_choices():
    for seed in seeds(100, OFTEN):
        puzzle = monotone_puzzle(seed, costs=any_costs)
        check(puzzle, FullDomainSearch().choose(puzzle.lattice, puzzle.decide, puzzle.costs))


def test_costs_that_raise_the_bounds_of_finer_choices_are_minimised_with_fewer_prices():
    priced = {False: 0, True: 0}
    for informs in priced:
        for seed in seeds(100, OFTEN):
            puzzle = monotone_puzzle(seed, costs=any_costs)
            puzzle.costs.informs = informs
            cost, seen = puzzle.costs.cost, []
            puzzle.costs.cost = lambda choice, cost=cost, seen=seen: seen.append(choice) or cost(choice)
            check(puzzle, FullDomainSearch().choose(puzzle.lattice, puzzle.decide, puzzle.costs))
            priced[informs] += len(set(seen))
    assert priced[True] <= priced[False]


@pytest.mark.parametrize("goal", ["all", "best"])
def test_a_predicate_that_is_not_monotone_is_searched_without_guessing(goal):
    for seed in seeds(200, OFTEN):
        puzzle = jagged_puzzle(seed)
        found = FullDomainSearch(goal=goal).choose(puzzle.lattice, puzzle.decide, puzzle.costs)
        if goal == "all":
            check(puzzle, found)
        assert (found.cost and found.cost[0]) == puzzle.least, seed


def test_fewer_answers_are_asked_for_when_less_is_wanted():
    asked = {"all": 0, "best": 0, "one": 0}
    for goal in asked:
        for seed in seeds(100, OFTEN):
            puzzle = monotone_puzzle(seed, costs=any_costs)
            found = FullDomainSearch(goal=goal).choose(puzzle.lattice, puzzle.decide, puzzle.costs)
            asked[goal] += found.explored
            if goal == "best":
                assert (found.cost and found.cost[0]) == puzzle.least
    assert asked["one"] < asked["best"] < asked["all"]


def test_one_minimal_choice_takes_a_logarithm_of_the_height_along_a_chain():
    lattice = Lattice.of_heights([1000])
    asked = []

    def decide(choices):
        asked.extend(choices)
        return [Answer(choice >= (617,)) for choice in choices]

    found = FullDomainSearch(goal="one").choose(lattice, decide, Costs({}))
    assert found.best == (617,)
    assert len(asked) <= 10


def test_one_minimal_choice_is_minimal_on_planted_lattices():
    for seed in seeds(100, OFTEN):
        puzzle = monotone_puzzle(seed)
        found = FullDomainSearch(goal="one").choose(puzzle.lattice, puzzle.decide, puzzle.costs)
        assert (found.best in minimal(puzzle.safe)) if puzzle.safe else found.best is None
        assert not found.optimal


def test_a_search_that_is_stopped_says_nothing_it_has_not_proved():
    for seed in seeds(150, OFTEN):
        puzzle = jagged_puzzle(seed)
        for budget in (0, 1, 3, 8):
            found = FullDomainSearch().choose(
                puzzle.lattice, puzzle.decide, puzzle.costs, Limits(budget=budget)
            )
            assert set(found.minimal) <= puzzle.safe
            assert found.explored <= budget
            if found.stopped:
                assert not found.optimal and not found.complete
                assert found.best is None or found.cost[0] - found.gap <= puzzle.least + 1e-12


def test_an_interrupt_keeps_what_was_decided():
    puzzle = Puzzle((3, 3), planted((3, 3), [(1, 2)]), Costs(dict.fromkeys(every_choice((3, 3)), 0)))

    def decide(choices):
        if len(puzzle.asked) == 4:
            raise KeyboardInterrupt
        return puzzle.decide(choices)

    found = FullDomainSearch().choose(puzzle.lattice, decide, puzzle.costs)
    assert found.stopped == "interrupted"
    assert found.explored == 4 and found.undecided > 0 and not found.optimal


def test_a_time_limit_is_asked_for_between_answers_and_its_reason_is_reported():
    puzzle = monotone_puzzle(3)
    found = FullDomainSearch().choose(
        puzzle.lattice,
        puzzle.decide,
        puzzle.costs,
        Limits(stop=lambda: "time limit" if puzzle.asked else None),
    )
    assert found.stopped == "time limit"
    assert found.explored == 1


def test_progress_never_runs_backwards_and_ends_at_the_whole_lattice():
    puzzle, seen = monotone_puzzle(11), []
    FullDomainSearch().choose(
        puzzle.lattice,
        puzzle.decide,
        puzzle.costs,
        Limits(progress=lambda done, total: seen.append((done, total))),
    )
    assert seen == sorted(seen)
    assert seen[-1] == (puzzle.lattice.size, puzzle.lattice.size)


def test_a_lattice_with_one_choice_is_decided():
    found = FullDomainSearch().choose(
        Lattice(((5,),)), lambda choices: [Answer(True)], Costs({(0,): 1.0}, True)
    )
    assert found.minimal == ((0,),) and found.optimal


def test_a_lattice_above_the_limit_is_refused_before_anything_is_asked():
    with pytest.raises(ValueError, match="best_first"):
        FullDomainSearch(max_choices=10).choose(Lattice.of_heights([10]), lambda choices: [], Costs({}))
