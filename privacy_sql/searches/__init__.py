"""Ways to walk a space of choices. A search sees a space, answers and costs; never SQL, tables or criteria.

In: the lattice, `decide` (choices in, answers out, several at once so that an engine can answer them in one
statement), an `Objective` and `Limits`. Out: what it `Found`. Read `exhaustive.py` first; each search is a
file of its name.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from privacy_sql.spaces.lattice import Choice, Lattice
from privacy_sql.spaces.tags import Answer

Step = TypeVar("Step", bound=Hashable)
Decide = Callable[[Sequence[Choice]], Sequence[Answer]]


class Objective(Protocol):
    """What a choice costs; the search minimises it."""

    @property
    def monotone(self) -> bool:
        """Whether a coarser choice never costs less (then the best safe choice is a minimal one)."""

    @property
    def level_bounds(self) -> Sequence[Sequence[float]] | None:
        """One number per attribute and level; no choice as coarse or coarser costs less than their sum."""

    def cost(self, choice: Choice) -> tuple[float, ...]:
        """The cost, then what breaks ties."""

    def raise_floor(self, choice: Choice, floor: npt.NDArray[np.float64]) -> bool:
        """Raise the bounds of finer choices by what this one showed; False where nothing follows."""


@dataclass(frozen=True)
class Limits:
    """When a search has to stop: `stop` gives the reason, in words, or None to go on.

    >>> Limits().reason(explored=10) is None
    True
    """

    stop: Callable[[], str | None] = lambda: None
    budget: int | None = None
    progress: Callable[[int, int], None] = lambda done, total: None
    # what an interrupt was: that of a person, or the alarm of a limit
    interrupt: Callable[[], str] = lambda: "interrupted"

    def reason(self, explored: int) -> str | None:
        """Why the search must stop now, or None."""
        if self.budget is not None and explored >= self.budget:
            return "node budget"
        return self.stop()


@dataclass(frozen=True)
class Found:
    """What a search knows at its end; everything in it was decided, nothing guessed.

    `optimal` is said only when no choice that is still undecided could cost less than `best`; `complete` only
    when `minimal` holds every minimal safe choice of the space. `known` says of which choices it is known
    whether they are safe, where they were tagged one by one.
    """

    choices: int
    explored: int
    minimal: tuple[Choice, ...] = ()
    complete: bool = False
    best: Choice | None = None
    cost: tuple[float, ...] | None = None
    optimal: bool = False
    safe_choices: int | None = None
    undecided: int = 0
    gap: float | None = None
    stopped: str | None = None
    known: Mapping[Choice, bool] = field(default_factory=dict, repr=False, compare=False)


@dataclass
class Incumbent:
    """The cheapest safe choice met so far.

    >>> best = Incumbent()
    >>> best.offer((1, 0), (0.5,)), best.offer((0, 1), (0.7,)), best.choice
    (True, False, (1, 0))
    """

    choice: Choice | None = None
    cost: tuple[float, ...] | None = None
    priced: dict[Choice, tuple[float, ...]] = field(default_factory=dict)

    def offer(self, choice: Choice, cost: tuple[float, ...]) -> bool:
        """Take the choice when it is cheaper; ties go to the lower sum of levels, then the smaller tuple."""
        self.priced[choice] = cost
        if self.cost is not None and self.choice is not None:
            held = (self.cost, sum(self.choice), self.choice)
            if (cost, sum(choice), choice) >= held:
                return False
        self.choice, self.cost = choice, cost
        return True

    def excludes(self, bound: float) -> bool:
        """Whether nothing with this lower bound can beat, or tie with, the choice held."""
        return bound > self.ceiling

    @property
    def ceiling(self) -> float:
        """The cost held and a little more, because sums of the same floats may differ in the last bits."""
        return float("inf") if self.cost is None else self.cost[0] + 1e-9 * max(1.0, abs(self.cost[0]))


class Steps(Protocol[Step]):
    """A space without levels: where to begin, and what is one step further or one step back."""

    @property
    def start(self) -> Step:
        """Where every search begins."""

    def larger(self, choice: Step) -> Iterable[Step]:
        """The choices that say a little more; they cost less."""

    def smaller(self, choice: Step) -> Iterable[Step]:
        """The choices that say a little less."""


@dataclass(frozen=True)
class Reached(Generic[Step]):
    """The best safe choice a walk over `Steps` met, how many it looked at, and whether none can be better."""

    best: Step | None
    explored: int
    optimal: bool = False
    stopped: str | None = None


def bound_of(objective: Objective, choice: Choice) -> float:
    """The lower bound for a choice and everything coarser; minus infinity where none is known."""
    if objective.level_bounds is None:
        return float("-inf")
    return sum(parts[level] for parts, level in zip(objective.level_bounds, choice, strict=True))


__all__ = [
    "Answer",
    "Choice",
    "Decide",
    "Found",
    "Incumbent",
    "Lattice",
    "Limits",
    "Objective",
    "Reached",
    "Step",
    "Steps",
    "bound_of",
]
