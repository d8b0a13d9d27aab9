"""Precision: how far up its hierarchy the average value stands."""

from privacy_sql.utilities import Additive, Label, MeasuredColumn


class Precision(Additive):
    """One minus the mean of level / height (Samarati 2001; Sweeney 2002, Def. 3.1); its cost is that mean.

    A column without levels to climb loses nothing but suppressed rows.
    """

    name = "precision"

    def penalty(self, label: Label, column: MeasuredColumn) -> float:
        return label.level / column.height if column.height else 0.0

    def shown(self, cost: float) -> float:
        """Precision as it is known: 1 for raw data, 0 when everything stands at the top.

        >>> Precision().shown(0.25)
        0.75
        """
        return 1 - cost
