"""Bounds of levels, weights of columns and cells: against every choice between the bounds, one by one."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql import registry
from privacy_sql.project import reading
from tests import engines
from tests.seeds import seeds

TREES = {
    "a": {"p": ["x", "X", "*"], "q": ["x", "X", "*"], "r": ["y", "X", "*"], "never": ["y", "X", "*"]},
    "b": {"1": ["low", "*"], "2": ["low", "*"], "3": ["high", "*"], "4": ["high", "*"]},
}


def _rows(chance: random.Random) -> list[tuple[str | None, str | None, str]]:
    return [
        (chance.choice(["p", "q", "r", None]), chance.choice(["1", "2", "3", None]), chance.choice("fg"))
        for _ in range(chance.randint(4, 14))
    ]


def _label(column: str, value: str | None, level: int) -> str | None:
    path = TREES[column].get(value or "", [None] * (len(TREES[column]["p" if column == "a" else "1"])))
    return "*" if level == len(path) else value if level == 0 else path[level - 1]


def _loss(column: str, level: int, rows: list[Any], place: int) -> Fraction:
    """Iyengar's loss of one column, over the leaves of its tree and the missing value where it occurs."""
    values = [*TREES[column], *([None] if any(row[place] is None for row in rows) else [])]
    below = {
        label: sum(_label(column, value, level) == label for value in values)
        for label in {_label(column, row[place], level) for row in rows}
    }
    lost = [Fraction(below[_label(column, row[place], level)] - 1, len(values) - 1) for row in rows]
    return sum(lost, Fraction(0)) / len(rows)


def _k(rows: list[Any], choice: tuple[int, int]) -> int:
    keys = [(_label("a", a, choice[0]), _label("b", b, choice[1])) for a, b, _ in rows]
    return min(map(keys.count, keys))


