"""Iyengar's loss: how much of its column's domain the average published value covers."""

from collections.abc import Iterable, Sequence
from math import fsum


def penalty(leaves: int, domain: int) -> float:
    """The loss of one value: 0 for a raw value, 1 for the whole domain.

    Iyengar 2002, Sec. 3.3, as Kifer and Gehrke 2006, Sec. 3.1, cite it.

    >>> penalty(1, 5), penalty(3, 5), penalty(5, 5)
    (0.0, 0.5, 1.0)
    """
    return (leaves - 1) / (domain - 1) if domain > 1 else 0.0


def column_loss(labels: Iterable[tuple[int, int]], domain: int, n_rows: int) -> float:
    """The mean penalty of one column; `labels` are (leaves, published rows), the rest of `n_rows` costs 1.

    >>> column_loss([(1, 2), (3, 1)], domain=5, n_rows=4)
    0.375
    """
    labels = list(labels)
    published = sum(rows for _, rows in labels)
    return fsum([*(rows * penalty(leaves, domain) for leaves, rows in labels), n_rows - published]) / n_rows


def loss(columns: Sequence[float]) -> float:
    """The mean of the columns' losses; `granularity` is one minus this.

    >>> loss([0.25, 0.75])
    0.5
    """
    return fsum(columns) / len(columns)
