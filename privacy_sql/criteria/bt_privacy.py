"""(B,t)-privacy: an adversary who studied the data learns little more about anybody from the release."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from privacy_sql.beliefs import belief_moves, beliefs, studied_table
from privacy_sql.beliefs.own_priors import Believed, OwnPrior, own_prior
from privacy_sql.criteria import Criterion, Row, Splits, exact, one_of
from privacy_sql.errors import UsageError, number_of, people
from privacy_sql.kernels.beliefs import distance as distances
from privacy_sql.kernels.beliefs.move import ESTIMATED, EXACT, IMPOSSIBLE, UNDECIDED
from privacy_sql.kernels.beliefs.posterior import STATE_CAP
from privacy_sql.verdict import TOLERANCE, Verdict, Witness

if TYPE_CHECKING:
    from privacy_sql.counted.base import Base
    from privacy_sql.counted.grouping import Grouping

POSTERIORS = ("exact", "estimate", "omega", "sinkhorn")
MEASURES = ("js", "smoothed_js", "kl", "emd", "tv")
SEARCH_CAP = 20_000  # the most count vectors per group while a search cuts


@dataclass(frozen=True)
class Point:
    """One adversary of the skyline: bandwidth, limit, and the largest move in each group.

    The move is None if it is unknown. `vulnerable` people are above the limit for certain; `unknown` people
    are in groups that are undecided or impossible.
    """

    bandwidth: Any
    t: Fraction
    group_risk: tuple[float | None, ...]
    max_risk: float | None
    satisfied: bool
    vulnerable: int
    unknown: int
    worst: Row


@dataclass(frozen=True)
class BTPrivacy(Criterion):
    """For every point (B, t) no belief moves by more than t; `value` is the largest move.

    li2009, Def. 1 and 2. Unlike in the paper, the posterior is exact by default, over count vectors; a group
    with too many of them is undecided, which is not safe. Merging two groups can raise the largest move, so
    no search may prune on it. It is not monotone in B either: the skyline does not cover adversaries between
    two of its points, so the points should be close together.
    """

    name: ClassVar[str] = "bt_privacy"
    question: ClassVar[str] = "How much does somebody who studied the data learn about one person?"
    against: ClassVar[str] = (
        "somebody who studied how sensitive values depend on quasi-identifiers, at the stated bandwidths"
    )
    relation: ClassVar[str] = "<="
    needs_base: ClassVar[bool] = True
    cuts_may_help: ClassVar[bool] = True

    skyline: Any = ()  # [[bandwidth, t], ...]
    bandwidth: Any = None  # with t, the adversary's; beside a skyline, the smoothing's
    t: Any = None
    distance: str = ""
    posterior: str = "exact"
    smoothing: Any = None  # the smoothing bandwidth, or the distances of the sensitive values
    normalise: distances.Normalise = "after"
    log_base: Any = 2
    prior: Any = None  # {file: F} with stated beliefs, or {learned_from: {file: F}}

    def __post_init__(self) -> None:
        _ = self._own
        one_of(self.posterior, POSTERIORS, self.name, "posterior")
        one_of(self.distance or "js", MEASURES, self.name, "distance")
        one_of(self.normalise, distances.NORMALISATIONS, self.name, "normalise")
        one_of(str(self.log_base), ("2", "e"), self.name, "log_base")
        if bool(self.skyline) == (self.t is not None):
            raise UsageError("bad_parameter", "bt_privacy needs either a skyline or a bandwidth and t")
        if self._own is not None and not self._own.learned and (self.skyline or self.bandwidth is not None):
            # stated beliefs need no bandwidth
            told = f"a stated prior of {self.name} needs only t, because it does not depend on a bandwidth"
            hint = "Remove the bandwidth, or learn the prior: {learned_from: {file: other.csv}}."
            raise UsageError("bad_parameter", told, hint=hint)
        _ = self.points

    @property
    def _own(self) -> OwnPrior | None:
        return None if self.prior is None else own_prior(self.prior)

    def within(self, directory: Path) -> BTPrivacy:
        """The same requirement with the file of its prior relative to a folder."""
        return self if self._own is None else replace(self, prior=self._own.below(directory))

    @property
    def points(self) -> tuple[tuple[Any, Fraction], ...]:
        """The skyline as pairs of bandwidth and limit."""
        if not self.skyline:
            limit = exact(self.t, self.name, "t", 0, self._farthest)
            if self._own is not None and not self._own.learned:
                return ((self._own.name, limit),)
            if self.bandwidth is None:
                raise UsageError("bad_parameter", "bt_privacy needs a bandwidth as well as t")
            return ((_bandwidth(self.bandwidth), limit),)
        pairs = [(p["B"], p["t"]) if isinstance(p, dict) else p for p in self.skyline]
        if any(isinstance(p, str) or len(p) != 2 for p in pairs):
            raise UsageError("bad_parameter", "a point of the skyline must be [bandwidth, t]")
        limits = [exact(t, self.name, "t of the skyline", 0, self._farthest) for _, t in pairs]
        return tuple((_bandwidth(b), t) for (b, _), t in zip(pairs, limits, strict=True))

    @property
    def _farthest(self) -> int | None:
        """The largest possible distance; unknown for kl, emd, and smoothing that need not sum to 1."""
        return None if self.distance in ("kl", "emd") or self.normalise == "none" else 1

    @property
    def cannot_fail(self) -> bool:
        """In nats, no belief moves by more than ln 2."""
        if self._farthest is None or self.distance == "tv" or str(self.log_base) != "e":
            return False
        return all(t > math.log(2) + TOLERANCE for _, t in self.points)

    @property
    def params(self) -> dict[str, Any]:
        """The parameters as written, with the names of distances and files."""
        found = super().params
        if self._own is not None:
            found["prior"] = self._own.named()
        if not isinstance(found.get("smoothing"), str | int | float | Fraction | None):
            found["smoothing"] = "own_distances"
        return found

    def gather(self, grouping: Grouping, cap: int | None = None) -> list[Row]:
        """The largest move of belief in every group, for every point."""
        allowed = STATE_CAP if cap is None else cap
        memory = grouping.base.memory
        found = []
        for number, (bandwidth, t) in enumerate(self.points):
            own = None if self._own is None else (str(self._own.place), self._own.learned)
            # stated beliefs are about who knows every column
            unknown = grouping.unknown if self._own is None or self._own.learned else frozenset()
            adversary = (bandwidth, own, unknown)
            believed = memory.once(
                ("prior", adversary), partial(self._believed, grouping.base, bandwidth, unknown)
            )
            found += belief_moves.rows(
                believed.table,
                beliefs.published(grouping, believed.table),
                number,
                believed.prior,
                memory.once(("decided", adversary), dict),
                t,
                self.measure(believed.table),
                self.posterior,
                allowed,
            )
        return found

    def _believed(self, base: Base, bandwidth: beliefs.Bandwidth, unknown: frozenset[str]) -> Believed:
        """The beliefs of one point's adversary before the release, who may not know some columns."""
        table = belief_moves.studied(base, unknown)
        if self._own is None:
            return Believed(table, beliefs.prior(table, bandwidth))
        return self._own.believed(table, bandwidth)

    def splits(self, whole: Grouping) -> Splits[Any]:
        """Cuts are tried with exact posteriors if those are quick, otherwise with the larger estimate.

        Otherwise a search could never cut a large table, because its halves are undecided. The resulting
        partition is judged like any other.
        """
        return Cuts(
            replace(self, posterior="estimate") if self.posterior == "exact" else self, self.posterior
        )

    def beforehand(self, base: Base) -> str | None:
        """A warning before a search: exact posteriors leave large groups undecided."""
        if self.posterior != "exact" or belief_moves.states(belief_moves.studied(base)) <= STATE_CAP:
            return None
        return (
            f"{self} decides exactly up to {STATE_CAP:,} count vectors per group; larger groups are undecided"
            " and never safe. posterior=estimate decides them without a guarantee."
        )

    def measure(self, table: studied_table.Studied) -> belief_moves.BeliefDistance:
        """How a move is measured on this table."""
        bandwidth = self.bandwidth if self.skyline and self.bandwidth is not None else None
        given, name = self.smoothing, self.distance
        if given is not None and given is not False and name in ("", "js"):
            name = "smoothed_js"
        if isinstance(given, str | int | float | Fraction) and not isinstance(given, bool):
            bandwidth, given = given, None
        log_base = "e" if self.log_base == "e" else 2
        return belief_moves.measured(table, name, given, bandwidth, self.normalise, log_base)

    def judge(self, evidence: Sequence[Row]) -> Verdict:
        """The point with the least slack decides; one undecided or impossible group is enough to fail.

        >>> row = {
        ...     "point": 0,
        ...     "g": 3,
        ...     "n_people": 5,
        ...     "risk": 0.04,
        ...     "known": "exact",
        ...     "n_over": 0,
        ...     "n_unknown": 0,
        ... }
        >>> BTPrivacy(bandwidth="0.3", t="0.1").judge([row]).safe
        True
        """
        if not evidence:
            return self.verdict(
                None, Witness({}), "There are no groups.", safe=False, limit=self.points[0][1]
            )
        points = [self._point(number, evidence) for number in range(len(self.points))]
        slack = [-np.inf if p.max_risk is None else float(p.t) - p.max_risk for p in points]
        worst = min(range(len(points)), key=lambda i: (points[i].satisfied, slack[i]))
        known = [r["known"] for r in evidence if r["point"] == worst]
        point = points[worst]
        row = point.worst
        facts = {
            "point": worst + 1,
            "size": row["n_people"],
            **{f"{how}_groups": known.count(how) for how in (EXACT, ESTIMATED, UNDECIDED, IMPOSSIBLE)},
            "vulnerable_people": point.vulnerable,
            "unknown_people": point.unknown,
            "people_without_prior": sum(r.get("n_without", 0) for r in evidence if r["point"] == worst),
            "prior": row.get("prior", "dense"),
            "distance": row.get("distance", "js"),
        }
        return self.verdict(
            point.max_risk,
            Witness(facts, {"g": row["g"], "c": row.get("c")}),
            _story(facts, point, row, self._own),
            safe=all(p.satisfied for p in points),
            limit=point.t,
            exact=known.count(EXACT) == len(known),
            points=tuple(points),
            notes=self._notes(facts),
        )

    def failing(self, evidence: Sequence[Row]) -> list[int]:
        """The groups in which some belief moves too far or by an unknown amount."""
        limits = [t for _, t in self.points]
        safe = (
            row["risk"] is not None and belief_moves.within(row["risk"], limits[row["point"]])
            for row in evidence
        )
        return sorted({row["g"] for row, fine in zip(evidence, safe, strict=True) if not fine})

    def _point(self, number: int, evidence: Sequence[Row]) -> Point:
        bandwidth, t = self.points[number]
        rows = sorted((row for row in evidence if row["point"] == number), key=lambda row: row["g"])
        risks = tuple(row["risk"] for row in rows)
        largest = max((risk for risk in risks if risk is not None), default=None)
        over = largest is not None and not belief_moves.within(largest, t)
        if None in risks and not over:
            largest = None
        safe = bool(risks) and largest is not None and not over
        # the group that decides: the one with the largest move, or else the first with an unknown move
        return Point(
            bandwidth,
            t,
            risks,
            largest,
            safe,
            vulnerable=sum(row["n_over"] for row in rows),
            unknown=sum(row["n_unknown"] for row in rows),
            worst=next(row for row in rows if row["risk"] == largest),
        )

    def _notes(self, facts: Row) -> tuple[str, ...]:
        said = f"Distance {facts['distance']}, prior computed {facts['prior']}."
        if facts["people_without_prior"]:
            said += (
                f" {people(facts['people_without_prior'])} without a prior: nobody knows how far beliefs move"
                " in their groups, which are not safe. Add their combinations, or widen the bandwidth."
            )
        if facts["estimated_groups"]:
            estimated = number_of(facts["estimated_groups"], "group")
            said += f" exact: false for {estimated}: the posterior is an estimate."
        if facts["undecided_groups"]:
            said += (
                f" Undecided: {number_of(facts['undecided_groups'], 'group')} with more than {STATE_CAP:,}"
                " count vectors. Smaller groups or fewer sensitive values help; posterior=estimate guesses."
            )
        return (said,)


