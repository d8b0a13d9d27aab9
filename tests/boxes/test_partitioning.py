"""Partitions of data larger than memory, their progress, and what an interrupt leaves."""

from __future__ import annotations

import _thread
import random
import threading
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.boxes import in_memory
from privacy_sql.display.progress import listening
from privacy_sql.engines.duckdb import DuckDB
from privacy_sql.query.template import Query

ROWS = 300_000
CONTINUOUS = f"""
select hash(i) / 1e15 as x, hash(i + 1) / 1e15 as y, hash(i + 2) / 1e15 as z, cast(i % 9 as varchar) as s
from range({ROWS}) t(i)
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Continuous columns, which no counting makes smaller."""
    with ps.connect("duckdb:") as engine:
        engine.write_file(Query(CONTINUOUS, "rows"), tmp_path / "rows.parquet", "parquet")
    return tmp_path / "rows.parquet"


def published(engine: Any, file: Path) -> ps.Release:
    table = ps.Table(file, ["x", "y", "z"], "s")
    return ps.publish(engine, table, [ps.KAnonymity(2000)], ps.Multidimensional())


def test_a_partition_that_outgrows_its_memory_spills_to_a_private_folder_and_gives_the_same_boxes(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_memory, "MOST_COMBINATIONS", 0)  # so that the engine cuts
    with ps.connect("duckdb:") as engine:
        expected = published(engine, file).search
    spilled: list[int] = []
    run = DuckDB._run

    def running(self: DuckDB, query: Query, *more: Any) -> Any:
        folder = self._to.private
        if folder is not None and folder.is_dir():
            assert folder.stat().st_mode & 0o777 == 0o700
            spilled.append(sum(part.stat().st_size for part in folder.iterdir()))
        return run(self, query, *more)

    monkeypatch.setattr(DuckDB, "_run", running)
    with ps.connect("duckdb:", memory_limit="96MB", threads=2) as engine:
        assert published(engine, file).search == expected
        folder = engine._to.private
    assert max(spilled) > 1_000_000
    assert not Path(str(folder)).exists()


def test_progress_counts_the_people_whose_box_is_final(engine: Any) -> None:
    draw = random.Random(1)
    rows = pd.DataFrame({"age": [draw.randint(1, 90) for _ in range(300)], "s": "u"})
    heard: list[tuple[str, int, int]] = []
    with listening(lambda *what: heard.append(what)):
        ps.publish(engine, ps.Table(rows, ["age"], "s"), [ps.KAnonymity(20)], ps.Multidimensional())
    done = [n for task, n, total in heard if task == "partition" and total == 300]
    assert done == sorted(done) and done[-1] == 300 and len(done) > 3


def test_an_interrupt_in_the_middle_publishes_nothing_and_leaves_no_file(file: Path) -> None:
    levels: list[int] = []

    def interrupting(task: str, done: int, total: int) -> None:
        if task == "partition":
            levels.append(done)
            if len(levels) == 2:
                threading.Timer(0.01, _thread.interrupt_main).start()

    with ps.connect("duckdb:") as engine:
        with listening(interrupting), pytest.raises(KeyboardInterrupt):
            published(engine, file)
            threading.Event().wait(5)
        folder = engine._to.private
    assert len(levels) < 8
    assert not Path(str(folder)).exists()


SMALL_GROUPS = [
    ps.KAnonymity(4),
    ps.LDiversity(3),
    ps.LDiversity("2.5", kind="entropy"),
    ps.LDiversity(3, kind="recursive", c=2),
    ps.AlphaKAnonymity("0.9", 4),
    ps.CKSafety("0.99", 2),
    ps.PrivacySkyline([[1, 1, 0, "0.999"]]),
    ps.PrivacySkyline([[0, 1, 2, 1]]),
    ps.PrivacySkyline([[2, 0, 1, "0.999"], [0, 2, 0, "0.9"]]),
]


@pytest.mark.parametrize("require", SMALL_GROUPS, ids=str)
def test_no_group_with_fewer_people_than_a_search_asks_about_is_safe(engine: Any, require: Any) -> None:
    draw = random.Random(str(require))
    table = ps.Table(pd.DataFrame({"s": ["u"]}), [], "s")
    fewest = require.on(table).fewest_people(table)
    assert fewest > 1
    for size in range(1, fewest):
        for values in ("abcdefgh"[:size], [draw.choice("abc") for _ in range(size)]):
            assert not ps.check(engine, ps.Table(pd.DataFrame({"s": list(values)}), [], "s"), [require])


def test_values_of_their_own_skyline_or_several_values_per_person_bound_nothing() -> None:
    one = ps.Table(pd.DataFrame({"s": ["u"]}), [], "s")
    several = ps.Table(pd.DataFrame({"p": [1], "s": ["u"]}), [], "s", identifier="p", values_per_person="set")
    own = ps.PrivacySkyline(per_value={"u": [[3, 5, 3, "0.9"]]})
    assert own.on(one).fewest_people(one) == 1
    assert ps.PrivacySkyline([[3, 5, 3, "0.9"]]).on(several).fewest_people(several) == 1
    assert ps.LDiversity(3).fewest_people(several) == 1
