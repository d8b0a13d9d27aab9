"""Locate people in published releases, on the engine: which groups fit them, with what values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cache, cached_property
from typing import Any

from privacy_sql.attacks.release_counts import LabelledGroups, counted, sensitive_names
from privacy_sql.counted.base import Base, count
from privacy_sql.counted.grouping import Grouping
from privacy_sql.counted.levels import labels
from privacy_sql.engines import Engine
from privacy_sql.errors import DataError, UsageError
from privacy_sql.hierarchies import AsIs, Hierarchy
from privacy_sql.hierarchies.numeric import NUMBER
from privacy_sql.history.described import Description, PublishedColumn
from privacy_sql.history.labels import AS_IT_SAYS, SAME_NUMBER, STAR, LabelRule, node_of_box, spelt
from privacy_sql.history.labels import columns as rule_columns
from privacy_sql.query.template import Query, Sql, free_name, names, render
from privacy_sql.table import Table

# the most worlds of one combination; with more, people count as known for certain
MOST_WORLDS = 4096


@dataclass(frozen=True)
class Crowd:
    """The people under attack on the engine, one line per combination of known values."""

    engine: Engine
    known: Base
    combinations: Sql  # person, q1.., n_people
    people: int
    kinds: Mapping[str, Hierarchy]  # the hierarchies known of their columns
    missing: frozenset[str] = frozenset()  # columns that releases publish and nobody here is known by
    # which of their values is which of a table of ours: asked again for every candidate of a search
    matches: dict[tuple[str, Sql], Sql] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, known: Base, kinds: Mapping[str, Hierarchy] | None = None) -> Crowd:
        """Everybody in a counted table, with or without a sensitive value."""
        columns = names(known.aliases.values())
        query = render("attacks/combinations.sql", base=known.people or known.relation, columns=columns)
        combinations = known.engine.create(query)
        (found,) = known.engine.fetch(render("attacks/crowd.sql", combinations=combinations))
        return cls(known.engine, known, combinations, found["n_people"], kinds or known.table.hierarchies)

    @classmethod
    def around(cls, base: Base, published: Iterable[str]) -> Crowd:
        """Everybody in a table or its population, by every published column of the source."""
        table, engine = base.table, base.engine
        of_population = table.population is not None
        known, missing, source = known_of(base, published)
        if not of_population and len(known) == len(table.quasi):
            return replace(cls.of(base), missing=missing)
        who = table.identifier if table.identifier in source else None
        several = "set" if of_population and who else table.values_per_person if who else "one"
        # the judged rows, not those of a table that others may write to meanwhile
        rows = base.population if of_population else base.source
        if who in known:
            # a release that shows who is who: a column for the persons, and one for what is known of them
            person = free_name("person", source)
            query = render(
                "attacks/known_by_name.sql", source=rows, columns=list(source), identifier=who, person=person
            )
            who, rows = person, engine.create(query, view=True)
        people = Table(
            rows,
            dict.fromkeys(known, AsIs()),
            identifier=who,
            values_per_person=several,
            count=None if of_population else table.count,
            name="population" if of_population else table.name,
        )
        return replace(cls.of(count(engine, people), known), missing=missing)

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        """The number of each column in relations with several columns."""
        return {name: number for number, name in enumerate(self.known.aliases, start=1)}

    @cached_property
    def readable(self) -> Sql:
        """The values of all columns as text and number."""
        dictionaries = self.known.dictionaries
        aliases = self.known.aliases.items()
        return _readable(self.engine, [(self.numbers[name], dictionaries[alias]) for name, alias in aliases])

    def n_values(self, column: str) -> int:
        """How many different values a column has."""
        return self.known.statistics[self.known.aliases[column]]["n_values"]


def known_of(
    base: Base, published: Iterable[str]
) -> tuple[dict[str, Hierarchy], frozenset[str], Mapping[str, str]]:
    """The known columns of people in a table or its population, the unknown ones, and all columns."""
    table = base.table
    secret = {*table.declared_sensitive, *table.sensitives}
    source = base.source_columns
    if table.population is not None:
        source = base.engine.columns(base.engine.source(base.population))
    more = [column for column in dict.fromkeys(published) if column not in table.quasi]
    open_ = {column: AsIs() for column in more if column in source and column not in secret}
    return {**table.hierarchies, **open_}, frozenset(more) - frozenset(open_), source


@dataclass(frozen=True)
class Located:
    """One release as the adversary sees it: who fits which group, and the values in fitting groups."""

    name: str
    groups: Sql  # g, n_people
    located: Sql  # person, w (one world), g
    held: Sql  # person, w, s (shared code)
    as_written: Callable[[], Sql]  # the same where texts that are written differently are different values
    home: Engine  # its relations live as long as this session
    group_names: Sql | None = None  # g, value

    @cached_property
    def several(self) -> bool:
        """Whether somebody may be in one of several groups."""
        return bool(self.home.fetch(render("attacks/several_worlds.sql", located=self.located))[0]["n_pairs"])


class Names:
    """The sensitive values of all releases, numbered.

    A number is one value in any spelling, and so is a missing one (empty text or NULL). Two releases may
    also mean different values by `01` and `1`, so a second numbering tells all texts apart.
    """

    def __init__(self) -> None:
        self._codes: dict[Any, int] = {}
        self._as_written: dict[str | None, int] = {}
        self._texts: set[str | None] = set()
        self.shown: list[str | None] = []

    @property
    def readings(self) -> int:
        """In how many ways the values may be meant: two if one value was written in several ways."""
        return 1 if len(self._texts) == len(self._codes) else 2

    def code(self, value: str | None) -> int:
        """The number of a value, a new one for a new value."""
        self._texts.add(value)
        key: object = value or None
        if value:
            key = Decimal(value.strip()).normalize() if NUMBER.fullmatch(value) else spelt(value)
        if key not in self._codes:
            self._codes[key] = len(self.shown)
            self.shown.append(value)
        return self._codes[key]

    def as_written(self, value: str | None) -> int:
        """The same where texts that are written differently are different values."""
        if value not in self._as_written:
            self._as_written[value] = len(self.shown)
            self.shown.append(value)
        return self._as_written[value]


def locate_by_all(crowd: Crowd, description: Description, codes: Names) -> Located:
    """The same; whoever is in no group by the contents of a release of ours is located by its labels.

    Somebody had another age when it was published, or none, and a label still covers them.
    """
    found, engine = locate(crowd, description, codes), crowd.engine
    if description.printed is None:
        return found
    missing = _not_located(crowd, found.located)
    if missing is None:
        return found
    labelled = locate(replace(crowd, combinations=missing), description.printed, codes, anywhere=True)

    def both(by_contents: Sql, by_labels: Sql, *columns: str) -> Sql:
        relations = {"by_contents": by_contents, "by_labels": by_labels}
        return engine.create(render("attacks/by_labels_too.sql", **relations, columns=names(columns)))

    return replace(
        found,
        groups=both(found.groups, labelled.groups, "g", "n_people"),
        located=both(found.located, labelled.located, "person", "w", "g"),
        held=both(found.held, labelled.held, "person", "w", "s"),
        as_written=cache(lambda: both(found.as_written(), labelled.as_written(), "person", "w", "s")),
        group_names=None,
    )


def locate(crowd: Crowd, description: Description, codes: Names, *, anywhere: bool = False) -> Located:
    """Find the groups of a described release that each combination of people fits.

    `codes` numbers the sensitive values of all releases together and grows with each. A centre covers the
    people near it, or people `anywhere`, because it does not say how far its group reaches.
    """
    shared = {name: how for name, how in description.columns.items() if name in crowd.known.aliases}
    if not shared:
        raise nothing_shared(description.name)
    columns = list(dict.fromkeys(how.column for how in shared.values()))
    read = counted(crowd.engine, description, columns)
    if description.locate != "centroid":
        query = _fitting(crowd, shared, read, apart=description.apart)
    elif anywhere:
        query = render(
            "attacks/anywhere.sql", people=crowd.combinations, groups=read.groups, most=MOST_WORLDS
        )
    else:
        query = _nearest(crowd, shared, read, description)
    located = crowd.engine.create(query)
    values = read.values
    if description.several:
        values = {code: value for code, value in values.items() if value is not None}
    held, as_written = _held(crowd.engine, located, read.histogram, values, codes)
    return Located(description.name, read.groups, located, held, as_written, read.home, read.group_names)


def nothing_shared(name: str) -> UsageError:
    """The error for a release that shares no column with the people."""
    return UsageError(
        "nothing_shared",
        f"{name} publishes none of the columns known about people",
        hint="Map them under columns: {known column: published column}.",
    )


def locate_own(crowd: Crowd, grouping: Grouping, codes: Names) -> Located:
    """The groups of our own candidate; everybody's group is known."""
    base = grouping.base
    inside = names(base.aliases.values())
    members = render("attacks/members.sql", candidate=grouping.members, columns=inside)
    columns = [
        (Sql(crowd.known.aliases[name]), Sql(alias), _same_values(crowd, base, name, alias))
        for name, alias in base.aliases.items()
    ]
    query = render(
        "attacks/own_groups.sql",
        combinations=crowd.combinations,
        members=crowd.engine.create(members),
        columns=columns,
        apart=grouping.located_by == "members",
    )
    located = crowd.engine.create(query)
    if base.table.population is not None:
        located = _by_labels_too(crowd, grouping, located)
    held, as_written = _held(crowd.engine, located, grouping.histogram, sensitive_names(base), codes)
    return Located("this release", grouping.groups, located, held, as_written, base.engine)


