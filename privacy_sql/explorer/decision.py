"""What is decided: one release of a project, counted once, with the choice of the moment and the way back.

Every number comes from the code that `run` uses: choices are decided by the lattice search on the counted
table, a choice in full by `api.publish`, which `run` calls. Nothing here writes a file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from os.path import lexists
from pathlib import Path
from types import TracebackType
from typing import Self

from privacy_sql import api, registry
from privacy_sql.criteria import least
from privacy_sql.display.levels import weighing
from privacy_sql.engines import Engine
from privacy_sql.engines._spill import private_folder
from privacy_sql.errors import PrivacySqlError, Undecided, UsageError
from privacy_sql.explorer import limits
from privacy_sql.explorer.asking import Json
from privacy_sql.explorer.counted import CountedPlan, JudgedChoice
from privacy_sql.explorer.jobs import Turns
from privacy_sql.methods.generalise import Generalise
from privacy_sql.project import editing, hierarchy_to_fill
from privacy_sql.project.hierarchy_to_fill import file_name
from privacy_sql.project.reading import Plan, Project
from privacy_sql.publishing.baseline import ALL, may_single_out
from privacy_sql.release import Release

Connect = Callable[[Plan], Engine]
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
        self._counted: CountedPlan | None = None

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
    def counted(self) -> CountedPlan:
        """The counted table of the draft; it is counted again only if its columns change."""
        if self._counted is None or self._counted.plan is not self.plan:
            before = self._counted if self._counted and self._counted.plan.table == self.plan.table else None
            self._counted = CountedPlan(self.engine, self.plan, before)
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

    def with_limit(self, requirement: str, value: str, parameter: str = "") -> Draft:
        """The draft with another limit of one requirement, or with another number of a `parameter`."""
        edit, made = limits.at(self.plan, requirement, value, parameter)
        if self.project is not None:
            return self.with_edits(edit)
        plan = limits.with_requirement(self.plan, edit.number, made)
        return replace(self._draft, plan=plan, levels=self.levels)

    # -- what it comes to ------------------------------------------------------------------------------------

    def judged(self, levels: Mapping[str, int]) -> JudgedChoice:
        """A choice, decided on the counted table."""
        return self.counted.judged(self.counted.choice(levels))

    def release(self, levels: Mapping[str, int] | None = None) -> Release:
        """A choice as `run` would publish it, up to the writing: with the stories of its verdicts."""
        method = self.generalise(self.levels if levels is None else levels)
        return api.publish(self.engine, self.counted.people, self.plan.require, method)

    def reader(self, levels: Mapping[str, int], release: Release | PrivacySqlError | None = None) -> Json:
        """What somebody finds who also knows the insensitive columns, and whether `run` refuses it for that.

        None where no column is insensitive. `release` is what `run` makes of them, or why it makes none.
        """
        if not self.plan.table.as_they_are:
            return None
        choice, known = self.counted.choice(levels), self.counted.readers
        if choice not in known:
            try:
                known[choice] = self._read(self.release(levels) if release is None else release)
            except (Undecided, UsageError) as problem:
                known[choice] = self._read(problem)
        return known[choice]

    def _read(self, release: Release | PrivacySqlError) -> Json:
        table, k = self.plan.table, least(self.plan.require)
        told: dict[str, Json] = {
            "columns": list(table.as_they_are),
            "k": k,
            "can_edit": self.project is not None,
        }
        if isinstance(release, PrivacySqlError):
            return {**told, "refusal": release.to_json()}
        if release.baseline is not None:
            found = release.baseline.to_json()["known"][ALL]
            guess = found["worst_guess"]
            told |= {
                "guess": None if guess is None else float(Fraction(guess)),
                "alone": found["alone"],
                "below": release.baseline.below(k)[1],
            }
        return {**told, "refusal": None if release.refusal is None else release.refusal.to_json()}

    def as_run_says(self, levels: Mapping[str, int]) -> dict[str, Json]:
        """A choice that is named as an answer: safe only if `run` would publish it."""
        judged, reader = self.judged(levels), self.reader(levels)
        refused = isinstance(reader, dict) and reader["refusal"] is not None
        return {**judged.to_json(), "safe": judged.safe and not refused, "known": reader}

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
            "requirements": [limits.required(criterion) for criterion in plan.require],
            "unasked": [
                {"criterion": name, "against": registry.get("criteria", name).against}
                for name in ADVERSARIES
                if name not in [criterion.name for criterion in plan.require]
            ],
            "guess": None if counted.guess is None else str(counted.guess),
            "insensitive": list(plan.table.as_they_are),
            "may_single_out": may_single_out(plan.table),  # asked of the choice of now, and of no other
            "levels": self.levels,
            "weighing": weighing(plan.steering.importance),
            "can_undo": self.can_undo,
            "unsaved": self.draft != self.first,
            "method": plan.method.name if plan.method else None,
        }

    @property
    def basis(self) -> str:
        """The same as long as values of choices stay as they are, whatever is decided."""
        moves = not self.counted.method.allowed  # who is left out depends on the limits
        require = [limits.basis(criterion, moves=moves) for criterion in self.plan.require]
        return f"{self.counted.number} {'; '.join(require)}"


def _refuse_unfit(plan: Plan) -> None:
    """Refuse releases that publish no levels of columns: noise, marginals."""
    method = plan.method
    if method is not None and (method.promises or not method.publishes_rows):
        raise UsageError(
            "no_levels",
            f"{method.name} does not publish rows at levels, which the explorer decides",
            where=plan.name,
            hint="Select another release, or use `privacy-sql search` and `privacy-sql run`.",
        )
    if not plan.table.quasi or plan.table.group:
        hint = "Name quasi_identifiers, or let `privacy-sql init --from FILE` propose them."
        raise UsageError("nothing_to_decide", "no quasi-identifier has levels", where=plan.name, hint=hint)
