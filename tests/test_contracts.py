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
from privacy_sql.engines import keys_of
from tests import cases as reading
from tests import engines, parts
from tests.command_line import call
from tests.conftest import ROOT, cases
from tests.parts import first_line
from tests.searches import planted
from tests.seeds import seeds

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


@pytest.mark.parametrize("name", registry.available("searches"))
def test_a_search_finds_what_exhaustive_finds_on_small_spaces(name: str) -> None:
    """The least cost where safety carries to coarser choices; elsewhere nothing unsafe, nothing unproven."""
    search, reference = parts.own_test("searches", name).found, parts.own_test("searches", "exhaustive").found
    for seed in seeds(30):
        for small in (planted.monotone_puzzle, planted.jagged_puzzle):
            puzzle = small(seed)
            found, best = search(puzzle), reference(puzzle)
            assert found.stopped is None and (found.best is None or found.best in puzzle.safe), seed
            if found.optimal or small is planted.monotone_puzzle:
                assert (found.best is None) == (best.best is None), seed
                assert found.best is None or puzzle.cost(found.best) == best.cost[0], seed


@pytest.mark.parametrize("name", registry.available("engines"))
def test_an_engine_takes_what_a_project_may_say_of_a_connection(name: str) -> None:
    part = registry.get("engines", name)
    assert keys_of(name) == part.keys
    # a path is the place itself, from the folder of the project
    assert {*part.keys, "unsafe_debug"} - {"path"} <= set(inspect.signature(part).parameters)


@pytest.mark.parametrize("name", registry.available("engines"))
def test_an_engine_judges_publishes_and_reads_again_as_duckdb_does(name: str, tmp_path: Path) -> None:
    asked = [ps.KAnonymity(3), ps.LDiversity(3)]
    with engines.opened() as embedded:
        known = ps.check(embedded, parts.table(), asked)
    with parts.own_test("engines", name).opened() as engine:
        assert [str(each) for each in ps.check(engine, parts.table(), asked).values()] == [
            str(each) for each in known.values()
        ]
        release = ps.publish(engine, parts.table(), asked, ps.Generalise({"age": 1}))
        ps.verify(ps.write(engine, release, tmp_path / "out.csv"))


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
