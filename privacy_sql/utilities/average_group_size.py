"""The average size of the published groups."""

from collections.abc import Sequence
from fractions import Fraction

from privacy_sql.utilities import Grouped, Held, Published, Row


def average_group_size(n_published: int, n_groups: int) -> Fraction:
    """Published rows per group.

    Machanavajjhala et al. 2006, Sec. 6; kifer2006, Sec. 3.1.

    >>> average_group_size(10, 4)
    Fraction(5, 2)
    """
    return Fraction(n_published, n_groups)


class AverageGroupSize(Grouped):
    """Published rows per group (kifer2006, Sec. 3.1)."""

    name = "average_group_size"
    monotone = True

    def counted(self, held: Held) -> Sequence[Row]:
        return [{"n_people": int(held.groups.people.sum()), "n_groups": len(held.groups)}]

    def value(self, rows: Sequence[Row], published: Published) -> float:
        (found,) = rows
        if not found["n_groups"]:
            return float("inf")
        return float(average_group_size(found["n_people"], found["n_groups"]))
