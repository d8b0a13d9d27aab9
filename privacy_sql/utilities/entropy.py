"""Non-uniform entropy: the bits about a raw value that its label does not tell."""

from collections.abc import Sequence
from math import fsum, log2

from privacy_sql.utilities import Additive, Label, MeasuredColumn


def bits_hidden(counts: Sequence[int]) -> float:
    """The uncertainty about the raw value behind a label, from how often each occurs in the source.

    Gionis and Tassa 2009, Sec. 3 (after Willenborg and de Waal): the conditional entropy of the raw value.

    >>> bits_hidden([2, 2]), bits_hidden([4])
    (1.0, 0.0)
    """
    total = sum(counts)
    return fsum(n / total * log2(total / n) for n in counts if n)


class Entropy(Additive):
    """The mean bits hidden per cell; a suppressed value hides what its whole column would."""

    name = "entropy"

    def penalty(self, label: Label, column: MeasuredColumn) -> float:
        return label.bits

    def suppressed(self, column: MeasuredColumn) -> float:
        return column.whole.bits
