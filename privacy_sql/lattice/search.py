"""Search the lattice of a base for safe choices: joins roll-up, requirements, suppression and costs.

martin2007, Sec. 3.4, and kifer2006, Sec. 3.1. The search algorithms work on numbers only. This module builds
the groups of a choice, judges them, and tells the algorithm what the verdict proves about other choices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from math import isfinite
from operator import getitem
from typing import Any

import numpy as np
import numpy.typing as npt

from privacy_sql import registry
from privacy_sql.counted.base import Base
from privacy_sql.counted.grouping import Grouping
from privacy_sql.criteria import Criterion, largest_size
from privacy_sql.errors import Undecided
from privacy_sql.judge import decided, decided_each, for_column
from privacy_sql.lattice.costs import AnySeen, Costs, GroupsInSql, Shown
from privacy_sql.lattice.in_memory import GroupMask, GroupsInMemory, InMemory, fits, thinned_in_memory
from privacy_sql.lattice.rollup import Rolled, Rollup
from privacy_sql.lattice.steering import FREE, Part, Steering
from privacy_sql.lattice.suppression import thinned
from privacy_sql.searches import Found, Limits
from privacy_sql.searches.best_first import BestFirst
from privacy_sql.searches.full_domain import FullDomainSearch, Goal
from privacy_sql.spaces.lattice import Choice
from privacy_sql.spaces.tags import Answer
from privacy_sql.table import Table
from privacy_sql.utilities import Utility
from privacy_sql.verdict import Verdict, finite

# a lattice with more choices is not tagged one by one
MOST_TAGGED = 1_000_000


@dataclass
class LatticeSearch:
    """Which choices of a base are safe, and what they cost.

    `allowed` is the share of people who may be suppressed. `verdicts` keeps what was decided so far. The
    search counts and decides in memory if the table fits and every requirement supports it, and otherwise in
    SQL with the same result.
    """

    base: Base
    require: tuple[Criterion, ...]
    minimise: str = "loss"
    allowed: Fraction = Fraction(0)
    with_values: bool = False  # sensitive values are counted although no requirement reads them
    in_memory: bool | None = None  # whether it is; decided from the table where it is not said
    steering: Steering = FREE  # the levels that may be published, and what each column matters
    only_best: bool = False  # nothing is measured but what is minimised
    verdicts: dict[Choice, dict[str, Verdict]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # first the requirements that settle most with the least counting
        self.order = sorted(self.require, key=lambda c: (not c.safe_under_generalisation, c.reads_sensitive))
        self.part = Part(self.steering.levels(self.base.table))
        self.pricing = Pricing(self)
        together = bool(self.base.sides and self.allowed)
        reads = [*(c.reads_sensitive for c in self.require), self.pricing.utility.reads_sensitive]
        reads += [together, self.with_values]
        with_sensitive = bool(self.base.table.sensitives) and any(reads)
        if self.in_memory is None:
            # whether all that is asked can be asked in memory, for every sensitive column
            utilities = [self.pricing.utility, *([] if self.only_best else self.pricing.measures)]
            self.in_memory = all(fits(base, self.require) for base in (self.base, *self.base.sides)) and all(
                utility.on_arrays for utility in utilities
            )
        self.counts = InMemory(self.base, with_sensitive=with_sensitive) if self.in_memory else None
        self.rollup = Rollup(self.base, with_sensitive=with_sensitive)
        self.lattice = self.rollup.lattice
        self.within = self.part.lattice(self.lattice)  # the choices allowed for publication
        self._last: Shown | None = None
        self._again: dict[Choice, Shown] = {}
        self.tried: dict[Choice, None] = {}  # the measured choices, in that order
        # the same choices for every further sensitive column; their own columns stand as they are
        self.sides = [
            LatticeSearch(
                side,
                self.require,
                self.minimise,
                with_values=together,
                in_memory=self.in_memory,
                steering=self.steering,
            )
            for side in self.base.sides
        ]

    def run(self, goal: Goal = "all", limits: Limits | None = None) -> Found:
        """All minimal safe choices, the best, or any one; best-first with a gap if there are too many."""
        # refuse a population that lacks people of the table even if no measured choice would show it
        self._at(self.lattice.bottom, [criterion for criterion in self.require if criterion.needs_population])
        walk: BestFirst | FullDomainSearch = BestFirst()
        if self.within.size <= MOST_TAGGED:
            walk = FullDomainSearch(goal, 1 if self.in_memory else self.base.engine.at_once)
        return self.part.found(
            walk.choose(
                self.within,
                lambda places: self.decide(list(map(self.part.choice, places))),
                Goals(self.pricing),
                limits,
            )
        )

    # -- answers ---------------------------------------------------------------------------------------

    def decide(self, choices: Sequence[Choice]) -> list[Answer]:
        """Whether each choice is safe, and whether that settles coarser or finer ones too."""
        self.tried.update(dict.fromkeys(choices))
        seen = self._seen(choices)
        if self.allowed:
            return [self._suppressing(*pair) for pair in zip(choices, seen, strict=True)]
        answers = dict(zip(choices, self._plain(choices, seen), strict=True))
        for side in self.sides:  # safe for each sensitive column; the answer carries as far as all of theirs
            asked = [choice for choice, answer in answers.items() if answer.safe]
            found = side._plain(asked, side._seen(asked))
            for choice, other in zip(asked, found, strict=True):
                carries = other.carries and (not other.safe or answers[choice].carries)
                answers[choice] = Answer(other.safe, carries)
        return list(answers.values())

    def _plain(self, choices: Sequence[Choice], seen: Sequence[AnySeen]) -> list[Answer]:
        """Without suppression: judge every requirement for all undecided choices."""
        carries = all(criterion.safe_under_generalisation for criterion in self.require)
        answers = dict.fromkeys(choices, Answer(True, carries))
        undecided: Undecided | None = None
        for criterion in self.order:
            left = [
                self._shown(choice, its)
                for choice, its in zip(choices, seen, strict=True)
                if answers[choice].safe
            ]
            try:
                found = self._decided(left, criterion)
            except Undecided as problem:  # the other requirements may fail
                undecided = problem
                continue
            for shown, verdict in zip(left, found, strict=True):
                if not verdict.safe:
                    # what a coarser choice may break proves nothing about finer choices
                    answers[shown.choice] = Answer(False, carries=criterion.safe_under_generalisation)
        if undecided is not None and any(answer.safe for answer in answers.values()):
            raise undecided
        return list(answers.values())

    def _suppressing(self, choice: Choice, seen: AnySeen) -> Answer:
        """With suppression: failing groups may be removed if they have few enough rows.

        If every group that contains a safe group is safe, merging leaves fewer rows in failing groups, so
        both answers carry over. Other requirements imply such ones (`necessary`), which gives a lower bound:
        too many rows that fail those settle all finer choices. A choice that suppresses nobody settles all
        coarser ones. Anything else settles only itself.
        """
        grows = all(c.safe_in_larger_groups and c.safe_under_suppression for c in self.require)
        if not grows:
            # if too many rows fail the necessary requirements, even more fail them at finer choices
            bounding = [c for criterion in self.require for c in growing(criterion)]
            if self.sides:
                beyond = self._together(choice, seen, bounding) is None
            else:
                beyond = self._too_many(seen, seen.failing(bounding))
            if beyond:
                return Answer(False, carries=True)
        shown = self._thinned(choice, seen)
        # groups that do not fail are enough where a verdict is made of them, as every formula is
        if shown is None or (grows and all(criterion.on_arrays for criterion in self.require)):
            return Answer(shown is not None, carries=grows)
        safe = all(
            side._decided([side.shown(choice)], criterion)[0].safe
            for side in (self, *self.sides)
            for criterion in self.order
        )
        untouched = not shown.n_suppressed and all(c.safe_under_merging for c in self.require)
        return Answer(safe, carries=safe and untouched)

    def _thinned(self, choice: Choice, seen: AnySeen) -> Shown | None:
        """What stays without failing groups, and what fails then; None if too many rows would go."""
        if self.sides:
            # what fails for one sensitive column is suppressed for all
            found = self._together(choice, seen, self.require)
            if found is None:
                return None
            left, n_suppressed = found
            for side, its in zip((self, *self.sides), left, strict=True):
                side._last = Shown(choice, its, n_before=n_suppressed)
            return self._last
        gone = seen.failing(self.order[:1])
        for criterion in self.order[1:]:  # the cheapest first: most choices need no other
            if self._too_many(seen, gone):
                return None
            gone |= seen.failing([criterion])
        while not self._too_many(seen, gone):
            shown = self._shown(choice, seen, gone)
            if all(criterion.safe_under_suppression for criterion in self.require):
                return shown  # leaving out a group does not change the others
            more = shown.left.failing(self.require) - gone
            if not more:
                return shown
            gone |= more
        return None

    def _together(
        self, choice: Choice, seen: AnySeen, require: Sequence[Criterion]
    ) -> tuple[Sequence[AnySeen], int] | None:
        """What stays for each column, and how many people are suppressed; None if these are too many."""
        every = [seen, *(side._seen([choice])[0] for side in self.sides)]
        most = self.allowed * self.base.rows
        held = [groups for its in every if (groups := its.in_memory)]
        if held:
            return thinned_in_memory(held, require, most)
        rolled = [grouping for its in every if isinstance(grouping := its.grouping, Rolled)]
        assert len(rolled) == len(every), "what reads original columns is refused before"
        found = thinned(rolled, lambda it: GroupsInSql(it).failing(require), most)
        if found is None:
            return None
        return [GroupsInSql(grouping) for grouping in found.groupings], found.n_suppressed

    def _too_many(self, seen: AnySeen, gone: frozenset[int] | GroupMask) -> bool:
        """Whether more rows than allowed would go; also lines, values and people if these differ."""
        if not self.base.people:
            return bool(seen.people_in(gone) > self.allowed * self.base.rows)
        everybody = int(seen.people.sum())
        return bool(
            seen.rows_in(gone) > self.allowed * self.base.rows
            or seen.lines_in(gone) > self.allowed * self.base.n_lines
            or seen.people_in(gone) > self.allowed * everybody
        )

    def _decided(self, shown: Sequence[Shown], criterion: Criterion) -> list[Verdict]:
        if self.in_memory:
            arrays = criterion.on_arrays
            assert arrays is not None
            verdicts = [arrays.decide(held.of) for its in shown if (held := its.in_memory)]
        else:
            verdicts = decided_each([its.grouping for its in shown], criterion) if shown else []
        for its, verdict in zip(shown, verdicts, strict=True):
            self.verdicts.setdefault(its.choice, {})[str(criterion)] = verdict
        return verdicts

    def complete(self, choices: Sequence[Choice]) -> None:
        """Judge what the search did not need: every requirement for every sensitive column."""
        for choice in choices:
            for side in (self, *self.sides):
                known = side.verdicts.setdefault(choice, {})
                missing = [criterion for criterion in side.order if str(criterion) not in known]
                if missing and self.allowed:
                    self.shown(choice)  # what is suppressed for one column is suppressed for all
                for criterion in missing:
                    side._decided([side.shown(choice)], criterion)

    def top_verdicts(self) -> dict[str, Verdict]:
        """Judge every requirement at the most general allowed choice without suppression."""
        return {
            for_column(requirement, side.base): verdict
            for side in (self, *self.sides)
            for requirement, verdict in side._at(side.part.choice(side.within.top), self.require).items()
        }

    def _at(self, choice: Choice, require: Sequence[Criterion]) -> dict[str, Verdict]:
        """Judge requirements at any choice without suppression."""
        found = {}
        if require:
            (seen,) = self._seen([choice])
            whole = Shown(choice, seen)
            for criterion in require:
                if (held := whole.in_memory) and (arrays := criterion.on_arrays):
                    found[str(criterion)] = arrays.decide(held.of)
                else:
                    found[str(criterion)] = decided(whole.grouping, criterion)
        return found

    def asked(self, choice: Choice) -> dict[str, Verdict]:
        """What was decided about a choice, for every sensitive column."""
        return {
            for_column(requirement, side.base): verdict
            for side in (self, *self.sides)
            for requirement, verdict in side.verdicts.get(choice, {}).items()
        }

    # -- what is shown ---------------------------------------------------------------------------------

    def _seen(self, choices: Sequence[Choice]) -> Sequence[AnySeen]:
        if self.counts is not None:
            return [GroupsInMemory(self.counts, self.counts.groups(choice)) for choice in choices]
        if self._needs_base:
            named = map(self.rollup.named, choices)
            return [GroupsInSql(Grouping.by(self.base, self.base.keys(levels))) for levels in named]
        return [GroupsInSql(grouping) for grouping in self.rollup.groupings(choices)]

    def _shown(self, choice: Choice, seen: AnySeen, gone: frozenset[int] | GroupMask = frozenset()) -> Shown:
        self._last = Shown(choice, seen, gone)
        return self._last

    def shown(self, choice: Choice) -> Shown:
        """What a safe choice publishes, its failing groups suppressed."""
        if self._last is not None and self._last.choice == choice:
            return self._last
        if choice in self._again:
            return self._again[choice]
        (seen,) = self._seen([choice])
        return (self._thinned(choice, seen) if self.allowed else None) or self._shown(choice, seen)

    def count_again(self, choices: Sequence[Choice]) -> None:
        """Count choices together that are shown one by one; with suppression each is counted alone."""
        if choices and not self.allowed:
            found = zip(choices, self._seen(choices), strict=True)
            self._again = {choice: Shown(choice, seen) for choice, seen in found}

    def valued(self, shown: Shown) -> Shown:
        """The same groups with their sensitive values, for a search that does without them."""
        counted = self.rollup.with_sensitive or (self._needs_base and not self.in_memory)
        if counted or not self.base.table.sensitives:
            return shown
        (seen,) = self._with_values._seen([shown.choice])
        return Shown(shown.choice, seen, shown.gone)

    @cached_property
    def _with_values(self) -> LatticeSearch:
        """The same choices, counted with their sensitive values."""
        alone = replace(self.base, sides=())
        return LatticeSearch(alone, (), with_values=True, in_memory=self.in_memory)

    @cached_property
    def _needs_base(self) -> bool:
        return any(criterion.needs_base for criterion in self.require)


def growing(criterion: Criterion) -> tuple[Criterion, ...]:
    """The requirement, or weaker ones it implies, for which any group that contains a safe group is safe."""
    return (criterion,) if criterion.safe_in_larger_groups else tuple(criterion.necessary())


class Pricing:
    """The costs of one search's choices, under the minimised utility and every other."""

    def __init__(self, search: LatticeSearch) -> None:
        self.search = search
        self.allowed = search.allowed
        self.utility: Utility = registry.get("utilities", search.minimise)()
        weights = search.steering.weights(list(search.base.table.quasi))
        self.costs = Costs(search.base, required_k(search.require), weights)
        self._parts: dict[str, list[list[float]]] = {}

    def labels_tell(self, utility: Utility) -> bool:
        """Whether the labels of a choice alone say what it costs."""
        return utility.by_label is not None and (not self.allowed or utility.of_levels)

    def cost(self, choice: Choice) -> tuple[float, ...]:
        """The cost of a choice; the loss of its labels breaks ties."""
        return (self.priced(self.utility, choice), self.of_levels("loss", choice))

    def priced(self, utility: Utility, choice: Choice) -> float:
        """What a choice costs under a utility, from its labels alone if nothing can be suppressed."""
        if self.labels_tell(utility):
            return self.of_levels(utility.name, choice)
        shown = self.search.shown(choice)
        return self.costs.cost(utility, self.search.valued(shown) if utility.reads_sensitive else shown)

    def of_levels(self, utility: str, choice: Choice) -> float:
        """The cost of a choice under an additive utility when nothing is suppressed."""
        return sum(map(getitem, self._parts_of(utility), choice))

    def each_of_levels(self, utility: str, choices: Sequence[Choice]) -> list[float]:
        """The same of many choices."""
        parts = self._parts_of(utility)
        sums = np.zeros(len(choices))
        for its, levels in zip(parts, np.array(choices, np.int64).reshape(-1, len(parts)).T, strict=True):
            sums += np.array(its)[levels]
        return list(sums.tolist())

    def _parts_of(self, utility: str) -> list[list[float]]:
        if utility not in self._parts:
            self._parts[utility] = self.costs.parts(registry.get("utilities", utility)())
        return self._parts[utility]

    @cached_property
    def measures(self) -> list[Utility]:
        """Every utility that has a value for this table; those that need an extra only if minimised."""
        found: list[Utility] = [registry.get("utilities", name)() for name in registry.available("utilities")]
        base, require = self.search.base, self.search.require
        return [
            utility
            for utility in found
            if utility.name == self.utility.name
            or not (
                utility.needs_extra or without_values(utility, base) or lacking(utility, base.table, require)
            )
        ]


