"""Generalising to levels somebody chose: these levels and no others, and nobody left out who need not be."""

from __future__ import annotations

from typing import Any

import privacy_sql as ps
from tests.parts import table

# how it publishes the forty-eight people of tests/parts.py
EXAMPLE = {"levels": {"age": 1}}


def test_a_column_whose_level_is_not_named_stays_as_it_is(engine: Any) -> None:
    release = ps.publish(engine, table(), [ps.KAnonymity(6)], ps.Generalise(**EXAMPLE))
    assert release.choice["levels"] == {"age": 1, "job": 0} and release.suppressed == 0
