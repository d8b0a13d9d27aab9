"""Ways to publish. A method chooses what would be published; it never decides that this is safe.

In: a counted base and requirements, which `propose` may judge as often as it likes. Out: a `Proposal`. Read
`generalise.py` first; each method is a file with its name, and `_views.py` has the SELECTs they share. The
driver judges the requirements again on the proposal, and once more on the published bytes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

from privacy_sql import registry
from privacy_sql.counted.base import Base, sizes
from privacy_sql.counted.grouping import Candidate, Grouping
from privacy_sql.criteria import Criterion
from privacy_sql.errors import UsageError, did_you_mean, raise_all
from privacy_sql.lattice.steering import FREE, Steering
from privacy_sql.marginals.columns import Shown
from privacy_sql.methods._views import generalised
from privacy_sql.methods._views import shown as shown
from privacy_sql.parameters import bind, given, number_or_refuse
from privacy_sql.release import Proposal as Proposal
from privacy_sql.table import Table
from privacy_sql.verdict import Verdict

if TYPE_CHECKING:
    from privacy_sql.lattice.result import SearchResult
    from privacy_sql.marginals.result import MarginalResult
    from privacy_sql.searches.full_domain import Goal


class Asked(Protocol):
    """What a method may ask: `judge.Requirements`."""

    @property
    def require(self) -> tuple[Criterion, ...]: ...

    def judge(self, grouping: Candidate) -> Mapping[str, Verdict]: ...

    def failing(self, grouping: Grouping) -> set[int]: ...

    @property
    def not_safe_under_merging(self) -> tuple[str, ...]: ...


@dataclass(frozen=True)
class Method(ABC):
    """One way to publish; a subclass is a frozen dataclass with its parameters as fields."""

    name: ClassVar[str]  # as in privacy.yml
    several_sensitive: ClassVar[bool] = False  # may publish several sensitive columns
    shows_labels: ClassVar[bool] = False  # each group shows one label of every quasi-identifier
    # what it keeps is a promise of its own, so no requirement is asked of rows
    promises: ClassVar[bool] = False
    spends: ClassVar[bool] = False  # each release spends budget for good
    searches: ClassVar[bool] = False  # there are choices among which `search` looks for safe ones
    chooses_levels: ClassVar[bool] = False  # these choices are a level for each column
    leaves_out: ClassVar[bool] = False  # it may leave out groups that fail at its levels
    publishes_rows: ClassVar[bool] = True  # and not the counts of marginals
    publishes_groups: ClassVar[bool] = True  # in which somebody can be found, and not how many there are
    shows_centres: ClassVar[bool] = False  # of groups, so that a reader looks for the nearest one
    permutes: ClassVar[bool] = False  # sensitive values are in random order within their group
    refuses_because: ClassVar[str] = ""  # why it meets some criteria never, for docs/matrix.md

    @abstractmethod
    def propose(self, base: Base, asked: Asked) -> Proposal:
        """What would be published, without a promise that it is safe."""

    @property
    def params(self) -> Mapping[str, Any]:
        """Its parameters, named as its fields are."""
        return given(self)

    @classmethod
    def bound(cls, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """The parameters by field name, if the project file has other names for them."""
        return params

    def refuse_unfit(self, table: Table, asked: Asked) -> None:  # noqa: B027 - most have nothing to refuse
        """Refuse what cannot be published this way, before anything is counted."""

    # hooks that only some methods use

    def refuse_search(self, table: Table, asked: Asked) -> None:  # noqa: B027
        """Refuse what cannot be searched this way, before anything is counted."""

    @property
    def recodes(self) -> bool:
        """Whether rows may have different levels of a column."""
        return False

    def at_one_level(self) -> Self:
        """The same with one level for each column, whatever rows it would recode."""
        return self

    @property
    def minimise(self) -> str:
        """The utility by which it chooses levels."""
        return "loss"

    @property
    def steering(self) -> Steering:
        """The bounds and weights of columns within which it chooses levels."""
        return FREE

    def with_params(self, params: Mapping[str, Any]) -> Self:
        """The same with other values of some parameters, named as its fields are."""
        return replace(self, **params)

    @property
    def allowed(self) -> Fraction:
        """The share of rows that it may leave out."""
        return Fraction(0)

    @property
    def named_levels(self) -> Mapping[str, int] | None:
        """The given levels; None if the method chooses them."""
        return None

    @property
    def named_marginals(self) -> Sequence[Shown] | None:
        """The given marginals; None if the method chooses them, or publishes none."""
        return None

    @property
    def seconds(self) -> float | None:
        """How long it may take from the first statement on; None means no limit."""
        return None

    def tell_size(self, table: Table) -> None:  # noqa: B027
        """Log how large the work will be, if it is large."""

    def steered(self, steering: Steering) -> Self:
        """The same under a project's bounds and weights, which only a method that chooses levels can use."""
        if steering:
            raise UsageError(
                "nothing_to_steer",
                f"{self.name} chooses no levels, so min_level, max_level and importance have no effect on it",
                hint="Publish by full_domain, or remove them.",
            )
        return self

    def within(self, directory: Path) -> Self:
        """The same with its files relative to a folder."""
        return self

    def beside(self, written: Mapping[Path, Path]) -> Self:
        """The same with the manifests of the project's other releases that it names."""
        return self

    def rehearsed(self) -> Self:
        """The same for a dry run, in which a method that `spends` must not spend."""
        return self

    def search(self, base: Base, asked: Asked, goal: Goal = "all") -> SearchResult | MarginalResult:
        """The safe ones among all possible releases; publishes nothing."""
        hint = "For example ps.FullDomain()."
        raise UsageError("nothing_to_search", f"{self.name} has no choices to search", hint=hint)


