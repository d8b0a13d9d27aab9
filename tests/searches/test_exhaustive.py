"""The search that prunes nothing: the definition itself, within a limit on its size."""

import pytest

from privacy_sql.searches import Limits
from privacy_sql.searches.exhaustive import Exhaustive
from privacy_sql.spaces.lattice import Lattice
from tests.oracles.lattice import minimal
from tests.searches.planted import Costs, jagged_puzzle
from tests.seeds import OFTEN, seeds


def found(puzzle):
    return Exhaustive().choose(puzzle.lattice, puzzle.decide, puzzle.costs)


def test_every_choice_is_asked_about_once_and_the_definition_holds():
    for seed in seeds(100, OFTEN):
        puzzle = jagged_puzzle(seed)
        found = Exhaustive(width=1 + seed % 4).choose(puzzle.lattice, puzzle.decide, puzzle.costs)
        assert sorted(puzzle.asked) == sorted(puzzle.lattice.choices())
        assert set(found.minimal) == minimal(puzzle.safe)
        assert (found.cost and found.cost[0]) == puzzle.least


def test_a_budget_leaves_an_honest_rest():
    puzzle = jagged_puzzle(5)
    found = Exhaustive().choose(puzzle.lattice, puzzle.decide, puzzle.costs, Limits(budget=3))
    assert found.explored == 3 and found.undecided == puzzle.lattice.size - 3
    assert found.stopped == "node budget" and not found.optimal and not found.complete


def test_a_lattice_above_the_limit_is_refused_before_anything_is_asked():
    with pytest.raises(ValueError, match="too many"):
        Exhaustive(max_choices=10).choose(Lattice.of_heights([10]), lambda choices: [], Costs({}))
