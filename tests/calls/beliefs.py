"""Typical calls about beliefs: priors and posteriors."""

from __future__ import annotations

import pandas as pd

import privacy_sql as ps


def beliefs(engine: ps.Engine) -> None:
    """A prior in SQL, and the estimates of all groups in one statement."""
    rows = pd.DataFrame({"age": [20, 30, 40], "sex": ["m", "f", "m"], "s": ["a", "b", "a"]})
    table = ps.Table(rows, {"age": ps.AsIs(), "sex": ps.KeepOrDrop()}, "s")
    ps.prior(engine, table, ["3/4", "0"], path="chain")
    ps.prior(engine, table, ["5/4", "5/4"], path="chain")
    ps.posterior(engine, table, bandwidth="3/4", method="omega")
    grouped = ps.Table(rows.assign(g=1), {"age": ps.AsIs(), "sex": ps.KeepOrDrop()}, "s", group="g")
    ps.posterior(engine, grouped, bandwidth="3/4", path="sql")
    ps.posterior(engine, table, bandwidth="3/4", method="sinkhorn")


def a_wide_number(engine: ps.Engine) -> None:
    """A column of more numbers than are compared pair by pair, by running sums in SQL."""
    rows = pd.DataFrame({"pay": range(2_100), "sex": ["m", "f"] * 1_050, "s": ["a", "b", "a"] * 700})
    table = ps.Table(rows, {"pay": ps.AsIs(), "sex": ps.KeepOrDrop()}, "s")
    ps.prior(engine, table, ["1/100", "5/4"], path="chain")
    ps.prior(engine, table, ["5/4", "0"], path="chain")
