"""A record of intent may come from anybody, and somebody else may write to a target during a swap."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.counted.fingerprints import of_table
from privacy_sql.engines.duckdb import DuckDB
from privacy_sql.errors import DataError, PrivacySqlError
from privacy_sql.publishing import intents
from privacy_sql.query.template import Query
from tests import engines
from tests.command_line import call
from tests.conftest import NIGHTLY
from tests.in_time import in_time

ROWS = pd.DataFrame({"age": [21, 22, 35, 36] * 3, "illness": ["flu", "cold"] * 6})
TOKEN = "0123456789ab"
ZEROS = "0" * 64


def made(engine: ps.Engine, rows: pd.DataFrame = ROWS) -> Any:
    table = ps.Table(rows, {"age": ps.Intervals(10)}, "illness", name="p")
    return ps.publish(engine, table, [ps.KAnonymity(2)], ps.Generalise({"age": 1}))


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def record(place: Path, **more: Any) -> dict[str, Any]:
    """A record that a run of the release could have written, except for what is named."""

    def file(name: str) -> dict[str, Any]:
        hidden = f".{TOKEN}-{name}"
        return {"name": name, "hidden": hidden, "sha256": ZEROS, "aside": f"{hidden}.old", "old": None}

    files = [file(place.name.removesuffix(".manifest.json")), file(place.name)]
    words = {"release": "p", "files": files, "tables": [], "gone": [], "register": None, "overwrite": True}
    return {**words, **more}


def changed(field: str, value: str) -> Callable[[dict[str, Any], Path], None]:
    def change(content: dict[str, Any], home: Path) -> None:
        content["files"][0][field] = value.format(home=home)

    return change


def gone(name: str) -> Callable[[dict[str, Any], Path], None]:
    def change(content: dict[str, Any], home: Path) -> None:
        sha256 = hashlib.sha256((home / "thesis.tex").read_bytes()).hexdigest()
        content["gone"] = [[name.format(home=home), sha256]]

    return change


def by_link(content: dict[str, Any], home: Path) -> None:
    (home / "received" / content["files"][0]["hidden"]).symlink_to(home / "thesis.tex")


PLANTED: dict[str, Callable[[dict[str, Any], Path], None]] = {
    "a folder above is hidden": changed("hidden", "../work"),
    "any file is hidden": changed("hidden", "{home}/thesis.tex"),
    "a neighbour is hidden": changed("hidden", "notes.txt"),
    "any file is put aside": changed("aside", "{home}/thesis.tex"),
    "a neighbour is put aside": changed("aside", "notes.txt"),
    "any file is the target": changed("name", "{home}/thesis.tex"),
    "a neighbour is the target": changed("name", "notes.txt"),
    "the folder is the target": changed("name", ""),
    "the folder above is the target": changed("name", ".."),
    "no checksum": changed("sha256", "0"),
    "any file is gone": gone("{home}/thesis.tex"),
    "a file above is gone": gone("../thesis.tex"),
    "a neighbour is gone": gone("notes.txt"),
    "any register": lambda content, home: content.update(register=str(home / "privacy_register.jsonl")),
    "no register": lambda content, home: content.update(register="../thesis.tex"),
    "no files": lambda content, home: content.update(files=[]),
    "text": lambda content, home: content.update(files="text"),
    "a link is hidden": by_link,
}


@pytest.mark.parametrize("planted", PLANTED)
def test_a_record_that_names_anything_else_is_refused_and_touches_nothing(
    tmp_path: Path, planted: str
) -> None:
    (tmp_path / "received").mkdir()
    (tmp_path / "work").mkdir()
    for name in ("work/years.txt", "thesis.tex", "received/notes.txt"):
        (tmp_path / name).write_text("precious")
    with engines.opened() as engine:
        place = ps.write(engine, made(engine), tmp_path / "received" / "p.csv")
        content = record(place)
        PLANTED[planted](content, tmp_path)
        intents.path_of(place).write_text(json.dumps(content))
        before = everything(tmp_path)
        for read in (
            lambda: ps.verify(place),
            lambda: ps.verify(place.with_name("p.csv")),
            lambda: ps.write(engine, made(engine), tmp_path / "received" / "p.csv", overwrite=True),
        ):
            with pytest.raises(DataError) as refused:
                read()
            assert refused.value.code == "bad_intent" and everything(tmp_path) == before


@pytest.mark.parametrize(
    "relation",
    [
        {"name": "nothing", "hidden": "customers", "aside": f"ps_old_{TOKEN}"},
        {"name": "nothing", "hidden": f"ps_new_{TOKEN}", "aside": "customers"},
        {"name": "nothing", "hidden": f"main.ps_new_{TOKEN}", "aside": f"main.ps_old_{TOKEN}"},
        {"name": "nothing", "hidden": f"ps_new_{TOKEN}_a.customers", "aside": f"ps_old_{TOKEN}_a.customers"},
        {"name": "customers", "hidden": f"ps_new_{TOKEN}", "aside": f"ps_old_{TOKEN}"},
    ],
)
def test_no_table_that_a_run_would_not_have_made_is_dropped(tmp_path: Path, relation: dict[str, Any]) -> None:
    from privacy_sql.counted.fingerprints import of_table

    with engines.opened() as engine:
        engine.connection.execute("create table customers as select 1 as id")
        place = ps.write(engine, made(engine), "table:pub", manifest_to=tmp_path / "p.manifest.json")
        own = record(place)["files"][1:]
        tables = [{**relation, "marks": of_table(engine, "customers"), "old": None}]
        intents.path_of(place).write_text(json.dumps(record(place, files=own, tables=tables)))
        before = place.read_bytes()
        try:
            ps.verify(place, engine)
        except DataError as refused:
            assert refused.code == "bad_intent" and relation["name"] == "nothing"
        assert engine.has_table("customers") and engine.has_table("pub") and place.read_bytes() == before


def test_a_valid_record_removes_only_bytes_with_its_checksums(tmp_path: Path) -> None:
    with engines.opened() as engine:
        place = ps.write(engine, made(engine), tmp_path / "p.csv")
    for name in (f".{TOKEN}-p.csv", f".{TOKEN}-p.csv.old"):
        (tmp_path / name).write_text("mine")
    intents.path_of(place).write_text(json.dumps(record(place)))
    assert ps.verify(place)["rows_out"] == 12
    assert not intents.path_of(place).exists()
    assert [content for content in everything(tmp_path).values() if content == b"mine"] == [b"mine"] * 2


# -- somebody else writes to the target during the swap -----------------------------------------------------


def in_place(target: Path) -> None:
    target.write_text("mine")


def replaced(target: Path) -> None:
    new = target.with_name("new")
    new.write_text("mine")
    os.replace(new, target)


def folder(target: Path) -> None:
    target.unlink(missing_ok=True)
    target.mkdir()
    (target / "inside").write_text("mine")


def link(target: Path) -> None:
    target.unlink(missing_ok=True)
    target.symlink_to("nowhere")


# what a run does to the target: the call, and which of its two names is the target
MOMENTS = {
    "before the old one is put aside": ("rename", 0),
    "before the new one has its name": ("link", 1),
    "before it is read again": ("unlink", None),
}


@pytest.mark.parametrize("act", [in_place, replaced, folder, link])
@pytest.mark.parametrize("moment", MOMENTS)
def test_what_somebody_writes_during_a_swap_is_kept_and_the_run_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str, act: Callable[[Path], None]
) -> None:
    name, of_target = MOMENTS[moment]
    target, done = tmp_path / "p.csv", []
    with engines.opened() as engine:
        ps.write(engine, made(engine), target)
        original = getattr(os, name)

        def late(*given: Any, **more: Any) -> Any:
            if of_target is None:
                theirs = str(given[0]).endswith("-p.csv")
            else:
                theirs = Path(given[of_target]) == target
            if theirs and not done:
                done.append(name)
                act(target)
            return original(*given, **more)

        monkeypatch.setattr(os, name, late)
        with pytest.raises(PrivacySqlError) as refused:
            ps.write(engine, made(engine, ROWS[:8]), target, overwrite=True)
        assert done and refused.value.code in ("target_exists", "cannot_write"), refused.value
        if act is link:
            assert [path for path in tmp_path.iterdir() if path.is_symlink()] == [target]
        else:
            assert b"mine" in everything(tmp_path).values()
            assert any(path.read_bytes() == b"mine" for path in (target, target / "inside") if path.is_file())
        assert not intents.path_of(tmp_path / "p.csv.manifest.json").exists()
        with pytest.raises(PrivacySqlError):
            ps.verify(tmp_path / "p.csv.manifest.json")


def test_two_files_of_somebody_else_are_both_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target, rename, link_, done = tmp_path / "p.csv", os.rename, os.link, []

    def put_aside(path: Any, name: Any, **more: Any) -> None:
        if Path(path) == target and not done:
            done.append(1)
            target.write_text("mine")
        rename(path, name, **more)

    def named(path: Any, name: Any, **more: Any) -> None:
        if Path(name) == target and len(done) == 1:
            done.append(2)
            target.write_text("theirs")
        link_(path, name, **more)

    with engines.opened() as engine:
        ps.write(engine, made(engine), target)
        monkeypatch.setattr(os, "rename", put_aside)
        monkeypatch.setattr(os, "link", named)
        with pytest.raises(PrivacySqlError) as refused:
            ps.write(engine, made(engine, ROWS[:8]), target, overwrite=True)
    assert target.read_text() == "theirs"
    (kept,) = [path for path in tmp_path.iterdir() if path.is_file() and path.read_bytes() == b"mine"]
    assert kept.name in refused.value.message and not kept.name.startswith(".")


# -- a table of DuckDB that another connection of the same process writes ------------------------------------

ROWS_OF_THEIRS = {
    "insert": "insert into pub values ('theirs', 'flu')",
    "update": "update pub set age = 'theirs'",
    "delete": "delete from pub where illness = 'flu'",
}
OTHERS = {
    **ROWS_OF_THEIRS,
    "insert beside an index": ROWS_OF_THEIRS["insert"],
    "add a column": "alter table pub add column theirs varchar default 'theirs'",
    "replace": "create or replace table pub as select 'theirs' as age",
    "rename": "alter table pub rename to theirs",
}
AT_THE_END = 100  # a statement that no swap has


@dataclass
class Somebody:
    """Another connection: it writes before a statement of ours, and commits then or some statements later."""

    connection: duckdb.DuckDBPyConnection
    statement: str
    at: int
    waits: int
    n: int = 0  # statements of ours
    outcome: str = "nothing"

    def meet(self) -> None:
        self.n += 1
        if self.n == self.at:
            self.say(self.statement, "waits")
        if self.outcome == "waits" and self.n >= self.at + self.waits:
            self.end()

    def end(self) -> None:
        if self.outcome == "waits":
            self.say("commit", "committed")

    def say(self, statement: str, outcome: str) -> None:
        try:
            self.connection.execute(statement)
            self.outcome = outcome
        except duckdb.Error:
            self.outcome = "refused"


def swap(connection: duckdb.DuckDBPyConnection, somebody: Somebody) -> str:
    """Put a new table in the place of `pub`, as a run does; returns the code of the error, if any."""
    run = DuckDB._run

    def met(self: DuckDB, query: Query, values: Any = None) -> Any:
        somebody.meet()
        return run(self, query, values)

    with ps.connect(connection) as engine, pytest.MonkeyPatch.context() as patch:
        old = of_table(engine, "pub")
        relation = intents.Relation("pub", f"ps_new_{TOKEN}", {}, f"ps_old_{TOKEN}", old)
        patch.setattr(DuckDB, "_run", met)
        try:
            with engine.transaction():
                engine.write_table(Query("select 'new' as age, 'flu' as illness", "rows"), relation.hidden)
                intents.appear_table(relation, engine)
        except PrivacySqlError as problem:
            return problem.code
        finally:
            somebody.end()
    return ""


@pytest.mark.parametrize(
    ("what", "waits"),
    [*((what, 0) for what in OTHERS), *((what, n) for what in ROWS_OF_THEIRS for n in (1, AT_THE_END))],
)
def test_what_somebody_commits_to_a_table_at_any_statement_of_a_swap_is_never_lost(
    what: str, waits: int
) -> None:
    outcomes = Counter[str]()
    # a build looks at every third statement
    for at in itertools.count(1, 1 if NIGHTLY else 3):
        connection = duckdb.connect()
        connection.execute("create schema home; use home")  # another connection begins in another schema
        connection.execute("create table pub as select 'old' as age, unnest(['flu', 'cold']) as illness")
        if "index" in what:
            connection.execute("create index their_index on pub (age)")
        somebody = Somebody(connection.cursor(), OTHERS[what], at, waits)
        somebody.connection.execute("use home; begin")
        told = swap(connection, somebody)
        if somebody.outcome == "nothing":
            break
        outcomes[somebody.outcome] += 1
        names = connection.execute("select table_name from duckdb_tables() where not temporary").fetchall()
        tables = {name: connection.execute(f"select * from {name}").fetchall() for (name,) in names}
        if told:
            assert told == "target_exists" and tables.get("pub") != [("new", "flu")], at
            if somebody.outcome == "committed":
                assert "theirs" in str(tables) or tables["pub"] == [("old", "cold")], at
        else:
            assert tables == {"pub": [("new", "flu")]} and somebody.outcome == "refused", at
        if "pub" in tables:  # and it can be written again
            connection.execute("insert into pub select * from pub")
        connection.close()
    # whoever waits for our commit comes too late
    assert outcomes["refused"] and (outcomes["committed"] or waits == AT_THE_END)


def fifo(target: Path) -> None:
    target.unlink(missing_ok=True)
    os.mkfifo(target)


@pytest.mark.parametrize("act", [in_place, replaced, folder, link, fifo])
def test_when_the_old_release_can_not_go_back_an_error_says_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, act: Callable[[Path], None]
) -> None:
    """Somebody's file appears between the rename of the old one and the link of the new one."""
    target, link_, done = tmp_path / "p.csv", os.link, []

    def late(path: Any, name: Any, **more: Any) -> None:
        if Path(name) == target and not done:
            done.append(act(target))
        link_(path, name, **more)

    with engines.opened() as engine:
        ps.write(engine, made(engine), target)
        old = target.read_bytes()
        monkeypatch.setattr(os, "link", late)
        with pytest.raises(PrivacySqlError) as refused, in_time():
            ps.write(engine, made(engine, ROWS[:8]), target, overwrite=True)
        (kept,) = [path for path in tmp_path.iterdir() if path.is_file() and path.read_bytes() == old]
        assert kept.name in refused.value.message and not kept.name.startswith("."), refused.value
        with pytest.raises(PrivacySqlError) as again, in_time():  # theirs is still there
            ps.write(engine, made(engine, ROWS[:8]), target, overwrite=True)
        assert again.value.code == "target_exists" and kept.read_bytes() == old
        os.rename(target, tmp_path / "theirs")
        os.rename(kept, target)
        assert ps.verify(target)["rows_out"] == 12
        ps.write(engine, made(engine, ROWS[:8]), target, overwrite=True)
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


