"""`check MANIFEST`: what is out is judged again, from its own bytes, by the rules of this version."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql import manifest
from privacy_sql.publishing import advisories
from tests import engines
from tests.command_line import call
from tests.conftest import ROOT
from tests.project.test_project import PROJECT, RELEASE, write

ROWS = pd.DataFrame(
    {
        "age": ["30", "31", "34", "38", "41", "42", "45", "49"],
        "hours": ["8", "8", "40", "40", "8", "8", "8", "8"],
        "ill": ["flu", "cold"] * 4,
    }
)

OLD = {"privacy_sql": "0.1.0", "engine": "duckdb"}


def written(folder: Path, require: Any, method: Any = None, **changes: Any) -> Path:
    """A release of ours whose manifest says, with a checksum of its own, what an earlier version said."""
    free = {"columns": ["hours"], "acknowledge": "a test"}
    with engines.opened() as engine:
        table = ps.Table(ROWS, {"age": ps.Intervals(10)}, "ill", insensitive=free)
        release = ps.publish(engine, table, require, method or ps.Generalise({"age": 1}))
        place = ps.write(engine, release, folder / "out.csv")
    content = json.loads(place.read_text()) | changes
    place.write_bytes(manifest.canonical(content))
    return place


def faults(place: Path) -> list[str]:
    told = call("check", "--json", place)
    # what was not decided is neither safe nor unsafe
    assert told.json["safe"] is {0: True, 1: False}.get(told.exit)
    return told.codes


def test_rows_that_decide_nothing_are_neither_counted_nor_called_unsafe(tmp_path: Path) -> None:
    visits = pd.DataFrame({"who": [1, 1, 2, 3], "age": ["30"] * 4, "ill": ["flu", "cold", "flu", "cold"]})
    with engines.opened() as engine:
        table = ps.Table(visits, ["age"], "ill", identifier="who", values_per_person="multiset")
        place = ps.write(
            engine, ps.publish(engine, table, [ps.KAnonymity(3)], ps.Generalise({})), tmp_path / "out.csv"
        )
    told = call("check", "--json", place)
    assert told.exit == 5 and told.codes == ["not_judged"] and not told.json["verdicts"]
    assert (told.json["safe"], told.json["rows"], told.json["groups"]) == (None, 4, None)
    assert told.json["releases"][0]["safe"] is None
    text = call("check", place)
    assert text.err.startswith("error: published rows alone do not decide")
    assert "requirement" not in text.out and "groups" not in text.out and "fault" not in text.everything


@pytest.mark.parametrize(
    "method",
    [None, ps.Multidimensional(), ps.Bucketize({"age": 1}), ps.FullDomain(local_recoding=True)],
)
def test_what_holds_is_said_to_hold(tmp_path: Path, method: Any) -> None:
    place = written(tmp_path, [ps.KAnonymity(2), ps.LDiversity(2)], method)
    told = call("check", "--json", tmp_path / "out.csv")
    assert told.exit == 0 and told.json["safe"] and len(told.json["verdicts"]) == 2
    (release,) = told.json["releases"]
    assert release["baseline"] == json.loads(place.read_text())["baseline"]


def test_columns_that_single_out_are_a_fault_of_what_is_out(tmp_path: Path) -> None:
    place = written(tmp_path, [ps.KAnonymity(4)], versions=OLD, insensitive={})
    assert faults(place) == ["known_columns_single_out"]
    assert "insensitive: {columns: [hours], known: true}" in call("check", place).everything


def test_a_requirement_that_does_not_hold_or_asks_nothing_is_a_fault(tmp_path: Path) -> None:
    place = written(tmp_path, [ps.KAnonymity(1)])
    assert faults(place) == ["cannot_fail"]
    verdicts = json.loads(place.read_text())["verdicts"]
    verdicts[0] |= {"params": {"k": 5}, "requirement": "k_anonymity(k=5)"}
    content = json.loads(place.read_text()) | {"verdicts": verdicts}
    place.write_bytes(manifest.canonical(content))
    told = call("check", "--json", place)
    assert told.exit == 1 and told.codes == ["not_safe"] and told.json["verdicts"][0]["value"] == "4"


def test_changed_bytes_are_a_fault(tmp_path: Path) -> None:
    place = written(tmp_path, [ps.KAnonymity(2)])
    out = tmp_path / "out.csv"
    out.write_text(out.read_text().replace("flu", "cold"))
    told = call("check", "--json", place)
    assert told.exit == 1 and told.codes == ["output_changed"]


def test_what_rows_do_not_show_is_named_and_not_called_safe(tmp_path: Path) -> None:
    require = [ps.KAnonymity(2), ps.TCloseness("0.9")]
    place = written(tmp_path, require)
    verdicts = json.loads(place.read_text())["verdicts"]
    verdicts[1]["params"] |= {"distance": "hierarchical"}
    place.write_bytes(manifest.canonical(json.loads(place.read_text()) | {"verdicts": verdicts}))
    told = call("check", "--json", place)
    assert told.exit == 5 and told.codes == ["not_judged"]
    assert [verdict["safe"] for verdict in told.json["verdicts"]] == [True]


def test_a_release_of_an_earlier_version_gets_the_advisories_about_it(tmp_path: Path) -> None:
    old = {"versions": OLD, "values_per_person": "set"}
    place = written(tmp_path, [ps.KAnonymity(2)], **old)
    told = call("check", "--json", place)
    assert told.exit == 5 and told.codes == ["advisory", "advisory", "advisory", "not_judged"]
    assert {error["message"].partition(":")[0] for error in told.json["errors"][:3]} == {
        "PS-2026-10",
        "PS-2026-11",
        "PS-2026-19",
    }


def test_every_advisory_stands_in_security_md() -> None:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    told = re.findall(r"^- \*\*(PS-2026-\d\d)\*\*(.*?)(?=^- |^#|\Z)", text, re.MULTILINE | re.DOTALL)
    listed = [name for name, _ in told]
    assert listed == sorted(set(listed)) and len(listed) >= 20
    assert {advisory.name for advisory in (*advisories.ADVISORIES, *advisories.LEAKS)} <= set(listed)
    # who is affected, how to find out, and what to publish anew
    for name, words in told:
        assert all(
            part in words for part in ("*Affected*", "ind", "out", "*do*" if "*do*" in words else "*Do*")
        ), name


def test_formulas_and_manifests_that_tell_too_much_are_warned_of(tmp_path: Path) -> None:
    rows = ROWS.assign(ill=["=1+1", "-x"] * 4)
    with engines.opened() as engine:
        release = ps.publish(
            engine,
            ps.Table(rows, {"age": ps.Intervals(10)}, "ill", drop=["hours"]),
            [ps.KAnonymity(2)],
            ps.FullDomain(),
        )
        place = ps.write(engine, release, tmp_path / "out.csv")
    assert call("check", "--json", place).json["releases"][0]["warnings"] == [
        "ill: 8 cells of the CSV start with = + - @ or a tab, and a spreadsheet may take them for formulas;"
        " write `csv: {formulas: escape}` under output, or import the columns as text"
    ]
    old = {"versions": OLD, "search": {"minimise": "loss", "values": {"loss": 0.25}}}
    place.write_bytes(manifest.canonical(json.loads(place.read_text()) | old))
    told = call("check", "--json", place)
    assert told.exit == 0 and "PS-2026-27" in told.json["releases"][0]["warnings"][0]
    assert "warning: PS-2026-27" in call("check", place).out
    assert "baseline    knowing the groups: 0 people alone" in call("check", place).out


def test_a_manifest_and_a_named_table_exclude_each_other(tmp_path: Path) -> None:
    place = written(tmp_path, [ps.KAnonymity(2)])
    assert call("check", place, "--source", tmp_path / "out.csv").exit == 2


def test_a_table_is_judged_where_the_project_says_it_lies(tmp_path: Path) -> None:
    """`check` looked for it in an engine of its own, and called every published table changed."""
    place = {"connection": "local", "relation": "main.public"}
    folder = write(
        tmp_path,
        {
            **PROJECT,
            "connections": {"default": {"type": "duckdb"}, "local": {"type": "duckdb", "path": "w.db"}},
            "releases": {"people": {**RELEASE, "output": place}},
        },
    )
    assert call("run", "--project", folder).exit == 0
    written = folder / "target" / "people.manifest.json"
    told = call("check", "--json", written, "--project", folder)
    assert (told.exit, told.codes, told.json["safe"]) == (0, [], True)
    assert call("check", written, "--connect", f"duckdb:{folder}/w.db").exit == 0
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for verb in ("check", "verify"):  # nobody says where it lies: that is no difference
        told = call(verb, "--json", written, "--project", elsewhere)
        assert (told.exit, told.codes) == (2, ["no_engine"])
    told = call("verify", "--json", written, "--connect", f"duckdb:{tmp_path}/other.db")
    assert (told.exit, told.codes) == (2, ["no_database"]) and not (tmp_path / "other.db").exists()
    duckdb.connect(tmp_path / "other.db").close()
    told = call("verify", "--json", written, "--connect", f"duckdb:{tmp_path}/other.db")
    assert (told.exit, told.json["errors"][0]["message"]) == (
        1,
        "main.public is missing, but people.manifest.json describes it",
    )
