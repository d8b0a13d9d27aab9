"""Levels of hierarchies in words: "age in bands of 10", never `{"age": 2}`."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

TOP = "*"

# the words for a level that is neither the raw value nor the single label at the top
SHOWN = {
    "intervals": "bands of {}",
    "mask": "first {} characters",
    "breaks": "cut at {}",
    "dates": "by {}",
}


def level(hierarchy: Mapping[str, Any] | None, step: int) -> str:
    """How a level shows a column, given the `kind` of its hierarchy and the names of its `levels`.

    >>> level({"kind": "intervals", "levels": ["raw", "5", "10", "*"]}, 2)
    'bands of 10'
    >>> level({"kind": "mask", "levels": ["raw", "3", "0"]}, 1), level(None, 0)
    ('first 3 characters', 'exact')
    """
    if step == 0:
        return "exact"
    names = (hierarchy or {}).get("levels", [])
    name = names[step] if step < len(names) else f"level {step}"
    kind = (hierarchy or {}).get("kind")
    if name == TOP or (kind == "mask" and name == "0"):
        return "removed"
    if kind == "intervals" and (name.startswith("<") or name.endswith("+")):
        return f"{name.replace(' ', ' and ')} together, else exact"
    if kind in SHOWN:
        name = name.replace("_", " ")  # by five years
        return SHOWN[kind].format(name).replace("first 1 characters", "first character")
    if len(names) > 2 and name.startswith("level "):
        return f"coarser, step {step} of {len(names) - 1}"
    return str(name)


def column(name: str, hierarchy: Mapping[str, Any] | None, step: int) -> str:
    """A column with its level in words.

    >>> column("age", {"kind": "intervals", "levels": ["raw", "10", "*"]}, 1), column("sex", None, 0)
    ('age in bands of 10', 'sex exact')
    >>> column("city", {"kind": "file", "levels": ["raw", "country", "*"]}, 1)
    'city as country'
    """
    words = level(hierarchy, step)
    names = (hierarchy or {}).get("levels", [])
    if words.startswith("bands of "):
        return f"{name} in {words}"
    # a level name from the header of a hierarchy file
    return f"{name} as {words}" if 0 < step < len(names) and words == names[step] else f"{name} {words}"


def choice(levels: Mapping[str, int], hierarchies: Mapping[str, Any]) -> str:
    """One choice of levels in a line.

    >>> choice({"age": 1, "sex": 0}, {"age": {"kind": "intervals", "levels": ["raw", "5", "*"]}})
    'age in bands of 5 · sex exact'
    """
    return " · ".join(column(name, hierarchies.get(name), step) for name, step in levels.items())


def in_words(chosen: Mapping[str, Any], hierarchies: Mapping[str, Any]) -> str:
    """The choice of a method: levels in words, the rest as requested.

    >>> kinds = {"age": {"kind": "intervals", "levels": ["raw", "5", "*"]}}
    >>> in_words({"levels": {"age": 1}, "k": 5}, kinds)
    'age in bands of 5; k=5'
    >>> in_words({"marginals": [{"age": 2}, {"age": 0, "sex": 0}]}, kinds)
    '(age removed) (age exact · sex exact)'
    """
    told = []
    for key, value in chosen.items():
        if value is None or value is True or value in ({}, []):  # skip what was not requested
            continue
        if key in ("levels", "mask"):
            told.append(choice(value, hierarchies))
        elif key == "marginals":
            each_shown = (choice(m, hierarchies) if isinstance(m, Mapping) else ", ".join(m) for m in value)
            told.append(" ".join(f"({marginal})" for marginal in each_shown))
        elif key == "rounds":
            rows = [f": {each['rows']} rows" if "rows" in each else "" for each in value]  # not for everybody
            rounds = [
                f"{choice(each['levels'], hierarchies)}{n}" for each, n in zip(value, rows, strict=True)
            ]
            told.append("; ".join(f"round {number} {each}" for number, each in enumerate(rounds, start=1)))
        else:
            told.append(f"{key}={value}")
    return "; ".join(told)


def weighing(importance: Mapping[str, Any]) -> str:
    """How often each column counts in a mean over columns; empty where all count alike.

    >>> weighing({"age": "2", "zip": "0.5", "sex": 1})
    'age counts twice, zip counts 0.5 times'
    """
    told = {column: Fraction(str(weight)) for column, weight in importance.items()}
    return ", ".join(
        f"{column} counts {'twice' if weight == 2 else f'{importance[column]} times'}"
        for column, weight in told.items()
        if weight != 1
    )
