"""Searches for collections of marginals of several sensitive columns, each judged in turn, by brute force.

The best collection is looked for among all collections there are, and judged from the definitions: the fitted
table, every consistent table, every cell. The other sensitive columns are quasi-identifiers then.
"""

from __future__ import annotations

import itertools
import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.errors import NoSafeChoice, UsageError
from tests import engines
from tests.oracles import marginals as oracle
from tests.seeds import seeds

optimize = pytest.importorskip("scipy.optimize", reason="needs the extra: privacy-sql[exact]")

TOWN = {"a": ["west", "*"], "b": ["west", "*"], "c": ["east", "*"], "d": ["east", "*"]}
SIZES, FINEST, SENSITIVE = (4, 3, 2), (2, 1, 1), (1, 2)
VALUES: tuple[str, ...] = ("abcd", "xyz", "uv")
NAMES = ("town", "ill", "pay")
Cells = dict[tuple[int, ...], int]


def node(a: int, leaf: int, resolution: int) -> int:
    """Number of the node above a leaf: towns in two parts, everything else as it is."""
    if not resolution:
        return 0
    return leaf // 2 if a == 0 and resolution == 1 else leaf


def drawn(seed: int, n: int) -> Cells:
    draw = random.Random(seed)
    rows = []
    for _ in range(n):
        town = draw.randrange(4)
        rows.append((town, draw.choice((0, 1, 2) if town < 2 else (0, 1, 1)), draw.randrange(2)))
    return Counter(rows)


def table_of(cells: Cells) -> ps.Table:
    rows = [tuple(VALUES[a][leaf] for a, leaf in enumerate(cell)) for cell in Counter(cells).elements()]
    frame = pd.DataFrame(rows, columns=list(NAMES))
    return ps.Table(frame, {"town": ps.Tree(TOWN)}, ("ill", "pay"), name="two")


def every_collection() -> Iterator[tuple[tuple[int, ...], ...]]:
    """All decomposable collections in which no marginal lies in another."""
    active = [range(r + 1) for r in FINEST]
    every = [m for m in itertools.product(*active) if any(m)]

    def inside(m: Sequence[int], other: Sequence[int]) -> bool:
        return all(a <= b for a, b in zip(m, other, strict=True))

    def grown(chosen: tuple[tuple[int, ...], ...], start: int) -> Iterator[tuple[tuple[int, ...], ...]]:
        if chosen and oracle.triangulated(chosen) and oracle.graphical(chosen):
            yield chosen
        for place in range(start, len(every)):
            if not any(inside(every[place], m) or inside(m, every[place]) for m in chosen):
                yield from grown((*chosen, every[place]), place + 1)

    yield from grown((), 0)


def fitted(cells: Cells, collection: Sequence[tuple[int, ...]]) -> dict[tuple[int, ...], float]:
    """The maximum-entropy table over the leaves that occur."""
    seen = [{cell[a] for cell in cells} for a in range(3)]
    start = {cell: 1.0 for cell in oracle.leaf_cells(SIZES) if all(v in seen[a] for a, v in enumerate(cell))}
    for _ in range(40):
        for resolutions in collection:
            wanted = oracle.marginal(node, dict(cells), resolutions)
            have = oracle.marginal(node, start, resolutions)
            start = {
                cell: n * wanted.get(oracle.place(node, cell, resolutions), 0) / have[key] if n else 0.0
                for cell, n in start.items()
                for key in [oracle.place(node, cell, resolutions)]
            }
    return start


def without(cell: Sequence[int], a: int) -> tuple[int, ...]:
    return (*cell[:a], 0, *cell[a + 1 :])


def keeps(cells: Cells, collection: Sequence[tuple[int, ...]], require: Sequence[Any]) -> bool:
    """Definitions 4.1 to 4.3, with each sensitive column in turn."""
    whole = fitted(cells, collection)
    for turn, asked in itertools.product(SENSITIVE, require):
        if isinstance(asked, ps.KLink):
            for m in collection:
                counts = oracle.marginal(node, dict(cells), without(m, turn))
                if min(n for n in counts.values() if n) < asked.k:
                    return False
        elif isinstance(asked, ps.KCombinatorial):
            if any(0 < n < asked.k for n in largest_counts(cells, collection, turn)):
                return False
        else:
            groups: dict[tuple[int, ...], list[float]] = {}
            for cell, n in whole.items():
                groups.setdefault(without(cell, turn), []).append(n)
            for values in groups.values():
                counts = sorted((n for n in values if n > 1e-12), reverse=True)
                if not counts:
                    continue
                if asked.kind == "distinct" and len(counts) < asked.l:
                    return False
                if asked.kind == "recursive":
                    tail = sum(counts[asked.l - 1 :])
                    if not tail or counts[0] > float(Fraction(str(asked.c))) * tail * (1 + 1e-9):
                        return False
    return True


def largest_counts(cells: Cells, collection: Sequence[tuple[int, ...]], turn: int) -> Iterator[int]:
    """Per nonsensitive cell the most rows it has in any table of whole counts with the same marginals."""
    every = oracle.leaf_cells(SIZES)
    sums, totals = [], []
    for marginal in collection:
        wanted = oracle.marginal(node, dict(cells), marginal)
        for key in {oracle.place(node, cell, marginal) for cell in every}:
            sums.append([float(oracle.place(node, cell, marginal) == key) for cell in every])
            totals.append(wanted.get(key, 0))
    agrees = optimize.LinearConstraint(np.array(sums), totals, totals)
    for x in {without(cell, turn) for cell in every}:
        counted = np.array([-float(without(cell, turn) == x) for cell in every])
        found = optimize.milp(counted, constraints=agrees, integrality=np.ones(len(every)))
        assert found.success
        yield round(-found.fun)


