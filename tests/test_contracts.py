"""The promises every part keeps from its first commit, for every part found by its file name."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import privacy_sql as ps
from privacy_sql import registry
from privacy_sql.criteria import make
from tests import cases as reading
from tests.conftest import ROOT, cases

CRITERIA = registry.available("criteria")


@pytest.mark.parametrize(("name", "case"), cases("criteria"))
def test_a_case_gets_the_verdict_it_says(engine: Any, name: str, case: dict[str, Any]) -> None:
    verdict = _verdict(engine, name, case)
    assert verdict.safe is case["safe"]
    if "value" in case:
        _same(verdict.value, case["value"])


@pytest.mark.parametrize("name", CRITERIA)
def test_a_criterion_has_a_safe_and_an_unsafe_case(name: str) -> None:
    outcomes = {case.values[1]["safe"] for case in cases("criteria") if case.values[0] == name}
    assert outcomes == {True, False}


@pytest.mark.parametrize("name", CRITERIA)
def test_the_docstring_cites_a_paper_of_the_list(name: str) -> None:
    known = re.findall(r"^## (\w+)", (ROOT / "docs" / "papers.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert any(
        re.search(rf"{key}, (Sec|Def|Thm|Fig|Table|Prop)", registry.get("criteria", name).__doc__)
        for key in known
    )


@pytest.mark.parametrize("name", CRITERIA)
def test_a_criterion_has_its_template_and_its_case_file(name: str) -> None:
    assert (ROOT / "sql" / "criteria" / f"{name}.sql").is_file()
    assert (ROOT / "fixtures" / "cases" / "criteria" / f"{name}.toml").is_file()
    assert (Path(__file__).parent / "criteria" / f"test_{name}.py").is_file()


def _verdict(engine: Any, name: str, case: dict[str, Any]) -> ps.Verdict:
    criterion = make(name, case["params"])
    return ps.check(engine, reading.table(case), [criterion])[str(criterion)]


def _same(value: Any, expected: Any) -> None:
    if expected == "none":
        assert value is None
    elif isinstance(value, float):
        assert value == pytest.approx(float(Fraction(str(expected))), abs=1e-9)
    else:
        assert value == Fraction(str(expected))
