"""The table of one plan, counted, and what its choices come to: decided once each, by the lattice search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from privacy_sql import api, criteria, judge, registry
from privacy_sql.counted.base import Base
from privacy_sql.criteria import Criterion
from privacy_sql.engines import Engine
from privacy_sql.errors import Undecided, UsageError, did_you_mean
from privacy_sql.explorer.asking import Json
from privacy_sql.explorer.jobs import Enough
from privacy_sql.hierarchies import Hierarchy
from privacy_sql.judge import Requirements, decided, for_column
from privacy_sql.lattice.search import LatticeSearch
from privacy_sql.methods import Method
from privacy_sql.methods.full_domain import FullDomain
from privacy_sql.project.reading import Plan
from privacy_sql.searches import Limits
from privacy_sql.spaces.lattice import Choice
from privacy_sql.table import Table
from privacy_sql.utilities import Additive
from privacy_sql.verdict import Verdict, finite

MOST_ASKED_AT_START = 2000  # choices that are looked at for the first one; then the coarsest is shown
SECONDS_AT_START = 2.0  # of processor time for the same; the page is not answered meanwhile


@dataclass(frozen=True)
class JudgedChoice:
    """One choice: each requirement's verdict, None where undecided, and the best guess about anybody."""

    levels: Mapping[str, int]
    verdicts: Mapping[str, Verdict | None]
    guess: Verdict | None
    detail: float  # share of the detail that is kept, over all columns
    suppressed: int  # people
    rows_suppressed: int = 0  # their rows, which `run` counts
    decided: bool = True  # not yet, where it takes long

    @property
    def safe(self) -> bool:
        """Whether every requirement holds; what is undecided does not."""
        return bool(self.verdicts) and all(
            verdict is not None and verdict.safe for verdict in self.verdicts.values()
        )

    def to_json(self) -> dict[str, Json]:
        """The choice for the page: exact values, which the page compares with a limit as `run` does."""
        return {
            "levels": dict(self.levels),
            "safe": self.safe,
            "undecided": [name for name, verdict in self.verdicts.items() if verdict is None],
            "values": {
                name: _value(verdict) for name, verdict in self.verdicts.items() if verdict is not None
            },
            "guess": None if self.guess is None else finite(self.guess.value),
            "detail": self.detail,
            "suppressed": self.suppressed,
            "rows_suppressed": self.rows_suppressed,
            "decided": self.decided,
        }


