"""No value of a row reaches output, errors, logs, manifests or tracebacks, unless somebody asks for it."""

from __future__ import annotations

import gzip
import json
import traceback
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.errors import PrivacySqlError
from tests import engines, parts
from tests.command_line import Told, call, check

MARK = "CANARY"
ROWS = [(f"{MARK}P{n}", f"{MARK}Q{n % 4}", f"{MARK}S{n % 3}", f"{MARK}F{n}") for n in range(12)]
HEADER = "id,age,illness,free"


def canaries(folder: Path, *more: str, name: str = "people.csv") -> Path:
    path = folder / name
    lines = [HEADER, *(",".join(row) for row in ROWS), *more]
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def silent(told: Told, exits: int) -> None:
    assert told.exit == exits, told.everything
    assert MARK not in told.everything


REQUIREMENTS = {
    "k_anonymity": ["k=5"],
    "l_diversity": ["l=4", "l=4, kind=entropy", "l=3, kind=recursive, c=1", "l=9, kind=probabilistic"],
    "t_closeness": ["t=0.01"],
    "alpha_k_anonymity": ["alpha=0.1, k=2"],
    "beta_likeness": ["beta=0", "beta=0.001, kind=enhanced"],
    "delta_disclosure": ["delta=0.001"],
    "k_map": ["k=9"],
    "delta_presence": ["low=0.9, high=0.95"],
    "ck_safety": ["c=0.5, k=2", f"c=0.9, k=0, per_value={{{MARK}S1: {{c: 0.3, k: 2}}}}"],
    "privacy_skyline": ["points=[[0, 1, 1, 0.5]]", f"per_value={{{MARK}S1: [[0, 1, 1, 0.3]]}}"],
    "bt_privacy": ["bandwidth=0.3, t=0"],
}
# judged over collections of marginals, against releases that must exist first, or of numbers only
ELSEWHERE = {"k_link", "k_combinatorial", "maxent_l_diversity", "composition", "interval_disclosure"}
ELSEWHERE |= {"household_k_anonymity"}  # the table here has no households
REQUIREMENTS |= {
    name: [", ".join(f"{word}={value}" for word, value in parts.words(name).items())]
    for name in parts.others("criteria", REQUIREMENTS, ELSEWHERE)
}


@pytest.mark.parametrize(
    "requirement", [f"{name}({params})" for name, several in REQUIREMENTS.items() for params in several]
)
def test_a_verdict_shows_no_key_and_no_value_of_the_table(tmp_path: Path, requirement: str) -> None:
    path = canaries(tmp_path)
    words = ["--source", path, "--quasi", "age", "--sensitive", "illness", "--require", requirement]
    for form in ([], ["--json"]):
        told = call("check", *form, *words, "--population", path)
        assert told.exit in (0, 1), told.everything
        # a limit of one value is named by the user, not by the data
        assert MARK not in told.everything.replace(requirement, "").replace(f"{MARK}S1", "")


def test_values_are_shown_where_somebody_asks_and_marked_internal(tmp_path: Path) -> None:
    path = canaries(tmp_path)
    words = ["--source", path, "--quasi", "age", "--sensitive", "illness", "--require", "k_anonymity(k=5)"]
    told = call("check", "--show-values", *words)
    assert "INTERNAL" in told.out and f"{MARK}Q" in told.out and f"{MARK}S" in told.out
    assert MARK not in told.err + told.log
    witness = call("check", "--json", "--show-values", *words).json["verdicts"][0]["witness"]
    assert witness["keys"]["age"].startswith(MARK)


def test_dates_and_fractions_in_a_witness_are_json(tmp_path: Path) -> None:
    days = pd.date_range("2020-01-01", periods=2).date
    pd.DataFrame({"age": [1, 1], "day": days}).to_parquet(tmp_path / "people.parquet")
    told = check(
        tmp_path / "people.parquet", "--show-values", "--require", "k_anonymity(k=3)", sensitive="day"
    )
    assert told.json["verdicts"][0]["witness"]["values"] == {"2020-01-01": 1, "2020-01-02": 1}


