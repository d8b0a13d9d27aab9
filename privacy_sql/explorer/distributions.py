"""How the people of each column lie, by its values in the source and by the labels of a choice."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np

from privacy_sql.counted.base import Base
from privacy_sql.explorer.choices import LabelWords
from privacy_sql.explorer.screens import Json
from privacy_sql.lattice.costs import Shown

if TYPE_CHECKING:
    pass

MOST_BARS = 60  # of one column: values that lie beside one another are shown together


def distributions(base: Base, shown: Shown, words: LabelWords, quasi: Collection[str]) -> list[Json]:
    """Every quasi-identifier's people by its values, and by the labels of a choice."""
    return [
        distribution(base, position, shown, words)
        for position, (name, _) in enumerate(base.columns.values())
        if name in quasi  # not the other sensitive columns
    ]


def distribution(base: Base, position: int, shown: Shown, words: LabelWords) -> Json:
    """People by the values of one column, and by its labels; values that lie under one label lie together."""
    labels = base.labels[position]
    name, kind = list(base.columns.values())[position]
    level = shown.choice[position]
    under = labels.at[level]
    left = shown.left
    people = np.bincount(left.labels(position), weights=left.people, minlength=int(under.max(initial=0)) + 1)
    # values in the order of numbers, else of their labels; a missing value comes first
    first = under if labels.number is None else np.where(labels.code == 0, -np.inf, labels.number)
    order = np.lexsort((labels.code, first))
    n, at = labels.n_rows[order].tolist(), under[order].tolist()
    width = -(-len(n) // MOST_BARS)
    before: list[Json] = [
        {"people": sum(n[start : start + width]), "values": len(n[start : start + width])}
        for start in range(0, len(n), width)
    ]
    if width == 1 and words.told(name, 0):
        before = [
            {"people": many, "values": 1, "label": words.label(name, 0, int(code))}
            for many, code in zip(n, labels.code[order].tolist(), strict=True)
        ]
    found = list(dict.fromkeys(at))
    out = bool(kind.height) and level == kind.height
    after: list[Json] = [
        {
            "people": int(people[label]),
            "values": at.count(label),
            "label": None if out else words.label(name, level, label),
        }
        for label in found[: MOST_BARS if len(found) > MOST_BARS else None]
    ]
    return {
        "column": name,
        "level": level,
        "left_out": out,
        "values": len(n),
        "labels": len(found),
        "before": before,
        # labels that are values themselves, and too many to draw, are drawn as the values are
        "after": after if len(found) <= MOST_BARS else None,
    }
