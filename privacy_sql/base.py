"""The counted base: the source reduced, in SQL, to distinct combinations in dictionary codes.

Everything after it works on counts: trying a choice re-counts the combinations, not the rows.
Internal names: `q1`, `q2`, ... the quasi-identifiers, `grp` the group column, `s` the sensitive value.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from privacy_sql import levels
from privacy_sql.engines import Engine
from privacy_sql.errors import DataError, PrivacySqlError, UsageError, raise_all
from privacy_sql.hierarchies import Hierarchy
from privacy_sql.query import Query, Sql, condition, names, render
from privacy_sql.table import Table

# group numbers are packed into one bigint while the codes fit with room to spare
PACKED_LIMIT = 2**62


@dataclass(frozen=True)
class Key:
    """One column that says which group a row is published in: a base column at a level."""

    column: str  # q1, grp
    level: int = 0
    top: int = 0  # no code of the column is higher


@dataclass(frozen=True)
class Base:
    """The counted source of one table, with the dictionaries behind its codes."""

    engine: Engine
    table: Table
    source: Sql
    relation: Sql  # q1.., grp, s, n_rows
    people: Sql | None  # q1.., grp, n_rows as people, when a person may have several values
    dictionaries: Mapping[str, Sql]  # internal column -> (code, value, n_rows)
    statistics: Mapping[str, Mapping[str, int]]  # internal column -> n_values, n_nulls, top
    rows: int
    combinations: int
    source_columns: Mapping[str, str]  # every column of the source and its kind

    @property
    def ignored(self) -> tuple[str, ...]:
        """Columns of the source without a role."""
        return tuple(self.table.unnamed(list(self.source_columns)))

    @cached_property
    def coded(self) -> Sql:
        """The source rows: codes q1.., raw values r_q1.., the sensitive value s, the insensitive i1.. ."""
        return self.engine.create(
            render(
                "coded.sql",
                source=self.source,
                quasi=[(name, Sql(q), self.dictionaries[q]) for name, q in self.aliases.items()],
                others=[(name, Sql(alias)) for name, alias in self.others.items()],
            ),
            view=True,
        )

    @cached_property
    def others(self) -> dict[str, str]:
        """Columns published as they are, and their internal names."""
        free = {name: f"i{number}" for number, name in enumerate(self.table.insensitive, start=1)}
        return {**dict.fromkeys(self.table.sensitives, "s"), **free}

    @cached_property
    def once(self) -> dict[Any, Any]:
        """What a part worked out from the whole table and needs again for every grouping of this base."""
        return {}

    @cached_property
    def aliases(self) -> dict[str, str]:
        """The user's quasi-identifiers and the internal names of their columns."""
        return {column: f"q{number}" for number, column in enumerate(self.table.quasi, start=1)}

    @cached_property
    def columns(self) -> dict[str, tuple[str, Hierarchy]]:
        """Internal quasi-identifier columns: the user's name and the hierarchy."""
        return {self.aliases[name]: (name, kind) for name, kind in self.table.hierarchies.items()}

    @cached_property
    def levels(self) -> dict[str, Sql]:
        """Per column with a hierarchy its labels: (code, n_rows, l0..lH); unmapped values are refused."""
        kinds = {column: (name, kind) for column, (name, kind) in self.columns.items() if kind.height}
        made = {c: levels.labels(self.engine, self.dictionaries[c], kind) for c, (_, kind) in kinds.items()}
        found = [
            levels.unmapped(self.engine, made[c], kind, self.table.name, name)
            for c, (name, kind) in kinds.items()
        ]
        raise_all([problem for problems in found for problem in problems])
        return made

    @cached_property
    def level_codes(self) -> dict[str, Sql]:
        """The same labels as small integers: (code, c0..cH)."""
        return {c: levels.codes(self.engine, made, self.columns[c][1]) for c, made in self.levels.items()}

    @cached_property
    def sensitive_codes(self) -> Sql:
        """The sensitive values at every level of their hierarchy, as small integers: (code, c0..cH)."""
        name, kind = self.table.sensitives[0], self.table.sensitive_hierarchy
        if kind is None:
            raise UsageError(
                "no_hierarchy", f"{name} has no hierarchy", hint="Give the sensitive column one in its entry."
            )
        made = levels.labels(self.engine, self.dictionaries["s"], kind)
        raise_all(levels.unmapped(self.engine, made, kind, self.table.name, name))
        return levels.codes(self.engine, made, kind)

    def keys(self, choice: Mapping[str, int]) -> list[Key]:
        """The keys of full-domain generalisation: every quasi-identifier at its level (0 when not named)."""
        return [self.key(self.aliases[name], choice.get(name, 0)) for name in self.table.quasi]

    def key(self, column: str, level: int = 0) -> Key:
        return Key(column, level, self.statistics[column]["top"] + 1)

    def own_keys(self) -> list[Key]:
        """The keys of the table as it stands: its group column, else its quasi-identifiers."""
        return [self.key("grp")] if self.table.group else self.keys({})

    def keyed(self, keys: Sequence[Key], relation: Sql | None = None) -> Query:
        """The base (or its people) with key columns k1.. beside its own."""
        return render(
            "keyed.sql",
            base=relation or self.relation,
            keys=[
                (
                    Sql(f"k{number}"),
                    Sql(key.column),
                    key.level,
                    self.level_codes[key.column] if key.level else None,
                )
                for number, key in enumerate(keys, start=1)
            ],
            columns=self.inside(relation),
        )

    def inside(self, relation: Sql | None = None) -> list[Sql]:
        """The internal columns of the base, or of its people, who have no sensitive value."""
        return names(column for column in self.dictionaries if column != "s" or relation is None)

    def grouped(self, keys: Sequence[Key]) -> Grouping:
        """Group the base by keys: the candidate a set of requirements is judged on."""
        people = self.keyed(keys, self.people) if self.people else None
        return Grouping.of(self, keys, self.keyed(keys), people)