BAD_TABLES: dict[str, tuple[list[str], list[str]]] = {
    "a line too short": ([f"{MARK},x"], ["k_anonymity(k=2)"]),
    "a line too long": ([f"{MARK},x,y,z,{MARK}"], ["k_anonymity(k=2)"]),
    "an open quote": ([f'"{MARK},x,y,z'], ["k_anonymity(k=2)"]),
    "a person twice": ([",".join(ROWS[0])], ["k_anonymity(k=2)", "--identifier", "id"]),
    "nobody": ([f",{MARK},{MARK},{MARK}"], ["k_anonymity(k=2)", "--identifier", "id"]),
    "text without an order": ([], ["t_closeness(t=0.1, distance=ordered)"]),
    "text near no other": ([], ["interval_disclosure(width=1, share=0.5)"]),
    "text that is no number": ([], ["k_anonymity(k=2)", "--where", "cast(age as int) > 3"]),
    "text that is no date": ([], ["k_anonymity(k=2)", "--where", "cast(free as date) is null"]),
    "people all over": (
        [f"{MARK}P0,{MARK}other,x,y"],
        ["k_anonymity(k=2)", "--identifier", "id", "--values-per-person", "set"],
    ),
}


@pytest.mark.parametrize("fault", BAD_TABLES)
def test_an_error_of_the_data_shows_none_of_it(tmp_path: Path, fault: str) -> None:
    more, (requirement, *options) = BAD_TABLES[fault]
    path = canaries(tmp_path, *more)
    silent(check(path, "--require", requirement, *options), 3)
    words = ["--source", path, "--quasi", "age", "--sensitive", "illness", "--require", requirement, *options]
    silent(call("check", *words), 3)


@pytest.mark.parametrize("fault", ["a line too short", "text that is no number"])
def test_only_unsafe_debug_shows_what_the_engine_said(tmp_path: Path, fault: str) -> None:
    more, (requirement, *options) = BAD_TABLES[fault]
    told = check(canaries(tmp_path, *more), "--require", requirement, *options, "--unsafe-debug")
    assert told.exit == 3 and told.json["exit"] == 3  # still one object on stdout
    assert MARK in told.err and MARK not in told.out + told.log


@pytest.mark.parametrize("fault", ["a line too short", "text that is no number"])
def test_a_traceback_in_python_shows_no_row(tmp_path: Path, fault: str, engine: Any) -> None:
    more, (_, *options) = BAD_TABLES[fault]
    condition = options[-1] if options else None
    table = ps.Table(canaries(tmp_path, *more), ["age"], "illness", where=condition)
    with pytest.raises(PrivacySqlError) as caught:
        ps.check(engine, table, [ps.KAnonymity(2)])
    assert MARK not in "".join(traceback.format_exception(caught.value))


def test_a_frame_of_mixed_types_shows_no_row(engine: Any) -> None:
    rows = pd.DataFrame({"age": [1] * 2000 + [MARK, object()], "illness": ["flu"] * 2002})
    try:
        ps.check(engine, ps.Table(rows, ["age"], "illness"), [ps.KAnonymity(2)])
    except Exception as problem:
        assert isinstance(problem, PrivacySqlError)
        assert MARK not in "".join(traceback.format_exception(problem))


def test_an_unforeseen_error_tells_its_kind_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise RuntimeError(MARK)

    monkeypatch.setattr("privacy_sql.api.look_alikes", fail)
    silent(check(canaries(tmp_path), "--require", "k_anonymity(k=2)"), 4)
    told = check(canaries(tmp_path), "--require", "k_anonymity(k=2)", "--unsafe-debug")
    assert MARK in told.err and MARK not in told.out


PROJECT = {
    "version": "1",
    "releases": {
        "people": {
            "source": {"file": "people.csv"},
            "identifier": "id",
            "quasi_identifiers": [{"column": "age", "hierarchy": {"mask": ["7", "0"]}}],
            "sensitive": "illness",
            "drop": ["free"],
            "require": {"k_anonymity": {"k": "3"}},
            "method": {"generalise": {"levels": {"age": "0"}}},
            "output": {"target": "out/people.csv"},
        }
    },
}


