"""Normalised certainty penalty, summed up as the Global Certainty Penalty."""

from privacy_sql.utilities import Additive, Label, MeasuredColumn


def penalty(leaves: int, domain: int) -> float:
    """The penalty of a categorical value: the share of the domain it covers, and nothing for a raw value.

    Xu et al. 2006, Def. 2, as li2009, Sec. V, uses it. Unlike the loss it does not start again at zero: two
    of five leaves cost 2/5.

    >>> penalty(1, 5), penalty(2, 5), penalty(5, 5)
    (0.0, 0.4, 1.0)
    """
    return leaves / domain if leaves > 1 else 0.0


def numeric_penalty(width: float, extent: float) -> float:
    """The penalty of a range: its width as a share of the width of the whole column.

    >>> numeric_penalty(5, 20), numeric_penalty(0, 0)
    (0.25, 0.0)
    """
    return width / extent if extent > 0 else 0.0


class Ncp(Additive):
    """The Global Certainty Penalty: the mean penalty of all cells (Ghinita et al. 2007, Sec. 2; li2009,
    Sec. V).

    A column of numbers is charged by the distance between the least and the largest number behind a label.
    """

    name = "ncp"

    def penalty(self, label: Label, column: MeasuredColumn) -> float:
        whole = column.whole
        if None in (label.low, label.high, whole.low, whole.high):
            return penalty(label.n_leaves, whole.n_leaves)
        assert label.high is not None and label.low is not None
        assert whole.high is not None and whole.low is not None
        return numeric_penalty(label.high - label.low, whole.high - whole.low)
