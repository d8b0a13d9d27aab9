"""C_avg: the average size of the published groups against the size that is required."""

from collections.abc import Sequence
from fractions import Fraction

from privacy_sql.utilities import Grouped, Held, Published, Row


def c_avg(n_published: int, n_groups: int, k: int) -> Fraction:
    """How many times larger than the required k the average group is.

    LeFevre et al. 2006, Sec. 2: 1 is the best a k-anonymous table can reach.

    >>> c_avg(10, n_groups=1, k=5)
    Fraction(2, 1)
    """
    return Fraction(n_published, n_groups * k)


class CAvg(Grouped):
    """Published rows per group and required k; undefined where no k is required."""

    name = "c_avg"
    template = "average_group_size"
    monotone = True
    needs_k = True

    def counted(self, held: Held) -> Sequence[Row]:
        return [{"n_people": int(held.groups.people.sum()), "n_groups": len(held.groups)}]

    def value(self, rows: Sequence[Row], published: Published) -> float:
        (found,) = rows
        if not found["n_groups"] or not published.k:
            return float("inf")
        return float(c_avg(found["n_people"], found["n_groups"], published.k))
