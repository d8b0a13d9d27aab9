"""How far a release moves the belief about each of its people: Li, Li and Zhang 2009, Definition 1."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from privacy_sql.display.progress import report
from privacy_sql.kernels.beliefs.posterior import (
    SINKHORN_SWEEPS,
    STATE_CAP,
    count_states,
    exact_posterior,
    swept,
)

Array = NDArray[Any]
Measure = Callable[[Array, Array], Array]
Method = Literal["exact", "estimate", "omega", "sinkhorn"]

Decided = dict[bytes, tuple[Any, str]]  # kinds, people and counts of a group -> beliefs, how known

MOST_KEPT = 50_000  # groups whose beliefs are kept for the next question

AT_ONCE = 16  # groups between two progress messages

EXACT, ESTIMATED, UNDECIDED, IMPOSSIBLE = "exact", "estimated", "undecided", "impossible"


@dataclass(frozen=True)
class Moves:
    """One entry per (group, kind of person): how far the belief moves; and per group how that is known.

    A move is nan in a group that is undecided (too many count vectors) or impossible under the prior.
    """

    moves: Array
    known: tuple[str, ...]


def group_moves(
    prior: Array,
    group: Array,
    kind: Array,
    people: Array,
    counts: Array,
    measure: Measure,
    method: Method = "exact",
    cap: int = STATE_CAP,
    known_before: Decided | None = None,
) -> Moves:
    """The move of belief of every kind of person in every group.

    `prior` has a row per kind (combination of quasi-identifiers) and a column per sensitive value. Entry i
    says that `people[i]` people of `kind[i]` are in `group[i]`, sorted by group; row g of `counts` is what
    group g publishes. The method "estimate" takes the larger move of Ω and Sinkhorn; the true move may be
    larger.
    """
    if method != "exact":
        before = prior[kind]
        moves = np.full(len(group), -np.inf)
        possible = np.ones(len(counts), dtype=bool)
        for sweeps in {"omega": [1], "sinkhorn": [SINKHORN_SWEEPS]}.get(method, [1, SINKHORN_SWEEPS]):
            found = swept(before, group, people, counts, sweeps)
            possible &= found.possible
            moves = np.maximum(moves, measure(before, found.values))  # nan stays where it is undefined
        moves[~possible[group]] = np.nan
        return Moves(moves, tuple(ESTIMATED if fine else IMPOSSIBLE for fine in possible))
    after, known = exact_posteriors(prior, group, kind, people, counts, cap, known_before)
    return Moves(measure(prior[kind], after), known)


def exact_posteriors(
    prior: Array,
    group: Array,
    kind: Array,
    people: Array,
    counts: Array,
    cap: int = STATE_CAP,
    known_before: Decided | None = None,
) -> tuple[Array, tuple[str, ...]]:
    """The exact posterior of every kind of person in every group (nan: none), and how it is known.

    A search meets the same groups again and again, so `known_before` keeps what was decided under this prior.
    """
    ends = np.searchsorted(group, np.arange(len(counts) + 1))
    after = np.full((len(group), prior.shape[1]), np.nan)
    decided = {} if known_before is None else known_before
    known = []
    for g, n in enumerate(counts):
        if g % AT_ONCE == 0:
            report("beliefs about the people of each group", g, len(counts))
        here = slice(int(ends[g]), int(ends[g + 1]))
        content = b"".join(part.tobytes() for part in (kind[here], people[here], n))
        found = decided.get(content) or _exact(prior[kind[here]], people[here], n, cap)
        after[here], how = found
        known.append(how)
        if how != UNDECIDED and len(decided) < MOST_KEPT:
            decided[content] = found
    return after, tuple(known)


def _exact(rows: Array, people: Array, counts: Array, cap: int) -> tuple[Any, str]:
    """The posterior of every kind of person in one group, and how it is known.

    The worlds can be counted from either side: values are assigned to people, or kinds of people to values.
    Both give the same count, so the side with fewer count vectors is used.
    """
    if alike(rows, counts):
        return counts / counts.sum(), EXACT
    by_value, by_kind = count_states(counts), count_states(people)
    if min(by_value, by_kind) > cap:
        return np.nan, UNDECIDED
    if by_value <= by_kind:
        found = exact_posterior(np.repeat(rows, people, axis=0), counts, cap)
        each = None if found.values is None else found.values[np.cumsum(people) - people]
    else:
        found = exact_posterior(np.repeat(rows.T, counts, axis=0), people, cap)
        each = None
        if found.values is not None:
            # beliefs about people from beliefs about values: n_s copies of s, a share of them in each kind
            each, some = np.zeros((len(people), len(counts))), counts > 0
            first = (np.cumsum(counts) - counts)[some]
            each[:, some] = (found.values[first] * counts[some][:, None]).T / people[:, None]
    return (np.nan, IMPOSSIBLE) if each is None or found.flags else (each, EXACT)


def alike(rows: Array, counts: Array) -> bool:
    """Whether the adversary's prior over the published values is the same for everybody in the group.

    Then all assignments are equally likely, and the posterior is the share n_i/k (the t-closeness adversary,
    and every group of one kind of person) without visiting a single count vector.
    """
    part = rows[:, counts > 0]
    return bool((part > 0).all() and (part == part[0]).all())
