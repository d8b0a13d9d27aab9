"""A manifest says what was published, keeps the source's secrets, and finds any changed byte."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import MISSING, replace
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql import api, manifest, registry
from privacy_sql.errors import NotSafe, PrivacySqlError, UsageError
from privacy_sql.manifest import Manifest
from tests import engines, parts
from tests.command_line import call
from tests.conftest import FIXTURES
from tests.project.test_project import PROJECT, ROWS, write


@pytest.fixture(scope="module")
def run_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that has been run."""
    made = write(tmp_path_factory.mktemp("run_once"), PROJECT)
    assert call("run", "--project", made).exit == 0
    return made


@pytest.fixture
def folder(run_once: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return shutil.copytree(run_once, tmp_path, dirs_exist_ok=True)


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
    assert (content.rows_in, content.rows_out, content.suppressed) == (8, 8, 0)
    assert content.method == "generalise" and content.choice == {"levels": {"age": 1, "zip": 2}}
    assert content.hierarchies["age"].levels and len(content.hierarchies["age"].checksum) == 64
    assert all(verdict.safe for verdict in content.verdicts) and len(content.verdicts) == 3
    assert content.versions.privacy_sql == ps.__version__ and "duckdb" in content.versions.engine
    assert "select" in content.sql
    released = (folder / "out" / "people.csv").read_bytes()
    assert [file.sha256 for file in content.files] == [hashlib.sha256(released).hexdigest()]


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


# -- the record and its bytes -------------------------------------------------------------------------------


def wrong_values(kind: object) -> list[object]:
    """Values of JSON that a field of this type never has."""
    every: list[object] = [None, 1, 0.5, "x", True, [1], {"x": [{}]}]
    inner = get_args(kind) if isinstance(kind, UnionType) else (kind,)
    mapping = any(get_origin(each) is Mapping for each in inner)
    fits = {type(value): type(value) in inner or (type(value) is int and float in inner) for value in every}
    free = any(get_origin(each) is Mapping and get_args(each)[1] is Any for each in inner)
    return [value for value in every if not fits[type(value)] and not (isinstance(value, dict) and free)] + (
        ["x"] if mapping else []
    )


@pytest.mark.parametrize("method", registry.available("methods"))
def test_what_is_described_is_what_is_read_back_field_by_field(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    monkeypatch.chdir(tmp_path)
    described: list[Manifest] = []
    make = api.describe

    def kept(*given: Any) -> Manifest:
        described.append(make(*given))
        return described[-1]

    monkeypatch.setattr(api, "describe", kept)
    refused = parts.written_down().get(method, ([], ""))[0]
    fitting = [name for name in registry.available("criteria") if name not in refused][:3]
    people = replace(parts.table(), domains={"age": [20, 30, 40, 50]})
    for number, asked in enumerate(fitting or ["nothing"]):  # noise takes no requirement
        with engines.opened() as engine:
            require = [parts.criterion(asked)] if fitting else []
            release = ps.publish(engine, people, require, parts.method(method))
            if number % 2:  # with what only a project says
                said = {"purpose": "a test", "limits": {asked: "enough"}}
                release = replace(release, signoff=said, determination={"threshold": "0.1"})
            escape = {"formulas": "escape"} if number % 3 else None
            places = [
                ps.write(engine, release, f"{asked}.csv", csv=escape),
                ps.write(engine, release, "table:out", manifest_to=f"{asked}.manifest.json", overwrite=True),
            ]
            for place, made in zip(places, described[-2:], strict=True):
                read = manifest.read(place)
                for name in Manifest.declared():
                    assert vars(read)[name] == vars(made)[name], (asked, name)
                assert read == made and not read.beyond
                assert read.to_bytes() == made.to_bytes() == place.read_bytes()
                assert ps.verify(place, engine) == json.loads(place.read_bytes())
    assert described and {type(made.output) for made in described} <= set(get_args(manifest.Output))


OLD = sorted((FIXTURES / "manifests" / "0.1.0").glob(f"*{manifest.SUFFIX}"))


@pytest.mark.parametrize("place", OLD, ids=lambda place: place.name.partition(".")[0])
def test_a_manifest_of_version_0_1_0_is_read_and_written_as_it_is(place: Path) -> None:
    content = manifest.read(place)
    assert content.versions.privacy_sql == "0.1.0" and content.to_bytes() == place.read_bytes()
    told = json.loads(place.read_bytes())
    young = {"repeated", "rows_rounded_to", "baseline", "insensitive", "signoff", "determination"}
    assert set(Manifest.declared()) - set(told) - {"parts"} == young and not content.beyond
    assert (content.repeated, content.rows_rounded_to, content.insensitive) == (None, 0, None)
    assert content.to_json() == told and content.checksum == told["checksum"]
    if content.files:
        assert ps.verify(place) == told and call("verify", place).exit == 0
        assert ps.verify(place.with_name(content.files[-1].file)) == told


def test_every_method_of_version_0_1_0_has_a_manifest_here() -> None:
    methods = {manifest.read(place).method for place in OLD}
    assert methods == set(registry.available("methods")) and len(OLD) == len(methods) + 1  # and a table


@pytest.mark.parametrize("name", Manifest.declared())
def test_a_manifest_without_a_field_or_with_another_type_there_is_refused(tmp_path: Path, name: str) -> None:
    """Its checksum is right, so only the record can tell."""
    place = tmp_path / "people.csv.manifest.json"
    kind, default = Manifest.declared()[name]
    whole = json.loads((OLD[0]).read_bytes())
    if name not in whole:
        assert default is not MISSING
    else:
        place.write_bytes(manifest.canonical({key: told for key, told in whole.items() if key != name}))
        if default is MISSING:
            with pytest.raises(NotSafe, match=f'people.csv.manifest.json has no "{name}"') as refused:
                manifest.read(place)
            assert refused.value.hint and refused.value.code == "manifest_changed"
        else:
            assert vars(manifest.read(place))[name] == default
    values = wrong_values(kind)
    assert len(values) > 2
    for value in values:
        place.write_bytes(manifest.canonical({**whole, name: value}))
        with pytest.raises(NotSafe, match=rf'people.csv.manifest.json (has no )?"{name}[".[]') as refused:
            manifest.read(place)
        assert "x" not in str(refused.value).rpartition(" is not ")[2].split()  # the value itself


@pytest.mark.parametrize(
    "path",
    [
        *(("versions", name) for name in manifest.Versions.declared()),
        *(("columns", 0, name) for name in manifest.Column.declared()),
        *(("verdicts", 0, name) for name in manifest.PublishedVerdict.declared()),
        *(("hierarchies", "age", name) for name in manifest.Labels.declared()),
    ],
    ids=str,
)
def test_a_part_of_a_manifest_without_a_field_is_refused_by_its_place(tmp_path: Path, path: Any) -> None:
    place = tmp_path / "people.csv.manifest.json"
    whole = json.loads(OLD[0].read_bytes())
    *way, last = path
    inner: Any = whole
    for step in way:
        inner = inner[step]
    for told in ({key: value for key, value in inner.items() if key != last}, {**inner, last: [{}]}):
        inner.clear()
        inner.update(told)
        place.write_bytes(manifest.canonical(whole))
        with pytest.raises(NotSafe, match=last) as refused:
            manifest.read(place)
        named = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).lstrip(".")
        assert f'"{named}' in str(refused.value)


def test_an_output_that_is_neither_files_nor_tables_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "people.csv.manifest.json"
    for old in OLD:
        whole = json.loads(old.read_bytes())
        for several in ("files", "relations"):
            for output in (whole["output"], *whole["output"].get(several, ())):
                for key in [key for key in output if key != "csv"]:
                    value = output.pop(key)
                    place.write_bytes(manifest.canonical(whole))
                    with pytest.raises(NotSafe, match='"output'):
                        manifest.read(place)
                    output[key] = value


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"output": {"files": []}}, 'no table in "output"'),
        ({"output": {"relations": []}}, 'no table in "output"'),
        ({"choice": {"levels": ["age"]}}, 'levels in "choice"'),
        ({"choice": {"levels": {"age": "x"}}}, 'levels in "choice"'),
        ({"choice": {"levels": {"age": -7}}}, 'levels in "choice"'),
        ({"choice": {"levels": {"age": 10**8}}}, 'levels in "choice"'),
        ({"choice": {"levels": None}}, 'levels in "choice"'),
        ({"method": "marginals", "choice": {}}, 'marginals in "choice"'),
        ({"method": "marginals", "choice": {"marginals": [None]}}, 'levels in "choice"'),
        ({"method": "marginals", "choice": {"marginals": [{"age": 10**30}]}}, 'levels in "choice"'),
        ({"columns": [{"name": "age", "published_as": "level ZZ"}]}, 'a level in "columns"'),
        ({"columns": [{"name": "age", "published_as": "level -1"}]}, 'a level in "columns"'),
        ({"columns": [{"name": "age", "published_as": "level 10000"}]}, 'a level in "columns"'),
    ],
)
def test_a_manifest_that_says_what_no_release_says_is_refused_by_every_verb(
    tmp_path: Path, change: dict[str, Any], why: str
) -> None:
    """Its checksum is right, as anybody can make one."""
    place = tmp_path / "people.csv.manifest.json"
    whole = json.loads(next(old for old in OLD if b"generalise" in old.read_bytes()).read_bytes())
    place.write_bytes(manifest.canonical({**whole, **change}))
    with pytest.raises(NotSafe, match=why):
        manifest.read(place)
    for words in (("verify",), ("check",), ("report",), ("attack", "measure"), ("attack", "intersection")):
        told = call(*words, place, "--json")
        assert told.exit in (1, 2) and "unexpected" not in told.everything, (words, told.everything)


