"""Discernibility: every row costs as many rows as it cannot be told apart from."""

from collections.abc import Iterable, Sequence

from privacy_sql.utilities import Grouped, Held, Published, Row


def discernibility(sizes: Iterable[int], n_suppressed: int, n_rows: int) -> int:
    """The sum of squared group sizes, plus the whole table for every suppressed row.

    Bayardo and Agrawal 2005, Sec. 2.2; kifer2006, Sec. 3.1 (|D| per suppressed row).

    >>> discernibility([2, 3], n_suppressed=1, n_rows=6)
    19
    """
    return sum(size * size for size in sizes) + n_suppressed * n_rows


class Discernibility(Grouped):
    """The discernibility of a release (kifer2006, Sec. 3.1)."""

    name = "discernibility"
    monotone = True

    def counted(self, held: Held) -> Sequence[Row]:
        return [{"n_people": size, "n_groups": 1} for size in held.groups.people.tolist()]

    def value(self, rows: Sequence[Row], published: Published) -> float:
        sizes = (row["n_people"] for row in rows for _ in range(row["n_groups"]))
        return discernibility(sizes, published.n_suppressed, published.n_rows)
