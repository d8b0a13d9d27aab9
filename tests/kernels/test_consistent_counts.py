import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privacy_sql.errors import UsageError
from privacy_sql.kernels.composition.consistent_counts import NoisyMarginal, consistent, non_negative

numbers = st.lists(st.integers(-20, 30), min_size=1, max_size=8)


@settings(max_examples=60)
@given(numbers, st.integers(0, 50))
def test_the_nearest_histogram_takes_one_amount_from_every_cell_it_keeps(noisy, total):
    fitted = non_negative(noisy, total)
    assert fitted.min() >= 0
    assert fitted.sum() == pytest.approx(total)
    # optimality (Karush-Kuhn-Tucker): equal cuts where a cell stays positive, none larger where it is zero
    cuts = np.array(noisy) - fitted
    kept = fitted > 1e-9
    if kept.any():
        assert np.ptp(cuts[kept]) == pytest.approx(0, abs=1e-9)
        assert cuts[~kept].max(initial=-np.inf) <= cuts[kept].max() + 1e-9


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_fitted_marginals_agree_and_are_non_negative(seed, known_total):
    generator = np.random.default_rng(seed)
    truth = generator.poisson(3, size=(3, 4, 2)).astype(float)
    marginals = [
        NoisyMarginal((0, 1), truth.sum(axis=2) + generator.laplace(0, 2, (3, 4)), 8.0),
        NoisyMarginal((2, 1), truth.sum(axis=0).T + generator.laplace(0, 2, (2, 4)), 8.0),
        NoisyMarginal((), np.array(truth.sum() + generator.laplace(0, 2)), 8.0),
    ]
    total = truth.sum() if known_total else None
    first, second, whole = consistent(marginals, (3, 4, 2), total)
    assert first.shape == (3, 4) and second.shape == (2, 4)
    assert min(first.min(), second.min()) >= 0
    assert first.sum(axis=0) == pytest.approx(second.sum(axis=0))
    assert first.sum() == pytest.approx(float(whole))
    if known_total:
        assert first.sum() == pytest.approx(total)


def test_marginals_that_agree_already_come_back_unchanged():
    table = np.arange(1.0, 13.0).reshape(3, 4)
    marginals = [NoisyMarginal((0,), table.sum(axis=1)), NoisyMarginal((1,), table.sum(axis=0))]
    for fitted, given_ in zip(consistent(marginals, (3, 4)), marginals, strict=True):
        assert fitted == pytest.approx(given_.counts, rel=1e-4)


def test_the_less_noisy_marginal_moves_less():
    precise, rough = (
        NoisyMarginal((0,), np.array([6.0, 4.0]), 1.0),
        NoisyMarginal((1,), np.array([10.0, 10.0]), 9.0),
    )
    fitted, _ = consistent([precise, rough], (2, 2))
    # least squares on the totals: (10/1 + 20/9) / (1/1 + 1/9), where each marginal has two cells
    assert fitted.sum() == pytest.approx(11, rel=1e-3)


@pytest.mark.parametrize(
    "noisy, total", [([], None), ([float("nan")], None), ([1.0], -1.0), ([1.0], float("inf"))]
)
def test_counts_that_are_no_numbers_are_refused(noisy, total):
    with pytest.raises(UsageError):
        non_negative(noisy, total)


def test_a_table_too_large_to_fit_is_refused():
    with pytest.raises(UsageError, match="cells"):
        consistent([NoisyMarginal((0,), np.zeros(2000))], (2000, 2000))
    with pytest.raises(UsageError, match="shape"):
        consistent([NoisyMarginal((0,), np.zeros(3))], (2, 2))
    with pytest.raises(UsageError, match="no noisy"):
        consistent([], (2, 2))
