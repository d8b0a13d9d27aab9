"""What a run records, a search prices and a report shows of a release is the number of the definition."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.reporting.recording import recorded
from tests.oracles import utility as oracle

AGES = {"1": ["young", "*"], "2": ["young", "*"], "3": ["old", "*"], "4": ["old", "*"]}
SEXES = {"m": ["*"], "f": ["*"]}
KNOWN = (
    "kl",
    "loss",
    "ncp",
    "discernibility",
    "average_group_size",
    "entropy",
    "ambiguity",
    "classification",
)


def people(seed: int) -> list[tuple[str, ...]]:
    draw = random.Random(seed)
    ages = draw.choices("1234", [5, 3, 2, 1], k=draw.randint(12, 40))
    return [(age, draw.choice("mmf"), draw.choice("wxyyz")) for age in ages]


def shown(row: tuple[str, ...], levels: dict[str, int]) -> tuple[str, ...]:
    """The labels of a row at one level per column."""
    kinds = zip(row, (AGES, SEXES), (levels["age"], levels["sex"]), strict=False)
    return tuple(value if not level else tree[value][level - 1] for value, tree, level in kinds)


def by_definition(rows: list[tuple[str, ...]], levels: dict[str, int], k: int) -> dict[str, float]:
    """Every utility of one level per column, groups below k suppressed, from the rows alone."""
    sizes = Counter(shown(row, levels) for row in rows)
    domains = [sorted({row[column] for row in rows}) for column in (0, 1)]
    covered = {
        labels: tuple(
            tuple(sorted({row[column] for row in rows if shown(row, levels)[column] == labels[column]}))
            for column in (0, 1)
        )
        for labels in sizes
    }
    release = [
        covered[labels] if sizes[labels] >= k else None for labels in (shown(row, levels) for row in rows)
    ]
    return {
        "kl": oracle.kl(rows, release, domains, sorted({row[-1] for row in rows})),
        "loss": oracle.loss(release, domains),
        "ncp": oracle.ncp(release, domains),
        "discernibility": oracle.discernibility(release),
        "average_group_size": oracle.average_group_size(release),
        "entropy": oracle.entropy(rows, release, domains),
        "ambiguity": oracle.ambiguity(release, domains),
        "classification": oracle.classification(rows, release),
    }


def agree(found: dict[str, Any], expected: dict[str, float]) -> None:
    told = {name: value for name, value in found.items() if name in expected}
    assert told == {name: pytest.approx(float(expected[name]), abs=1e-9) for name in told}


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("allowed", ["0", "0.4"])
def test_run_search_and_report_tell_the_utilities_of_the_definition(
    engine: Any, seed: int, allowed: str
) -> None:
    rows, k = people(seed), 3
    frame = pd.DataFrame(rows, columns=["age", "sex", "ill"])
    table = ps.Table(frame, {"age": ps.Tree(AGES), "sex": ps.Tree(SEXES)}, "ill")
    best = ps.FullDomain(minimise=random.Random(seed).choice(KNOWN), max_suppressed=allowed)
    searched = ps.search(engine, table, [ps.KAnonymity(k)], best).best
    assert searched is not None
    agree(searched["values"], by_definition(rows, searched["levels"], k))
    assert set(KNOWN) <= set(searched["values"])
    for method in (best, ps.Generalise(searched["levels"], max_suppressed=allowed)):
        release = ps.publish(engine, table, [ps.KAnonymity(k)], method)
        utilities = recorded(release)["usefulness"]["utilities"]
        assert set(utilities) == {"kl", "loss", "discernibility", "average_group_size"}
        agree(utilities, by_definition(rows, dict(release.levels), k))
        # the same bits, not only nearly: one number has one place that computes it
        assert utilities["kl"] == pytest.approx(searched["values"]["kl"], abs=1e-12)


def test_a_divergence_needs_no_sensitive_column(engine: Any) -> None:
    rows = people(1)
    frame = pd.DataFrame([row[:2] for row in rows], columns=["age", "sex"])
    table = ps.Table(frame, {"age": ps.Tree(AGES), "sex": ps.Tree(SEXES)})
    release = ps.publish(engine, table, [ps.KAnonymity(1)], ps.Generalise({"age": 1, "sex": 1}))
    found = ps.search(engine, table, [ps.KAnonymity(1)], ps.FullDomain(minimise="kl")).best
    assert found is not None and found["values"]["kl"] == 0
    alone = [(*row[:2], "") for row in rows]
    expected = by_definition(alone, {"age": 1, "sex": 1}, 1)["kl"]
    assert recorded(release)["usefulness"]["utilities"]["kl"] == pytest.approx(expected)
