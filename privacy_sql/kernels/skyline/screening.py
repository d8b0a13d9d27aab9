"""Breach probabilities of many values at once, in floats: far from the limit no fractions are needed.

Chen et al. 2008, Theorem 2, where everybody has one value. Whole numbers decide certainty.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from privacy_sql.kernels.skyline.breach_probability import Amounts
from privacy_sql.kernels.skyline.groups import Bools, Integers
from privacy_sql.kernels.skyline.running import family_chances, target_ratios

# a product of more chances loses digits, and takes long
MOST_FAMILY = 64


class Screened(NamedTuple):
    """Per value whether it can be proved of somebody, else about how sure one can be; nan is unknown."""

    certain: Bools
    chance: npt.NDArray[np.float64]


def screened(
    people: Integers, holders: Integers, taken: Integers, first: Integers, amounts: Amounts
) -> Screened:
    """Screen values whose groups follow one another, each from `first` on; `taken` is what is ruled out.

    >>> group = (np.array([7]), np.array([1]), np.array([4]), np.array([0]))
    >>> screened(*group, Amounts(1, 0, 1)).chance.round(3).tolist()  # 1 / (5/3 + 1)
    [0.375]
    """
    _, k, m = amounts
    others = people - holders
    certain = np.logical_or.reduceat((k + m >= others) | (taken + k >= others), first)
    if m > MOST_FAMILY:
        return Screened(certain, np.where(certain, 1.0, np.nan))
    size, own, lost = people.astype(float), holders.astype(float), taken.astype(float)
    target = {known: target_ratios(size, own, lost, known) for known in {0, k}}
    family = {known: family_chances(size, own, m, known) for known in {0, k, k + 1}}

    def least(ratios: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return np.asarray(np.minimum.reduceat(ratios, first))

    odds = least(target[k] * family[k + 1])
    odds = np.minimum(odds, least(target[0]) * least(family[k]))
    odds = np.minimum(odds, least(target[k]) * least(family[0]))
    return Screened(certain, np.where(certain, 1.0, 1 / (1 + odds)))
