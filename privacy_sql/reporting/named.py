"""INTERNAL: the worst cases of a written release with the keys and values behind them, for one page only.

Read from the published bytes when the page is made; no record, log or other page holds any of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from privacy_sql.engines import connect
from privacy_sql.publishing import rejudging

MOST_VALUES = 12  # of a group, the most common first


@dataclass(frozen=True)
class Named:
    """The group a requirement is closest to its limit in, as it is published."""

    rule: str
    keys: Sequence[tuple[str, str]]
    value: str  # the one in question, where there is one
    values: Sequence[tuple[str, int]]
    left_out: int


def worst_cases(place: Path) -> list[Named]:
    """Of every requirement that names a group, by the manifest of a release in files."""
    with connect() as engine:
        verdicts = rejudging.rejudge(engine, place).verdicts
        seen = [(rule, verdict.witness.reveal()) for rule, verdict in verdicts.items()]
    return [_named(rule, told) for rule, told in seen if "keys" in told]


def _named(rule: str, told: Mapping[str, Any]) -> Named:
    counted = sorted(told.get("values", {}).items(), key=lambda pair: (-pair[1], str(pair[0])))
    return Named(
        rule=rule,
        keys=[(str(name), _text(label)) for name, label in told["keys"].items()],
        value=_text(told["value"]) if "value" in told else "",
        values=[(_text(value), n) for value, n in counted[:MOST_VALUES]],
        left_out=max(0, len(counted) - MOST_VALUES),
    )


def _text(value: object) -> str:
    return "missing" if value is None else str(value)
