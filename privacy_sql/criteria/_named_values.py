"""Sensitive values that a requirement names, each with its own limits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from privacy_sql.errors import UnknownValue, UsageError, nearest, raise_all
from privacy_sql.hierarchies.base import text_of
from privacy_sql.query.template import render

if TYPE_CHECKING:
    from privacy_sql.counted.base import Base


def named_values(
    base: Base, wanted: Sequence[str], criterion: str, *, must_occur: bool
) -> tuple[dict[int, int], tuple[str, ...]]:
    """Code of each named value -> its number, from 1; and the values that do not occur.

    In a project, a value that does not occur is an error. With several sensitive columns, each judged in
    turn, it must occur in one of them.
    """
    if not wanted:
        return {}, ()
    own = _occurring(base, wanted, "s")
    absent = tuple(v for number, v in enumerate(wanted, start=1) if number not in own.values())
    if absent and must_occur:
        elsewhere = (_occurring(base, absent, base.aliases[other]) for other in base.table.also_sensitive)
        found = {absent[number - 1] for codes in elsewhere for number in codes.values()}
        nowhere = [value for value in absent if value not in found]
        # values that only rows have are no hints, because readers of an error may not see rows; `run` lists
        # the nearest of them in a private file
        table, tree = base.table, base.table.sensitive_hierarchy
        known = [] if tree is None else list(tree.leaves())
        domain = (table.domains or {}).get(table.sensitives[0])
        known += map(str, domain) if isinstance(domain, list | tuple) else []
        where = f"{table.name}.require.{criterion}.per_value"
        hints = {value: f'Did you mean "{near}"?' for value in nowhere if (near := nearest(value, known))}
        plain = "Values must match exactly; `run` lists the nearest one in target/private/nearest.csv."
        columns = [*table.sensitives, *table.also_sensitive]
        raise_all(
            [UnknownValue(value, columns, where=where, hint=hints.get(value, plain)) for value in nowhere]
        )
    return own, absent


def _occurring(base: Base, wanted: Sequence[str], column: str) -> dict[int, int]:
    """Code of each named value in a column -> its number, from 1."""
    named = base.engine.load(
        {"position": ("bigint", [*range(len(wanted))]), "name": ("varchar", list(wanted))}, "named"
    )
    query = render("criteria/named_values.sql", values=base.dictionaries[column], named=named)
    return {int(row["code"]): int(row["position"]) + 1 for row in base.engine.fetch(query)}


def refuse_named_twice(named: Iterable[object], criterion: str) -> None:
    """Refuse a value named both as a number and as text (only one limit would apply), and a missing value."""
    if None in (named := list(named)):
        hint = "The general limit applies to people without a value."
        raise UsageError("bad_parameter", f"per_value of {criterion} cannot name a missing value", hint=hint)
    told = list(map(text_of, named))
    twice = sorted({value for value in told if told.count(value) > 1})
    if twice:
        raise UsageError(
            "bad_parameter", f'per_value of {criterion} names "{twice[0]}" twice', hint="Remove one of them."
        )


def absent_notes(absent: Iterable[str]) -> tuple[str, ...]:
    """What a verdict says about named values that nobody has."""
    return tuple(f'"{value}" of per_value does not occur: 0' for value in absent)