@dataclass(frozen=True)
class Cuts(Splits[set[int]]):
    """The parts of a group that a search may take: those that break no point in a quick check."""

    estimated: BTPrivacy
    posterior: str

    def seen(self, grouping: Grouping) -> set[int]:
        """The parts that fail."""
        exactly = replace(self.estimated, posterior=self.posterior)
        rows = exactly.gather(grouping, SEARCH_CAP)
        guessed: dict[tuple[int, int], Row] = {}
        if any(row["known"] == UNDECIDED for row in rows):
            guessed = {(row["point"], row["g"]): row for row in self.estimated.gather(grouping)}
        decided = [guessed[row["point"], row["g"]] if row["known"] == UNDECIDED else row for row in rows]
        return set(exactly.failing(decided))

    def hopeless(self, evidence: set[int]) -> set[int]:
        return evidence

    def allows(self, evidence: set[int], groups: Sequence[int]) -> bool:
        return not evidence & {*groups}

    def accept(self, evidence: set[int], groups: Sequence[int]) -> None:
        """Groups are independent, so taking a cut changes nothing for others."""


def _bandwidth(given: beliefs.Bandwidth) -> str | tuple[str, ...]:
    """A bandwidth as written, one or several; checks everything that needs no table."""
    if isinstance(given, list | tuple):
        beliefs.bandwidths(given, ["column"] * len(given))
        return tuple(map(str, given))
    beliefs.bandwidths(given, ["column"])
    return str(given)


def _story(facts: Row, point: Point, row: Row, own: OwnPrior | None) -> str:
    b = point.bandwidth if isinstance(point.bandwidth, str) else ", ".join(point.bandwidth)
    who = f"an adversary with bandwidth {b}"
    if own is not None:
        who = (
            f"{who}, who studied {own.name}"
            if own.learned
            else f"an adversary with the beliefs of {own.name}"
        )
    if row["risk"] is None:
        return f"For {who}, the effect of a group of {people(facts['size'])} is {row['known']}."
    return (
        f"{who[:1].upper()}{who[1:]} changes their belief most in a group of {people(facts['size'])};"
        f" {people(facts['vulnerable_people'])} over the limit."
    )
