"""What each choice of a lattice costs under a utility: from its labels where they are enough, else by SQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log, prod

from privacy_sql.base import Base
from privacy_sql.grouping import Grouping
from privacy_sql.query import Sql, names, render
from privacy_sql.spaces.lattice import Choice
from privacy_sql.utilities import Additive, Column, Grouped, Label, Published, Utility


@dataclass(frozen=True)
class Shown:
    """What a choice publishes: the grouping, what is left of it, and how many rows are not."""

    choice: Choice
    grouping: Grouping
    members: Sql  # g, k1.., n_rows as people
    histogram: Sql  # g, k1.., s, n_rows
    n_suppressed: int = 0


class Costs:
    """Utilities of the choices of one base; what they need to know about labels is counted once."""

    def __init__(self, base: Base) -> None:
        self.base = base
        self._loaded: dict[tuple[int, int], Sql] = {}

    @cached_property
    def labels(self) -> list[list[dict[int, Label]]]:
        """Per column and level the labels by code."""
        columns = [
            (
                self.base.level_codes.get(column),
                self.base.levels.get(column, self.base.dictionaries[column]),
                kind.height,
                kind.numeric,
            )
            for column, (_, kind) in self.base.columns.items()
        ]
        found: list[list[dict[int, Label]]] = [[{} for _ in range(height + 1)] for _, _, height, _ in columns]
        for row in self.base.engine.fetch(render("utilities/labels.sql", columns=columns)):
            found[row["position"]][row["level"]][row["code"]] = Label(
                row["level"],
                row["n_leaves"],
                row["n_rows"],
                max(0.0, log(row["n_rows"]) - row["weight"] / row["n_rows"]) / log(2),
                row["low"],
                row["high"],
            )
        return found

    @cached_property
    def n_people(self) -> int:
        """The people of the source."""
        return self.columns[0].whole.n_rows

    @cached_property
    def columns(self) -> list[Column]:
        """Every quasi-identifier with the one label that would cover it."""
        return [self._column(levels) for levels in self.labels]

    def _column(self, levels: Sequence[dict[int, Label]]) -> Column:
        raw = list(levels[0].values())
        n_rows = sum(label.n_rows for label in raw)
        bits = sum(label.n_rows * (log(n_rows) - log(label.n_rows)) for label in raw) / n_rows / log(2)
        numbers = [n for label in raw for n in (label.low, label.high) if n is not None]
        low, high = (min(numbers), max(numbers)) if numbers else (None, None)
        return Column(len(levels) - 1, Label(len(levels) - 1, len(raw), n_rows, bits, low, high))

    def parts(self, utility: Additive, *, least: bool = False) -> list[list[float]]:
        """What each level of each column adds to the cost when nothing is suppressed.

        `least`: at most that, whichever rows are suppressed.
        """
        share = 1 if utility.name == "height" else len(self.columns)
        return [
            [self._part(utility, column, list(level.values()), least) / share for level in levels]
            for column, levels in zip(self.columns, self.labels, strict=True)
        ]

    def _part(self, utility: Additive, column: Column, labels: list[Label], least: bool) -> float:
        part = utility.part(column, [(label, label.n_rows) for label in labels], self.n_people)
        if not least or utility.name == "height":
            return part
        above = [max(0.0, utility.penalty(label, column) - utility.suppressed(column)) for label in labels]
        saved = sum(label.n_rows * more for label, more in zip(labels, above, strict=True))
        return part - saved / self.n_people

    def cost(self, utility: Utility, shown: Shown) -> float:
        """The cost of what is published; suppressed rows cost as much as a row can."""
        if isinstance(utility, Additive):
            return utility.cost(self._published_labels(shown), self.n_people)
        assert isinstance(utility, Grouped)
        rows = shown.grouping.base.engine.fetch(
            render(f"utilities/{utility.name}.sql", **self._context(shown))
        )
        return utility.value(rows, self.published(shown))

    def published(self, shown: Shown) -> Published:
        """How much of the source a choice publishes, and out of how many possibilities."""
        values = self.base.statistics["s"]["n_values"] if self.base.table.sensitives else 1
        combinations = float(prod(column.whole.n_leaves for column in self.columns))
        return Published(self.n_people, shown.n_suppressed, combinations, values)

    def _published_labels(self, shown: Shown) -> list[tuple[Column, list[tuple[Label, int]]]]:
        found = [
            (column, levels[level])
            for column, levels, level in zip(self.columns, self.labels, shown.choice, strict=True)
        ]
        if not shown.n_suppressed:
            return [(column, [(label, label.n_rows) for label in level.values()]) for column, level in found]
        rows: list[list[tuple[Label, int]]] = [[] for _ in found]
        query = render("utilities/published_labels.sql", published=shown.members, aliases=self._aliases)
        for row in shown.grouping.base.engine.fetch(query):
            _, level = found[row["position"]]
            rows[row["position"]].append((level[row["code"]], row["n_rows"]))
        return [(column, labels) for (column, _), labels in zip(found, rows, strict=True)]

    @property
    def _aliases(self) -> list[Sql]:
        return names(f"k{number}" for number, _ in enumerate(self.base.columns, start=1))

    def _context(self, shown: Shown) -> dict[str, object]:
        return {
            "published": shown.members,
            "histogram": shown.histogram,
            "base": self.base.relation,
            "everywhere": repr(self.published(shown).everywhere),
            "leaves": [
                (alias, self._leaves(position, level))
                for position, (alias, level) in enumerate(zip(self._aliases, shown.choice, strict=True))
                if level
            ],
        }

    def _leaves(self, position: int, level: int) -> Sql:
        if (position, level) not in self._loaded:
            labels = self.labels[position][level]
            columns = {
                "code": ("bigint", list(labels)),
                "n_leaves": ("bigint", [label.n_leaves for label in labels.values()]),
            }
            self._loaded[position, level] = self.base.engine.load(columns, "leaves")
        return self._loaded[position, level]
