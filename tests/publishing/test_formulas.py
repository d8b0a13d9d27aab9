"""Cells that a spreadsheet would run: text that begins as a formula does and is no number."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql import api
from tests.command_line import call
from tests.seeds import seeds

NUMBER = re.compile(r" *[+-]?(\d+([.]\d*)?|[.]\d+)([eE][+-]?\d{1,2})? *")
CELLS = [
    "=1+1",
    "-5",
    "+3.5",
    "@x",
    "\tq",
    "x-",
    "-5--1",
    "1",
    "",
    "'=x",
    "-1e3",
    "+",
    "- 2",
    "a\n=b",
    "''-7",
]


def formula(cell: str) -> bool:
    """By the definition, letter by letter."""
    return cell[:1] in tuple("=+-@\t") and cell != "" and not NUMBER.fullmatch(cell)


@pytest.mark.parametrize("seed", seeds(3))
def test_every_cell_that_may_be_taken_for_a_formula_is_counted(engine: Any, seed: int) -> None:
    draw = random.Random(seed)
    columns = {name: draw.choices(CELLS, k=20) for name in ("town", "ill")}
    frame = pd.DataFrame({**columns, "age": range(-10, 10)})
    release = ps.publish(engine, ps.Table(frame, ["town", "age"], "ill"), [ps.LDiversity(1)], ps.Generalise())
    told = api.formulas(release)
    counts = {name: sum(map(formula, cells)) for name, cells in columns.items()}
    assert {line.partition(":")[0]: int(re.findall(r": (\d+) cell", line)[0]) for line in told} == {
        name: n for name, n in counts.items() if n
    }


def test_a_run_warns_of_formulas_in_a_csv(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age,ill\n1,=cmd()\n1,flu\n")
    for target, warned in (("out/people.csv", True), ("out/people.parquet", False)):
        (tmp_path / "privacy.yml").write_text(
            "version: 1\nreleases:\n  people:\n    source: {file: people.csv}\n    quasi_identifiers: [age]\n"
            "    sensitive: ill\n    require: {k_anonymity: {k: 2}}\n    method: {generalise: {}}\n"
            f"    output: {{target: {target}}}\n"
        )
        told = call("run", "--json", "--project", tmp_path)
        assert told.exit == 0, told.everything
        (release,) = told.json["releases"]
        assert any("take them for formulas" in line for line in release["warnings"]) == warned
