"""What is written is what was judged, whole or not at all, and only where it may be."""

from __future__ import annotations

import contextlib
import csv
import errno
import fcntl
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql import files, manifest
from privacy_sql.engines import _spill
from privacy_sql.engines.duckdb import DuckDB
from privacy_sql.errors import DataError, EngineError, NotSafe, PrivacySqlError, UsageError
from privacy_sql.publishing import audit, intents
from tests import engines
from tests.conftest import ROOT

ROWS = [(str(20 + n % 20), "flu" if n % 2 else "cold", str(n)) for n in range(16)]
FREE = {"columns": ["weight"], "acknowledge": "it says which row is which"}
REQUIRE = [ps.KAnonymity(4), ps.LDiversity(2)]
KINDS = ["csv", "parquet", "table"]


def source(folder: Path, rows: list[tuple[str, ...]] = ROWS) -> Path:
    path = folder / "people.csv"
    with path.open("w", newline="") as lines:
        csv.writer(lines).writerows([("age", "illness", "weight"), *rows])
    return path


def release(engine: Any, path: Path, method: Any = None) -> ps.Release:
    table = ps.Table(path, {"age": ps.Intervals(10)}, "illness", insensitive=FREE)
    return ps.publish(engine, table, REQUIRE, method or ps.Generalise({"age": 1}))


@contextlib.contextmanager
def opened(folder: Path, kind: str) -> Iterator[Any]:
    place = folder / "warehouse.db" if kind == "table" else ""
    with ps.connect(f"duckdb:{place}", files=[folder / "people.csv"]) as engine:
        yield engine


def put(engine: Any, made: ps.Release, folder: Path, kind: str, **options: Any) -> Path:
    if kind == "table":
        return ps.write(engine, made, "table:published", manifest_to=folder / "t.manifest.json", **options)
    return ps.write(engine, made, folder / f"out.{kind}", **options)


def strays(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name.startswith("."))


# -- the bytes that leave are the bytes that were judged -----------------------------------------------------


def one_value_for_another(rows: pd.DataFrame) -> pd.DataFrame:
    """The twenties all have the flu: as many rows as before, one group unsafe."""
    return rows.assign(illness=rows["illness"].where(rows["age"] != "20-29", "flu"))


def one_row_in_another_group(rows: pd.DataFrame) -> pd.DataFrame:
    """A person alone in a group: as many rows as before, and a label the hierarchy knows."""
    place = rows.index[rows["age"] == "30-39"][1:]
    return rows.assign(age=rows["age"].where(~rows.index.isin(place), "20-29"))


CHANGES = [one_value_for_another, one_row_in_another_group]


def tamper(monkeypatch: pytest.MonkeyPatch, change: Callable[[pd.DataFrame], pd.DataFrame]) -> None:
    """Rewrite rows between writing the temporary file or table and looking at it."""
    to_file, to_table = DuckDB.write_file, DuckDB.write_table

    def write_file(self: DuckDB, query: Any, path: Path, kind: str) -> None:
        to_file(self, query, path, kind)
        if kind == "csv":
            change(pd.read_csv(path, dtype=str)).to_csv(path, index=False)
        else:
            change(pd.read_parquet(path)).to_parquet(path, index=False)

    def write_table(self: DuckDB, query: Any, table: str) -> None:
        to_table(self, query, table)
        rows = change(self.connection.execute(f"from {table}").df())
        self.connection.execute(f"delete from {table}")
        self.connection.register("changed", rows)
        self.connection.execute(f"insert into {table} select * from changed")

    monkeypatch.setattr(DuckDB, "write_file", write_file)
    monkeypatch.setattr(DuckDB, "write_table", write_table)


@pytest.mark.parametrize("guard", ["row fingerprint", "second verdict"])
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("kind", KINDS)
def test_rows_rewritten_before_they_appear_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, change: Any, guard: str
) -> None:
    tamper(monkeypatch, change)
    if guard == "second verdict":
        monkeypatch.setattr(audit, "_same_rows", lambda *_: None)
    path = source(tmp_path)
    with opened(tmp_path, kind) as engine:
        made = release(engine, path)
        assert made.safe
        with pytest.raises(NotSafe) as refused:
            put(engine, made, tmp_path, kind)
        assert not engine.has_table("published")
    word = "are not those of the release" if guard == "row fingerprint" else "do not meet"
    assert word in refused.value.message
    left = {path.name for path in tmp_path.iterdir()} - {"warehouse.db"}
    assert left == {"people.csv"}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("column", ["age", "zip"])
