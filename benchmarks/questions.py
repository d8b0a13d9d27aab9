"""What questions about near values, known columns and risk cost beside the GROUP BY they need, on one thread.

Prints JSON, ratios of processor time in one run; a goal that is missed says MISSED. Near values: the whole
check at most 2 times the GROUP BY of group and value where the histogram has under 5 % of the rows, 5 times
always. Known columns, up to three: at most 2 times the GROUP BY of all columns, Python's part included. Risk:
at most 1.5 times the GROUP BY of the groups. Households: 1.3 times a check of l-diversity for one member, 3
times for all. A release measured against its source: 3 times the GROUP BY of both files. Groups and values
are whole numbers here, so each GROUP BY is as quick as it can be.

    python benchmarks/questions.py [--rows 1000000] [--times 3]
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import duckdb
import numpy as np

import privacy_sql as ps
from privacy_sql.counted.base import count
from privacy_sql.counted.grouping import Grouping
from privacy_sql.criteria._near import fullest_of_kinds
from privacy_sql.criteria.interval_disclosure import IntervalDisclosure
from privacy_sql.kernels import near_values
from privacy_sql.query.template import Sql, names, render

# groups per million rows and different values: from few counts to nearly as many as rows
SHAPES = ((200, 100), (2_000, 30), (20_000, 50), (100_000, 20_000))
COLUMNS, LABELS = 8, 6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--times", type=int, default=3)
    asked = parser.parse_args()
    shell = duckdb.connect(config={"threads": 1})
    measured = [
        *(_near(shell, asked.rows, asked.times, *shape) for shape in SHAPES),
        *(_known(shell, asked.rows, asked.times, known) for known in (1, 2, 3)),
        *_households(shell, asked.rows, asked.times),
        _measured(shell, asked.rows, asked.times),
    ]
    versions = {"duckdb": duckdb.__version__, "python": platform.python_version()}
    print(json.dumps({"rows": asked.rows, "versions": versions, "measured": measured}, indent=1))
    sys.exit(any("MISSED" in row.values() for row in measured))


def _near(
    shell: duckdb.DuckDBPyConnection, rows: int, times: int, groups: int, values: int
) -> dict[str, object]:
    shell.execute(
        f"create or replace table people as select cast(hash(range) % {groups} as bigint) as g,"
        f" cast(hash(range * 7 + 1) % {values} + 1 as bigint) as s from range({rows})"
    )
    counting = (
        "create or replace table histogram as select g, s, count(*) as n_rows from people group by g, s"
    )
    grouping = _seconds(lambda: shell.execute(counting), times)
    shell.execute(
        "create or replace table groups as"
        " select g, cast(sum(n_rows) as bigint) as n_people from histogram group by g"
    )

    asking = IntervalDisclosure(Fraction(values, 20), "1/2")
    listing = "select g, s, n_rows from histogram"
    texts = [str(n) for n in range(1, values + 1)]

    def asked() -> None:
        line = near_values.by_number([Decimal(text) for text in texts], Fraction(values, 20))
        counts = shell.execute(listing).fetchnumpy()
        g, s, n = (np.asarray(counts[name], np.int64) for name in ("g", "s", "n_rows"))
        asking.judge(fullest_of_kinds(g, s, n, [*range(1, values + 1)], line))

    check = _seconds(asked, times)
    risk = render("criteria/reidentification_risk.sql", groups=Sql("groups"), by_group=False)
    risking = _seconds(lambda: shell.execute(risk.sql).fetchall(), times)
    by_groups = _seconds(lambda: shell.execute("select g, count(*) from people group by g").fetchall(), times)
    ((lines,),) = shell.execute("select count(*) from histogram").fetchall()
    ratio, of_risk = (grouping + check) / grouping, (by_groups + risking) / by_groups
    goal = 2 if lines / rows < 0.05 else 5
    return {
        "question": "interval_disclosure and risk",
        "histogram_share": round(lines / rows, 4),
        "group_by_seconds": round(grouping, 4),
        "near": round(ratio, 2),
        "goal": "kept" if ratio <= goal else "MISSED",
        "risk": round(of_risk, 2),
        "goal of risk": "kept" if of_risk <= 1.5 else "MISSED",
    }


def _known(shell: duckdb.DuckDBPyConnection, rows: int, times: int, known: int) -> dict[str, object]:
    columns = names(f"k{n}" for n in range(1, COLUMNS + 1))
    labels = ", ".join(
        f"cast(hash(range * 13 + {n}) % {LABELS} as bigint) as k{n}" for n in range(1, COLUMNS + 1)
    )
    shell.execute(f"create or replace table people as select {labels} from range({rows})")
    every = ", ".join(columns)
    counting = (
        f"create or replace table counted as select {every}, count(*) as n_rows from people group by {every}"
    )
    grouping = _seconds(lambda: shell.execute(counting), times)
    with ps.connect(shell) as engine:
        base = count(engine, ps.Table("people", [str(column) for column in columns]))
        groups = Grouping.by(base, base.own_keys())
        asking = ps.KnownColumns(m=known, k=2)
        ratio = _seconds(lambda: asking.judge(asking.gather(groups)), times) / grouping
        sets = asking.gather(groups).found
    return {
        "question": f"known_columns, m={known}",
        "sets": len(sets),
        "group_by_seconds": round(grouping, 4),
        "extra": round(ratio, 2),
        "goal": "kept" if ratio <= 2 else "MISSED",
    }


def _households(shell: duckdb.DuckDBPyConnection, rows: int, times: int) -> list[dict[str, object]]:
    """Homes of about two people in groups of about 45; whole checks, counting included."""
    shell.execute(
        f"create or replace table homes as select cast(hash(range * 3) % {rows // 45} as bigint) as g,"
        f" cast(hash(range * 5) % {rows * 4 // 9} as bigint) as h from range({rows})"
    )
    tied = {"household": {"column": "h", "published": "number"}}
    with ps.connect(shell) as engine:

        def checked(asked: ps.Criterion, *roles: object, **more: object) -> float:
            table = ps.Table("homes", ["g"], *roles, **more)  # type: ignore[arg-type]
            return _seconds(lambda: ps.check(engine, table, [asked]), times)

        diverse = checked(ps.LDiversity(2), "h")
        member = checked(ps.HouseholdKAnonymity(2), household="h") / diverse
        every = checked(ps.HouseholdKAnonymity(2, known="all"), **tied) / diverse
    return [
        {
            "question": f"household_k_anonymity, known={known}",
            "l_diversity_seconds": round(diverse, 4),
            "ratio": round(ratio, 2),
            "goal": "kept" if ratio <= goal else "MISSED",
        }
        for known, ratio, goal in (("member", member, 1.3), ("all", every, 3))
    ]


def _measured(shell: duckdb.DuckDBPyConnection, rows: int, times: int) -> dict[str, object]:
    """Three known columns of 40 values each and a secret of 20, in a source and a release of one size."""
    for name, seed in (("source", 11), ("released", 17)):
        labels = ", ".join(f"cast(hash(range * {seed} + {n}) % 40 as bigint) as k{n}" for n in range(3))
        shell.execute(
            f"create or replace table {name} as select {labels},"
            f" cast(hash(range * {seed} + 9) % 20 as bigint) as s from range({rows})"
        )
    every = "k0, k1, k2, s"
    counting = "".join(
        f"create or replace table counted_{name} as select {every}, count(*) from {name} group by {every};"
        for name in ("source", "released")
    )
    grouping = _seconds(lambda: shell.execute(counting), times)
    with ps.connect(shell) as engine:
        known = ["k0", "k1", "k2"]
        ratio = _seconds(lambda: ps.measure(engine, "source", "released", known, "s"), times) / grouping
    return {
        "question": "attack measure, everybody asked",
        "group_by_seconds": round(grouping, 4),
        "ratio": round(ratio, 2),
        "goal": "kept" if ratio <= 3 else "MISSED",
    }


def _seconds(work: Callable[[], object], times: int) -> float:
    """The processor time of the quickest of a few runs."""
    found = []
    for _ in range(times):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found)


if __name__ == "__main__":
    main()
