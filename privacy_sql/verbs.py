"""The verbs: the only module that wires tables, engines, requirements and methods together."""

from __future__ import annotations

from collections.abc import Sequence

from privacy_sql.base import count
from privacy_sql.criteria import Criterion
from privacy_sql.engines import Engine
from privacy_sql.judging import Verdicts, judge
from privacy_sql.table import Table


def check(engine: Engine, table: Table, require: Sequence[Criterion]) -> Verdicts:
    """Judge a table as it stands.

    >>> import pandas as pd
    >>> import privacy_sql as ps
    >>> with ps.connect() as engine:
    ...     table = ps.Table(pd.DataFrame({"age": [30, 30, 41]}), ["age"])
    ...     bool(ps.check(engine, table, [ps.KAnonymity(2)]))
    False
    """
    base = count(engine, table)
    return judge(base.grouped(base.own_keys()), require)