# -- a file of the old release that the new one does not have ------------------------------------------------


def marginals(engine: ps.Engine, columns: list[dict[str, int]]) -> Any:
    table = ps.Table(ROWS, {"age": ps.Intervals(10)}, "illness", name="p")
    return ps.publish(engine, table, [ps.KLink(2)], ps.Marginals(collection=columns))


@pytest.mark.parametrize("act", [in_place, replaced, folder, link, fifo])
@pytest.mark.parametrize("moment", ["rename", "unlink"])
def test_what_somebody_writes_over_a_file_that_goes_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, act: Callable[[Path], None], moment: str
) -> None:
    target, going, original, done = tmp_path / "p.csv", tmp_path / "p.marginal_2.csv", getattr(os, moment), []

    def late(path: Any, *given: Any, **more: Any) -> Any:
        if Path(path).name.endswith(going.name + ".old" * (moment == "unlink")) and not done:
            done.append(act(going))
        return original(path, *given, **more)

    with engines.opened() as engine:
        ps.write(engine, marginals(engine, [{"age": 1}, {"illness": 0}]), target)
        monkeypatch.setattr(os, moment, late)
        with in_time():
            place = ps.write(engine, marginals(engine, [{"age": 1}]), target, overwrite=True)
        assert done and ps.verify(place)["release"] == "p"
    if act is fifo:
        assert going.is_fifo()
    else:
        assert going.is_symlink() or b"mine" in everything(tmp_path).values()
    assert os.path.lexists(going) and not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("changed_after", [False, True])
