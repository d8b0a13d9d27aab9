"""Households behind a table: how many people of each live in each published group.

The household of a person is never published. Those of whom it is missing are taken for one household.
"""

from __future__ import annotations

from privacy_sql.counted.base import Base
from privacy_sql.counted.counting import household_codes
from privacy_sql.counted.grouping import Grouping, numbered
from privacy_sql.errors import UsageError
from privacy_sql.query.template import Sql, names, render


def household_groups(grouping: Grouping) -> Sql:
    """How many people of each household are in each group: g, s (the household), n_rows."""
    base, engine = grouping.base, grouping.base.engine
    table = base.table
    if table.household is None:
        hint = "Name it with --household, or `household: {column: H}` in privacy.yml."
        raise UsageError(
            "no_household", "which people live together is not declared", where=table.name, hint=hint
        )
    if any(key.labels is not None or key.column not in base.dictionaries for key in grouping.keys):
        raise UsageError(
            "no_household_groups",
            "households are counted in groups that show labels of quasi-identifiers, a level for each column",
            where=table.name,
            hint="Publish by generalise or full_domain without local_recoding.",
        )
    counted = base.memory.once("households", lambda: _counted(base.at_home))
    keys = [
        (Sql(f"k{n}"), Sql(key.column), key.level, base.level_codes[key.column] if key.level else None)
        for n, key in enumerate(grouping.keys, start=1)
    ]
    keyed = engine.create(render("counted/keyed.sql", base=counted, keys=keys, columns=[Sql("s")]), view=True)
    placed = numbered(engine, keyed, grouping.keys, grouping.numbers, [Sql("s")])
    if grouping.gone is not None:
        columns = names(["s", "n_rows"])
        left = render("counted/without.sql", relation=placed, columns=columns, gone=grouping.gone)
        placed = engine.create(left, view=True)
    return engine.create(render("counted/histogram.sql", candidate=placed, sensitive=True, counted=False))


def _counted(base: Base) -> Sql:
    """How many people of each household share each combination, in the codes of the table."""
    quasi = {alias: codes for alias, codes in base.dictionaries.items() if alias != "s"}
    return household_codes(base.engine, base.source, base.table, base.source_columns, quasi)
