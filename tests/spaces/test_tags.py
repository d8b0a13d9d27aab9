"""What tags infer from answers is exactly what the answers entail."""

import random

from privacy_sql.spaces.lattice import Lattice
from privacy_sql.spaces.tags import Answer, Tags
from tests.oracles.lattice import every_choice, finer, minimal
from tests.searches.planted import monotone_puzzle, random_heights
from tests.seeds import OFTEN, seeds


def test_answers_that_carry_settle_exactly_what_lies_above_or_below():
    for seed in seeds(100, OFTEN):
        puzzle, rng = monotone_puzzle(seed), random.Random(seed)
        tags, learnt = Tags(puzzle.lattice), []
        for choice in rng.sample(every_choice(puzzle.heights), k=min(4, puzzle.lattice.size)):
            safe = choice in puzzle.safe
            tags.learn(choice, Answer(safe))
            learnt.append((choice, safe))
        for choice in every_choice(puzzle.heights):
            entailed = {safe for c, safe in learnt if (finer(c, choice) if safe else finer(choice, c))}
            assert tags.known(choice) == (entailed.pop() if entailed else None)


def test_an_answer_that_does_not_carry_settles_one_choice():
    tags = Tags(Lattice.of_heights([2, 2]))
    tags.learn((1, 1), Answer(safe=True, carries=False))
    tags.learn((2, 2), Answer(safe=False, carries=False))
    assert tags.n_open == 7 and tags.known((1, 1)) is True and tags.known((2, 2)) is False


def test_minimal_safe_choices_follow_the_definition_also_without_monotony():
    for seed in seeds(200, OFTEN):
        rng = random.Random(seed)
        heights = random_heights(rng)
        safe = {choice for choice in every_choice(heights) if rng.random() < 0.3}
        tags = Tags(Lattice.of_heights(heights))
        for choice in safe:
            tags.learn(choice, Answer(True, carries=False))
        assert set(tags.minimal_safe()) == minimal(safe)
        assert set(tags.safe_choices()) == safe


def test_what_is_set_aside_is_neither_open_nor_known():
    tags = Tags(Lattice.of_heights([1]))
    tags.set_aside(tags.state == 0)
    assert tags.n_open == 0 and tags.known((0,)) is None and tags.coarsest_open() is None
