"""Questions about skylines of tables."""

from __future__ import annotations

from typing import Any

import privacy_sql as ps
from privacy_sql.counted.base import count
from privacy_sql.counted.grouping import Grouping
from privacy_sql.criteria import make
from privacy_sql.judge import failing
from privacy_sql.studies.skyline import Skylines, skylines
from tests.calls import workers


def questions(engine: Any) -> None:
    """One value, all values, groups to leave out."""
    ps.breach_probability(engine, workers(), value="a", l=0, k=1, m=0)
    Skylines.of_table(engine, workers()).values()
    rows = workers().source.assign(id=[f"p{number}" for number in range(8)])
    for quasi in (["age"], []):
        skylines(
            engine, ps.Table(rows, quasi, "s", identifier="id", drop=["job"]), limit="0.9", show_values=True
        )
    base = count(engine, workers())
    failing(Grouping.by(base, base.own_keys()), make("privacy_skyline", {"points": [[0, 0, 0, "0.5"]]}))
