"""The experiments of Kifer & Gehrke 2006 on Adult, held to independently computed divergences."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from privacy_sql.counted.base import count
from privacy_sql.papers import Figure, kifer
from tests import engines

DATA = os.environ.get("PRIVACY_SQL_DATA")
pytestmark = pytest.mark.skipif(not DATA, reason="needs the data sets: set PRIVACY_SQL_DATA")
near = pytest.approx


@pytest.fixture(scope="module")
def figures() -> Iterator[dict[str, Figure]]:
    with engines.opened() as engine:
        yield {figure.name: figure for figure in kifer.run(engine, Path(str(DATA)))}


def bars(figure: Figure) -> dict[str, float]:
    place = figure.columns.index("bar")
    return {row[place]: row[place + 1] for row in figure.rows}


def test_fig_7_has_exactly_three_minimal_safe_tables(figures: dict[str, Figure]) -> None:
    expected = {"0": 2.95425, "A": 1.4940, "B": 1.9602, "C": 2.3607, "opt": 0.41412}
    assert bars(figures["fig7"]) == near(expected, abs=5e-5)
    assert "3.23558" in figures["fig7"].note


def test_fig_8_the_best_collection_that_holds_b_is_the_best_of_all(figures: dict[str, Figure]) -> None:
    found = bars(figures["fig8"])
    assert found == near({"A+": 0.4194, "B+": 0.4141, "C+": 0.4813, "opt": 0.41412}, abs=5e-5)
    assert found["B+"] == near(found["opt"], abs=1e-12)


def test_the_best_collection_of_all(figures: dict[str, Figure]) -> None:
    collection = figures["fig7"].rows[-1][-1]
    marginals = {
        "{age1}",
        "{age2,marital_status1}",
        "{race,sex,occupation}",
        "{sex,marital_status,occupation}",
    }
    assert set(collection.split()) == marginals


def test_fig_9_race_helps_most_then_marital_status_sex_and_age(figures: dict[str, Figure]) -> None:
    found = bars(figures["fig9"])
    assert list(found.values()) == near([2.3607, 1.2871, 0.6773, 0.6147, 0.6071], abs=5e-5)
    order = [row[-1].removeprefix("and ") for row in figures["fig9"].rows[1:]]
    assert order == ["race", "marital_status", "sex", "age"]
    assert figures["fig9"].svg()


def test_more_levels_do_better(figures: dict[str, Figure]) -> None:
    (row,) = figures["more_levels"].rows
    assert row[1] == near(0.29942, abs=5e-6)
    marginals = {
        "{age1}",
        "{age2,marital_status1}",
        "{sex,marital_status}",
        "{race,sex,marital_status1,occupation}",
    }
    assert set(row[2].split()) == marginals


def test_eight_columns_do_better_than_the_least_divergences_known(figures: dict[str, Figure]) -> None:
    known = {(6, 3, 6): 3.30151, (25, 3, 6): 4.42192, (6, 3, 3): 3.19065, (10, 4, 4): 3.30569}
    found = {row[:3]: row[3] for row in figures["eight"].rows}
    assert found.keys() == known.keys()
    # a little better: a grouping of countries that cannot be compared would be far off
    assert all(least - 0.02 < found[which] <= least for which, least in known.items())


def test_eight_columns_are_the_cells_and_rows_that_were_searched_elsewhere() -> None:
    with engines.opened() as engine:
        base = count(engine, replace(kifer.eight_columns(Path(str(DATA))), sensitive=None))
    assert (base.rows, base.combinations) == (45_222, 17_326)


def test_only_the_parts_asked_for_are_computed() -> None:
    with engines.opened() as engine:
        names = [figure.name for figure in kifer.run(engine, Path(str(DATA)), ["fig9"])]
    assert names == ["fig9"]


def test_the_page_shows_the_divergences_of_the_experiment(figures: dict[str, Figure]) -> None:
    page = (Path(__file__).parents[2] / "docs/experiments/kifer.md").read_text(encoding="utf-8")
    for name in ("fig7", "fig8", "fig9"):
        for bar, kl in bars(figures[name]).items():
            assert f"| {bar} | {kl:.4f} |" in page
    for k, c, ell, kl, _ in figures["eight"].rows:
        assert f"| {k}-link, ({c}, {ell})-diverse | {kl:.4f} |" in page
