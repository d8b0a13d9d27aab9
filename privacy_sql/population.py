"""The population behind a table: how many of its people fit each published group.

k-map and δ-presence compare a release with everybody who might be in it. A person of the population fits a
group when their values have the labels of the group's keys.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from privacy_sql.base import Base, Grouping, Key, count
from privacy_sql.errors import UsageError, raise_all
from privacy_sql.levels import labels
from privacy_sql.query import Sql, names, render
from privacy_sql.table import Table

if TYPE_CHECKING:
    from privacy_sql.hierarchies import Hierarchy


def population_groups(grouping: Grouping) -> Sql:
    """Per group its people and the population that fits it: g, n_people, n_population."""
    base, engine = grouping.base, grouping.base.engine
    columns = _columns(grouping)
    theirs = count(engine, Table(base.table.population, list(columns.values()), name="population"))
    matches = [_matches(base, theirs, key, theirs.aliases[columns[key.column]]) for key in grouping.keys]
    aliases = names(f"k{number}" for number, _ in enumerate(grouping.keys, start=1))
    own = names(theirs.aliases[columns[key.column]] for key in grouping.keys)
    keys = list(zip(aliases, own, matches, strict=True))
    keyed = engine.create(render("population_keyed.sql", coded=theirs.relation, keys=keys))
    sizes = [(alias, key.top + 1) for alias, key in zip(aliases, grouping.keys, strict=True)]
    placed = engine.create(
        render("candidate.sql", keyed=keyed, columns=[], keys=sizes, numbers=grouping.numbers), view=True
    )
    return engine.create(render("population.sql", groups=grouping.groups, placed=placed, total=theirs.rows))


def _columns(grouping: Grouping) -> dict[str, str]:
    """The published keys and the columns of the population they are compared with."""
    base = grouping.base
    named = {key.column: _name(base, key) for key in grouping.keys}
    known = base.engine.columns(base.engine.source(base.table.population))
    raise_all(
        [
            UsageError("unknown_column", f'the population has no column "{name}"', where="population")
            for name in named.values()
            if name not in known
        ]
    )
    return named


def _name(base: Base, key: Key) -> str:
    if key.column in base.columns:
        return base.columns[key.column][0]
    if key.column == "grp" and base.table.group:
        return base.table.group
    raise UsageError(
        "no_population_groups",
        "groups that are not labels of quasi-identifiers cannot be compared with a population",
        hint="Publish by generalise or full_domain.",
    )


def _matches(base: Base, theirs: Base, key: Key, column: str) -> Sql:
    if key.level == 0:
        query = render(
            "population_keys.sql",
            theirs=theirs.dictionaries[column],
            ours=base.dictionaries[key.column],
            codes=None,
            level=0,
        )
        return base.engine.create(query)
    kind: Hierarchy = base.columns[key.column][1]
    return base.engine.create(
        render(
            "population_keys.sql",
            theirs=labels(base.engine, theirs.dictionaries[column], kind),
            ours=base.levels[key.column],
            codes=base.level_codes[key.column],
            level=key.level,
        )
    )
