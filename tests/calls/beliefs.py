"""Typical calls about beliefs: priors and posteriors."""

from __future__ import annotations

import pandas as pd

import privacy_sql as ps


def beliefs(engine: ps.Engine) -> None:
    """A prior in SQL, and the estimates of all groups in one statement."""
    rows = pd.DataFrame({"age": [20, 30, 40], "sex": ["m", "f", "m"], "s": ["a", "b", "a"]})
    table = ps.Table(rows, {"age": ps.AsIs(), "sex": ps.KeepOrDrop()}, "s")
    ps.prior(engine, table, ["3/4", "0"], path="chain")
    ps.posterior(engine, table, bandwidth="3/4", method="omega")
    ps.posterior(engine, table, bandwidth="3/4", method="sinkhorn")
