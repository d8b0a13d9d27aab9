"""What the adversary believes after the release: Li, Li and Zhang 2009, Sec. III.

A group publishes k people and the multiset of their sensitive values, not who has which. All functions take
the prior as k rows over m values and the published counts n_1..n_m, as floats or as fractions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privacy_sql.errors import Undecided, UsageError

Array = NDArray[Any]

STATE_CAP = 2_000_000
"""Count vectors that the exact posterior may visit in numpy; a group with more is undecided."""

SMALL = 2_000
"""Count vectors up to which their order is kept for the next group with the same counts."""

SINKHORN_SWEEPS = 100
SINKHORN_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Posterior:
    """Beliefs per person, the likelihood P(S|E) over distinct assignments, and what went wrong.

    `values` is None when the release cannot have happened under this prior; a single row is None (nan among
    floats) when the estimate says nothing about this person.
    """

    values: Array | None
    likelihood: Fraction | float | None = None
    log10_likelihood: float | None = None
    flags: tuple[str, ...] = field(default=())


def count_states(counts: Sequence[int] | Array) -> int:
    """Count vectors between nothing and everything assigned: Π (n_i + 1)."""
    return math.prod(int(n) + 1 for n in counts)


def exact_posterior(prior: Array, counts: Sequence[int] | Array, cap: int = STATE_CAP) -> Posterior:
    """P*(s_i|t_j) by Bayes over all distinct assignments: Li et al. 2009, Sec. III.C.

    P(s_i|t_j) · L(S∖s_i | E∖t_j) / L(S|E), with L the sum over distinct assignments. Differs from the paper:
    eq. (3) has a factor n_i besides, which is right only if L were a permanent. Differs in cost as well:
    instead of k!/Π n_i! assignments it visits Π (n_i+1) count vectors, polynomial in k for a fixed m.

    >>> half = [Fraction(1, 2), Fraction(1, 2)]
    >>> exact_posterior(np.array([half, half], dtype=object), [1, 1]).likelihood
    Fraction(1, 2)
    """
    table, n = _checked(prior, counts)
    # the rarest value first, so that groups with the same counts walk the same vectors
    present = sorted((i for i, c in enumerate(n) if c > 0), key=n.__getitem__)
    states = count_states(n)
    if states > cap:
        raise Undecided(
            "too_many_states", f"the group is undecided: {states:,} count vectors, {cap:,} allowed"
        )
    values = np.zeros_like(table)
    exact = table.dtype == object
    if exact:
        values[...] = Fraction(0)
    # rows are divided by their largest entry, so that long products survive
    part = table[:, present]
    top = np.array([t if t > 0 else 1 for t in part.max(axis=1)], dtype=table.dtype)
    part = part / top[:, None]
    log = float(sum(math.log(t) for t in top))
    scale = math.prod(top, start=Fraction(1)) if exact else Fraction(1)
    shape = [n[i] + 1 for i in present]
    beliefs, log_sum, mass = _forward_backward(part, shape, exact)
    if beliefs is None:
        return Posterior(None, Fraction(0) if exact else 0.0, None, ("impossible_group",))
    values[:, present] = beliefs
    log10 = (log + log_sum) / math.log(10)
    likelihood = mass * scale if exact else math.exp(max(log + log_sum, -745.0))
    off = np.abs(np.asarray(values.sum(axis=0) - np.array(n), dtype=float)).max()
    flags = () if off < 1e-6 * len(table) else ("columns_do_not_sum_to_counts",)
    return Posterior(values, likelihood, log10, flags)


def _checked(prior: Array, counts: Sequence[int] | Array) -> tuple[Array, list[int]]:
    table = np.asarray(prior)
    if table.dtype != object:
        table = table.astype(float)
    n = [int(c) for c in counts]
    if table.ndim != 2 or table.shape[1] != len(n):
        raise UsageError(
            "bad_prior", f"The prior has one column per count: {len(n)} counts, shape {table.shape}"
        )
    if min(n, default=0) < 0 or sum(n) != len(table) or not n:
        raise UsageError(
            "bad_prior", f"The counts are 0 or more and sum to the {len(table)} people of the group"
        )
    if table.dtype == object:
        known = all(cell is not None and 0 <= cell < math.inf for cell in table.ravel())
    else:
        known = bool(np.all((table >= 0) & (table < np.inf)))
    if not known:
        raise UsageError("bad_prior", "A prior is 0 or more everywhere; somebody here has none")
    return table, n


def _forward_backward(part: Array, shape: list[int], exact: bool) -> tuple[Array | None, float, Any]:
    """Beliefs over the values that occur, log of the likelihood, and the likelihood itself when exact.

    A count vector c with |c| = j is reached only after j people, so one array over all vectors, sorted by
    |c|, holds every layer. `before[c]` sums what the first |c| people do with c, `after[c]` the last |c|.
    """
    steps, ends = (_small_steps if math.prod(shape) <= SMALL else _steps)(tuple(shape))
    before, log_before = _sweep(part, steps, ends, exact)
    after, _ = _sweep(part[::-1], steps, ends, exact)
    states = steps.shape[1]
    if not before[states - 1] > 0:
        return None, -math.inf, 0
    beliefs = np.empty_like(part)
    for j in range(len(part)):
        low, high = ends[j], ends[j + 1]
        # what is left after the first j people took c is as far from the end as c is from the beginning
        taken = before[low:high][::-1]
        left = [after[step[states - high : states - low]] for step in steps]
        row = part[j] * np.array([(taken * rest).sum() for rest in left])
        beliefs[j] = row / row.sum()
    top = Fraction(before[states - 1])  # 1 after rescaling, the likelihood itself among fractions
    return beliefs, log_before + math.log(top.numerator) - math.log(top.denominator), before[states - 1]


def _steps(shape: tuple[int, ...]) -> tuple[NDArray[np.int32], list[int]]:
    """For each value i the index of every count vector with one i less; and where each layer ends.

    Vectors are sorted by their sum and then as numbers, so that a vector and what it leaves mirror each
    other. Where there is no smaller vector the index is one past the end.
    """
    total = np.zeros(1, dtype=np.int16)  # numpy uses a radix sort for so few bits
    for size in shape:
        total = np.add.outer(total, np.arange(size, dtype=np.int16)).ravel()
    order = np.argsort(total, kind="stable")
    states = len(order)
    place = np.empty(states, dtype=np.int32)
    place[order] = np.arange(states, dtype=np.int32)
    steps = np.empty((len(shape), states), dtype=np.int32)
    stride = states
    for i, size in enumerate(shape):
        stride //= size
        less = np.full((states // stride // size, size, stride), states, dtype=np.int32)
        less[:, 1:] = place.reshape(less.shape)[:, :-1]
        steps[i] = less.ravel()[order]
    return steps, [0, *np.cumsum(np.bincount(total)).tolist()]


_small_steps = lru_cache(maxsize=256)(_steps)


def _sweep(part: Array, steps: NDArray[np.int32], ends: list[int], exact: bool) -> tuple[Array, float]:
    """Likelihood of each count vector c for the first |c| rows; the last slot, a zero, is no vector."""
    reached = np.zeros(steps.shape[1] + 1, dtype=object if exact else float)
    reached[0] = Fraction(1) if exact else 1.0
    log = 0.0
    for row, low, high in zip(part, ends[1:-1], ends[2:], strict=True):
        here = reached[steps[0, low:high]] * row[0]
        for believed, step in zip(row[1:], steps[1:], strict=True):
            here += reached[step[low:high]] * believed
        if not exact:
            top = here.max()
            if not top > 0:
                break
            here, log = here / top, log + math.log(top)
        reached[low:high] = here
    return reached, log


def omega_estimate(prior: Array, counts: Sequence[int] | Array) -> Posterior:
    """Ω(s_i|t_j): each value shared out by prior belief, each person normalised: Li et al. 2009, eq. (5).

    Linear in the group and not exact: for Table II it gives 39/67 where the truth is 57/71. A value without
    any prior mass contributes nothing and is flagged; a person left without a value has no estimate.

    >>> omega_estimate(np.array([[0.0, 1], [0, 1], [0.3, 0.7]]), [1, 2]).values[2].round(4).tolist()
    [0.6585, 0.3415]
    """
    table, n = _checked(prior, counts)
    exact = table.dtype == object
    column = table.sum(axis=0)
    share = [
        (Fraction(c) if exact else float(c)) / s if s > 0 else 0 * s for c, s in zip(n, column, strict=True)
    ]
    return _rows_normalised(table * np.array(share, dtype=table.dtype), _massless(n, column))


def _massless(n: Sequence[int], column: Array) -> list[str]:
    return [
        f"value_{i}_has_no_prior_mass"
        for i, (c, s) in enumerate(zip(n, column, strict=True))
        if c > 0 and not s > 0
    ]


def _rows_normalised(weighted: Array, flags: list[str]) -> Posterior:
    total = weighted.sum(axis=1)
    values = np.full(weighted.shape, None if weighted.dtype == object else np.nan, dtype=weighted.dtype)
    known = np.asarray(total > 0, dtype=bool)
    values[known] = weighted[known] / total[known][:, None]
    lost = [f"person_{j}_has_no_value" for j in np.flatnonzero(~known)]
    return Posterior(values, flags=(*flags, *lost))


def sinkhorn_estimate(
    prior: Array, counts: Sequence[int] | Array, sweeps: int = SINKHORN_SWEEPS
) -> Posterior:
    """Ω repeated until the columns sum to the published counts; one sweep is Ω (Li et al. 2009, eq. (5)).

    Like Ω, it is no upper bound of the truth. Flagged when it does not converge, which happens when the prior
    rules out so much that some beliefs go to 0.
    """
    table, n = _checked(prior, counts)
    k = len(table)
    found = swept(table.astype(float), np.zeros(k, dtype=int), np.ones(k, dtype=int), np.array([n]), sweeps)
    flags = _massless(n, table.sum(axis=0)) + ([] if found.converged[0] else ["did_not_converge"])
    return _rows_normalised(np.nan_to_num(found.values), flags)


@dataclass(frozen=True)
class Swept:
    """Estimates for all groups at once; `possible` is False where a value or a person cannot be placed."""

    values: Array
    possible: Array
    converged: Array


def swept(prior: Array, group: Array, people: Array, counts: Array, sweeps: int = 1) -> Swept:
    """Ω (one sweep) or Sinkhorn (many) for every group at once: Li et al. 2009, eq. (5).

    Row i of `prior` is the prior of `people[i]` people of `group[i]`, sorted by group.
    """
    starts = np.searchsorted(group, np.arange(len(counts)))
    current, goal = np.array(prior, dtype=float), np.asarray(counts, dtype=float)
    possible = np.ones(len(counts), dtype=bool)
    off = np.zeros(len(counts))
    for _ in range(sweeps):
        column = np.add.reduceat(current * people[:, None], starts, axis=0)
        possible &= ~((goal > 0) & ~(column > 0)).any(axis=1)
        current *= np.divide(goal, column, out=np.zeros_like(goal), where=column > 0)[group]
        total = current.sum(axis=1, keepdims=True)
        current = np.divide(current, total, out=np.full_like(current, np.nan), where=total > 0)
        off = np.abs(np.add.reduceat(current * people[:, None], starts, axis=0) - goal).max(axis=1)
        if np.nan_to_num(off).max(initial=0.0) <= SINKHORN_TOLERANCE:
            break
    return Swept(current, possible & ~np.isnan(off), off <= SINKHORN_TOLERANCE)


def group_posterior(prior: Array, counts: Sequence[int] | Array, method: str = "exact") -> Posterior:
    """The posterior by name: exact, omega or sinkhorn."""
    methods = {"exact": exact_posterior, "omega": omega_estimate, "sinkhorn": sinkhorn_estimate}
    if method not in methods:
        raise UsageError("bad_prior", f'Unknown posterior "{method}": use one of {", ".join(methods)}')
    return methods[method](prior, counts)


def posterior_over_groups(
    group_counts: Sequence[Mapping[Any, int]], prior: Mapping[Any, Any]
) -> dict[Any, Any] | None:
    """Belief about a person known to be in one group of each release: ∝ P(s) · Π_g share_g(s) / P(s).

    Not in the paper: each group is independent evidence of the same person. None when no value is left.

    >>> posterior_over_groups([{"a": 1, "b": 1}, {"a": 1}], {"a": Fraction(1, 2), "b": Fraction(1, 2)})
    {'a': Fraction(1, 1), 'b': Fraction(0, 1)}
    """
    weight = {}
    for value, belief in prior.items():
        weight[value] = belief
        for counts in group_counts:
            size = sum(counts.values())
            share = Fraction(int(counts.get(value, 0)), int(size)) if size else Fraction(0)
            weight[value] = weight[value] * share / belief if belief else 0 * belief
    total = sum(weight.values())
    return {value: w / total for value, w in weight.items()} if total else None