class Goals:
    """What a walk over the allowed choices minimises."""

    def __init__(self, pricing: Pricing) -> None:
        self.pricing = pricing
        self.search, self.utility = pricing.search, pricing.utility

    @property
    def monotone(self) -> bool:
        """Suppression makes fine choices cost more than coarse ones."""
        return self.utility.monotone and (not self.search.allowed or self.utility.of_levels)

    @cached_property
    def level_bounds(self) -> list[list[float]] | None:
        """A lower bound of the cost of every level together with everything above it."""
        if (utility := self.utility.by_label) is None:
            return None
        parts = self.search.part.of(self.pricing.costs.parts(utility, least=bool(self.search.allowed)))
        return [list(accumulate(reversed(levels), min))[::-1] for levels in parts]

    @cached_property
    def _spared(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]] | None:
        """Every choice's cost without suppression and a lower bound of what each suppressed row adds."""
        utility = self.utility.by_label
        if self.pricing.labels_tell(self.utility) or not self.search.allowed or utility is None:
            return None
        if not all(c.safe_in_larger_groups and c.safe_under_suppression for c in self.search.require):
            return None
        costs, within, part = self.pricing.costs, self.search.within, self.search.part
        bare = within.total(part.of(costs.parts(utility)))
        more = within.total(part.of(costs.spared(utility)))
        return None if (more < 0).any() else (bare, more)

    def raise_floor(self, places: Choice, floor: npt.NDArray[np.float64]) -> bool:
        """A finer choice suppresses at least as many rows if any group that contains a safe group is safe."""
        if self._spared is None:
            return False
        finer = tuple(slice(0, place + 1) for place in places)
        bare, more = self._spared
        shown = self.search.shown(self.search.part.choice(places))
        share = shown.n_suppressed / self.pricing.costs.n_people
        floor[finer] = np.maximum(floor[finer], bare[finer] + share * more[finer])
        return True

    def cost(self, places: Choice) -> tuple[float, ...]:
        """The cost of a choice; the loss of its labels breaks ties."""
        return self.pricing.cost(self.search.part.choice(places))


