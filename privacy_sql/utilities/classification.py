"""Classification metric: rows whose class is not the commonest one of their group."""

from collections.abc import Iterable
from fractions import Fraction


def classification(groups: Iterable[tuple[int, int]], n_rows: int) -> Fraction:
    """The share of penalised rows; `groups` are (published rows, rows of the commonest class).

    Iyengar 2002, Sec. 3.4; Kifer and Gehrke 2006, Sec. 3.1: a suppressed row is penalised too.

    >>> classification([(4, 3)], n_rows=5)
    Fraction(2, 5)
    """
    return Fraction(n_rows - sum(commonest for _, commonest in groups), n_rows)
