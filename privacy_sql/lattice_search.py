"""Search the lattice of a base for safe choices: joins roll-up, requirements, suppression and costs.

martin2007, Sec. 3.4, and kifer2006, Sec. 3.1. The searches themselves know numbers only; here a choice gets
its groups, the requirements are asked about them, and what the answer proves about other choices is said.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np

from privacy_sql import plugs
from privacy_sql.base import Base
from privacy_sql.costs import Costs, Shown
from privacy_sql.criteria import Criterion
from privacy_sql.grouping import Grouping
from privacy_sql.judging import decided, failing
from privacy_sql.query import Sql, render
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
        return [self._suppressing(choice) if self.allowed else self._plain(choice) for choice in choices]

    def _plain(self, choice: Choice) -> Answer:
        shown = self._whole(choice)
        self._last = shown
        for criterion in self.order:
            if not self._decided(choice, shown.grouping, criterion).safe:
                # what is not proved to be safe under merging proves nothing about finer choices
                return Answer(False, carries=criterion.safe_under_merging)
        return Answer(True, carries=all(c.safe_under_merging for c in self.require))

    def _suppressing(self, choice: Choice) -> Answer:
        """With suppression: failing groups may go, as long as they hold few enough people.

        When a group that contains a safe group is safe, the people in failing groups become fewer with
        every merging, so both answers carry. Other requirements imply such ones (`necessary`), which bounds
        them from below: too many people failing those settles all finer choices. A choice that suppresses
        nobody settles all coarser ones. Anything else settles itself only.
        """
        whole = self._whole(choice)
        bounding = [c for criterion in self.require for c in growing(criterion)]
        gone = self._failing(whole.grouping, bounding)
        if self._too_many(whole, gone):
            return Answer(False, carries=True)
        all_grow = all(c.safe_in_larger_groups and c.safe_under_suppression for c in self.require)
        if all_grow:
            self._last = self._without(whole, gone)
            return Answer(True, carries=True)
        shown = self._thinned(whole, gone)
        if shown is None:
            return Answer(False, carries=False)
        self._last = shown
        safe = all(self._decided(choice, shown.grouping, criterion).safe for criterion in self.order)
        untouched = shown.n_suppressed == 0 and all(c.safe_under_merging for c in self.require)
        return Answer(safe, carries=safe and untouched)

    def top_verdicts(self) -> dict[str, Verdict]:
        """Every requirement asked about the most general choice, nobody suppressed."""
        grouping = self._whole(self.lattice.top).grouping
        return {str(criterion): decided(grouping, criterion) for criterion in self.require}

    def _thinned(self, shown: Shown, gone: set[int]) -> Shown | None:
        """What stays when failing groups go, and those that fail then; None when too many people would go."""
        whole = shown
        while True:
            shown = self._without(whole, gone)
            more = self._failing(shown.grouping, self.require) - gone
            if not more:
                return shown
            gone = gone | more
            if self._too_many(whole, gone):
                return None

    def _failing(self, grouping: Grouping, criteria: Sequence[Criterion]) -> set[int]:
        return {group for criterion in criteria for group in failing(grouping, criterion)}

    def _too_many(self, whole: Shown, gone: Collection[int]) -> bool:
        grouping = whole.grouping
        groups = grouping.groups
        if self.base.people:  # the limit is a share of the rows, and a person may have several
            groups = grouping.base.engine.create(
                render("groups.sql", histogram=grouping.histogram), view=True
            )
        return _held(grouping, groups, gone) > self.allowed * self.base.rows

    def _decided(self, choice: Choice, grouping: Grouping, criterion: Criterion) -> Verdict:
        verdict = decided(grouping, criterion)
        self.verdicts.setdefault(choice, {})[str(criterion)] = verdict
        return verdict

    # -- what is shown ---------------------------------------------------------------------------------

    def _whole(self, choice: Choice) -> Shown:
        if any(criterion.needs_base for criterion in self.require):
            grouping = self.base.grouped(self.base.keys(self.rollup.named(choice)))
        else:
            grouping = self.rollup.grouping(choice)
        return Shown(choice, grouping, grouping.members, grouping.candidate)

    def _without(self, whole: Shown, gone: Collection[int]) -> Shown:
        if not gone:
            return whole
        grouping = whole.grouping.without(gone)
        n_suppressed = _held(whole.grouping, whole.grouping.groups, gone)
        return Shown(whole.choice, grouping, grouping.members, grouping.candidate, n_suppressed)

    def shown(self, choice: Choice) -> Shown:
        """What a safe choice publishes, its failing groups suppressed."""
        if self._last is not None and self._last.choice == choice:
            return self._last
        whole = self._whole(choice)
        if self.allowed:
            gone = self._failing(whole.grouping, self.require)
            whole = self._thinned(whole, gone) or whole
        self._last = whole
        return whole

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


def _held(grouping: Grouping, groups: Sql, gone: Collection[int]) -> int:
    """How many people, or rows, some groups hold."""
    if not gone:
        return 0
    sizes = grouping.base.engine.arrays(render("searches/group_sizes.sql", groups=groups))
    leaving = np.isin(sizes["g"], np.fromiter(gone, np.int64, len(gone)))
    return int(sizes["n_people"][leaving].sum())