def lacking(utility: Utility, table: Table, require: Sequence[Criterion]) -> str | None:
    """What a utility lacks here; None if it has a value."""
    if utility.needs_sensitive and not table.sensitives:
        return "a sensitive column"
    return "a required k" if utility.needs_k and required_k(require) is None else None


def without_values(utility: Utility, base: Base) -> bool:
    """Whether a utility is about sensitive values, and nobody has one."""
    return utility.reads_sensitive and not base.rows


def required_k(require: Sequence[Criterion]) -> int | None:
    """The largest k of k-anonymity among the requirements and those they imply."""
    implied = [c for criterion in require for c in (criterion, *criterion.necessary())]
    return largest_size(implied)


# choices that are fully judged and priced; a search judges the most telling requirements first
MOST_PLACED = 200


def frontier(
    search: LatticeSearch, best: Choice | None = None, *, finished: bool = True
) -> list[dict[str, Any]]:
    """The measured choices (and the best one) that no other beats in every risk and in cost, cheapest first.

    Each choice is shown as it could be published: without its failing groups if they may be suppressed, and
    otherwise whole and not safe. A search that is not `finished` judges nothing more.
    """
    told = search.tried if best is None else dict.fromkeys((best, *search.tried))
    asked = list(told)[:MOST_PLACED]
    if finished:
        search.complete(asked)
    pricing, wanted = search.pricing, len(search.require) * (1 + len(search.sides))
    placed = []
    for choice in asked:
        verdicts = search.asked(choice)
        # its cost and its risks, if everything about it was measured
        if len(verdicts) >= wanted and (finished or pricing.labels_tell(pricing.utility)):
            cost = pricing.priced(pricing.utility, choice)
            if isfinite(cost):
                placed.append(((cost, *(verdict.danger for verdict in verdicts.values())), choice, verdicts))
    return [
        {
            "levels": search.rollup.named(choice),
            "cost": score[0],
            "risks": {requirement: finite(verdict.value) for requirement, verdict in verdicts.items()},
            "safe": all(verdict.safe for verdict in verdicts.values()),
            **({"suppressed": search.shown(choice).n_suppressed} if search.allowed and finished else {}),
        }
        for score, choice, verdicts in sorted(placed, key=lambda point: (point[0][0], point[1]))
        if not any(
            other != score and all(a <= b for a, b in zip(other, score, strict=True))
            for other, _, _ in placed
        )
    ]
