"""Households behind a table: how many people of each live in each published group.

The household of a person is never published. People without one count as one household.
"""

from __future__ import annotations

from privacy_sql.counted import further_column
from privacy_sql.counted.base import Base
from privacy_sql.counted.counting import Counted
from privacy_sql.counted.grouping import Grouping
from privacy_sql.errors import UsageError
from privacy_sql.query.template import Sql
from privacy_sql.table import Table


def household_groups(grouping: Grouping) -> Sql:
    """How many people of each household are in each group: g, s (the household), n_rows."""
    histogram, _ = further_column.by_group(grouping, _household(grouping.base.table), "household")
    return histogram


def household_values(grouping: Grouping) -> tuple[Sql, Sql]:
    """The same with the codes of sensitive values: g, s, the codes, n_rows; and the name of their column."""
    return further_column.by_group_and_value(grouping, _household(grouping.base.table), "household")


def households_counted(base: Base, with_values: bool) -> tuple[Counted, Sql]:
    """How many people of each household share each combination of a base's codes, as `Counted` says.

    The household is column `s`; `with_values` the sensitive value is the other column returned.
    """
    return further_column.counted_beside(base, _household(base.table), with_values=with_values)


def _household(table: Table) -> str:
    if not isinstance(table.household, str):
        hint = "Name the column with --household, or `household: {column: H}` in privacy.yml."
        raise UsageError("no_household", "the table has no household column", where=table.name, hint=hint)
    return table.household
