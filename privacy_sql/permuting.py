"""Exact quasi-identifiers beside sensitive values in an order that only a secret explains.

martin2007, Sec. 2.1: an independent random permutation of the sensitive values in each group.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping

from privacy_sql.base import Base
from privacy_sql.errors import UsageError
from privacy_sql.grouping import Grouping
from privacy_sql.mechanisms import shown
from privacy_sql.query import Query, Sql, render

GROUP = "group_id"


def refuse_unfit(base: Base, method: str) -> None:
    """Refuse a table without sensitive values, or with a column of the name that groups get."""
    if not base.table.sensitives:
        raise UsageError("no_sensitive", f"{method} permutes sensitive values, and no column is sensitive")
    if GROUP in base.source_columns:
        raise UsageError("taken_name", f'the source has a column "{GROUP}"', hint="Rename it.")


def secret(base: Base, seed: int | None) -> Sql:
    """A relation with the key of every order; from the operating system unless there is a seed."""
    key = secrets.token_hex(32) if seed is None else hashlib.sha256(str(seed).encode()).hexdigest()
    return base.engine.load({"key": ("varchar", [key])}, "secret")


def permuted(grouping: Grouping, mask: Mapping[str, int], key: Sql) -> Query:
    """The view in one table: group number, quasi-identifiers (at the levels of `mask`), permuted values."""
    columns = shown(grouping.base, mask)
    return render(
        "mechanisms/bucketize.sql", rows=grouping.rows, shown=columns, secret=key, group_id=Sql(GROUP)
    )
