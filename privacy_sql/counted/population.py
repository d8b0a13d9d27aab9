"""The population behind a table: how many of its people fit each published group.

k-map and δ-presence compare a release with everybody who might be in it. A person of the population fits a
group if their values have the labels of the group. `population_groups` says it in SQL; a search in memory
reads `people_of` and `shared_labels` once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from privacy_sql.counted.base import Base, Key, count
from privacy_sql.counted.grouping import Grouping
from privacy_sql.counted.levels import ValueLabels, labelled, labels, labels_from, unmapped
from privacy_sql.errors import PrivacySqlError, UsageError, raise_all
from privacy_sql.query.template import Sql, condition, names, render
from privacy_sql.table import Table

if TYPE_CHECKING:
    from privacy_sql.hierarchies import Hierarchy


def population_groups(grouping: Grouping) -> Sql:
    """For each group, its people and the population that fits it: g, n_people, n_population."""
    base, engine = grouping.base, grouping.base.engine
    columns = _columns(grouping)
    theirs = people_of(base, list(columns.values()))
    labels_of = {key.column: _labels(base, theirs, key, columns[key.column]) for key in grouping.keys}
    raise_all([problem for _, problems in labels_of.values() for problem in problems])
    matches = []
    for key in grouping.keys:
        raw = key.level == 0
        query = render(
            "counted/population_keys.sql",
            theirs=labels_of[key.column][0],
            ours=base.dictionaries[key.column] if raw else base.levels[key.column],
            codes=None if raw else base.level_codes[key.column],
            level=key.level,
        )
        matches.append(engine.create(query))
    aliases = names(f"k{number}" for number, _ in enumerate(grouping.keys, start=1))
    own = names(theirs.aliases[columns[key.column]] for key in grouping.keys)
    keys = list(zip(aliases, own, matches, strict=True))
    keyed = engine.create(render("counted/population_keyed.sql", coded=theirs.relation, keys=keys))
    sizes = [(alias, key.top + 1) for alias, key in zip(aliases, grouping.keys, strict=True)]
    placed = engine.create(
        render("counted/candidate.sql", keyed=keyed, columns=[], keys=sizes, numbers=grouping.numbers),
        view=True,
    )
    return engine.create(
        render("counted/population.sql", groups=grouping.groups, placed=placed, total=theirs.rows)
    )


def people_of(base: Base, named: Sequence[str]) -> Base:
    """The population counted by some columns, once for all choices of a search."""
    home, text = base.at_home, base.table.where

    def counted() -> Base:
        _refuse_columns(home, named)
        people = Table(base.population, list(named), name="population", where=text)
        return count(home.engine, people)

    return base.memory.once(("population", tuple(named), text), counted)


def _refuse_columns(base: Base, named: Sequence[str]) -> None:
    """Refuse a population that lacks a key column, or one of the condition of the table."""
    known, text = base.engine.columns(base.engine.source(base.population)), base.table.where
    raise_all(
        [
            UsageError("unknown_column", f'the population has no column "{name}"', where="population")
            for name in named
            if name not in known
        ]
    )
    if text is not None:
        try:
            condition(text, list(known))
        except UsageError as problem:
            raise UsageError(
                "unfiltered_population",
                f"the population cannot be filtered with the `where:` of the table: {problem.message}",
                where="population",
                hint="Add the columns of the condition to the population, or publish without `where:`.",
            ) from None


def shared_labels(base: Base, theirs: Base) -> list[ValueLabels]:
    """The values of a population counted by all quasi-identifiers, at every level, in arrays.

    A label is a code that it shares with the table: that of the table if some value of the table has it, and
    otherwise one that no label of the table has. Values that a hierarchy does not cover are refused.
    """
    home = base.at_home
    asked = []
    for column, (name, kind) in base.columns.items():
        dictionary = theirs.dictionaries[theirs.aliases[name]]
        ours, others = (
            Sql(f"(select code, n_rows, value as l0 from {values})")
            for values in (base.dictionaries[column], dictionary)
        )
        if kind.height:
            ours, others = base.shown_levels[column], Sql(f"({labelled(home.engine, dictionary, kind).sql})")
        asked.append((ours, others, base.statistics[column]["top"] + 1, kind.height))
    highest = max((height for *_, height in asked), default=0)
    query = render("counted/shared_codes.sql", columns=asked, highest=highest)
    return labels_from(home.engine, query, "population", base.columns)


def _columns(grouping: Grouping) -> dict[str, str]:
    """The published keys and the columns of the population to compare with."""
    base, named = grouping.base, {}
    for key in grouping.keys:
        if key.column in base.columns:
            named[key.column] = base.columns[key.column][0]
        elif key.column == "grp" and base.table.group:
            named[key.column] = base.table.group
        else:
            raise UsageError(
                "no_population_groups",
                "a population can be compared only with groups that show labels of quasi-identifiers",
                hint="Publish by generalise or full_domain.",
            )
    return named


def _labels(base: Base, theirs: Base, key: Key, name: str) -> tuple[Sql, list[PrivacySqlError]]:
    """The values of the population for a key, at every level if it is generalised; and what is wrong."""
    dictionary = theirs.dictionaries[theirs.aliases[name]]
    if key.level == 0:
        return dictionary, []
    kind: Hierarchy = base.columns[key.column][1]
    # they are the same at every level
    home = base.at_home.engine
    made: Sql = base.memory.once(("population", dictionary, kind), lambda: labels(home, dictionary, kind))
    # a value without a label must not fit people whose value is missing
    return made, unmapped(base.engine, made, kind, "population", name)
