"""Noise for counts, drawn by OpenDP only.

There is no seed and no fallback. The loss of a draw is what the measurement's own map says, rounded up, and
never more than the requested loss.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from privacy_sql.errors import UsageError
from privacy_sql.kernels.composition.privacy_loss import compose_zcdp, opendp

Ints = npt.NDArray[np.int64]
# a scale this many steps above the first guess would mean that the map breaks its promise
MOST_STEPS = 64


@dataclass(frozen=True)
class Noise:
    """A measurement ready to draw: its kind, its scale, and the loss (ε, δ) its own map promises."""

    kind: str
    scale: float
    sensitivity: float
    epsilon: Fraction
    delta: Fraction
    measurement: Any

    @property
    def rho(self) -> float:
        """The zero-concentrated loss."""
        if self.kind == "gaussian":
            return (self.sensitivity / self.scale) ** 2 / 2
        return float(self.epsilon) ** 2 / 2

    @property
    def variance(self) -> float:
        """The variance of the noise in one cell."""
        if self.kind == "gaussian":
            return self.scale**2
        ratio = math.exp(-1 / self.scale)
        return 2 * ratio / math.expm1(-1 / self.scale) ** 2

    def draw(self, counts: Ints) -> Ints:
        """The counts with fresh noise from the operating system's randomness; nothing is clamped."""
        return np.array(self.measurement(counts.tolist()), dtype=np.int64)


def laplace(sensitivity: int, epsilon: Fraction) -> Noise:
    """Discrete Laplace noise of scale sensitivity/ε; one person changes the counts by `sensitivity` in total.

    >>> noise = laplace(2, Fraction("0.7"))
    >>> noise.epsilon <= Fraction("0.7")
    True
    """
    if epsilon <= 0:
        raise UsageError("bad_epsilon", f"epsilon is {epsilon}", hint="It must be above 0.")
    dp = opendp()
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    scale = float(sensitivity / epsilon)
    for _ in range(MOST_STEPS):
        measurement = dp.m.make_laplace(*space, scale=scale)
        loss = Fraction(measurement.map(sensitivity))
        if loss <= epsilon:
            return Noise("laplace", scale, sensitivity, loss, Fraction(0), measurement)
        # the rounded quotient may give a scale that is too small by one part in 2^53
        scale = math.nextafter(scale, math.inf)
    raise UsageError("no_scale", f"no noise scale keeps to epsilon {epsilon}")


def gaussian(sensitivity: float, epsilon: Fraction, delta: Fraction) -> Noise:
    """Discrete Gaussian noise of the least deviation whose (ε, δ), by OpenDP's tight map, is not above ε.

    `sensitivity` is in the Euclidean norm.
    """
    if epsilon <= 0 or not 0 < delta < 1:
        raise UsageError("bad_epsilon", "gaussian noise needs epsilon above 0 and delta between 0 and 1")
    scale = _least_deviation(sensitivity, float(epsilon), float(delta))
    dp = opendp()
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="f64")
    measurement = dp.m.make_gaussian(*space, scale=scale)
    profile = dp.c.make_zCDP_to_approxDP(measurement).map(sensitivity)
    loss = Fraction(float(profile.epsilon(float(delta))))
    if loss > epsilon:
        raise UsageError("no_scale", f"no noise scale keeps to epsilon {epsilon}")
    return Noise("gaussian", scale, sensitivity, loss, delta, measurement)


def _least_deviation(sensitivity: float, epsilon: float, delta: float) -> float:
    from opendp.mod import OpenDPException

    def enough(scale: float) -> bool:
        try:
            return compose_zcdp([scale], l2_sensitivity=sensitivity, delta=delta).eps <= epsilon
        except OpenDPException:  # so little noise that its loss is not a number
            return False

    low, high = 0.0, sensitivity
    while not enough(high):
        low, high = high, high * 2
        if not math.isfinite(high):
            raise UsageError("no_scale", f"no noise scale keeps to epsilon {epsilon}")
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    # the search uses the map of another measurement; a little more noise keeps the real one below
    return high * (1 + 1e-9)