def _by_labels_too(crowd: Crowd, grouping: Grouping, located: Sql) -> Sql:
    """Those of the population whose values the table lacks as well, in groups whose labels cover them.

    Where the groups have no level in any column, their labels are not compared: each may hold everybody.
    """
    missing = _not_located(crowd, located)
    if missing is None:
        return located
    base, engine = grouping.base, crowd.engine
    inside = {alias: name for name, alias in base.aliases.items()}
    keys = {
        inside[key.column]: (f"k{number}", key)
        for number, key in enumerate(grouping.keys, start=1)
        if key.column in inside and key.labels is None
    }
    if not keys:
        query = render("attacks/anywhere.sql", people=missing, groups=grouping.groups, most=MOST_WORLDS)
    else:
        aliases = {name: column for name, (column, _) in keys.items()}
        labels = {column: base.key_labels(key) for column, key in keys.values()}
        members = render("attacks/members.sql", candidate=grouping.members, columns=names(labels))
        shared = {
            name: PublishedColumn(name, hierarchy=base.columns[key.column][1], levels=(key.level,), own=True)
            for name, (_, key) in keys.items()
        }
        printed = LabelledGroups(aliases, labels, engine.create(members))
        query = _fitting(replace(crowd, combinations=missing), shared, printed, apart=False)
    query = render(
        "attacks/found_too.sql",
        located=located,
        more=engine.create(query),
        columns=names(["person", "w", "g"]),
    )
    return engine.create(query)


