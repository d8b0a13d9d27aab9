"""Larger sets of columns: every set lies in one of them, once, and none is larger than allowed."""

from __future__ import annotations

from math import prod

from hypothesis import given
from hypothesis import strategies as st

from privacy_sql.kernels.larger_sets import larger_sets

SETS = st.lists(st.integers(1, 2**7 - 1), max_size=30, unique=True)
SIZES = st.lists(st.integers(1, 9), min_size=7, max_size=7)


@given(sets=SETS, sizes=SIZES, most=st.integers(0, 4000))
def test_every_set_comes_once_in_a_set_that_holds_it(sets: list[int], sizes: list[int], most: int) -> None:
    found = list(larger_sets(sets, sizes, most))
    assert sorted(one for _, held in found for one in held) == sorted(sets)
    for own, held in found:
        assert held and all(one & own == one for one in held)
        # what is larger than allowed is nothing but a set that was asked about
        labels = prod(size for place, size in enumerate(sizes) if own >> place & 1)
        assert labels <= most or own == held[0]


def test_sets_of_three_of_eight_columns_need_four_sets_of_six() -> None:
    sets = [n for n in range(2**8) if n.bit_count() == 3]
    found = list(larger_sets(sets, [6] * 8, 6**6))
    assert [own.bit_count() for own, _ in found] == [6] * 4