@pytest.mark.parametrize("seed", seeds(12))
@pytest.mark.parametrize("in_memory", [True, False])
def test_minimal_and_best_are_those_of_all_choices_between_the_bounds(
    seed: int, in_memory: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not in_memory:
        monkeypatch.setattr("privacy_sql.lattice.search.fits", lambda base, require: False)
    chance = random.Random(seed)
    rows = _rows(chance)
    low = [chance.randint(0, 2), chance.randint(0, 1)]
    high = [chance.randint(low[0], 3), chance.randint(low[1], 2)]
    weights = [Fraction(chance.choice(["1", "0.5", "3"])) for _ in range(2)]
    k = chance.randint(2, 4)
    choices = list(itertools.product(range(low[0], high[0] + 1), range(low[1], high[1] + 1)))
    safe = [choice for choice in choices if _k(rows, choice) >= k]
    minimal = [c for c in safe if not any(o != c and o[0] <= c[0] and o[1] <= c[1] for o in safe)]
    costs = {
        c: sum(weights[n] * _loss("ab"[n], c[n], rows, n) for n in range(2)) / sum(weights) for c in safe
    }
    method = ps.FullDomain(
        bounds={c: {"min_level": low[n], "max_level": high[n]} for n, c in enumerate("ab")},
        importance={c: str(weights[n]) for n, c in enumerate("ab")},
    )
    frame = pd.DataFrame(rows, columns=["a", "b", "s"], dtype=object)
    trees = {column: ps.Tree(tree) for column, tree in TREES.items()}
    table = ps.Table(frame, trees, "s", domains={column: list(tree) for column, tree in TREES.items()})
    with engines.opened() as engine:
        if not safe:
            with pytest.raises(ps.PrivacySqlError, match="within the bounds") as refused:
                ps.search(engine, table, [ps.KAnonymity(k)], method)
            assert refused.value.exit == 5
            free = any(_k(rows, c) >= k for c in itertools.product(range(4), range(3)))
            assert f"without any bound: {'yes' if free else 'no'}" in refused.value.hint
            return
        found: Any = ps.search(engine, table, [ps.KAnonymity(k)], method)
    levels = [(each["levels"]["a"], each["levels"]["b"]) for each in found.minimal]
    assert sorted(levels) == sorted(minimal)
    assert found.found.choices == len(choices)
    assert found.found.safe_choices == len(safe)
    best = (found.best["levels"]["a"], found.best["levels"]["b"])
    assert costs[best] == min(costs.values())
    assert found.best["values"]["loss"] == pytest.approx(float(min(costs.values())))


def _part(minimise: str, rows: list[Any], choice: tuple[int, ...], gone: list[bool], place: int) -> Fraction:
    """What one column costs by the definition of a utility; a suppressed row costs as much as a cell can."""
    column, level = "ab"[place], choice[place]
    height = len(next(iter(TREES[column].values())))
    if minimise == "height":
        return Fraction(level)
    values = [*TREES[column], *([None] if any(row[place] is None for row in rows) else [])]
    total = Fraction(0)
    for row, left_out in zip(rows, gone, strict=True):
        label = _label(column, row[place], level)
        n = sum(_label(column, value, level) == label for value in values)
        total += (
            {
                "loss": Fraction(n - 1, len(values) - 1),
                "ncp": Fraction(n, len(values)) if n > 1 else Fraction(0),
                "precision": Fraction(level, height),
            }[minimise]
            if not left_out
            else 1
        )
    return total / len(rows)


@pytest.mark.widens(4)
@pytest.mark.parametrize("seed", seeds(6))
@pytest.mark.parametrize("minimise", ["loss", "ncp", "precision", "height"])
@pytest.mark.parametrize("in_memory", [True, False])
def test_the_weighted_mean_over_columns_is_least_where_it_is_said_to_be(
    seed: int, minimise: str, in_memory: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Missing labels, repeated rows and rows left out; what a search finds best is what is published."""
    if not in_memory:
        monkeypatch.setattr("privacy_sql.lattice.search.fits", lambda base, require: False)
    chance = random.Random(f"{seed} {minimise}")
    rows = _rows(chance)
    rows += rows[: chance.randint(0, 3)]
    weights = [Fraction(chance.choice(["1", "0.5", "3", "0.001", "1e2"])) for _ in range(2)]
    k, most = chance.randint(2, 4), Fraction(chance.choice(["0", "1/4"]))
    costs = {}
    for choice in itertools.product(range(4), range(3)):
        keys = [(_label("a", a, choice[0]), _label("b", b, choice[1])) for a, b, _ in rows]
        gone = [keys.count(key) < k for key in keys]
        if sum(gone) <= most * len(rows) and not all(gone):
            parts = [weights[n] * _part(minimise, rows, choice, gone, n) for n in range(2)]
            costs[choice] = sum(parts, Fraction(0)) / sum(weights)
    importance = {c: str(weights[n]) for n, c in enumerate("ab")}
    method = ps.FullDomain(minimise=minimise, importance=importance, max_suppressed=str(most))
    frame = pd.DataFrame(rows, columns=["a", "b", "s"], dtype=object)
    trees = {column: ps.Tree(tree) for column, tree in TREES.items()}
    table = ps.Table(frame, trees, "s", domains={column: list(tree) for column, tree in TREES.items()})
    with engines.opened() as engine:
        if not costs:
            with pytest.raises(ps.PrivacySqlError):
                ps.search(engine, table, [ps.KAnonymity(k)], method)
            return
        found: Any = ps.search(engine, table, [ps.KAnonymity(k)], method)
        release: Any = ps.publish(engine, table, [ps.KAnonymity(k)], method)
    for levels in (found.best["levels"], release.choice["levels"]):
        assert costs[levels["a"], levels["b"]] == min(costs.values())
    shown = 1 - min(costs.values()) if minimise == "precision" else min(costs.values())
    assert found.best["values"][minimise] == pytest.approx(float(shown))


@pytest.mark.parametrize("minimise", registry.available("utilities"))
def test_importance_is_refused_where_a_utility_is_no_sum_over_columns(minimise: str) -> None:
    if minimise in ("loss", "ncp", "precision", "height", "entropy"):
        assert ps.FullDomain(minimise=minimise, importance={"age": 2}).steering.importance
        return
    with pytest.raises(ps.PrivacySqlError, match="not a sum over columns") as refused:
        ps.FullDomain(minimise=minimise, importance={"age": 2})
    assert refused.value.exit == 2


def test_cells_show_their_lowest_level_or_nothing_and_no_round_goes_below_it(tmp_path: Path) -> None:
    chance = random.Random(5)
    frame = pd.DataFrame(
        {
            "age": [str(chance.randint(20, 60)) for _ in range(300)],
            "zip": [str(chance.randint(100, 130)) for _ in range(300)],
            "s": [chance.choice("fgh") for _ in range(300)],
        }
    )
    table = ps.Table(frame, {"age": ps.Intervals(10), "zip": ps.Mask(2, 1)}, "s")
    method = ps.FullDomain(
        suppress="cells", bounds={"age": {"min_level": 1}}, importance={"age": 3}, max_suppressed="0.05"
    )
    with engines.opened() as engine:
        release = ps.publish(engine, table, [ps.KAnonymity(4)], method)
        assert release.safe
        ps.write(engine, release, tmp_path / "out.csv")
        best: Any = ps.search(engine, table, [ps.KAnonymity(4)], ps.FullDomain(max_suppressed="0.05"))
    out = pd.read_csv(tmp_path / "out.csv", dtype=str)
    assert out.groupby(["age", "zip"]).size().min() >= 4
    bands = {ps.Intervals(10).label(age, 1) for age in frame["age"]}
    assert set(out["age"]) <= {*bands, "*"}
    assert set(out["zip"]) <= {*frame["zip"], "*"}
    assert 0 < (out == "*").to_numpy().sum() < 2 * len(out)
    assert release.search is not None
    assert release.search["bounds"] == {"age": {"min_level": 1}}
    assert release.search["suppress"] == "cells"
    assert best.best is not None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"bounds": {"age": {"min_level": 2, "max_level": 1}}}, "above its max_level"),
        ({"bounds": {"age": {"min_level": "one"}}}, "whole numbers"),
        ({"bounds": {"age": {"level": 1}}}, "min_level and max_level"),
        ({"importance": {"age": 0}}, "above 0"),
        ({"importance": {"age": "nan"}}, "above 0"),
        ({"importance": {"age": 2}, "minimise": "discernibility"}, "not a sum over columns"),
        ({"suppress": "values"}, "rows"),
    ],
)
def test_what_cannot_be_meant_is_refused_at_once(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ps.PrivacySqlError, match=message):
        ps.FullDomain(**given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"bounds": {"agee": {"min_level": 1}}}, 'Did you mean "age"'),
        ({"bounds": {"age": {"max_level": 9}}}, "0 to 2"),
    ],
)
def test_a_column_or_level_that_is_not_there_is_named(given: dict[str, Any], message: str) -> None:
    table = ps.Table(pd.DataFrame({"age": ["1", "2"], "s": ["x", "y"]}), {"age": ps.Intervals(5)}, "s")
    with engines.opened() as engine, pytest.raises(ps.PrivacySqlError, match=message):
        ps.search(engine, table, [ps.KAnonymity(2)], ps.FullDomain(**given))


PROJECT = """
version: 1
releases:
  people:
    source: {file: people.csv}
    quasi_identifiers:
      - {column: age, hierarchy: {intervals: [5, 10]}, min_level: 1, max_level: 2, importance: 2.5}
      - {column: zip, hierarchy: {mask: [2, 1]}, METHODLESS}
    sensitive: illness
    require: {k_anonymity: {k: 2}}
    method: METHOD
"""


def _project(folder: Path, method: str, zip_says: str = "max_level: 1") -> reading.Project:
    (folder / "people.csv").write_text("age,zip,illness\n31,11,flu\n32,11,cold\n33,12,flu\n34,12,cold\n")
    text = PROJECT.replace("METHODLESS", zip_says).replace("METHOD", method)
    (folder / "privacy.yml").write_text(text)
    return reading.read(folder)


def test_a_project_says_bounds_and_importance_beside_its_columns(tmp_path: Path) -> None:
    method: Any = _project(tmp_path, "{full_domain: {max_suppressed: 0.1}}").plans["people"].method
    assert method.bounds == {"age": {"min_level": 1, "max_level": 2}, "zip": {"max_level": 1}}
    assert method.importance == {"age": "2.5"}
    with engines.opened() as engine:
        plan = reading.read(tmp_path).plans["people"]
        found: Any = ps.search(engine, plan.table, plan.require, method)
    assert found.best["levels"] == {"age": 1, "zip": 0}
    told = "age no finer than bands of 5 and no coarser than bands of 10, zip no coarser than"
    assert told in str(found)


@pytest.mark.parametrize(
    ("method", "zip_says", "message"),
    [
        ("{multidimensional: {}}", "max_level: 1", "chooses no levels"),
        ("{generalise: {levels: {age: 3}}}", "max_level: 1", "max_level is 2"),
        ("full_domain", "max_level: 7", "go from 0 to 3"),
        ("full_domain", "min_level: 2, max_level: 1", "above its max_level"),
        ("full_domain", "importance: -1", "above 0"),
    ],
)
def test_a_project_that_cannot_be_held_is_refused(
    tmp_path: Path, method: str, zip_says: str, message: str
) -> None:
    with pytest.raises(ps.PrivacySqlError) as refused:
        _project(tmp_path, method, zip_says)
    assert message in str(refused.value)
