"""Precision: how far up its hierarchy the average value stands."""

from collections.abc import Iterable, Sequence
from fractions import Fraction


def column_imprecision(values: Iterable[tuple[int, int]], height: int, n_rows: int) -> Fraction:
    """The mean of level / height; `values` are (level, published rows), the rest of `n_rows` stands at the
    top.

    Samarati 2001; Sweeney 2002, Def. 3.1. A column without levels to climb loses nothing but suppressed rows.

    >>> column_imprecision([(1, 3)], height=2, n_rows=4)
    Fraction(5, 8)
    """
    values = list(values)
    published = sum(rows for _, rows in values)
    climbed = sum((Fraction(level * rows, height) for level, rows in values if height), Fraction(0))
    return (climbed + n_rows - published) / n_rows


def precision(columns: Sequence[Fraction]) -> Fraction:
    """One minus the mean of the columns: 1 for raw data, 0 when everything stands at the top.

    >>> precision([Fraction(1, 4), Fraction(3, 4)])
    Fraction(1, 2)
    """
    return 1 - sum(columns, Fraction(0)) / len(columns)
