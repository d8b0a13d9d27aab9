"""Judge each requirement on a grouping: its template's evidence, then its own judgement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any, cast

from privacy_sql.counted.base import no_rows
from privacy_sql.counted.grouping import Candidate, Origin
from privacy_sql.counted.households import household_groups
from privacy_sql.counted.population import population_groups
from privacy_sql.criteria import EMPTY, Criterion, Row
from privacy_sql.display import notebook
from privacy_sql.errors import PrivacySqlError, Undecided, UsageError, raise_all
from privacy_sql.query.template import Query, Sql, names, render
from privacy_sql.release import Release, verdict_table
from privacy_sql.table import Table
from privacy_sql.verdict import Verdict, Witness

if TYPE_CHECKING:
    import pandas as pd


class Verdicts(dict[str, Verdict]):
    """Requirement -> verdict, in the given order; true if there is at least one and all are safe.

    >>> bool(Verdicts())
    False
    """

    notes: tuple[str, ...] = ()  # findings besides the requirements, which are not judged

    def __bool__(self) -> bool:
        return bool(len(self)) and all(verdict.safe for verdict in self.values())

    def to_frame(self) -> pd.DataFrame:
        """One row per requirement, for a notebook or a table of many releases."""
        import pandas

        columns = ["requirement", "criterion", "safe", "value", "relation", "limit", "exact", "story"]
        rows = [
            (name, v.criterion, v.safe, v.value, v.relation, v.limit, v.exact, v.story)
            for name, v in self.items()
        ]
        return pandas.DataFrame(rows, columns=columns)

    def _repr_html_(self) -> str:
        return verdict_table(notebook.word(bool(self)), self)


def refuse_no_list(require: object) -> None:
    """Refuse a wrong type early, with a clear message."""
    if not isinstance(require, Sequence) or not all(isinstance(asked, Criterion) for asked in require):
        hint = "For example [ps.KAnonymity(5)]."
        raise UsageError("bad_requirement", "`require` must be a list of criteria", hint=hint)
    refuse_twice(require)


def refuse_twice(require: Sequence[Criterion]) -> None:
    """Refuse two requirements with one text, which verdicts, searches and manifests tell them apart by.

    Otherwise the verdict of the one would stand for the other, which may differ in a value with a comma, or
    be a subclass that judges otherwise.
    """
    texts = list(map(str, require))
    for text in texts:
        if texts.count(text) > 1:
            hint = "Require it only once, because this text is the name of its verdict."
            raise UsageError("same_requirement", f"{text} is required twice", hint=hint)


@dataclass(frozen=True)
class Requirements:
    """The requirements of a release, and the only way for a method to judge a grouping."""

    require: tuple[Criterion, ...]

    @classmethod
    def of(cls, table: Table, require: Sequence[Criterion]) -> Requirements:
        """The requirements for one table."""
        refuse_no_list(require)
        return cls(tuple(criterion.on(table) for criterion in require))

    def judge(self, grouping: Candidate) -> Verdicts:
        return judge(grouping, self.require)

    def failing(self, grouping: Candidate) -> set[int]:
        """The groups that break a requirement on their own."""
        return {group for criterion in self.require for group in failing(grouping, criterion)}

    @property
    def not_safe_under_merging(self) -> tuple[str, ...]:
        """Requirements for which a coarser choice may be less safe than a finer one."""
        return tuple(str(criterion) for criterion in self.require if not criterion.safe_under_merging)


def required(release: Release) -> tuple[Criterion, ...]:
    """The requirements of a release, whose room knows less of them than this one."""
    return cast("tuple[Criterion, ...]", release.require)


def judge(grouping: Candidate, require: Sequence[Criterion]) -> Verdicts:
    """The verdict of every requirement on one grouping; an empty table is never safe."""
    refuse_unfit(grouping.base, require)
    if grouping.one_table is None:
        refuse_one_table(require)
    if not grouping.base.holds_rows:
        raise no_rows(grouping.base.table)
    verdicts = Verdicts()
    undecided: dict[str, Undecided] = {}
    several = sum(criterion.reads_sensitive for criterion in require) > 1
    parts = [part.stored if several else part for part in grouping.of_each_column()]
    for part, criterion in product(parts, require):
        name = for_column(str(criterion), part.base) if len(parts) > 1 else str(criterion)
        try:
            found, groups = _less_safe(part, criterion, criterion.judge(_rows(part, criterion)))
            notes = (*found.notes, f"{criterion} {EMPTY}") if criterion.cannot_fail else found.notes
            witness = groups.told(found.witness)
            verdicts[name] = replace(found, requirement=name, notes=notes, witness=witness)
        except Undecided as problem:
            undecided[name] = problem
            # takes the place of a verdict if another one has failed
            try:
                limit = criterion.limit
            except AttributeError:
                limit = None
            why = f"Not decided, so not safe: {problem.message}."
            verdicts[name] = replace(
                criterion.verdict(None, Witness({}), safe=False, limit=limit, exact=False, notes=(why,)),
                requirement=name,
            )
    # raise what is undecided, unless the answer is "not safe" without it
    if undecided and all(verdict.safe for name, verdict in verdicts.items() if name not in undecided):
        raise next(iter(undecided.values()))
    return verdicts


def for_column(requirement: str, base: Origin) -> str:
    """A requirement with its sensitive column, if there are several."""
    return f"{requirement} for {base.table.sensitives[0]}" if base.table.also_sensitive else requirement


def refuse_one_table(require: Sequence[Criterion]) -> None:
    """Refuse requirements that do not apply to several marginals together."""
    unfit = [str(criterion) for criterion in require if not criterion.of_marginals]
    if unfit:
        raise UsageError(
            "unfit_requirement",
            f"{', '.join(unfit)} applies to one table, not to several marginals",
            hint="Require k_link, k_combinatorial, maxent_l_diversity or composition.",
        )


def refuse_unfit(base: Origin, require: Sequence[Criterion]) -> None:
    """Refuse requirements that do not fit this table, before gathering evidence."""
    if not require:
        raise UsageError(
            "no_requirement", "there are no requirements", hint="Add for example k_anonymity(k=5)."
        )
    refuse_twice(require)
    problems: list[PrivacySqlError] = []
    for criterion in require:
        if criterion.reads_sensitive and not base.table.sensitives:
            told, hint = f"{criterion} needs a sensitive column", "Name one with --sensitive."
            problems.append(UsageError("no_sensitive", told, hint=hint))
        if criterion.needs_population and base.table.population is None:
            told = f"{criterion} needs a population table"
            hint = "Name one: population: {file: F} in privacy.yml, --population F, or Table(population=F)."
            problems.append(UsageError("no_population", told, hint=hint))
        if criterion.needs_one_value and base.table.values_per_person != "one":
            told = f"{criterion} needs one value per person, but people have several values each"
            hint = "Use privacy_skyline, or declare values_per_person: one."
            problems.append(UsageError("several_values", told, hint=hint))
        # whoever sees who lives together tells people of one group apart by the rest of their household
        if base.table.members_tied and "households" not in criterion.reads:
            told = f"rows show who lives together, and {criterion} does not count that"
            hint = (
                "Require household_k_anonymity(known=all), or judge the table without the household number."
            )
            problems.append(UsageError("members_tied", told, hint=hint))
    raise_all(problems)


def decided(grouping: Candidate, criterion: Criterion) -> Verdict:
    """The verdict of one requirement without the number of its worst group, which is enough for a search."""
    return _less_safe(grouping, criterion, criterion.judge(_rows(grouping, criterion)))[0]


def _less_safe(grouping: Candidate, criterion: Criterion, verdict: Verdict) -> tuple[Verdict, Candidate]:
    """The worse of two verdicts: with known insensitive columns, and for a reader who does not know them.

    Both must hold; the groups of the verdict come with it. What is safe under merging holds for the coarser
    groups if it holds for the finer ones.
    """
    coarser = None if criterion.safe_under_merging or not verdict.safe else grouping.unknowing
    if coarser is None:
        return verdict, grouping
    other = criterion.judge(_rows(coarser, criterion))
    return (verdict, grouping) if other.safe else (other, coarser)


def decided_each(groupings: Sequence[Candidate], criterion: Criterion) -> list[Verdict]:
    """The verdict for several groupings of one engine, with all evidence from one statement."""
    gathered = [cast("Sequence[Row] | None", grouping.gathered(criterion)) for grouping in groupings]
    if len(groupings) > 1 and not any(found is not None for found in gathered):
        engine = groupings[0].base.engine
        parts = [evidence(grouping, criterion) for grouping in groupings]
        columns = names(engine.columns(engine.create(parts[0], view=True)))
        rows: list[list[dict[str, Any]]] = [[] for _ in groupings]
        query = render("judge/side_by_side.sql", parts=[Sql(part.sql) for part in parts], columns=columns)
        for row in engine.fetch(query):
            rows[row.pop("choice")].append(row)
        gathered = [*rows]
    return [
        _less_safe(
            grouping, criterion, criterion.judge(_rows(grouping, criterion) if found is None else found)
        )[0]
        for grouping, found in zip(groupings, gathered, strict=True)
    ]


def evidence(grouping: Candidate, criterion: Criterion, *, by_group: bool = False) -> Query:
    """The evidence of a criterion; `by_group` lists groups separately instead of counting equal ones."""
    table = grouping.one_table
    tables = criterion.tables(table.base) if table is not None else {}
    loaded = {name: grouping.base.engine.load(columns, name) for name, columns in tables.items()}
    made = {"population": population_groups, "households": household_groups}
    reads = {
        name: made[name](table) if name in made and table is not None else grouping.relation(name)
        for name in criterion.reads
    }
    return render(
        f"criteria/{criterion.name}.sql",
        **grouping.relations(criterion.reads_sensitive),
        **reads,
        **criterion.context(),
        **loaded,
        by_group=by_group,
    )


def failing(grouping: Candidate, criterion: Criterion) -> set[int]:
    """The groups that break the requirement on their own."""
    return set(criterion.failing(_rows(grouping, criterion, by_group=True)))


def _rows(grouping: Candidate, criterion: Criterion, *, by_group: bool = False) -> Sequence[Row]:
    gathered = grouping.gathered(criterion)
    if gathered is not None:
        # only the requirement itself reads it, and asks whether it is what it gathers
        return cast("Sequence[Row]", gathered)
    return grouping.base.engine.fetch(evidence(grouping, criterion, by_group=by_group))
