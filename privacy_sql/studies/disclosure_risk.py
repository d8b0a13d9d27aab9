"""How likely an atom is given facts in plain words, for one table or release."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privacy_sql.counted.grouping import Grouping
from privacy_sql.criteria.ck_safety import ranked
from privacy_sql.engines import Engine
from privacy_sql.errors import Undecided, UsageError, people, raise_all
from privacy_sql.kernels.worst_case.known_facts import DOUBT, Chance, KnownFacts
from privacy_sql.kernels.worst_case.printed_worlds import PrintedFacts
from privacy_sql.kernels.worst_case.world_count import WORK_LIMIT, Contradiction, TooMuchWork
from privacy_sql.kernels.worst_case.world_sample import SAMPLES, NothingAgreed
from privacy_sql.kernels.worst_case.worlds import Atom, Clause, Fact, Group
from privacy_sql.query.template import Sql, names, render
from privacy_sql.studies import facts as written
from privacy_sql.studies import groups_of
from privacy_sql.verdict import Witness, exact_text, finite, shown

if TYPE_CHECKING:
    from privacy_sql.release import Release
    from privacy_sql.table import PerPerson, Table

Ints = NDArray[np.int64]
HINT = "Write names as they are in the table, letter case included; put double quotes around unusual ones."


@dataclass(frozen=True)
class DisclosureRisk:
    """The probability of an atom given the facts: an exact fraction, or an estimate with its interval."""

    value: Fraction | float
    low: Fraction | float
    high: Fraction | float
    witness: Witness

    @property
    def exact(self) -> bool:
        return isinstance(self.value, Fraction)

    def explain(self) -> str:
        """One or two plain sentences."""
        seen = self.witness
        who = f"{seen['person']} in group {seen['group']} ({people(seen['size'])})"
        what = f"its {ranked(seen['rank'])} value (held by {seen['count']})" if seen["rank"] else "the value"
        said = f"The chance that {who} has {what} is {shown(self.value)}."
        if self.exact:
            return said
        return (
            f"{said} It is estimated from {SAMPLES:,} random tables, because counting would take more than"
            f" {WORK_LIMIT:,} steps; with {1 - DOUBT:.0%} confidence it lies between"
            f" {shown(self.low)} and {shown(self.high)}."
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "value": exact_text(self.value) if self.exact else None,
            "value_float": finite(self.value),
            "low": finite(self.low),
            "high": finite(self.high),
            "exact": self.exact,
            "estimated": not self.exact,
            "witness": dict(self.witness),
        }


def disclosure_risk(
    engine: Engine,
    table: Table | Release,
    facts: Sequence[str],
    atom: str | None = None,
    *,
    random: np.random.Generator | None = None,
    work_limit: int = WORK_LIMIT,
) -> DisclosureRisk:
    """The probability of `atom` ("Tom is AIDS"), or of the likeliest atom, for somebody who knows the facts.

    martin2007, Def. 5. A fact with a weight ("0.8: Tom not Cancer") is one that somebody believes: worlds in
    which it holds count 0.8, the others 0.2, independently of the other facts. People may have one value, a
    set or a multiset; of these the release also prints how many people of a group have no value, which is
    counted too. The result is exact if counting the tables that agree takes at most `work_limit` steps.
    Otherwise it is an estimate or, where people may have several values, an error.

    >>> import pandas as pd
    >>> import privacy_sql as ps
    >>> rows = {"name": ["Ed", "Frank", "Gary", "Tom"], "s": ["Flu", "Cancer", "Flu", "AIDS"]}
    >>> table = ps.Table(pd.DataFrame(rows), [], "s", identifier="name")
    >>> with ps.connect() as engine:
    ...     ps.disclosure_risk(engine, table, ["Tom not Cancer", "Gary is Flu"], "Tom is AIDS").value
    Fraction(1, 2)
    """
    return risk_of_groups(groups_of(engine, table), facts, atom, random=random, work_limit=work_limit)


def risk_of_groups(
    grouping: Grouping,
    facts: Sequence[str],
    atom: str | None = None,
    *,
    random: np.random.Generator | None = None,
    work_limit: int = WORK_LIMIT,
) -> DisclosureRisk:
    """The same for groups that have been counted."""
    question = [written.parse_atom(atom)] if atom is not None else []
    asked = _Question.of(grouping, written.parse_facts(facts), question)
    if asked.kind != "one":
        return _printed(asked, work_limit)
    known = KnownFacts(asked.groups, (), asked.kind, work_limit=work_limit, weighted=asked.facts)
    generator = np.random.default_rng() if random is None else random
    try:
        if asked.question:
            return asked.answer(known.chances(asked.question, generator)[0], asked.question[0])
        # the likelier of the worst atom the facts touch and the most common value of any other group
        found = known.worst(generator)
        elsewhere = asked.counts.best(without=set(asked.groups))
        if found is None or elsewhere is None:
            found = found or elsewhere
            if found is None:
                raise _nobody()
            return asked.answer(*found)
        likelier = found if found[0].value >= elsewhere[0].value else elsewhere
        return asked.answer(found[0].or_larger(elsewhere[0]), likelier[1])
    except NothingAgreed:
        raise Undecided(
            "undecided",
            f"none of {SAMPLES:,} random tables agrees with the facts",
            where="facts",
            hint="They may contradict the release; ask about fewer facts at once.",
        ) from None
    except Contradiction:
        raise _contradiction() from None


def _printed(asked: _Question, work_limit: int) -> DisclosureRisk:
    """The same where people may have several values, and the release prints how many have none."""
    counts = asked.counts
    known = PrintedFacts(asked.groups, counts.without, asked.facts, asked.kind, work_limit)
    try:
        if asked.question:
            (atom,) = asked.question
            return asked.answer(known.chance(atom), atom)
        found = [best for best in (known.worst(), _elsewhere(asked, known)) if best is not None]
        if not found:
            raise _nobody()
        return asked.answer(*max(found, key=lambda best: best[0].value))
    except TooMuchWork:
        raise Undecided(
            "undecided",
            "people may have several values, and counting every way in which they may have them takes more"
            f" than {work_limit:,} steps; no smaller number is shown, as it could be too low",
            where="facts",
            hint="Ask about one guess (--atom), with fewer facts, or about a release with smaller groups.",
        ) from None
    except Contradiction:
        raise _contradiction() from None


def _elsewhere(asked: _Question, known: PrintedFacts) -> tuple[Chance, Atom] | None:
    """The likeliest atom where no fact helps; equal groups are computed once."""
    counts, alike = asked.counts, dict[tuple[Any, ...], tuple[Chance, Atom]]()
    if asked.kind == "set":
        return counts.best(without=set(asked.groups))  # anybody is as likely as anybody to be a holder
    for g in dict.fromkeys(counts.g.tolist()):
        group, without = counts.group(g), counts.without[g]
        shape = group.people, without, *sorted(group.counts.values())
        for value, n in group.counts.items():
            if g not in asked.groups and (*shape, "of", n) not in alike:
                atom = Atom(g, 0, value)
                alone = PrintedFacts({g: group}, {g: without}, (), asked.kind, known.steps_left)
                alike[(*shape, "of", n)] = alone.chance(atom), atom._replace(person=-1)
                known.steps_left = alone.steps_left
    return max(alike.values(), key=lambda best: best[0].value, default=None)


def _nobody() -> UsageError:
    hint = "Check the sensitive column; there is nothing to disclose."
    return UsageError("no_value", "nobody has a sensitive value", hint=hint)


def _contradiction() -> UsageError:
    told = "the facts contradict the release: no table agrees with both"
    return UsageError("contradiction", told, where="facts", hint="At least one of them is not true.")


@dataclass(frozen=True)
class _Question:
    """Facts and question in numbers: groups and people as counts, values as codes."""

    grouping: Grouping
    counts: _Counts
    names: _Names
    facts: tuple[Fact, ...]
    question: tuple[Atom, ...]

    @classmethod
    def of(
        cls, grouping: Grouping, facts: Sequence[written.NamedFact], question: Sequence[written.NamedAtom]
    ) -> _Question:
        table = grouping.base.table
        if not table.identifier or not table.sensitives:
            raise UsageError(
                "no_identifier",
                "facts name people and their values, so the table needs an identifier and a sensitive column",
                where=table.name,
                hint="Name them with --identifier and --sensitive.",
            )
        named = _Names.of(grouping, facts, question)
        numbered = tuple(
            Fact(
                tuple(
                    Clause(tuple(map(named.atom, clause.if_all)), tuple(map(named.atom, clause.then_any)))
                    for clause in fact.clauses
                ),
                fact.weight,
            )
            for fact in facts
        )
        return cls(grouping, _Counts.of(grouping), named, numbered, tuple(map(named.atom, question)))

    @property
    def kind(self) -> PerPerson:
        return self.grouping.base.table.values_per_person

    @cached_property
    def groups(self) -> dict[int, Group]:
        """The groups that the facts or the question mention."""
        spoken = [*self.question, *(atom for fact in self.facts for atom in fact.atoms)]
        return {group: self.counts.group(group) for group in {atom.group for atom in spoken}}

    def answer(self, chance: Chance, atom: Atom) -> DisclosureRisk:
        """The result with what may be shown of the atom: numbers and ranks; names only when revealed."""
        people, counts = self.counts.group(atom.group)
        held = counts.get(atom.value, 0)
        name = self.names.of_place.get((atom.group, atom.person))
        told = {
            "size": people,
            "person": "somebody the facts name" if name is not None else "anyone the facts do not name",
            "rank": 1 + sum(n > held for n in counts.values()) if held else None,
            "count": held,
        }

        def reveal(_: Witness) -> Mapping[str, Any]:
            return {"name": name, "value": label(self.grouping, atom.value)}

        witness = Witness(told).revealed_by(reveal, **self.grouping.number(atom.group))
        return DisclosureRisk(chance.value, chance.low, chance.high, witness)


@dataclass(frozen=True)
class _Counts:
    """The counts of all groups as columns, in the order of the groups."""

    g: Ints
    n_people: Ints
    s: Ints
    n_rows: Ints
    without: Mapping[int, int]  # if people may have several values: how many of a group have none

    @classmethod
    def of(cls, grouping: Grouping) -> _Counts:
        query = render("criteria/group_counts.sql", groups=grouping.groups, histogram=grouping.histogram)
        found = grouping.base.engine.arrays(query)
        order = np.argsort(found["g"], kind="stable")
        g, n_people, s, n_rows = (
            np.asarray(found[name], np.int64)[order] for name in ("g", "n_people", "s", "n_rows")
        )
        without: dict[int, int] = {}
        if grouping.base.table.values_per_person != "one":
            listed = render("counted/listed.sql", relation=grouping.holders, columns=names(["g", "n_rows"]))
            held = {row["g"]: row["n_rows"] for row in grouping.base.engine.fetch(listed)}
            sizes = zip(g.tolist(), n_people.tolist(), strict=True)
            without = {group: size - held.get(group, 0) for group, size in sizes}
        return cls(g, n_people, s, n_rows, without)

    def group(self, g: int) -> Group:
        rows = slice(*np.searchsorted(self.g, [g, g + 1]).tolist())
        held = dict(zip(self.s[rows].tolist(), self.n_rows[rows].tolist(), strict=True))
        return Group(int(self.n_people[rows][0]), {value: n for value, n in held.items() if n})

    def best(self, without: set[int]) -> tuple[Chance, Atom] | None:
        """The likeliest atom where no fact helps: all people of a group have the same probability."""
        rows = np.flatnonzero(~np.isin(self.g, list(without)) & (self.n_rows > 0))
        if not len(rows):
            return None
        people, held = self.n_people[rows], self.n_rows[rows]
        rough = held / people
        near = rows[rough >= rough.max() - abs(rough.max()) * 1e-9]
        pairs = {(int(self.n_people[row]), int(self.n_rows[row])): int(row) for row in near[::-1]}
        # the probability that one person of a group has a value, before any fact
        best, row = max((Fraction(n, people), -row) for (people, n), row in pairs.items())
        return Chance(best, best, best), Atom(int(self.g[-row]), -1, int(self.s[-row]))


@dataclass(frozen=True)
class _Names:
    """Where the named people are, and the codes of the named values."""

    places: Mapping[str, tuple[int, int]] = field(repr=False)  # name -> group, number in it
    codes: Mapping[str, int] = field(repr=False)

    @classmethod
    def of(
        cls, grouping: Grouping, facts: Sequence[written.NamedFact], question: Sequence[written.NamedAtom]
    ) -> _Names:
        """Look up all names at once, and report those that are missing by their lines."""
        where = [
            (f"facts line {fact.line}", atom)
            for fact in facts
            for clause in fact.clauses
            for atom in (*clause.if_all, *clause.then_any)
        ]
        where += [("atom", atom) for atom in question]
        people = list(dict.fromkeys(atom.person for _, atom in where))
        values = list(dict.fromkeys(atom.value for _, atom in where))
        base = grouping.base
        query = render(
            "criteria/named_values.sql", values=base.dictionaries["s"], named=_named(grouping, values)
        )
        names = cls(
            _places(grouping, people),
            {values[row["position"]]: row["code"] for row in base.engine.fetch(query)},
        )
        unknown = [
            UsageError("unknown_person", "nobody in a published group has that name", where=line, hint=HINT)
            for line, atom in where
            if atom.person not in names.places
        ]
        unknown += [
            UsageError("unknown_value", "nobody has that sensitive value", where=line, hint=HINT)
            for line, atom in where
            if atom.value not in names.codes
        ]
        raise_all(list({(error.code, error.where): error for error in unknown}.values()))
        return names

    @cached_property
    def of_place(self) -> dict[tuple[int, int], str]:
        return {place: name for name, place in self.places.items()}

    def atom(self, atom: written.NamedAtom) -> Atom:
        return Atom(*self.places[atom.person], self.codes[atom.value])


def _places(grouping: Grouping, people: Sequence[str]) -> dict[str, tuple[int, int]]:
    """The group of each person, and their number within it."""
    base = grouping.base
    inside = base.inside(base.people or base.relation)
    query = render(
        "studies/named_people.sql",
        source=base.source,
        identifier=base.table.identifier,
        named=_named(grouping, people),
        columns=[
            (
                base.columns[alias][0] if alias in base.columns else str(base.table.group),
                alias,
                base.dictionaries[alias],
            )
            for alias in inside
        ],
        members=grouping.members,
    )
    rows = base.engine.fetch(query)
    if len({row["position"] for row in rows}) < len(rows):
        raise UsageError(
            "several_groups",
            "somebody in the facts could be in several groups: others have the same quasi-identifiers",
            where="facts",
            hint="Ask about the table with its group column instead.",
        )
    seen: Counter[int] = Counter()
    places = {}
    for row in sorted(rows, key=lambda row: row["position"]):
        places[people[row["position"]]] = (row["g"], seen[row["g"]])
        seen[row["g"]] += 1
    return places


def _named(grouping: Grouping, names: Sequence[str]) -> Sql:
    columns: dict[str, tuple[str, list[Any]]] = {
        "position": ("bigint", list(range(len(names)))),
        "name": ("varchar", list(names)),
    }
    return grouping.base.engine.load(columns, "named")


def label(grouping: Grouping, code: int) -> object:
    """INTERNAL: the sensitive value behind a code."""
    base = grouping.base
    query = render("counted/label.sql", levels=base.dictionaries["s"], codes=None, level=0, code=code)
    return base.engine.fetch(query)[0]["label"]