@dataclass(frozen=True)
class Grouping:
    """A candidate and the small relations every criterion's template may read."""

    base: Base
    keys: tuple[Key, ...]
    candidate: Sql  # g, k1.., q1.., grp, s, n_rows
    members: Sql  # g, k1.., q1.., grp, n_rows as people; the candidate itself when a row is a person
    histogram: Sql  # g, s, n_rows
    groups: Sql  # g, n_people
    numbers: Sql | None = None  # k1.., g where the keys are too many to be packed
    gone: Sql | None = None  # g of the groups left out

    @classmethod
    def of(cls, base: Base, keys: Sequence[Key], keyed: Query, people: Query | None = None) -> Grouping:
        """Count the groups of a keyed base (k1.. beside its own columns)."""
        engine = base.engine
        inputs = [engine.create(query, view=True) for query in (keyed, people) if query is not None]
        aliases = [(Sql(f"k{number}"), key.top + 1) for number, key in enumerate(keys, start=1)]
        # people without a value are in `people` only, so the groups are numbered there
        numbers = (
            engine.create(render("numbers.sql", keyed=inputs[-1], keys=aliases)) if _too_many(keys) else None
        )
        shared = {"keys": aliases, "numbers": numbers}
        candidate = engine.create(
            render("candidate.sql", keyed=inputs[0], columns=base.inside(), **shared), view=True
        )
        histogram = engine.create(
            render("histogram.sql", candidate=candidate, sensitive=bool(base.table.sensitives))
        )
        members = candidate
        if people is not None:
            inside = base.inside(inputs[1])
            members = engine.create(
                render("candidate.sql", keyed=inputs[1], columns=inside, **shared), view=True
            )
        groups = engine.create(render("groups.sql", histogram=histogram if people is None else members))
        return cls(base, tuple(keys), candidate, members, histogram, groups, numbers)

    def without(self, groups: Collection[int]) -> Grouping:
        """The same grouping with some groups left out, and with all that were left out before."""
        engine, base = self.base.engine, self.base
        gone = engine.load({"g": ("bigint", sorted(groups))}, "gone")
        key_columns = names(f"k{number}" for number, _ in enumerate(self.keys, start=1))

        def kept(relation: Sql, columns: Sequence[Sql], view: bool) -> Sql:
            return engine.create(
                render("without.sql", relation=relation, columns=columns, gone=gone), view=view
            )

        inside = [*key_columns, *base.inside(), Sql("n_rows")]
        of_people = [*key_columns, *base.inside(base.people), Sql("n_rows")]
        values = [*([Sql("s")] if base.table.sensitives else []), Sql("n_rows")]
        candidate = kept(self.candidate, inside, True)
        return replace(
            self,
            candidate=candidate,
            members=kept(self.members, of_people, True) if base.people else candidate,
            histogram=kept(self.histogram, values, False),
            groups=kept(self.groups, [Sql("n_people")], False),
            gone=gone,
        )

    @cached_property
    def rows(self) -> Sql:
        """The source rows that stay, with the number of their group: what a view reads from."""
        base = self.base
        raw = [f"r_{alias}" for alias in base.columns]
        return base.engine.create(
            render(
                "grouped_rows.sql",
                coded=base.coded,
                keys=[
                    (
                        Sql(f"k{n}"),
                        k.top + 1,
                        Sql(k.column),
                        k.level,
                        base.level_codes[k.column] if k.level else None,
                    )
                    for n, k in enumerate(self.keys, start=1)
                ],
                pairs=[(Sql(f"k{n}"), k.top + 1) for n, k in enumerate(self.keys, start=1)],
                columns=names([*base.columns, *raw, *base.others.values()]),
                numbers=self.numbers,
                gone=self.gone,
            ),
            view=True,
        )

    @cached_property
    def n_rows(self) -> int:
        """How many rows the groups hold."""
        return _sizes(self.base.engine, self.histogram)["rows"]

    @cached_property
    def overall(self) -> Sql:
        """How often each sensitive value occurs in the whole table: s, n_rows."""
        return self.base.engine.create(render("overall.sql", histogram=self.histogram))

    @cached_property
    def population(self) -> Sql:
        """How many of the population fit each group: g, n_people, n_population."""
        from privacy_sql.population import population_groups

        return population_groups(self)

    @property
    def sensitive_codes(self) -> Sql:
        return self.base.sensitive_codes

    @property
    def sensitive_height(self) -> int:
        return int(self.base.table.sensitive_hierarchy.height)

    @cached_property
    def n_groups(self) -> int:
        (found,) = self.base.engine.fetch(render("group_number.sql", groups=self.groups, group=0))
        return int(found["n_groups"])

    def relations(self, reads_sensitive: bool = True) -> dict[str, Any]:
        """The names a criterion's template may use."""
        found: dict[str, Any] = {
            "candidate": self.candidate,
            "histogram": self.histogram,
            "groups": self.groups,
            "base": self.base.relation,
        }
        if reads_sensitive:
            found["overall"] = self.overall
            found["values"] = self.base.dictionaries["s"]
        return found

    def number(self, group: int) -> dict[str, int]:
        """The place of a group among all groups, in the order of their keys."""
        (found,) = self.base.engine.fetch(render("group_number.sql", groups=self.groups, group=group))
        return {"group": found["number"], "groups": found["n_groups"]}


