"""The lowest entropy of a group and the disclosure to facts, for every choice (martin2007, Fig. 6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np

from privacy_sql.counted.base import count
from privacy_sql.criteria.ck_safety import group_counts, refuse_other_worlds, within_reach
from privacy_sql.display.progress import report
from privacy_sql.engines import Engine
from privacy_sql.errors import UsageError
from privacy_sql.kernels.worst_case.disclosure import implication_curve
from privacy_sql.kernels.worst_case.group_shapes import GroupShapes
from privacy_sql.lattice.in_memory import InMemory, fits
from privacy_sql.lattice.rollup import Rollup
from privacy_sql.table import Table

FACTS = (1, 3, 5, 7)
MOST_CHOICES = 1000


@dataclass(frozen=True)
class Choice:
    """One choice of levels, the lowest entropy of its groups in nats, and its disclosure to facts."""

    levels: Mapping[str, int]
    entropy: float
    disclosure: Mapping[int, Fraction]

    def to_json(self) -> dict[str, Any]:
        return {
            "levels": dict(self.levels),
            "entropy": self.entropy,
            "disclosure": {facts: float(value) for facts, value in self.disclosure.items()},
        }


def every_choice(engine: Engine, table: Table, facts: Sequence[int] = FACTS) -> list[Choice]:
    """Entropy and disclosure of every choice of a table's levels, at most a thousand choices."""
    size = prod(kind.height + 1 for kind in table.hierarchies.values())
    if size > MOST_CHOICES:
        hint = f"At most {MOST_CHOICES} can be counted one by one; take fewer columns or shorter hierarchies."
        raise UsageError("too_many_choices", f"the hierarchies allow {size} choices", hint=hint)
    base = count(engine, table)
    refuse_other_worlds(base)
    rollup = Rollup(base, with_sensitive=True)
    held = InMemory(base, with_sensitive=True) if fits(base, ()) else None
    made = []
    for number, choice in enumerate(rollup.lattice.choices()):
        report("every choice", number, rollup.lattice.size)
        if held is None:
            counts = group_counts(rollup.grouping(choice))
            shapes = GroupShapes.from_columns(counts["g"], counts["n_rows"], max(facts) + 1)[0]
            entropy = lowest_entropy(counts)
        else:
            groups = held.groups(choice)
            ranked = groups.people, groups.start, groups.ranked
            shapes = GroupShapes.from_ranked(*ranked, max(facts) + 1)[0]
            entropy = max(0.0, float(groups.entropies.min()))
        with within_reach():
            curve = implication_curve(shapes, max(facts))
        made.append(Choice(rollup.named(choice), entropy, {k: curve[k] for k in facts}))
    return made


def lowest_entropy(counts: Mapping[str, Any]) -> float:
    """The lowest entropy, in nats, of the sensitive values in a group.

    >>> round(lowest_entropy({"g": [0, 0, 1], "n_rows": [2, 2, 5]}), 4)
    0.0
    """
    _, group = np.unique(counts["g"], return_inverse=True)
    n = np.asarray(counts["n_rows"], np.float64)
    size = np.bincount(group, n)
    # H = ln N - (sum of n ln n) / N
    entropy = np.log(size) - np.bincount(group, n * np.log(n)) / size
    return max(0.0, float(entropy.min()))
