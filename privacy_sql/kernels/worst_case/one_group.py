"""The least chance that h atoms about people of one group all fail (Martin et al. 2007, Sec. 3.3.1)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from privacy_sql.kernels.worst_case.group_shapes import Floats, GroupShapes, Ints

Partition = tuple[int, ...]  # atoms per person, most first

# Two floats closer than this may be equal as fractions. A product of n factors is off by about n * 1e-16,
# so this is far more than rounding can do.
NEAR = 1e-9
# Below this, floats lose digits, so numbers this small are compared as fractions.
TINY = 1e-290
# Cells of the table for the groups computed together: small enough for the processor's cache.
BLOCK_CELLS = 1 << 20


def least_chances(shapes: GroupShapes, atoms: int) -> Floats:
    """For each shape (row) and h = 0..atoms (column), the least chance that h atoms of one group all fail.

    MINIMIZE1 (Sec. 3.3.1) for all h together: v runs over the number of atoms about one person, largest
    first, so that every partition of h comes up once, in the order of Lemma 12.
    """
    return _in_blocks(shapes.size, shapes.top, None, atoms)


def least_target_odds(shapes: GroupShapes, atoms: int, chances: Floats) -> Floats:
    """The same with the target's atom among the h, over the chance of that atom; infinite without a target.

    Where the guess is the most common value, it is among the h anyway (Sec. 3.3.2), and `chances` has the
    rest.
    """
    odds = np.full(chances.shape, np.inf)
    commonest = np.flatnonzero(shapes.target == shapes.top[:, 0])
    other = np.flatnonzero((shapes.target > 0) & (shapes.target < shapes.top[:, 0]))
    odds[commonest] = chances[commonest]
    if len(other):
        odds[other] = _in_blocks(shapes.size[other], shapes.top[other], shapes.target[other], atoms)
    return odds * (shapes.size / np.maximum(shapes.target, 1))[:, None]


def _in_blocks(size: Ints, top: Ints, guessed: Ints | None, atoms: int) -> Floats:
    step = max(1, BLOCK_CELLS // (atoms + 1) ** 2)
    parts = [slice(at, at + step) for at in range(0, len(size), step)]
    blocks = [
        _least_chances(size[part], top[part], None if guessed is None else guessed[part], atoms)
        for part in parts
    ]
    return np.concatenate(blocks, axis=1).T


def _least_chances(size: Ints, top: Ints, guessed: Ints | None, atoms: int) -> Floats:
    """`least_chances` of one block, transposed so that the groups lie next to each other in memory.

    With `guessed`, the atoms about person 0 name the value in question and the most common others. Each other
    person has at most as many atoms, and fewer while the value in question is not one of the most common ones
    named for person 0: otherwise swapping the two would do no harm (docs/proofs/ck_safety.md).
    """
    # row v: people of each group who have none of its v most frequent values (n_b - C_v)
    cumulated = np.zeros((atoms + 1, len(size)), np.int64)
    width = min(atoms, top.shape[1])
    np.cumsum(top.T[:width], axis=0, out=cumulated[1 : width + 1])
    cumulated[width + 1 :] = cumulated[width]
    outside = np.asarray(size - cumulated)
    table = np.full((atoms + 1, atoms + 1, len(size)), np.inf)
    first: Floats | None = None
    commoner = np.zeros(len(size), np.int64)
    if guessed is None:
        table[0, 0] = 1.0
    else:
        commoner = (top > guessed[:, None]).sum(axis=1)
        kept = np.arange(atoms)[:, None] <= commoner  # the n most common others are the n most common of all
        others = np.where(kept, cumulated[:atoms], cumulated[1:] - guessed)
        first = np.concatenate([np.ones((1, len(size))), (size - guessed - others) / size])
    for v in range(atoms, 0, -1):
        if first is not None:
            # person 0 has v atoms when the value in question is among the v most common, else v + 1
            table[1, v] = np.fmin(table[1, v], np.where(commoner < v, first[v], np.inf))
            if v < atoms:
                table[1, v + 1] = np.fmin(table[1, v + 1], np.where(commoner > v, first[v + 1], np.inf))
        for i in range(0 if first is None else 1, atoms // v):
            # All i people of a group are used: its factor is 0, never a division by zero.
            factor = np.maximum(outside[v] - i, 0) / np.maximum(size - i, 1)
            reached = table[i + 1, (i + 1) * v :]
            with np.errstate(invalid="ignore"):  # inf * 0: no such partition yet; fmin skips it
                np.fmin(reached, table[i, i * v : atoms + 1 - v] * factor, out=reached)
    if first is not None:
        table[1, 1] = np.fmin(table[1, 1], np.where(commoner > 0, first[1], np.inf))
    return np.asarray(table.min(axis=0))


def others_with(top: Sequence[int], guessed: int, n: int) -> int:
    """How many people have the value in question or one of the n most common others.

    >>> others_with([4, 3, 2, 1], 2, 1), others_with([4, 3, 2, 1], 2, 2), others_with([4, 3, 2, 1], 2, 3)
    (6, 9, 10)
    """
    commoner = sum(count > guessed for count in top)
    return sum(top[:n]) + guessed if n <= commoner else sum(top[: n + 1])


def exact_chances(
    size: int, top: Sequence[int], atoms: int, guessed: int | None = None
) -> list[tuple[Fraction, Partition]]:
    """`least_chances` of one group as fractions, each with the partition that attains it.

    With i people the denominator is n (n-1) ... (n-i+1) whatever their atoms, so integers are compared. With
    `guessed`, the count of the value in question, person 0 has that atom, as in `least_target_odds`.
    """
    best: list[dict[int, tuple[int, Partition]]] = [{} for _ in range(atoms + 1)]
    if guessed is None:
        best[0][0] = (1, ())
    commoner = 0 if guessed is None else sum(count > guessed for count in top)
    most = min(atoms, len(top))

    def place(i: int, h: int, offer: int, parts: Partition) -> None:
        if h not in best[i] or offer < best[i][h][0]:
            best[i][h] = (offer, parts)

    for v in range(most, -1, -1):
        if guessed is not None:
            for carried in {v if commoner < v else 0, v + 1 if commoner > v and v < atoms else 0} - {0}:
                place(1, carried, size - others_with(top, guessed, carried - 1), (carried,))
        if not v:
            break
        outside = size - sum(top[:v])
        for i in range(0 if guessed is None else 1, atoms // v):
            for h, (chance, parts) in best[i].items():
                if h + v <= atoms:
                    place(i + 1, h + v, chance * max(outside - i, 0), (*parts, v))
    below = [1]
    for i in range(atoms):
        below.append(below[-1] * max(size - i, 1))
    return [
        min((Fraction(best[i][h][0], below[i]), best[i][h][1]) for i in range(h + 1) if h in best[i])
        if any(h in reached for reached in best)
        else (Fraction(1), ())
        for h in range(atoms + 1)
    ]
