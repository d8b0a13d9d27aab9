"""The rows of every method that has some; the last calls of parts by name, so that they add few shapes."""

from __future__ import annotations

import privacy_sql as ps
from tests.calls import written

METHODS = ("bucketize", "full_domain", "generalise", "microaggregate", "multidimensional")


def methods(engine: ps.Engine) -> None:
    """One release of each."""
    written(engine, METHODS)