def test_a_kill_while_a_file_goes_leaves_the_new_release_or_the_old_one_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed_after: bool
) -> None:
    class Killed(BaseException):
        pass

    def killed(*given: Any) -> Any:
        raise Killed

    target = tmp_path / "p.csv"
    with engines.opened() as engine:
        ps.write(engine, marginals(engine, [{"age": 1}, {"illness": 0}]), target)
        before = everything(tmp_path)
        with monkeypatch.context() as patch:
            patch.setattr(intents, "_remove_ours", killed)  # what follows the rename
            with pytest.raises(Killed):
                ps.write(engine, marginals(engine, [{"age": 1}]), target, overwrite=True)
        if changed_after:
            (tmp_path / "p.marginal_1.csv").write_text("mine")
        said = intents.settle(tmp_path / "p.csv.manifest.json", engine)
    if changed_after:  # the new release is not whole any more
        own = everything(tmp_path)
        assert own.pop("p.marginal_1.csv") == b"mine" and "undid" in said and "before is now" in said
        assert sorted(own.values()) == sorted(before.values())
    else:
        assert ps.verify(tmp_path / "p.csv.manifest.json")["release"] == "p" and "finished" in said
        assert sorted(everything(tmp_path)) == ["p.csv.manifest.json", "p.marginal_1.csv"]


