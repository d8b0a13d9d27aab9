"""Requirements: evidence (a small table of counts) in, verdict out. A criterion runs no SQL itself.

In: the rows that `sql/criteria/<name>.sql` returns, which receives the relations of `Grouping.relations`
and the criterion's own fields. Out: a verdict. Read `k_anonymity.py` first; each criterion is a file of
its name, and everything it may be asked is declared on `Criterion` here. A new distance for t-closeness
goes into `t_closeness.py` and its template, and into `_distances.py`, where a search asks it of arrays.
`_of_people.py` is what criteria about k people share. A search asks `_on_arrays.py`. `_skyline_points.py` and
`_skyline_words.py` are shared with studies, `_risks.py` with what counts risks of releases.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, TypeAlias

from privacy_sql import registry
from privacy_sql.errors import UsageError, did_you_mean
from privacy_sql.parameters import bind, given, number_or_refuse, parse_call
from privacy_sql.verdict import Number, Verdict, Witness, holds

if TYPE_CHECKING:
    from privacy_sql.counted.base import Base
    from privacy_sql.counted.grouping import Grouping, Together
    from privacy_sql.engines import Columns
    from privacy_sql.table import Table

Row = Mapping[str, Any]
# the rows of the template, or what `gather` made: each requirement reads its own, and nobody else reads it
Evidence: TypeAlias = Any
# a limit as the user wrote it: kept as text so that 0.6 means three fifths
Exact = str | int | float | Fraction
# a limit beyond this is none: no float comes near it
LARGEST = 10**300
EMPTY = "requires nothing: no table can fail it"


class Splits(Protocol):
    """The state of a requirement that looks at all groups at once, while a search cuts groups."""

    def seen(self, grouping: Grouping) -> Evidence:
        """The evidence about all parts that are tried together."""

    def hopeless(self, evidence: Evidence) -> Collection[int]:
        """Parts that break the requirement whatever is cut beside them; nobody asks about their cuts."""
        return ()

    def allows(self, evidence: Evidence, groups: Sequence[int]) -> bool:
        """Whether a group may be replaced by these parts of it."""

    def accept(self, evidence: Evidence, groups: Sequence[int]) -> None:
        """The group is replaced by these parts of it."""


@dataclass(frozen=True)
class Criterion:
    """What every requirement shares; a subclass binds its parameters as fields."""

    name: ClassVar[str]
    question: ClassVar[str]  # what a person would ask
    against: ClassVar[str]  # the adversary it holds against, and no other
    unit: ClassVar[str] = ""  # of its value: people, values, households, share
    relation: ClassVar[str]
    reads_sensitive: ClassVar[bool] = True
    needs_population: ClassVar[bool] = False
    needs_base: ClassVar[bool] = (
        False  # reads the original quasi-identifiers, so not decidable from a release
    )
    of_labels: ClassVar[bool] = False  # asked of groups that show a label of every quasi-identifier
    without_labels: ClassVar[str] = "Publish by generalise or full_domain."  # what to do where they show none
    needs_register: ClassVar[bool] = False  # depends on what else is out, so asked again before it leaves
    # a theorem, named in the docstring of the subclass, or False
    safe_under_merging: ClassVar[bool] = False
    safe_under_suppression: ClassVar[bool] = False
    # a group that contains a safe group is safe, whoever else is in it
    safe_in_larger_groups: ClassVar[bool] = False

    @property
    def safe_under_generalisation(self) -> bool:
        """Whether mapping the labels of a column together keeps it, as merging whole groups does.

        Only a search over levels that leaves nobody out may prune by it: other merges are of single groups.
        """
        return self.safe_under_merging

    @classmethod
    def unit_of(cls, params: Mapping[str, Any], relation: str) -> str:
        """What a verdict with these parameters counts: people, values, households, a share, or nothing."""
        return cls.unit

    @property
    def needs_one_value(self) -> bool:
        """Whether it is defined for one value per person only, as what compares distributions is."""
        return False

    @property
    def reads(self) -> tuple[str, ...]:
        """What the template needs of the grouping beside the usual relations, by attribute."""
        return ()

    @property
    def limit(self) -> Number:
        raise AttributeError(f"{self.name} has no single limit")

    def judge(self, evidence: Sequence[Row]) -> Verdict:
        raise AttributeError(f"{self.name} does not judge")

    def keeps(self, evidence: Sequence[Row]) -> bool:
        """Whether `judge` would say safe, where nobody asks why."""
        return self.judge(evidence).safe

    def failing(self, evidence: Sequence[Row]) -> list[int]:
        """The groups that break the requirement on their own, from evidence `by_group`."""
        by_group: dict[int, list[Row]] = {}
        for row in evidence:
            if row["g"] is not None:  # people of a population whom no group fits cannot be left out
                by_group.setdefault(row["g"], []).append(row)
        kinds: dict[Any, bool] = {}  # alike groups are judged once
        broken = []
        for group, rows in by_group.items():
            kind = tuple(tuple((key, row[key]) for key in row if key != "g") for row in rows)
            if kind not in kinds:
                kinds[kind] = self.keeps(rows)
            if not kinds[kind]:
                broken.append(group)
        return broken

    @property
    def cannot_fail(self) -> bool:
        """Whether no table breaks it, so that it asks nothing."""
        return False

    def necessary(self) -> Sequence[Criterion]:
        """Weaker requirements this one implies, all `safe_in_larger_groups`; a search bounds with them."""
        return ()

    def fewest_people(self, table: Table) -> int:
        """No group with fewer people keeps the requirement; a search does not ask about smaller ones."""
        return max((weaker.fewest_people(table) for weaker in self.necessary()), default=1)

    def context(self) -> dict[str, Any]:
        """What the template receives beside the relations: whole numbers and words only."""
        return given(self)

    # -- hooks that only a few requirements have a use for: by default they do nothing -----------------------

    # the whole table as one group may break it although a partition of it does not
    cuts_may_help: ClassVar[bool] = False

    def on(self, table: Table) -> Criterion:
        """The requirement as it stands for one table, where a property depends on what the table declares."""
        return self

    @property
    def slider(self) -> str | None:
        """The parameter that values are only compared with: another one changes verdicts, and no value."""
        return None

    def in_project(self) -> Self:
        """The requirement as a project file means it, where that is stricter."""
        return self

    def as_published(self) -> Self:
        """The requirement as published rows are asked it, which may hold less than the table they are of."""
        return self

    def within(self, directory: Path) -> Self:
        """The requirement with the files it names read from a folder."""
        return self

    def beforehand(self, base: Base) -> str | None:
        """What a person should know before a search over this table begins; None when there is nothing."""
        return None

    def tables(self, base: Base) -> Mapping[str, Columns]:
        """Small tables of our own that the template joins."""
        return {}

    def gather(self, grouping: Grouping) -> Evidence | None:
        """Evidence that takes more than one statement, group by group, or arrays instead of rows; None when
        the rows of the template say it all."""
        return None

    @property
    def of_marginals(self) -> bool:
        """Whether it may be asked of several marginals together."""
        return "cliques" in self.reads

    def together(self, collection: Together) -> Evidence | None:
        """Of marginals together what SQL does not decide; None when the rows of the template say it all."""
        return None

    def splits(self, whole: Grouping) -> Splits | None:
        """How a search that cuts groups asks about one cut at a time; None when each group stands alone.

        A requirement over all groups at once keeps its state here, starting with the `whole` table as one
        group.
        """
        return None

    # -- what is said of it ---------------------------------------------------------------------------------

    @property
    def params(self) -> dict[str, Any]:
        """The parameters that differ from their defaults, as the user wrote them."""
        fields = zip(dataclasses.fields(self), given(self).values(), strict=True)
        return {field.name.rstrip("_"): value for field, value in fields if value != field.default}

    def __str__(self) -> str:
        return f"{self.name}({', '.join(f'{key}={_text(value)}' for key, value in self.params.items())})"

    def verdict(
        self,
        value: Number | None,
        witness: Witness,
        story: str = "",
        *,
        safe: bool | None = None,
        exact: bool | None = None,
        limit: Number | None = None,
        relation: str | None = None,
        notes: tuple[str, ...] = (),
        points: tuple[Any, ...] = (),
    ) -> Verdict:
        """A verdict of this requirement; unless `safe` is given, the value is compared with the limit."""
        limit = self.limit if limit is None else limit
        relation = relation or self.relation
        decided = holds(value, relation, limit) if safe is None else safe
        params = {key: _plain(value) for key, value in self.params.items()}
        return Verdict(
            requirement=str(self),
            criterion=self.name,
            params=params,
            safe=decided,
            value=value,
            limit=limit,
            relation=relation,
            exact=not isinstance(value, float) if exact is None else exact,
            witness=witness,
            story=story,
            notes=notes,
            points=points,
        )


def _plain(value: object) -> object:
    """A parameter as JSON shows it: integers, text, or lists and mappings of them."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    return value if isinstance(value, int) else str(value)


