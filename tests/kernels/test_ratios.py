from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from privacy_sql.kernels.ratios import largest_ratio, largest_ratio_per_label

rows = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 9), st.integers(1, 9)), min_size=1, max_size=30)


@given(rows, st.sampled_from([np.int64, object]))
@settings(max_examples=150)
def test_each_label_gets_a_position_of_its_largest_fraction(rows, dtype):
    labels = np.unique([label for label, _, _ in rows], return_inverse=True)[1]
    fractions = [Fraction(a, b) for _, a, b in rows]
    numerators = np.array([a for _, a, _ in rows]).astype(dtype)
    denominators = np.array([b for _, _, b in rows]).astype(dtype)
    found = largest_ratio_per_label(numerators, denominators, labels)
    for label, position in enumerate(found):
        assert labels[position] == label
        assert fractions[position] == max(f for f, its in zip(fractions, labels, strict=True) if its == label)


def test_fractions_that_floats_cannot_tell_apart_are_ordered():
    n = 10**17
    assert largest_ratio(np.array([n - 1, n, n - 2]), np.array([n, n + 1, n - 1])) == 1
    assert (n - 1) / n == n / (n + 1)
