"""People found in published releases, on the engine: which groups fit them, and what those groups hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from privacy_sql.base import Base, Grouping, count
from privacy_sql.described import Description, Published
from privacy_sql.engines import Engine
from privacy_sql.hierarchies import Hierarchy
from privacy_sql.labels import columns as rule_columns
from privacy_sql.levels import labels
from privacy_sql.query import Query, Sql, names, render
from privacy_sql.release_counts import Counted, counted, sensitive_names
from privacy_sql.table import Table


@dataclass(frozen=True)
class Crowd:
    """The people under attack on the engine, one line per combination of what is known about them."""

    engine: Engine
    known: Base
    combinations: Sql  # person, q1.., n_people
    people: int

    @classmethod
    def of(cls, known: Base) -> Crowd:
        """Everybody a counted table knows, by quasi-identifiers alone."""
        columns = names(known.aliases.values())
        query = render("attacks/combinations.sql", base=known.relation, columns=columns)
        return cls(known.engine, known, known.engine.create(query), known.rows)

    @classmethod
    def shared(cls, known: Base, population: Any) -> Crowd:
        """Those of a counted table who are in the population that several releases share."""
        columns = list(known.aliases)
        theirs = count(known.engine, Table(population, columns, name="population"))
        keys = [
            (Sql(alias), Sql(theirs.aliases[column]), _same_values(known, theirs, column))
            for column, alias in known.aliases.items()
        ]
        query = render("population_keyed.sql", coded=theirs.relation, keys=keys)
        inside = names(known.aliases.values())
        combinations = known.engine.create(
            render("attacks/combinations.sql", base=known.engine.create(query), columns=inside)
        )
        return cls(known.engine, known, combinations, theirs.rows)

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        """The number of each column in relations that hold several."""
        return {name: number for number, name in enumerate(self.known.aliases, start=1)}

    @cached_property
    def readable(self) -> Sql:
        """The values of all columns as text and number."""
        dictionaries = self.known.dictionaries
        aliases = self.known.aliases.items()
        return _readable(self.engine, [(self.numbers[name], dictionaries[alias]) for name, alias in aliases])

    def n_values(self, column: str) -> int:
        """How many values of a column occur."""
        return self.known.statistics[self.known.aliases[column]]["n_values"]


@dataclass(frozen=True)
class Located:
    """One release as seen by the adversary: who fits which group, and what the fitting groups hold."""

    name: str
    groups: Sql  # g, n_people
    located: Sql  # person, g
    held: Sql  # person, s (shared code)
    home: Engine  # its relations live as long as this session
    group_names: Sql | None = None  # g, value


def _same_values(known: Base, theirs: Base, column: str) -> Sql:
    ours, other = known.aliases[column], theirs.aliases[column]
    query = render(
        "population_keys.sql",
        theirs=theirs.dictionaries[other],
        ours=known.dictionaries[ours],
        codes=None,
        level=0,
    )
    return known.engine.create(query)


def locate(crowd: Crowd, description: Description, codes: dict[str | None, int]) -> Located:
    """Find the groups of a described release that each combination of people fits.

    `codes` numbers the sensitive values of all releases together and grows with each.
    """
    shared = {name: how for name, how in description.columns.items() if name in crowd.known.aliases}
    columns = list(dict.fromkeys(how.column for how in shared.values()))
    read = counted(crowd.engine, description, columns)
    find = _nearest if description.locate == "centroid" else _fitting
    located = crowd.engine.create(find(crowd, shared, read, description))
    held = _held(crowd.engine, located, read.histogram, read.values, codes)
    return Located(description.name, read.groups, located, held, read.home, read.group_names)


def locate_own(crowd: Crowd, grouping: Grouping, codes: dict[str | None, int]) -> Located:
    """The groups of a candidate of our own, where everybody's group is known."""
    columns = names(crowd.known.aliases.values())
    members = render("attacks/members.sql", candidate=grouping.members, columns=columns)
    query = render(
        "attacks/own_groups.sql",
        combinations=crowd.combinations,
        members=crowd.engine.create(members),
        columns=columns,
    )
    located = crowd.engine.create(query)
    held = _held(crowd.engine, located, grouping.histogram, sensitive_names(grouping.base), codes)
    return Located("this release", grouping.groups, located, held, grouping.base.engine)


