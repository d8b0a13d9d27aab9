"""What is decided: one release of a project, counted once, with the choice of the moment and the way back.

Every number comes from the code that `run` uses: choices are decided by the lattice search on the counted
table, a choice in full by `api.publish`, which `run` calls. Nothing here writes a file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from os.path import lexists
from pathlib import Path
from types import TracebackType
from typing import Self

from privacy_sql import api, criteria, judge, registry
from privacy_sql.counted.base import Base
from privacy_sql.criteria import Criterion
from privacy_sql.criteria._on_arrays import OnArrays
from privacy_sql.engines import Engine
from privacy_sql.engines._spill import private_folder
from privacy_sql.errors import Undecided, UsageError, did_you_mean
from privacy_sql.explorer.asking import Json
from privacy_sql.explorer.jobs import Enough, Turns
from privacy_sql.hierarchies import Hierarchy
from privacy_sql.judge import Requirements, decided, for_column
from privacy_sql.lattice.search import LatticeSearch
from privacy_sql.methods.full_domain import FullDomain
from privacy_sql.methods.generalise import Generalise
from privacy_sql.project import editing, hierarchy_to_fill
from privacy_sql.project.hierarchy_to_fill import file_name
from privacy_sql.project.reading import Plan, Project
from privacy_sql.release import Release
from privacy_sql.searches import Limits
from privacy_sql.spaces.lattice import Choice
from privacy_sql.table import Table
from privacy_sql.utilities import Additive
from privacy_sql.verdict import Verdict, finite, shown

Connect = Callable[[Plan], Engine]
MOST_ASKED_AT_START = 2000  # choices that are looked at for the first one; then the coarsest is shown
SECONDS_AT_START = 2.0  # of processor time for the same; the page is not answered meanwhile
MOST_UNDONE = 100
# four kinds of knowledge; of those that nothing is required against the page says so
ADVERSARIES = ("ck_safety", "privacy_skyline", "bt_privacy", "composition")


@dataclass(frozen=True)
class Draft:
    """What could be saved now. No `levels`: those that the method of the release finds.

    `edits` lead from privacy.yml as it was opened to `plan`.
    """

    plan: Plan
    levels: Mapping[str, int] | None = None
    edits: tuple[editing.Edit, ...] = ()


@dataclass(frozen=True)
class Judged:
    """One choice: each requirement's verdict, None where undecided, and the best guess about anybody."""

    levels: Mapping[str, int]
    verdicts: Mapping[str, Verdict | None]
    guess: Verdict | None
    detail: float  # share of the detail that is kept, over all columns
    suppressed: int

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
        }