class CountedPlan:
    """The table of one plan, counted, and what was decided about its choices; `before` has the same table."""

    _numbers = iter(range(1, 2**31))

    def __init__(self, engine: Engine, plan: Plan, before: CountedPlan | None = None) -> None:
        self.plan = plan
        self.people: Table = before.people if before else api.count(engine, plan.table)
        self.number: int = before.number if before else next(self._numbers)
        self.known: dict[Choice, JudgedChoice] = {}  # choices that are decided
        self.readers: dict[Choice, Json] = {}  # of choices, what somebody finds who knows insensitive columns

    @property
    def base(self) -> Base:
        """The counts."""
        found: Base = self.people.counted.base
        return found

    @cached_property
    def method(self) -> Method:
        """How choices are searched: as the release says, else without leaving out more people than it may."""
        own = self.plan.method
        if own is not None and own.chooses_levels:
            return own.at_one_level()
        return FullDomain(max_suppressed=str(own.allowed if own else 0)).steered(self.plan.steering)

    @cached_property
    def require(self) -> tuple[Criterion, ...]:
        """The requirements as they stand for this table."""
        return Requirements.of(self.plan.table, self.plan.require).require

    @cached_property
    def search(self) -> LatticeSearch:
        """What decides choices, as it does for `run`."""
        method = self.method
        return LatticeSearch(
            self.base,
            self.require,
            method.minimise,
            method.allowed,
            with_values=bool(self.base.table.sensitives),
            steering=method.steering,
        )

    @cached_property
    def guess(self) -> Criterion | None:
        """How well anybody can be guessed: with the facts that are required, else from the group alone."""
        table = self.plan.table
        if not table.sensitives or table.values_per_person != "one":
            return None
        asked = (criterion for criterion in self.require if criterion.facts is not None)
        return next(asked, None) or criteria.make("ck_safety", {"c": "1", "k": "0"})

    def refuse_unfit(self) -> None:
        """Refuse what cannot be searched, as `run` does."""
        self.method.refuse_unfit(self.plan.table, Requirements(self.require))
        judge.refuse_unfit(self.base, self.require)
        assert self.search.lattice.size  # values that no hierarchy covers are refused

    @property
    def slow(self) -> bool:
        """Whether one choice may take long: each group is asked what it tells alone, and may leave."""
        return bool(self.search.allowed) and not all(c.safe_under_merging for c in self.search.require)

    @cached_property
    def start(self) -> dict[str, int]:
        """The levels that the release has, or that its method finds."""
        named = self.plan.method.named_levels if self.plan.method else None
        if named is not None:
            return {column: named.get(column, 0) for column in self.plan.table.quasi}
        top = self.search.part.choice(self.search.within.top)
        if self.slow:
            return self.named(top)
        stop = Enough(SECONDS_AT_START)
        found = self.search.run(
            "best", Limits(budget=MOST_ASKED_AT_START, stop=lambda: "time limit" if stop.spent else None)
        )
        return self.named(found.best or top)

    def named(self, choice: Choice) -> dict[str, int]:
        """A choice as level by column; the other sensitive columns, which count as known, have none."""
        named = self.search.rollup.named(choice)
        return {column: named[column] for column in self.plan.table.quasi}

    def choice(self, levels: Mapping[str, int]) -> Choice:
        """Level by column as a choice; refused where there is no such column or level."""
        for column, level in levels.items():
            kind = self.plan.table.hierarchies.get(column)
            if kind is None:
                hint = did_you_mean(column, self.plan.table.quasi)
                raise UsageError("unknown_column", f'"{column}" is not a quasi-identifier', hint=hint)
            if not 0 <= level <= kind.height:
                raise UsageError("no_level", f"{column} has the levels 0 to {kind.height}")
        return self.search.rollup.choice(levels)

    def judged(self, choice: Choice) -> JudgedChoice:
        """A choice, decided once."""
        if choice not in self.known:
            self.known[choice] = self._judge(choice)
        return self.known[choice]

    def pending(self, choice: Choice) -> JudgedChoice:
        """A choice that is not decided yet."""
        detail = 1 - self.search.pricing.priced(loss(), choice)
        return JudgedChoice(self.named(choice), dict.fromkeys(self._names), None, detail, 0, decided=False)

    @property
    def _names(self) -> list[str]:
        """Every requirement, once for each sensitive column."""
        sides = (self.search, *self.search.sides)
        return [for_column(str(criterion), side.base) for criterion in self.search.require for side in sides]

    @cached_property
    def everybody(self) -> CountedPlan:
        """The same where nobody may be left out."""
        if not self.search.allowed:
            return self
        plan = replace(self.plan, method=self.method.with_params({"max_suppressed": "0"}))
        return CountedPlan(self.base.engine, plan, self)

    @cached_property
    def source(self) -> JudgedChoice:
        """The table as it stands, nobody left out."""
        return self.everybody.judged((0,) * len(self.search.lattice.top))

    def _judge(self, choice: Choice) -> JudgedChoice:
        search = self.search
        undecided = False
        try:
            search.complete([choice])
        except Undecided:
            undecided = True
        asked = search.asked(choice)
        names = self._names
        assert undecided or set(names) == set(asked)
        shown = search.shown(choice) if search.allowed else None
        return JudgedChoice(
            levels=self.named(choice),
            verdicts={name: asked.get(name) for name in names},
            guess=self._guessed(choice),
            detail=1 - search.pricing.priced(loss(), choice),
            suppressed=0 if shown is None else shown.n_suppressed,
            rows_suppressed=0 if shown is None else shown.n_rows_suppressed,
        )

    def _guessed(self, choice: Choice) -> Verdict | None:
        """The best guess about anybody; of several sensitive columns the worst."""
        if self.guess is None:
            return None
        found = []
        for side in (self.search, *self.search.sides):
            known = side.verdicts.get(choice, {}).get(str(self.guess))
            found.append(self._decided(side, choice, self.guess) if known is None else known)
        certain = [verdict for verdict in found if verdict is not None and verdict.value is not None]
        return max(certain, key=lambda v: v.value or 0) if len(certain) == len(found) else None

    def _decided(self, side: LatticeSearch, choice: Choice, criterion: Criterion) -> Verdict | None:
        try:
            if self.search.allowed:
                self.search.shown(choice)  # suppressed for one column, suppressed for all
            told = side.valued(side.shown(choice))
            if told.in_memory is not None:
                arrays = criterion.on_arrays
                return arrays.decide(told.in_memory.of) if arrays else None
            return decided(told.grouping, criterion)
        except Undecided:
            return None

    @property
    def steps_in_words(self) -> dict[str, list[str]]:
        """Every step of every quasi-identifier, as the page calls it."""
        labels = self.search.lattice.labels
        return {
            name: [step_words(kind, level, labels[place][level]) for level in range(kind.height + 1)]
            for place, (name, kind) in enumerate(self.base.table.hierarchies.items())
            if name in self.plan.table.quasi
        }

    def columns(self) -> list[Json]:
        """Every quasi-identifier with its steps in words and the detail that each keeps."""
        search = self.search
        parts, words = search.pricing.costs.parts(loss()), self.steps_in_words
        told: list[Json] = []
        for place, (name, kind) in enumerate(self.base.table.hierarchies.items()):
            if name not in self.plan.table.quasi:
                continue
            whole = parts[place][-1] or 1
            steps: list[Json] = [
                {
                    "level": level,
                    "words": words[name][level],
                    "labels": search.lattice.labels[place][level],
                    "detail": 1 - parts[place][level] / whole if kind.height else 1.0,
                    "allowed": level in search.part.levels[place],
                }
                for level in range(kind.height + 1)
            ]
            told.append({"name": name, "steps": steps})
        return told


def step_words(kind: Hierarchy, level: int, n_labels: int) -> str:
    """A level of a hierarchy in a few words.

    >>> from privacy_sql.hierarchies import Intervals, Tree
    >>> [step_words(Intervals(10), level, 8) for level in range(3)]
    ['exact', 'bands of 10', 'removed']
    >>> step_words(Tree({"Oslo": ["Norway", "*"], "Rome": ["Italy", "*"]}), 1, 2)
    '2 labels'
    """
    if 0 < level == kind.height:
        return "removed"
    names = kind.level_names()
    if level > 0 and names[level] == f"level {level}":
        return f"{n_labels} labels"
    return kind.in_words(level)


def loss() -> Additive:
    """The utility in which detail is told."""
    made: Additive = registry.get("utilities", "loss")()
    return made


def _value(verdict: Verdict) -> Json:
    """A value as exact text, or a float where no exact form exists; None where it is unbounded."""
    told = verdict.to_json()
    return {
        "exact": told["value"],
        "float": told["value_float"],
        "limit": told["limit"],
        "relation": told["relation"],
        "safe": verdict.safe,
    }
