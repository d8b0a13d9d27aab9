"""Normalised certainty penalty, summed up as the Global Certainty Penalty."""

from collections.abc import Iterable, Sequence
from math import fsum


def penalty(leaves: int, domain: int) -> float:
    """The penalty of a categorical value: the share of the domain it covers, and nothing for a raw value.

    Xu et al. 2006, Def. 2, as Li et al. 2009, Sec. V, use it. Unlike the loss it does not start again at
    zero: two of five leaves cost 2/5.

    >>> penalty(1, 5), penalty(2, 5), penalty(5, 5)
    (0.0, 0.4, 1.0)
    """
    return leaves / domain if leaves > 1 else 0.0


def numeric_penalty(width: float, extent: float) -> float:
    """The penalty of a range: its width as a share of the width of the whole column.

    >>> numeric_penalty(5, 20)
    0.25
    """
    return width / extent if extent > 0 else 0.0


def column_penalty(values: Iterable[tuple[float, int]], n_rows: int) -> float:
    """The mean over all rows; `values` are (penalty, published rows), the rest of `n_rows` costs 1.

    >>> column_penalty([(0.0, 2), (0.4, 1)], n_rows=4)
    0.35
    """
    values = list(values)
    published = sum(rows for _, rows in values)
    return fsum([*(rows * penalty for penalty, rows in values), n_rows - published]) / n_rows


def global_certainty_penalty(columns: Sequence[float]) -> float:
    """The mean of the columns' penalties: 0 for raw data, 1 when nothing is left.

    Ghinita et al. 2007, Sec. 2: GCP = sum of NCP over all rows / (columns · rows).

    >>> global_certainty_penalty([0.5, 0.25])
    0.375
    """
    return fsum(columns) / len(columns)
