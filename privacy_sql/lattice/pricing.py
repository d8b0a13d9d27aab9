"""What the choices of a lattice cost and what bounds their costs: the objective of a search.

martin2007, Sec. 3.4, and kifer2006, Sec. 3.1. Costs that follow from labels alone are never counted for.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from privacy_sql import registry
from privacy_sql.lattice.costs import Costs
from privacy_sql.spaces.lattice import Choice
from privacy_sql.utilities import Additive, Learnt, Utility

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privacy_sql.criteria import Criterion
    from privacy_sql.lattice.search import LatticeSearch
    from privacy_sql.table import Table


class Pricing:
    """The costs of the choices of one search, under what it minimises and under every other utility."""

    def __init__(self, search: LatticeSearch) -> None:
        self.search = search
        self.allowed = search.allowed
        self.utility: Utility = registry.get("utilities", search.minimise)()
        self.costs = Costs(search.base, required_k(search.require))
        self._parts: dict[str, list[list[float]]] = {}

    @property
    def monotone(self) -> bool:
        """Suppression makes fine choices cost more than coarse ones."""
        return self.utility.monotone and (not self.allowed or self.utility.name == "height")

    @property
    def labels_tell(self) -> bool:
        """Whether costs follow from labels alone."""
        return isinstance(self.utility, Additive) and (not self.allowed or self.utility.name == "height")

    @cached_property
    def level_bounds(self) -> list[list[float]] | None:
        """What every level costs at least, itself and everything above it."""
        if not isinstance(self.utility, Additive):
            return None
        parts = self.costs.parts(self.utility, least=bool(self.allowed))
        return [[min(levels[level:]) for level in range(len(levels))] for levels in parts]

    @cached_property
    def _spared(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]] | None:
        """For every choice its cost without suppression, and what each suppressed row adds to it at least."""
        grows = all(c.safe_in_larger_groups and c.safe_under_suppression for c in self.search.require)
        if self.labels_tell or not (self.allowed and grows and isinstance(self.utility, Additive)):
            return None
        bare = self.search.lattice.total(self.costs.parts(self.utility))
        more = self.search.lattice.total(self.costs.spared(self.utility))
        return None if (more < 0).any() else (bare, more)

    def raise_floor(self, choice: Choice, floor: npt.NDArray[np.float64]) -> bool:
        """A finer choice suppresses at least as many rows, when a group with a safe group inside is safe."""
        if self._spared is None:
            return False
        finer = tuple(slice(0, level + 1) for level in choice)
        bare, more = self._spared
        share = self.search.shown(choice).n_suppressed / self.costs.n_people
        floor[finer] = np.maximum(floor[finer], bare[finer] + share * more[finer])
        return True

    def cost(self, choice: Choice) -> tuple[float, ...]:
        """The cost of a choice; equal costs are told apart by the loss of its labels."""
        return (self.priced(self.utility, choice), self.of_levels("loss", choice))

    def priced(self, utility: Utility, choice: Choice) -> float:
        """What a choice costs under a utility, from its labels alone where nothing can be suppressed."""
        if isinstance(utility, Additive) and (not self.allowed or utility.name == "height"):
            return self.of_levels(utility.name, choice)
        shown = self.search.shown(choice)
        return self.costs.cost(utility, self.search.valued(shown) if utility.reads_sensitive else shown)

    def of_levels(self, utility: str, choice: Choice) -> float:
        """The cost of a choice under an additive utility when nothing is suppressed."""
        if utility not in self._parts:
            self._parts[utility] = self.costs.parts(registry.get("utilities", utility)())
        return sum(levels[level] for levels, level in zip(self._parts[utility], choice, strict=True))

    @cached_property
    def measures(self) -> list[Utility]:
        """Every utility that has a value for this table; what needs an extra only where it is minimised."""
        found = [registry.get("utilities", name)() for name in registry.available("utilities")]
        return [utility for utility in found if utility.name == self.utility.name or self._has(utility)]

    def _has(self, utility: Utility) -> bool:
        return not isinstance(utility, Learnt) and not lacking(
            utility, self.search.base.table, self.search.require
        )


def lacking(utility: Utility, table: Table, require: Sequence[Criterion]) -> str | None:
    """What a utility needs and does not have here; None when it has a value."""
    if utility.needs_sensitive and not table.sensitives:
        return "a sensitive column"
    return "a required k" if utility.needs_k and required_k(require) is None else None


def required_k(require: Sequence[Criterion]) -> int | None:
    """The largest k of k-anonymity among the requirements and what they imply."""
    implied = [c for criterion in require for c in (criterion, *criterion.necessary())]
    return max((int(c.params["k"]) for c in implied if c.name == "k_anonymity"), default=None)
