"""What releases together say about the people they share: anonymity before and after, in counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

from privacy_sql.attacks.locating import MOST_WORLDS, Crowd, Located, Names, locate_by_all, locate_own
from privacy_sql.counted.base import Base
from privacy_sql.counted.grouping import Grouping
from privacy_sql.engines import Engine
from privacy_sql.errors import people
from privacy_sql.history.described import Description
from privacy_sql.kernels.composition.intersection import DEFAULT_LEVELS, Anonymity, Summary, Tally, summarise
from privacy_sql.query.template import Query, Sql, names, render


class NamedFields(dict[str, Any]):
    """Named fields, read as `record["P"]` or `record.P`."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


@dataclass(frozen=True)
class Others:
    """Earlier releases, with everybody in a table or its population located in them."""

    crowd: Crowd
    located: tuple[Located, ...]
    codes: Names
    warnings: tuple[str, ...]

    @classmethod
    def of(cls, base: Base, releases: Sequence[Description]) -> Others:
        """The same for every candidate of the table."""
        crowd = Crowd.around(base, (column for each in releases for column in each.columns))
        codes = Names()
        located = tuple(locate_by_all(crowd, each, codes) for each in releases)
        return cls(crowd, located, codes, tuple(unknown(crowd, releases)))

    @cached_property
    def nobody_in(self) -> tuple[str, ...]:
        """The releases without a matching group for anyone."""
        return tuple(
            each.name
            for each in self.located
            if not self.crowd.engine.fetch(render("attacks/somebody.sql", located=each.located))[0][
                "n_people"
            ]
        )


def unknown(crowd: Crowd, releases: Sequence[Description]) -> Iterator[str]:
    """A warning for each release that publishes columns missing from the people."""
    for each in releases:
        lacking = [column for column in each.columns if column not in crowd.known.aliases]
        if lacking:
            yield (
                f"{each.name} also publishes {', '.join(lacking)}, which the people table lacks; somebody who"
                " knows it finds people with more certainty"
            )