# -- what is no regular file is not ours, and is never opened ------------------------------------------------


@pytest.mark.parametrize("name", ["p.csv", "p.csv.manifest.json"])
def test_a_fifo_under_the_name_of_a_target_is_refused_and_nobody_waits(tmp_path: Path, name: str) -> None:
    with engines.opened() as engine, in_time():
        place = ps.write(engine, made(engine), tmp_path / "p.csv")
        (tmp_path / name).unlink()
        os.mkfifo(tmp_path / name)
        for read in (
            lambda: ps.write(engine, made(engine), tmp_path / "p.csv", overwrite=True),
            lambda: ps.verify(tmp_path / "p.csv"),
            lambda: ps.verify(place),
        ):
            with pytest.raises(PrivacySqlError) as refused:
                read()
            assert refused.value.code in ("target_exists", "output_changed", "no_manifest"), refused.value
    assert (tmp_path / name).is_fifo()


@pytest.mark.parametrize("safe", [False, True])
def test_what_a_run_began_to_write_goes_whatever_the_next_run_comes_to(tmp_path: Path, safe: bool) -> None:
    """An engine without transactions keeps what a kill leaves, and others can read it."""
    (tmp_path / "people.csv").write_text("age,ill\n30,flu\n" + "30,cold\n" * safe)
    (tmp_path / "privacy.yml").write_text(
        "version: 1\nconnections:\n  store: {type: duckdb, path: s.db}\nreleases:\n  people:\n"
        "    source: {file: people.csv}\n    quasi_identifiers: [age]\n    sensitive: ill\n"
        "    require: {k_anonymity: {k: 2}}\n    method: {generalise: {levels: {age: 0}}}\n"
        "    output: {connection: store, relation: published}\n"
    )
    with duckdb.connect(tmp_path / "s.db") as connection:
        connection.execute("create table ps_new_aaaaaaaaaaaa as select 'row' as of_somebody")
        connection.execute("create table ps_new_of_somebody_else as select 1 as one")
    note = tmp_path / "target" / ".people.manifest.json.begun"
    note.parent.mkdir()
    note.write_text('["ps_new_aaaaaaaaaaaa"]')
    assert call("run", "--project", tmp_path).exit == (0 if safe else 1)
    assert not note.exists()
    with duckdb.connect(tmp_path / "s.db") as connection:
        found = {name for (name,) in connection.execute("select table_name from duckdb_tables()").fetchall()}
    assert found == {"ps_new_of_somebody_else"} | ({"published"} if safe else set())
