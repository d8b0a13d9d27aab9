"""Search the lattice of a base for safe choices: joins roll-up, requirements, suppression and costs.

martin2007, Sec. 3.4, and kifer2006, Sec. 3.1. The searches themselves know numbers only; here a choice gets
its groups, the requirements are asked about them, and what the answer proves about other choices is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from privacy_sql import plugs
from privacy_sql.base import Base
from privacy_sql.costs import Costs, Seen, Shown
from privacy_sql.criteria import Criterion
from privacy_sql.grouping import Grouping
from privacy_sql.judging import decided, for_column
from privacy_sql.rollup import Rollup
from privacy_sql.searches import Found, Limits
from privacy_sql.searches.best_first import BestFirst
from privacy_sql.searches.full_domain import FullDomainSearch, Goal
from privacy_sql.spaces.lattice import Choice, Lattice
from privacy_sql.spaces.tags import Answer
from privacy_sql.utilities import Additive, Utility
from privacy_sql.verdict import Verdict

# above this many choices the lattice is not tagged one by one
MOST_TAGGED = 1_000_000


@dataclass
class LatticeSearch:
    """Which choices of a base are safe, and what they cost.

    `allowed` is the share of the people who may be suppressed. `verdicts` keeps what was decided on the way.
    """

    base: Base
    require: tuple[Criterion, ...]
    minimise: str = "loss"
    allowed: Fraction = Fraction(0)
    verdicts: dict[Choice, dict[str, Verdict]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.utility: Utility = plugs.get("utilities", self.minimise)()
        # what settles most with least counting is asked first
        self.order = sorted(self.require, key=lambda c: (not c.safe_under_merging, c.reads_sensitive))
        self.costs = Costs(self.base)
        reads = [c.reads_sensitive for c in self.require]
        self.rollup = Rollup(self.base, with_sensitive=any(reads) or self.utility.reads_sensitive)
        self._last: Shown | None = None
        # the same choices for every further sensitive column; their own columns stand as they are
        self.sides = [LatticeSearch(side, self.require, self.minimise) for side in self.base.sides]

    @property
    def lattice(self) -> Lattice:
        return self.rollup.lattice

    def run(self, goal: Goal = "all", limits: Limits | None = None, width: int = 1) -> Found:
        """All minimal safe choices, the best or one; best-first with a gap where the lattice is too large."""
        if self.lattice.size > MOST_TAGGED:
            return BestFirst().choose(self.lattice, self.decide, self, limits)
        return FullDomainSearch(goal, width).choose(self.lattice, self.decide, self, limits)

    # -- answers ---------------------------------------------------------------------------------------

    def decide(self, choices: Sequence[Choice]) -> list[Answer]:
        """Whether each choice is safe, and whether that settles coarser or finer ones too."""
        return [self._suppressing(choice) if self.allowed else self._beside(choice) for choice in choices]

    def _beside(self, choice: Choice) -> Answer:
        """One answer for all sensitive columns: safe for each, and carrying as far as each of them does."""
        own = self._plain(choice)
        for side in self.sides if own.safe else ():
            other = side._plain(choice)
            if not other.safe:
                return other
            own = Answer(True, own.carries and other.carries)
        return own

    def _plain(self, choice: Choice) -> Answer:
        shown = self._shown(choice, Seen(self._grouping(choice)))
        for criterion in self.order:
            if not self._decided(shown, criterion).safe:
                # what is not proved to be safe under merging proves nothing about finer choices
                return Answer(False, carries=criterion.safe_under_merging)
        return Answer(True, carries=all(c.safe_under_merging for c in self.require))

    def _suppressing(self, choice: Choice) -> Answer:
        """With suppression: failing groups may go, as long as they hold few enough rows.

        When a group that contains a safe group is safe, the rows in failing groups become fewer with every
        merging, so both answers carry. Other requirements imply such ones (`necessary`), which bounds them
        from below: too many rows failing those settles all finer choices. A choice that suppresses nobody
        settles all coarser ones. Anything else settles itself only.
        """
        seen = Seen(self._grouping(choice))
        bounding = [c for criterion in self.require for c in growing(criterion)]
        if self._too_many(seen, seen.failing(bounding)):
            return Answer(False, carries=True)
        shown = self._thinned(choice, seen)
        if shown is None:
            return Answer(False, carries=False)
        if all(c.safe_in_larger_groups and c.safe_under_suppression for c in self.require):
            return Answer(True, carries=True)
        safe = all(self._decided(shown, criterion).safe for criterion in self.order)
        untouched = not shown.gone and all(c.safe_under_merging for c in self.require)
        return Answer(safe, carries=safe and untouched)

    def _thinned(self, choice: Choice, seen: Seen) -> Shown | None:
        """What stays when failing groups go, and those that fail then; None when too many rows would go."""
        gone = seen.failing(self.require)
        while not self._too_many(seen, gone):
            shown = self._shown(choice, seen, gone)
            if all(criterion.safe_under_suppression for criterion in self.require):
                return shown  # leaving out a group changes no other
            more = Seen(shown.grouping).failing(self.require) - gone
            if not more:
                return shown
            gone |= more
        return None

    def _too_many(self, seen: Seen, gone: frozenset[int]) -> bool:
        """Whether more rows than allowed would go; a person may have several."""
        held = seen.rows_in(gone) if self.base.people else seen.people_in(gone)
        return held > self.allowed * self.base.rows

    def _decided(self, shown: Shown, criterion: Criterion) -> Verdict:
        verdict = decided(shown.grouping, criterion)
        self.verdicts.setdefault(shown.choice, {})[str(criterion)] = verdict
        return verdict

    def top_verdicts(self) -> dict[str, Verdict]:
        """Every requirement asked about the most general choice, nobody suppressed."""
        found = {}
        for side in (self, *self.sides):
            grouping = side._grouping(self.lattice.top)
            for criterion in self.require:
                found[for_column(str(criterion), side.base)] = decided(grouping, criterion)
        return found

    def asked(self, choice: Choice) -> dict[str, Verdict]:
        """What was decided about a choice, for every sensitive column."""
        return {
            for_column(requirement, side.base): verdict
            for side in (self, *self.sides)
            for requirement, verdict in side.verdicts.get(choice, {}).items()
        }

    # -- what is shown ---------------------------------------------------------------------------------

    def _grouping(self, choice: Choice) -> Grouping:
        if any(criterion.needs_base for criterion in self.require):
            return self.base.grouped(self.base.keys(self.rollup.named(choice)))
        return self.rollup.grouping(choice)

    def _shown(self, choice: Choice, seen: Seen, gone: frozenset[int] = frozenset()) -> Shown:
        self._last = Shown(choice, seen, gone)
        return self._last

    def shown(self, choice: Choice) -> Shown:
        """What a safe choice publishes, its failing groups suppressed."""
        if self._last is not None and self._last.choice == choice:
            return self._last
        seen = Seen(self._grouping(choice))
        return (self._thinned(choice, seen) if self.allowed else None) or self._shown(choice, seen)

    # -- costs (the objective of the search) -----------------------------------------------------------

    @property
    def monotone(self) -> bool:
        """Suppression makes fine choices cost more than coarse ones."""
        return self.utility.monotone and not (self.allowed and self.minimise != "height")

    @cached_property
    def level_bounds(self) -> list[list[float]] | None:
        """What every level costs at least, itself and everything above it."""
        if not isinstance(self.utility, Additive):
            return None
        parts = self.costs.parts(self.utility, least=bool(self.allowed))
        return [[min(levels[level:]) for level in range(len(levels))] for levels in parts]

    @cached_property
    def _parts(self) -> dict[str, list[list[float]]]:
        return {}

    @cached_property
    def _spared(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]] | None:
        """For every choice its cost without suppression, and what each suppressed row adds to it at least."""
        grows = all(c.safe_in_larger_groups and c.safe_under_suppression for c in self.require)
        if not (self.allowed and grows and isinstance(self.utility, Additive) and self.minimise != "height"):
            return None
        bare = self.lattice.total(self.costs.parts(self.utility))
        more = self.lattice.total(self.costs.spared(self.utility))
        return None if (more < 0).any() else (bare, more)

    def raise_floor(self, choice: Choice, floor: npt.NDArray[np.float64]) -> bool:
        """A finer choice suppresses at least as many rows, when a group with a safe group inside is safe."""
        if self._spared is None:
            return False
        finer = tuple(slice(0, level + 1) for level in choice)
        bare, more = self._spared
        share = self.shown(choice).n_suppressed / self.costs.n_people
        floor[finer] = np.maximum(floor[finer], bare[finer] + share * more[finer])
        return True

    def cost(self, choice: Choice) -> tuple[float, ...]:
        """The cost of a choice; equal costs are told apart by the loss of its labels."""
        return (self.priced(self.utility, choice), self.of_levels("loss", choice))

    def priced(self, utility: Utility, choice: Choice) -> float:
        """What a choice costs under a utility, from its labels alone where nothing can be suppressed."""
        if isinstance(utility, Additive) and (not self.allowed or utility.name == "height"):
            return self.of_levels(utility.name, choice)
        return self.costs.cost(utility, self.shown(choice))

    def of_levels(self, utility: str, choice: Choice) -> float:
        """The cost of a choice under an additive utility when nothing is suppressed."""
        if utility not in self._parts:
            self._parts[utility] = self.costs.parts(plugs.get("utilities", utility)())
        return sum(levels[level] for levels, level in zip(self._parts[utility], choice, strict=True))


def growing(criterion: Criterion) -> tuple[Criterion, ...]:
    """The requirement, or weaker ones it implies, for which a group that contains a safe group is safe."""
    return (criterion,) if criterion.safe_in_larger_groups else tuple(criterion.necessary())
