"""Ask about every choice: for criteria that allow no pruning, and as the reference for the other searches."""

from __future__ import annotations

from dataclasses import dataclass

from privacy_sql.searches import Decide, Found, Incumbent, Lattice, Limits, Objective, bound_of
from privacy_sql.spaces.tags import Answer, Tags


@dataclass(frozen=True)
class Exhaustive:
    """Every choice of the lattice decided on its own, those that may cost least first.

    Martin et al. 2007, Sec. 3.4, footnote: the search that needs no theorem. Refuses above `max_choices`.
    """

    max_choices: int = 100_000
    width: int = 1

    def choose(
        self, lattice: Lattice, decide: Decide, objective: Objective, limits: Limits | None = None
    ) -> Found:
        """All minimal safe choices and the cheapest one, without using that safety carries over."""
        if lattice.size > self.max_choices:
            raise ValueError(f"{lattice.size} choices are too many to ask about one by one.")
        limits = limits or Limits()
        tags, best, explored, stopped = Tags(lattice), Incumbent(), 0, None
        order = sorted(
            lattice.choices(), key=lambda choice: (bound_of(objective, choice), sum(choice), choice)
        )
        for start in range(0, len(order), self.width):
            batch = order[start : start + self.width]
            stopped = limits.reason(explored)
            if stopped:
                break
            for choice, answer in zip(batch, decide(batch), strict=True):
                tags.learn(choice, Answer(answer.safe, carries=False))
                if answer.safe:
                    best.offer(choice, objective.cost(choice))
            explored += len(batch)
            limits.progress(explored, lattice.size)
        return Found(
            choices=lattice.size,
            explored=explored,
            minimal=tuple(tags.minimal_safe()),
            complete=stopped is None,
            best=best.choice,
            cost=best.cost,
            optimal=best.choice is not None and stopped is None,
            safe_choices=tags.n_safe,
            undecided=tags.n_open,
            stopped=stopped,
        )
