"""Calls that search the levels of full-domain generalisation."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.counted.base import count
from privacy_sql.lattice import in_memory
from privacy_sql.lattice.search import LatticeSearch
from privacy_sql.project import proposing
from tests.calls import JOBS, UTILITIES, WORKERS, workers


@contextmanager
def _by_statements() -> Iterator[None]:
    """Searches as they are where a table is too large to be counted in memory."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(in_memory, "MOST_COMBINATIONS", -1)
        yield


def searched(engine: ps.Engine) -> None:
    """The best levels under every kind of utility, with and without suppression."""
    table = ps.Table(pd.DataFrame(WORKERS), {"age": ps.Intervals(5, 20), "job": JOBS}, "s")
    require = [ps.KAnonymity(2), ps.LDiversity(2)]
    for minimise in UTILITIES:
        for share in (0, "0.4"):
            with _by_statements():
                ps.publish(engine, table, require, ps.FullDomain(minimise, share))


def in_arrays(engine: ps.Engine) -> None:
    """A search in memory: what it reads of the table and of its sensitive values."""
    ordered = ps.TCloseness("0.9", distance="ordered")
    rows = pd.DataFrame({"age": ["1", "2", "13", "14"], "s": ["1", "2", "1", "3"]})
    ps.publish(engine, ps.Table(rows, {"age": ps.Intervals(5, 20)}, "s"), [ordered], ps.FullDomain())
    # a population has values that nobody in the table has
    everybody = pd.DataFrame({"age": ["1", "2", "13", "14", "7", None], "job": ["baker", "cook"] * 3})
    some = rows.assign(job=["baker", "cook"] * 2)
    known = ps.Table(some, {"age": ps.Intervals(5, 20), "job": None}, "s", population=everybody)
    ps.publish(engine, known, [ps.KMap(2)], ps.FullDomain())


def together(engine: ps.Engine) -> None:
    """Several choices in one statement."""
    require = (ps.KAnonymity(2), ps.LDiversity(2))
    search = LatticeSearch(count(engine, workers()), require, in_memory=False)
    search.decide(list(search.lattice.choices()))


def wide(engine: ps.Engine) -> None:
    """Keys too many to be packed into one integer."""
    rows = pd.DataFrame({f"c{number}": [str(row) for row in range(50)] for number in range(12)})
    table = ps.Table(rows, {name: ps.KeepOrDrop() for name in rows})
    ps.publish(engine, table, [ps.KAnonymity(2)], ps.FullDomain())


def several_values(engine: ps.Engine) -> None:
    """People with several sensitive values."""
    rows = pd.DataFrame({"id": ["1", "1", "2"], "c": ["a", "a", "b"], "s": ["x", "y", "x"]})
    table = ps.Table(rows, {"c": ps.KeepOrDrop()}, "s", identifier="id", values_per_person="set")
    with _by_statements():
        ps.publish(engine, table, [ps.KAnonymity(1)], ps.FullDomain(max_suppressed="0.5"))


def recoded(engine: ps.Engine) -> None:
    """Suppressed rows searched again, the witness named by its published labels."""
    rows = pd.DataFrame(
        {"job": ["baker", "baker", "cook", "nurse"], "age": ["1", "1", "1", "2"], "s": list("abab")}
    )
    for sensitive in ("s", None):
        table = ps.Table(rows, {"job": JOBS, "age": None}, sensitive, drop=[] if sensitive else ["s"])
        method = ps.FullDomain(local_recoding=True, max_suppressed="0.5")
        release = ps.publish(engine, table, [ps.KAnonymity(1)], method)
        for verdict in release.verdicts.values():
            verdict.witness.reveal()
    method = ps.FullDomain(local_recoding=True, max_suppressed="0.25")
    ps.publish(engine, ps.Table(rows, {"job": JOBS, "age": ps.KeepOrDrop()}, "s"), [ps.KAnonymity(2)], method)
    method = ps.FullDomain(local_recoding=True, max_suppressed="0.5")
    ps.publish(engine, ps.Table(rows, {"job": JOBS}, ("age", "s")), [ps.KAnonymity(1)], method)


def accuracy(engine: ps.Engine) -> None:
    """A tree that learns the sensitive value from published labels."""
    table = ps.Table(pd.DataFrame(WORKERS), {"age": ps.KeepOrDrop(), "job": JOBS}, "s")
    release = ps.publish(engine, table, [ps.KAnonymity(1)], ps.FullDomain())
    ps.classification_accuracy(engine, release, folds=2)


def several_columns(engine: ps.Engine) -> None:
    """Two sensitive columns, read as one value."""
    rows = pd.DataFrame({"c": ["a", "a"], "s": ["x", None], "t": ["y", "y"]})
    ps.check(engine, ps.Table(rows, ["c"], ("s", "t"), joint=True), [ps.LDiversity(2)])


def suppressed_together(engine: ps.Engine) -> None:
    """Rows that leave for two sensitive columns."""
    rows = pd.DataFrame({"c": list("aaab"), "s": list("xxyz"), "t": list("vvww")})
    table = ps.Table(rows, {"c": ps.KeepOrDrop()}, ("s", "t"))
    with _by_statements():
        release = ps.publish(engine, table, [ps.KAnonymity(2)], ps.FullDomain(max_suppressed="0.5"))
    ps.publish(engine, table, [ps.KAnonymity(2)], ps.Generalise({"c": 0}, "0.5"))
    assert release.suppressed == 2


def proposed(engine: ps.Engine) -> None:
    """A project proposed for a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "people.csv"
        rows = [(f"{1000 + n % 65}X", f"19{n:02d}-01-02", n, "abc"[n % 3]) for n in range(70)]
        named = ["zip", "born", "age", "illness"]
        pd.DataFrame(rows, columns=named).to_csv(path, index=False)
        proposing.write(engine, path, Path(folder) / "project")
