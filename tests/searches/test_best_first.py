"""The search for lattices of any size: optimal when it says so, otherwise with a gap that holds."""

import time

from privacy_sql.searches import Limits
from privacy_sql.searches.best_first import BestFirst
from privacy_sql.spaces.lattice import Lattice
from privacy_sql.spaces.tags import Answer
from tests.searches.planted import any_costs, jagged_puzzle, monotone_puzzle
from tests.seeds import OFTEN, seeds


def found(puzzle):
    return BestFirst().choose(puzzle.lattice, puzzle.decide, puzzle.costs)


def test_the_best_choice_of_planted_lattices_is_found_and_proved():
    for seed in seeds(200, OFTEN):
        for puzzle in (monotone_puzzle(seed), monotone_puzzle(seed, costs=any_costs), jagged_puzzle(seed)):
            found = BestFirst().choose(puzzle.lattice, puzzle.decide, puzzle.costs)
            assert (found.cost and found.cost[0]) == puzzle.least, seed
            assert found.optimal == bool(puzzle.safe) and found.stopped is None
            assert len(set(puzzle.asked)) == len(puzzle.asked)


def test_a_search_that_is_stopped_gives_a_gap_that_holds():
    for seed in seeds(150, OFTEN):
        puzzle = jagged_puzzle(seed)
        for budget in (1, 2, 5):
            found = BestFirst().choose(puzzle.lattice, puzzle.decide, puzzle.costs, Limits(budget=budget))
            if found.stopped:
                assert not found.optimal
                assert found.best is None or found.cost[0] - found.gap <= puzzle.least + 1e-12


class Height:
    monotone = True

    def __init__(self, heights):
        self.level_bounds = [list(range(height + 1)) for height in heights]

    def cost(self, choice):
        return (float(sum(choice)),)

    def raise_floor(self, choice, floor):
        return False


def test_a_lattice_of_ten_million_choices_is_searched_in_bounded_memory():
    heights = [3] * 12
    lattice = Lattice.of_heights(heights)
    seeds = [tuple((i * j) % 4 for j in range(1, 13)) for i in range(1, 4)]
    found = BestFirst().choose(
        lattice,
        lambda choices: [
            Answer(any(all(a >= b for a, b in zip(c, s, strict=True)) for s in seeds)) for c in choices
        ],
        Height(heights),
    )
    assert lattice.size > 10**7
    assert found.optimal and found.cost == (float(min(map(sum, seeds))),)
    assert found.explored * 1000 < lattice.size


def test_a_full_memory_ends_the_search_with_a_gap_instead_of_growing():
    heights = [3] * 12
    found = BestFirst(max_waiting=50).choose(
        Lattice.of_heights(heights), lambda choices: [Answer(sum(c) >= 20) for c in choices], Height(heights)
    )
    assert found.stopped == "too many waiting choices"
    assert found.best is not None and 0 < found.gap <= found.cost[0]
    assert found.cost[0] - found.gap <= 20


def test_a_time_limit_holds_on_a_hard_lattice():
    start = time.monotonic()
    heights = [3] * 12
    found = BestFirst().choose(
        Lattice.of_heights(heights),
        lambda choices: [Answer(sum(c) >= 20) for c in choices],
        Height(heights),
        Limits(stop=lambda: "time limit" if time.monotonic() - start > 0.3 else None),
    )
    assert found.stopped == "time limit" and time.monotonic() - start < 2
    assert found.cost[0] - found.gap <= 20


def test_an_interrupt_leaves_the_interrupted_choice_among_the_undecided():
    asked = []

    def decide(choices):
        asked.append(choices)
        if len(asked) == 5:
            raise KeyboardInterrupt
        return [Answer(sum(c) >= 4) for c in choices]

    found = BestFirst().choose(Lattice.of_heights([2, 2, 2]), decide, Height([2, 2, 2]))
    assert found.stopped == "interrupted" and found.undecided > 0 and not found.optimal
    assert found.cost[0] - found.gap <= 4


def test_nothing_safe_takes_one_answer():
    found = BestFirst().choose(
        Lattice.of_heights([3] * 12), lambda choices: [Answer(False) for _ in choices], Height([3] * 12)
    )
    assert found.best is None and not found.optimal and found.explored == 1 and found.stopped is None
