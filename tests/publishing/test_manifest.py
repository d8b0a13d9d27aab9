"""A manifest says what was published, keeps the source's secrets, and finds any changed byte."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql import manifest
from privacy_sql.errors import NotSafe, PrivacySqlError, UsageError
from tests.command_line import call
from tests.project.test_project import PROJECT, ROWS, write


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project that has been run."""
    assert call("run", "--project", write(tmp_path, PROJECT)).exit == 0
    return tmp_path


def changes(content: bytes) -> list[bytes]:
    """At every place one byte changed, and now and then one lost or doubled."""
    found = [content[:place] + bytes([byte ^ 1]) + content[place + 1 :] for place, byte in enumerate(content)]
    for place in range(0, len(content), 7):
        found.append(content[:place] + content[place + 1 :])
        found.append(content[: place + 1] + content[place:])
    return [each for each in found if each != content]


def test_any_changed_byte_of_a_manifest_is_found(folder: Path) -> None:
    place = folder / "out" / "people.csv.manifest.json"
    content = place.read_bytes()
    assert ps.verify(place)["release"] == "people"
    for changed in changes(content):
        place.write_bytes(changed)
        with pytest.raises(NotSafe):
            manifest.read(place)
    place.write_bytes(content)
    assert ps.verify(place)


def test_any_changed_byte_of_an_output_is_found(folder: Path) -> None:
    released = folder / "out" / "people.csv"
    content = released.read_bytes()
    for changed in changes(content):
        released.write_bytes(changed)
        with pytest.raises(NotSafe):
            ps.verify(released)
    released.write_bytes(content)
    assert ps.verify(released)


@pytest.mark.parametrize(
    "changed",
    [
        "update t set age = '30-39' where age = '20-29'",
        "delete from t where age = '20-29'",
        "insert into t select * from t limit 1",
        "alter table t add column more integer",
        "alter table t rename illness to disease",
        "drop table t",
        "update t set illness = 'cold' where rowid = (select min(rowid) from t where illness = 'flu')",
    ],
)
def test_a_changed_table_is_found_and_another_order_of_its_rows_is_not(tmp_path: Path, changed: str) -> None:
    rows = pd.DataFrame({"age": [str(20 + n) for n in range(16)], "illness": ["flu", "cold"] * 8})
    with ps.connect(f"duckdb:{tmp_path / 'warehouse.db'}") as engine:
        table = ps.Table(rows, {"age": ps.Intervals(10)}, "illness")
        made = ps.publish(engine, table, [ps.KAnonymity(2)], ps.Generalise({"age": 1}))
        place = ps.write(engine, made, "table:t", manifest_to=tmp_path / "t.manifest.json")
        engine.connection.execute("create table u as from t order by illness desc, age desc")
        engine.connection.execute("drop table t; alter table u rename to t")
        assert ps.verify(place, engine)["rows_out"] == 16
        engine.connection.execute(changed)
        with pytest.raises(NotSafe):
            ps.verify(place, engine)
        with pytest.raises(UsageError, match="database"):
            ps.verify(place)


def test_a_release_exists_only_with_its_manifest(folder: Path) -> None:
    (folder / "out" / "people.csv.manifest.json").unlink()
    told = call("verify", "--json", folder / "out" / "people.csv")
    assert (told.exit, told.codes) == (2, ["no_manifest"])


def test_a_manifest_without_its_release_is_a_difference(folder: Path) -> None:
    (folder / "out" / "people.csv").unlink()
    told = call("verify", "--json", folder / "out" / "people.csv.manifest.json")
    assert (told.exit, told.json["safe"]) == (1, False)


@pytest.mark.parametrize("content", ["", "{}", "[]", "null", "1", '{"checksum": 1}', "[" * 100_000, "\udcff"])
def test_what_is_no_manifest_is_a_difference(folder: Path, content: str) -> None:
    place = folder / "out" / "people.csv.manifest.json"
    place.write_bytes(content.encode(errors="surrogateescape"))
    assert call("verify", "--json", place).exit == 1


def test_a_manifest_made_whole_again_without_an_output_is_a_difference(folder: Path) -> None:
    place = folder / "out" / "people.csv.manifest.json"
    place.write_bytes(manifest.canonical({"release": "people"}))
    assert call("verify", "--json", place).exit == 1


