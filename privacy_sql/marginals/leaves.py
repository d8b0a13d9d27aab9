"""The leaves of a table's columns, with the nodes above them, as numbers and as labels.

Kifer & Gehrke 2006, Sect. 6.1. Node numbers are the dictionary codes of `marginal_tables`, so counts from
there can be looked up here. The root is 0; values that only the hierarchy has are negative.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from privacy_sql.counted.base import Base
from privacy_sql.errors import UsageError
from privacy_sql.hierarchies import Hierarchy
from privacy_sql.kernels.marginals.leaf_domain import LeafDomain
from privacy_sql.marginals.columns import Attributes
from privacy_sql.query.template import render

DOMAINS = ("active", "hierarchy")
Path = tuple[int, ...]


@dataclass(frozen=True)
class Leaves:
    """Every column's leaves: `domain` as numbers, and the `values` and `labels` of these numbers."""

    domain: LeafDomain
    # values of rows, which must not show in a log
    values: tuple[Mapping[int, Any], ...] = field(repr=False)  # per column: leaf number -> value
    # per column and resolution: node number -> label
    labels: tuple[Sequence[Mapping[int, Any]], ...] = field(repr=False)


def leaves(base: Base, attributes: Attributes, domain: str) -> Leaves:
    """The leaves of a counted table: its own values ("active") or all values of its hierarchies."""
    if domain not in DOMAINS:
        raise UsageError("bad_parameter", f"domain must be one of {', '.join(DOMAINS)}")
    paths, values, labels = [], [], []
    for name, alias in zip(attributes.names, attributes.aliases, strict=True):
        rows = _observed(base, alias)
        if domain == "hierarchy":
            rows = rows + _unobserved(base, name, alias, rows)
        paths.append(
            tuple((0, *(number for number, _ in reversed(row[: max(len(row) - 1, 1)]))) for row in rows)
        )
        values.append({row[0][0]: row[0][1] for row in rows})
        by_level = [dict(level) for level in zip(*rows, strict=True)]
        labels.append([{0: "*"}, *reversed(by_level[: max(len(by_level) - 1, 1)])])
    return Leaves(LeafDomain(tuple(paths)), tuple(values), tuple(labels))


Row = list[tuple[int, Any]]  # (number, label) for each level, the raw value first


def _observed(base: Base, alias: str) -> list[Row]:
    """The values of the table; a column without a level above the raw value gets the root."""
    kind = base.columns[alias][1] if alias in base.columns else None
    if kind is None or not kind.height:
        query = render("marginals/values.sql", dictionary=base.dictionaries[alias])
        return [[(int(row["c0"]), row["l0"]), (0, "*")] for row in base.engine.fetch(query)]
    query = render(
        "marginals/leaves.sql", levels=base.levels[alias], codes=base.level_codes[alias], height=kind.height
    )
    return [
        [(int(row[f"c{level}"]), row[f"l{level}"]) for level in range(kind.height + 1)]
        for row in base.engine.fetch(query)
    ]


def _unobserved(base: Base, name: str, alias: str, observed: Sequence[Row]) -> list[Row]:
    """The values of a hierarchy, or of the declared domain, that the table does not have."""
    known = [{label: number for number, label in level} for level in zip(*observed, strict=True)]
    fresh: dict[tuple[int, Any], int] = {}

    def number(level: int, label: object) -> int:
        if label in known[level]:
            return int(known[level][label])
        return fresh.setdefault((level, label), -len(fresh) - 1)

    seen = {str(row[0][1]) for row in observed}
    return [
        [(number(level, label), label) for level, label in enumerate(labels)]
        for labels in _declared(base, name, alias)
        if str(labels[0]) not in seen
    ]


def _declared(base: Base, name: str, alias: str) -> list[tuple[Any, ...]]:
    """The labels of every declared value, from the raw value to the top."""
    kind: Hierarchy | None
    kind = base.columns[alias][1] if alias in base.columns else base.table.sensitive_hierarchy
    rows = [] if kind is None else list(kind.rows())
    if rows:
        return rows if alias in base.columns else [(row[0], "*") for row in rows]
    given = (base.table.domains or {}).get(name)
    if given is not None and kind is not None and kind.height:
        levels = range(1, kind.height + 1)
        return [(value, *(kind.label(value, level) for level in levels)) for value in given]
    if given is not None:
        return [(value,) if kind is None else (value, "*") for value in given]
    if kind is not None and kind.height > 1:
        hint = 'Use domain="active", give Table(domains=...), or write the hierarchy as a tree.'
        raise UsageError("no_leaves", f"the hierarchy of {name} does not list its raw values", hint=hint)
    return []
