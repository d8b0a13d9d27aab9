"""The intersection attack: what several releases give away together about the people they share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from privacy_sql.base import Base, Grouping, count, files
from privacy_sql.described import Description, Published, describe
from privacy_sql.engines import Engine
from privacy_sql.errors import DataError, PrivacySqlError, UsageError, raise_all
from privacy_sql.kernels.intersection import DEFAULT_LEVELS, Outcome, Summary, Tally, summarise
from privacy_sql.labels import columns as rule_columns
from privacy_sql.levels import labels
from privacy_sql.query import Query, Sql, names, render
from privacy_sql.table import Table


class Record(dict[str, Any]):
    """Named fields, read as `record["P"]` or `record.P`."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


@dataclass(frozen=True)
class Crowd:
    """The people under attack on the engine, one line per combination of what is known about them."""

    engine: Engine
    known: Base
    combinations: Sql  # person, q1.., n_people

    @cached_property
    def readable(self) -> Mapping[str, Sql]:
        """The values of each column as text and number."""
        return {name: _readable(self.engine, self.known.dictionaries[alias]) for name, alias in self._aliases}

    @property
    def _aliases(self) -> Iterable[tuple[str, str]]:
        return self.known.aliases.items()

    def n_values(self, column: str) -> int:
        """How many values of a column occur."""
        return self.known.statistics[self.known.aliases[column]]["n_values"]


@dataclass(frozen=True)
class Opened:
    """One release on the engine: its groups, and how its columns meet those of the people."""

    description: Description
    base: Base
    grouping: Grouping
    located: Sql  # person, g
    held: Sql  # person, s (shared code)


@dataclass(frozen=True)
class Intersection:
    """Algorithm 1 of Ganta et al. on any number of releases, as SQL joins.

    ganta2008, Sec. 2.1. People are located by boxes and hierarchy nodes, by exact quasi-identifiers or by the
    nearest centroid. Several fitting groups: any may hold the person. Python receives counts of people by
    anonymity before and after, unless it asks for the people.
    """

    levels: tuple[Fraction, ...] = DEFAULT_LEVELS

    def run(self, engine: Engine, releases: Sequence[Description], people: Table) -> Findings:
        """Locate everybody in every release and intersect what the releases leave possible."""
        _refuse_unfit(releases, people)
        session = engine.session([*files(people), *(file for each in releases for file in each.files)])
        known = count(session, people)
        if not known.rows:
            raise DataError("nobody", "there is nobody to attack", hint="Name the people in all releases.")
        columns = names(known.aliases.values())
        combinations = session.create(
            render("attacks/combinations.sql", base=known.relation, columns=columns)
        )
        crowd = Crowd(session, known, combinations)
        codes: dict[str | None, int] = {}
        opened = tuple(_open(crowd, each, codes) for each in releases)
        return Findings(crowd, opened, tuple(codes), self.levels)


