"""Generalisation height: the number of steps taken up the hierarchies."""

from collections.abc import Sequence


def height(levels: Sequence[int]) -> int:
    """The sum of the levels of a choice.

    Samarati 2001, Sec. 4; Kifer and Gehrke 2006, Sec. 3.1.

    >>> height([0, 4, 1, 1])
    6
    """
    return sum(levels)
