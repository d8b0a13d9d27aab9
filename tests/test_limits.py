"""docs/limits.md names constants that exist, with the numbers they have."""

from __future__ import annotations

import re

import pytest

from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "limits.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| .*? \| (.*?) \| .*? \| `([\w/]+)\.(\w+)` \|$", PAGE, re.MULTILINE)


@pytest.mark.parametrize(("limit", "module", "constant"), ROWS)
def test_a_limit_of_the_page_is_the_number_in_the_code(limit: str, module: str, constant: str) -> None:
    text = (ROOT / "privacy_sql" / f"{module}.py").read_text(encoding="utf-8")
    found = re.search(rf"^\s*{constant}(?:: \w+)? = ([0-9_.e*-]+)", text, re.MULTILINE)
    assert found, constant
    base, _, power = found[1].replace("_", "").partition("**")
    value = float(base) ** (float(power) if power else 1)
    said = re.match(r"[0-9e,^-]+", limit)
    assert said
    mantissa, _, exponent = said[0].replace(",", "").partition("^")
    assert float(mantissa) ** (float(exponent) if exponent else 1) == value
