"""The population behind a table: how many of its people fit each published group.

k-map and δ-presence compare a release with everybody who might be in it. A person of the population fits a
group if their values have the labels of the group.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from privacy_sql.counted.base import Base, Key, count
from privacy_sql.counted.grouping import Grouping
from privacy_sql.counted.levels import labels, unmapped
from privacy_sql.errors import PrivacySqlError, UsageError, raise_all
from privacy_sql.query.template import Sql, condition, names, render
from privacy_sql.table import Table

if TYPE_CHECKING:
    from privacy_sql.hierarchies import Hierarchy


def population_groups(grouping: Grouping) -> Sql:
    """For each group, its people and the population that fits it: g, n_people, n_population."""
    base, engine = grouping.base, grouping.base.engine
    columns = _columns(grouping)
    text = base.table.where
    if text is not None:
        try:
            condition(text, list(base.engine.columns(base.engine.source(base.population))))
        except UsageError as problem:
            raise UsageError(
                "unfiltered_population",
                f"the population cannot be filtered with the `where:` of the table: {problem.message}",
                where="population",
                hint="Add the columns of the condition to the population, or publish without `where:`.",
            ) from None
    named = tuple(columns.values())
    people = Table(base.population, list(named), name="population", where=text)
    # counted once for all choices of a search
    theirs = base.memory.once(("population", engine, named, text), lambda: count(engine, people))
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
    known = base.engine.columns(base.engine.source(base.population))
    raise_all(
        [
            UsageError("unknown_column", f'the population has no column "{name}"', where="population")
            for name in named.values()
            if name not in known
        ]
    )
    return named


def _labels(base: Base, theirs: Base, key: Key, name: str) -> tuple[Sql, list[PrivacySqlError]]:
    """The values of the population for a key, at every level if it is generalised; and what is wrong."""
    dictionary = theirs.dictionaries[theirs.aliases[name]]
    if key.level == 0:
        return dictionary, []
    kind: Hierarchy = base.columns[key.column][1]
    # they are the same at every level
    made: Sql = base.memory.once(
        ("population", base.engine, dictionary, kind), lambda: labels(base.engine, dictionary, kind)
    )
    # a value without a label must not fit people whose value is missing
    return made, unmapped(base.engine, made, kind, "population", name)
