"""Which groups can be part of the worst case: a few for each number of atoms, however large the table."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from privacy_sql.kernels.worst_case.group_shapes import Floats, GroupShapes, Ints
from privacy_sql.kernels.worst_case.one_group import NEAR, TINY, exact_chances

Menus = dict[tuple[int, int], list[tuple[int, bool]]]  # (shape, copy) -> [(atoms, is A among them)]


def useful_groups(
    shapes: GroupShapes, chances: Floats, target_odds: Floats, *, exact: bool = True
) -> tuple[Menus, Floats]:
    """Which groups need to be tried with how many atoms, and the odds that another group has to beat.

    Exchange: when one group takes h of n atoms, at most n - h other groups are used. So if it is not among
    the n - h + 1 best for h, one of those is free and can replace it. Row 0 of the cutoffs is for groups
    without the target, row 1 for the target's group. Unless `exact`, groups that floats cannot order come in
    any order.
    """
    atoms = chances.shape[1] - 1
    menus: Menus = {}
    cutoffs = np.full((2, atoms + 1), -np.inf)
    for h in range(1, atoms + 1):
        for row, odds in enumerate((chances[:, h], target_odds[:, h])):
            best, cutoffs[row, h] = _best(shapes, odds, h, bool(row), atoms - h + 1, exact)
            for shape, copies in best:
                for copy in range(copies):
                    menus.setdefault((shape, copy), []).append((h, bool(row)))
    return menus, cutoffs


def _best(
    shapes: GroupShapes, odds: Floats, h: int, target: bool, needed: int, exact: bool
) -> tuple[list[tuple[int, int]], float]:
    """The `needed` groups of least odds as (shape, copies of it), and the odds of the last one."""
    few = np.flatnonzero(np.isfinite(odds))  # infinite where nobody has the guessed value
    if needed < len(few):
        few = few[odds[few] <= _ceiling(np.partition(odds[few], needed - 1)[needed - 1])]
    few = few[np.argsort(odds[few], kind="stable")]
    total = np.cumsum(shapes.copies[few])
    if total[-1] < needed:
        return _spread(few, shapes.copies, needed), np.inf
    last = odds[few[np.searchsorted(total, needed)]]
    if not exact:
        return _spread(few, shapes.copies, needed), float(_ceiling(last))
    sure = few[_ceiling(odds[few]) < last]
    tied = few[(_ceiling(odds[few]) >= last) & (odds[few] <= _ceiling(last))]
    # shapes that floats cannot order, best first: those whose odds are 0, then the others
    ruled_out = shapes.top[tied, :h].sum(axis=1) == shapes.size[tied]
    certain, rest = tied[ruled_out], tied[~ruled_out]
    if len(certain) >= needed - len(sure):
        rest = rest[:0]
    elif len(rest):
        rest = _exactly_sorted(shapes, rest, h, target)
    chosen = np.concatenate([sure, certain, rest])
    return _spread(chosen, shapes.copies, needed), float(_ceiling(last))


def _ceiling(odds: Floats | float) -> Floats:
    """The largest float whose exact odds may equal `odds`."""
    return np.asarray(np.maximum(np.asarray(odds) * (1 + NEAR), TINY))


def _exactly_sorted(shapes: GroupShapes, tied: Ints, h: int, target: bool) -> Ints:
    """Shapes that floats cannot order, sorted by fractions: n, the guessed value, the h largest counts."""
    guessed = shapes.target[tied] if target else np.zeros_like(tied)
    prefixes = np.column_stack([shapes.size[tied], guessed, shapes.top[tied, :h]])
    distinct, which = np.unique(prefixes, axis=0, return_inverse=True)
    if len(distinct) == 1:
        return tied
    exact = []
    for size, asked, *counts in distinct.tolist():
        chance = exact_chances(size, [n for n in counts if n], h, asked or None)[h][0]
        exact.append(chance * Fraction(size, asked) if asked else chance)
    rank = np.empty(len(distinct), np.int64)
    rank[sorted(range(len(distinct)), key=exact.__getitem__)] = np.arange(len(distinct))
    return np.asarray(tied[np.argsort(rank[which.ravel()], kind="stable")])


def _spread(few: Ints, copies: Ints, needed: int) -> list[tuple[int, int]]:
    """`needed` groups in the order of the shapes, as (shape, how many copies of it)."""
    before = np.concatenate([[0], np.cumsum(copies[few])[:-1]])
    used = np.minimum(copies[few], needed - before)
    return [(int(s), int(n)) for s, n in zip(few, used, strict=True) if n > 0]
