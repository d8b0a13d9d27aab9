"""A table whose names and values are easy to get wrong, and what every engine must make of it."""

from __future__ import annotations

import csv
import datetime
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa

import privacy_sql as ps

QUASI = ["Group", "group by", 'say "hi"', "select", "Ünï", "it's", "line"]
KINDS = [
    *(pa.string(), pa.decimal128(5, 2), pa.bool_(), pa.date32(), pa.timestamp("us"), pa.float64(), pa.int64())
]
DAY, STAMP = datetime.date(2020, 1, 31), datetime.datetime(2020, 1, 31, 10)
# two of each kind, who must meet: 1.0 is 1.00, and -0 is 0; text that looks like a number stays text
PEOPLE = [
    ("01", Decimal("1.00"), True, DAY, STAMP, -0.0, 1, "flu"),
    ("01", Decimal("1.0"), True, DAY, STAMP, 0.0, 1, "it's"),
    ("1", None, False, None, STAMP.replace(microsecond=500_000), 1.5, -7, None),
    ("1", None, False, None, STAMP.replace(microsecond=500_000), 1.5, -7, "flu"),
    ("1e5", Decimal("-0.50"), None, DAY, None, None, None, "back\\slash"),
    ("1e5", Decimal("-0.5"), None, DAY, None, None, None, "${env:HOME}"),
    (None, None, None, None, None, None, 2**53 + 1, "a,b"),
    (None, None, None, None, None, None, 2**53 + 1, " "),
]
PUBLISHED = [
    ("01", "1.00", "true", "2020-01-31", "2020-01-31 10:00:00", "0.0", "1"),
    ("1", "", "false", "", "2020-01-31 10:00:00.5", "1.5", "-7"),
    ("1e5", "-0.50", "", "2020-01-31", "", "", ""),
    ("", "", "", "", "", "", str(2**53 + 1)),
]


def table() -> ps.Table:
    columns = list(zip(*PEOPLE, strict=True))
    arrays = [pa.array(values, kind) for values, kind in zip(columns, [*KINDS, pa.string()], strict=True)]
    return ps.Table(pa.table(dict(zip([*QUASI, "ill"], arrays, strict=True))), QUASI, "ill")


def told(engine: Any, folder: Path) -> tuple[Any, Counter[tuple[str, ...]]]:
    """The size of the smallest group, and the rows published with their quasi-identifiers as text."""
    release = ps.publish(engine, table(), [ps.KAnonymity(2)], ps.Generalise({}))
    ps.verify(ps.write(engine, release, folder / "odd.csv"))
    with (folder / "odd.csv").open(encoding="utf-8", newline="") as text:
        rows = [_row(row) for row in csv.reader(text)][1:]
    return release.verdicts["k_anonymity(k=2)"].value, Counter(row[: len(QUASI)] for row in rows)


def _row(cells: list[str]) -> tuple[str, ...]:
    """Zero may be written 0 or 0.0: the text of a double is the engine's, its value is not."""
    return tuple(
        "0.0" if name == "it's" and cell == "0" else cell
        for name, cell in zip([*QUASI, "ill"], cells, strict=True)
    )


def expected() -> Counter[tuple[str, ...]]:
    return Counter({row: 2 for row in PUBLISHED})
