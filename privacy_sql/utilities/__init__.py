"""What a choice costs its readers: each utility turns small tables of counts into one number, less is better.

The formulas take numbers only. Rows that are not published are suppressed and cost as much as a row can. A
*label* is a published value; its *leaves* are the raw values of the table that it covers, out of the leaves
of its column. Utilities that add up over the cells of a table are `Additive`: they need no counting per
choice as long as nothing is suppressed. The others have a template `sql/utilities/<name>.sql`.

In: counts of a choice. Out: one number. Read `loss.py` first; each utility is a file of its name, and
`_counting_queries.py` draws the queries that `query_error.py` asks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from privacy_sql.counted.groups import Groups

Row = Mapping[str, Any]
Query = Mapping[int, Collection[int]]
"""Which values a counting query asks for, per column; values are numbers below the size of their domain."""
Answered = tuple[Mapping[int, float], Mapping[int, float]]  # the true answer to each query, and a reader's


@dataclass(frozen=True)
class Label:
    """What a published value stands for, counted over the source."""

    level: int
    n_leaves: int
    n_rows: int
    bits: float = 0.0  # uncertainty about the raw value behind it
    low: float | None = None  # the extent of a column of numbers
    high: float | None = None


@dataclass(frozen=True)
class MeasuredColumn:
    """A quasi-identifier: its hierarchy's height, and the one label that would cover all of it."""

    height: int
    whole: Label


@dataclass(frozen=True)
class Published:
    """How much of the source a choice publishes."""

    n_rows: int  # people in the source
    n_suppressed: int = 0
    n_combinations: float = 1.0  # raw combinations of quasi-identifiers that are possible
    n_values: int = 1  # sensitive values
    k: int | None = None  # the largest k required

    @property
    def everywhere(self) -> float:
        """The suppressed rows spread evenly over every raw combination and sensitive value."""
        return self.n_suppressed / (self.n_combinations * max(self.n_values, 1))


@dataclass(frozen=True)
class Held:
    """What a choice publishes, as groups in memory."""

    groups: Groups
    leaves: npt.NDArray[np.float64]  # raw combinations that could stand behind each group
    source: tuple[int, float]  # rows of the table, and the sum of n ln n over its combinations
    everywhere: float  # of `Published`
    labels: Sequence[npt.NDArray[np.int64]]  # per quasi-identifier the label of each group, as codes


class Queries(Protocol):
    """A set of counting queries."""

    @property
    def name(self) -> str: ...

    def queries(self, domains: Sequence[int]) -> list[Query]:
        """The queries; the last domain is that of the sensitive value."""


class Measurable(Protocol):
    """What a choice publishes, as utilities may ask about it; each is found out when it is asked."""

    @property
    def counts(self) -> Published:
        """How much of the source is published."""

    @property
    def labels(self) -> Sequence[tuple[MeasuredColumn, Sequence[tuple[Label, int]]]]:
        """For each column its published labels, each with its rows."""

    @property
    def weights(self) -> Sequence[float] | None:
        """How much each column matters, where some matter more."""

    @property
    def held(self) -> Held | None:
        """The groups, where they are in memory."""

    def rows(self, template: str) -> Sequence[Row]:
        """What a template of `sql/utilities` returns."""

    def columns(self, template: str) -> Mapping[str, Any]:
        """The same as arrays by column."""

    def answers(self, asked: Queries) -> Answered:
        """The true answers to counting queries, and those of a reader."""


class Utility(ABC):
    """One way to measure what a release costs its readers."""

    name: ClassVar[str]
    # without suppression a coarser choice never costs less
    monotone: ClassVar[bool] = False
    reads_sensitive: ClassVar[bool] = False
    needs_sensitive: ClassVar[bool] = False  # it has no value where no column is sensitive
    needs_k: ClassVar[bool] = False  # it compares with the k that is required
    of_levels: ClassVar[bool] = False  # it adds up the levels of columns, whoever is suppressed

    needs_extra: ClassVar[bool] = False  # a package of an extra, so asked only where somebody minimises it
    # whether it can be measured on groups in memory
    on_arrays: ClassVar[bool] = False

    @abstractmethod
    def measure(self, choice: Measurable) -> float:
        """The cost of what a choice publishes; suppressed rows cost as much as a row can."""

    def shown(self, cost: float) -> float:
        """The number people know under this name."""
        return cost

    @property
    def by_label(self) -> Additive | None:
        """Itself, where its cost is made of what each published value costs."""
        return None

    def __init_subclass__(cls) -> None:
        """Who changes how a value is made says anew what it is made from."""
        said = {*vars(cls)}
        if "on_arrays" not in said and said & {"value", "counted", "template"}:
            cls.on_arrays = "counted" in said


class Additive(Utility):
    """A utility that is the mean over columns of a penalty that depends on a published value alone."""

    monotone = True
    on_arrays = True

    @property
    def by_label(self) -> Additive:
        return self

    def measure(self, choice: Measurable) -> float:
        n_rows, weights = choice.counts.n_rows, choice.weights
        if weights is None:
            return self.cost(choice.labels, n_rows)
        parts = [self.part(*column, n_rows) for column in choice.labels]
        return sum(weight * part for weight, part in zip(weights, parts, strict=True)) / sum(weights)

    @abstractmethod
    def penalty(self, label: Label, column: MeasuredColumn) -> float:
        """What one published value costs."""

    def suppressed(self, column: MeasuredColumn) -> float:
        """What a value costs that is not published."""
        return 1.0

    def cost(
        self, columns: Sequence[tuple[MeasuredColumn, Sequence[tuple[Label, int]]]], n_rows: int
    ) -> float:
        """The mean over columns and rows; each column lists its labels with the rows published under them."""
        return sum(self.part(column, labels, n_rows) for column, labels in columns) / max(1, len(columns))

    def part(self, column: MeasuredColumn, labels: Sequence[tuple[Label, int]], n_rows: int) -> float:
        """The mean penalty of one column's values."""
        published, total = 0, 0.0
        for label, rows in labels:
            published += rows
            total += rows * self.penalty(label, column)
        return (total + (n_rows - published) * self.suppressed(column)) / n_rows


class Grouped(Utility):
    """A utility that is measured on the groups, with a template of its own name unless it says another."""

    template: ClassVar[str] = ""
    on_arrays = False

    def measure(self, choice: Measurable) -> float:
        held = choice.held if self.on_arrays else None
        rows = None if held is None else self.counted(held)
        return self.value(choice.rows(self.template or self.name) if rows is None else rows, choice.counts)

    def counted(self, held: Held) -> Sequence[Row] | None:
        """The rows of the template, from groups in memory; None where only the template tells them."""
        return None

    @abstractmethod
    def value(self, rows: Sequence[Row], published: Published) -> float:
        """The cost, from the rows of the template."""


class Learnt(Utility):
    """A utility that is learnt from all that is published: its template counts equal rows, as arrays."""

    needs_extra = True
    on_arrays = False

    def measure(self, choice: Measurable) -> float:
        held = choice.held if self.on_arrays else None
        columns = None if held is None else self.counted(held)
        return self.value(choice.columns(self.name) if columns is None else columns, choice.counts)

    def counted(self, held: Held) -> Mapping[str, Any] | None:
        """The columns of the template, from groups in memory; None where only the template tells them."""
        return None

    @abstractmethod
    def value(self, counted: Mapping[str, Any], published: Published) -> float:
        """The cost, from the columns of the template."""
