"""Ways to publish. A mechanism chooses, and says what would be published; it never decides that it is safe.

In: a counted base and requirements, which `propose` may ask as often as it likes. Out: a `Proposal`. Read
`generalise.py` first; each method is a file of its name, `_views.py` has the SELECTs they share. The driver
asks the requirements again about the proposal, and once more about the published bytes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

from privacy_sql import registry
from privacy_sql.counted.base import Base, sizes
from privacy_sql.counted.grouping import Candidate, Grouping
from privacy_sql.criteria import Criterion
from privacy_sql.errors import UsageError, did_you_mean, raise_all
from privacy_sql.lattice.steering import Steering
from privacy_sql.marginals.columns import Shown
from privacy_sql.methods._views import generalised
from privacy_sql.methods._views import shown as shown
from privacy_sql.parameters import bind, number_or_refuse
from privacy_sql.release import Proposal as Proposal
from privacy_sql.table import Table
from privacy_sql.verdict import Verdict

if TYPE_CHECKING:
    from privacy_sql.lattice.result import SearchResult
    from privacy_sql.marginals.result import MarginalResult
    from privacy_sql.searches.full_domain import Goal


class Asked(Protocol):
    """What a mechanism may ask: `judging.Requirements`."""

    @property
    def require(self) -> tuple[Criterion, ...]: ...

    def judge(self, grouping: Candidate) -> Mapping[str, Verdict]: ...

    def failing(self, grouping: Grouping) -> set[int]: ...

    @property
    def not_safe_under_merging(self) -> tuple[str, ...]: ...


class Method(ABC):
    """One way to publish; a subclass is a frozen dataclass that binds its parameters as fields."""

    name: ClassVar[str]  # as in privacy.yml
    several_sensitive: ClassVar[bool] = False  # may publish several sensitive columns
    shows_labels: ClassVar[bool] = False  # each group shows one label of every quasi-identifier
    # what it keeps is a promise of its own, so no requirement is asked of rows
    promises: ClassVar[bool] = False
    spends: ClassVar[bool] = False  # each release costs something nobody gives back

    @abstractmethod
    def propose(self, base: Base, asked: Asked) -> Proposal:
        """What would be published; it says nothing about whether that is safe."""

    @classmethod
    def bound(cls, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """The parameters by the names of the fields, where the project file has other words for them."""
        return params

    def refuse_unfit(self, table: Table, asked: Asked) -> None:  # noqa: B027 - most have nothing to refuse
        """Refuse, before anything is counted, what cannot be published this way."""

    # what only some methods have a use for

    @property
    def allowed(self) -> Fraction:
        """The share of the rows it may leave out."""
        return Fraction(0)

    @property
    def named_levels(self) -> Mapping[str, int] | None:
        """The levels it was told to publish; None where it chooses them."""
        return None

    @property
    def named_marginals(self) -> Sequence[Shown] | None:
        """The marginals it was told to publish; None where it chooses them, or publishes none."""
        return None

    @property
    def seconds(self) -> float | None:
        """How long it may take from the first statement on; None: as long as it takes."""
        return None

    def tell_size(self, table: Table) -> None:  # noqa: B027
        """Say how large the work will be, where it is large."""

    def steered(self, steering: Steering) -> Self:
        """The same under what a project says of its columns; only who chooses levels has a use for it."""
        if steering:
            raise UsageError(
                "nothing_to_steer",
                f"{self.name} chooses no levels, so min_level, max_level and importance have no effect on it",
                hint="Publish by full_domain, or leave them out.",
            )
        return self

    def within(self, directory: Path) -> Self:
        """The same with its files read from a folder."""
        return self

    def beside(self, written: Mapping[Path, Path]) -> Self:
        """The same where it names other releases of a project, whose manifests are known."""
        return self

    def rehearsed(self) -> Self:
        """The same as it is tried without publishing: a method that `spends` must not do so then."""
        return self

    def search(self, base: Base, asked: Asked, goal: Goal = "all") -> SearchResult | MarginalResult:
        """What is safe among all that it could publish; publishes nothing."""
        hint = "For example ps.FullDomain()."
        raise UsageError("nothing_to_search", f"{self.name} has no choices to search", hint=hint)


def make(name: str, params: Mapping[str, Any], where: str = "") -> Method:
    """A method from its name and parameters as text, all problems at once."""
    kind: type[Method] = registry.get("methods", name)
    return bind(kind, name, kind.bound(params), where)


def refuse_population(method: str, asked: Asked) -> None:
    """Refuse requirements on a population where no label of a group could be matched with its people."""
    raise_all(
        [
            UsageError(
                "no_population_groups",
                f"{criterion} compares labels with a population, and the groups of {method} have none",
                hint="Publish by generalise or full_domain.",
            )
            for criterion in asked.require
            if criterion.needs_population
        ]
    )


def refuse_without_labels(method: Method, asked: Asked) -> None:
    """Refuse what is asked of labels of single columns where groups show none of their own."""
    raise_all(
        [
            UsageError(
                "no_labels",
                f"{criterion} needs a label for every column, and the groups of {method.name} have none",
                hint=criterion.without_labels,
            )
            for criterion in asked.require
            if criterion.of_labels and not method.shows_labels
        ]
    )


def refuse_known(method: str, table: Table, asked: Asked) -> None:
    """Refuse what is not safe under merging where known columns stand beside groups of every value of theirs.

    Whoever does not know these columns is left with the groups of several values, whose labels may overlap:
    with a union of groups, and only what is safe under merging holds of every union.
    """
    unfit = asked.not_safe_under_merging
    if table.also_known and unfit:
        raise UsageError(
            "known_not_as_it_is",
            f"{', '.join(unfit)} may hold for who knows {', '.join(table.also_known)} and not for who does"
            f" not, and {method} shows groups that overlap for the latter",
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
                f"levels: {column} has the levels 0 to {height}, and {level} is none of them",
                where=base.table.name,
                hint=kind.every_level(),
            )


def share(value: str | int | float, name: str) -> Fraction:
    """A share of the rows as the exact number its text says.

    >>> share("0.01", "max_suppressed")
    Fraction(1, 100)
    """
    refusal = UsageError("bad_parameter", f"{name} must be a share of the rows, at least 0 and below 1")
    return number_or_refuse(value, refusal, lambda number: 0 <= number < 1)


def seconds_of(time_limit: int | float | str | None) -> float | None:
    """A time limit in seconds; None where there is none."""
    if time_limit is None:
        return None
    refusal = UsageError("bad_parameter", "time_limit is a number of seconds above 0")
    return float(number_or_refuse(time_limit, refusal, lambda number: float(number) > 0))


def at_levels(base: Base, levels: Mapping[str, int], asked: Asked, allowed: Fraction) -> Proposal:
    """The table with a level for each quasi-identifier, less the groups that fail where some may go."""
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
    """Leave out the groups that fail, and again those that fail then, while no more than `allowed` go.

    `allowed` is a share of the rows. Leaving rows out changes the whole table, so a criterion that compares
    with it may let other groups fail; the caller judges what stays.
    """
    if grouping.base.sides:
        refuse_suppression(grouping.base.table, asked)
        # loaded where they are needed: a check of a table needs no arrays
        from privacy_sql.lattice.rollup import Rollup
        from privacy_sql.lattice.suppression import published, thinned

        # the same for several sensitive columns: what fails for one leaves for all
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
    """The lines of a grouping and, where a person may have several values or none, its values and people."""
    base = grouping.base
    people = [grouping.n_rows, sizes(base.engine, grouping.members)["rows"]] if base.people else []
    return [grouping.n_lines, *people]


def refuse_suppression(table: Table, asked: Asked) -> None:
    """Refuse to suppress rows for several sensitive columns where what leaves cannot be told from counts."""
    unfit = [str(criterion) for criterion in asked.require if criterion.needs_base]
    if unfit or table.values_per_person != "one":
        reason = f"{', '.join(unfit)} reads original values" if unfit else "people have several values each"
        raise UsageError(
            "several_sensitive",
            f"{reason}, so no rows can be suppressed for several sensitive columns",
            where=table.name,
            hint="Declare joint: true, or leave out max_suppressed and local_recoding.",
        )
