"""The counted base: the source reduced, in SQL, to distinct combinations in dictionary codes.

Everything after it works on counts: trying a choice counts the combinations again, not the rows.
Internal names: `q1`, `q2`, ... the quasi-identifiers, `grp` the group column, `s` the sensitive value.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, Self, TypeVar, overload

from privacy_sql.counted import levels
from privacy_sql.counted.counting import counted
from privacy_sql.counted.levels import ValueLabels, every_label
from privacy_sql.counted.people import check_multiplicities, check_people
from privacy_sql.display.progress import report
from privacy_sql.engines import Engine, Source
from privacy_sql.engines._sources import is_file, members
from privacy_sql.engines._travel import travelled
from privacy_sql.errors import DataError, UsageError, number_of, raise_all
from privacy_sql.hierarchies import Hierarchy
from privacy_sql.query.conditions import with_numbers
from privacy_sql.query.template import Query, Sql, condition, names, render
from privacy_sql.table import Table


@dataclass(frozen=True)
class Key:
    """One column that decides the group of a published row: a base column at a level."""

    column: str  # q1, grp
    level: int = 0
    top: int = 0  # the highest code of the column
    labels: Sql | None = None  # code, value: what the codes stand for, where that is not one level


T = TypeVar("T")
# a key of the memory: facts that depend on other releases, which others may add at any time
OUT = "what is out"


class Memory:
    """Results for a base, kept as long as anybody holds it or a copy of its counts."""

    def __init__(self, **known: object) -> None:
        self.found: dict[Hashable, Any] = dict(known.items())

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """The result for a key, computed by `make` if it is not known."""
        if key not in self.found:
            self.found[key] = make()
        found: T = self.found[key]
        return found

    def known(self, *keys: str) -> dict[str, object]:
        """The known results for some keys."""
        return {key: self.found[key] for key in keys if key in self.found}

    def forget(self, key: Hashable) -> None:
        """Forget what may have changed."""
        self.found.pop(key, None)


class remembered(Generic[T]):  # used like a property
    """A property of a base that is computed once per engine and kept in its memory."""

    def __init__(self, make: Callable[[Base], T]) -> None:
        self.make, self.__doc__ = make, make.__doc__

    @overload
    def __get__(self, base: None, owner: type[Base] | None = None) -> Self: ...

    @overload
    def __get__(self, base: Base, owner: type[Base] | None = None) -> T: ...

    def __get__(self, base: Base | None, owner: type[Base] | None = None) -> Self | T:
        if base is None:
            return self
        name, found = self.make.__name__, base.memory.found
        if name not in found:
            found[name] = self.make(base.at_home)
        known: T = found[name]
        return known


@dataclass(frozen=True)
class Base:
    """The counted source of one table, with the dictionaries of its codes."""

    engine: Engine
    table: Table
    source: Sql
    relation: Sql  # q1.., grp, s, n_rows
    people: Sql | None  # q1.., grp, n_rows as people, when a person may have several values
    holders: Sql | None  # the same for people with at least one value
    dictionaries: Mapping[str, Sql]  # internal column -> (code, value, n_rows)
    statistics: Mapping[str, Mapping[str, int]]  # internal column -> n_values, n_nulls, top, star
    rows: int
    combinations: int
    source_columns: Mapping[str, str]  # every column of the source and its kind
    stamps: Mapping[Path, tuple[int, ...]]  # the files it was read from, as they were then
    sides: tuple[Base, ...] = ()  # the same table for each further sensitive column
    # the table counted again without one of several sensitive columns
    dropping: Callable[[str], Base] | None = None
    declared: Mapping[str, Hierarchy] = field(default_factory=dict)  # as they were before they met the data
    # everybody who might be in the table: the population of `table`, or a copy; a frame would print rows
    population: Source | None = field(default=None, repr=False)
    home: Engine | None = None  # the engine that has the relations, if `engine` is a session of it
    memory: Memory = field(default_factory=Memory, repr=False, compare=False)

    @property
    def ignored(self) -> tuple[str, ...]:
        """Columns of the source without a role."""
        return tuple(self.table.unnamed(list(self.source_columns)))

    @property
    def holds_rows(self) -> bool:
        """Whether anybody is in the table, with or without a sensitive value."""
        return bool(self.rows) or any(sizes["n_rows"] for sizes in self.statistics.values())

    @property
    def at_home(self) -> Base:
        """The same counts on the engine that has them; relations created there stay as long as the counts."""
        return self if self.home is None else replace(self, engine=self.home, home=None)

    def beside(self) -> Base:
        """The same counts; further relations are dropped when nobody holds them any more."""
        return replace(self, engine=self.engine.session(), home=self.home or self.engine)

    def left(self, relation: Sql, sides: tuple[Base, ...] = (), **labels: Mapping[str, Sql]) -> Base:
        """A new base for the remaining counts, with an empty memory.

        Codes stay the same. So do their labels, unless `dictionaries` of raw values or `levels` of
        hierarchies are given.
        """
        found = sizes(self.engine, relation)
        return replace(
            self,
            relation=relation,
            rows=found["rows"],
            combinations=found["combinations"],
            dictionaries=labels.get("dictionaries", self.dictionaries),
            sides=sides,
            memory=Memory(
                levels=labels.get("levels", self.levels),
                level_codes=self.level_codes,
                domains=self.domains,
                **self.memory.known("sensitive_codes"),
            ),
        )

    def refuse_changed(self) -> None:
        """Refuse to go on if a file of the table has changed since it was counted."""
        for path, seen in self.stamps.items():
            if not path.exists() or stamp(path) != seen:
                raise DataError("source_changed", f"{path.name} changed during the run", hint="Run it again.")

    @remembered
    def lines(self) -> Sql:
        """The source rows without repetitions: if people have several values, one row for each value."""
        table = self.table
        repeats = table.values_per_person == "multiset"
        if self.holders is None or (repeats and not table.sensitives):
            return self.source
        query = render(
            "counted/lines.sql",
            source=self.source,
            columns=list(dict.fromkeys([*self.source_columns, *table.sensitives])),
            identifier=table.identifier,
            sensitive=next(iter(table.sensitives), None),
            repeats=repeats,
        )
        return self.engine.create(query, view=True)

    @remembered
    def n_lines(self) -> int:
        """How many lines can be published: the rows without repetitions."""
        return self.rows + self.n_people - self.n_holders

    @remembered
    def overall(self) -> Sql:
        """How often each sensitive value occurs: s, n_rows."""
        return self.engine.create(render("counted/overall.sql", histogram=self.relation))

    @remembered
    def n_people(self) -> int:
        return sizes(self.engine, self.people)["rows"] if self.people else self.rows

    @remembered
    def n_holders(self) -> int:
        """People with at least one sensitive value."""
        return sizes(self.engine, self.holders)["rows"] if self.holders else self.n_people

    @remembered
    def coded(self) -> Sql:
        """The source rows: codes q1.., raw values r_q1.., the sensitive value s, the insensitive i1.. ."""
        return self.engine.create(
            render(
                "counted/coded.sql",
                source=self.lines,
                quasi=[(name, Sql(q), self.dictionaries[q]) for name, q in self.aliases.items()],
                others=[(name, Sql(alias)) for name, alias in self.others.items()],
            ),
            view=True,
        )

    @remembered
    def others(self) -> dict[str, str]:
        """Insensitive columns, and their internal names."""
        free = {name: f"i{number}" for number, name in enumerate(self.table.insensitive, start=1)}
        return {**dict.fromkeys(self.table.sensitives, "s"), **free}

    @remembered
    def aliases(self) -> dict[str, str]:
        """The user's quasi-identifiers and the internal names of their columns."""
        return {column: f"q{number}" for number, column in enumerate(self.table.quasi, start=1)}

    @remembered
    def columns(self) -> dict[str, tuple[str, Hierarchy]]:
        """Internal quasi-identifier columns: the user's name and the hierarchy."""
        return {self.aliases[name]: (name, kind) for name, kind in self.table.hierarchies.items()}

    @remembered
    def levels(self) -> dict[str, Sql]:
        """The labels of each column with a hierarchy: (code, n_rows, l0..lH); refuses uncovered values."""
        made = {column: self.engine.create(query) for column, query in self._labelled.items()}
        if "labels" not in self.memory.found:  # these would have been refused
            kinds = {column: self.columns[column] for column in made}
            found = [
                levels.unmapped(self.engine, made[c], kind, self.table.name, name)
                for c, (name, kind) in kinds.items()
            ]
            raise_all([problem for problems in found for problem in problems])
        return made

    @remembered
    def _labelled(self) -> dict[str, Query]:
        """For each column with a hierarchy, the query for its labels."""
        return {
            column: levels.labelled(self.engine, self.dictionaries[column], kind)
            for column, (_, kind) in self.columns.items()
            if kind.height
        }

    @property
    def shown_levels(self) -> Mapping[str, Sql]:
        """The labels to read once: relations that are kept, or else the queries for them."""
        if "levels" in self.memory.found:
            return self.levels
        return {column: Sql(f"({query.sql})") for column, query in self._labelled.items()}

    @remembered
    def labels(self) -> list[ValueLabels]:
        """The values of every quasi-identifier with their labels at every level, in memory."""
        codes = self.level_codes if "levels" in self.memory.found else {}
        given = self.dictionaries, self.shown_levels, codes
        return every_label(self.engine, self.table.name, self.columns, *given)

    @remembered
    def domains(self) -> list[ValueLabels]:
        """The same for the whole table, if only a part of it is searched."""
        return self.labels

    @remembered
    def level_codes(self) -> dict[str, Sql]:
        """The same labels as small integers: (code, c0..cH)."""
        return {c: levels.codes(self.engine, made, self.columns[c][1]) for c, made in self.levels.items()}

    @remembered
    def sensitive_codes(self) -> Sql:
        """The sensitive values at every level of their hierarchy, as small integers: (code, c0..cH)."""
        name, kind = self.table.sensitives[0], self.table.sensitive_hierarchy
        if kind is None:
            raise UsageError(
                "no_hierarchy",
                f"{name} has no hierarchy",
                hint="Add a hierarchy to the entry of the sensitive column.",
            )
        made = levels.labels(self.engine, self.dictionaries["s"], kind)
        raise_all(levels.unmapped(self.engine, made, kind, self.table.name, name))
        return levels.codes(self.engine, made, kind)

    def label(self, column: str, level: int, code: int, meant: Sql | None = None) -> object:
        """INTERNAL: the label of a code of a column at a level, or among those that a key `meant`."""
        levels, codes = meant or self.dictionaries[column], None
        if level:
            levels, codes = self.levels[column], self.level_codes[column]
        query = render("counted/label.sql", levels=levels, codes=codes, level=level, code=code)
        return self.engine.fetch(query)[0]["label"]

    def key_labels(self, key: Key) -> Sql:
        """What the codes of a key at one level stand for: (code, value)."""
        if not key.level:
            return self.dictionaries[key.column]
        levels, codes = self.levels[key.column], self.level_codes[key.column]
        query = render("counted/key_labels.sql", levels=levels, codes=codes, level=key.level)
        return self.engine.create(query)

    def level_sizes(self, column: str) -> list[int]:
        """How many different labels each level of a column's hierarchy has, level 0 first."""
        height = self.columns[column][1].height
        if not height:
            return [self.statistics[column]["n_values"]]
        import numpy as np  # a check needs no labels and loads no arrays

        (labels,) = [its for its, other in zip(self.labels, self.columns, strict=True) if other == column]
        return [len(np.unique(codes)) for codes in labels.at]

    def keys(self, choice: Mapping[str, int]) -> list[Key]:
        """The keys of full-domain generalisation: every quasi-identifier at its level (0 if not named)."""
        return [self.key(self.aliases[name], choice.get(name, 0)) for name in self.table.quasi]

    def key(self, column: str, level: int = 0) -> Key:
        return Key(column, level, self.statistics[column]["top"] + 1)

    def own_keys(self) -> list[Key]:
        """The keys of the unchanged table: its group column, or else its quasi-identifiers."""
        return [self.key("grp")] if self.table.group else self.keys({})

    def keyed(self, keys: Sequence[Key], relation: Sql | None = None) -> Query:
        """The base (or its people) with added key columns k1.."""
        return render(
            "counted/keyed.sql",
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


def sizes(engine: Engine, counted: Sql) -> dict[str, int]:
    """How many rows a counted relation counts, and how many combinations it has."""
    (found,) = engine.fetch(render("counted/sizes.sql", counted=counted))
    return {"rows": found["n_rows"], "combinations": found["n_combinations"]}


def no_rows(table: Table) -> DataError:
    """The error for a table with nothing to judge: the source is empty, or its condition keeps no row."""
    if table.where is None:
        return DataError(
            "empty_table",
            f"{table.name} has no rows",
            hint="Check the source; there is nothing to judge or publish.",
        )
    hint = "Check the condition; put text in single quotes, as in sex = 'F'."
    return DataError("empty_table", f"`where:` keeps no row of {table.name}", hint=hint)


def count(engine: Engine, table: Table, *, several: bool = False, frozen: bool = False) -> Base:
    """Count a table once on its engine; `several`: for each of its sensitive columns, or all as one.

    `frozen`: one statement first copies a relation or frame, and its population, so that later steps see the
    same rows even if others write to it meanwhile. Files are checked for changes instead.
    """
    refuse_strangers(engine, table)
    if table.counted.base is not None and (several or len(table.sensitives) < 2):
        if table.counted.engine is not engine:
            hint = "Use the engine it was counted with, or count it with this one."
            raise UsageError(
                "other_engine", "a different engine counted this table", where=table.name, hint=hint
            )
        found: Base = table.counted.base
        found.refuse_changed()
        for part in (found, *found.sides):
            part.memory.forget(OUT)
        # relations made from the counts are dropped when nobody holds them, however often this is called
        return replace(found.beside(), sides=tuple(side.beside() for side in found.sides))
    report(f"counting {table.name}", 0, 1)
    rows = start(engine, table)
    if frozen:
        source, population = rows.source, rows.population
        source = source if is_file(table.source) else _copied(rows.engine, source)
        if population is not None and not is_file(population):
            population = _copied(rows.engine, rows.engine.source(population))
        rows = replace(rows, source=source, population=population)
    made = count_opened(rows, table, several=several)
    report(f"counting {table.name}", 1, 1)
    return made


def counted_once(engine: Engine, table: Table) -> Table:
    """The same table with its counts, so that later calls do not count again."""
    if table.counted.engine is engine:
        return table
    made = replace(table)
    # its own copy, so that the counts do not hold themselves
    made.counted.base = count(engine, replace(table), several=True, frozen=True)
    made.counted.engine = engine
    return made


def _copied(engine: Engine, source: Sql) -> Sql:
    columns = list(engine.columns(source))
    copy = render("counted/where.sql", source=source, condition=Sql("true"), columns=columns)
    return engine.create(Query(copy.sql, "source"))


STRANGERS = (
    (Engine, "the first argument must be an engine", "Use for example ps.connect()."),
    (Table, "the second argument must be a Table", "Use ps.Table(source, quasi, sensitive)."),
)


def refuse_strangers(*given: object) -> None:
    """Refuse anything but an engine and a table before using them."""
    for thing, (kind, what, hint) in zip(given, STRANGERS, strict=False):
        if not isinstance(thing, kind):
            raise UsageError("bad_argument", f"{what}, not a {type(thing).__name__}", hint=hint)


@dataclass(frozen=True)
class Opened:
    """An open source: its rows, its columns, and the state of its files."""

    engine: Engine
    source: Sql
    columns: Mapping[str, str]
    stamps: Mapping[Path, tuple[int, ...]]
    population: Source | None = field(default=None, repr=False)


def start(engine: Engine, table: Table) -> Opened:
    """Open the source of a table in a session of its engine."""
    engine = engine.session(files(table))
    stamps = {path: stamp(path) for path in files(table)}
    return Opened(engine, *opened(engine, table), stamps, table.population)


def count_opened(found: Opened, table: Table, *, several: bool = False) -> Base:
    """Count a table whose source is open."""
    if len(table.sensitives) < 2:
        return _counted(found, table)
    if not several:
        hint = "Name one with --sensitive, or with Table.with_sensitive in Python."
        raise UsageError(
            "several_sensitive",
            "this takes one sensitive column at a time",
            where=table.name,
            hint=hint,
        )
    if table.joint:
        return _counted(found, table)
    first, *others = (table.with_sensitive(name) for name in table.sensitives)
    return replace(
        _counted(found, first),
        sides=tuple(_counted(found, other) for other in others),
        dropping=lambda column: count_opened(found, table.dropping(column), several=True),
    )


def _counted(start: Opened, table: Table) -> Base:
    """Count a table and check its declarations about rows."""
    engine, source, columns = start.engine, start.source, start.columns
    if len(table.sensitives) > 1:
        # one more column, with all sensitive values of a row
        table = table.with_joint()
        parts, name = list(table.joined), table.sensitives[0]
        query = render("counted/joint.sql", source=source, columns=list(columns), parts=parts, name=name)
        source = engine.create(query, view=True)
    check_people(engine, source, table)
    check_multiplicities(engine, source, table)
    found = counted(engine, source, table, columns)
    declared = table.hierarchies
    table = levels.fitted(engine, table, found.dictionaries)
    codes = list(filter(None, (found.relation, found.people, found.holders)))
    engine, moved = travelled(engine, [*codes, *found.dictionaries.values()], found.combinations)
    base = Base(
        engine=engine,
        table=table,
        source=source,
        relation=moved[0],
        people=moved[1] if found.people else None,
        holders=moved[2] if found.holders else None,
        dictionaries=dict(zip(found.dictionaries, moved[len(codes) :], strict=True)),
        statistics=found.statistics,
        rows=found.rows,
        combinations=found.combinations,
        source_columns=columns,
        stamps=start.stamps,
        declared=declared,
        population=start.population,
    )
    nulls = {base.aliases[name]: (name, base.table.nulls_of(name)) for name in base.table.quasi}
    if base.table.sensitives:
        nulls["s"] = (base.table.sensitives[0], base.table.sensitive_nulls)
    raise_all(
        [
            DataError(
                "null_refused",
                f"{name} is missing in {number_of(base.statistics[column]['n_nulls'], 'row')},"
                " and `nulls:` refuses them",
                where=base.table.name,
                hint="Fill them in, exclude the rows with `where:`, or declare `nulls: value`.",
            )
            for column, (name, rule) in nulls.items()
            if rule != "value" and base.statistics[column]["n_nulls"]
        ]
    )
    return base


def files(table: Table) -> list[Path]:
    """The source files of a table."""
    found: list[Path] = []
    for source in (table.source, table.population):
        if isinstance(source, (str, Path)) and (is_file(source) or Path(source).is_file()):
            found += members(Path(source))
    return found


def stamp(path: Path) -> tuple[int, ...]:
    """What changes when a file is written to or replaced."""
    if path.is_dir():
        return tuple(number for file in sorted(path.iterdir()) for number in stamp(file))
    found = path.stat()
    # the last field is the time of any change, which nobody can set back
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def opened(engine: Engine, table: Table) -> tuple[Sql, dict[str, str]]:
    """The source as a relation with its condition applied, and its columns; names all unknown columns."""
    source = engine.source(table.source)
    columns = engine.columns(source)
    raise_all(table.unknown(list(columns)))
    if table.where is not None:
        text, numbers = with_numbers(condition(table.where, list(columns)), columns)
        if numbers:
            # a value that does not cast is refused, never left out or ordered as text
            (found,) = engine.fetch(render("counted/where_numbers.sql", source=source, columns=numbers))
            raise_all(
                [
                    DataError(
                        "unmapped_value",
                        f"{n} values of {column} are not numbers, but `where:` compares it with one",
                        where="where",
                        hint="Compare with text in quotes, or correct the values.",
                    )
                    for column, n in zip(
                        numbers, (found[f"n{i}"] for i in range(1, len(numbers) + 1)), strict=True
                    )
                    if n
                ]
            )
        source = engine.create(
            render("counted/where.sql", source=source, condition=text, columns=list(columns)), view=True
        )
    return source, columns
