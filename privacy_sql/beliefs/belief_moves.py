"""How far a release moves beliefs, group by group: li2009, Def. 1, on a counted table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from privacy_sql.beliefs import beliefs, studied_table
from privacy_sql.beliefs.resemblance import Matrix
from privacy_sql.errors import UsageError
from privacy_sql.hierarchies import Hierarchy
from privacy_sql.kernels.beliefs import distance as distances
from privacy_sql.kernels.beliefs.kernel_prior import Array
from privacy_sql.kernels.beliefs.move import Decided, Method, group_moves
from privacy_sql.kernels.beliefs.posterior import count_states
from privacy_sql.verdict import TOLERANCE

if TYPE_CHECKING:
    from privacy_sql.counted.base import Base
    from privacy_sql.kernels.beliefs.kernel_prior import Number

Row = Mapping[str, Any]
SMOOTHING = Fraction(3, 4)


def studied(base: Base, unknown: frozenset[str] = frozenset()) -> studied_table.Studied:
    """The table as an adversary sees it who does not know some columns, read once per base."""
    return base.memory.once(("studied", unknown), lambda: studied_table.studied(base, unknown=unknown))


def states(table: studied_table.Studied) -> int:
    """Count vectors of the whole table as one group."""
    counts = np.bincount(table.sensitive, table.counts, len(table.values)).astype(int)
    return min(count_states(counts.tolist()), count_states(table.counts.tolist()))


@dataclass(frozen=True)
class BeliefDistance:
    """A distance of beliefs and its name."""

    name: str
    between: Callable[[Any, Any], Any]


def measured(
    table: studied_table.Studied,
    name: str,
    given: Hierarchy | Matrix | bool | None,
    bandwidth: Number | str | None,
    normalise: distances.Normalise,
    log_base: int | str,
) -> BeliefDistance:
    """The distance of that name; by default smoothed_js if sensitive values can be smoothed, otherwise js.

    `given` distances of sensitive values replace the table's own; `bandwidth` is for smoothing.
    """
    apart: Array | None = None
    if name in ("", "smoothed_js", "emd"):
        if given is None or isinstance(given, bool):
            apart = studied_table.sensitive_distances(table)
        else:
            apart = studied_table.given_distances(table, given)
    smoothing = SMOOTHING if bandwidth is None else bandwidth
    if (
        not name
        and apart is not None
        and (bandwidth is not None or bool(((apart > 0) & (apart < float(smoothing))).any()))
    ):
        name = "smoothed_js"
    if name == "smoothed_js":
        return BeliefDistance("smoothed_js", _smoothed(table, apart, smoothing, normalise, log_base))
    m = len(table.values)
    carried = 1 - np.eye(m, dtype=int) if apart is None else apart[:m, :m]
    between: dict[str, Callable[[Any, Any], Any]] = {
        "js": partial(distances.jensen_shannon, log_base=log_base),
        "kl": partial(distances.kullback_leibler, log_base=log_base),
        "tv": distances.total_variation,
        "emd": partial(distances.earth_movers_each, distances=carried),
    }
    return BeliefDistance(name or "js", between[name or "js"])


def _smoothed(
    table: studied_table.Studied,
    apart: Array | None,
    bandwidth: Number | str,
    normalise: distances.Normalise,
    log_base: int | str,
) -> Callable[[Any, Any], Any]:
    if apart is None:
        raise UsageError(
            "no_distances",
            f"smoothing needs distances between values of {table.base.table.sensitives[0]}",
            hint="Give the sensitive column a hierarchy or a distance matrix, or use distance=js.",
        )
    try:
        distances.check_smoothing_bandwidth(apart, bandwidth)
        weights = distances.smoothing_weights(apart, bandwidth, normalise)
    except UsageError as problem:
        problem.where = "smoothing"
        raise
    return partial(
        distances.jensen_shannon_smoothed_by,
        weights=weights[:, : len(table.values)].astype(float),  # an absent value has no belief
        renormalise=normalise == "after",
        log_base=log_base,
    )


NO_PRIOR = "without a prior"  # the label of a group with somebody the adversary has no belief about


def rows(
    table: studied_table.Studied,
    groups: beliefs.PublishedGroups,
    number: int,
    prior: beliefs.Prior,
    decided: Decided,
    t: Fraction,
    measure: BeliefDistance,
    method: str,
    cap: int,
) -> list[Row]:
    """One row of evidence per group; a move that is not a finite number fails."""
    before = prior.beliefs.astype(float)
    # a prior from the table itself covers everybody, because each person resembles themselves
    unknown = np.isnan(before).any(axis=1)
    found = group_moves(
        np.where(unknown[:, None], 0.0, before),
        groups.group,
        groups.kind,
        groups.people,
        groups.counts,
        measure.between,
        cast(Method, method),
        cap,
        decided,
    )
    # if one person has no belief, the whole group is undecided
    people_without = _people(groups, unknown[groups.kind])
    open_groups = np.array(people_without, dtype=bool)
    moves = np.where(open_groups[groups.group], np.nan, found.moves)
    # the largest move in each group; None if a move is not a finite number
    largest = np.full(len(groups.numbers), -np.inf)
    with np.errstate(invalid="ignore"):
        np.maximum.at(largest, groups.group, moves)
    told = {
        "g": groups.numbers.tolist(),
        "n_people": _people(groups, np.True_),
        "risk": [float(move) if np.isfinite(move) else None for move in largest],
        "known": [NO_PRIOR if open_ else how for open_, how in zip(open_groups, found.known, strict=True)],
        "n_over": _people(groups, moves > float(t) - TOLERANCE),
        "n_unknown": _people(groups, np.isnan(moves)),
        "n_without": people_without,
    }
    how = {"point": number, "prior": prior.path, "distance": measure.name}
    return [{**how, **dict(zip(told, row, strict=True))} for row in zip(*told.values(), strict=True)]


def _people(groups: beliefs.PublishedGroups, where: Array | np.bool) -> list[int]:
    """How many people of each group are of the marked kinds."""
    marked = np.bincount(groups.group, groups.people * where, len(groups.numbers))
    return [int(n) for n in marked]


def within(risk: float, t: Fraction) -> bool:
    """Whether a move is certainly within its limit; logarithms have no exact form."""
    return risk <= float(t) - TOLERANCE
