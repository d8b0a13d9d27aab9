"""The dynamic program of Chen et al. 2008, App. A.3: breach probability without the congregation property.

The baseline of their Fig. 6 and an independent check of `skyline`: the two share no code. One value per
person (SVPI). Groups are combined pairwise, all pairs of a round at once: the recurrence is associative, so
this is the paper's program with its loop over groups turned into array operations.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
CHUNK = 512  # pairs per operation: the tables of one chunk stay in the processor's cache


def breach_by_program(
    people: Array, holders: Array, ruled_out: Array, known: int, family: int, *, exact: bool = False
) -> Fraction | float:
    """BP_σ for groups of n people, #σ holders and `ruled_out` = the ℓ largest other counts summed.

    >>> breach_by_program([7], [1], [4], known=0, family=1, exact=True)
    Fraction(3, 8)
    """
    n, s, top = (
        np.asarray(column, dtype=np.int64)[np.asarray(holders) > 0] for column in (people, holders, ruled_out)
    )
    if not n.size:
        return Fraction(0) if exact else 0.0
    # per group: least factor for i people known and j in the family, without and with the target in
    # it
    chances = np.stack([_family_chances(n, s, i, family, exact) for i in range(known + 2)])
    odds = np.stack([_ratio(np.maximum(0, n - s - top - i), s, exact) for i in range(known + 1)])
    without, with_target = chances[:-1], odds[:, None, :] * chances[1:]
    while without.shape[-1] > 1:
        without, with_target = _round(without, with_target)
    ratio = with_target[known, family, 0]
    breach: Fraction | float = 1 / (ratio + 1)
    return breach


def _family_chances(n: Array, s: Array, known: int, family: int, exact: bool) -> Array:
    """V for 0..family members, given that `known` people of the group do not have σ."""
    rows = [_ratio(np.ones_like(n), np.ones_like(n), exact)]
    for i in range(family):
        left = n - s - known - i
        rows.append(
            np.where(left > 0, rows[-1] * _ratio(np.maximum(left, 0), np.maximum(n - known - i, 1), exact), 0)
        )
    return np.stack(rows)


def _ratio(numerator: Array, denominator: Array, exact: bool) -> Array:
    if not exact:
        return np.asarray(numerator / denominator)
    pairs = zip(numerator.tolist(), denominator.tolist(), strict=True)
    return np.array([Fraction(a, b) for a, b in pairs], dtype=object)


def _round(without: Array, with_target: Array) -> tuple[Array, Array]:
    """Merge the first half of the groups with the second; an odd one waits for the next round."""
    half = without.shape[-1] // 2
    neither, either = [], []
    for start in range(0, half, CHUNK):
        stop = min(start + CHUNK, half)
        left, right = slice(start, stop), slice(half + start, half + stop)
        neither.append(_best_split(without[..., left], without[..., right]))
        target_left = _best_split(with_target[..., left], without[..., right])
        target_right = _best_split(without[..., left], with_target[..., right])
        either.append(np.minimum(target_left, target_right))
    rest = slice(2 * half, None)
    return (
        np.concatenate([*neither, without[..., rest]], axis=-1),
        np.concatenate([*either, with_target[..., rest]], axis=-1),
    )


def _best_split(left: Array, right: Array) -> Array:
    """The least product over all ways to divide the known people and the family between two sides."""
    left, right = np.ascontiguousarray(left), np.ascontiguousarray(right)
    best = left * right[:1, :1]
    rows, columns, _ = left.shape
    for i in range(rows):
        for j in range(columns):
            if i or j:
                moved = left[: rows - i, : columns - j] * right[i, j]
                np.minimum(best[i:, j:], moved, out=best[i:, j:])
    return best
