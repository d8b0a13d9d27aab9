"""Non-uniform entropy: the bits about a raw value that its label does not tell."""

from privacy_sql.utilities import Additive, Label, MeasuredColumn


class Entropy(Additive):
    """The mean bits hidden per cell; a suppressed value hides what its whole column would.

    Gionis and Tassa 2009, Sec. 3 (after Willenborg and de Waal): the bits of a label are the conditional
    entropy of the raw value behind it.
    """

    name = "entropy"

    def penalty(self, label: Label, column: MeasuredColumn) -> float:
        return label.bits

    def suppressed(self, column: MeasuredColumn) -> float:
        return column.whole.bits
