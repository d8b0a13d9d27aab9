"""The product lattice of levels against its definition."""

import random

import pytest

from privacy_sql.spaces.lattice import Lattice, is_finer
from tests.oracles.lattice import every_choice, finer
from tests.searches.planted import random_heights
from tests.seeds import OFTEN, seeds


def test_neighbours_differ_by_one_level_and_order_agrees_with_the_definition():
    for seed in seeds(50, OFTEN):
        heights = random_heights(random.Random(seed))
        lattice = Lattice.of_heights(heights)
        nodes = every_choice(heights)
        assert list(lattice.choices()) == nodes and lattice.size == len(nodes)
        for choice in nodes:
            above = {o for o in nodes if finer(choice, o) and sum(o) == sum(choice) + 1}
            assert set(lattice.coarser_neighbours(choice)) == above
            assert all(choice in lattice.finer_neighbours(o) and is_finer(choice, o) for o in above)


def test_from_coarse_to_fine_never_puts_a_finer_choice_before_a_coarser_one():
    lattice = Lattice.of_heights([2, 1, 3])
    order = [lattice.position(int(i)) for i in lattice.from_coarse_to_fine()]
    assert sorted(order) == every_choice([2, 1, 3])
    assert [sum(c) for c in order] == sorted((sum(c) for c in order), reverse=True)


def test_a_projected_choice_is_lifted_above_every_choice_with_its_levels():
    lattice = Lattice.of_heights([2, 1, 3])
    for projected in lattice.project([0, 2]).choices():
        lifted = lattice.lift(projected, [0, 2])
        for choice in lattice.choices():
            if (choice[0], choice[2]) == projected:
                assert is_finer(choice, lifted)


def test_a_choice_outside_the_lattice_is_not_in_it():
    lattice = Lattice.of_heights([2, 1])
    assert (2, 1) in lattice
    assert all(c not in lattice for c in [(3, 0), (-1, 0), (0,), (0, 0, 0), [0, 0], (0.5, 0), "00"])


@pytest.mark.parametrize("labels", [((),), ((2, 0),)])
def test_an_attribute_without_levels_or_a_level_without_labels_is_refused(labels):
    with pytest.raises(ValueError, match="at least one"):
        Lattice(labels)


def test_totals_add_one_part_per_attribute():
    lattice = Lattice.of_heights([1, 2])
    parts = [[0.5, 1.5], [0, 10, 20]]
    sums = lattice.total(parts)
    assert all(sums[c] == parts[0][c[0]] + parts[1][c[1]] for c in lattice.choices())
