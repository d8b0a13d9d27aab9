"""Which groups to leave out so that the others keep a privacy skyline (Chen et al. 2008, Theorem 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from privacy_sql.kernels.skyline.breach_probability import (
    Amounts,
    ValuesPerPerson,
    is_safe,
    worst_case,
)
from privacy_sql.kernels.skyline.groups import Histograms, Integers

Asked = tuple[int, Amounts, Fraction]  # number of the skyline, amounts, limit


def rows_to_leave_out(
    tables: Histograms, asked: Sequence[Asked], own: Mapping[int, int], case: ValuesPerPerson
) -> list[int]:
    """Rows of `tables` that fail alone, then rows that fail together with another, worst first.

    `own` says which values have a skyline of their own; the others are held to skyline 0.

    >>> tables = Histograms.of([{"a": 1, "b": 1}, {"a": 3}])
    >>> rows_to_leave_out(tables, [(0, Amounts(0, 0, 0), Fraction(1))], {}, "one")
    [1]
    """
    gone = np.zeros(len(tables.people), dtype=bool)
    for value in tables.values:
        for skyline, amounts, limit in asked:
            if own.get(value, 0) != skyline:
                continue
            # groups that fail on their own; groups with the same counts are decided once
            holders = tables.counts[:, tables.values.index(value)]
            held = np.flatnonzero(holders)
            shape = tables.shapes[held, min(amounts.ruled_out + 1, tables.counts.shape[1])]
            kinds, first, kind = np.unique(
                np.column_stack([shape, holders[held]]), axis=0, return_index=True, return_inverse=True
            )
            alone = [tables.group(int(held[row]), value, amounts.ruled_out) for row in first]
            unsafe = np.array([not is_safe([group], amounts, limit, case) for group in alone], dtype=bool)
            failing = np.zeros(len(holders), dtype=bool)
            if len(kinds):
                failing[held] = unsafe[kind.reshape(-1)]
            gone |= failing
            # target and family are in different groups: leave out the target's, until the rest is safe
            while True:
                rows: Integers = np.flatnonzero(~gone)
                groups = tables.only(rows).about(value, amounts.ruled_out, case)
                if is_safe(groups, amounts, limit, case) or not groups:
                    break
                gone[rows[worst_case(groups, amounts, case).target.number]] = True
    return [int(row) for row in np.flatnonzero(gone)]