class Decision:
    """A release that is being decided. Whoever asks holds `lock`, for as short as can be.

    `connect` gives an engine for a plan; `project` is where the release stands, if it stands in one. `lent`
    is the engine of somebody who goes on with it; another one is closed at the end.
    """

    def __init__(
        self, plan: Plan, connect: Connect, project: Project | None = None, lent: Engine | None = None
    ) -> None:
        _refuse_unfit(plan)
        self.lock = Turns()
        self.connect, self.project = connect, project
        self.text = ""  # of privacy.yml, as it was when it was opened or saved
        if project is not None:
            self.text = editing.read_text(project.directory)
            self.project = editing.understood_text(project.directory, self.text)
            plan = self.project.plans[plan.name]
        self.version = 1  # grows with every change, so that two pages do not undo one another
        self.first = self._draft = Draft(plan)
        self._before: list[Draft] = []
        self.memory: dict[str, Json] = {}  # what screens found out about the source, which does not change
        self._folder, self._leave = private_folder(self)  # hierarchies that are not saved yet
        self._lent = lent is not None
        self.engine = connect(plan) if lent is None else lent
        self._counted: Counted | None = None

    def __enter__(self) -> Self:
        if not self._lent:
            self.engine.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self.lock:  # a question that is being answered still uses the engine
            self._leave()
            if not self._lent:
                self.engine.__exit__(kind, problem, trace)

    # -- what is decided -------------------------------------------------------------------------------------

    @property
    def draft(self) -> Draft:
        """What could be saved now."""
        return self._draft

    @property
    def plan(self) -> Plan:
        """The release as it would be saved."""
        return self._draft.plan

    @property
    def counted(self) -> Counted:
        """The counted table of the draft; it is counted again only if its columns change."""
        if self._counted is None or self._counted.plan is not self.plan:
            before = self._counted if self._counted and self._counted.plan.table == self.plan.table else None
            self._counted = Counted(self.engine, self.plan, before)
        return self._counted

    @property
    def levels(self) -> dict[str, int]:
        """The choice: the level of every quasi-identifier."""
        if self._draft.levels is None:
            return self.counted.start
        return {column: self._draft.levels.get(column, 0) for column in self.plan.table.quasi}

    @property
    def can_undo(self) -> bool:
        return bool(self._before)

    def take(self, draft: Draft, version: int) -> None:
        """Decide something else; refused when somebody did so in another tab since this page was told."""
        if version != self.version:
            hint = "The page now shows the choice of the other tab; decide again."
            raise UsageError("changed_meanwhile", "something was changed in another tab", hint=hint)
        kept, counted = self._draft, self._counted
        self._draft = draft
        try:
            self.counted.refuse_unfit()
            if draft.levels is not None:
                self.counted.choice(draft.levels)
        except BaseException:
            self._draft, self._counted = kept, counted
            raise
        self._before = [*self._before[-MOST_UNDONE:], kept]
        self.version += 1

    def undo(self, version: int) -> None:
        """Back to what was decided before the last change."""
        if not self._before:
            raise UsageError("nothing_to_undo", "there is nothing to undo")
        before = self._before
        self.take(before[-1], version)
        self._before = before[:-1]  # what was taken back is not the way back

    def saved(self, text: str) -> None:
        """What is decided stands in privacy.yml, which reads `text` now; nothing before it is undone."""
        assert self.project is not None
        self.text, self.project = text, editing.understood_text(self.project.directory, text)
        self.first = self._draft = Draft(self.project.plans[self.plan.name])
        self._before = []
        self.version += 1

    def with_levels(self, levels: Mapping[str, int]) -> Draft:
        """The draft at other levels."""
        return replace(self._draft, levels={**self.levels, **levels})

    def with_edits(self, *more: editing.Edit) -> Draft:
        """The draft with privacy.yml changed, read as `run` would read it."""
        if self.project is None:
            hint = "Create a project: privacy-sql init --from FILE."
            raise UsageError("no_project", "this table is not in a privacy.yml", hint=hint)
        edits = (*self._draft.edits, *more)
        text = editing.edited(self.text, self.plan.name, edits)
        plan = editing.understood_text(self.project.directory, text).plans[self.plan.name]
        kinds = plan.table.hierarchies
        levels = {name: min(n, kinds[name].height) for name, n in self.levels.items() if name in kinds}
        return Draft(plan, levels, edits)

    def keep_tree(self, column: str, level_names: Sequence[str], rows: Iterable[Sequence[str]]) -> Path:
        """A tree that was made here, as a file of its own that only this user reads, until it is saved."""
        number = len(list(self._folder.glob("*.csv"))) + 1
        place = self._folder / f"{file_name(column)}.{number}.csv"
        editing.write_tree(place, column, level_names, rows)
        return place

    def _homes(self) -> dict[Path, Path]:
        """The trees of the draft that were made here, and where each goes: beside the others, over none."""
        homes: dict[Path, Path] = {}
        for column, kind in self.plan.table.hierarchies.items():
            if kind.place is not None and kind.place.parent == self._folder and self.project is not None:
                name = file_name(column)
                tried = (
                    Path(hierarchy_to_fill.FOLDER) / f"{name}{more}.csv"
                    for more in ("", *(f"_{number}" for number in range(2, 1000)))
                )
                homes[kind.place] = next(
                    place
                    for place in tried
                    if place not in homes.values()
                    and not lexists(self.project.directory / place)  # a link that leads nowhere too
                )
        return homes

    @property
    def decided_text(self) -> str:
        """privacy.yml as it would be saved: the levels of the page are those that `run` publishes."""
        homes = {file.as_posix(): home for file, home in self._homes().items()}
        edits = [edit.moved(homes) for edit in self._draft.edits]
        if self._draft != self.first:
            edits.append(editing.SetLevels(self.levels, str(self.counted.method.allowed)))
        return editing.edited(self.text, self.plan.name, edits)

    def save(self) -> None:
        """Write privacy.yml as `decided_text` shows it, and before it the trees that it names."""
        assert self.project is not None
        made, directory = self.decided_text, self.project.directory
        written: list[Path] = []
        try:
            for file, home in self._homes().items():
                editing.write_new(directory / home, file.read_bytes())
                written.append(directory / home)
            editing.save(directory, self.text, made)
        except BaseException:
            for place in written:
                place.unlink(missing_ok=True)
            raise
        self.saved(made)

    def with_limit(self, requirement: str, limit: str) -> Draft:
        """The draft with another limit of one requirement."""
        number, asked = self._movable(requirement)
        assert asked.slider is not None
        if self.project is not None:
            return self.with_edits(editing.SetLimit(number, asked.slider, limit))
        made = criteria.make(asked.name, {**asked.params, asked.slider: limit}, requirement)
        require = list(self.plan.require)
        require[number] = criteria.refuse_empty(made, requirement)
        return replace(self._draft, plan=replace(self.plan, require=tuple(require)), levels=self.levels)

    def _movable(self, requirement: str) -> tuple[int, Criterion]:
        known = {str(criterion): criterion for criterion in self.plan.require}
        asked = known.get(requirement)
        if asked is None:
            raise UsageError(
                "unknown_requirement", f"{requirement} is not required", hint=did_you_mean(requirement, known)
            )
        if asked.slider is None:
            raise UsageError(
                "no_limit", f"{requirement} has no single limit", hint="Change it in privacy.yml."
            )
        return self.plan.require.index(asked), asked

    # -- what it comes to ------------------------------------------------------------------------------------

    def judged(self, levels: Mapping[str, int]) -> Judged:
        """A choice, decided on the counted table."""
        return self.counted.judged(self.counted.choice(levels))

    def release(self, levels: Mapping[str, int] | None = None) -> Release:
        """A choice as `run` would publish it, up to the writing: with the stories of its verdicts."""
        method = self.generalise(self.levels if levels is None else levels)
        return api.publish(self.engine, self.counted.people, self.plan.require, method)

    def generalise(self, levels: Mapping[str, int]) -> Generalise:
        """The method that publishes these levels and leaves out as few people as the release allows."""
        return Generalise(dict(levels), max_suppressed=str(self.counted.method.allowed))

    @contextmanager
    def beside(self) -> Iterator[tuple[Engine, Plan]]:
        """An engine of its own for a long question, so that the page is answered meanwhile.

        A lent engine is asked itself, and the page waits: it counted the table, and no other one may see a
        relation of its connection.
        """
        with self.lock:
            plan = self.plan
            if self._lent:
                yield self.engine, plan
                return
            engine = self.connect(plan)
        with engine:
            yield engine, plan

    def summary(self) -> dict[str, Json]:
        """What every screen needs to know, and the page shows above all of them."""
        counted, plan = self.counted, self.plan
        return {
            "version": self.version,
            "basis": self.basis,
            "project": self.project.name if self.project else "",
            "release": plan.name,
            "sensitive": list(plan.table.sensitives),
            "people": counted.base.n_people,
            "combinations": counted.base.combinations,
            "allowed": str(counted.method.allowed),
            "in_memory": bool(counted.search.in_memory),
            "choices": counted.search.within.size,
            "columns": counted.columns(),
            "requirements": [_required(criterion) for criterion in plan.require],
            "unasked": [
                {"criterion": name, "against": registry.get("criteria", name).against}
                for name in ADVERSARIES
                if name not in [criterion.name for criterion in plan.require]
            ],
            "guess": None if counted.guess is None else str(counted.guess),
            "levels": self.levels,
            "can_undo": self.can_undo,
            "unsaved": self.draft != self.first,
            "method": plan.method.name if plan.method else None,
        }

    @property
    def basis(self) -> str:
        """The same as long as values of choices stay as they are, whatever is decided."""
        moves = not self.counted.method.allowed  # who is left out depends on the limits
        require = [
            f"{c.name} {[part for part in c.params.items() if not moves or part[0] != c.slider]}"
            for c in self.plan.require
        ]
        return f"{self.counted.number} {'; '.join(require)}"


