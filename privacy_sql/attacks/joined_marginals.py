"""Published marginals as one release of groups: their join limits the values that everybody can have.

Kifer & Gehrke 2006, Sect. 7, for the attack of Ganta et al. 2008. In a decomposable collection a person can
have a value exactly if every table counts somebody in the cell they would be in.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from privacy_sql.engines import Engine
from privacy_sql.errors import Undecided
from privacy_sql.history.described import CELL_ROWS, Description
from privacy_sql.query.template import Sql, render

MOST_COMBINATIONS = 10_000_000  # the most at any time


def joined(engine: Engine, description: Description, columns: Iterable[str]) -> Sql:
    """The combinations of some published columns with sensitive values that all tables allow, with counts.

    `n_rows` is the most rows that a combination can have. Columns that are not needed to find people are
    summed out as soon as no remaining table shows them.
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
        # the most common columns first, so that the join stays small
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
                hint="Name fewer known columns of people.",
            )
    return found


def _needed(tables: Sequence[set[str]], asked: set[str]) -> dict[int, set[str]]:
    """The columns of each table that matter: requested ones, and those shared with another remaining table.

    A table adds nothing if another one shows all its columns.

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