def test_a_value_that_is_no_label_of_its_level_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, column: str
) -> None:
    """One cell of either generalised column, whatever the comparison of rows says."""
    monkeypatch.setattr(audit, "_same_rows", lambda *_: None)

    def one_cell(rows: pd.DataFrame) -> pd.DataFrame:
        return rows.assign(**{column: ["strange", *rows[column][1:]]})

    tamper(monkeypatch, one_cell)
    people = pd.DataFrame({"age": ["21", "22"] * 4, "zip": ["10", "11"] * 4, "illness": list("abcdabcd")})
    place = tmp_path / "people.csv"
    people.to_csv(place, index=False)
    with opened(tmp_path, kind) as engine:
        table = ps.Table(place, {"age": ps.Intervals(10), "zip": ps.Mask(1)}, "illness")
        # of one person nothing else is broken
        made = ps.publish(engine, table, [ps.LDiversity(1)], ps.Generalise({"age": 1, "zip": 1}))
        with pytest.raises(NotSafe, match=f"{column} has values that are not labels of level 1"):
            put(engine, made, tmp_path, kind)


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_change_of_no_row_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    tamper(monkeypatch, lambda rows: rows)
    path = source(tmp_path)
    with opened(tmp_path, kind) as engine:
        place = put(engine, release(engine, path), tmp_path, kind)
        assert ps.verify(place, engine)["rows_out"] == 16


def test_bytes_changed_after_the_audit_are_taken_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    appear = intents.appear

    def late(file: Any, folder: Path, **more: Any) -> None:
        if file.name == "out.csv":
            path = folder / file.hidden
            path.write_bytes(path.read_bytes().replace(b"cold", b"flux"))
        appear(file, folder, **more)

    with engines.opened() as engine:
        made = release(engine, source(tmp_path))
        for old in (False, True):
            if old:
                put(engine, made, tmp_path, "csv")
            before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
            with monkeypatch.context() as patch:
                patch.setattr(intents, "appear", late)
                with pytest.raises(NotSafe, match="changed during the audit"):
                    put(engine, made, tmp_path, "csv", overwrite=True)
            # nothing stands there, or what stood there before
            assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("rows", [ROWS[:-1], [*ROWS, ("20", "flu", "9")], ROWS[::-1]])
def test_a_source_that_changes_between_judging_and_writing_is_refused(tmp_path: Path, rows: Any) -> None:
    path = source(tmp_path)
    with engines.opened() as engine:
        made = release(engine, path)
        source(tmp_path, rows)
        with pytest.raises(PrivacySqlError) as refused:
            put(engine, made, tmp_path, "csv")
    assert isinstance(refused.value, DataError | NotSafe)
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]


