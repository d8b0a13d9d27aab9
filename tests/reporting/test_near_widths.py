"""The curve of near values over widths: every point is the definition's, in records and on pages."""

from __future__ import annotations

import json
import random
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.reporting import near_widths, recording
from privacy_sql.reporting.audience import masked
from tests import engines
from tests.command_line import call
from tests.oracles import near_values as oracle
from tests.seeds import seeds

ILLS = {"a": ["x", "*"], "b": ["x", "*"], "c": ["y", "*"]}
MATRIX = {"a": {"a": 0, "b": 1, "c": 3}, "b": {"a": 1, "b": 0, "c": 2}, "c": {"a": 3, "b": 2, "c": 0}}
KINDS: dict[str, tuple[ps.IntervalDisclosure, list[Any], dict[str, Any], Any, list[str]]] = {
    "a domain": (
        ps.IntervalDisclosure("3", "0.9"),
        [None, 0, 1, 2, 5, 10, 39, 40],
        {"domains": {"s": (0, 40)}},
        None,
        ["0", "2/5", "4/5", "2", "3", "4"],
    ),
    "no domain": (
        ps.IntervalDisclosure("2", "0.9"),
        [0, 1, 2, 5, 9],
        {},
        None,
        ["0", "1/2", "1", "2", "4", "8"],
    ),
    "relative": (
        ps.IntervalDisclosure("0.5", "0.9", "relative"),
        [-4, 0, 8, 10, 12, 20],
        {},
        None,
        ["0", "1/8", "1/4", "1/2", "1", "2"],
    ),
    "matrix": (
        ps.IntervalDisclosure("1", "0.9", "matrix"),
        list("abc"),
        {"distances": {"s": MATRIX}},
        MATRIX,
        ["0", "1/4", "1/2", "1", "2", "4"],
    ),
    "hierarchical": (
        ps.IntervalDisclosure("0.7", "0.9", "hierarchical"),
        [None, *"abc"],
        {"sensitive_hierarchy": ps.Tree(ILLS)},
        ILLS,
        ["0", "1/2", "7/10", "1"],
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_point_is_the_worst_share_of_the_definition(kind: str) -> None:
    asked, values, more, apart, widths = KINDS[kind]
    for seed in seeds(3):
        draw = random.Random(f"{kind} {seed}")
        rows = [(draw.choice("xyz"), draw.choice(values)) for _ in range(30)]
        frame = pd.DataFrame(rows, columns=["g", "s"], dtype=object)
        if isinstance(values[-1], int):
            frame = frame.astype({"s": "Int64"})
        with engines.opened() as engine:
            table = ps.Table(frame, ["g"], "s", **more)
            release = ps.publish(engine, table, [ps.KAnonymity(2), asked], ps.Generalise())
            (curve,) = near_widths.of_release(release)
            assert recording.recorded(release)["near_widths"] == [curve]
        assert [width for width, _ in curve["points"]] == widths
        told = [(g, None if value is None else str(value)) for g, value in rows]
        for width, value in curve["points"]:
            expected = oracle.interval_disclosure(
                told, Fraction(width), Fraction("0.9"), asked.distance, apart
            )
            assert Fraction(value) == expected.value, (width, seed)
        # the point at the required width is what was judged
        judged = release.verdicts[str(asked)]
        assert dict(curve["points"])[curve["width"]] == str(judged.value)


def test_what_follows_from_more_than_the_published_rows_is_in_no_public_record() -> None:
    curve = {
        "requirement": "r",
        "distance": "absolute",
        "width": "1",
        "share": "1/2",
        "points": [["0", "1/3"]],
    }
    run = {"safe": True, "near_widths": [{**curve, "by_rows": True}]}
    assert masked({"run": run})["run"]["near_widths"] == [curve]
    run = {"safe": True, "near_widths": [{**curve, "by_rows": True}, {**curve, "by_rows": False}]}
    assert set(masked({"run": run})["run"]["near_widths"]) == {"missing"}


@pytest.mark.parametrize("audience", ["internal", "public"])
def test_the_report_draws_the_curve_and_tells_it_as_a_table(tmp_path: Path, audience: str) -> None:
    incomes = [(zip_, 100 * n + 7 * (zip_ == "b")) for zip_ in "ab" for n in range(10)]
    (tmp_path / "people.csv").write_text(
        "\n".join(["id,zip,income", *(f"{n},{zip_},{pay}" for n, (zip_, pay) in enumerate(incomes))]) + "\n"
    )
    release = {
        "source": {"file": "people.csv"},
        "identifier": {"column": "id"},
        "quasi_identifiers": [{"column": "zip"}],
        "sensitive": {"column": "income"},
        "require": {"interval_disclosure": {"width": "200", "share": "0.5"}},
        "method": {"generalise": {}},
        "output": {"target": "out/people.csv"},
    }
    project = {"version": "1", "name": "pay", "releases": {"people": release}}
    (tmp_path / "privacy.yml").write_text(json.dumps(project))
    ran = call("run", "--project", tmp_path)
    assert ran.exit == 0, ran.everything
    made = call("report", "--project", tmp_path, "--audience", audience, "-o", tmp_path / "pages")
    assert made.exit == 0, made.everything
    page = (tmp_path / "pages" / "people.html").read_text(encoding="utf-8")
    (figure,) = [part for part in page.split("<figure>") if 'data-chart="near"' in part]
    # ten incomes a hundred apart: a width of w holds 1 + w / 100 of ten
    cells = re.findall(r"<tr><td>(\d+)</td><td[^>]*>([^<]*)</td><td[^>]*>([^<]*)</td></tr>", figure)
    assert cells == [
        ("0", "10 %", "1/10"),
        ("50", "10 %", "1/10"),
        ("100", "20 %", "1/5"),
        ("200", "30 %", "3/10"),
        ("400", "50 %", "1/2"),
        ("800", "90 %", "9/10"),
    ]
    assert "30 % have near values at the required width of 200, and 90 % at 800" in figure
    assert "<svg" in figure and "The <strong>width</strong>" in page
