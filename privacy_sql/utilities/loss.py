"""Iyengar's loss: how much of its column's domain the average published value covers."""

from privacy_sql.utilities import Additive, Label, MeasuredColumn


class Loss(Additive):
    """The mean loss over all cells; `granularity` is one minus this (kifer2006, Sec. 3.1)."""

    name = "loss"

    def penalty(self, label: Label, column: MeasuredColumn) -> float:
        """The loss of one value: 0 for a raw value, 1 for the whole domain.

        Iyengar 2002, Sec. 3.3, as kifer2006, Sec. 3.1, cites it.
        """
        domain = column.whole.n_leaves
        return (label.n_leaves - 1) / (domain - 1) if domain > 1 else 0.0
