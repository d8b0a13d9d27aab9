"""The information-gain/privacy-loss ratio: what groups tell about the sensitive value, and at what price."""

from collections.abc import Sequence
from math import log

from privacy_sql.counted.groups import sum_of_logs
from privacy_sql.kernels.information_gain import gain_per_loss
from privacy_sql.utilities import Grouped, Held, Published, Row


def gained(n_rows: int, by_value: float, by_group: float, by_both: float) -> float:
    """The bits that groups tell about the value of a row, from sums of n ln n over counts.

    Wang et al. 2004, Sec. 4.2: the entropy of all values less the mean entropy inside the groups.

    >>> from math import log
    >>> round(gained(4, by_value=2 * 2 * log(2), by_group=2 * 2 * log(2), by_both=2 * 2 * log(2)), 9)
    1.0
    """
    if not n_rows:
        return 0.0
    return max(0.0, (n_rows * log(n_rows) - by_value - by_group + by_both) / (n_rows * log(2)))


class InformationGainPrivacyLoss(Grouped):
    """The ratio of specialising one group of everybody into the groups of a release (kifer2006, Sec. 3.1).

    The paper cites it as a heuristic for one step; a release is the step from its most general form. The
    anonymity given up is that of the smallest group, out of all people. A suppressed row gains nothing. More
    is better: the cost is its negative.
    """

    name = "information_gain_privacy_loss"
    reads_sensitive = True
    needs_sensitive = True

    def counted(self, held: Held) -> Sequence[Row]:
        groups = held.groups
        by_group, by_value = groups.sums(groups.n), groups.by_code
        return [
            {
                "n_rows": groups.n_all,
                "by_both": sum_of_logs(groups.n),
                "by_group": sum_of_logs(by_group),
                "by_value": sum_of_logs(by_value),
                "smallest": int(groups.people.min()) if len(groups) else 0,
            }
        ]

    def value(self, rows: Sequence[Row], published: Published) -> float:
        (found,) = rows
        bits = gained(found["n_rows"], found["by_value"], found["by_group"], found["by_both"])
        share = 1 - published.n_suppressed / published.n_rows
        return -gain_per_loss(share * bits, published.n_rows, found["smallest"])

    def shown(self, cost: float) -> float:
        """The ratio itself.

        >>> InformationGainPrivacyLoss().shown(-0.25)
        0.25
        """
        return -cost
