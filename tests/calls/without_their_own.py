"""Parts that no other call names, as they declare themselves; the last calls, so that they add few shapes."""

from __future__ import annotations

import tempfile
from pathlib import Path

import privacy_sql as ps
from tests import parts
from tests.calls.full_domain import UTILITIES


def methods(engine: ps.Engine) -> None:
    """Every method of rows, and its rows as they are written."""
    with tempfile.TemporaryDirectory() as folder:
        for name in parts.others("methods", ["marginals", "noisy_counts"]):
            release = ps.publish(engine, parts.table(), [ps.KAnonymity(2)], parts.method(name))
            ps.write(engine, release, Path(folder) / f"{name}.csv")


def utilities(engine: ps.Engine) -> None:
    """The best levels under a utility that tests/calls/full_domain.py does not name."""
    for minimise in parts.others("utilities", UTILITIES):
        ps.publish(engine, parts.table(), [ps.KAnonymity(2)], ps.FullDomain(minimise))