def count(engine: Engine, table: Table) -> Base:
    """Count a table once on its engine and check what it declares about its rows."""
    engine = engine.session(files(table))
    source, columns = opened(engine, table)
    _check_people(engine, source, table)
    _check_multiplicities(engine, source, table)
    inside = _internal(table)
    several = table.values_per_person != "one"
    counted = engine.create(_count(source, table, inside, several))
    quasi_only = [(name, alias) for name, alias in inside if alias != "s"]
    people = _people(engine, source, table, quasi_only) if several else None
    dictionaries = _dictionaries(engine, [alias for _, alias in inside], counted, people)
    statistics = _statistics(engine, dictionaries)
    table = levels.fitted(engine, table, dictionaries)
    base = Base(
        engine=engine,
        table=table,
        source=source,
        relation=_encode(engine, counted, dictionaries),
        people=people and _encode(engine, people, {k: v for k, v in dictionaries.items() if k != "s"}),
        dictionaries=dictionaries,
        statistics=statistics,
        **_sizes(engine, counted),
        source_columns=columns,
    )
    raise_all(_refused_nulls(base))
    return base


def files(table: Table) -> list[Path]:
    """The files a table is read from."""
    named = [source for source in (table.source, table.population) if isinstance(source, (str, Path))]
    return [path for path in map(Path, named) if path.is_file()]


def opened(engine: Engine, table: Table) -> tuple[Sql, dict[str, str]]:
    """The source as a relation, its condition applied, and its columns; all unknown columns at once."""
    source = engine.source(table.source)
    columns = engine.columns(source)
    raise_all(table.unknown(list(columns)))
    if table.where:
        text = condition(table.where, list(columns))
        source = engine.create(
            render("where.sql", source=source, condition=text, columns=list(columns)), view=True
        )
    return source, columns


def _internal(table: Table) -> list[tuple[str, Sql]]:
    inside = [(name, Sql(f"q{number}")) for number, name in enumerate(table.quasi, start=1)]
    if table.group:
        inside.append((table.group, Sql("grp")))
    if len(table.sensitives) > 1:
        raise UsageError(
            "several_sensitive", "one sensitive column at a time", hint="Use Table.with_sensitive."
        )
    return inside + [(name, Sql("s")) for name in table.sensitives]