@dataclass(frozen=True)
class Findings:
    """What the attack found; `summary` is counts only, `people()` names possible values of each person."""

    crowd: Crowd
    releases: tuple[Opened, ...]
    shared: tuple[str | None, ...]
    levels: tuple[Fraction, ...]
    ids: tuple[Any, ...] | None = None

    @property
    def engine(self) -> Engine:
        """Where the relations of the attack are."""
        return self.crowd.engine

    @property
    def priors(self) -> list[Sql]:
        """The columns of anonymity before the attack, one per release."""
        return names(f"prior_{number}" for number, _ in enumerate(self.releases, start=1))

    @cached_property
    def possible(self) -> Sql:
        """Per combination the values all its releases leave possible."""
        return self.engine.create(render("attacks/possible.sql", releases=self._pairs))

    @cached_property
    def outcomes(self) -> Sql:
        """Per combination its anonymity before and after."""
        return self.engine.create(
            render(
                "attacks/outcomes.sql",
                combinations=self.crowd.combinations,
                releases=self._pairs,
                possible=self.possible,
            )
        )

    @property
    def _pairs(self) -> list[tuple[Sql, Sql]]:
        return [(each.located, each.held) for each in self.releases]

    @cached_property
    def tallies(self) -> list[dict[str, Any]]:
        """Located people by least prior and posterior anonymity."""
        return self.engine.fetch(render("attacks/tallies.sql", outcomes=self.outcomes, priors=self.priors))

    @cached_property
    def measured(self) -> Summary:
        """The summary in the kernel's words."""
        sums = [name.replace("prior", "sum") for name in self.priors]
        tallies = [
            Tally(row["least_prior"], row["posterior"], row["people"], tuple(row[name] for name in sums))
            for row in self.tallies
        ]
        people = self.crowd.known.rows
        return summarise(tallies, people=people, releases=len(self.releases), levels=self.levels)

    @cached_property
    def summary(self) -> Record:
        """Counts and shares: P people, VP the vulnerable ones, PVP the percentage exposed at each level."""
        found = self.measured
        sizes = [self._group_sizes(each) for each in self.releases]
        return Record(
            P=found.people,
            n_ok=found.n_ok,
            n_empty=found.n_empty,
            n_unlocated=found.n_unlocated,
            n_ambiguous=sum(row["ambiguous"] for row in self.tallies),
            VP=found.vulnerable,
            PVP={str(level): share for level, share in found.percent_at.items()},
            perfect=found.perfect,
            perfect_new=found.perfect_new,
            avg_EA=list(found.average_prior),
            avg_EA_post=found.average_posterior,
            avg_drop=found.average_drop,
            located=self.located,
            smallest_group=[row["smallest"] for row in sizes],
            avg_group_size=[
                Fraction(row["sum_sizes"], row["n_pairs"]) if row["n_pairs"] else None for row in sizes
            ],
        )

    @cached_property
    def located(self) -> list[Fraction]:
        """The percentage of people each release has a group for."""
        found = [
            self.engine.fetch(render("attacks/placed.sql", outcomes=self.outcomes, prior=prior))[0]
            for prior in self.priors
        ]
        return [Fraction(100 * row["n_located"], self.crowd.known.rows) for row in found]

    @cached_property
    def warnings(self) -> list[str]:
        """What makes the result less than it seems: nobody located, or releases at odds."""
        told = [
            f"{each.description.name} has a group for nobody: are its columns coded as those of the people?"
            for each, share in zip(self.releases, self.located, strict=True)
            if not share
        ]
        if self.measured.n_empty and not self.measured.n_ok:
            told.append("the releases share no sensitive value for anybody: map their names onto each other")
        return told

    def people(self) -> list[Record]:
        """INTERNAL: everybody with the groups that fit and the sensitive values left."""
        columns = [*names(["person", "posterior", "ambiguous"]), *self.priors]
        outcomes = {row["person"]: row for row in self._listed(self.outcomes, columns)}
        left: dict[int, list[str | None]] = {}
        for row in self._listed(self.possible, names(["person", "s"])):
            left.setdefault(row["person"], []).append(self.shared[row["s"]])
        fitting = [self._fitting(each) for each in self.releases]
        return [
            self._record(row["id"], outcomes[row["person"]], left.get(row["person"], []), fitting)
            for row in self.engine.fetch(self._rows())
        ]

    def _record(
        self,
        person: Any,
        row: Mapping[str, Any],
        left: Sequence[str | None],
        fitting: Sequence[Mapping[int, list[Any]]],
    ) -> Record:
        outcome = Outcome(
            tuple(row[prior] for prior in self.priors), row["posterior"], bool(row["ambiguous"])
        )
        return Record(
            id=person if self.ids is None else self.ids[person],
            candidates=[groups.get(row["person"], []) for groups in fitting],
            EA=list(outcome.prior),
            set=None if outcome.posterior is None else sorted(left, key=str),
            EA_post=outcome.posterior,
            anon_drop=outcome.drop,
            confidence=outcome.confidence,
            status=outcome.status,
            ambiguous=outcome.ambiguous,
        )

    def _group_sizes(self, each: Opened) -> Mapping[str, int]:
        groups, combinations = each.grouping.groups, self.crowd.combinations
        query = render(
            "attacks/group_sizes.sql", groups=groups, located=each.located, combinations=combinations
        )
        return self.engine.fetch(query)[0]

    def _listed(self, relation: Sql, columns: list[Sql]) -> list[dict[str, Any]]:
        return self.engine.fetch(render("attacks/listed.sql", relation=relation, columns=columns))

    def _fitting(self, each: Opened) -> dict[int, list[Any]]:
        named: dict[int, Any] = {}
        if "grp" in each.base.dictionaries:
            dictionary = each.base.dictionaries["grp"]
            query = render(
                "attacks/group_names.sql", candidate=each.grouping.candidate, dictionary=dictionary
            )
            named = {row["g"]: row["value"] for row in self.engine.fetch(query)}
        groups: dict[int, list[Any]] = {}
        for row in self._listed(each.located, names(["person", "g"])):
            groups.setdefault(row["person"], []).append(named.get(row["g"], row["g"]))
        return {person: sorted(found, key=str) for person, found in groups.items()}

    def _rows(self) -> Query:
        known = self.crowd.known
        others = [(known.table.identifier, Sql("id"))] if known.table.identifier else []
        quasi = [(name, Sql(alias), known.dictionaries[alias]) for name, alias in known.aliases.items()]
        rows = self.engine.create(
            render("coded.sql", source=known.source, quasi=quasi, others=others), view=True
        )
        return render(
            "attacks/rows.sql",
            rows=rows,
            combinations=self.crowd.combinations,
            columns=names(known.aliases.values()),
            identified=bool(others),
        )


