"""Non-uniform entropy: the bits about a raw value that its label does not tell."""

from collections.abc import Iterable, Sequence
from math import fsum, log2


def bits_hidden(n_value: int, n_label: int) -> float:
    """The bits between a label and one raw value below it, from how often both occur in the source.

    Gionis and Tassa 2009, Sec. 3 (after Willenborg and de Waal): -log2 of the raw value's share of its label.

    >>> bits_hidden(1, 4)
    2.0
    """
    return log2(n_label / n_value)


def column_entropy(values: Iterable[tuple[int, int, int]], n_rows: int) -> float:
    """The mean bits hidden; `values` are (occurrences of the raw value, of its label, rows published so).

    A suppressed row is one whose label stands for all `n_rows` rows, and is listed like that.

    >>> column_entropy([(1, 2, 1), (1, 2, 1), (2, 2, 2)], n_rows=4)
    0.5
    """
    return fsum(rows * bits_hidden(value, label) for value, label, rows in values) / n_rows


def entropy(columns: Sequence[float]) -> float:
    """The mean over the columns: bits hidden per cell.

    >>> entropy([0.5, 1.5])
    1.0
    """
    return fsum(columns) / len(columns)
