"""Sensitive values that a requirement names, each with limits of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from privacy_sql.errors import UsageError, nearest, raise_all
from privacy_sql.hierarchies import Tree
from privacy_sql.hierarchies.base import text_of
from privacy_sql.query.template import render

if TYPE_CHECKING:
    from privacy_sql.counted.base import Base


def named_values(
    base: Base, wanted: Sequence[str], criterion: str, *, must_occur: bool
) -> tuple[dict[int, int], tuple[str, ...]]:
    """Code of each named value -> its number, from 1; and the values that do not occur.

    Where they must occur, as in a project, one that does not is an error.
    """
    if not wanted:
        return {}, ()
    named = base.engine.load(
        {"position": ("bigint", [*range(len(wanted))]), "name": ("varchar", list(wanted))}, "named"
    )
    query = render("criteria/named_values.sql", values=base.dictionaries["s"], named=named)
    own = {int(row["code"]): int(row["position"]) + 1 for row in base.engine.fetch(query)}
    absent = tuple(v for number, v in enumerate(wanted, start=1) if number not in own.values())
    if absent and must_occur:
        raise_all(_unknown(base, absent, criterion))
    return own, absent


def refuse_named_twice(named: Iterable[object], criterion: str) -> None:
    """Refuse a value that is named as a number and as text (one limit would hold), and a missing one."""
    if None in (named := list(named)):
        hint = "The limit of all values holds for those who have none."
        raise UsageError("bad_parameter", f"per_value of {criterion} names no value by None", hint=hint)
    told = list(map(text_of, named))
    twice = sorted({value for value in told if told.count(value) > 1})
    if twice:
        raise UsageError(
            "bad_parameter", f'per_value of {criterion} names "{twice[0]}" twice', hint="Remove one."
        )


def absent_notes(absent: Iterable[str]) -> tuple[str, ...]:
    """What a verdict says of named values that nobody has."""
    return tuple(f'"{value}" of per_value does not occur: 0' for value in absent)


def _unknown(base: Base, absent: Iterable[str], criterion: str) -> list[UsageError]:
    """One error for each value that does not occur, with one that is spelt nearly so where it was declared.

    What only rows hold is not told: whoever reads an error may not see the rows.
    """
    table = base.table
    tree = table.sensitive_hierarchy
    known = list(tree.leaves()) if isinstance(tree, Tree) else []
    domain = (table.domains or {}).get(table.sensitives[0])
    known += map(str, domain) if isinstance(domain, list | tuple) else []
    where = f"{table.name}.require.{criterion}.per_value"
    hints = {value: f'Did you mean "{near}"?' for value in absent if (near := nearest(value, known))}
    return [
        UsageError(
            "unknown_value",
            f'{table.sensitives[0]} has no value "{value}"',
            where=where,
            hint=hints.get(value, "Values are compared letter by letter."),
        )
        for value in absent
    ]