def _not_located(crowd: Crowd, located: Sql) -> Sql | None:
    """The people without a group in a release; None if there are none."""
    query = render(
        "attacks/not_located.sql",
        combinations=crowd.combinations,
        located=located,
        columns=names(crowd.known.aliases.values()),
    )
    missing = crowd.engine.create(query)
    (found,) = crowd.engine.fetch(render("attacks/somebody.sql", located=missing))
    return missing if found["n_people"] else None


def _same_values(crowd: Crowd, base: Base, name: str, alias: str) -> Sql | None:
    """Map the codes of the people to those of the table; None if both are counted together."""
    if crowd.known is base:
        return None
    ours = base.dictionaries[alias]
    if (name, ours) not in crowd.matches:
        theirs = crowd.known.dictionaries[crowd.known.aliases[name]]
        both = [_readable(crowd.engine, [(1, each)]) for each in (theirs, ours)]
        query = render("attacks/same_values.sql", theirs=both[0], ours=both[1])
        crowd.matches[name, ours] = crowd.engine.create(query)
    return crowd.matches[name, ours]


def _held(
    engine: Engine,
    located: Sql,
    histogram: Sql,
    values: Mapping[int, str | None],
    codes: Names,
) -> tuple[Sql, Callable[[], Sql]]:
    """The values that are possible for everybody, read as one value or, as they are written, as several."""

    def held(code: Callable[[str | None], int]) -> Sql:
        columns = {
            "s": ("bigint", list(values)),
            "shared": ("bigint", [code(value) for value in values.values()]),
        }
        renamed = engine.load(columns, "names")
        query = render(
            "attacks/held.sql", located=located, histogram=histogram, names=renamed, valueless=code(None)
        )
        return engine.create(query)

    return held(codes.code), cache(lambda: held(codes.as_written))