def _text(value: object) -> str:
    """A parameter as it is written: lists without quotes around their parts."""
    plain = _plain(value)
    if isinstance(plain, list):
        return f"[{', '.join(map(_text, plain))}]"
    if isinstance(plain, dict):
        return f"{{{', '.join(f'{key}: {_text(part)}' for key, part in plain.items())}}}"
    return str(plain)


def exact(value: Exact, criterion: str, parameter: str, low: Number, high: Number | None = None) -> Fraction:
    """A limit as the exact number its text says, inside its range; floats by their shortest text.

    >>> exact("0.6", "ck_safety", "c", 0, 1), exact(0.1, "ck_safety", "c", 0, 1)
    (Fraction(3, 5), Fraction(1, 10))
    """
    span = f"between {low} and {high}" if high is not None else f"of at least {low}"
    most = LARGEST if high is None else high
    refusal = _bad(criterion, parameter, f"a number {span}")
    return number_or_refuse(value, refusal, lambda number: low <= number <= most)


def at_least(value: object, low: int, criterion: str, parameter: str) -> int:
    """A whole number not below `low`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < low:
        raise _bad(criterion, parameter, f"a whole number of at least {low}")
    return value


def one_of(value: object, words: Sequence[str], criterion: str, parameter: str) -> str:
    """One of a few words."""
    if value not in words:
        hint = did_you_mean(str(value), words)
        raise UsageError(
            "bad_parameter", f"{parameter} of {criterion} is one of {', '.join(words)}", hint=hint
        )
    return str(value)


def _bad(criterion: str, parameter: str, need: str) -> UsageError:
    return UsageError("bad_parameter", f"{parameter} of {criterion} must be {need}")


def make(name: str, params: Mapping[str, Any], where: str = "") -> Criterion:
    """A criterion from its name and parameters as text, all problems at once.

    >>> str(make("k_anonymity", {"k": "5"}))
    'k_anonymity(k=5)'
    """
    kind: type[Criterion] = registry.get("criteria", name)
    return bind(kind, name, params, where)


def least(require: Sequence[Any]) -> int:
    """The size below which a group singles people out: the largest k that is required, at least two."""
    return max([2, *(int(criterion.k) for criterion in require if criterion.name == "k_anonymity")])


def refuse_empty(criterion: Criterion, where: str = "") -> Criterion:
    """The same requirement; one that no table can fail is refused, because a SAFE of it says nothing."""
    if criterion.cannot_fail:
        hint = "Ask for more, or leave it out."
        raise UsageError("cannot_fail", f"{criterion} {EMPTY}", where=where, hint=hint)
    return criterion


def read(text: str) -> Criterion:
    """A criterion as it is written everywhere.

    >>> read("k_anonymity(k=5)")
    KAnonymity(k=5)
    """
    return make(*parse_call(text))
