"""Requirements: evidence (a small table of counts) in, verdict out. A criterion runs no SQL itself.

In: the rows that `sql/criteria/<name>.sql` returns, which receives the relations of `Grouping.relations`
and the criterion's own fields. Out: a verdict. Read `k_anonymity.py` first; each criterion is a file of
its name, and everything it may be asked is declared on `Criterion` here. A new distance for t-closeness
goes into `t_closeness.py` and its template, and into `_distances.py`, where a search asks it of arrays.
`_of_people.py` is what criteria about k people share. A search asks `_on_arrays.py`, one for marginals
`_in_marginals.py`. `_skyline_points.py` and `_skyline_words.py` are shared with studies, `_risks.py` with
what counts risks of releases.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, TypeVar

from privacy_sql import registry
from privacy_sql.errors import UsageError, did_you_mean
from privacy_sql.parameters import bind, given, number_or_refuse, parse_call
from privacy_sql.verdict import Number, Verdict, Witness, holds

if TYPE_CHECKING:
    from privacy_sql.counted.base import Base
    from privacy_sql.counted.grouping import Grouping, Together
    from privacy_sql.counted.groups import Bools, Groups
    from privacy_sql.engines import Columns
    from privacy_sql.history.described import Description
    from privacy_sql.kernels.marginals.clique_join import JoinClique
    from privacy_sql.table import Table

Row = Mapping[str, Any]
Tried = TypeVar("Tried")  # what the state of a requirement knows of parts that are tried together
# a limit as the user wrote it: kept as text so that 0.6 means three fifths
Exact = str | int | float | Fraction
# a limit beyond this has no effect, because no float comes near it
LARGEST = 10**300
EMPTY = "requires nothing, because no table can fail it"


class Splits(Protocol[Tried]):
    """The state of a requirement that judges all groups at once, while a search cuts groups."""

    def seen(self, grouping: Grouping) -> Tried:
        """The evidence about all parts tried together."""

    def seen_in(self, groups: Groups) -> Tried:
        """The same about parts in memory, identified by their keys."""
        raise AssertionError(f"{type(self).__name__} is asked by statements only")

    def hopeless(self, evidence: Tried) -> Collection[int]:
        """Parts that break the requirement whatever is cut beside them; nobody asks about their cuts."""
        return ()

    def allows(self, evidence: Tried, groups: Sequence[int]) -> bool:
        """Whether these parts may replace their group."""

    def accept(self, evidence: Tried, groups: Sequence[int]) -> None:
        """Replace the group with these parts."""


class DecidesGroups(Protocol):
    """A requirement that is decided on groups in memory, exactly as its template and `judge` decide it."""

    def fits(self, base: Base) -> bool:
        """Whether that holds for this table."""

    def decide(self, groups: Groups) -> Verdict:
        """The verdict without naming the worst group, which is enough for a search."""

    def breaking(self, groups: Groups) -> Bools:
        """The groups to leave out so that the others are safe."""

    def splits_in(self, whole: Groups) -> Splits[Any] | None:
        """The same as `splits`, from arrays."""


class JoinedMarginals(Protocol):
    """The marginals with a sensitive column that a search tries together; there may be none."""

    @property
    def cliques(self) -> Sequence[JoinClique]:
        """Their counts, along their junction tree."""

    @property
    def n_values(self) -> int:
        """How many sensitive values there are."""

    def least_diverse(self, ell: int, kind: str, share: Fraction) -> Sequence[Mapping[str, Any]]:
        """Their groups that are least diverse."""

    def judged(self, criterion: Criterion) -> Verdict:
        """What `judge` says of them, from statements."""


class DecidesMarginals(Protocol):
    """A requirement that a search for marginals decides, see `_in_marginals.py`."""

    @property
    def smallest_cell(self) -> int:
        """The fewest people that any cell of any marginal may have."""

    def holds_of(self, joined: JoinedMarginals) -> bool:
        """Whether the marginals with the sensitive column meet it together."""


@dataclass(frozen=True)
class Criterion:
    """The base of every requirement; a subclass has its parameters as fields."""

    name: ClassVar[str]
    question: ClassVar[str]  # what a person would ask
    against: ClassVar[str]  # the adversary it holds against, and no other
    unit: ClassVar[str] = ""  # of its value: people, values, households, share
    relation: ClassVar[str]
    reads_sensitive: ClassVar[bool] = True
    needs_population: ClassVar[bool] = False
    needs_base: ClassVar[bool] = (
        False  # reads the original quasi-identifiers, so published rows cannot decide it
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
        """Whether mapping labels of a column together keeps it, as merging whole groups does.

        Only a search over levels without suppression may prune by it, because others merge single groups.
        """
        return self.safe_under_merging

    @classmethod
    def unit_of(cls, params: Mapping[str, Any], relation: str) -> str:
        """The unit of a verdict with these parameters: people, values, households, a share, or nothing."""
        return cls.unit

    @property
    def needs_one_value(self) -> bool:
        """Whether it is defined only for one value per person, like comparisons of distributions."""
        return False

    @property
    def reads(self) -> tuple[str, ...]:
        """Further relations of the grouping that the template needs, by attribute."""
        return ()

    @property
    def limit(self) -> Number:
        raise AttributeError(f"{self.name} has no single limit")

    def judge(self, evidence: Sequence[Row]) -> Verdict:
        raise AttributeError(f"{self.name} does not judge")

    def keeps(self, evidence: Sequence[Row]) -> bool:
        """Whether `judge` would say safe, without the reason."""
        return self.judge(evidence).safe

    def failing(self, evidence: Sequence[Row]) -> list[int]:
        """The groups that break the requirement on their own, from evidence `by_group`."""
        by_group: dict[int, list[Row]] = {}
        for row in evidence:
            if row["g"] is not None:  # suppression cannot remove people outside every group
                by_group.setdefault(row["g"], []).append(row)
        kinds: dict[Any, bool] = {}  # equal groups are judged once
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
        """Whether no table can break it, so that it requires nothing."""
        return False

    def necessary(self) -> Sequence[Criterion]:
        """Weaker requirements that this one implies, all `safe_in_larger_groups`, as bounds for a search."""
        return ()

    def fewest_people(self, table: Table) -> int:
        """No group with fewer people meets the requirement, so a search skips smaller ones."""
        return max((weaker.fewest_people(table) for weaker in self.necessary()), default=1)

    def context(self) -> dict[str, Any]:
        """What the template receives besides relations: only whole numbers and words."""
        return given(self)

    # -- hooks that only a few requirements use: by default they do nothing -----------------------

    @property
    def group_size(self) -> int | None:
        """The size of groups by which reports and costs count, where it requires one and nothing else."""
        return None

    @property
    def facts(self) -> int | None:
        """How many facts about others a reader may know, where it has one limit for a guess with so many."""
        return None

    @property
    def breaches(self) -> Sequence[Fraction]:
        """The chances of a guess that it calls a breach of everybody, where it names them."""
        return ()

    def at_widths(self, table: Table) -> Mapping[Fraction, Criterion]:
        """The same at other widths, none found in the rows; empty without a `width` and a `distance`."""
        return {}

    # the whole table as one group may break it even if a partition does not
    cuts_may_help: ClassVar[bool] = False

    def on(self, table: Table) -> Criterion:
        """The requirement for one table, if a property depends on the declarations of the table."""
        return self

    @property
    def slider(self) -> str | None:
        """The parameter that is only a limit, or holds one: changing it changes verdicts but no value."""
        return None

    @property
    def slider_places(self) -> tuple[tuple[str | int, ...], ...]:
        """Where the parameters hold the limit of the slider; several places hold the same one."""
        return () if self.slider is None else ((self.slider,),)

    def altered(self, places: Sequence[Sequence[str | int]], value: str) -> dict[str, Any]:
        """The parameters with another value at these places.

        >>> from privacy_sql.criteria.privacy_skyline import PrivacySkyline
        >>> skyline = PrivacySkyline([[1, 0, 1, "0.9"], [0, 1, 1, "0.9"]])
        >>> skyline.altered(skyline.slider_places, "0.8")
        {'points': [[1, 0, 1, '0.8'], [0, 1, 1, '0.8']]}
        """
        fields = zip(dataclasses.fields(self), given(self).values(), strict=True)
        found: Any = {field.name.rstrip("_"): value for field, value in fields if value != field.default}
        for place in places:
            found = _replaced(found, place, value)
        return dict(found)

    def in_project(self) -> Self:
        """The requirement in a project file, if its meaning is stricter there."""
        return self

    def as_published(self) -> Self:
        """The requirement for published rows, which may have fewer values than the table."""
        return self

    def within(self, directory: Path) -> Self:
        """The requirement with its files relative to a folder."""
        return self

    def weighs(self, releases: Sequence[Description]) -> bool:
        """Whether it refuses what any of these exposes beside this release, so that nobody need warn."""
        return False

    def beforehand(self, base: Base) -> str | None:
        """What a person should know before a search over this table; None if there is nothing."""
        return None

    def tables(self, base: Base) -> Mapping[str, Columns]:
        """Small tables of our own that the template joins."""
        return {}

    def gather(self, grouping: Grouping) -> object | None:
        """Evidence from several statements or as arrays; None if the rows of the template are enough."""
        return None

    @property
    def on_arrays(self) -> DecidesGroups | None:
        """What decides groups in memory; None if only the template does."""
        return None

    @property
    def of_marginals(self) -> bool:
        """Whether it can judge several marginals together."""
        return "cliques" in self.reads

    def for_marginals(self) -> Criterion | None:
        """What asks the same of several marginals, of which a table is one; None if nothing does.

        >>> str(read("k_anonymity(k=5)").for_marginals()), str(read("l_diversity(l=3)").for_marginals())
        ('k_link(k=5)', 'maxent_l_diversity(l=3, kind=distinct)')
        >>> read("t_closeness(t=0.3)").for_marginals() is None
        True
        """
        return self if self.of_marginals else None

    @property
    def in_marginals(self) -> DecidesMarginals | None:
        """What decides it while marginals are searched; None refuses such a search, which would miss it."""
        return None

    def together(self, collection: Together) -> object | None:
        """Evidence about marginals that SQL cannot give; None if the rows of the template are enough."""
        return None

    def splits(self, whole: Grouping) -> Splits[Any] | None:
        """How a search judges one cut at a time; None if groups are independent.

        A requirement over all groups at once keeps its state here, starting with the `whole` table as one
        group.
        """
        return None

    # -- how it is written and shown
    # ---------------------------------------------------------------------------------

    @property
    def params(self) -> dict[str, Any]:
        """The parameters that differ from their defaults, as the user wrote them."""
        fields = zip(dataclasses.fields(self), given(self).values(), strict=True)
        return {field.name.rstrip("_"): value for field, value in fields if value != field.default}

    def __str__(self) -> str:
        return self._shown[0]

    @cached_property
    def _shown(self) -> tuple[str, dict[str, object]]:
        """The requirement as text, and its parameters; a search shows them hundreds of times."""
        written = f"{self.name}({', '.join(f'{key}={_text(value)}' for key, value in self.params.items())})"
        return written, {key: _plain(value) for key, value in self.params.items()}

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
        """A verdict of this requirement; compares the value with the limit unless `safe` is given."""
        limit = self.limit if limit is None else limit
        relation = relation or self.relation
        decided = holds(value, relation, limit) if safe is None else safe
        requirement, params = self._shown
        return Verdict(
            requirement=requirement,
            criterion=self.name,
            params=dict(params),
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


def _replaced(value: Any, place: Sequence[str | int], limit: str) -> Any:
    """Nested parameters with another value at one place."""
    if not place:
        return limit
    at, *within = place
    if isinstance(value, Mapping):
        return {**value, at: _replaced(value[at], within, limit)}
    assert isinstance(at, int)
    return [_replaced(part, within, limit) if number == at else part for number, part in enumerate(value)]


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
    """A parameter as users write it: lists without quotes around their parts."""
    plain = _plain(value)
    if isinstance(plain, list):
        return f"[{', '.join(map(_text, plain))}]"
    if isinstance(plain, dict):
        return f"{{{', '.join(f'{key}: {_text(part)}' for key, part in plain.items())}}}"
    return str(plain)


def exact(value: Exact, criterion: str, parameter: str, low: Number, high: Number | None = None) -> Fraction:
    """A limit as the exact number of its text, inside its range; floats by their shortest text.

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
    """Check that a value is one of a few words."""
    if value not in words:
        hint = did_you_mean(str(value), words, listed=True)
        raise UsageError(
            "bad_parameter", f"{parameter} of {criterion} must be one of {', '.join(words)}", hint=hint
        )
    return str(value)


