"""Release: what is published, with its verdicts and everything needed to write, audit and explain it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from privacy_sql import manifest
from privacy_sql.counted.base import Base
from privacy_sql.counted.fingerprints import DistinctRows
from privacy_sql.counted.grouping import Candidate, Grouping, Judgeable
from privacy_sql.display import notebook
from privacy_sql.display.aligned import aligned
from privacy_sql.display.levels import in_words
from privacy_sql.errors import NotSafe, UsageError, number_of
from privacy_sql.query.template import Query
from privacy_sql.table import Table
from privacy_sql.verdict import Verdict, measured

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


@dataclass(frozen=True)
class Proposal:
    """What would be published, and the grouping that requirements judge."""

    grouping: Candidate
    view: Query  # the rows that would leave
    choice: Mapping[str, Any]  # plain data, for the manifest
    quasi: tuple[str, ...]  # published quasi-identifiers
    levels: Mapping[str, int] = field(default_factory=dict)  # the level each is shown at
    group: str | None = None  # the published group number, when groups are not the quasi-identifiers
    shown_as: Mapping[str, str] = field(default_factory=dict)  # what a published column is, when no level
    suppressed: int = 0
    search: Mapping[str, Any] | None = None
    lattice: Mapping[str, Any] | None = None  # the decided choices, for a report
    rehearsal: bool = False  # made with a seed: not for publication
    # for methods that promise instead of showing rows that can be judged
    claims: Mapping[str, str] = field(default_factory=dict)
    promise: Callable[[], Mapping[str, Verdict]] | None = (
        None  # the verdicts on the promise, judged again by the audit
    )
    published: int | None = None  # lines published, when they are not rows of the source
    counted: int | None = None  # then: how many rows they count, where that is public
    permuted: bool = False  # sensitive values stand in an order nobody can follow within their group
    # several tables that leave together, by name; `view` then shows them in one statement
    parts: Mapping[str, Query] = field(default_factory=dict)
    alike: DistinctRows | None = None  # the rows of `view` with counts, if it is made from counts

    def printed_levels(self, column: str) -> set[int]:
        """The printed levels of a column: its own, those of rounds, or of marginals."""
        levels = self.choice.get("levels", self.levels)
        tables = [
            table if isinstance(table, Mapping) else {name: levels.get(name, 0) for name in table}
            for table in self.choice.get("marginals", ())
        ]
        rounds = [part["levels"] for part in self.choice.get("rounds", ())]
        return {int(made[column]) for made in [*tables, *rounds, self.levels] if column in made}


class Required(Protocol):
    """A requirement of a release, as this room knows it: a `Criterion`, whose room is above this one."""

    @property
    def name(self) -> str: ...

    @property
    def question(self) -> str: ...

    @property
    def against(self) -> str: ...

    @property
    def params(self) -> dict[str, Any]: ...

    @property
    def reads_sensitive(self) -> bool: ...

    @property
    def cannot_fail(self) -> bool: ...


class Guessed(Protocol):
    """How sure a reader is who guesses: a `Baseline`, whose room is above this one."""

    @property
    def n_people(self) -> int: ...

    @property
    def smallest_known(self) -> int | None: ...

    def below(self, k: int) -> tuple[int, int]: ...

    def to_json(self) -> dict[str, Any]: ...

    def sentences(self, require: Sequence[Required]) -> list[str]: ...


@dataclass(frozen=True)
class Release(Judgeable):
    """One way to publish a table, judged but not published; `write` audits and writes it."""

    name: str
    table: Table
    proposal: Proposal = field(repr=False)  # the proposal of the method
    verdicts: Mapping[str, Verdict]
    require: tuple[Required, ...]
    method: str
    rows_in: int | None  # None: the number of rows behind the counts is secret
    rows_out: int
    repeated: int = 0  # rows that repeat what another row says about a person
    step: int | None = (
        None  # the step to which others see suppressed or repeated rows rounded; None: there are none
    )
    columns: Mapping[str, str] = field(default_factory=dict)
    base: Base = field(kw_only=True, repr=False)  # the counted table it is made from
    baseline: Guessed | None = field(default=None, repr=False)
    refusal: NotSafe | None = field(default=None, repr=False)  # what is wrong beside the requirements
    # for whom and why it is published, as a person says
    signoff: Mapping[str, Any] = field(default_factory=dict, repr=False)
    # a person's limit for the risk, for whom, and why
    determination: Mapping[str, str] = field(default_factory=dict, repr=False)
    # how much each column counts where detail is told, as a project says for searches; others count 1
    importance: Mapping[str, Any] = field(default_factory=dict, repr=False)
    # how its rows are written and audited; that room is above this one
    audited_rows: Callable[[Release], pa.Table] | None = field(default=None, repr=False, compare=False)

    # shortcuts to the proposal of the method

    @property
    def view(self) -> Query:
        """The rows that would be published."""
        return self.proposal.view

    @property
    def grouping(self) -> Candidate:
        """The judged grouping."""
        return self.proposal.grouping

    @property
    def choice(self) -> Mapping[str, Any]:
        """What the method chose, as plain data."""
        return self.proposal.choice

    @property
    def quasi(self) -> tuple[str, ...]:
        """The published quasi-identifiers."""
        return self.proposal.quasi

    @property
    def levels(self) -> Mapping[str, int]:
        """The level each of them is shown at."""
        return self.proposal.levels

    @property
    def group(self) -> str | None:
        """The published group number, if groups are not the quasi-identifiers."""
        return self.proposal.group

    @property
    def search(self) -> Mapping[str, Any] | None:
        """What was searched."""
        return self.proposal.search

    @property
    def rehearsal(self) -> bool:
        """Whether it was made with a seed, and is not for publication."""
        return self.proposal.rehearsal

    @property
    def claims(self) -> Mapping[str, Any]:
        """What the method promises, not checkable from rows (a privacy loss)."""
        return self.proposal.claims

    @property
    def parts(self) -> Mapping[str, Query]:
        """Several tables published together; `view` shows them in one statement."""
        return self.proposal.parts

    @property
    def alike(self) -> DistinctRows | None:
        """The same rows with counts, if the counts say everything that is published."""
        return self.proposal.alike

    @property
    def promise(self) -> Callable[[], Mapping[str, Verdict]] | None:
        """The verdicts on the claims, judged again by the audit."""
        return self.proposal.promise

    def published_as(self, column: str) -> str:
        """What a published column shows, in the words of the manifest."""
        proposal = self.proposal
        if column == proposal.group:
            return manifest.GROUP_NUMBER
        if column in proposal.shown_as:
            return proposal.shown_as[column]
        if column not in proposal.quasi:
            return str(self.table.roles.get(column, manifest.AS_IT_IS))
        return manifest.at_level(proposal.levels.get(column, 0))

    def to_arrow(self) -> pa.Table:
        """The audited rows as an Arrow table, or the error of `write`."""
        assert self.audited_rows is not None
        return self.audited_rows(self)

    def to_pandas(self) -> pd.DataFrame:
        """The audited rows as a pandas frame, or the error of `write`."""
        found: pd.DataFrame = self.to_arrow().to_pandas()
        return found

    def to_polars(self) -> pl.DataFrame:
        """The audited rows as a polars frame, or the error of `write`."""
        import polars

        return polars.DataFrame(self.to_arrow())

    @property
    def safe(self) -> bool:
        """Whether there are requirements, all of them hold, and no other column singles people out."""
        if self.refusal is not None:
            return False
        return bool(self.verdicts) and all(verdict.safe for verdict in self.verdicts.values())

    @property
    def suppressed(self) -> int | None:
        """The suppressed rows; None if the release does not publish rows."""
        if self.rows_in is None or self.proposal.promise is not None:
            return None
        return self.rows_in - self.rows_out - self.repeated

    @property
    def groups(self) -> Grouping:
        """The judged groups of rows; several marginals, and noisy counts, have none."""
        found = self.proposal.grouping.one_table if self.proposal.promise is None else None
        if found is None:
            raise UsageError("no_groups", f"the method {self.method} publishes no groups of rows")
        return found

    @property
    def counts(self) -> dict[str, int | None]:
        """Its rows: read, published, suppressed and repeated."""
        return {
            "rows_in": self.rows_in,
            "rows_out": self.rows_out,
            "suppressed": self.suppressed,
            "repeated": self.repeated,
        }

    def sql(self, dialect: str = "duckdb") -> str:
        """The SELECT of the published rows."""
        return self.view.text(dialect)

    @property
    def _unasked(self) -> str:
        """The sensitive columns without a requirement."""
        asked = any(criterion.reads_sensitive and not criterion.cannot_fail for criterion in self.require)
        named = self.table.declared_sensitive
        if asked or not named or self.proposal.promise is not None:
            return ""
        return f"; no requirement is about {', '.join(named)}, which somebody may learn"

    def _counts(self, verb: str = "published") -> str:
        """The rows in and out; an unsafe release publishes nothing."""
        if self.proposal.promise is not None:
            of = f" of {number_of(self.rows_in, 'row')}" if self.rows_in is not None else ""
            return f"{number_of(self.rows_out, 'noisy count')}{of}"
        assert self.rows_in is not None
        left = f"{self.rows_out} {verb}, {self.suppressed} suppressed" if self.safe else "nothing published"
        repeated = f", {self.repeated} repeated" if self.safe and self.repeated else ""
        return f"{number_of(self.rows_in, 'row')} in, {left}{repeated}"

    def _repr_html_(self) -> str:
        """The release in a notebook; it has not been published."""
        rehearsal = "REHEARSAL: made with a seed, NOT FOR PUBLICATION." if self.rehearsal else ""
        return verdict_table(
            f"{self.name}: {notebook.word(self.safe)}",
            self.verdicts,
            [self._counts() + self._unasked, rehearsal],
        )

    def __str__(self) -> str:
        return self.told()

    def told(self, verb: str = "published") -> str:
        """The release in a few lines; `verb` says what happened to its rows."""
        choice = in_words(self.choice, self.table.described_levels)
        head = [
            f"{self.name}    {self._counts(verb)}{self._unasked}",
            f"method      {self.method}{choice and ': '}{choice}",
            "",
            *verdict_lines(self.verdicts),
        ]
        if self.baseline is not None:
            head += ["", *self.baseline.sentences(self.require)]
        if self.table.acknowledged:
            head.append(f"published anyway, because: {self.table.acknowledged}")
        if self.rehearsal:
            head += ["", "REHEARSAL: made with a seed, NOT FOR PUBLICATION."]
        return "\n".join(head)


def verdict_table(title: str, verdicts: Mapping[str, Verdict], notes: Iterable[str] = ()) -> str:
    """The same as HTML, for a notebook."""
    rows = [(name, *measured(verdict), notebook.word(verdict.safe)) for name, verdict in verdicts.items()]
    return notebook.table(title, ["requirement", "value", "limit", "verdict"], rows, notes)


def verdict_lines(verdicts: Mapping[str, Verdict]) -> list[str]:
    """The verdicts as aligned lines: requirement, value, limit, safe or not.

    >>> verdict_lines({})
    ['requirement  value  limit  verdict']
    """
    cells = [("requirement", "value", "limit", "verdict")]
    for requirement, verdict in verdicts.items():
        word = "safe" if verdict.safe else "NOT SAFE"
        if verdict.estimated_groups:
            word += f" (exact: false, an estimate for {number_of(verdict.estimated_groups, 'group')})"
        cells.append((requirement, *measured(verdict), word))
    return aligned(cells)


def refuse_no_release(given: object) -> None:
    """Refuse what is not a release."""
    if not isinstance(given, Release):
        hint = "Use for example the result of ps.publish."
        raise UsageError("bad_argument", f"expected a Release, got a {type(given).__name__}", hint=hint)