def test_what_a_newer_version_adds_is_kept_and_does_not_hide_a_change(tmp_path: Path) -> None:
    place = tmp_path / "people.csv.manifest.json"
    whole = json.loads(OLD[0].read_bytes())
    newer = {**whole, "weather": {"rain": [1, 2]}}
    newer["columns"] = [{**column, "unit": "years"} for column in whole["columns"]]
    place.write_bytes(manifest.canonical(newer))
    content, before = manifest.read(place), manifest.read(OLD[0])
    assert content.to_bytes() == place.read_bytes() and content.beyond == {"weather": {"rain": [1, 2]}}
    assert content != before and content.published != before.published
    assert (content.shown, content.method) == (before.shown, before.method)


def test_a_manifest_with_an_empty_field_that_no_version_writes_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "people.csv.manifest.json"
    for empty in ({"signoff": {}}, {"insensitive": None}, {"rows_rounded_to": 0}, {"repeated": None}):
        place.write_bytes(manifest.canonical({**json.loads(OLD[0].read_bytes()), **empty}))
        with pytest.raises(NotSafe, match="no version writes"):
            manifest.read(place)


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
    assert refused == set(whole) - {"checksum"}  # which is made anew
    deep: Any = []
    for _ in range(700):
        deep = [deep]
    place.write_bytes(manifest.canonical({**whole, "choice": {**whole["choice"], "deep": deep}}))
    with pytest.raises(PrivacySqlError, match="nested too deeply"):
        ps.verify(place)
