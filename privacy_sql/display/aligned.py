"""Columns of text as aligned lines."""

from __future__ import annotations

from collections.abc import Container, Sequence


def aligned(rows: Sequence[Sequence[str]], right: Container[int] = ()) -> list[str]:
    """Every row as a line; the columns in `right` are aligned to the right, all others to the left.

    >>> aligned([("level", "rows"), ("age", "7")], right=[1])
    ['level  rows', 'age       7']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if place in right else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
