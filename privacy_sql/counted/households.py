"""Households behind a table: how many people of each live in each published group.

The household of a person is never published. People without one count as one household.
"""

from __future__ import annotations

from privacy_sql.counted import further_column
from privacy_sql.counted.grouping import Grouping
from privacy_sql.errors import UsageError
from privacy_sql.query.template import Sql


def household_groups(grouping: Grouping) -> Sql:
    """How many people of each household are in each group: g, s (the household), n_rows."""
    histogram, _ = further_column.by_group(grouping, _household(grouping), "household")
    return histogram


def household_values(grouping: Grouping) -> tuple[Sql, Sql]:
    """The same with the codes of sensitive values: g, s, the codes, n_rows; and the name of their column."""
    return further_column.by_group_and_value(grouping, _household(grouping), "household")


def _household(grouping: Grouping) -> str:
    table = grouping.base.table
    if not isinstance(table.household, str):
        hint = "Name the column with --household, or `household: {column: H}` in privacy.yml."
        raise UsageError("no_household", "the table has no household column", where=table.name, hint=hint)
    return table.household