def test_a_release_may_be_moved_with_its_manifest(folder: Path) -> None:
    shutil.move(folder / "out", folder / "elsewhere")
    assert call("verify", folder / "elsewhere" / "people.csv").exit == 0


def test_a_manifest_says_what_was_published_and_how(folder: Path) -> None:
    content = manifest.read(folder / "out" / "people.csv.manifest.json")
    assert (content["rows_in"], content["rows_out"], content["suppressed"]) == (8, 8, 0)
    assert content["method"] == "generalise" and content["choice"] == {"levels": {"age": 1, "zip": 2}}
    assert content["hierarchies"]["age"]["levels"] and len(content["hierarchies"]["age"]["checksum"]) == 64
    assert all(verdict["safe"] for verdict in content["verdicts"]) and len(content["verdicts"]) == 3
    assert content["versions"]["privacy_sql"] == ps.__version__ and "duckdb" in content["versions"]["engine"]
    assert "select" in content["sql"]
    released = (folder / "out" / "people.csv").read_bytes()
    assert content["output"]["sha256"] == hashlib.sha256(released).hexdigest()


def test_the_hash_of_the_source_is_keyed_and_stays_private(folder: Path) -> None:
    private = folder / "target" / "private"
    kept = json.loads((private / "sources.json").read_text())["people"]["hmac_sha256"]
    key = (private / "source.key").read_bytes()
    assert len(key) == 32 and private.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in private.iterdir()} == {0o600}
    import hmac

    assert kept == hmac.new(key, ROWS.encode(), "sha256").hexdigest()
    unkeyed = {hashlib.new(name, ROWS.encode()).hexdigest() for name in ("sha256", "md5", "sha1")}
    for path in folder.rglob("*"):
        if path.is_file():
            text = path.read_bytes()
            assert not any(each.encode() in text for each in unkeyed), path
            assert path.parent == private or (kept.encode() not in text and key not in text), path


def test_another_run_uses_the_same_key_and_another_source_another_hash(folder: Path) -> None:
    private = folder / "target" / "private"
    before, key = (private / "sources.json").read_text(), (private / "source.key").read_bytes()
    call("run", "--overwrite", "--project", folder)
    assert (private / "sources.json").read_text() == before
    write(folder, PROJECT, ROWS + "9,30,02131,flu,1,x\n10,31,02132,cold,1,x\n")
    assert call("run", "--overwrite", "--project", folder).exit == 0
    assert (private / "sources.json").read_text() != before
    assert (private / "source.key").read_bytes() == key


def test_check_keeps_no_hash(tmp_path: Path) -> None:
    call("check", "--project", write(tmp_path, PROJECT))
    assert not (tmp_path / "target").exists()


def test_a_run_that_is_not_safe_leaves_no_manifest(tmp_path: Path) -> None:
    content: Any = json.loads(json.dumps(PROJECT))
    content["releases"]["people"]["require"] = {"k_anonymity": {"k": "9"}}
    assert call("run", "--project", write(tmp_path, content)).exit == 1
    assert not (tmp_path / "out").exists() and not list(tmp_path.rglob("*.manifest.json"))


def test_a_source_that_is_written_to_while_it_is_published_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from privacy_sql.publishing import private_files

    hashed = private_files.source_hash

    def change(private: Path, source: Path) -> str:
        digest = hashed(private, source)
        source.write_text(source.read_text().replace("cold", "flu "))
        return digest

    monkeypatch.setattr(private_files, "source_hash", change)
    told = call("run", "--json", "--project", write(tmp_path, PROJECT))
    assert (told.exit, told.codes) == (3, ["source_changed"])
    assert not list((tmp_path / "out").iterdir())


def test_reading_a_manifest_never_raises_anything_but_an_error_of_ours(folder: Path) -> None:
    place = folder / "out" / "people.csv.manifest.json"
    whole = json.loads(place.read_text())
    refused = set()
    for key in whole:
        for value in (None, 1, [], {}, "x"):
            place.write_bytes(manifest.canonical({**whole, key: value}))
            try:
                ps.verify(place)
            except PrivacySqlError:
                refused.add(key)
    assert refused == {"output"}  # the rest is what it says; its checksum stands in the register