def _fitting(
    crowd: Crowd, shared: Mapping[str, PublishedColumn], read: LabelledGroups, *, apart: bool
) -> Query:
    engine = crowd.engine
    cover, unread = _cover(crowd, shared, read)
    fittings = [engine.create(_fits(crowd, crowd.combinations, shared, read, cover))]
    if unread is not None:
        # unreadable labels may mean anything, so people without a fitting label may be there
        columns = names(crowd.known.aliases.values())
        query = render(
            "attacks/not_found.sql", combinations=crowd.combinations, fitting=fittings[0], columns=columns
        )
        fittings.append(engine.create(_fits(crowd, engine.create(query), shared, read, unread)))
    return render("attacks/located.sql", fittings=fittings, apart=apart)


def _fits(
    crowd: Crowd, people: Sql, shared: Mapping[str, PublishedColumn], read: LabelledGroups, cover: Sql
) -> Query:
    # columns with few values first, to keep the steps short
    order = sorted(shared, key=crowd.n_values)
    theirs = names(crowd.known.aliases[name] for name in order)
    published = names(read.aliases[shared[name].column] for name in order)
    engine = crowd.engine
    people = _prefixes(engine, Sql("person"), people, theirs)
    members = _prefixes(engine, Sql("g"), read.members, published)
    # step by step: an engine that knows how few rows fit so far chooses far better joins
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
    return render("attacks/fitting.sql", fits=fits, people=people, members=members, step=len(order))


def _prefixes(engine: Engine, key: Sql, relation: Sql, columns: list[Sql]) -> Sql:
    return engine.create(render("attacks/prefixes.sql", key=key, relation=relation, columns=columns))


def _cover(
    crowd: Crowd, shared: Mapping[str, PublishedColumn], read: LabelledGroups
) -> tuple[Sql, Sql | None]:
    """Which labels cover which values of the people, also if an unreadable label may mean any value."""
    engine = crowd.engine
    kinds = {name: _kind(crowd, name, how) for name, how in shared.items()}
    labelled = {name: read.labels[read.aliases[how.column]] for name, how in shared.items()}
    columns = [(crowd.numbers[name], dictionary) for name, dictionary in labelled.items()]
    found = engine.fetch(render("attacks/labels.sql", columns=columns))
    by_name = {name: [row for row in found if row["k"] == crowd.numbers[name]] for name in shared}
    rules = [
        (crowd.numbers[name], row["code"], _rules(shared[name], kinds[name], row["label"]))
        for name, rows in by_name.items()
        for row in rows
    ]
    loaded = engine.load(rule_columns(rules), "rules")
    cover = engine.create(
        render(
            "attacks/cover.sql",
            readable=crowd.readable,
            rules=loaded,
            hierarchies=[
                (crowd.numbers[name], levels, tier, shown, labelled[name], stranger and tier == AS_IT_SAYS)
                for name, how in shared.items()
                if kinds[name].height
                for shown in [_shown(engine, how, kinds[name], labelled[name], by_name[name])]
                for stranger in [how.stranger and not how.own]
                for levels, tier in _levels(crowd, name, kinds[name])
            ],
        )
    )
    unread = engine.create(render("attacks/unread.sql", rules=loaded, cover=cover, readable=crowd.readable))
    if not engine.fetch(render("counted/listed.sql", relation=unread, columns=names(["k", "label"]))):
        return cover, None
    wide = render("attacks/cover_unread.sql", cover=cover, unread=unread, readable=crowd.readable)
    return cover, engine.create(wide)


