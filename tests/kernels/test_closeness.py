from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privacy_sql.kernels import closeness
from tests.oracles import classical

TREE = {
    0: ["A", "left", "*"],
    1: ["A", "left", "*"],
    2: ["B", "left", "*"],
    3: ["C", "right", "*"],
    4: ["D", "right", "*"],
}
rows = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=8)


def grouped(rows):
    """The rows as counts, and the values by their number."""
    groups = {group: number for number, group in enumerate(sorted({group for group, _ in rows}))}
    values = sorted({value for _, value in rows})
    cells = sorted(Counter((groups[group], values.index(value)) for group, value in rows).items())
    columns = np.array([[group, value, n] for (group, value), n in cells]).T
    return closeness.GroupedCounts(*columns), values


def largest(ratios):
    return max(Fraction(int(a), int(b)) for a, b in zip(*ratios, strict=True))


def expected(rows, distance):
    return classical.t_closeness(rows, Fraction(1), distance).value


@pytest.fixture(params=["machine integers", "Python integers"])
def integers(request, monkeypatch):
    if request.param == "Python integers":
        monkeypatch.setattr(closeness, "LARGEST_INTEGER", 0)


@pytest.mark.usefixtures("integers")
class TestDistancesEqualTransportSolvedAsAFlow:
    @given(rows)
    @settings(max_examples=60)
    def test_equal(self, rows):
        table, _ = grouped(rows)
        assert largest(closeness.equal_distances(table)) == expected(rows, classical.equal_distance)

    @given(rows)
    @settings(max_examples=60)
    def test_ordered(self, rows):
        table, values = grouped(rows)
        distance = classical.ordered_distance(values)
        ranks = np.arange(len(values))
        assert largest(closeness.ordered_distances(table, ranks)) == expected(rows, distance)

    @given(rows)
    @settings(max_examples=60)
    def test_hierarchical(self, rows):
        table, values = grouped(rows)
        lines = [[value, *TREE[value]] for value in values]
        labels = [
            np.unique([str(line[level]) for line in lines], return_inverse=True)[1] for level in range(3)
        ]
        distance = classical.hierarchical_distance(TREE)
        assert largest(closeness.hierarchical_distances(table, labels)) == expected(rows, distance)


@given(rows)
def test_two_names_of_one_number_share_a_rank(rows):
    """Values 3 and 4 are the same number here, as 1 and 1.0 would be."""
    table, values = grouped(rows)
    ranks = np.unique([min(value, 3) for value in values], return_inverse=True)[1]
    merged = [(group, min(value, 3)) for group, value in rows]
    distance = classical.ordered_distance([value for _, value in merged])
    assert largest(closeness.ordered_distances(table, ranks)) == expected(merged, distance)


@given(rows, st.fractions(min_value="1/10", max_value=4, max_denominator=10))
def test_gains_are_those_of_the_definitions(rows, beta):
    table, _ = grouped(rows)
    rises = closeness.rises(table)
    assert largest(rises) - 1 == classical.basic_beta_likeness(rows, beta).value
    shares = [Fraction(int(table.totals[value]), table.n_rows) for value in table.values]
    bounded = [
        closeness.bounded_gain(Fraction(int(a), int(b)), share, beta)
        for a, b, share in zip(*rises, shares, strict=True)
    ]
    value = classical.enhanced_beta_likeness(rows, beta).value
    assert float(max(bounded)) == pytest.approx(float(value), abs=1e-12)


def test_a_million_rows_of_a_thousand_numbers_keep_their_exact_distance():
    """Two halves of the line, one group each: every row moves half the line on average."""
    groups, values = np.repeat([0, 1], 500), np.arange(1000)
    table = closeness.GroupedCounts(groups, values, np.full(1000, 1000))
    assert largest(closeness.ordered_distances(table, values)) == Fraction(250, 999)
    assert largest(closeness.equal_distances(table)) == Fraction(1, 2)
