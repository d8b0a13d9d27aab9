"""Generalisation height: the number of steps taken up the hierarchies."""

from collections.abc import Sequence

from privacy_sql.utilities import Additive, Label, MeasuredColumn


def height(levels: Sequence[int]) -> int:
    """The sum of the levels of a choice.

    Samarati 2001, Sec. 4; kifer2006, Sec. 3.1.

    >>> height([0, 4, 1, 1])
    6
    """
    return sum(levels)


class Height(Additive):
    """The steps taken for the whole table, whatever is suppressed (kifer2006, Sec. 3.1)."""

    name = "height"
    of_levels = True

    def penalty(self, label: Label, column: MeasuredColumn) -> float:
        return label.level

    def cost(
        self, columns: Sequence[tuple[MeasuredColumn, Sequence[tuple[Label, int]]]], n_rows: int
    ) -> float:
        return height([labels[0][0].level if labels else column.height for column, labels in columns])

    def part(self, column: MeasuredColumn, labels: Sequence[tuple[Label, int]], n_rows: int) -> float:
        return labels[0][0].level
