"""The experiments of Martin et al. 2007 on Adult, held to independent computations."""

from __future__ import annotations

import csv
import json
import math
import os
from collections import Counter, defaultdict
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import duckdb
import pytest

import privacy_sql as ps
from privacy_sql.counted.base import Base, count
from privacy_sql.errors import PrivacySqlError
from privacy_sql.judge import Requirements
from privacy_sql.papers import Figure, martin, save
from tests import engines
from tests.oracles import worst_case as oracle

DATA = os.environ.get("PRIVACY_SQL_DATA")
needs_data = pytest.mark.skipif(not DATA, reason="needs the data sets: set PRIVACY_SQL_DATA")


@pytest.fixture(scope="module")
def figures() -> dict[str, Figure]:
    with engines.opened() as engine:
        return {figure.name: figure for figure in martin.run(engine, Path(str(DATA)))}


@pytest.fixture(scope="module")
def base() -> Iterator[Base]:
    with engines.opened() as engine:
        yield count(engine, martin.adult(Path(str(DATA))))


@pytest.fixture(scope="module")
def people() -> list[tuple[int, str]]:
    """Age and occupation of the 45,222, read without this package."""
    rows = duckdb.sql(f"from read_csv('{DATA}/adult.csv.gz', all_varchar = true)").fetchall()
    header = duckdb.sql(f"from read_csv('{DATA}/adult.csv.gz', all_varchar = true) limit 0").columns
    whole = [dict(zip(header, row, strict=True)) for row in rows if None not in row]
    return [(int(row["age"]), row["occupation"]) for row in whole]


