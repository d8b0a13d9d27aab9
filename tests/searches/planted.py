"""Small spaces with a planted answer, shared by the tests of all searches."""

import random
from dataclasses import dataclass, field

import numpy as np
from hypothesis import strategies as st

from privacy_sql.spaces.lattice import Lattice
from privacy_sql.spaces.tags import Answer
from tests.oracles.lattice import cheapest, every_choice, finer, planted


@dataclass
class Costs:
    """An objective given as a table; `monotone` and `level_bounds` are promises about that table."""

    table: dict
    monotone: bool = False
    level_bounds: list | None = None
    informs: bool = False

    def cost(self, choice):
        return (self.table[choice],)

    def raise_floor(self, choice, floor):
        """What a table of costs knows about finer choices: the least of them, when it is asked to tell."""
        if not self.informs:
            return False
        finer = tuple(slice(0, level + 1) for level in choice)
        for other in every_choice(choice):
            floor[finer][other] = max(floor[finer][other], min(self.table[other], self.table[choice]))
        return True


@dataclass
class Puzzle:
    """A lattice, the set of its safe choices, what answers carry, and what choices cost.

    It is a space of steps as well, from the coarsest choice to finer ones.
    """

    heights: tuple
    safe: set
    costs: Costs
    always_safe: set = field(default_factory=set)  # safe, with everything coarser
    never_safe: set = field(default_factory=set)  # unsafe, with everything finer
    asked: list = field(default_factory=list)

    @property
    def least(self):
        return cheapest(self.safe, lambda choice: self.costs.cost(choice)[0])

    @property
    def lattice(self):
        return Lattice.of_heights(self.heights)

    def decide(self, choices):
        self.asked.extend(choices)
        return [Answer(c in self.safe, c in self.always_safe or c in self.never_safe) for c in choices]

    @property
    def start(self):
        return self.lattice.top

    def larger(self, choice):
        return self.lattice.finer_neighbours(choice)

    def smaller(self, choice):
        return self.lattice.coarser_neighbours(choice)

    def is_safe(self, choice):
        return choice in self.safe

    def cost(self, choice):
        return self.costs.cost(choice)[0]


def random_heights(rng):
    return tuple(rng.randint(0, 3) for _ in range(rng.randint(1, 5)))


def random_seeds(rng, heights, most=4):
    return [tuple(rng.randint(0, height) for height in heights) for _ in range(rng.randint(0, most))]


def additive_costs(rng, heights):
    """Costs that are a sum of rising parts: the parts are lower bounds, nothing coarser is cheaper."""
    parts = [sorted(rng.randint(0, 9) / 8 for _ in range(height + 1)) for height in heights]
    table = {c: sum(part[level] for part, level in zip(parts, c, strict=True)) for c in every_choice(heights)}
    return Costs(table, monotone=True, level_bounds=parts)


def monotone_puzzle(seed, costs=additive_costs):
    rng = random.Random(seed)
    heights = random_heights(rng)
    safe = planted(heights, random_seeds(rng, heights))
    everything = set(every_choice(heights))
    return Puzzle(heights, safe, costs(rng, heights), always_safe=safe, never_safe=everything - safe)


def any_costs(rng, heights):
    """Costs without any order, above a bound that rises."""
    bounds = additive_costs(rng, heights)
    table = {choice: least + rng.choice([0, 0.25, 1, 3]) for choice, least in bounds.table.items()}
    return Costs(table, monotone=False, level_bounds=bounds.level_bounds)


def jagged_puzzle(seed):
    """A predicate that is not monotone, between two monotone ones, as suppression gives."""
    rng = random.Random(seed)
    heights = random_heights(rng)
    possible = planted(heights, random_seeds(rng, heights))
    certain = planted(heights, [s for s in random_seeds(rng, heights) if s in possible])
    certain &= possible
    certain = {c for c in certain if all(o in possible for o in every_choice(heights) if finer(c, o))}
    between = {choice for choice in possible - certain if rng.random() < 0.5}
    impossible = set(every_choice(heights)) - possible
    return Puzzle(heights, certain | between, any_costs(rng, heights), certain, impossible)


class Subsets:
    """Sets of the numbers below `size`, one number more or less at a time."""

    start = frozenset()

    def __init__(self, size):
        self.size = size

    def larger(self, choice):
        return (choice | {i} for i in range(self.size) if i not in choice)

    def smaller(self, choice):
        return (choice - {i} for i in choice)


forbidden = st.sets(st.frozensets(st.integers(0, 4), min_size=1), max_size=20)


def gain(choice):
    return -float(sum(i + 1 for i in choice))


def least_gain(unsafe):
    """The cost of the best subset of five numbers that is not forbidden, from the list of all."""
    everything = [frozenset(i for i in range(5) if n >> i & 1) for n in range(32)]
    return min(gain(choice) for choice in everything if choice not in unsafe)


def dice(seed):
    return np.random.default_rng(seed)
