"""Cells that a spreadsheet would run: text that begins as a formula does and is no number."""

from __future__ import annotations

import csv
import json
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql import api
from privacy_sql.errors import NotSafe, UsageError
from privacy_sql.history import group_contents
from privacy_sql.history.register import Register, registered
from tests import engines
from tests.command_line import call
from tests.seeds import seeds

NUMBER = re.compile(r" *[+-]?(\d+([.]\d*)?|[.]\d+)([eE][+-]?\d{1,2})? *")
CELLS = [
    "=1+1",
    "-5",
    "+3.5",
    "@x",
    "\tq",
    "x-",
    "-5--1",
    "1",
    "",
    "'=x",
    "-1e3",
    "+",
    "- 2",
    "a\n=b",
    "=a\nb",
    "\r=1",
    '=a,"b"',
    "''-7",
    "'-5",
    "'x",
    "''",
]
ESCAPE = {"formulas": "escape"}


def formula(cell: str) -> bool:
    """By the definition, letter by letter."""
    return cell[:1] in tuple("=+-@\t\r") and cell != "" and not NUMBER.fullmatch(cell)


@pytest.mark.parametrize("seed", seeds(3))
def test_every_cell_that_may_be_taken_for_a_formula_is_counted(engine: Any, seed: int) -> None:
    draw = random.Random(seed)
    columns = {name: draw.choices(CELLS, k=20) for name in ("town", "ill")}
    frame = pd.DataFrame({**columns, "age": range(-10, 10)})
    release = ps.publish(engine, ps.Table(frame, ["town", "age"], "ill"), [ps.LDiversity(1)], ps.Generalise())
    told = api.formulas(release)
    counts = {name: sum(map(formula, cells)) for name, cells in columns.items()}
    assert {line.partition(":")[0]: int(re.findall(r": (\d+) cell", line)[0]) for line in told} == {
        name: n for name, n in counts.items() if n
    }