def make(name: str, params: Mapping[str, Any], where: str = "") -> Method:
    """A method from its name and parameters as text; one error names all problems."""
    kind: type[Method] = registry.get("methods", name)
    return bind(kind, name, kind.bound(params), where)


def refuse_population(method: str, asked: Asked) -> None:
    """Refuse requirements on a population if groups have no labels to match with its people."""
    raise_all(
        [
            UsageError(
                "no_population_groups",
                f"{criterion} compares labels with a population, but the groups of {method} have no labels",
                hint="Publish by generalise or full_domain.",
            )
            for criterion in asked.require
            if criterion.needs_population
        ]
    )


def refuse_without_labels(method: Method, asked: Asked) -> None:
    """Refuse requirements on labels of single columns if groups have no such labels."""
    raise_all(
        [
            UsageError(
                "no_labels",
                f"{criterion} needs a label for every column, but the groups of {method.name} have none",
                hint=criterion.without_labels,
            )
            for criterion in asked.require
            if criterion.of_labels and not method.shows_labels
        ]
    )


def refuse_known(method: str, table: Table, asked: Asked) -> None:
    """Refuse what is not safe under merging if every value of known columns has groups of its own.

    A reader who does not know these columns sees the groups of several values with overlapping labels, which
    is a union of groups, and only what is safe under merging holds for every union.
    """
    unfit = asked.not_safe_under_merging
    if table.also_known and unfit:
        raise UsageError(
            "known_not_as_it_is",
            f"{', '.join(unfit)} may hold for somebody who knows {', '.join(table.also_known)}, but not for"
            f" somebody who does not, because the groups of {method} then overlap",
            where=table.name,
            hint="Use full_domain or generalise, or name the column under quasi_identifiers.",
        )


def check_levels(base: Base, levels: Mapping[str, int]) -> None:
    """Refuse a level of an unknown column, or one its hierarchy does not have."""
    for column, level in levels.items():
        if column not in base.aliases:
            raise UsageError(
                "unknown_column",
                f'levels: "{column}" is not a quasi-identifier',
                where=base.table.name,
                hint=did_you_mean(column, base.aliases),
            )
        kind = base.table.hierarchies[column]
        height = kind.height
        if isinstance(level, bool) or not isinstance(level, int) or not 0 <= level <= height:
            raise UsageError(
                "no_level",
                f"levels: {column} has the levels 0 to {height}, so there is no level {level}",
                where=base.table.name,
                hint=kind.every_level(),
            )