def _rules(how: PublishedColumn, kind: Hierarchy, label: str | None) -> list[LabelRule]:
    found = how.rules(label)
    if not how.stranger or label is None:
        return found
    if kind.covers_all(label):
        # a label that covers everything says no more than `*`
        return [*found, LabelRule(everything=True, tier=STAR)]
    if how.own:
        return [replace(rule, unread=0, guessed=False) for rule in found]
    # a label of the hierarchy, although nobody here has it
    return [replace(rule, unread=0) for rule in found] if kind.has_label(label) else found


def _shown(
    engine: Engine, how: PublishedColumn, kind: Hierarchy, labels: Sql, rows: Sequence[Mapping[str, Any]]
) -> list[tuple[int, Sql]]:
    """The possible levels of labels, and the labels of each."""
    if not how.box:
        # levels whose labels distinguish values; a stranger reads any other label as `*`
        telling = [n for n in range(1, kind.height) if kind.tells_apart(n)]
        return [(level, labels) for level in (telling if how.levels is None else how.levels) if level]
    nodes: dict[int, list[tuple[int, str]]] = {}
    for row in rows:
        node = node_of_box(row["label"])
        if node is not None:
            nodes.setdefault(node[0], []).append((row["code"], node[1]))
    return [
        (
            level,
            engine.load(
                {"code": ("bigint", [c for c, _ in found]), "value": ("varchar", [v for _, v in found])},
                "nodes",
            ),
        )
        for level, found in sorted(nodes.items())
    ]


def _kind(crowd: Crowd, name: str, how: PublishedColumn) -> Hierarchy:
    """The hierarchy to read a column: its own, or else the known one if it is the same."""
    if how.exact:
        return AsIs()
    if how.hierarchy is not None or how.levels == (0,):
        return how.hierarchy or AsIs()
    if how.own and how.checksum is None:
        return AsIs()
    today = crowd.kinds.get(name, AsIs())
    if how.checksum is not None and how.checksum != today.checksum():
        raise DataError(
            "hierarchy_changed",
            f"the hierarchy of {name} has changed since publication, and the old one was not kept",
            where="register",
            hint="Register the release again with the old file:"
            f" privacy-sql register add NAME MANIFEST --hierarchy {name}=FILE.",
        )
    return today


def _levels(crowd: Crowd, name: str, kind: Hierarchy) -> list[tuple[Sql, int]]:
    """The people's values at every level; in a tree, 0.30 is 0.3 unless it has its own entry.

    A missing value is included again as empty text, which fits less well.
    """
    engine, values = crowd.engine, crowd.known.dictionaries[crowd.known.aliases[name]]
    empty = engine.create(render("attacks/missing_as_empty.sql", dictionary=values))
    leaves = list(kind.leaves())
    if leaves:
        lookup = engine.load({"l0": ("varchar", leaves)}, "leaves")
        numbered = engine.load(
            {"code": ("bigint", list(range(len(leaves)))), "value": ("varchar", leaves)}, "leaves"
        )
        query = render(
            "attacks/known_as.sql",
            dictionary=values,
            readable=_readable(engine, [(1, values)]),
            lookup=lookup,
            leaves=_readable(engine, [(1, numbered)]),
        )
        values = engine.create(query)
    return [(labels(engine, values, kind), AS_IT_SAYS), (labels(engine, empty, kind), SAME_NUMBER)]


def _nearest(
    crowd: Crowd, shared: Mapping[str, PublishedColumn], read: LabelledGroups, description: Description
) -> Query:
    engine = crowd.engine
    labelled = _readable(
        engine,
        [(crowd.numbers[name], read.labels[read.aliases[how.column]]) for name, how in shared.items()],
    )
    ours, theirs = _spreads(engine, crowd.readable), _spreads(engine, labelled)
    columns = []
    for name, how in shared.items():
        k = crowd.numbers[name]
        # without a given range, the range of the published centres replaces that of the data
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
    return engine.create(render("history/readable.sql", columns=columns, value=Sql("value")))
