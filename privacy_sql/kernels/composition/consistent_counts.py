"""Noisy counts made non-negative and consistent with one another, after the noise was drawn.

After Barak et al. 2007 (reference 4 of Ganta et al. 2008): fit one non-negative table to all the noisy
marginals and publish the marginals of that table. Post-processing reads noisy numbers only, so it costs no
privacy. Differs from Barak et al.: weighted least squares, not a linear program over Fourier coefficients.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from privacy_sql.errors import UsageError

Floats = npt.NDArray[np.float64]
LARGEST_TABLE = 1_000_000


@dataclass(frozen=True)
class NoisyMarginal:
    """Noisy counts over some attributes: `axes` are their positions, `variance` that of one cell."""

    axes: tuple[int, ...]
    counts: Floats
    variance: float = 1.0


def non_negative(noisy: npt.ArrayLike, total: float | None = None) -> Floats:
    """The non-negative counts nearest to the noisy ones; they add up to `total` where it is known.

    Under substitution the number of people is public, so `total` may be the true one; under add-or-remove
    it may not. Clamping alone would add the cut-off noise to the total.

    >>> non_negative([3, -1, 2], total=4).tolist()
    [2.5, 0.0, 1.5]
    """
    counts = np.asarray(noisy, dtype=np.float64)
    if not counts.size or not np.isfinite(counts).all():
        raise UsageError("bad_counts", "noisy counts must be finite and there must be some")
    if total is None:
        return np.maximum(counts, 0.0)
    if not (math.isfinite(total) and total >= 0):
        raise UsageError("bad_total", f"the total is {total}", hint="It must be finite and 0 or more.")
    # the amount to subtract from every cell so that the positive rest adds up to `total`
    descending = np.sort(counts.ravel())[::-1]
    shifts = (np.cumsum(descending) - total) / np.arange(1, len(descending) + 1)
    kept = np.flatnonzero(descending > shifts)
    shift = shifts[kept[-1]] if len(kept) else descending[0]
    return np.maximum(counts - float(shift), 0.0)


def consistent(
    marginals: Sequence[NoisyMarginal],
    domain: Sequence[int],
    total: float | None = None,
    *,
    rounds: int = 500,
    tolerance: float = 1e-7,
) -> list[Floats]:
    """Marginals of one non-negative table over `domain` (attribute sizes), the nearest to the noisy ones.

    They agree wherever they share attributes, because they come from one table. Distances are weighted by
    1/variance; the fit is accelerated projected gradient, which stops when a round moves no cell by more than
    `tolerance` of the total.

    >>> rows, ages = NoisyMarginal((0,), np.array([2.0, 3.0])), NoisyMarginal((1,), np.array([4.0, 3.0]))
    >>> [fitted.sum().round(6).item() for fitted in consistent([rows, ages], [2, 2])]
    [6.0, 6.0]
    """
    shape = tuple(domain)
    if not marginals:
        raise UsageError("no_marginals", "there are no noisy marginals to make consistent")
    if math.prod(shape) > LARGEST_TABLE:
        raise UsageError(
            "table_too_large",
            f"the attributes span {math.prod(shape)} cells, more than {LARGEST_TABLE}",
            hint="Publish the noisy counts alone, or coarser attributes.",
        )
    for each in marginals:
        if len(set(each.axes)) < len(each.axes) or each.counts.shape != tuple(
            shape[axis] for axis in each.axes
        ):
            raise UsageError("bad_shape", "a noisy marginal does not have the shape of its attributes")
        if not np.isfinite(each.counts).all() or not 0 < each.variance < math.inf:
            raise UsageError("bad_counts", "noisy counts must be finite and their variance above 0")
    table = _fit(marginals, shape, total, rounds, tolerance)
    return [_marginal(table, marginal.axes) for marginal in marginals]


def _fit(
    marginals: Sequence[NoisyMarginal],
    shape: tuple[int, ...],
    total: float | None,
    rounds: int,
    tolerance: float,
) -> Floats:
    # the steepest direction is the constant table: each marginal adds cells of the table per cell of its own
    steepest = sum(math.prod(shape) / each.counts.size / each.variance for each in marginals)
    guess = total if total is not None else max(float(marginals[0].counts.sum()), 0.0)
    table = momentum = np.full(shape, guess / math.prod(shape))
    weight = 1.0
    for _ in range(rounds):
        gradient = np.zeros_like(momentum)
        for each in marginals:
            miss = (_marginal(momentum, each.axes) - each.counts) / each.variance
            # the error of a cell of the marginal counts for every cell of the table that it sums
            ascending = np.transpose(miss, np.argsort(each.axes))
            sizes = iter(ascending.shape)
            gradient += ascending.reshape([next(sizes) if i in each.axes else 1 for i in range(len(shape))])
        moved = non_negative(momentum - gradient / steepest, total)
        if np.abs(moved - table).max() <= tolerance * max(guess, 1.0) and weight > 1:
            return moved
        heavier = (1 + math.sqrt(1 + 4 * weight**2)) / 2
        momentum = moved + (weight - 1) / heavier * (moved - table)
        table, weight = moved, heavier
    return table


def _marginal(table: Floats, axes: tuple[int, ...]) -> Floats:
    summed = table.sum(axis=tuple(axis for axis in range(table.ndim) if axis not in axes))
    # the sum leaves the attributes in ascending order; bring them into the order of `axes`
    return np.asarray(np.transpose(summed, np.argsort(np.argsort(axes))))