def _count(source: Sql, table: Table, inside: Sequence[tuple[str, Sql]], several: bool) -> Query:
    measure = "people" if table.values_per_person == "set" else "sum" if table.count else "rows"
    return render(
        "base.sql",
        source=source,
        columns=list(inside),
        measure=measure,
        counted=table.identifier if measure == "people" else table.count,
        present=table.sensitives[0] if several and table.sensitives else None,
    )


def _people(engine: Engine, source: Sql, table: Table, quasi: Sequence[tuple[str, Sql]]) -> Sql:
    return engine.create(
        render(
            "base.sql",
            source=source,
            columns=list(quasi),
            measure="people",
            counted=table.identifier,
            present=None,
        )
    )


def _dictionaries(engine: Engine, columns: Sequence[str], counted: Sql, people: Sql | None) -> dict[str, Sql]:
    """One dictionary per column; people without a value appear in `people` only."""
    return {
        str(column): engine.create(
            render(
                "dictionary.sql", column=Sql(column), counted=counted if column == "s" else people or counted
            )
        )
        for column in columns
    }


def _statistics(engine: Engine, dictionaries: Mapping[str, Sql]) -> dict[str, Mapping[str, int]]:
    if not dictionaries:
        return {}
    rows = engine.fetch(render("columns.sql", dictionaries=_pairs(dictionaries)))
    by_position = {row["position"]: row for row in rows}
    return {column: by_position[number] for number, column in enumerate(dictionaries)}


def _encode(engine: Engine, counted: Sql, dictionaries: Mapping[str, Sql]) -> Sql:
    return engine.create(render("encode.sql", counted=counted, dictionaries=_pairs(dictionaries)))


def _sizes(engine: Engine, counted: Sql) -> dict[str, int]:
    (found,) = engine.fetch(render("sizes.sql", counted=counted))
    return {"rows": found["n_rows"], "combinations": found["n_combinations"]}


def _pairs(dictionaries: Mapping[str, Sql]) -> list[tuple[Sql, Sql]]:
    return [(Sql(column), dictionary) for column, dictionary in dictionaries.items()]


def _too_many(keys: Sequence[Key]) -> bool:
    """Whether the combinations of all codes outgrow one bigint."""
    return math.prod(key.top + 1 for key in keys) >= PACKED_LIMIT


def _check_people(engine: Engine, source: Sql, table: Table) -> None:
    """A repeated person is refused, unless declared; then all rows of a person must agree who that is."""
    if table.identifier is None:
        return
    (found,) = engine.fetch(render("people.sql", source=source, identifier=table.identifier))
    if found["n_unnamed"]:
        raise DataError(
            "no_person", f"{found['n_unnamed']} rows have no {table.identifier}", where=table.name
        )
    if table.values_per_person == "one":
        _refuse_repeated(found, table)
        return
    columns = [*table.quasi, *([table.group] if table.group else [])]
    (apart,) = engine.fetch(
        render("scattered.sql", source=source, identifier=table.identifier, columns=columns)
    )
    if apart["n_people"]:
        raise DataError(
            "scattered_person",
            f"{apart['n_people']} people have rows that differ in a quasi-identifier",
            where=table.name,
            hint="All rows of a person must lie in one group; make their quasi-identifiers agree first.",
        )


def _check_multiplicities(engine: Engine, source: Sql, table: Table) -> None:
    if table.count is None:
        return
    (found,) = engine.fetch(render("multiplicities.sql", source=source, counted=table.count))
    if found["n_rows"]:
        raise DataError(
            "bad_count",
            f"{found['n_rows']} rows have a {table.count} that is no whole number of at least 0",
            where=table.name,
            hint="A multiplicity says how many rows a row stands for.",
        )


def _refuse_repeated(found: Mapping[str, int], table: Table) -> None:
    if found["n_people"] != found["n_rows"]:
        raise DataError(
            "repeated_person",
            f"{table.identifier} repeats: {found['n_rows']} rows are about {found['n_people']} people",
            where=table.name,
            hint="Set values_per_person to set or multiset, or aggregate first.",
        )


def _refused_nulls(base: Base) -> list[PrivacySqlError]:
    declared = {base.aliases[name]: (name, base.table.nulls_of(name)) for name in base.table.quasi}
    if base.table.sensitives:
        declared["s"] = (base.table.sensitives[0], base.table.sensitive_nulls)
    return [
        DataError(
            "null_refused",
            f"{base.statistics[column]['n_nulls']} rows have no {name}, and its nulls are refused",
            where=base.table.name,
            hint="Fill them in, leave the rows out with `where:`, or declare `nulls: value`.",
        )
        for column, (name, rule) in declared.items()
        if rule == "refuse" and base.statistics[column]["n_nulls"]
    ]