def share(value: str | int | float, name: str) -> Fraction:
    """A share of the rows as the exact number of its text.

    >>> share("0.01", "max_suppressed")
    Fraction(1, 100)
    """
    refusal = UsageError("bad_parameter", f"{name} must be a share of the rows, at least 0 and below 1")
    return number_or_refuse(value, refusal, lambda number: 0 <= number < 1)


def seconds_of(time_limit: int | float | str | None) -> float | None:
    """A time limit in seconds, or None."""
    if time_limit is None:
        return None
    refusal = UsageError("bad_parameter", "time_limit must be a number of seconds above 0")
    return float(number_or_refuse(time_limit, refusal, lambda number: float(number) > 0))


def at_levels(base: Base, levels: Mapping[str, int], asked: Asked, allowed: Fraction) -> Proposal:
    """The table with a level for each quasi-identifier, without failing groups if suppression is allowed."""
    grouping, suppressed = grouped_at(base, levels, asked, allowed)
    view, alike = generalised(grouping, levels)
    return Proposal(
        grouping=grouping,
        view=view,
        alike=alike,
        choice={"levels": levels},
        quasi=tuple(levels),
        levels=levels,
        suppressed=suppressed,
    )


def grouped_at(
    base: Base, levels: Mapping[str, int], asked: Asked, allowed: Fraction
) -> tuple[Grouping, int]:
    """The groups at a level for each quasi-identifier, and how many rows are left out."""
    grouping = Grouping.by(base, base.keys(levels))
    return suppress(grouping, asked, allowed) if allowed else (grouping, 0)


def suppress(grouping: Grouping, asked: Asked, allowed: Fraction) -> tuple[Grouping, int]:
    """Leave out the groups that fail, and repeat for groups that fail then, up to the share `allowed`.

    Leaving out rows changes the whole table, so a criterion that compares with it may fail other groups; the
    caller judges what stays.
    """
    if grouping.base.sides:
        refuse_suppression(grouping.base.table, asked)
        # loaded on first use, because a check of a table needs no arrays
        from privacy_sql.lattice.rollup import Rollup
        from privacy_sql.lattice.suppression import published, thinned

        # with several sensitive columns, what fails for one is suppressed for all
        base = grouping.base
        levels = {base.columns[key.column][0]: key.level for key in grouping.keys}
        counted = [Rollup(side, with_sensitive=True) for side in (base, *base.sides)]
        rolled = [rollup.grouping(rollup.choice(levels)) for rollup in counted]
        found = thinned(rolled, asked.failing, allowed * grouping.n_rows)
        if found is None or not found.n_suppressed:
            return grouping, 0
        whole = [grouping, *(Grouping.by(side, side.keys(levels)) for side in base.sides)]
        return published(whole, found.cells), found.n_suppressed
    kept, gone = grouping, frozenset[int]()
    while more := asked.failing(kept) - gone:
        gone |= more
        candidate = grouping.without(gone)
        totals = zip(_held(candidate), _held(grouping), strict=True)
        if not candidate.n_lines > 0 or any(before - left > allowed * before for left, before in totals):
            break
        kept = candidate
    return kept, grouping.n_lines - kept.n_lines


def _held(grouping: Grouping) -> list[int]:
    """The lines of a grouping and, if a person may have several values or none, its values and people."""
    base = grouping.base
    people = [grouping.n_rows, sizes(base.engine, grouping.members)["rows"]] if base.people else []
    return [grouping.n_lines, *people]


def refuse_suppression(table: Table, asked: Asked) -> None:
    """Refuse to suppress rows for several sensitive columns if counts do not determine the rows."""
    unfit = [str(criterion) for criterion in asked.require if criterion.needs_base]
    if unfit or table.values_per_person != "one":
        reason = f"{', '.join(unfit)} reads original values" if unfit else "people have several values each"
        raise UsageError(
            "several_sensitive",
            f"{reason}, so no rows can be suppressed for several sensitive columns",
            where=table.name,
            hint="Declare joint: true, or remove max_suppressed and local_recoding.",
        )
