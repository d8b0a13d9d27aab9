"""Facts about the 30,162 people of Adult that any correct full-domain search finds."""

import os
from fractions import Fraction
from pathlib import Path

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.counted.base import count
from privacy_sql.judge import Requirements
from privacy_sql.lattice.search import LatticeSearch
from privacy_sql.methods._recoding import Recoding
from privacy_sql.searches import Limits
from tests import engines

COLUMNS = ["sex", "age", "race", "marital_status", "education", "native_country", "workclass"]


@pytest.fixture(scope="module")
def base():
    """The counted base: rows without NULL of the training part, hierarchies of the data's own folder."""
    folder = os.environ.get("PRIVACY_SQL_DATA")
    if not folder:
        pytest.skip("needs the data sets: set PRIVACY_SQL_DATA")
    rows = pd.read_csv(Path(folder) / "adult.csv.gz", dtype=str, keep_default_na=False, na_values=[""])
    rows = rows.dropna()
    rows = rows[rows["part"] == "train"][[*COLUMNS, "occupation"]]
    files = {name: f"adult_hierarchy_{name.replace('_', '-')}.csv" for name in COLUMNS}
    trees = {n: ps.Tree.from_file(Path(folder) / "hierarchies" / "arx" / f, n) for n, f in files.items()}
    with engines.opened() as engine:
        counted = count(engine, ps.Table(rows, trees, "occupation"))
        counted.__dict__["married"] = rows["marital_status"]
        yield counted


def run(base, require, minimise="loss", share=0, goal="all"):
    search = LatticeSearch(base, tuple(require), minimise, Fraction(share))
    return search, search.run(goal)


def test_the_lattice_has_2160_choices(base):
    search, _ = run(base, [ps.KAnonymity(5)], goal="one")
    assert search.lattice.size == 2160
    assert search.lattice.heights == (1, 4, 1, 2, 3, 2, 2)


@pytest.mark.parametrize(
    ("require", "safe", "minimal"),
    [
        ([ps.KAnonymity(5)], 44, 13),
        ([ps.KAnonymity(5), ps.LDiversity(4)], 39, 12),
        ([ps.KAnonymity(5), ps.LDiversity(4, kind="recursive", c=3)], 31, 11),
    ],
    ids=str,
)
def test_the_safe_and_minimal_choices_are_as_many_as_published(base, require, safe, minimal):
    _, found = run(base, require)
    assert (found.safe_choices, len(found.minimal), found.complete) == (safe, minimal, True)


@pytest.mark.parametrize(
    ("minimise", "best", "cost"),
    [
        ("loss", (0, 4, 0, 1, 3, 2, 2), None),
        ("height", (0, 4, 1, 1, 1, 2, 2), 11),
        ("average_group_size", (0, 4, 1, 2, 0, 2, 2), 942.5625),
        ("discernibility", (1, 1, 1, 1, 3, 2, 2), 55_170_356),
    ],
)
def test_the_optimum_at_k_5_depends_on_the_utility(base, minimise, best, cost):
    for goal in ("all", "best"):
        _, found = run(base, [ps.KAnonymity(5)], minimise, goal=goal)
        assert found.best == best and found.optimal
        assert cost is None or found.cost[0] == cost


def test_one_choice_needs_c_of_exactly_3(base):
    choice = (0, 4, 1, 1, 3, 1, 2)
    for c, strict, safe in [("3", True, False), ("3", False, True), ("3.0000001", True, True)]:
        criterion = ps.LDiversity(4, kind="recursive", c=c, strict=strict)
        search = LatticeSearch(base, (ps.KAnonymity(5), criterion))
        assert search.decide([choice])[0].safe is safe
        assert search.verdicts[choice][str(criterion)].value == 3


@pytest.mark.parametrize(
    ("share", "best", "suppressed"),
    [
        ("1/100", (0, 3, 0, 1, 3, 1, 1), 273),
        ("5/100", (0, 3, 0, 0, 1, 1, 1), 1458),
        ("10/100", (0, 3, 0, 0, 1, 1, 0), 2265),
    ],
)
def test_suppression_moves_the_optimum_down(base, share, best, suppressed):
    search, found = run(base, [ps.KAnonymity(5)], share=share, goal="best")
    assert found.best == best and found.optimal
    assert search.shown(best).n_suppressed == suppressed


def test_few_answers_are_enough(base):
    _, all_minimal = run(base, [ps.KAnonymity(5)])
    _, one = run(base, [ps.KAnonymity(5)], goal="one")
    assert all_minimal.explored <= 80
    assert one.explored <= 20 and one.best in all_minimal.minimal


def test_local_recoding_lifts_granularity_to_nine_tenths_and_loses_nobody(base):
    _, plain = run(base, [ps.KAnonymity(5)], goal="best")
    recoding = Recoding(base, Requirements((ps.KAnonymity(5),)), "loss", Fraction(0), Limits())
    recoding.run()
    # of the seven columns sex and race stay as they are, and marital status keeps one of two labels, over two
    # and five of its seven values; the other four are gone
    married = {"Married-civ-spouse", "Married-AF-spouse"}
    present = base.married.isin(married).mean()
    assert 1 - plain.cost[0] == pytest.approx(
        (1 + 1 + present * (1 - 1 / 6) + (1 - present) * (1 - 4 / 6)) / 7
    )
    assert recoding.values()["granularity"] == pytest.approx(0.90, abs=0.015)
    assert recoding.n_published == 30_162