def _bad(criterion: str, parameter: str, need: str) -> UsageError:
    return UsageError("bad_parameter", f"{parameter} of {criterion} must be {need}")


def make(name: str, params: Mapping[str, Any], where: str = "") -> Criterion:
    """A criterion from its name and parameters as text; one error names all problems.

    >>> str(make("k_anonymity", {"k": "5"}))
    'k_anonymity(k=5)'
    """
    kind: type[Criterion] = registry.get("criteria", name)
    return bind(kind, name, params, where)


def largest_size(require: Iterable[Criterion]) -> int | None:
    """The largest size of groups that is required, if any is."""
    return max((size for criterion in require if (size := criterion.group_size) is not None), default=None)


def least(require: Iterable[Criterion]) -> int:
    """The size below which a group singles people out: the largest required k, at least two."""
    return max(2, largest_size(require) or 0)


def refuse_empty(criterion: Criterion, where: str = "") -> Criterion:
    """Refuse a requirement that no table can fail, because its SAFE would mean nothing."""
    if criterion.cannot_fail:
        hint = "Make it stricter, or remove it."
        raise UsageError("cannot_fail", f"{criterion} {EMPTY}", where=where, hint=hint)
    return criterion


def read(text: str) -> Criterion:
    """Read a criterion in its usual notation.

    >>> read("k_anonymity(k=5)")
    KAnonymity(k=5)
    """
    return make(*parse_call(text))
