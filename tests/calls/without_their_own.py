"""Parts that no other call names, as they declare themselves: only their own templates are shown of these."""

from __future__ import annotations

import privacy_sql as ps
from tests import parts
from tests.calls import UTILITIES, written
from tests.calls.written_rows import METHODS


def methods(engine: ps.Engine) -> None:
    """Every other method of rows, and its rows as they are written."""
    written(engine, parts.others("methods", METHODS, ["marginals", "noisy_counts"]))


def utilities(engine: ps.Engine) -> None:
    """The best levels under a utility that tests/calls/full_domain.py does not name."""
    for minimise in parts.others("utilities", UTILITIES):
        ps.publish(engine, parts.table(), [ps.KAnonymity(2)], ps.FullDomain(minimise))
