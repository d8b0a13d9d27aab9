"""What a release with labels is worth, whatever made it: from its distinct published rows, in numpy.

A label stands for the leaves it covers: a value, a node of a hierarchy, a range of numbers or words, or `*`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

Rows = Sequence[Mapping[str, Any]]
QUERIES, DIMENSIONS, SELECTIVITY = 500, 2, 0.3


def worth(groups: Rows, people: Rows, nodes: Any) -> dict[str, float]:
    """KL divergence in nats, NCP and median relative query error of distinct rows `groups` against `people`.

    Both hold one column per quasi-identifier and n_rows; `nodes` maps a column to {label: leaves}.
    """
    columns = [name for name in people[0] if name != "n_rows"]
    leaves = {c: sorted({row[c] for row in people}, key=_by_size) for c in columns}
    covers = {c: np.array([_covered(row[c], leaves[c], nodes.get(c, {})) for row in groups]) for c in columns}
    assert all(covered.any(axis=1).all() for covered in covers.values()), "a label that covers no leaf"
    n = np.array([row["n_rows"] for row in groups], dtype=float)
    places = {c: np.array([leaves[c].index(row[c]) for row in people]) for c in columns}
    counts = np.array([row["n_rows"] for row in people], dtype=float)
    sizes = {c: covers[c].sum(axis=1) for c in columns}
    loss = np.mean([(n * (sizes[c] - 1)).sum() / (n.sum() * (len(leaves[c]) - 1)) for c in columns])
    return {
        "kl": round(_divergence(covers, places, n, counts), 3),
        "ncp": round(float(loss), 3),
        "query_error": round(_query_error(covers, places, n, counts), 3),
    }


def _by_size(value: Any) -> tuple[int, float, str]:
    text = str(value)
    return (0, float(text), "") if text.isdigit() else (1, 0.0, text)


def _covered(label: Any, leaves: list[Any], nodes: Mapping[str, set[str]]) -> Any:
    """Which leaves a label may stand for."""
    text = str(label)
    if text == "*":
        return np.ones(len(leaves), dtype=bool)
    if text in nodes:
        return np.array([str(leaf) in nodes[text] for leaf in leaves])
    low, _, high = text.partition(".." if ".." in text else "-")
    if high and not any(str(leaf) == text for leaf in leaves):
        ends = _by_size(low), _by_size(high)
        return np.array([ends[0] <= _by_size(leaf) <= ends[1] for leaf in leaves])
    return np.array([str(leaf) == text for leaf in leaves])


def _divergence(covers: Any, places: Any, n: Any, counts: Any) -> float:
    """Sum of p ln p/p*, the people of a published row spread evenly over the combinations it covers."""
    spread = n.copy()
    for covered in covers.values():
        spread /= covered.sum(axis=1)
    share = np.zeros(len(counts))
    for start in range(0, len(counts), 2000):
        part = slice(start, start + 2000)
        inside = np.ones((len(n), len(counts[part])), dtype=bool)
        for column, covered in covers.items():
            inside &= covered[:, places[column][part]]
        share[part] = spread @ inside
    p, guessed = counts / counts.sum(), share / n.sum()
    return float((p * np.log(p / guessed)).sum())


def _query_error(covers: Any, places: Any, n: Any, counts: Any) -> float:
    """The median of |estimate - truth| / truth over random counting queries on two columns."""
    draw = np.random.default_rng(1)
    errors = []
    for _ in range(QUERIES):
        asked = draw.choice([*covers], DIMENSIONS, replace=False)
        estimate, truth = n.copy(), counts.copy()
        for column in asked:
            wanted = draw.random(covers[column].shape[1]) < SELECTIVITY
            estimate *= covers[column] @ wanted / covers[column].sum(axis=1)
            truth *= wanted[places[column]]
        if truth.sum():
            errors.append(abs(estimate.sum() - truth.sum()) / truth.sum())
    return float(np.median(errors))