def _held(
    engine: Engine,
    located: Sql,
    histogram: Sql,
    values: Mapping[int, str | None],
    codes: dict[str | None, int],
) -> Sql:
    shared = [codes.setdefault(value, len(codes)) for value in values.values()]
    renamed = engine.load({"s": ("bigint", list(values)), "shared": ("bigint", shared)}, "names")
    return engine.create(render("attacks/held.sql", located=located, histogram=histogram, names=renamed))


def _fitting(crowd: Crowd, shared: Mapping[str, Published], read: Counted, description: Description) -> Query:
    # few-valued columns first keep the steps short
    order = sorted(shared, key=crowd.n_values)
    theirs = names(crowd.known.aliases[name] for name in order)
    published = names(read.aliases[shared[name].column] for name in order)
    engine = crowd.engine
    people = _prefixes(engine, Sql("person"), crowd.combinations, theirs)
    members = _prefixes(engine, Sql("g"), read.members, published)
    cover = _cover(crowd, shared, read)
    # step by step: an engine that knows how little fits so far chooses far better joins
    fits: Sql | None = None
    for step, (name, mine, label) in enumerate(zip(order, theirs, published, strict=True), start=1):
        query = render(
            "attacks/fits.sql",
            before=fits,
            people=people,
            members=members,
            cover=cover,
            theirs=mine,
            published=label,
            k=crowd.numbers[name],
            step=step,
        )
        done, fits = fits, engine.create(query)
        if done is not None:
            engine.drop(done)
    return render("attacks/located.sql", fits=fits, people=people, members=members, step=len(order))


def _prefixes(engine: Engine, key: Sql, relation: Sql, columns: list[Sql]) -> Sql:
    return engine.create(render("attacks/prefixes.sql", key=key, relation=relation, columns=columns))


def _cover(crowd: Crowd, shared: Mapping[str, Published], read: Counted) -> Sql:
    """Which labels of each published column cover which values of the people."""
    engine = crowd.engine
    labelled = {name: read.labels[read.aliases[how.column]] for name, how in shared.items()}
    columns = [(crowd.numbers[name], dictionary) for name, dictionary in labelled.items()]
    by_number = {crowd.numbers[name]: how for name, how in shared.items()}
    found = engine.fetch(render("attacks/labels.sql", columns=columns))
    rules = rule_columns((row["k"], row["code"], by_number[row["k"]].rules(row["label"])) for row in found)
    return engine.create(
        render(
            "attacks/cover.sql",
            readable=crowd.readable,
            rules=engine.load(rules, "rules"),
            hierarchies=[
                (crowd.numbers[name], *_levels(crowd, name, how), labelled[name])
                for name, how in shared.items()
                if _kind(crowd, name, how).height
            ],
        )
    )


def _kind(crowd: Crowd, name: str, how: Published) -> Hierarchy:
    # without a hierarchy of its own, a release is read with the one known for the column
    return how.hierarchy or crowd.known.table.hierarchies[name]


def _levels(crowd: Crowd, name: str, how: Published) -> tuple[Sql, int]:
    kind = _kind(crowd, name, how)
    return labels(crowd.engine, crowd.known.dictionaries[crowd.known.aliases[name]], kind), kind.height


def _nearest(crowd: Crowd, shared: Mapping[str, Published], read: Counted, description: Description) -> Query:
    engine = crowd.engine
    labelled = _readable(
        engine,
        [(crowd.numbers[name], read.labels[read.aliases[how.column]]) for name, how in shared.items()],
    )
    ours, theirs = _spreads(engine, crowd.readable), _spreads(engine, labelled)
    columns = []
    for name, how in shared.items():
        k = crowd.numbers[name]
        # the range of published centres stands in for that of the data when nobody gives it
        scale = description.scale.get(name) or repr(float(theirs[k]["spread"] or 1))
        numeric = not ours[k]["n_words"] and not theirs[k]["n_words"]
        published = Sql(read.aliases[how.column])
        columns.append((k, Sql(crowd.known.aliases[name]), published, scale, numeric))
    return render(
        "attacks/nearest.sql",
        people=crowd.combinations,
        members=read.members,
        values=crowd.readable,
        labels=labelled,
        columns=columns,
    )


def _spreads(engine: Engine, readable: Sql) -> dict[int, Mapping[str, Any]]:
    return {row["k"]: row for row in engine.fetch(render("attacks/spread.sql", readable=readable))}


def _readable(engine: Engine, columns: list[tuple[int, Sql]]) -> Sql:
    return engine.create(render("attacks/readable.sql", columns=columns, value=Sql("value")))
