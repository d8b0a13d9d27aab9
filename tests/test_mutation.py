"""The planted bugs still find their places; `.ci/run nightly` plants them (tests/mutation)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import ROOT
from tests.mutation.__main__ import bugs, places


@pytest.mark.parametrize("bug", bugs(), ids=lambda bug: bug["name"])
def test_a_planted_bug_changes_one_place_and_names_tests_that_exist(bug: dict[str, Any]) -> None:
    assert places(bug) == 1 and bug["old"] != bug["new"]
    assert (ROOT / bug["tests"][0]).is_file()


def test_there_are_thirty_different_bugs() -> None:
    assert len({bug["name"] for bug in bugs()}) >= 30
