"""A release of any form leaves in one step: judged from one snapshot, registered, and never half."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import threading
import time
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql import api
from privacy_sql.cli import main
from privacy_sql.counted.base import OUT
from privacy_sql.engines import _postgres_connection
from privacy_sql.errors import EngineError, NoSafeChoice, NotSafe, PrivacySqlError, UsageError
from privacy_sql.history.register import FILE_NAME, Register
from privacy_sql.judge import judge
from privacy_sql.project import running
from privacy_sql.publishing import intents, private_files
from privacy_sql.reporting import records
from tests import engines, killed_runs
from tests.command_line import call

NIGHTLY = os.environ.get("HYPOTHESIS_PROFILE") == "nightly"


# -- killed at every operation -------------------------------------------------------------------------------


@pytest.mark.fault
@pytest.mark.parametrize("form", killed_runs.FORMS)
def test_two_kills_in_a_row_at_any_operations_leave_the_old_release_or_the_new_one(
    tmp_path: Path, form: str
) -> None:
    """A few operations in the build; two hundred, others each time, at night."""
    if form == "postgres":
        engines.connected("postgres").close()
    assert killed_runs.broken(form, tmp_path, 1) == ""


# -- judged and written from one snapshot --------------------------------------------------------------------

PEOPLE = [("a", 21, "flu"), ("a", 21, "cold"), ("b", 21, "flu"), ("c", 35, "gout"), ("d", 35, "flu")]
ONE_APART = "update people set age = 77 where id = 'd'"


def _table(source: Any, declared: str) -> ps.Table:
    return ps.Table(source, ["age"], "illness", identifier="id", values_per_person=declared)


def _ages(rows: list[tuple[Any, ...]]) -> Counter[str]:
    return Counter(str(age) for age, *_ in rows)


@pytest.mark.parametrize("declared", ["multiset", "set"])
def test_a_table_that_changes_between_judging_and_writing_is_published_as_it_was_judged(
    engine: Any, declared: str, tmp_path: Path
) -> None:
    engine.connection.execute("create table people (id varchar(9), age integer, illness varchar(9))")
    for row in PEOPLE:
        engine.connection.execute(f"insert into people values {row}")
    made = ps.publish(engine, _table("people", declared), [ps.KAnonymity(2)], ps.Generalise())
    assert made.safe
    engine.connection.execute(ONE_APART)
    ps.write(engine, made, "table:published", manifest_to=tmp_path / "t.manifest.json")
    rows = engine.connection.execute("select age, illness from published").fetchall()
    assert _ages(rows) == {"21": 3, "35": 2}
    ps.write(engine, made, tmp_path / "out.csv")
    assert "77" not in (tmp_path / "out.csv").read_text()
    # and what is made from the table as it stands now is judged as it stands now
    assert not ps.publish(engine, _table("people", declared), [ps.KAnonymity(2)], ps.Generalise()).safe


def test_a_frame_that_changes_between_judging_and_writing_is_published_as_it_was_judged(
    tmp_path: Path,
) -> None:
    frame = pd.DataFrame(PEOPLE, columns=["id", "age", "illness"])
    with engines.opened() as engine:
        made = ps.publish(engine, _table(frame, "multiset"), [ps.KAnonymity(2)], ps.Generalise())
        frame.loc[frame["id"] == "d", "age"] = 77
        ps.write(engine, made, tmp_path / "out.csv")
    assert "77" not in (tmp_path / "out.csv").read_text()


@pytest.mark.parametrize("population", [None, "everybody"])
def test_everybody_who_is_judged_is_of_one_copy_though_their_tables_change(
    engine: Any, population: str | None
) -> None:
    """People are looked for in other releases, and counted in a population, as they were at the start."""
    engine.connection.execute("create table people (age integer, zip varchar(9), illness varchar(9))")
    engine.connection.execute("create table everybody (age integer, zip varchar(9))")
    for age, area, illness in [(21, "1", "flu"), (21, "2", "cold"), (35, "3", "gout"), (35, "4", "flu")]:
        engine.connection.execute(f"insert into people values ({age}, '{area}', '{illness}')")
        engine.connection.execute(f"insert into everybody values ({age}, '{area}'), ({age}, '5')")
    other = pd.DataFrame({"zip": list("1234"), "illness": ["flu", "cold", "gout", "flu"]})
    others = [{"name": "other", "relation": other, "sensitive": "illness", "columns": ["zip"]}]
    table = ps.Table("people", ["age"], "illness", population=population)
    asked: list[Any] = [ps.Composition(others, "1", "9/10")]
    asked += [ps.KMap(5)] if population else []
    made = ps.publish(engine, table, asked, ps.Generalise())
    said = [verdict.value for verdict in made.verdicts.values()]
    assert said == ([Fraction(1, 2), 4] if population else [1])
    engine.connection.execute("update people set zip = 'else'")
    engine.connection.execute("delete from everybody where zip <> '1'")
    made.base.memory.forget(OUT)
    assert [verdict.value for verdict in judge(made.grouping, asked).values()] == said


def test_several_sensitive_columns_are_judged_from_one_copy() -> None:
    rows = pd.DataFrame({"age": [21, 21, 35, 35], "illness": list("abab"), "job": list("xyxy")})
    with engines.opened() as engine:
        table = ps.Table(rows, ["age"], ["illness", "job"])
        base = ps.publish(engine, table, [ps.KAnonymity(1)], ps.Generalise()).grouping.base
        assert base.sides and {side.source for side in base.sides} == {base.source}


def test_a_source_that_vanishes_during_a_run_has_changed(tmp_path: Path) -> None:
    source = tmp_path / "people.csv"
    source.write_text("age,illness\n21,flu\n21,cold\n")
    with ps.connect() as engine:
        table = ps.Table(source, ["age"], "illness")
        release = ps.publish(engine, table, [ps.KAnonymity(2)], ps.Generalise({}))
        source.unlink()
        with pytest.raises(PrivacySqlError) as refused:  # also next to where it was
            ps.write(engine, release, tmp_path / "out.csv")
    assert refused.value.code == "source_changed" and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_file_put_back_with_its_size_and_time_is_not_the_one_that_was_judged(
    tmp_path: Path, when: str
) -> None:
    path = tmp_path / "people.csv"
    text = "id,age,illness\n" + "".join(f"{i},{a},{v}\n" for i, a, v in PEOPLE)
    path.write_text(text)
    with engines.opened() as engine:
        made = ps.publish(engine, _table(path, "multiset"), [ps.KAnonymity(2)], ps.Generalise())
        then = path.stat()
        path.write_text(text.replace("d,35", "d,77"))
        if when == "after":
            path.write_text(text)
        os.utime(path, ns=(then.st_atime_ns, then.st_mtime_ns))
        with pytest.raises(PrivacySqlError) as refused:
            ps.write(engine, made, tmp_path / "out.csv")
    assert refused.value.code == "source_changed"
    assert [each.name for each in tmp_path.iterdir()] == ["people.csv"]


# by form: values per person, what is required, the method, what is unsafe and what is safe again, the tables
# that appear, and what no group or cell of them may show fewer of
ONE_ILLNESS = "update people set illness = 'flu'"
SEVERAL = "update people set illness = case id when 'a' then 'flu' when 'b' then 'cold' else 'gout' end"
BUSY: dict[str, Any] = {
    **{
        declared: (
            *(declared, ps.KAnonymity(2), ps.Generalise()),
            *(ONE_APART, "update people set age = 35 where id = 'd'"),
            *({"": "select count(*) from {} group by age"}, 2),
        )
        for declared in ("set", "multiset")
    },
    "two_tables": (
        *("one", ps.LDiversity(2), ps.Bucketize(by="anatomy", layout="two_tables"), ONE_ILLNESS, SEVERAL),
        *({"_people": None, "_values": "select count(distinct illness) from {} group by group_id"}, 2),
    ),
    "marginals": (
        *("one", ps.KLink(2), ps.Marginals(collection=[{"age": 0}, {"illness": 0}]), ONE_APART),
        "update people set age = case when id < 'c' then 21 else 35 end",
        {"_marginal_2": "select n_rows from {}"},
        2,
    ),
}


@pytest.mark.parametrize("form", BUSY)
def test_runs_against_a_busy_server_publish_no_unique_row(tmp_path: Path, form: str) -> None:
    """The table is safe at most moments, never for long; every release that comes of it is safe.

    Somebody else writes to what is published as soon as it is there, and nobody vouches for that.
    """
    import psycopg

    declared, required, method, harm, mend, told, least = BUSY[form]
    with engines.connected("postgres") as home:
        home.connection.execute("create table people (id varchar(9), age integer, illness varchar(9))")
        for row in PEOPLE if declared != "one" else [*PEOPLE[1:], ("e", 35, "gout"), ("f", 21, "flu")]:
            home.connection.execute(f"insert into people values {row}")
        stop, pause = threading.Event(), threading.Event()
        out = [""]

        def disturb() -> None:
            with engines.other() as somebody:
                while not stop.is_set():
                    for statement in (harm, mend):
                        somebody.execute(statement.encode())
                    column = "illness" if "illness" in harm or "_values" in told else "age"
                    table = f"{out[0]}{list(told)[-1]}"
                    if out[0] and not pause.is_set() and form in ("set", "two_tables"):
                        with contextlib.suppress(psycopg.errors.UndefinedTable):
                            somebody.execute(f"update {table} set {column} = '666'".encode())

        busy = threading.Thread(target=disturb)
        busy.start()
        vouched = 0
        try:
            for number in range(40 if NIGHTLY else 6):
                pause.clear()
                try:
                    made = ps.publish(home, _table("people", declared), [required], method)
                except (NoSafeChoice, UsageError):
                    continue
                if not made.safe:
                    continue
                place = tmp_path / f"{number}.manifest.json"
                # every second release is left alone
                out[0] = f"out_{number}" if number % 2 else ""
                ps.write(home, made, f"table:out_{number}", manifest_to=place)
                pause.set()
                time.sleep(0.02) if number % 2 else None
                try:
                    ps.verify(place, home)
                except NotSafe:
                    assert number % 2, "nobody changed what was published"
                    continue
                vouched += 1
                for part, question in told.items():
                    table = f"out_{number}{part}"
                    for (n,) in (
                        home.connection.execute(question.format(table)).fetchall() if question else ()
                    ):
                        assert n >= least, (form, number)
        finally:
            stop.set()
            busy.join()
        assert vouched or not NIGHTLY


@pytest.mark.parametrize("layout", ["two_tables", "marginals"])
def test_a_row_that_is_changed_after_the_commit_is_not_vouched_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, layout: str
) -> None:
    rows = pd.DataFrame({"age": [21, 22, 35, 36], "illness": ["flu", "cold", "flu", "cold"]})
    method: Any = ps.Bucketize(by="anatomy", layout="two_tables")
    require: list[Any] = [ps.LDiversity(2)]
    if layout == "marginals":
        method, require = ps.Marginals(collection=[{"age": 1}, {"illness": 0}]), [ps.KLink(2)]
    with engines.opened() as engine:
        made = ps.publish(engine, ps.Table(rows, {"age": ps.Intervals(10)}, "illness"), require, method)
        appear = intents.appear

        def late(*given: Any, **more: Any) -> None:
            name = next(iter(made.parts))
            engine.connection.execute(f"delete from out_{name} where true")
            appear(*given, **more)

        monkeypatch.setattr(intents, "appear", late)
        place = ps.write(engine, made, "table:out", manifest_to=tmp_path / "out.manifest.json")
        with pytest.raises(PrivacySqlError) as found:
            ps.verify(place, engine)
        assert found.value.code == "output_changed"


# -- the register is part of the step ------------------------------------------------------------------------

TWO = """
version: 1
releases:
  by_age: &first
    source: {file: people.csv}
    quasi_identifiers:
      - {column: age, hierarchy: {intervals: [10]}}
      - {column: zip, hierarchy: keep_or_drop}
    sensitive: {column: illness}
    require: {k_anonymity: {k: 2}, composition: {with: register, at: 1, max_exposed: 0}}
    method: {generalise: {levels: {age: 1, zip: 1}}}
    output: {target: out/by_age.csv}
  by_zip:
    source: {file: people.csv}
    quasi_identifiers:
      - {column: age, hierarchy: {intervals: [10]}}
      - {column: zip, hierarchy: keep_or_drop}
    sensitive: {column: illness}
    require: {k_anonymity: {k: 2}, composition: {with: register, at: 1, max_exposed: 0}}
    method: {generalise: {levels: {age: 2, zip: 0}}}
    output: {target: out/by_zip.csv}