def test_a_release_that_is_not_safe_is_never_written(tmp_path: Path) -> None:
    path = source(tmp_path)
    with engines.opened() as engine:
        table = ps.Table(path, ["age"], "illness", drop=["weight"])
        made = ps.publish(engine, table, REQUIRE, ps.Generalise())
        with pytest.raises(NotSafe):
            ps.write(engine, made, tmp_path / "out.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]


def test_while_it_is_looked_at_a_release_is_readable_by_its_owner_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    look = audit.audit

    def watch(engine: Any, published: Path, made: Any) -> Any:
        seen.append(published.stat().st_mode & 0o777)
        return look(engine, published, made)

    monkeypatch.setattr(audit, "audit", watch)
    with engines.opened() as engine:
        made = release(engine, source(tmp_path))
        put(engine, made, tmp_path, "csv")
        put(engine, made, tmp_path, "parquet")
    assert seen == [0o600, 0o600]


def test_what_is_copied_to_another_file_system_is_readable_by_its_owner_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = source(tmp_path)
    with ps.connect() as engine:
        made = release(engine, path)
        put(engine, made, tmp_path, "csv")
        usual = (tmp_path / "out.csv").stat().st_mode
        seen, rename = [], os.rename

        def elsewhere(old: Any, new: Any, **more: Any) -> None:
            if Path(old).parent != Path(new).parent:
                raise OSError(errno.EXDEV, "Invalid cross-device link")
            rename(old, new, **more)

        def watched(copy: Any) -> Any:
            def watch(one: Any, other: Any, *given: Any, **more: Any) -> Any:
                done = copy(one, other, *given, **more)
                seen.extend(left.stat().st_mode & 0o777 for left in tmp_path.glob(".*-out.csv"))
                return done

            return watch

        monkeypatch.setattr(os, "rename", elsewhere)
        for name in ("copyfile", "copyfileobj"):
            monkeypatch.setattr(shutil, name, watched(getattr(shutil, name)))
        place = put(engine, made, tmp_path, "csv", overwrite=True)
    assert seen == [0o600] and ps.verify(place)["rows_out"] == 16
    assert (tmp_path / "out.csv").stat().st_mode == usual


# -- rows in, rows out ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("declared", ["one", "set", "multiset"])
@pytest.mark.parametrize(
    "method", [ps.Generalise({"age": 1}, max_suppressed="0.5"), ps.Bucketize({"age": 1})]
)
def test_rows_in_are_rows_published_suppressed_and_repeated(
    tmp_path: Path, declared: str, method: Any
) -> None:
    if declared != "one" and method.name == "bucketize":
        method = ps.FullDomain()  # a line for each value beside exact columns is refused
    rows = [("1", "20", "flu"), ("2", "21", "cold"), ("3", "45", ""), ("4", "46", "flu"), ("5", "46", "flu")]
    if declared != "one":
        rows += [("1", "20", "flu"), ("1", "20", "cold"), ("2", "21", ""), ("4", "46", "cold")]
    if method.name == "generalise":
        rows.append(("6", "99", "flu"))
    path = tmp_path / "people.csv"
    path.write_text("id,age,illness\n" + "".join(",".join(row) + "\n" for row in rows))
    with engines.opened() as engine:
        table = ps.Table(
            path, {"age": ps.Intervals(10)}, "illness", identifier="id", values_per_person=declared
        )
        made = ps.publish(engine, table, [ps.KAnonymity(2)], method)
        place = ps.write(engine, made, tmp_path / "out.csv")
    content = manifest.read(place)
    published = len((tmp_path / "out.csv").read_text().splitlines()) - 1
    assert made.rows_in == len(rows) == published + made.suppressed + made.repeated
    # the same value of person 1 again, and a line without a value of somebody who has one
    assert made.repeated == {"one": 0, "set": 2, "multiset": 1}[declared]
    assert content.rows_out == published
    assert made.suppressed == (1 if method.name == "generalise" else 0)
    # nobody but us may know how few; where none can be left out or repeated, everybody does
    step = content.rows_rounded_to
    assert step == (None if declared == "one" and method.name != "generalise" else 3)
    told = [content.rows_in, content.suppressed, content.repeated]
    assert told == ([len(rows), 0, 0] if step is None else [published, 0, 0])


def test_rows_that_stand_for_several_are_not_published(engine: Any) -> None:
    rows = pd.DataFrame({"age": [30, 31], "illness": ["flu", "cold"], "n": [3, 0]})
    with pytest.raises(UsageError, match="can be checked, not published"):
        ps.publish(engine, ps.Table(rows, ["age"], "illness", count="n"), [ps.KAnonymity(1)], ps.Generalise())


# -- reproducible, and silent about the source ---------------------------------------------------------------


def published(folder: Path, method: Any, rows: list[Any] = ROWS, kind: str = "csv", **options: Any) -> bytes:
    with ps.connect("duckdb:", **options) as engine:
        put(engine, release(engine, source(folder, rows), method), folder, kind, overwrite=True)
    return (folder / f"out.{kind}").read_bytes()


MANY = [(str(20 + n % 40), f"illness{n * 7919 % 13}", str(n % 5)) for n in range(6000)]


@pytest.mark.parametrize("method", [ps.Generalise({"age": 1}), ps.Bucketize({"age": 1}, seed=7)])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_the_order_of_the_source_and_the_number_of_threads_leave_no_trace(
    tmp_path: Path, method: Any, kind: str
) -> None:
    mixed = MANY[:]
    random.Random(5).shuffle(mixed)
    first = published(tmp_path, method, MANY, kind, threads=1)
    assert first == published(tmp_path, method, mixed, kind, threads=2)
    assert first == published(tmp_path, method, MANY[::-1], kind, threads=2)


def test_another_seed_and_no_seed_give_another_order(tmp_path: Path) -> None:
    orders = [published(tmp_path, ps.Bucketize({"age": 1}, seed=seed), MANY) for seed in (1, 2, None, None)]
    assert len(set(orders)) == 4


def test_a_seeded_release_is_marked_and_a_secret_one_keeps_its_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("secrets.token_hex", lambda n=32: "5ec4e7" * 11)
    with engines.opened() as engine:
        path = source(tmp_path)
        seeded = release(engine, path, ps.Bucketize({"age": 1}, seed=7))
        secret = release(engine, path, ps.Bucketize({"age": 1}))
        for made, marked in ((seeded, True), (secret, False)):
            content = put(engine, made, tmp_path, "csv", overwrite=True).read_text()
            assert ("NOT FOR PUBLICATION" in content) == ("NOT FOR PUBLICATION" in str(made)) == marked
            assert "5ec4e7" not in content and "5ec4e7" not in made.sql()


# -- nothing is overwritten, one writer at a time ------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_what_exists_is_overwritten_only_when_asked(tmp_path: Path, kind: str) -> None:
    path = source(tmp_path)
    with opened(tmp_path, kind) as engine:
        made = release(engine, path)
        place = put(engine, made, tmp_path, kind)
        before = place.read_bytes()
        with pytest.raises(UsageError) as refused:
            put(engine, made, tmp_path, kind)
        assert refused.value.code == "target_exists" and place.read_bytes() == before
        assert ps.verify(put(engine, made, tmp_path, kind, overwrite=True), engine)


@pytest.mark.parametrize("name", ["out.csv", "out.csv.manifest.json"])
def test_a_file_of_somebody_else_is_not_overwritten(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("mine")
    with engines.opened() as engine, pytest.raises(UsageError):
        put(engine, release(engine, source(tmp_path)), tmp_path, "csv")
    assert (tmp_path / name).read_text() == "mine"


def test_a_file_that_appears_during_the_audit_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = audit.audit

    def late(engine: Any, published: Path, made: Any) -> Any:
        (tmp_path / "out.csv").write_text("mine")
        return look(engine, published, made)

    monkeypatch.setattr(audit, "audit", late)
    with engines.opened() as engine, pytest.raises(UsageError) as refused:
        put(engine, release(engine, source(tmp_path)), tmp_path, "csv")
    assert refused.value.code == "target_exists"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.csv", "people.csv"]
    assert (tmp_path / "out.csv").read_text() == "mine"


def test_of_two_simultaneous_runs_exactly_one_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = source(tmp_path)
    (tmp_path / "out").mkdir()
    start = threading.Barrier(2)
    outcomes: list[Any] = []

    def run() -> None:
        with ps.connect() as engine:
            made = release(engine, path)
            start.wait(timeout=60)
            try:
                outcomes.append(put(engine, made, tmp_path / "out", "csv"))
            except UsageError as refused:
                outcomes.append(refused.code)

    runs = [threading.Thread(target=run) for _ in range(2)]
    for each in runs:
        each.start()
    for each in runs:
        each.join()
    winners = [outcome for outcome in outcomes if isinstance(outcome, Path)]
    assert len(outcomes) == 2 and len(winners) == 1
    assert {outcome for outcome in outcomes if isinstance(outcome, str)} <= {"busy", "target_exists"}
    assert ps.verify(winners[0]) and not strays(tmp_path / "out")


def test_a_second_run_is_refused_while_the_folder_is_held(tmp_path: Path) -> None:
    with engines.opened() as engine:
        made = release(engine, source(tmp_path))
        another = os.open(tmp_path, os.O_RDONLY)  # as a run in another process holds it
        try:
            fcntl.flock(another, fcntl.LOCK_EX)
            with pytest.raises(UsageError) as refused:
                put(engine, made, tmp_path, "csv")
        finally:
            os.close(another)
        assert refused.value.code == "busy"
        put(engine, made, tmp_path, "csv")


# -- killed, and no room -------------------------------------------------------------------------------------

KILLED = """
import os, signal, sys
from pathlib import Path
import privacy_sql as ps
from privacy_sql import manifest
from privacy_sql.engines.duckdb import DuckDB
from privacy_sql.publishing import audit, intents
from tests.publishing.test_writing import put, release

folder, kind, point, overwrite = Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4] == "overwrite"
homes = {"write_file": DuckDB, "write_table": DuckDB, "rename_table": DuckDB, "audit": audit,
         "record": intents, "appear": intents, "close": intents, "canonical": manifest}
name, when = point.split()
original = getattr(homes[name], name)

def killed(*given, **named):
    if when == "after":
        original(*given, **named)
    os.kill(os.getpid(), signal.SIGKILL)

setattr(homes[name], name, killed)
with ps.connect("duckdb:" + (str(folder / "warehouse.db") if kind == "table" else "")) as engine:
    put(engine, release(engine, folder / "people.csv"), folder, kind, overwrite=overwrite)
"""
POINTS = {
    "csv": [
        "write_file after",
        "audit after",
        "canonical after",
        "record after",
        "appear after",
        "close before",
    ],
    "table": ["write_table after", "rename_table after", "record after", "appear before", "close before"],
}


@pytest.mark.widens(6)
@pytest.mark.parametrize(("kind", "point"), [(kind, point) for kind in POINTS for point in POINTS[kind]])
def test_a_killed_run_leaves_the_old_release_or_none_and_no_stray_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, point: str
) -> None:
    path = source(tmp_path)
    with opened(tmp_path, kind) as engine:
        place = put(engine, release(engine, path), tmp_path, kind)
    old = place.read_bytes()
    source(tmp_path, ROWS * 2)
    spill = tmp_path / "spill"
    spill.mkdir()
    told = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path), kind, point, "overwrite"],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(spill)},
        check=False,
    )
    assert told.returncode == -signal.SIGKILL
    with opened(tmp_path, kind) as engine:
        # whoever looks next finds one of them whole, and from then on it stays
        whole = ps.verify(place, engine)["rows_out"]
        assert whole == (16 if place.read_bytes() == old else 32)
        put(engine, release(engine, path), tmp_path, kind, overwrite=True)
        assert ps.verify(place, engine)["rows_out"] == 32
    assert not strays(tmp_path)
    # its spill folders held rows, perhaps: the next start takes them away
    assert spill.iterdir() and all(each.stat().st_mode & 0o777 == 0o700 for each in spill.iterdir())
    monkeypatch.setattr(tempfile, "tempdir", str(spill))
    _spill.sweep()
    assert not list(spill.iterdir())


