"""Classification metric: rows whose class is not the most common one of their group."""

from collections.abc import Iterable, Sequence
from fractions import Fraction

from privacy_sql.utilities import Grouped, Held, Published, Row


def classification(groups: Iterable[tuple[int, int]], n_rows: int) -> Fraction:
    """The share of penalised rows; `groups` are (published rows, rows of the most common class).

    Iyengar 2002, Sec. 3.4; kifer2006, Sec. 3.1: a suppressed row is penalised too.

    >>> classification([(4, 3)], n_rows=5)
    Fraction(2, 5)
    """
    return Fraction(n_rows - sum(commonest for _, commonest in groups), n_rows)


class Classification(Grouped):
    """The share of rows outside the majority of their group; the sensitive column is the class."""

    name = "classification"
    monotone = True  # the majority of a merged group is at most the sum of both majorities
    reads_sensitive = True
    needs_sensitive = True

    def counted(self, held: Held) -> Sequence[Row]:
        return [{"n_rows": held.groups.n_all, "n_top": int(held.groups.top.sum())}]

    def value(self, rows: Sequence[Row], published: Published) -> float:
        (found,) = rows
        n_rows = found["n_rows"] + published.n_suppressed
        return float(classification([(found["n_rows"], found["n_top"])], n_rows))