"""
# by age {flu, cold} and {cold, gout}, by zip the same: who is in one of each is left with cold
TOWN = "age,zip,illness\n21,1,flu\n22,2,cold\n31,1,cold\n32,2,gout\n"
NEIGHBOURS = "age,zip,illness\n" + "".join(f"*,*,{value}\n" for value in ("flu", "cold", "gout", "none"))


def _town(folder: Path) -> Path:
    (folder / "privacy.yml").write_text(TWO.replace(" &first", ""))
    (folder / "people.csv").write_text(TOWN)
    (folder / "b.csv").write_text(NEIGHBOURS)
    (folder / "b.yml").write_text("file: b.csv\nsensitive: illness\ncolumns: [age, zip]\n")
    added = main.run(["register", "add", "b", str(folder / "b.yml"), "--project", str(folder)])
    assert added.exit == 0, added.errors
    return folder


def test_of_two_runs_at_once_that_expose_somebody_together_one_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = _town(tmp_path)
    judged = threading.Barrier(2)
    compiled = running._compiled

    def both(*given: Any) -> None:
        compiled(*given)
        judged.wait(timeout=120)  # each was judged while nothing of the other was out

    monkeypatch.setattr(running, "_compiled", both)
    exits: dict[str, int] = {}

    def run(name: str) -> None:
        exits[name] = main.run(["run", "--select", name, "--project", str(folder)]).exit

    runs = [threading.Thread(target=run, args=[name]) for name in ("by_age", "by_zip")]
    for each in runs:
        each.start()
    for each in runs:
        each.join()
    assert sorted(exits.values()) == [0, 1], exits
    (out,) = [name for name, code in exits.items() if code == 0]
    assert [path.name for path in sorted((folder / "out").iterdir())] == [
        f"{out}.csv",
        f"{out}.csv.manifest.json",
    ]
    assert set(Register(folder / FILE_NAME).entries()) == {"b", out}


def test_verbs_at_once_keep_the_records_and_hashes_of_each_other(tmp_path: Path) -> None:
    def keep(number: int) -> None:
        for again in range(8):
            records.add(tmp_path, "people", f"verb {number} {again}", {"n": again})
            private_files.keep_hash(tmp_path, f"release {number} {again}", tmp_path / "people.csv", "0")

    both = [threading.Thread(target=keep, args=[number]) for number in range(2)]
    for each in both:
        each.start()
    for each in both:
        each.join()
    known = records.read(tmp_path, "people") or {}
    assert sum(name.startswith("verb") for name in known) == 16
    assert len(json.loads((tmp_path / private_files.HASHES).read_text())) == 16


def test_one_after_the_other_they_are_refused_as_well(tmp_path: Path) -> None:
    folder = _town(tmp_path)
    assert main.run(["run", "--select", "by_age", "--project", str(folder)]).exit == 0
    assert main.run(["run", "--select", "by_zip", "--project", str(folder)]).exit == 1


@pytest.mark.parametrize("damaged", [b"", b"[]", b"{", b"\xff\x00", b"[" * 100_000])
def test_a_damaged_list_of_hashes_is_refused_before_anything_is_out(tmp_path: Path, damaged: bytes) -> None:
    folder = _town(tmp_path)
    place = private_files.private(folder) / private_files.HASHES
    place.write_bytes(damaged)
    told = call("run", "--json", "--select", "by_age", "--project", folder)
    assert (told.exit, told.codes, told.json["published"]) == (3, ["bad_hashes"], False), told.out
    assert place.read_bytes() == damaged and not (folder / "out").exists()
    assert call("run", "--dry-run", "--select", "by_age", "--project", folder).exit == 0
    place.unlink()
    assert call("run", "--select", "by_age", "--project", folder).exit == 0


@pytest.mark.parametrize("registered", [True, False])
def test_who_is_in_which_group_does_not_stay_where_a_killed_run_left_it(
    tmp_path: Path, registered: bool
) -> None:
    folder = _town(tmp_path)
    if not registered:
        (folder / "privacy.yml").write_text(
            TWO.replace(", composition: {with: register, at: 1, max_exposed: 0}", "")
        )
        for path in folder.glob(f"{FILE_NAME}*"):
            path.unlink()
    left = private_files.private(folder) / "groups" / "tmpabcdefgh" / "version"
    left.mkdir(parents=True)
    (left / "groups.parquet").write_text("rows")
    assert main.run(["run", "--select", "by_age", "--project", str(folder)]).exit == 0
    assert not list((folder / "target" / "private").rglob("tmp*"))


REFUSED = ["the target is somebody's", "a value has no label", "it is not safe", "a dry run"]


@pytest.mark.parametrize("refused", REFUSED)
def test_rows_that_a_killed_run_left_hidden_go_whatever_the_next_run_comes_to(
    tmp_path: Path, refused: str
) -> None:
    folder = tmp_path / "project"
    (folder / "out").mkdir(parents=True)
    (folder / "people.csv").write_text("age,illness\n" + "21,flu\n22,cold\n" * 4)
    k, hierarchy = 2, "{file: age.csv}"
    (folder / "age.csv").write_text("21;2*\n22;2*\n")
    if refused == "the target is somebody's":
        (folder / "out" / "people.csv").write_text("mine")
    if refused == "a value has no label":
        (folder / "age.csv").write_text("21;2*\n")
    (folder / "privacy.yml").write_text(
        f"""version: 1