@dataclass(frozen=True)
class Findings:
    """What the attack found; `summary` has only counts, `people()` has the possible values of each person."""

    crowd: Crowd
    releases: tuple[Located, ...]
    shared: Sequence[str | None] = field(repr=False)
    levels: tuple[Fraction, ...]
    ids: tuple[Any, ...] | None = field(default=None, repr=False)
    lacking: tuple[str, ...] = ()
    readings: int = 1  # 2 where texts such as 01 and 1 may be one value or two, and the worse counts

    @classmethod
    def beside(cls, grouping: Grouping, others: Others) -> Findings:
        """What our own candidate says together with earlier releases."""
        own = locate_own(others.crowd, grouping, others.codes)
        shown = others.codes.shown
        located, readings = (own, *others.located), others.codes.readings
        return cls(others.crowd, located, shown, DEFAULT_LEVELS, lacking=others.warnings, readings=readings)

    @property
    def engine(self) -> Engine:
        """The engine with the relations of the attack."""
        return self.crowd.engine

    @property
    def priors(self) -> list[Sql]:
        """The columns of anonymity before the attack, one per release."""
        return names(f"prior_{number}" for number, _ in enumerate(self.releases, start=1))

    @cached_property
    def worlds(self) -> Sql | None:
        """The ways in which people may be placed and values be meant; None if everybody has one."""
        if self.readings == 1 and not any(each.several for each in self.releases):
            return None
        return self.engine.create(
            render(
                "attacks/worlds.sql",
                combinations=self.crowd.combinations,
                releases=[each.located for each in self.releases],
                most=MOST_WORLDS,
                readings=self.readings,
            )
        )

    @cached_property
    def possible(self) -> Sql:
        """For each world, the values that all its releases allow."""
        return self.engine.create(render("attacks/possible.sql", releases=self._pairs))

    @cached_property
    def outcomes(self) -> Sql:
        """For each combination, its anonymity before and after, in its worst world."""
        combinations = self.crowd.combinations
        worlds = self.worlds
        by_world = self.engine.create(
            render(
                "attacks/outcomes.sql",
                combinations=combinations if worlds is None else worlds,
                person=Sql("person" if worlds is None else "world"),
                releases=self._pairs,
                possible=self.possible,
            )
        )
        agreeing = self.engine.create(render("attacks/agreeing.sql", outcomes=by_world, releases=self._pairs))
        return self.engine.create(
            render(
                "attacks/worst.sql",
                combinations=combinations,
                worlds=worlds,
                outcomes=by_world,
                agreeing=agreeing,
                readings=self.readings,
                priors=self.priors,
            )
        )

    @cached_property
    def _pairs(self) -> list[tuple[Sql, Sql]]:
        """For each release, who is in which group and which values it allows, world by world."""
        if self.worlds is None:
            return [(each.located, each.held) for each in self.releases]
        pairs = []
        for number, each in enumerate(self.releases, start=1):
            # the values that it leaves possible, in each reading
            held = [each.held] if self.readings == 1 else [each.held, each.as_written()]
            pairs.append((self._in_worlds(number, [each.located], "g"), self._in_worlds(number, held, "s")))
        return pairs

    def _in_worlds(self, number: int, relations: list[Sql], column: str) -> Sql:
        return self.engine.create(
            render(
                "attacks/in_worlds.sql",
                worlds=self.worlds,
                number=number,
                relations=relations,
                column=Sql(column),
            )
        )

    @cached_property
    def tallies(self) -> list[dict[str, Any]]:
        """Located people by least prior and posterior anonymity."""
        return self.engine.fetch(render("attacks/tallies.sql", outcomes=self.outcomes, priors=self.priors))

    @cached_property
    def left(self) -> list[dict[str, Any]]:
        """People by the values that all releases with a group for them allow, as far as these agree."""
        query = render("criteria/composition.sql", outcomes=self.outcomes, priors=self.priors)
        return self.engine.fetch(query)

    def exposed(self, level: Fraction) -> int:
        """The people who are known with this confidence, even if a release has no group for them."""
        return sum(row["people"] for row in self.left if row["fewest"] and row["fewest"] * level <= 1)

    def exposed_or_missed(self, level: Fraction) -> int:
        """The same for people who are in every release; nobody counts as safe because no group matches.

        If somebody is in a release but fits none of its groups, nobody can read what it says about them, and
        at worst it says everything.
        """
        missed = (row["people"] for row in self.left if not row["everywhere"])
        found = (
            row["people"]
            for row in self.left
            if row["everywhere"] and row["fewest"] and row["fewest"] * level <= 1
        )
        return int(sum(missed) + sum(found))

    @cached_property
    def newly_known(self) -> int:
        """The people known for certain from the releases together, but from none of them alone."""
        query = render("attacks/newly_known.sql", outcomes=self.outcomes, priors=self.priors)
        return int(self.engine.fetch(query)[0]["n_people"])

    @cached_property
    def measured(self) -> Summary:
        """The summary in the kernel's form."""
        sums = [name.replace("prior", "sum") for name in self.priors]
        tallies = [
            Tally(row["least_prior"], row["posterior"], row["people"], tuple(row[name] for name in sums))
            for row in self.tallies
        ]
        people = self.crowd.people
        return summarise(tallies, people=people, releases=len(self.releases), levels=self.levels)

    @cached_property
    def summary(self) -> NamedFields:
        """Counts and shares: P people, VP the vulnerable ones, PVP the percentage exposed at each level."""
        found = self.measured
        queries = [
            render(
                "attacks/group_sizes.sql",
                groups=each.groups,
                located=each.located,
                combinations=self.crowd.combinations,
            )
            for each in self.releases
        ]
        sizes = [self.engine.fetch(query)[0] for query in queries]
        return NamedFields(
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
            exposed={
                str(level): Fraction(100 * self.exposed_or_missed(level), found.people)
                for level in self.levels
            },
            located=self.located,
            smallest_group=[row["smallest"] for row in sizes],
            avg_group_size=[
                Fraction(row["sum_sizes"], row["n_pairs"]) if row["n_pairs"] else None for row in sizes
            ],
        )

    @cached_property
    def located(self) -> list[Fraction]:
        """The percentage of people with a matching group in each release."""
        found = [
            self.engine.fetch(render("attacks/placed.sql", outcomes=self.outcomes, prior=prior))[0]
            for prior in self.priors
        ]
        return [Fraction(100 * row["n_located"], self.crowd.people) for row in found]

    @cached_property
    def warnings(self) -> list[str]:
        """Reasons to doubt the result: nobody located, or releases that contradict each other."""
        told = [
            f"No person matches any group of {each.name}; check that its columns use the same coding."
            for each, share in zip(self.releases, self.located, strict=True)
            if not share
        ]
        # the others of a candidate may be versions of one release
        missed = dict.fromkeys(
            each.name for each, share in zip(self.releases, self.located, strict=True) if 0 < share < 100
        )
        if missed:
            told.append(
                f"{people(self.measured.n_unlocated)} match no group of {' or '.join(missed)}: they were left"
                " out of it, or its columns use another coding. Everybody is assumed to be in every release,"
                " so they count as exposed; remove people who are not in it."
            )
        told += [f"{lacking}." for lacking in self.lacking]
        unsure = dict.fromkeys(each.name for each in self.releases if each.several)
        if unsure:
            told.append(
                f"{', '.join(unsure)}: people may be in one group or another, and the worst case counts;"
                " check that its columns use the same coding."
            )
        if self.measured.n_empty and not self.measured.n_ok:
            told.append("the releases share no sensitive value for anybody; map their names to each other")
        return told

    def people(self) -> list[NamedFields]:
        """INTERNAL: everybody with the groups that fit and the remaining sensitive values."""
        columns = [*names(["person", "world", "posterior", "ambiguous"]), *self.priors]
        outcomes = {row["person"]: row for row in self._listed(self.outcomes, columns)}
        left: dict[int, list[str | None]] = {}
        for row in self._listed(self.possible, names(["person", "s"])):
            left.setdefault(row["person"], []).append(self.shared[row["s"]])
        fitting: list[dict[int, list[Any]]] = []
        for each in self.releases:
            named: dict[int, Any] = {}
            if each.group_names is not None:
                named = {
                    row["g"]: row["value"] for row in self._listed(each.group_names, names(["g", "value"]))
                }
            fitting.append({})
            for row in self._listed(each.located, names(["person", "g"])):
                fitting[-1].setdefault(row["person"], []).append(named.get(row["g"], row["g"]))
        found = []
        for one in self.engine.fetch(self._rows()):
            row = outcomes[one["person"]]
            outcome = Anonymity(
                tuple(row[prior] for prior in self.priors), row["posterior"], bool(row["ambiguous"])
            )
            record = NamedFields(
                id=one["id"] if self.ids is None else self.ids[one["id"]],
                candidates=[sorted(groups.get(one["person"], []), key=str) for groups in fitting],
                EA=list(outcome.prior),
                set=None if outcome.posterior is None else sorted(left.get(row["world"], []), key=str),
                EA_post=outcome.posterior,
                anon_drop=outcome.drop,
                confidence=outcome.confidence,
                status=outcome.status,
                ambiguous=outcome.ambiguous,
            )
            found.append(record)
        return found

    def _listed(self, relation: Sql, columns: list[Sql]) -> list[dict[str, Any]]:
        return self.engine.fetch(render("counted/listed.sql", relation=relation, columns=columns))

    def _rows(self) -> Query:
        known = self.crowd.known
        others = [(known.table.identifier, Sql("id"))] if known.table.identifier else []
        quasi = [(name, Sql(alias), known.dictionaries[alias]) for name, alias in known.aliases.items()]
        rows = self.engine.create(
            render("counted/coded.sql", source=known.source, quasi=quasi, others=others), view=True
        )
        return render(
            "attacks/rows.sql",
            rows=rows,
            combinations=self.crowd.combinations,
            columns=names(known.aliases.values()),
            identified=bool(others),
        )