def test_a_run_warns_of_formulas_in_a_csv(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age,ill\n1,=cmd()\n1,flu\n")
    for target, warned in (("out/people.csv", True), ("out/people.parquet", False)):
        (tmp_path / "privacy.yml").write_text(
            "version: 1\nreleases:\n  people:\n    source: {file: people.csv}\n    quasi_identifiers: [age]\n"
            "    sensitive: ill\n    require: {k_anonymity: {k: 2}}\n    method: {generalise: {}}\n"
            f"    output: {{target: {target}}}\n"
        )
        told = call("run", "--json", "--project", tmp_path)
        assert told.exit == 0, told.everything
        (release,) = told.json["releases"]
        assert any("take them for formulas" in line for line in release["warnings"]) == warned


# -- formulas: escape ----------------------------------------------------------------------------------------


def written(cell: str) -> str:
    """By the definition: formulas, and apostrophes before what a formula begins with, get one more."""
    bare = cell.lstrip("'")
    more = bare[:1] in tuple("=+-@\t\r") and bare != "" and bare != cell
    return f"'{cell}" if more or formula(cell) else cell


def lines(place: Path) -> Counter[tuple[str, ...]]:
    with place.open(newline="", encoding="utf-8") as text:
        return Counter(map(tuple, csv.reader(text)))


def crowd(seed: int, towns: list[str], ills: list[str]) -> pd.DataFrame:
    draw = random.Random(seed)
    ages = [str(draw.randint(-30, 30)) for _ in range(24)]
    columns = {"=town": draw.choices(towns, k=24), "@ill": draw.choices(ills, k=24)}
    return pd.DataFrame({"who": [f"p{n}" for n in range(24)], "-age": ages, **columns})


TOWNS = ["=a", "'=a", "-x", "b"]
ILLS = [cell for cell in CELLS if cell]
TREE = {"=a": ["-west"], "'=a": ["-west"], "-x": ["+east"], "b": ["+east"]}
QUASI = {"-age": ps.Intervals(10, 20), "=town": ps.Tree(TREE)}
METHODS: dict[str, Any] = {
    "exact": ps.Generalise(),
    "levels": ps.Generalise({"-age": 1, "=town": 1}),
    "recoding": ps.FullDomain(max_suppressed="0.9", local_recoding=True),
    "boxes": ps.Multidimensional(),
    "bucketized boxes": ps.Multidimensional(output="bucketized"),
    "buckets": ps.Bucketize(["=town"]),
    "two tables": ps.Bucketize(["=town"], layout="two_tables"),
    "centres": ps.Microaggregate(2),
}


def released(engine: Any, rows: pd.DataFrame, method: Any, required: Any = None) -> ps.Release:
    asked = [required or ps.KAnonymity(1)]
    return ps.publish(engine, ps.Table(rows.drop(columns="who"), QUASI, "@ill", name="people"), asked, method)


@pytest.mark.parametrize("name", METHODS)
def test_every_cell_that_a_spreadsheet_would_run_gets_an_apostrophe_and_no_other_cell(
    engine: Any, tmp_path: Path, name: str
) -> None:
    required = None if METHODS[name].name in ("generalise", "bucketize") else ps.KAnonymity(2)
    release = released(engine, crowd(len(name), TOWNS, ILLS), METHODS[name], required)
    compared(engine, release, tmp_path)


def test_cells_and_names_of_marginals_are_escaped(tmp_path: Path) -> None:
    rows = crowd(3, TOWNS, ["=flu", "'=flu", "-", "cold"])
    table = ps.Table(rows[["=town", "@ill"]], {"=town": ps.Tree(TREE)}, "@ill", name="people")
    method = ps.Marginals(collection=[{"=town": 0}, {"=town": 1, "@ill": 0}])
    with engines.opened() as engine:
        compared(engine, ps.publish(engine, table, [ps.KLink(1)], method), tmp_path)


def compared(engine: Any, release: ps.Release, folder: Path) -> None:
    """Two files of one release differ by the apostrophes alone, and the manifest says which has them."""
    told = {}
    for name, csv_as in (("plain", None), ("escaped", ESCAPE)):
        (folder / name).mkdir()
        output = ps.verify(ps.write(engine, release, folder / name / "people.csv", csv=csv_as))["output"]
        assert {repr(part.get("csv")) for part in output.get("files", [output])} == {repr(csv_as)}
        told[name] = {place.name: lines(place) for place in (folder / name).glob("*.csv")}
    assert told["escaped"] == {
        name: Counter({tuple(map(written, line)): n for line, n in counts.items()})
        for name, counts in told["plain"].items()
    }
    assert told["escaped"] != told["plain"]


def test_an_apostrophe_more_or_less_is_found(tmp_path: Path) -> None:
    with engines.opened() as engine:
        release = released(engine, crowd(0, TOWNS, ILLS), ps.Generalise())
        out = tmp_path / "people.csv"
        place = ps.write(engine, release, out, csv=ESCAPE)
        kept = out.read_bytes()
        for edited in (kept.replace(b"'=a", b"=a", 1), kept.replace(b"b", b"'b", 1), kept + b"\n"):
            out.write_bytes(edited)
            with pytest.raises(NotSafe, match="changed since it was written"):
                ps.verify(place)
        out.write_bytes(kept)
        content = json.loads(place.read_text())
        content["output"].pop("csv")
        place.write_text(json.dumps(content))
        with pytest.raises(NotSafe, match="changed since it was written"):
            ps.verify(place)


@pytest.mark.widens(6)
@pytest.mark.parametrize("name", METHODS)
def test_an_escaped_release_exposes_whom_it_exposes_unescaped(tmp_path: Path, name: str) -> None:
    with engines.opened() as engine:
        found = exposed(engine, tmp_path, name)
    assert found[0] == found[1]
    assert any(values for told in found[0][0] for values, _ in told)


def exposed(engine: Any, folder: Path, name: str) -> list[Any]:
    """What an attack, and composition with what is registered, find: as it is, and escaped."""
    rows = crowd(5, TOWNS, ["=flu", "'=flu", "-", "cold", "'cold", "-5", "'-5"])
    required = None if METHODS[name].name in ("generalise", "bucketize") else ps.KAnonymity(2)
    release = released(engine, rows, METHODS[name], required)
    own = released(engine, rows, ps.Generalise({"-age": 1}))
    people = ps.Table(rows, QUASI, identifier="who")
    found = []
    for csv_as in (None, ESCAPE):
        home = folder / ("escaped" if csv_as else "plain")
        home.mkdir()
        place = ps.write(engine, release, home / "people.csv", csv=csv_as)
        register = Register(home / "register.jsonl")
        register.keep("people", place, private=group_contents.writer(release))
        told = []
        for one in (registered(register).groups, [place]):
            attack = ps.intersection_attack(engine, [*one, own], people)
            told.append([(person["set"], person.EA) for person in attack.people()])
        asked = ps.Composition(with_="register", max_exposed="0.5", register=str(register.path))
        (with_it,) = ps.check(engine, own, [asked]).values()
        found.append((told, with_it.value))
    return found


PROJECT = """
version: 1
releases:
  people:
    source: {{file: people.csv}}
    quasi_identifiers: ["=age"]
    sensitive: ill
    require: {{k_anonymity: {{k: 2}}}}
    method: {{generalise: {{}}}}
    output: {output}
"""


@pytest.mark.parametrize("target", ["people.csv", "people.parquet"])
def test_a_run_escapes_csv_and_check_reads_it_back(tmp_path: Path, target: str) -> None:
    (tmp_path / "people.csv").write_text("=age,ill\n@1,=cmd()\n@1,flu\n")
    output = f"{{target: out/{target}, csv: {{formulas: escape}}}}"
    (tmp_path / "privacy.yml").write_text(PROJECT.format(output=output))
    told = call("run", "--json", "--project", tmp_path)
    assert told.exit == 0, told.everything
    assert told.json["releases"][0]["warnings"] == []
    place = tmp_path / f"out/{target}.manifest.json"
    content = json.loads(place.read_text())
    assert content["output"].get("csv") == (ESCAPE if target.endswith("csv") else None)
    assert [column["name"] for column in content["columns"]] == ["=age", "ill"]
    if target.endswith("csv"):
        assert set(lines(tmp_path / "out/people.csv")) == {
            ("'=age", "ill"),
            ("'@1", "'=cmd()"),
            ("'@1", "flu"),
        }
    else:
        assert set(pd.read_parquet(tmp_path / "out" / target)["ill"]) == {"=cmd()", "flu"}
    again = call("check", place, "--json", "--project", tmp_path)
    assert again.exit == 0, again.everything
    assert call("verify", tmp_path / "out" / target, "--project", tmp_path).exit == 0
    report = call("report", "--project", tmp_path)
    assert report.exit == 0, report.everything


def test_words_that_csv_does_not_know_are_refused(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("=age,ill\n1,flu\n1,flu\n")
    for csv_as, word in (("{formulas: escpe}", "escape"), ("{formula: escape}", "formulas"), ("[a]", "csv")):
        output = f"{{target: out/people.csv, csv: {csv_as}}}"
        (tmp_path / "privacy.yml").write_text(PROJECT.format(output=output))
        told = call("run", "--json", "--project", tmp_path)
        assert told.exit == 2 and word in json.dumps(told.json["errors"]), told.everything
    with engines.opened() as engine:
        release = released(engine, crowd(0, TOWNS, ILLS), ps.Generalise())
        with pytest.raises(UsageError, match="warn or escape"):
            ps.write(engine, release, tmp_path / "out.csv", csv={"formulas": "yes"})
