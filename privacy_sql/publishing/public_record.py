"""What may be public about a release: what follows from its published rows, and what was declared.

Two tables that publish the same rows must have the same public record, because counts, risks and costs of
unpublished rows and choices would tell them apart. Every list here names what is public; the rest stays
internal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from privacy_sql import registry

ROWS = ("rows_in", "rows_out", "suppressed", "repeated")
FEWEST = 3  # "fewer than 2" would reveal that it is one
USUAL = 5

# the settings of a method, and the levels and columns that a reader of the release can see
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
# how a verdict was reached: follows from the sizes and values of published groups, or is one word
HOW_EXACT = ("prior", "exact_groups", "estimated_groups")
VERDICT = (
    *("requirement", "criterion", "params", "safe", "value", "value_float", "limit", "relation", "exact"),
    "witness",
)


def smallest_told(verdicts: Iterable[Mapping[str, Any]]) -> int:
    """The smallest public count of people: the largest k required of groups, or 5."""
    required = [verdict["params"].get("k") for verdict in verdicts if verdict.get("unit") == "people"]
    return max(FEWEST, max([int(k) for k in required if str(k).isdigit()], default=USUAL))


def step(verdicts: Mapping[str, Any]) -> int:
    """The step to which counts of suppressed or repeated rows are rounded: the smallest public count."""
    return smallest_told(
        {
            "params": verdict.params,
            "unit": registry.get("criteria", verdict.criterion).unit_of(verdict.params, verdict.relation),
        }
        for verdict in verdicts.values()
        if registry.has("criteria", verdict.criterion)
    )


def rows(counts: Mapping[str, Any], step: int | None) -> dict[str, Any]:
    """How many rows were read, published, suppressed and repeated; the numbers add up.

    No published row reveals how many rows were suppressed or repeated. These counts are rounded down to whole
    steps, and the number of rows read is the sum.

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
    """The named parts of a record.

    >>> only({"levels": {}, "rows": 7}, CHOICE)
    {'levels': {}}
    """
    return {name: value for name, value in (record or {}).items() if name in names}


def choice(made: Mapping[str, Any] | None) -> dict[str, Any]:
    """What was chosen; for a local recoding, the levels of its rounds but not whom each round saved."""
    told = only(made, CHOICE)
    if "rounds" in told:
        told["rounds"] = [only(part, ("levels",)) for part in told["rounds"]]
    return told


def search(found: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """What was searched for and whether it was found, without the steps of the search."""
    return None if found is None else only(found, SEARCH)


def verdict(found: Mapping[str, Any], *, by_rows: bool) -> dict[str, Any]:
    """A verdict; if published rows do not decide it, only that it is within its limit.

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
    # which of several limits is nearest would also reveal something
    several = "low" in told["params"] or any(
        isinstance(value, list | Mapping) for value in told["params"].values()
    )
    if several:
        told |= {"limit": None, "relation": "<="}
    end = told["limit"]
    reached = None if end is None else float(Fraction(str(end)))
    witness = only(told.get("witness"), HOW_EXACT)
    return told | {"value": None, "value_float": reached, "witness": witness}
