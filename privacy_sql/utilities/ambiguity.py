"""Ambiguity: how many raw combinations a published row could have been."""

from collections.abc import Iterable, Sequence
from math import fsum, prod

from privacy_sql.utilities import Grouped, Held, Published, Row


def ambiguity(groups: Iterable[tuple[Sequence[int], int]], domains: Sequence[int], n_rows: int) -> float:
    """The mean number of raw combinations per row; `groups` are (leaves of each label, published rows).

    Nergiz and Clifton 2007, Sec. 3 (ambiguity metric). A suppressed row could have been anything.

    >>> ambiguity([((1, 3), 2)], domains=(2, 3), n_rows=3)
    4.0
    """
    groups = list(groups)
    n_suppressed = n_rows - sum(rows for _, rows in groups)
    return fsum([*(prod(leaves) * rows for leaves, rows in groups), n_suppressed * prod(domains)]) / n_rows


class Ambiguity(Grouped):
    """The mean number of raw combinations behind a row; the template adds up the published ones."""

    name = "ambiguity"
    monotone = True

    def counted(self, held: Held) -> Sequence[Row]:
        return [{"possible": float((held.groups.people * held.leaves).sum())}]

    def value(self, rows: Sequence[Row], published: Published) -> float:
        (found,) = rows
        return (
            float(found["possible"]) + published.n_suppressed * published.n_combinations
        ) / published.n_rows