def test_what_a_killed_run_left_goes_also_if_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    left = tmp_path / "out" / ".0123456789ab-out.csv"
    with ps.connect() as engine:
        made = release(engine, source(tmp_path))
        unsafe = ps.Table(tmp_path / "people.csv", ["age"], "illness", drop=["weight"])
        refused = ps.publish(engine, unsafe, REQUIRE, ps.Generalise())
        for each, code in ((refused, "not_safe"), (made, "target_exists")):
            left.write_text("rows")
            (tmp_path / "out" / "out.csv").write_text("mine")
            with pytest.raises(PrivacySqlError) as problem:
                ps.write(engine, each, tmp_path / "out" / "out.csv")
            assert problem.value.code == code and not left.exists()


@contextlib.contextmanager
def no_room(limit: int) -> Iterator[None]:
    """Files may not grow beyond a limit, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_full_disk_is_an_engine_error_and_leaves_nothing(tmp_path: Path, kind: str) -> None:
    rows = [(str(20 + n % 20), f"illness{n % 3}", str(n * 7919 % 1_000_003)) for n in range(30_000)]
    path = source(tmp_path, rows)
    with engines.opened() as engine:
        made = release(engine, path)
        with no_room(50_000), pytest.raises(EngineError):
            put(engine, made, tmp_path, kind)
        assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]
        assert put(engine, made, tmp_path, kind).is_file()


def test_no_room_for_the_manifest_takes_the_release_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise EngineError("cannot_write", "cannot write")

    monkeypatch.setattr(files, "write_atomically", full)
    path = source(tmp_path)
    for kind in KINDS:
        with opened(tmp_path, kind) as engine:
            made = release(engine, path)
            with pytest.raises(EngineError):
                put(engine, made, tmp_path, kind)
            assert not engine.has_table("published")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv", "warehouse.db"]


def test_a_folder_that_cannot_be_made_is_an_engine_error(tmp_path: Path) -> None:
    path = source(tmp_path)
    with engines.opened() as engine, pytest.raises(EngineError) as refused:
        put(engine, release(engine, path), path, "csv")
    assert refused.value.code == "cannot_write"


@pytest.mark.parametrize("call", ["open", "link", "fsync"])
def test_a_folder_that_may_not_be_written_is_an_engine_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise OSError(errno.EROFS, "read-only")

    with engines.opened() as engine:
        made = release(engine, source(tmp_path))
        with monkeypatch.context() as patch, pytest.raises(EngineError, match="read-only"):
            patch.setattr(os, call, refuse)
            put(engine, made, tmp_path, "csv")
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]


@pytest.mark.parametrize("name", ["out.txt", "out.csv.gz", "out.db", "out.json"])
def test_a_release_is_csv_or_parquet(tmp_path: Path, name: str) -> None:
    with engines.opened() as engine, pytest.raises(UsageError):
        ps.write(engine, release(engine, source(tmp_path)), tmp_path / name)
