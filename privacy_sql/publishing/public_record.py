"""What may be told to everybody of a release: what follows from its published rows, and what was declared.

Whoever holds two tables that publish the same rows must read the same words about both: counts, risks and
costs of rows and choices that were not published would tell them apart. Every list here names what is public;
what it does not name stays inside.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from privacy_sql import registry

ROWS = ("rows_in", "rows_out", "suppressed", "repeated")
FEWEST = 3  # "fewer than 2" would tell that it is one
USUAL = 5

# what a method was asked for, and the levels and columns that a reader of the release finds
CHOICE = (
    *(
        "levels",
        "by",
        "l",
        "layout",
        "mask",
        "k",
        "size",
        "together",
        "split",
        "by_class",
        "output",
        "strict",
    ),
    *("max_suppressed", "marginals", "neighbours", "total", "rounds"),
)
SEARCH = ("minimise", "choices", "optimal", "stopped", "domain", "groups")
# how a verdict was reached: follows from the sizes and values of the published groups, or is one word
HOW_EXACT = ("prior", "exact_groups", "estimated_groups")
VERDICT = (
    *("requirement", "criterion", "params", "safe", "value", "value_float", "limit", "relation", "exact"),
    "witness",
)


def smallest_told(verdicts: Iterable[Mapping[str, Any]]) -> int:
    """The smallest count of people that is told: the largest k that is required of groups, 5 without one."""
    required = [verdict["params"].get("k") for verdict in verdicts if verdict.get("unit") == "people"]
    return max(FEWEST, max([int(k) for k in required if str(k).isdigit()], default=USUAL))


def step(verdicts: Mapping[str, Any]) -> int:
    """In what steps rows that are left out, or written again, are told: the smallest count that is told."""
    return smallest_told(
        {
            "params": verdict.params,
            "unit": registry.get("criteria", verdict.criterion).unit_of(verdict.params, verdict.relation),
        }
        for verdict in verdicts.values()
        if registry.has("criteria", verdict.criterion)
    )


def rows(counts: Mapping[str, Any], step: int | None) -> dict[str, Any]:
    """How many rows were read, published, left out and written again, which add up.

    Where rows may be left out or written again, how many are is known from no published row. They are told in
    whole steps, rounded down, and the rows that were read are their sum.

    >>> rows({"rows_in": 40, "rows_out": 27, "suppressed": 13, "repeated": 0}, 5)["rows_in"]
    37
    """
    told: dict[str, Any] = {name: counts.get(name) for name in ROWS}
    if step is None:
        return told
    for name in ("suppressed", "repeated"):
        told[name] = (told[name] or 0) // step * step
    known = told["rows_in"] is not None
    return told | {"rows_in": sum(told[name] for name in ROWS[1:]) if known else None}


def only(record: Mapping[str, Any] | None, names: tuple[str, ...]) -> dict[str, Any]:
    """The parts of a record that are named.

    >>> only({"levels": {}, "rows": 7}, CHOICE)
    {'levels': {}}
    """
    return {name: value for name, value in (record or {}).items() if name in names}


def choice(made: Mapping[str, Any] | None) -> dict[str, Any]:
    """What was chosen; of a local recoding the levels of its rounds, and not whom each of them saved."""
    told = only(made, CHOICE)
    if "rounds" in told:
        told["rounds"] = [only(part, ("levels",)) for part in told["rounds"]]
    return told


def search(found: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """What was searched for, and whether it was found; nothing of what was looked at on the way."""
    return None if found is None else only(found, SEARCH)


def verdict(found: Mapping[str, Any], *, by_rows: bool) -> dict[str, Any]:
    """A verdict; where published rows do not decide it, only that it keeps its limit.

    >>> kept = {"params": {"t": "0.2"}, "value": None, "value_float": 0.1387, "limit": "1/5", "exact": False}
    >>> verdict({**kept, "relation": "<=", "witness": {"size": 3}}, by_rows=False)["value_float"]
    0.2
    >>> own = {"c": "0.9", "k": 0, "per_value": {"HIV": {"c": "0.2", "k": 1}}}
    >>> verdict({**kept, "params": own, "relation": "<", "witness": {}}, by_rows=False)["limit"] is None
    True
    """
    told = only(found, VERDICT)
    if by_rows:
        return told
    # which of several limits is nearest would tell something, too
    several = "low" in told["params"] or any(
        isinstance(value, list | Mapping) for value in told["params"].values()
    )
    if several:
        told |= {"limit": None, "relation": "<="}
    end = told["limit"]
    reached = None if end is None else float(Fraction(str(end)))
    witness = only(told.get("witness"), HOW_EXACT)
    return told | {"value": None, "value_float": reached, "witness": witness}
