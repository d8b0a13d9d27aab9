from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privacy_sql.errors import UsageError
from privacy_sql.kernels.microaggregation import mdav, variable_mdav
from tests.oracles.microaggregation import mdav_groups

# generic points: no two distances tie, so rounding cannot send a row elsewhere than the exact oracle does
coordinates = st.integers(0, 10**6)
points = st.lists(st.tuples(coordinates, coordinates), min_size=2, max_size=24, unique=True)
weighted = st.lists(
    st.tuples(st.integers(0, 12), st.integers(1, 7)), min_size=1, max_size=12, unique_by=lambda p: p[0]
)


def as_sets(allocation):
    groups = {}
    for point, number, rows in zip(*allocation, strict=True):
        groups.setdefault(int(number), set()).update([int(point)] * int(rows))
    return sorted(map(frozenset, groups.values()), key=min)


@settings(max_examples=60, deadline=None)
@given(points, st.integers(1, 6))
def test_single_rows_are_grouped_as_by_the_published_algorithm(rows, k):
    k = min(k, len(rows))
    exact = [tuple(Fraction(x) for x in row) for row in rows]
    expected = sorted(map(frozenset, mdav_groups(exact, k)), key=min)
    assert as_sets(mdav(rows, [1] * len(rows), k)) == expected


@settings(max_examples=60, deadline=None)
@given(weighted, st.integers(1, 6), st.sampled_from([mdav, variable_mdav]), st.booleans())
def test_no_row_is_lost_and_every_group_holds_k(pairs, k, method, together):
    spots, rows = [[x] for x, _ in pairs], [n for _, n in pairs]
    k = min(k, sum(rows))
    allocation = method(spots, rows, k, together=together)
    assert np.bincount(allocation.point, weights=allocation.rows).tolist() == rows
    sizes = np.bincount(allocation.group, weights=allocation.rows)
    assert sizes.min() >= k
    if together:
        assert len(set(allocation.point.tolist())) == len(allocation.point)
    if not together and method is mdav:
        assert (sizes > k).sum() <= 1
        assert sizes.max() < 2 * k or len(sizes) == 1


def test_weights_stand_for_rows():
    spots, rows, k = [[0], [5], [9], [30], [31], [50]], [4, 1, 2, 3, 2, 1], 3
    spread = [spot for spot, n in zip(spots, rows, strict=True) for _ in range(n)]
    single = mdav(spread, [1] * len(spread), k)
    origin = np.repeat(np.arange(len(rows)), rows)
    histogram = np.zeros((6, 10), int)
    np.add.at(histogram, (origin[single.point], single.group), single.rows)
    whole = mdav(spots, rows, k)
    expected = np.zeros_like(histogram)
    expected[whole.point, whole.group] = whole.rows
    assert (histogram == expected).all()


def test_variable_groups_follow_the_gaps():
    spots = [[0], [1], [2], [100], [101], [102], [103], [200], [201]]
    assert as_sets(variable_mdav(spots, [1] * 9, k=2, gain=1.5)) == [{0, 1, 2}, {3, 4, 5, 6}, {7, 8}]
    assert as_sets(variable_mdav(spots, [1] * 9, k=2, gain=0.5)) == [{0, 1, 2}, {3, 4}, {5, 6}, {7, 8}]


def test_the_number_of_a_group_does_not_depend_on_the_scale_of_all_columns():
    spots = [[0.0, 3.0], [1.5, 2.0], [9.0, 8.5], [10.0, 1.0], [4.0, 4.0]]
    doubled = [[8 * x for x in spot] for spot in spots]
    assert [a.tolist() for a in mdav(spots, [1] * 5, 2)] == [a.tolist() for a in mdav(doubled, [1] * 5, 2)]


@pytest.mark.parametrize(
    "spots, rows, k",
    [
        ([[0], [1]], [1, 1], 3),
        ([], [], 1),
        ([[0]], [1], 0),
        ([[float("nan")]], [1], 1),
        ([[0]], [0], 1),
        ([[0]], [1, 1], 1),
    ],
)
def test_what_cannot_be_grouped_is_refused(spots, rows, k):
    with pytest.raises(UsageError):
        mdav(spots, rows, k)
