"""Small random tables of odd values, and what an engine says of them: verdicts, rows, codes of errors."""

from __future__ import annotations

import csv
import datetime
import random
from collections import Counter
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa

import privacy_sql as ps
from privacy_sql.errors import PrivacySqlError

DAY, STAMP = datetime.date(2020, 2, 29), datetime.datetime(1999, 12, 31, 23, 59, 59)
VALUES: dict[str, tuple[pa.DataType, list[Any]]] = {
    "text": (
        pa.string(),
        ["", " ", "a", "A", "a ", "é", "e\u0301", "🦆", "Z", "z_", "%", "NULL", "\\N", '"', "'"],
    ),
    "digits": (
        pa.string(),
        ["1", "01", "1.0", "1e0", " 1", "-1", "+1", "10", "9", "1e400", ".5", "--1", "٣"],
    ),
    "whole": (pa.int64(), [0, 1, -1, 9, 10, 19, 20, 2**53, 2**53 + 1, -(2**63)]),
    "fraction": (
        pa.float64(),
        [0.0, -0.0, 0.1, 0.3, 0.1 + 0.2, 1e-300, 1e300, float("nan"), float("inf"), 2.5],
    ),
    "decimal": (
        pa.decimal128(6, 2),
        [Decimal(text) for text in ("0.00", "-0.50", "1.10", "1.01", "9999.99")],
    ),
    "boolean": (pa.bool_(), [True, False]),
    "date": (pa.date32(), [DAY, DAY.replace(day=1), DAY.replace(year=1904), datetime.date(1, 1, 1)]),
    "stamp": (pa.timestamp("us"), [STAMP, STAMP.replace(microsecond=1), datetime.datetime(2000, 1, 1)]),
}
NAMES = ["Age", "age ", "order", 'a"b', "ü", "g", "s", "n_rows", "q1", "1st", "a.b", "it's"]
BANDS: dict[str, list[ps.Hierarchy]] = {
    "text": [ps.KeepOrDrop(), ps.Mask(1, 0)],
    "digits": [ps.KeepOrDrop(), ps.Mask(1), ps.Intervals(10)],
    "whole": [ps.KeepOrDrop(), ps.Intervals(10, 20), ps.Breaks([0, 10])],
    "fraction": [ps.KeepOrDrop(), ps.Intervals("0.5", 1), ps.Breaks([0, 1])],
    "decimal": [ps.KeepOrDrop(), ps.Intervals("0.5", 1)],
    "date": [ps.KeepOrDrop(), ps.Dates("month", "year")],
    "stamp": [ps.KeepOrDrop(), ps.Dates("day", "decade")],
}
Told = tuple[str, Any]


def table(rng: random.Random) -> ps.Table:
    """Two quasi-identifiers and a sensitive column of any kind, few values each, some of them missing."""
    names = rng.sample(NAMES, 3)
    kinds = [rng.choice(list(VALUES)) for _ in names]
    n_rows = rng.choice([1, 4, 12, 30])
    columns = [_column(rng, kind, n_rows) for kind in kinds]
    quasi = {
        name: rng.choice(BANDS.get(kind, [ps.KeepOrDrop()]))
        for name, kind in zip(names[:2], kinds[:2], strict=True)
    }
    return ps.Table(pa.table(dict(zip(names, columns, strict=True))), quasi, names[2])


def _column(rng: random.Random, kind: str, n_rows: int) -> pa.Array:
    of_arrow, values = VALUES[kind]
    few = [*rng.sample(values, min(len(values), rng.randint(1, 4))), *([None] if rng.random() < 0.5 else [])]
    return pa.array([rng.choice(few) for _ in range(n_rows)], of_arrow)


def requirements(rng: random.Random) -> list[Any]:
    """Every requirement of a table by itself, with limits near what small tables show."""
    c = rng.choice(["1/2", "2/3", "0.9", "1"])
    amounts = [rng.randint(0, 2), rng.randint(0, 2), rng.randint(0, 2)]
    return [
        ps.KAnonymity(rng.randint(1, 4)),
        *(ps.LDiversity(2, kind) for kind in ("distinct", "entropy", "probabilistic")),
        ps.LDiversity(2, "recursive", rng.choice(["1", "2"])),
        *(ps.TCloseness(rng.choice(["0.2", "1/2"]), distance) for distance in ("equal", "ordered")),
        ps.AlphaKAnonymity(rng.choice(["1/2", "0.9"]), 2),
        ps.BetaLikeness(rng.choice(["1", "2"])),
        ps.DeltaDisclosure(rng.choice(["0.5", "1"])),
        *(ps.CKSafety(c, k) for k in (0, 1, 3)),
        ps.PrivacySkyline(points=[[*amounts, c]]),
        ps.BTPrivacy([("0.5", "0.2")]),
    ]


METHODS: list[Callable[[ps.Table], Any]] = [
    lambda table: ps.Generalise({name: kind.height for name, kind in table.hierarchies.items()}),
    lambda table: ps.Generalise({}, max_suppressed="0.5"),
    lambda table: ps.FullDomain(),
    lambda table: ps.Multidimensional(),
]


def told(engine: Any, seed: int, folder: Path) -> Iterator[Told]:
    """What an engine says of the table of a seed."""
    rng = random.Random(seed)
    people, asked = table(rng), requirements(rng)
    for requirement in asked:
        yield _tried(str(requirement), lambda one=requirement: _verdict(engine, people, one))
    for number, method in enumerate(METHODS):
        yield _tried(
            f"method {number}",
            lambda chosen=method, n=number: _rows(engine, people, chosen, folder / f"{n}.csv"),
        )


def _tried(name: str, work: Callable[[], Any]) -> Told:
    try:
        return name, work()
    except PrivacySqlError as problem:
        return name, problem.code


def _verdict(engine: Any, people: ps.Table, requirement: Any) -> Any:
    (verdict,) = ps.check(engine, people, [requirement]).values()
    # a float is the same within 1e-9
    value = None if verdict.value is None else round(float(verdict.value), 8)
    return verdict.safe, value, verdict.exact


def _rows(engine: Any, people: ps.Table, method: Callable[[ps.Table], Any], target: Path) -> Any:
    target.unlink(missing_ok=True)
    target.with_name(f"{target.name}.manifest.json").unlink(missing_ok=True)
    release = ps.publish(engine, people, [ps.KAnonymity(2)], method(people))
    ps.verify(ps.write(engine, release, target))
    with target.open(encoding="utf-8", newline="") as text:
        return Counter(tuple(map(_plain, row)) for row in csv.reader(text))


def _plain(cell: str) -> Any:
    """A double is compared by its value: its text is the engine's (0 or 0.0, inf or Infinity)."""
    try:
        return repr(float(cell)) if not cell.lstrip("-").isdigit() or cell == "0" else cell
    except ValueError:
        return cell
