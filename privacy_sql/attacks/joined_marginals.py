"""Published marginals as one release of groups: their join bounds what values everybody can have.

Kifer & Gehrke 2006, Sect. 7, for the attack of Ganta et al. 2008. Of a decomposable collection a person can
have a value exactly where every table counts somebody in the cell they would lie in.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from privacy_sql.engines import Engine
from privacy_sql.errors import Undecided
from privacy_sql.history.described import CELL_ROWS, Description
from privacy_sql.query.template import Sql, render

MOST_COMBINATIONS = 10_000_000  # that are held on the way


def joined(engine: Engine, description: Description, columns: Iterable[str]) -> Sql:
    """The combinations of some published columns with sensitive values that all tables allow, with counts.

    `n_rows` is the most rows that a combination can have. Columns that nobody is looked for by are summed out
    as soon as no table is left that shows them.
    """
    asked = {*columns, description.sensitive}
    relations = [engine.source(part) for part in description.parts]
    shown = _needed([{*engine.columns(relation)} - {CELL_ROWS} for relation in relations], asked)
    left = {
        number: engine.create(
            render(
                "attacks/part_counts.sql", published=relations[number], columns=sorted(names), count=CELL_ROWS
            )
        )
        for number, names in shown.items()
    }
    number = next(number for number, names in shown.items() if description.sensitive in names)
    found, names = left.pop(number), shown.pop(number)
    while left:
        # most columns in common first, so that little is multiplied
        number = max(left, key=lambda other: (len(shown[other] & names), -other))
        other, theirs = left.pop(number), shown.pop(number)
        kept = asked.union(*shown.values())
        found, size = engine.filled(
            render(
                "attacks/joined_parts.sql",
                mine=found,
                other=other,
                shared=sorted(names & theirs),
                shown=[
                    (name, Sql("mine" if name in names else "other"))
                    for name in sorted((names | theirs) & kept)
                ],
            )
        )
        names = (names | theirs) & kept
        if size > MOST_COMBINATIONS:
            raise Undecided(
                "too_many_cells",
                f"the tables of {description.name} allow more than {MOST_COMBINATIONS:,} combinations",
                where=description.name,
                hint="Name fewer columns that are known of people.",
            )
    return found


def _needed(tables: Sequence[set[str]], asked: set[str]) -> dict[int, set[str]]:
    """The columns of each table that matter: asked about, or shared with another table that stays.

    A table whose columns another one shows says nothing beside it.

    >>> found = _needed([{"age", "sex"}, {"age", "ill"}], {"age", "ill"})
    >>> {table: sorted(names) for table, names in found.items()}
    {1: ['age', 'ill']}
    """
    left = dict(enumerate(tables))
    while True:
        smaller = {
            number: {
                name
                for name in names
                if name in asked or any(name in others for n, others in left.items() if n != number)
            }
            for number, names in left.items()
        }
        inside = next(
            (
                number
                for number, names in smaller.items()
                if any(names <= others for n, others in smaller.items() if n != number)
            ),
            None,
        )
        if inside is not None:
            del smaller[inside]
        if smaller == left:
            return left
        left = smaller
