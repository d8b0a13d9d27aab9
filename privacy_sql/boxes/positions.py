"""Where everybody is before a partition: the place of each combination of the base on every axis.

One relation holds what is cut, so that a level of the tree reads it without large joins: combinations with
their places, what is known of them (a sensitive value, a class) and how often it occurs. LeFevre et al.'s AVC
sets, which Chen et al. 2008 (Sec. 6.2, Scalability) choose splits from, are counted from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from privacy_sql.counted.base import Base, Key, count
from privacy_sql.counted.grouping import Grouping, numbered, numbers_of, packed
from privacy_sql.query.template import Query, Sql, names, render
from privacy_sql.spaces.partitions import Axis, Floats, Integers, numbers

PEOPLE, VALUES, CLASSES = Sql("n_people"), Sql("n_values"), Sql("n_class")


class CountedRelation(NamedTuple):
    """A relation by combination: its columns beside the quasi-identifiers, and what it counts."""

    relation: Sql
    told: str | None
    measure: Sql


class Places:
    """The places of one base; `by_value` and `class_column` say what else the relation needs about people."""

    def __init__(
        self,
        base: Base,
        by_value: bool,
        class_column: str | None = None,
        as_they_are: Sequence[str] = (),
    ) -> None:
        self.base, self.by_value = base, by_value
        self.as_they_are = tuple(as_they_are)  # each combination of these columns starts in a box of its own
        self.class_column = None if class_column in base.table.sensitives else class_column
        self.engine = base.engine

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """The quasi-identifiers as axes, in the table's order."""
        tops = {column: self.base.statistics[column]["top"] for column in self.base.columns}
        return tuple(
            Axis(column, True, numeric=column in self._numeric)
            if kind.ordered
            else Axis(column, False, kind.height, tops[column] + 1)
            for column, (_, kind) in self.base.columns.items()
        )

    @cached_property
    def _numeric(self) -> set[str]:
        """The columns whose values are all numbers: these are cut by size."""
        if not self._ordered:
            return set()
        found = self.engine.fetch(render("boxes/numeric.sql", axes=self.of_axes))
        return {
            column for number, column in self._ordered.items() if number in {row["axis"] for row in found}
        }

    @cached_property
    def _ordered(self) -> dict[int, str]:
        """The ordered columns, numbered."""
        return {n: c for n, (c, (_, kind)) in enumerate(self.base.columns.items()) if kind.ordered}

    def _in_order(self, column: str) -> bool:
        """Whether the engine stores numbers, so that codes sort by size."""
        return self.base.source_columns[self.base.columns[column][0]] in ("integer", "number")

    @cached_property
    def of_axes(self) -> Sql:
        """The values of every ordered column in their order: (axis, code, place, size, is_number)."""
        columns = [
            (
                number,
                self.base.dictionaries[column],
                [1, 2, self.base.statistics[column]["top"]] if self._in_order(column) else None,
            )
            for number, column in self._ordered.items()
        ]
        return self.engine.create(render("boxes/axes.sql", columns=columns, value=Sql("d.value")))

    @cached_property
    def listed(self) -> dict[int, tuple[Integers, Integers, Floats]]:
        """The code, the place and the number of every value, in memory, by ordered axis."""
        columns = names(["axis", "code", "place", "size"])
        found = self.engine.arrays(render("counted/listed.sql", relation=self.of_axes, columns=columns))
        size = numbers(found.pop("size"))
        number, code, place = (np.asarray(column).astype(np.int64) for column in found.values())
        own = {axis: number == axis for axis in self._ordered}
        return {axis: (code[its], place[its], size[its]) for axis, its in own.items()}

    @cached_property
    def axis_tables(self) -> dict[str, Sql]:
        """Per axis the places of its values, by code."""
        codes = [axis.column for axis in self.axes if not axis.ordered]
        return {**self.ordered_tables, **{column: self.base.level_codes[column] for column in codes}}

    @cached_property
    def ordered_tables(self) -> dict[str, Sql]:
        """The same for the ordered axes: (code, place, size)."""
        return {
            column: Sql(f"(select code, place, size from {self.of_axes} where axis = {number})")
            for number, column in self._ordered.items()
        }

    @cached_property
    def sizes(self) -> dict[str, Sql]:
        """For each numeric axis, the number at every place."""
        tables = {axis.column: self.ordered_tables[axis.column] for axis in self.axes if axis.numeric}
        return {
            column: table
            if self._in_order(column)
            else self.engine.create(render("boxes/axis_sizes.sql", axis=table))
            for column, table in tables.items()
        }

    @cached_property
    def shown_axes(self) -> list[tuple[Sql, bool, Sql | None, bool, int]]:
        """The axes in the form that templates read."""
        nulls = {column: bool(self.base.statistics[column]["n_nulls"]) for column in self.base.columns}
        return [
            (Sql(a.column), a.ordered, self.sizes.get(a.column), nulls[a.column], a.levels) for a in self.axes
        ]

    @cached_property
    def ways(self) -> list[tuple[int, Sql]]:
        """Every way to cut a box, numbered; a hierarchy has several."""
        return list(enumerate(Sql(column) for axis in self.axes for column in axis.places))

    @cached_property
    def sizes_of_ways(self) -> list[tuple[int, Sql]]:
        """The ways along numbers with the number at every place."""
        sizes = {f"x_{column}": table for column, table in self.sizes.items()}
        return [(number, sizes[place]) for number, place in self.ways if place in sizes]

    @property
    def columns(self) -> list[Sql]:
        """The columns of the relation but for the combination and its box."""
        return [*(place for _, place in self.ways), *self.told, *self.measures]

    # -- what is known, and how often -------------------------------------------------------------------

    @cached_property
    def counted(self) -> list[CountedRelation]:
        """The relations to combine, everybody first."""
        return [CountedRelation(self.members, self.told_of_members, PEOPLE), *self.beside]

    @property
    def told_of_members(self) -> str | None:
        return "s" if self.by_value and not self.base.people else None

    @cached_property
    def beside(self) -> list[CountedRelation]:
        """What is counted besides people."""
        found = []
        if self.by_value and self.base.people:
            found.append(CountedRelation(self.candidate, "s", VALUES))
        if self.class_column is not None:
            # the combinations with their classes: the table counted again, as if the class were sensitive
            table = replace(
                self.base.table,
                sensitive=self.class_column,
                insensitive=[name for name in self.base.table.insensitive if name != self.class_column],
                sensitive_hierarchy=None,
            )
            other = count(self.engine, table)
            self._other = other  # its relations live as long as it does
            found.append(
                CountedRelation(self._numbered(other.keyed(self.keys), other.inside()), "class", CLASSES)
            )
        return found

    @property
    def told(self) -> list[Sql]:
        return names(part.told for part in self.counted if part.told)

    @property
    def measures(self) -> list[Sql]:
        return [part.measure for part in self.counted]

    @property
    def of_values(self) -> Sql:
        """The relation that counts the sensitive values."""
        return VALUES if self.base.people else PEOPLE

    @property
    def of_classes(self) -> tuple[Sql, Sql]:
        """The class of an information gain, and the relation that counts it."""
        return (Sql("s"), self.of_values) if self.class_column is None else (Sql("class"), CLASSES)

    # -- combinations ------------------------------------------------------------------------------------

    @cached_property
    def keys(self) -> list[Key]:
        return self.base.keys({})

    @cached_property
    def _people(self) -> Sql | None:
        """Combinations and their people, if the base has more columns than the cuts need."""
        if self.by_value or self.base.people:
            return self.base.people
        columns = names(self.base.columns)
        return self.engine.create(render("counted/counts_by.sql", base=self.base.relation, columns=columns))

    @cached_property
    def numbers(self) -> Sql | None:
        """The numbers of the combinations, if they cannot be packed."""
        if packed(self.keys):
            return None
        keyed = self.engine.create(self.base.keyed(self.keys, self.base.people), view=True)
        return numbers_of(self.engine, keyed, self.keys)

    def _numbered(self, keyed: Query, inside: Sequence[Sql]) -> Sql:
        relation = self.engine.create(keyed, view=True)
        return numbered(self.engine, relation, self.keys, self.numbers, inside)

    @cached_property
    def candidate(self) -> Sql:
        """The base with the number of each combination."""
        return self._numbered(self.base.keyed(self.keys), self.base.inside())

    @cached_property
    def members(self) -> Sql:
        """The people with the number of each combination."""
        people = self._people
        if people is None:
            return self.candidate
        return self._numbered(self.base.keyed(self.keys, people), self.base.inside(people))

    @cached_property
    def relation(self) -> Sql:
        """Everybody in the first boxes: c, box, the places, what is known and the measures."""
        axes = [(Sql(a.column), self.axis_tables[a.column], a.ordered, a.levels) for a in self.axes]
        return self.engine.create(
            render(
                "boxes/places.sql",
                counted=self.counted,
                apart=names(self.base.aliases[name] for name in self.as_they_are),
                axes=axes,
                told=self.told,
                measures=self.measures,
            )
        )

    # -- groupings ---------------------------------------------------------------------------------------

    def grouped(self, final: Sql) -> Grouping:
        """The boxes (c, g) of a finished partition as a grouping of the base and its source rows."""
        base, engine = self.base, self.engine
        candidate = self.members_of(final)
        people = self.members_of(final, people=True) if base.people else candidate
        histogram = engine.create(
            render(
                "counted/histogram.sql",
                candidate=candidate,
                sensitive=bool(base.table.sensitives),
                counted=False,
            )
        )
        groups = engine.create(render("counted/groups.sql", histogram=people if base.people else histogram))

        def rows() -> Sql:
            """The source rows with the number of their box."""
            nothing = self.candidate  # if combinations are groups, only the source rows are read
            combinations = Grouping(base, tuple(self.keys), nothing, nothing, nothing, nothing, self.numbers)
            raw = names(f"r_{column}" for column in base.columns)
            columns = [*names(base.columns), *raw, *names(base.others.values())]
            query = render("boxes/rows.sql", rows=combinations.rows, final=final, columns=columns)
            return engine.create(query, view=True)

        return Grouping(base, (Key("box"),), candidate, people, histogram, groups).over(rows)

    def members_of(self, assigned: Sql, *, people: bool = False) -> Sql:
        """The base (or its people) with the group (c, g) each combination is in."""
        relation = self.members if people else self.candidate
        inside = self.base.inside(self.base.people) if people else self.base.inside()
        return self.engine.create(
            render("boxes/members.sql", assigned=assigned, relation=relation, columns=inside), view=True
        )

    def reach_of(self, final: Sql) -> Sql:
        """How far each box of a finished partition reaches along every axis."""
        query = render("boxes/boxed.sql", places=self.relation, final=final, columns=self.columns)
        boxed = self.engine.create(query, view=True)
        return self.engine.create(render("boxes/ranges.sql", boxes=boxed, axes=self.shown_axes))