def divergence(cells: Cells, collection: Sequence[tuple[int, ...]]) -> float:
    whole, n = fitted(cells, collection), sum(cells.values())
    total = sum(whole.values())
    return sum(c / n * log((c / n) / (whole[cell] / total)) for cell, c in cells.items() if c)


def resolutions(levels: dict[str, int]) -> tuple[int, ...]:
    return tuple(finest - levels.get(name, finest) for name, finest in zip(NAMES, FINEST, strict=True))


REQUIRE: list[list[Any]] = [
    [ps.KLink(2), ps.MaxentLDiversity(2, c="2.53")],
    [ps.KLink(3), ps.MaxentLDiversity(2, kind="distinct")],
    [ps.MaxentLDiversity(2, c="1.57")],
    [ps.KLink(2), ps.KCombinatorial(2)],
]


@pytest.mark.parametrize("require", REQUIRE, ids=lambda asked: " ".join(one.name for one in asked))
@pytest.mark.parametrize("seed", seeds(3))
def test_the_collection_found_is_the_best_of_all_that_are_safe_for_every_sensitive_column(
    seed: int, require: list[Any]
) -> None:
    cells = drawn(seed, 30)
    ordered = sorted(every_collection(), key=lambda collection: divergence(cells, collection))
    safe = next((collection for collection in ordered if keeps(cells, collection, require)), None)
    with engines.opened() as engine:
        if safe is None:
            with pytest.raises(NoSafeChoice):
                ps.search(engine, table_of(cells), require, ps.Marginals())
            return
        found = ps.search(engine, table_of(cells), require, ps.Marginals(), goal="best")
    chosen = [resolutions(levels) for levels in found.best["marginals"]]
    assert keeps(cells, chosen, require)
    assert found.search["optimal"]
    least = divergence(cells, safe)
    assert found.best["values"]["kl"] == pytest.approx(least, abs=1e-9)
    assert divergence(cells, chosen) == pytest.approx(least, abs=1e-9)


@pytest.mark.parametrize("seed", seeds(3))
def test_no_more_marginals_hold_any_sensitive_column_than_allowed(seed: int) -> None:
    cells = drawn(seed, 40)
    require = [ps.KLink(2)]
    allowed = [
        c
        for c in every_collection()
        if keeps(cells, c, require) and all(sum(m[a] for m in c) <= 1 for a in SENSITIVE)
    ]
    with engines.opened() as engine:
        found = ps.search(engine, table_of(cells), require, ps.Marginals(max_with_sensitive=1))
    marginals = found.best["marginals"]
    assert all(sum(name in m for m in marginals) <= 1 for name in ("ill", "pay"))
    assert found.best["values"]["kl"] == pytest.approx(min(divergence(cells, c) for c in allowed), abs=1e-9)


@pytest.mark.parametrize("seed", seeds(3))
def test_what_is_published_keeps_the_requirements_as_its_files_say(
    engine: Any, tmp_path: Path, seed: int
) -> None:
    """Read as a stranger would: tables are put together from the files, and judged from the definitions."""
    cells, require = drawn(seed, 60), [ps.KLink(3), ps.MaxentLDiversity(2, c="3.03")]
    release = ps.publish(engine, table_of(cells), require, ps.Marginals())
    manifest = ps.write(engine, release, tmp_path / "two.csv")
    ps.verify(manifest)
    told = json.loads(manifest.read_text())
    assert [v["requirement"] for v in told["verdicts"]] == [
        f"{asked} for {one}" for one in ("ill", "pay") for asked in require
    ]
    chosen = [resolutions(levels) for levels in told["choice"]["marginals"]]
    for number, marginal in enumerate(chosen, start=1):
        written = pd.read_csv(tmp_path / f"two.marginal_{number}.csv", dtype=str)
        wanted = oracle.marginal(node, dict(cells), marginal)
        assert sorted(written["n_rows"].astype(int)) == sorted(n for n in wanted.values() if n)
    assert keeps(cells, chosen, require)


def test_a_table_with_every_sensitive_column_is_injected_into_and_the_recipe_holds_none_of_them(
    engine: Any, tmp_path: Path
) -> None:
    cells, require = drawn(3, 400), [ps.KLink(4), ps.MaxentLDiversity(2, c=5)]
    minimal = ps.search(engine, table_of(cells), require, ps.Marginals()).minimal
    assert minimal and all(table["levels"].get("ill") == 0 == table["levels"].get("pay") for table in minimal)
    for table in minimal:
        assert keeps(cells, [resolutions(dict(table["levels"]))], require)
    release = ps.publish(engine, table_of(cells), require, ps.Marginals(inject={"town": 1}))
    assert any({"ill", "pay", "town"} <= set(m) for m in release.choice["marginals"]) and release.safe
    recipe = ps.publish(engine, table_of(cells), require, ps.Marginals(inject={"town": 2}, recipe=True))
    held = [m for m in recipe.choice["marginals"] if not {"ill", "pay"} & set(m)]
    assert recipe.safe and [set(m) for m in held] == [{"town"}]
    # the same from a release that was written
    table = ps.publish(engine, table_of(cells), [ps.KAnonymity(4)], ps.Generalise({"town": 1}))
    place = ps.write(engine, table, tmp_path / "table.csv")
    again = ps.publish(engine, table_of(cells), require, ps.Marginals(inject=str(place)))
    assert again.choice == release.choice


def test_columns_that_are_read_as_one_are_refused(engine: Any) -> None:
    joint = replace(table_of(drawn(1, 30)), joint=True)
    for method in (ps.Marginals(), ps.Marginals(collection=[{"town": 1}])):
        with pytest.raises(UsageError, match="cannot judge sensitive columns jointly"):
            ps.publish(engine, joint, [ps.KLink(2)], method)