def _open(crowd: Crowd, description: Description, codes: dict[str | None, int]) -> Opened:
    """Count a release, find the groups each combination of people fits, and what those groups hold."""
    shared = {name: how for name, how in description.columns.items() if name in crowd.known.aliases}
    table = Table(
        description.source,
        list(dict.fromkeys(how.column for how in shared.values())),
        description.sensitive,
        group=description.group,
        name=description.name,
    )
    base = count(crowd.engine, table)
    grouping = base.grouped(base.own_keys())
    aliases = names(base.aliases.values())
    members = crowd.engine.create(
        render("attacks/members.sql", candidate=grouping.candidate, columns=aliases)
    )
    find = _nearest if description.locate == "centroid" else _fitting
    located = crowd.engine.create(find(crowd, shared, base, members, description))
    held = crowd.engine.create(
        render(
            "attacks/held.sql",
            located=located,
            histogram=grouping.histogram,
            names=_shared_names(base, description, codes),
        )
    )
    return Opened(description, base, grouping, located, held)


def _fitting(
    crowd: Crowd, shared: Mapping[str, Published], base: Base, members: Sql, description: Description
) -> Query:
    # few-valued columns first keep the steps short
    order = sorted(shared, key=crowd.n_values)
    theirs = names(crowd.known.aliases[name] for name in order)
    published = names(base.aliases[shared[name].column] for name in order)
    steps = [
        (mine, label, _cover(crowd, name, shared[name], base))
        for name, mine, label in zip(order, theirs, published, strict=True)
    ]
    return render(
        "attacks/located.sql",
        people=_prefixes(crowd.engine, Sql("person"), crowd.combinations, theirs),
        members=_prefixes(crowd.engine, Sql("g"), members, published),
        steps=steps,
    )


def _prefixes(engine: Engine, key: Sql, relation: Sql, columns: list[Sql]) -> Sql:
    return engine.create(render("attacks/prefixes.sql", key=key, relation=relation, columns=columns))


def _cover(crowd: Crowd, name: str, how: Published, base: Base) -> Sql:
    """Which labels of a published column cover which values of the people."""
    engine, dictionary = crowd.engine, base.dictionaries[base.aliases[how.column]]
    published = engine.fetch(
        render("attacks/listed.sql", relation=dictionary, columns=names(["code", "value"]))
    )
    rules = rule_columns((row["code"], how.rules(row["value"])) for row in published)
    height = how.hierarchy.height if how.hierarchy else 0
    values = crowd.known.dictionaries[crowd.known.aliases[name]]
    return engine.create(
        render(
            "attacks/cover.sql",
            readable=crowd.readable[name],
            rules=engine.load(rules, "rules"),
            levels=labels(engine, values, how.hierarchy) if how.hierarchy and height else None,
            height=height,
            dictionary=dictionary,
        )
    )


