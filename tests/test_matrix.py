"""Every method meets every criterion: the pair publishes and survives its audit, or is refused by name.

docs/matrix.md lists the refused pairs, found by `python -m tests.parts`; a pair that starts to work, or that
stops, is told here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import privacy_sql as ps
from privacy_sql import registry
from privacy_sql.errors import UsageError
from tests import parts


def refused() -> set[tuple[str, str]]:
    """The pairs of docs/matrix.md."""
    return {(method, asked) for method, (several, _) in parts.written_down().items() for asked in several}


def test_every_refused_pair_says_why() -> None:
    told = {method: why for method, (_, why) in parts.written_down().items()}
    assert told == {method: parts.because(method) for method in told} and all(told.values())


def test_the_pages_and_tables_that_are_made_of_the_parts_are_current() -> None:
    for place, text in parts.pages().items():
        assert place.read_text(encoding="utf-8") == text, f"{place.name}: python -m tests.parts"


@pytest.mark.parametrize("criterion", registry.available("criteria"))
@pytest.mark.parametrize("method", registry.available("methods"))
def test_a_pair_publishes_and_survives_its_audit_or_is_refused_by_name(
    engine: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str, criterion: str
) -> None:
    monkeypatch.chdir(tmp_path)
    asked = parts.criterion(criterion)
    try:
        release = ps.publish(engine, parts.table(), [asked], parts.method(method))
    except UsageError as problem:
        assert (method, criterion) in refused(), problem
        text = str(problem)
        assert criterion in text or method in text, "the refusal names neither the method nor the criterion"
        return
    assert (method, criterion) not in refused(), "works now: python -m tests.parts"
    assert release.safe, release.verdicts
    ps.verify(ps.write(engine, release, tmp_path / "out.csv"))