releases:
  people:
    source: {{file: people.csv}}
    quasi_identifiers: [{{column: age, hierarchy: {hierarchy}}}]
    sensitive: illness
    require: {{k_anonymity: {{k: {9 if refused == "it is not safe" else k}}}}}
    method: {{generalise: {{levels: {{age: 1}}}}}}
    output: {{target: out/people.csv}}
"""
    )
    token, parts = "0123456789ab", ("people.csv", "people.csv.old", "people.marginal_2.csv")
    left = [folder / "out" / f".{token}-{name}" for name in (*parts, "people.csv.manifest.json")]
    theirs = [folder / "out" / name for name in (f".{token}-peoples.csv", "0123456789ab-people.csv")]
    # a release that is called like a part of this one, and whose own next run restores it
    theirs += [
        folder / "out" / f".{token}-people.v2.csv.old",
        folder / "out" / ".people.v2.csv.manifest.json.intent",
    ]
    for path in (*left, *theirs):
        path.write_text("rows")
    words = ("run", "--json", *(["--dry-run"] if refused == "a dry run" else []), "--project", folder)
    live = os.open(folder / "out", os.O_RDONLY)
    fcntl.flock(live, fcntl.LOCK_EX)  # while a run is going on, they are its own
    call(*words)
    assert all(path.read_text() == "rows" for path in (*left, *theirs))
    os.close(live)
    told = call(*words)
    assert told.exit == [2, 3, 1, 0][REFUSED.index(refused)], told.out
    assert [path for path in left if path.exists()] == (left if refused == "a dry run" else [])
    assert all(path.read_text() == "rows" for path in theirs)


# -- what is out is said to be out ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "taken", ["target/records", "target/run_results.json", "target/private/sources.json"]
)
def test_a_step_that_fails_after_the_release_is_out_says_that_it_is_out(tmp_path: Path, taken: str) -> None:
    folder = _town(tmp_path)
    place = folder / taken
    place.parent.mkdir(parents=True, exist_ok=True)
    place.touch() if taken.endswith("records") else place.mkdir()
    told = call("run", "--json", "--select", "by_age", "--project", folder)
    assert (told.exit, told.codes, told.json["published"]) == (4, ["published_not_recorded"], True), told.out
    (release,) = told.json["releases"]
    assert release["published"] and release["errors"][0]["published"] and release["exit"] == 4
    assert ps.verify(folder / "out" / "by_age.csv")["rows_out"] == 4
    assert "by_age" in Register(folder / FILE_NAME).entries()
    again = call("run", "--select", "by_age", "--overwrite", "--project", folder)
    assert "nothing was published" not in again.everything.lower() and "PUBLISHED" in again.out


@pytest.mark.fault
@pytest.mark.parametrize("call_", ["rename", "link", "fsync"])
@pytest.mark.parametrize("form", ["file", "parts"])
def test_a_swap_that_fails_anywhere_leaves_the_old_release_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, call_: str
) -> None:
    rows = pd.DataFrame({"age": [21, 22, 35, 36] * 3, "illness": ["flu", "cold"] * 6})
    method: Any = ps.Generalise({"age": 1})
    if form == "parts":
        method = ps.Bucketize(by="anatomy", layout="two_tables")
    with engines.opened() as engine:
        made = [
            ps.publish(
                engine,
                ps.Table(part, {"age": ps.Intervals(10)}, "illness", name="p"),
                [ps.LDiversity(2)],
                method,
            )
            for part in (rows, rows[:8])
        ]
        place = ps.write(engine, made[0], tmp_path / "out.csv")
        before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
        original, failing, left, refused = getattr(os, call_), 0, 0, 0
        while left <= 0:  # until a run has fewer calls than that
            failing += 1
            left = failing

            def fail(*given: Any, **more: Any) -> Any:
                nonlocal left
                left -= 1
                if left == 0:
                    raise OSError(5, "input/output error")
                return original(*given, **more)

            with monkeypatch.context() as patch:
                patch.setattr(os, call_, fail)
                try:
                    ps.write(engine, made[1], tmp_path / "out.csv", overwrite=True)
                except EngineError:
                    refused += 1
                    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
                    continue
            # there was another way, or nothing left to fail; the old one back for the next
            assert ps.verify(place)["rows_in"] == 8 and {path.name for path in tmp_path.iterdir()} == set(
                before
            )
            for name, content in before.items():
                (tmp_path / name).write_bytes(content)
        assert refused or call_ == "link"  # where there are no links the old file leaves its name


# -- tables that others hold ---------------------------------------------------------------------------------


@pytest.mark.fault
def test_a_table_that_another_session_reads_is_an_error_in_time_and_nothing_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_postgres_connection, "LOCK_TIMEOUT", "300ms")
    rows = pd.DataFrame({"age": [21, 22, 35, 36], "illness": ["flu", "cold"] * 2})
    with engines.connected("postgres") as home, engines.other() as somebody:
        made = ps.publish(
            home,
            ps.Table(rows, {"age": ps.Intervals(10)}, "illness"),
            [ps.KAnonymity(2)],
            ps.Generalise({"age": 1}),
        )
        place = ps.write(home, made, "table:published", manifest_to=tmp_path / "p.manifest.json")
        before = place.read_bytes()
        somebody.execute("begin; select * from published")
        with pytest.raises(EngineError) as refused:
            ps.write(home, made, "table:published", manifest_to=place, overwrite=True)
        assert refused.value.code == "locked"
        assert place.read_bytes() == before and [path.name for path in tmp_path.iterdir()] == [place.name]
        somebody.execute("rollback")
        assert ps.verify(place, home)
        assert ps.write(home, made, "table:published", manifest_to=place, overwrite=True)


@pytest.mark.fault
@pytest.mark.parametrize("moment", ["transaction", "commit"])
def test_a_backend_that_is_terminated_leaves_the_old_table_with_its_manifest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    rows = pd.DataFrame({"age": [21, 22, 35, 36], "illness": ["flu", "cold"] * 2})
    home = engines.connected("postgres")
    first, made = (
        ps.publish(
            home,
            ps.Table(part, {"age": ps.Intervals(10)}, "illness", name="p"),
            [ps.KAnonymity(2)],
            ps.Generalise({"age": 1}),
        )
        for part in (rows, rows[:2])
    )
    place = ps.write(home, first, "table:published", manifest_to=tmp_path / "p.manifest.json")
    before = place.read_bytes()
    with engines.other() as somebody:

        def gone(*given: Any, **more: Any) -> Any:
            pid = home.connection.info.backend_pid
            somebody.execute(f"select pg_terminate_backend({pid}, 5000)".encode())
            return original(*given, **more)

        where, name = (api, "_audited") if moment == "transaction" else (intents, "record")
        original = getattr(where, name)
        with monkeypatch.context() as patch, pytest.raises(EngineError):
            patch.setattr(where, name, gone)
            ps.write(home, made, "table:published", manifest_to=place, overwrite=True)
    with ps.connect("postgres:", dsn_env="PRIVACY_SQL_TEST_DSN") as fresh:
        assert ps.verify(place, fresh)
        assert place.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == [place.name]
