"""Kullback-Leibler divergence between the source and what a reader reconstructs from the release."""

from collections.abc import Iterable, Sequence
from math import fsum, log

from privacy_sql.counted.groups import sum_of_logs
from privacy_sql.utilities import Grouped, Held, Published, Row


def kl(cells: Iterable[tuple[int, int, int]], n_suppressed: int = 0, domain: int = 1) -> float:
    """Nats between the source and the release spread evenly over what its labels cover.

    kifer2006, Sec. 3.2. A cell is a combination of raw values and sensitive value that occurs: its rows,
    the rows published with its labels and sensitive value (0 when suppressed), and how many raw
    combinations those labels cover. Suppressed rows could be anything: they are spread over all `domain`
    cells.

    >>> kl([(2, 2, 1), (1, 1, 1)])
    0.0
    >>> round(kl([(3, 4, 2), (1, 4, 2)]), 6)
    0.130812
    """
    cells = list(cells)
    everywhere = n_suppressed / domain
    n_rows = sum(rows for rows, _, _ in cells)
    return max(
        0.0, fsum(rows * log(rows / (shown / leaves + everywhere)) for rows, shown, leaves in cells) / n_rows
    )


class Kl(Grouped):
    """The divergence in nats over the values that occur (kifer2006, Sec. 3.2); 0 for the raw table.

    All raw combinations under the same labels and sensitive value are as likely to a reader, so the template
    needs the published counts only, and one sum over the source.
    """

    name = "kl"
    monotone = True
    reads_sensitive = True

    def counted(self, held: Held) -> Sequence[Row]:
        n, leaves = held.groups.shown
        n_source, source = held.source
        found = {"n_shown": int(n.sum()), "shown": sum_of_logs(n, n / held.leaves[leaves] + held.everywhere)}
        return [{**found, "n_source": n_source, "source": source}]

    def value(self, rows: Sequence[Row], published: Published) -> float:
        (found,) = rows
        n_hidden = found["n_source"] - found["n_shown"]
        hidden = n_hidden * log(published.everywhere) if n_hidden else 0.0
        return float(max(0.0, (found["source"] - found["shown"] - hidden) / found["n_source"]))
