"""The promises every part keeps from its first commit, for every part found by its file name."""

from __future__ import annotations

import inspect
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import privacy_sql as ps
from privacy_sql import registry
from privacy_sql.cli.verbs.attack import kinds_of_attack
from privacy_sql.criteria import make
from tests import cases as reading
from tests.command_line import call
from tests.conftest import ROOT, cases
from tests.parts import first_line

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
    assert cited(registry.get("criteria", name).__doc__)


def cited(text: str) -> bool:
    """Whether a text names a place in a paper of the list."""
    known = re.findall(r"^## (\w+)", (ROOT / "docs" / "papers.md").read_text(encoding="utf-8"), re.MULTILINE)
    return any(re.search(rf"{key}, (Sec|Def|Thm|Fig|Table|Prop)", text) for key in known)


@pytest.mark.parametrize("name", CRITERIA)
def test_a_criterion_has_its_template_and_its_case_file(name: str) -> None:
    assert (ROOT / "sql" / "criteria" / f"{name}.sql").is_file()
    assert (ROOT / "fixtures" / "cases" / "criteria" / f"{name}.toml").is_file()
    assert (Path(__file__).parent / "criteria" / f"test_{name}.py").is_file()


@pytest.mark.parametrize("name", registry.studies())
def test_a_study_is_public_under_the_name_of_its_file_and_is_about_a_table_or_a_release(name: str) -> None:
    study = getattr(ps, name)
    assert study.__module__ == f"privacy_sql.studies.{name}" and name in dir(ps)
    assert first_line(study)
    assert next(iter(inspect.signature(study).parameters)) in ("engine", "release")


@pytest.mark.parametrize("name", kinds_of_attack())
def test_an_attack_shows_how_it_is_called(name: str) -> None:
    told = call("attack", name, "--help")
    assert told.exit == 0 and f"Example: privacy-sql attack {name}" in told.out


@pytest.mark.parametrize("name", registry.available("searches"))
def test_a_search_says_what_it_is(name: str) -> None:
    assert first_line(registry.load("searches", name))


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