def _nearest(
    crowd: Crowd, shared: Mapping[str, Published], base: Base, members: Sql, description: Description
) -> Query:
    columns = [
        (
            Sql(crowd.known.aliases[name]),
            Sql(base.aliases[how.column]),
            crowd.readable[name],
            _readable(crowd.engine, base.dictionaries[base.aliases[how.column]]),
            description.scale.get(name, "1.0"),
        )
        for name, how in shared.items()
    ]
    return render("attacks/nearest.sql", people=crowd.combinations, members=members, columns=columns)


def _readable(engine: Engine, dictionary: Sql) -> Sql:
    return engine.create(render("attacks/readable.sql", dictionary=dictionary, value=Sql("value")))


def _shared_names(base: Base, description: Description, codes: dict[str | None, int]) -> Sql:
    """The sensitive values of a release in codes that all releases share."""
    query = render("attacks/listed.sql", relation=base.dictionaries["s"], columns=names(["code", "value"]))
    found = {row["code"]: description.canonical(row["value"]) for row in base.engine.fetch(query)}
    shared = [codes.setdefault(value, len(codes)) for value in found.values()]
    return base.engine.load({"s": ("bigint", list(found)), "shared": ("bigint", shared)}, "names")


def intersection_attack(
    engine: Engine,
    releases: Iterable[Any],
    people: Any,
    levels: Iterable[Any] = DEFAULT_LEVELS,
) -> Findings:
    """Attack `people`, who are in all `releases`, with everything the releases say together.

    A release is a manifest, a description file, or a description as a mapping; `people` is a Table (its
    quasi-identifiers are what the adversary knows) or a list of {"id": ..., "qi": {column: value}}.

    >>> import privacy_sql as ps
    >>> west = {"groups": [{"id": "w", "region": {"age": {"lt": 30}}, "sensitive": ["AIDS", "flu"]}]}
    >>> east = {"groups": [{"id": "e", "region": {"age": {"lt": 35}}, "sensitive": ["AIDS", "cancer"]}]}
    >>> with ps.connect() as engine:
    ...     found = ps.intersection_attack(engine, [west, east], [{"id": "Alice", "qi": {"age": 28}}])
    ...     found.people()[0].confidence
    Fraction(1, 1)
    """
    described = [describe(release, number) for number, release in enumerate(releases, start=1)]
    attack = Intersection(tuple(_level(level) for level in levels))
    if isinstance(people, Table):
        return attack.run(engine, described, people)
    listed = list(people)
    found = attack.run(engine, described, _table(listed))
    return replace(found, ids=tuple(person["id"] for person in listed))


def _table(people: Sequence[Mapping[str, Any]]) -> Table:
    """People spelt out one by one, numbered in their order."""
    import pandas as pd

    known = sorted({column for person in people for column in person["qi"]})
    rows = {name: [_text(person["qi"].get(name)) for person in people] for name in known}
    frame = pd.DataFrame({**rows, "the person": range(len(people))})
    return Table(frame, known, identifier="the person", name="people")


def _text(value: Any) -> str | None:
    whole = isinstance(value, float) and value.is_integer()
    return None if value is None else str(int(value) if whole else value)


def _level(level: Any) -> Fraction:
    try:
        number = Fraction(str(level))
    except (ValueError, ZeroDivisionError):
        number = Fraction(0)
    if not 0 < number <= 1:
        raise UsageError("bad_level", "a confidence level is above 0 and at most 1", where="levels")
    return number


def _refuse_unfit(releases: Sequence[Description], people: Table) -> None:
    if not releases:
        raise UsageError("no_release", "there is no release to attack")
    problems: list[PrivacySqlError] = [
        UsageError(
            "nothing_shared",
            f"{each.name} publishes none of the columns known about people",
            hint="Say which is which under columns: {what is known: published column}.",
        )
        for each in releases
        if not set(each.columns) & set(people.quasi)
    ]
    raise_all(problems)