class Counted:
    """The table of one plan, counted, and what was decided about its choices; `before` has the same table."""

    _numbers = iter(range(1, 2**31))

    def __init__(self, engine: Engine, plan: Plan, before: Counted | None = None) -> None:
        self.plan = plan
        self.people: Table = before.people if before else api.count(engine, plan.table)
        self.number: int = before.number if before else next(self._numbers)
        self.known: dict[Choice, Judged] = {}  # choices that are decided

    @property
    def base(self) -> Base:
        """The counts."""
        _, base = self.people.counted
        found: Base = base
        return found

    @cached_property
    def method(self) -> FullDomain:
        """How choices are searched: as the release says, else without leaving out more people than it may."""
        own = self.plan.method
        if isinstance(own, FullDomain):
            return replace(own, local_recoding=False, suppress="rows")
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
        asked = [c for c in self.require if c.name == "ck_safety" and c.slider]
        return asked[0] if asked else criteria.make("ck_safety", {"c": "1", "k": "0"})

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

    def judged(self, choice: Choice) -> Judged:
        """A choice, decided once."""
        if choice not in self.known:
            self.known[choice] = self._judge(choice)
        return self.known[choice]

    @cached_property
    def source(self) -> Judged:
        """The table as it stands, nobody left out."""
        whole = (0,) * len(self.search.lattice.top)
        if not self.search.allowed:
            return self.judged(whole)
        everybody = replace(self.plan, method=replace(self.method, max_suppressed="0"))
        return Counted(self.base.engine, everybody, self).judged(whole)

    def _judge(self, choice: Choice) -> Judged:
        search = self.search
        undecided = False
        try:
            search.complete([choice])
        except Undecided:
            undecided = True
        asked = search.asked(choice)
        sides = (search, *search.sides)
        names = [for_column(str(criterion), side.base) for criterion in search.require for side in sides]
        assert undecided or set(names) == set(asked)
        return Judged(
            levels=self.named(choice),
            verdicts={name: asked.get(name) for name in names},
            guess=self._guessed(choice),
            detail=1 - search.pricing.priced(loss(), choice),
            suppressed=search.shown(choice).n_suppressed if search.allowed else 0,
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
                return criterion.decide(told.in_memory.of) if isinstance(criterion, OnArrays) else None
            return decided(told.grouping, criterion)
        except Undecided:
            return None

    def columns(self) -> list[Json]:
        """Every quasi-identifier with its steps in words and the detail that each keeps."""
        search = self.search
        parts = search.pricing.costs.parts(loss())
        told: list[Json] = []
        for place, (name, kind) in enumerate(self.base.table.hierarchies.items()):
            if name not in self.plan.table.quasi:
                continue
            whole = parts[place][-1] or 1
            steps: list[Json] = [
                {
                    "level": level,
                    "words": step_words(kind, level, search.lattice.labels[place][level]),
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


def _required(criterion: Criterion) -> dict[str, Json]:
    """A requirement for the page: what is asked, against whom, and the limit that can be moved."""
    slider: Json = None
    if criterion.slider is not None:
        slider = {
            "parameter": criterion.slider,
            "limit": str(criterion.limit),
            "shown": shown(criterion.limit),
            "relation": criterion.relation,
            "alone": criterion.safe_under_suppression,
        }
    return {
        "requirement": str(criterion),
        "criterion": criterion.name,
        "question": criterion.question,
        "against": criterion.against,
        "unit": criterion.unit_of(criterion.params, criterion.relation),
        "slider": slider,
        "params": {name: str(value) for name, value in criterion.params.items()},
    }


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


def _refuse_unfit(plan: Plan) -> None:
    """Refuse releases that publish no levels of columns: noise, marginals."""
    method = plan.method
    if method is not None and (method.promises or method.name == "marginals"):
        raise UsageError(
            "no_levels",
            f"{method.name} does not publish rows at levels, which the explorer decides",
            where=plan.name,
            hint="Select another release, or use `privacy-sql search` and `privacy-sql run`.",
        )
    if not plan.table.quasi or plan.table.group:
        hint = "Name quasi_identifiers, or let `privacy-sql init --from FILE` propose them."
        raise UsageError("nothing_to_decide", "no quasi-identifier has levels", where=plan.name, hint=hint)
