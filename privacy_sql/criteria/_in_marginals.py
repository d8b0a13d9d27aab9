"""Requirements that a search for marginals decides from the counts it holds, as `judge` decides a collection.

A search counts every marginal once and tries many collections of them. A requirement says here which cells
are too small in any marginal, and whether it holds of those with the sensitive column together. The search
takes for granted that what holds of a marginal, or of several, also holds at coarser levels, and beside
marginals without the sensitive column whose cells are large enough.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from privacy_sql.criteria import Criterion, DecidesMarginals, JoinedMarginals
from privacy_sql.criteria._on_arrays import said_beyond


class InMarginals(Criterion, ABC):
    """A requirement that a search for marginals can decide."""

    @property
    def in_marginals(self) -> DecidesMarginals | None:
        kind = type(self)
        owner = next(each for each in kind.__mro__ if "holds_of" in vars(each))
        # a user's subclass must not inherit the decision if it, or a mixin, may judge differently
        return None if said_beyond(kind, owner) - {"_abc_impl"} else self

    @property
    def smallest_cell(self) -> int:
        """The fewest people that any cell of any marginal may have."""
        return 1

    @abstractmethod
    def holds_of(self, joined: JoinedMarginals) -> bool:
        """Whether the marginals with the sensitive column meet it together."""