def twenties(people: list[tuple[int, str]]) -> list[Counter[str]]:
    groups: dict[int, Counter[str]] = defaultdict(Counter)
    for age, occupation in people:
        groups[age // 20][occupation] += 1
    return [groups[key] for key in sorted(groups)]


@needs_data
def test_figure_5_equals_the_recursion_of_the_paper(figures: Any, people: Any) -> None:
    assert len(people) == 45_222
    groups = [list(group.values()) for group in twenties(people)]
    rows = {(row[1], row[0]): Fraction(row[3]) for row in figures["fig5"].rows}
    for k in range(14):
        assert rows["implications", k] == oracle.recursion_of_the_paper(groups, k)
        negations = (
            Fraction(top, sum(group) - sum(others[:k]))
            for group in groups
            for top, *others in [sorted(group, reverse=True)]
        )
        assert rows["negations", k] == min(max(negations), 1)


@needs_data
def test_figure_5_has_the_shape_the_paper_describes(figures: Any) -> None:
    rows = {(row[1], row[0]): row[2] for row in figures["fig5"].rows}
    assert rows["implications", 0] == pytest.approx(648 / 2052)
    assert rows["implications", 13] == 1
    gaps = [rows["implications", k] - rows["negations", k] for k in range(14)]
    assert min(gaps) >= 0 and 0.03 < max(gaps) < 0.1  # never smaller, and not much larger


@needs_data
def test_figure_6_has_the_entropies_and_values_of_the_72_tables(
    figures: Any, base: Base, people: Any
) -> None:
    entropies = {row[1] for row in figures["fig6"].rows}
    lowest = min(
        -sum(n / sum(group.values()) * math.log(n / sum(group.values())) for n in group.values())
        for group in twenties(people)
    )
    assert any(abs(lowest - entropy) < 1e-8 for entropy in entropies)
    assert {row[0] for row in figures["fig6"].rows} == set(martin.FIG_6_FACTS)
    for name in ("fig6", "fig6_negations"):
        for k in martin.FIG_6_FACTS:
            line = [(h, v) for facts, h, v in figures[name].rows if facts == k]
            assert line == sorted(line)
            assert line[0] == (0, 1)
            # least disclosure where the entropy is highest: everything suppressed, one group of all people
            assert line[-1][1] == min(v for _, v in line)
            assert line[-1][0] == pytest.approx(2.3577, abs=1e-4)
    by_key = {row[:2]: row[2] for row in figures["fig6_negations"].rows}
    assert all(by_key[row[:2]] <= row[2] for row in figures["fig6"].rows)


@needs_data
@pytest.mark.parametrize(("c", "k"), [("1/2", 3), ("7/10", 3), ("4/5", 7)])
def test_every_search_finds_the_minimal_choices_of_the_whole_lattice(
    figures: Any, base: Base, c: str, k: int
) -> None:
    rows = figures["minimal"].rows
    expected = {tuple(map(int, row[2].split())) for row in rows if row[:2] == (str(Fraction(c)), k)}
    method, asked = ps.FullDomain(minimise="height"), Requirements((ps.CKSafety(c, k),))
    found = method.search(base, asked, "all").to_json()
    assert found["complete"] and _levels(found) == expected
    assert found["explored"] < found["choices"] == 72
    one = method.search(base, asked, "one").to_json()
    assert _levels(one) and _levels(one) <= expected
    assert one["explored"] <= 16


def _levels(found: dict[str, Any]) -> set[tuple[int, ...]]:
    return {tuple(choice["levels"][name] for name in martin.FIG_5) for choice in found["minimal"]}


@needs_data
@pytest.mark.parametrize(("c", "k"), [("1/2", 0), ("3/5", 5)])
def test_full_domain_publishes_a_minimal_choice(figures: Any, c: str, k: int) -> None:
    expected = {row[2] for row in figures["minimal"].rows if row[:2] == (str(Fraction(c)), k)}
    with engines.opened() as engine:
        method = ps.FullDomain(minimise="height")
        release = ps.publish(engine, martin.adult(Path(str(DATA))), [ps.CKSafety(c, k)], method)
    assert release.safe and release.rows_out == 45_222
    assert " ".join(str(release.levels[name]) for name in martin.FIG_5) in expected


@needs_data
def test_each_grid_point_lists_incomparable_choices(figures: Any) -> None:
    by_point: dict[Any, list[tuple[int, ...]]] = defaultdict(list)
    for c, k, levels, _ in figures["minimal"].rows:
        by_point[c, k].append(tuple(map(int, levels.split())))
    for choices in by_point.values():
        for one in choices:
            assert not any(
                one != other and all(a <= b for a, b in zip(one, other, strict=True)) for other in choices
            )


@needs_data
def test_an_unknown_part_is_refused(engine: Any) -> None:
    with pytest.raises(PrivacySqlError, match="fig6"):
        list(martin.run(engine, Path(str(DATA)), ["fig66"]))


def test_a_figure_is_written_as_numbers_and_as_a_drawing(tmp_path: Path) -> None:
    rows = ((0, "a<b", 0.5), (1, "a<b", 0.75), (0, "c", 0.1))
    figure = Figure("f", "F & G", ("x", "s", "y"), rows, x="x", y="y", series="s")
    table = Figure("t", "T", ("x",), ((1,),))
    assert save([figure, table], tmp_path) == [
        f"{name}.{kind}" for name in "ft" for kind in ("csv", "json", "svg")
    ]
    cells = ElementTree.fromstring((tmp_path / "t.svg").read_text())
    assert [part.text for part in cells.iter() if part.tag.endswith("text")] == ["T", "x", "1"]
    lines = list(csv.reader((tmp_path / "f.csv").read_text().splitlines()))
    assert lines == [["x", "s", "y"], *(list(map(str, row)) for row in rows)]
    assert json.loads((tmp_path / "f.json").read_text())["rows"][0] == {"x": 0, "s": "a<b", "y": 0.5}
    drawing = ElementTree.fromstring((tmp_path / "f.svg").read_text())
    lines = [part for part in drawing.iter() if part.tag.endswith("polyline")]
    assert len(lines) == 2
    assert "a<b" in [part.text for part in drawing.iter() if part.tag.endswith("text")]


@needs_data
def test_the_page_shows_the_numbers_of_the_experiment(figures: Any) -> None:
    page = (Path(__file__).parents[2] / "docs/experiments/martin.md").read_text(encoding="utf-8")
    table = [line.strip("| \n").split(" | ") for line in page.splitlines() if line.startswith("| ")]
    curves = {(row[1], row[0]): row[2] for row in figures["fig5"].rows}
    for k in range(14):
        values = [f"{curves[language, k]:.4f}" for language in ("implications", "negations")]
        assert [str(k), *values] in table
    counts = Counter(row[:2] for row in figures["minimal"].rows)
    for c in ("1/2", "3/5", "7/10", "4/5", "9/10"):
        assert [c, *(str(counts[c, k]) for k in (0, 1, 2, 3, 5, 7, 9))] in table
    assert f"{len({row[1] for row in figures['fig6'].rows})} different lowest entropies" in page
