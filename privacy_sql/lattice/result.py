"""What a search found, for people and for `--json`, and what to say if nothing is safe."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING, Any

from privacy_sql import registry
from privacy_sql.display import levels, notebook
from privacy_sql.errors import NoSafeChoice, PrivacySqlError, Undecided, number_of
from privacy_sql.lattice.search import MOST_PLACED, LatticeSearch, frontier
from privacy_sql.lattice.steering import Steering
from privacy_sql.searches import Found, Limits
from privacy_sql.spaces.lattice import Choice
from privacy_sql.utilities import Utility
from privacy_sql.verdict import Verdict, finite, measured, shown

if TYPE_CHECKING:
    import pandas as pd

# utilities shown for a minimal choice beside the minimised one; the best choice shows all
ALWAYS = ("loss", "height", "precision", "discernibility", "average_group_size")
# price every minimal choice in SQL only if they are few
FEW = 30
# the most choices that a picture of the lattice can show
MOST_DRAWN = 3000


@dataclass(frozen=True)
class SearchResult:
    """The minimal safe choices, the best one, and the frontier of risk against utility."""

    name: str
    rows: int
    minimise: str
    found: Found
    minimal: tuple[Mapping[str, Any], ...]
    best: Mapping[str, Any] | None
    frontier: tuple[Mapping[str, Any], ...] = ()
    notes: tuple[str, ...] = field(default=())
    # the bounds of levels and the weights of columns in this search
    steered: Mapping[str, Any] = field(default_factory=dict)
    # the levels of each column, to describe them in words
    hierarchies: Mapping[str, Mapping[str, object]] = field(default_factory=dict, repr=False)
    # every decided choice, for a picture of the lattice
    lattice: Mapping[str, Any] = field(default_factory=dict, repr=False)
    # of the best choice, where insensitive columns may single people out: what `run` counts and what it says
    baseline: Mapping[str, Any] | None = field(default=None, repr=False)
    refusal: PrivacySqlError | None = field(default=None, repr=False)

    def to_json(self) -> dict[str, Any]:
        """The fields that `search --json` adds."""
        found = self.found
        return {
            "choices": found.choices,
            "safe_choices": found.safe_choices,
            "minimal": [dict(choice) for choice in self.minimal],
            "complete": found.complete,
            "minimise": self.minimise,
            "best": None if self.best is None else dict(self.best),
            "optimal": found.optimal,
            "explored": found.explored,
            "undecided": found.undecided,
            "gap": found.gap,
            "stopped": found.stopped,
            "frontier": [dict(point) for point in self.frontier],
            **self.steered,
            "baseline": None if self.baseline is None else dict(self.baseline),
            "refusal": None if self.refusal is None else self.refusal.to_json(),
            "notes": [*self.notes, *([] if self.frontier else [f"no frontier: {self.without_frontier}"])],
        }

    @property
    def without_frontier(self) -> str:
        """Why no choice is on the frontier, if none is."""
        if self.found.stopped:
            return (
                f"the {self.found.stopped} passed first"
                if "limit" in self.found.stopped
                else self.found.stopped
            )
        return "no measured combination has a cost"

    def summary(self) -> dict[str, Any]:
        """What a manifest says about the search, without choices that were not published."""
        found = self.found
        return {
            "minimise": self.minimise,
            "choices": found.choices,
            "safe_choices": found.safe_choices,
            "explored": found.explored,
            "optimal": found.optimal,
            "gap": found.gap,
            "stopped": found.stopped,
            "values": dict(self.best["values"]) if self.best else {},
            **self.steered,
        }

    def _bounds(self) -> list[str]:
        """Describe the bounds within which choices are "minimal" and "best"."""
        ends = {"min_level": "no finer than", "max_level": "no coarser than"}
        bounds = []
        for column, said in self.steered.get("bounds", {}).items():
            kind = self.hierarchies.get(column)
            told = [f"{ends[end]} {levels.level(kind, level)}" for end, level in said.items()]
            bounds.append(f"{column} {' and '.join(told)}")
        weights = [f"{column} {weight}" for column, weight in self.steered.get("importance", {}).items()]
        return [
            *([f'{", ".join(bounds)}; "minimal" and "best" apply within these bounds'] if bounds else []),
            *([f"importance of {', '.join(weights)}; all others 1"] if weights else []),
            *(["single cells are suppressed instead of generalised"] if "suppress" in self.steered else []),
        ]

    def in_words(self, chosen: Mapping[str, int]) -> str:
        """A choice of levels in words."""
        return levels.choice(chosen, self.hierarchies)

    def to_frame(self) -> pd.DataFrame:
        """One row per choice: its levels, its cost, and whether it is minimal, best or on the frontier.

        Choices on the frontier also have the value of each requirement, and may be unsafe.
        """
        import pandas

        rows: dict[tuple[object, ...], dict[str, object]] = {}

        def row(levels: Mapping[str, int]) -> dict[str, object]:
            flags = {"safe": True, "minimal": False, "best": False, "frontier": False}
            return rows.setdefault(tuple(levels.items()), {**levels, **flags})

        for choice in self.minimal:
            row(choice["levels"]).update(minimal=True, **choice["values"])
        if self.best is not None:
            row(self.best["levels"]).update(best=True, safe=self.refusal is None, **self.best["values"])
        for point in self.frontier:
            costs = {self.minimise: point["cost"], **point["risks"]}
            row(point["levels"]).update(frontier=True, safe=point["safe"], **costs)
        return pandas.DataFrame(list(rows.values()))

    def _repr_html_(self) -> str:
        """The minimal safe choices in a notebook, the best one first."""
        best = [self.best] if self.best is not None else []
        rows = [
            (
                "best" if choice is self.best else "minimal",
                self.in_words(choice["levels"]),
                shown(choice["values"].get(self.minimise)),
            )
            for choice in [*best, *self.others]
        ]
        heading, *_ = str(self).splitlines()
        return notebook.table(heading, ["", "levels", self.minimise], rows, self.notes)

    def __str__(self) -> str:
        found = self.found
        told = f"{found.explored} of {number_of(found.choices, 'combination')} measured"
        if found.safe_choices is not None:
            one = found.safe_choices == 1
            # of all but the best choice nobody asked what insensitive columns add
            asked = "meets every requirement" if one else "meet every requirement"
            safe = "is safe" if one else "are safe"
            told = (
                f"{found.safe_choices} of {number_of(found.choices, 'combination')}"
                f" {asked if self.baseline or self.refusal else safe}"
                f" ({found.explored} measured)"
            )
        lines = [f"{self.name}    {told}"]
        if found.stopped:
            lines.append(f"stopped     {found.stopped}; {_left(found)}")
        lines += [f"bounds      {told}" for told in self._bounds()]
        if self.best is not None:
            proof = "optimal" if found.optimal else "not proved optimal"
            cost = shown(self.best["values"][self.minimise])
            words = self.in_words(self.best["levels"])
            lines.append(f"best        {words}    ({self.minimise} {cost}, {proof})")
        # of a search that did not decide every combination others may be finer still
        if found.complete and (n := len(self.others)):
            told = "combination keeps" if n == 1 else "combinations keep"
            told = told if self.baseline or self.refusal else f"safe {told}"
            lists = "`search --minimal` lists them (in Python `.minimal`)"
            lines.append(f"others      {n} more {told} more of another column: {lists}")
        return "\n".join([*lines, *self.notes])

    @property
    def others(self) -> list[Mapping[str, Any]]:
        """The minimal safe choices beside the best one."""
        best = None if self.best is None else self.best["levels"]
        return [choice for choice in self.minimal if choice["levels"] != best]


def result(
    search: LatticeSearch, found: Found, *, briefly: bool = False, only_best: bool = False
) -> SearchResult:
    """The result of a search as plain data: levels by column, risks by requirement, utilities by name.

    `briefly`, used when the time is up, counts only what the best choice costs. So does `only_best`, which
    describes no other choice.
    """
    if only_best and not briefly:
        # the report draws the measured choices
        search.complete(list(search.tried)[:MOST_PLACED])
    briefly = briefly or only_best
    few = {search.minimise, *ALWAYS} if len(found.minimal) <= FEW and not briefly else frozenset()
    search.count_again(found.minimal if few else ())
    minimal = [] if only_best else [_described(search, choice, few) for choice in found.minimal]
    measures = [search.pricing.utility] if only_best else search.pricing.measures
    every = {search.minimise} if briefly else {utility.name for utility in measures}
    best = None if found.best is None else _described(search, found.best, every, measures)
    return SearchResult(
        name=search.base.table.name,
        rows=search.base.rows,
        minimise=search.minimise,
        found=found,
        minimal=tuple(minimal),
        best=best,
        frontier=() if only_best else tuple(frontier(search, found.best, finished=not briefly)),
        steered=search.steering.to_json(),
        hierarchies=search.base.table.described_levels,
        lattice=lattice(search, found),
    )


def _left(found: Found) -> str:
    """How much a stopped search left undecided, which is known only if choices are tagged."""
    if not found.undecided:
        return f"{found.explored} of {number_of(found.choices, 'combination')} measured"
    return f"{found.undecided} of {number_of(found.choices, 'combination')} undecided"


def lattice(search: LatticeSearch, found: Found) -> dict[str, Any]:
    """The choices known to be safe or unsafe, with what the search measured.

    Their cost is what their labels lose without suppression. A large lattice lists only the measured choices.
    """
    known = dict(found.known) or dict.fromkeys(found.minimal, True)
    asked = [choice for choice in search.verdicts if choice in known]
    told = (
        list(known)
        if len(known) <= MOST_DRAWN
        else list(dict.fromkeys([*found.minimal, *asked]))[:MOST_DRAWN]
    )
    cost = search.minimise if search.pricing.utility.by_label else "loss"
    costs = search.pricing.each_of_levels(cost, told)
    minimal = {*found.minimal}
    return {
        "cost_of": cost,
        "columns": list(search.base.table.quasi),
        "heights": list(search.lattice.heights),
        "total": search.within.size,
        "choices": [
            {
                "levels": list(choice),
                "safe": known[choice],
                "minimal": choice in minimal,
                "cost": its_cost,
                "risks": {name: finite(verdict.value) for name, verdict in search.asked(choice).items()},
            }
            for choice, its_cost in zip(told, costs, strict=True)
        ],
    }


def _described(
    search: LatticeSearch,
    choice: Choice,
    names: Collection[str],
    measures: Sequence[Utility] | None = None,
) -> dict[str, Any]:
    """A choice with the named utilities, and those of `measures` that follow from its labels."""
    pricing = search.pricing
    values = {
        utility.name: finite(utility.shown(pricing.priced(utility, choice)))
        for utility in (pricing.measures if measures is None else measures)
        if utility.name in names or (utility.by_label and not search.allowed)
    }
    if (loss := values.get("loss")) is not None:
        values["granularity"] = 1 - loss
    described: dict[str, Any] = {"levels": search.rollup.named(choice), "values": values}
    verdicts = search.asked(choice)
    described["risks"] = {requirement: finite(verdict.value) for requirement, verdict in verdicts.items()}
    if search.allowed and names:
        described["suppressed"] = search.shown(choice).n_suppressed
    return described


def nothing_safe(search: LatticeSearch, found: Found, limits: Limits | None = None) -> PrivacySqlError:
    """Why there is nothing to publish: what fails at the highest allowed levels, and what would help."""
    if found.stopped:
        return Undecided(
            "undecided",
            f"no safe choice was found before the {found.stopped}; {_left(found)}",
            where=search.base.table.name,
            hint="Raise the limit, or relax the requirements.",
        )
    failing = {name: verdict for name, verdict in search.top_verdicts().items() if not verdict.safe}
    told = "; ".join(
        f"{name} is {measured(verdict)[0]} and must be {measured(verdict)[1]}"
        for name, verdict in failing.items()
    )
    final = all(criterion.safe_under_merging for criterion in search.require)
    by_requirement: dict[str, list[Verdict]] = {}
    for verdict in failing.values():  # a requirement may fail for several columns
        by_requirement.setdefault(verdict.requirement, []).append(verdict)
    helps = _relaxation(by_requirement, _droppable(search, limits), final=final)
    secret = search.base.table.declared_sensitive
    each = (
        f"Each of {' and '.join(secret)} is judged against somebody who knows the others. "
        if secret[1:]
        else ""
    )
    hint = f"{each}{'More levels cannot help. ' if final else ''}{helps}"
    bounds = search.steering.each_bound()
    highest = (
        "at the highest allowed levels" if search.within.top != search.lattice.top else "fully generalised"
    )
    return NoSafeChoice(
        "no_safe_choice",
        f"no choice is safe{' within the bounds' if bounds else ''}: {highest}, {told}",
        where=search.base.table.name,
        hint=_binding(search, limits) if bounds else hint,
    )


def _binding(search: LatticeSearch, limits: Limits | None) -> str:
    """Which bound of a level is in the way; tries without each bound, then without all."""
    bounds = search.steering.each_bound()

    def helps(steering: Steering) -> bool:
        freed = LatticeSearch(search.base, search.require, search.minimise, search.allowed, steering=steering)
        return freed.run("one", limits).best is not None

    told = [
        f"without {end} {level} of {column} ({search.base.table.hierarchies[column].in_words(level)}):"
        f" {'yes' if helps(search.steering.without(column, end)) else 'no'}"
        for column, end, level in bounds
    ]
    if len(bounds) > 1:
        free = helps(replace(search.steering, bounds={}))
        told.append(f"without any bound: {'yes' if free else 'no'}")
    return f"Would a choice be safe? {'; '.join(told)}."


def _droppable(search: LatticeSearch, limits: Limits | None) -> list[str]:
    """The sensitive columns that can be dropped to make some choice safe; each one is tried."""
    base = search.base
    if base.dropping is None:
        return []
    found = []
    for column in (*base.table.sensitives, *base.table.also_sensitive):
        # it does not help if the other columns alone cannot be judged
        with contextlib.suppress(PrivacySqlError):
            without = LatticeSearch(base.dropping(column), search.require, search.minimise, search.allowed)
            if without.run("one", limits).best is not None:
                found.append(column)
    return found


def _relaxation(failing: Mapping[str, Sequence[Verdict]], droppable: Sequence[str], *, final: bool) -> str:
    """What would make the most general choice safe; `final` if nothing else could."""
    dropping = f"dropping {' or '.join(droppable)}" if droppable else ""
    if len(failing) != 1:
        if dropping:
            return f"One relaxation is enough: {dropping}."
        others = "No single relaxation helps" if final else "No single relaxation helps there"
        return f"{others}: each of these fails on its own."
    ((requirement, verdicts),) = failing.items()
    more = f", or {dropping}" if dropping else ""
    params = verdicts[0].params
    own = params.get("per_value") or {}
    # of several limits, the one shown need not be the only one that fails
    if ("c" in params and bool(own)) + len(params.get("points") or ()) + len(own) > 1:
        return f"Removing {requirement} is enough{more}; relaxing one of its limits may not be."
    relation = verdicts[0].relation
    known = [verdict.value for verdict in verdicts if verdict.value is not None]
    worst = (min if relation.startswith(">") else max)(known, default=None)
    not_enough = f"Removing {requirement} is enough{more}; relaxing its limit is not."
    if worst is None or len(known) < len(verdicts):
        return not_enough
    # a value that works as a limit: an exact fraction, or rounded so that the release still meets it
    towards = floor if relation.startswith(">") else ceil
    exact = isinstance(worst, (int, Fraction))
    limit = Fraction(worst) if exact else f"{towards(worst * 10_000) / 10_000:g}"
    # a limit so wide requires nothing: no share exceeds 1, and every group has a value
    share = registry.get("criteria", verdicts[0].criterion).unit_of(params, relation) == "share"
    if (Fraction(limit) >= 1 and share) if relation.startswith("<") else (Fraction(limit) <= 1 and not share):
        return not_enough
    wide = {">=": "at most", ">": "below", "<=": "at least", "<": "above"}[relation]
    return f"One relaxation is enough: a limit of {requirement} {wide} {limit}{more}."