def project(folder: Path, *more: str, **parts: Any) -> Path:
    canaries(folder, *more)
    content = json.loads(json.dumps(PROJECT))
    content["releases"]["people"].update(parts)
    (folder / "privacy.yml").write_text(json.dumps(content))
    return folder


def test_nothing_but_the_release_itself_holds_values_after_a_run(tmp_path: Path) -> None:
    folder = project(tmp_path)
    for verb in ("run", "show", "profile", "list", "check"):
        silent(call(verb, "--project", folder), 0)
        silent(call(verb, "--json", "--project", folder, *(["--overwrite"] if verb == "run" else [])), 0)
    released = folder / "out" / "people.csv"
    assert MARK in released.read_text()
    for path in folder.rglob("*"):
        if path.is_file() and path not in (released, folder / "people.csv"):
            assert MARK.encode() not in path.read_bytes(), path


def test_a_release_that_is_not_safe_leaves_no_value_anywhere(tmp_path: Path) -> None:
    folder = project(tmp_path, require={"k_anonymity": {"k": "4"}, "ck_safety": {"c": "0.1", "k": "1"}})
    silent(call("run", "--project", folder), 1)
    silent(call("run", "--json", "--project", folder), 1)
    held = [path for path in folder.rglob("*") if path.is_file() and MARK.encode() in path.read_bytes()]
    assert held == [folder / "people.csv"]


def test_an_unmapped_value_is_named_in_the_private_file_only(tmp_path: Path) -> None:
    (tmp_path / "ages.csv").write_text("".join(f"{MARK}Q{n},a\n" for n in range(3)))
    parts = [{"column": "age", "hierarchy": {"file": "ages.csv"}}]
    folder = project(tmp_path, quasi_identifiers=parts, method={"generalise": {"levels": {"age": "1"}}})
    silent(call("run", "--project", folder), 3)
    held = [path for path in folder.rglob("*") if path.is_file() and MARK.encode() in path.read_bytes()]
    own = {folder / "people.csv", folder / "ages.csv"}
    assert set(held) - own == {folder / "target" / "private" / "unmapped.csv"}


def test_a_changed_release_is_reported_without_its_content(tmp_path: Path) -> None:
    folder = project(tmp_path)
    assert call("run", "--project", folder).exit == 0
    released = folder / "out" / "people.csv"
    released.write_text(released.read_text() + f"{MARK},{MARK}\n")
    silent(call("verify", released), 1)
    silent(call("verify", "--json", released), 1)


def test_a_zipped_source_that_breaks_off_shows_no_row(tmp_path: Path) -> None:
    whole = gzip.compress(canaries(tmp_path).read_bytes() * 200)
    (tmp_path / "people.csv.gz").write_bytes(whole[: len(whole) // 2])
    told = check(tmp_path / "people.csv.gz")
    assert told.exit == 3 and MARK not in told.everything


def test_an_error_that_comes_only_with_the_rows_is_one_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    class Late:
        description = (("a", "INTEGER"),)

        def fetchall(self) -> Any:
            raise duckdb.ConversionException(MARK)

    with engines.opened() as engine:
        monkeypatch.setattr(type(engine), "_run", lambda self, query, values=None: Late())
        with pytest.raises(PrivacySqlError) as caught:
            engine.fetch(ps.Query("select 1 as a"))
        monkeypatch.undo()
    assert MARK not in "".join(traceback.format_exception(caught.value))


def test_sensitive_lists_can_be_revealed() -> None:
    rows = pd.DataFrame({"age": [1, 1], "illness": [["flu", "cold"], ["flu"]]})
    with engines.opened() as engine:
        found = ps.check(engine, ps.Table(rows, ["age"], "illness"), [ps.KAnonymity(2)])
        revealed = found["k_anonymity(k=2)"].witness.reveal()
    # a list is the text that is published of it
    assert revealed["values"] == {"[flu, cold]": 1, "[flu]": 1}
