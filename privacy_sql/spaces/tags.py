"""What is known so far about every choice of a lattice: safe, unsafe, set aside, or still open.

Kohlmayer et al. 2012 (Flash), predictive tagging: one answer settles every coarser or every finer choice too,
as far as the answer itself says that it carries over.
"""

from __future__ import annotations

from collections.abc import Container
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from privacy_sql.spaces.lattice import Choice, Lattice

OPEN, SAFE, UNSAFE, ASIDE = 0, 1, 2, 3


class Answer(NamedTuple):
    """What a check says about one choice, and how far that carries.

    Martin et al. 2007, Theorem 14: under merging a safe choice makes all coarser ones safe and an unsafe one
    all finer ones unsafe. Where that is not proved (no merging property, some suppression) the one who
    answers sets `carries` to False, and the answer settles this choice only.
    """

    safe: bool
    carries: bool = True


class Tags:
    """The state of every choice of a lattice of moderate size, one byte each.

    >>> tags = Tags(Lattice.of_heights([1, 2]))
    >>> tags.learn((0, 1), Answer(safe=True))
    >>> tags.known((1, 2)), tags.known((0, 0)), tags.n_open
    (True, None, 2)
    """

    def __init__(self, lattice: Lattice) -> None:
        self.lattice = lattice
        self.state = np.zeros(lattice.shape, dtype=np.int8)
        self._order = lattice.from_coarse_to_fine()
        self._cursor = 0

    @property
    def n_open(self) -> int:
        """How many choices nothing is known about."""
        return int(np.count_nonzero(self.state == OPEN))

    @property
    def n_safe(self) -> int | None:
        """How many choices are safe, once every choice is known to be safe or not."""
        if ((self.state == OPEN) | (self.state == ASIDE)).any():
            return None
        return int(np.count_nonzero(self.state == SAFE))

    def known(self, choice: Choice) -> bool | None:
        """True or False when the choice is settled, None when it is open or set aside."""
        return {SAFE: True, UNSAFE: False}.get(int(self.state[choice]))

    def is_open(self, choice: Choice) -> bool:
        """Whether an answer about this choice would be news that is wanted."""
        return bool(self.state[choice] == OPEN)

    def learn(self, choice: Choice, answer: Answer) -> None:
        """Note an answer, and everything that follows from it."""
        settled: Choice | tuple[slice, ...] = choice
        if answer.carries and answer.safe:
            settled = tuple(map(slice, choice, self.lattice.shape))
        elif answer.carries:
            settled = tuple(slice(level + 1) for level in choice)
        self.state[settled] = SAFE if answer.safe else UNSAFE

    def set_aside(self, mask: npt.NDArray[np.bool_]) -> None:
        """Stop asking about open choices that cannot matter any more; their safety stays unknown."""
        self.state[mask & (self.state == OPEN)] = ASIDE

    def coarsest_open(self, besides: Container[Choice] = ()) -> Choice | None:
        """An open choice with the highest sum of levels, none of those named, or None when there is none."""
        flat = self.state.reshape(-1)
        while self._cursor < len(self._order) and flat[self._order[self._cursor]] != OPEN:
            ahead = flat[self._order[self._cursor : self._cursor + 4096]] == OPEN
            # what is settled never opens again
            self._cursor += int(ahead.argmax()) if ahead.any() else len(ahead)
        for start in range(self._cursor, len(self._order), 4096):
            window = self._order[start : start + 4096]
            for index in window[flat[window] == OPEN]:
                choice = self.lattice.position(int(index))
                if choice not in besides:
                    return choice
        return None

    def settled(self) -> dict[Choice, bool]:
        """Every choice that is known to be safe or not, in lexicographic order."""
        places = np.argwhere((self.state == SAFE) | (self.state == UNSAFE))
        safe = self.state[tuple(places.T)] == SAFE
        return dict(zip(map(tuple, places.tolist()), safe.tolist(), strict=True))

    def safe_choices(self) -> list[Choice]:
        """The choices known to be safe, in lexicographic order."""
        return list(map(tuple, np.argwhere(self.state == SAFE).tolist()))

    def minimal_safe(self) -> list[Choice]:
        """The choices known to be safe that have no finer choice known to be safe.

        Martin et al. 2007, Sec. 3.4: the minimally sanitized ones, once nothing is open.
        """
        safe = self.state == SAFE
        below = np.zeros_like(safe)  # is there a safe choice strictly finer?
        for axis in range(safe.ndim):
            reach = np.maximum.accumulate(safe | below, axis=axis)
            step = [slice(None)] * safe.ndim
            back = [slice(None)] * safe.ndim
            step[axis], back[axis] = slice(1, None), slice(None, -1)
            below[tuple(step)] |= reach[tuple(back)]
        return list(map(tuple, np.argwhere(safe & ~below).tolist()))
