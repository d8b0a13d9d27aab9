"""docs/reliability.md: every promise has its tests, and they exist."""

from __future__ import annotations

import re

import pytest

from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
LINES = re.findall(r"^\| (\d+|[A-K]) \| .+? \| (`.+`) \|$", PAGE, re.MULTILINE)
PROMISES = 40


def test_every_promise_has_a_line() -> None:
    assert [int(number) for number, _ in LINES if number.isdigit()] == list(range(1, PROMISES + 1))


def test_the_faults_that_every_build_plants_are_tests_with_that_mark() -> None:
    page = (ROOT / "docs" / "nightly.md").read_text(encoding="utf-8")
    named = re.findall(r"`(\w[\w/]*\.py)::(\w+)`", page.partition("## Faults that every build plants")[2])
    assert len(named) > 12
    for file, test in named:
        before, defined, _ = (ROOT / "tests" / file).read_text(encoding="utf-8").partition(f"def {test}(")
        own = before.rpartition("\n\n\n")[2]
        assert defined and ("@pytest.mark.fault" in own or "\npytestmark = pytest.mark.fault\n" in before), (
            test
        )


@pytest.mark.parametrize(("number", "tests"), LINES)
def test_the_tests_of_a_promise_exist(number: str, tests: str) -> None:
    for named in re.findall(r"`(.+?)`", tests):
        file, _, test = named.partition("::")
        text = (ROOT / "tests" / file).read_text(encoding="utf-8")
        assert f"def {test or 'test_'}" in text, f"{number}: {named}"
