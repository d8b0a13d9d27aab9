"""What tests share: engines, and cases read from `fixtures/cases`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import privacy_sql as ps

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "fixtures"


@pytest.fixture
def engine() -> Iterator[Any]:
    """An embedded engine of the test's own."""
    with ps.connect() as made:
        yield made


def cases(family: str) -> list[Any]:
    """Every case of a family as a pytest parameter, its id the criterion and the case's name."""
    found = []
    for path in sorted((FIXTURES / "cases" / family).glob("*.toml")):
        for case in tomllib.loads(path.read_text(encoding="utf-8"))["case"]:
            found.append(pytest.param(path.stem, case, id=f"{path.stem}: {case['name']}"))
    return found
