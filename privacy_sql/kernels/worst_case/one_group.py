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
# Below this, floats lose digits. Everything as small as this is compared as fractions.
TINY = 1e-290
# Cells of the table for the groups handled together: small enough for the processor's cache.
BLOCK_CELLS = 1 << 20


def least_chances(shapes: GroupShapes, atoms: int) -> Floats:
    """For each shape (row) and h = 0..atoms (column), the least chance that h atoms of one group all fail.

    MINIMIZE1 (Sec. 3.3.1) for all h together: v runs over the atoms one person may carry, largest first, so
    that every partition of h is met once, in the order Lemma 12 asks for.
    """
    step = max(1, BLOCK_CELLS // (atoms + 1) ** 2)
    blocks = [
        _least_chances(shapes.size[at : at + step], shapes.top[at : at + step], atoms)
        for at in range(0, len(shapes.size), step)
    ]
    return np.concatenate(blocks, axis=1).T


def _least_chances(size: Ints, top: Ints, atoms: int) -> Floats:
    """`least_chances` of one block, transposed so that the groups lie next to each other in memory."""
    # row v: people of each group who hold none of its v most frequent values (n_b - C_v)
    cumulated = np.zeros((atoms + 1, len(size)), np.int64)
    width = min(atoms, top.shape[1])
    np.cumsum(top.T[:width], axis=0, out=cumulated[1 : width + 1])
    cumulated[width + 1 :] = cumulated[width]
    outside = np.asarray(size - cumulated)
    table = np.full((atoms + 1, atoms + 1, len(size)), np.inf)
    table[0, 0] = 1.0
    for v in range(atoms, 0, -1):
        for i in range(atoms // v):
            # A group of i people is used up: its factor is 0, never a division by zero.
            factor = np.maximum(outside[v] - i, 0) / np.maximum(size - i, 1)
            reached = table[i + 1, (i + 1) * v :]
            with np.errstate(invalid="ignore"):  # inf * 0: no such partition yet, and fmin skips it
                np.fmin(reached, table[i, i * v : atoms + 1 - v] * factor, out=reached)
    return np.asarray(table.min(axis=0))


def exact_chances(size: int, top: Sequence[int], atoms: int) -> list[tuple[Fraction, Partition]]:
    """`least_chances` of one group as fractions, each with the partition that reaches it.

    With i people the denominator is n (n-1) ... (n-i+1) whatever they carry, so integers are compared.
    """
    best: list[dict[int, tuple[int, Partition]]] = [{} for _ in range(atoms + 1)]
    best[0][0] = (1, ())
    for v in range(min(atoms, len(top)), 0, -1):
        outside = size - sum(top[:v])
        for i in range(atoms // v):
            for h, (chance, parts) in best[i].items():
                if h + v > atoms:
                    continue
                offer = chance * max(outside - i, 0)
                if h + v not in best[i + 1] or offer < best[i + 1][h + v][0]:
                    best[i + 1][h + v] = (offer, (*parts, v))
    below = [1]
    for i in range(atoms):
        below.append(below[-1] * max(size - i, 1))
    return [
        min((Fraction(best[i][h][0], below[i]), best[i][h][1]) for i in range(h + 1) if h in best[i])
        for h in range(atoms + 1)
    ]
