"""What a run records, a search prices and a report shows of a release is the number of the definition."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from itertools import product
from math import log
from typing import Any

import numpy as np
import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.reporting.recording import recorded
from tests.oracles import utility as oracle
from tests.seeds import seeds

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


Person = tuple[str | None, ...]


def people(seed: int, unknown: float = 0) -> list[Person]:
    """Random people; a share of their values is unknown."""
    draw = random.Random(seed)
    ages = draw.choices("1234", [5, 3, 2, 1], k=draw.randint(12, 40))
    rows = [(age, draw.choice("mmf"), draw.choice("wxyyz")) for age in ages]
    return [tuple(None if draw.random() < unknown else value for value in row) for row in rows]


def shown(row: Person, levels: dict[str, int]) -> Person:
    """The labels of a row at one level per column: NULL stays apart from them, until everything is `*`."""
    kinds = zip(row, (AGES, SEXES), (levels["age"], levels["sex"]), strict=False)
    return tuple(label(value, tree, level) for value, tree, level in kinds)


def label(value: str | None, tree: dict[str, list[str]], level: int) -> str | None:
    if value is None:
        return "*" if level == len(tree[next(iter(tree))]) else None
    return tree[value][level - 1] if level else value


def in_order(values: Iterable[str | None]) -> list[str | None]:
    return sorted(set(values), key=lambda value: (value is not None, value or ""))


def by_definition(rows: list[Person], levels: dict[str, int], k: int) -> dict[str, float]:
    """Every utility of one level per column, groups below k suppressed, from the rows alone."""
    sizes = Counter(shown(row, levels) for row in rows)
    domains = [in_order(row[column] for row in rows) for column in (0, 1)]
    covered = {
        labels: tuple(
            tuple(in_order(row[column] for row in rows if shown(row, levels)[column] == labels[column]))
            for column in (0, 1)
        )
        for labels in sizes
    }
    release = [
        covered[labels] if sizes[labels] >= k else None for labels in (shown(row, levels) for row in rows)
    ]
    return {
        "kl": oracle.kl(rows, release, domains, in_order(row[-1] for row in rows)),
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


@pytest.mark.parametrize("seed", seeds(6))
@pytest.mark.parametrize("allowed", ["0", "0.4"])
@pytest.mark.parametrize("unknown", [0, 0.2])
def test_run_search_and_report_tell_the_utilities_of_the_definition(
    engine: Any, seed: int, allowed: str, unknown: float
) -> None:
    rows, k = people(seed, unknown), 3
    frame = pd.DataFrame(rows, columns=["age", "sex", "ill"], dtype=object)
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


def table_of(rows: list[Person], **more: Any) -> ps.Table:
    columns = ["age", "sex", "ill", *(["n"] if len(rows[0]) > 3 else [])]
    frame = pd.DataFrame(rows, columns=columns, dtype=object)
    return ps.Table(frame, {"age": ps.Tree(AGES), "sex": ps.Tree(SEXES)}, "ill", **more)


def published(release: ps.Release, view: Any = None) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = release.grouping.base.engine.fetch(view or release.view)
    return found


@pytest.mark.parametrize("by", [["sex"], [], "anatomy"], ids=str)
@pytest.mark.parametrize("layout", ["one_table", "two_tables"])
def test_the_divergence_of_permuted_values_is_that_of_the_groups_that_are_published(
    engine: Any, by: Any, layout: str
) -> None:
    measured = 0
    for seed in seeds(6):
        rows = people(seed, 0.1)
        try:
            release = ps.publish(engine, table_of(rows), [ps.LDiversity(2)], ps.Bucketize(by, layout=layout))
        except ps.PrivacySqlError:
            continue
        if not release.safe or release.suppressed:
            continue
        if layout == "one_table":
            lines = published(release)
            holds = Counter((line[release.group], line["ill"]) for line in lines)
        else:
            first, second = (published(release, view) for view in release.parts.values())
            lines, values = (first, second) if "age" in first[0] else (second, first)
            counted = next(name for name in values[0] if name not in (release.group, "ill"))
            holds = Counter({(line[release.group], line["ill"]): int(line[counted]) for line in values})
        sizes = Counter(line[release.group] for line in lines)
        told: Counter[Any] = Counter()
        for line, (group, value) in product(lines, holds):
            if line[release.group] == group:
                told[line["age"], line["sex"], value] += holds[group, value] / sizes[group]
        really = Counter(rows)
        expected = sum(n * log(n / told[row]) for row, n in really.items()) / len(rows)
        utilities = recorded(release)["usefulness"]["utilities"]
        assert utilities == {"kl": pytest.approx(expected, abs=1e-9)}, seed
        measured += 1
    assert measured


@pytest.mark.parametrize("allowed", ["0", "0.3"])
def test_the_loss_of_a_local_recoding_is_that_of_its_published_cells(engine: Any, allowed: str) -> None:
    for seed in seeds(6):
        rows = people(seed, 0.1)
        method = ps.FullDomain(minimise="loss", local_recoding=True, max_suppressed=allowed)
        release = ps.publish(engine, table_of(rows), [ps.KAnonymity(3)], method)
        domains = [{row[column] for row in rows} for column in (0, 1)]
        lines = published(release)
        lost = float(2 * (len(rows) - len(lines)))
        for line in lines:
            for name, tree, domain in zip(("age", "sex"), (AGES, SEXES), domains, strict=True):
                told = line[name]
                below = {v for v in domain if v == told or (v is not None and told in tree[v])}
                covered = domain if told == "*" else below
                lost += (len(covered) - 1) / (len(domain) - 1)
        assert release.search is not None
        assert release.search["values"]["loss"] == pytest.approx(lost / 2 / len(rows), abs=1e-9), seed


def test_the_divergence_of_marginals_is_that_of_the_table_their_reader_assumes(engine: Any) -> None:
    """Of all tables with the published counts the reader takes the one of maximum entropy; fitted here."""
    for seed in range(2):
        rows = people(seed)
        release = ps.publish(engine, table_of(rows), [ps.KLink(2)], ps.Marginals())
        domains = [sorted({str(row[column]) for row in rows}) for column in range(3)]
        cells = list(product(*domains))
        really = np.array([sum(row == cell for row in rows) for cell in cells]) / len(rows)
        assumed = np.full(len(cells), 1 / len(cells))
        trees = {"age": AGES, "sex": SEXES}
        columns = [
            [
                tuple(label(cell[("age", "sex", "ill").index(name)], trees.get(name, {}), level)
                      for name, level in marginal.items())
                for cell in cells
            ]
            for marginal in release.choice["marginals"]
        ]  # fmt: skip
        for labels in columns * 60:
            for told in set(labels):
                inside = np.array([other == told for other in labels])
                if assumed[inside].sum():
                    assumed[inside] *= really[inside].sum() / assumed[inside].sum()
        there = really > 0
        expected = float((really[there] * np.log(really[there] / assumed[there])).sum())
        searched = ps.search(engine, table_of(rows), [ps.KLink(2)], ps.Marginals()).best
        assert searched is not None and release.search is not None
        assert searched["marginals"] == release.choice["marginals"]
        assert searched["values"]["kl"] == release.search["kl"] == pytest.approx(expected, abs=1e-6), seed
