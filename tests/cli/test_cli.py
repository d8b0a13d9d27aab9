"""The command line: one JSON object in one shape, the exit codes, and help that loads nothing."""

from __future__ import annotations

import copy
import json
import re
import subprocess
import sys
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

import pytest

import privacy_sql as ps
from privacy_sql import registry
from privacy_sql.cli import main
from privacy_sql.errors import DataError, EngineError, NoSafeChoice, NotSafe, UsageError
from tests import engines
from tests.command_line import Told, call
from tests.project.test_project import PROJECT, RELEASE, ROWS, write

FIXED = {"schema", "verb", "exit", "safe", "rows", "groups", "ignored_columns", "verdicts", "errors"}
VERDICT = {"requirement", "criterion", "params", "safe", "value", "value_float", "limit", "relation", "exact"}
VERDICT |= {"witness"}
RELEASE_KEYS = {"name", "exit", "target", "manifest", "rows_in", "rows_out", "suppressed", "verdicts"}
REQUIRE = ["--require", "k_anonymity(k=2)", "--require", "l_diversity(kind=entropy, l=1.5)"]


def shaped(told: Told, verb: str, *more: str) -> dict[str, Any]:
    """The object of `--json`, held to the shape every verb has."""
    assert told.out.count("\n") == 1
    found = told.json
    assert set(found) >= FIXED | set(more)
    assert (found["schema"], found["verb"], found["exit"]) == (1, verb, told.exit)
    for verdict in found["verdicts"]:
        assert set(verdict) == VERDICT
        assert verdict["value"] is None or isinstance(verdict["value"], str)
        assert all(isinstance(value, (int, str, list, dict)) for value in verdict["params"].values())
    for error in found["errors"]:
        assert set(error) == {"code", "where", "message", "hint"}
    assert bool(found["errors"]) <= (told.exit != 0)
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path, PROJECT)


def test_check_in_the_shape_of_the_interface(folder: Path) -> None:
    words = ["--source", folder / "people.csv", "--quasi", "age,zip", "--sensitive", "illness"]
    found = shaped(call("check", "--json", *words, *REQUIRE), "check")
    assert (found["safe"], found["rows"], found["groups"]) == (False, 8, 6)
    assert found["ignored_columns"] == ["id", "weight", "note"]
    first, second = found["verdicts"]
    assert (first["value"], first["value_float"], first["limit"], first["relation"]) == ("1", 1.0, "2", ">=")
    assert (first["params"], first["exact"], second["params"]["l"]) == ({"k": 2}, True, "1.5")
    assert second["value"] is None or second["exact"]


def test_the_module_runs_as_the_command_does() -> None:
    ran = subprocess.run([sys.executable, "-m", "privacy_sql", "list"], capture_output=True, text=True)
    assert (ran.stdout, ran.returncode) == (call("list").out, 0)


def test_every_verb_of_the_house_in_shape_when_it_succeeds(folder: Path) -> None:
    run = shaped(call("run", "--json", "--project", folder), "run", "releases")
    (release,) = run["releases"]
    assert set(release) >= RELEASE_KEYS
    assert (run["safe"], release["rows_in"], release["rows_out"], release["suppressed"]) == (True, 8, 8, 0)
    assert (release["target"], release["manifest"]) == ("out/people.csv", "out/people.csv.manifest.json")
    verified = shaped(call("verify", "--json", folder / "out" / "people.csv"), "verify")
    assert verified["safe"] and len(verified["verdicts"]) == 3
    for verb in ("check", "list", "show", "profile"):
        shaped(call(verb, "--json", "--project", folder), verb)
    shaped(call("init", "--json", "--example", folder / "new"), "init", "written")


def test_an_unbounded_value_is_null_and_no_number_of_json_is_none(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("age,illness\n30,flu\n30,flu\n40,cold\n40,flu\n")
    words = ["--source", tmp_path / "p.csv", "--quasi", "age", "--sensitive", "illness"]
    told = call("check", "--json", *words, "--require", "delta_disclosure(delta=1)")
    (verdict,) = shaped(told, "check")["verdicts"]
    assert (verdict["value"], verdict["value_float"], verdict["safe"]) == (None, None, False)
    told = call("check", "--json", *words, "--require", "l_diversity(l=2, kind=recursive, c=5)")
    (verdict,) = shaped(told, "check")["verdicts"]
    assert (verdict["value"], verdict["value_float"], verdict["safe"]) == (None, None, False)


USAGE = [
    ["bogus"],
    ["chekc"],
    ["check", "--nonsense"],
    ["check", "--source"],
    ["check", "--values-per-person", "many"],
    ["verify"],
    ["run", "--select"],
    ["init"],
    ["run", "--project", "/absent"],
    ["run", "--select", "absent"],
    ["check", "--select", "absent"],
    ["verify", "/absent.csv"],
]


@pytest.mark.parametrize("words", USAGE, ids=" ".join)
def test_a_usage_error_is_exit_two_and_one_object_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for form in (["--json"], []):
        told = call(*words, *form) if words[-1].startswith("/") or form else call(*words)
        if form and not words[-1].startswith("--s"):
            found = shaped(told, words[0])
            assert found["errors"] and found["safe"] is not True
        assert told.exit == 2
        assert form or told.err.startswith("error: ")


def test_a_misspelt_verb_is_met_with_the_nearest() -> None:
    assert 'Did you mean "check"?' in call("chekc").err


def test_help_of_every_verb_has_an_example() -> None:
    for verb in registry.available("cli.verbs"):
        told = call(verb.replace("_", "-"), "--help")
        assert told.exit == 0
        group = "Commands:" in told.out
        assert group or f"privacy-sql {verb.replace('_', '-')}" in told.out, verb


def test_help_groups_the_verbs_in_the_order_people_need_them_and_names_each_once() -> None:
    out = call("--help").out
    heads = ["Start:", "Decide what is safe:", "Publish:", "Examine what was published:", "Keep track:"]
    places = [out.index(f"\n{head}\n") for head in heads]
    assert places == sorted(places)
    listed = [line.split()[0] for line in out[places[0] :].splitlines() if re.match(r"  \w", line)]
    assert sorted(listed) == sorted(name.replace("_", "-") for name in registry.available("cli.verbs"))
    assert "Exit codes: 0 safe" in out


def test_a_demo_ends_with_a_link_that_opens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda page: bool(opened.append(page)) or True)
    told = call("demo", "--open", tmp_path / "a tour")
    assert told.exit == 0, told.everything
    last = told.out.splitlines()[-1]
    assert (
        last.startswith("Opened file:///")
        and last.endswith(".html")
        and " " not in last.removeprefix("Opened ")
    )
    assert opened == [last.removeprefix("Opened ")]
    assert Path(urllib.request.url2pathname(urllib.parse.urlparse(opened[0]).path)).is_file()


def test_a_demo_that_is_only_tried_writes_nothing(tmp_path: Path) -> None:
    told = call("demo", "--json", "--dry-run", tmp_path / "tour")
    assert told.exit == 0 and not (tmp_path / "tour").exists()


def test_compiled_dbt_files_are_only_named_by_a_dry_run_and_a_folder_needs_dbt(tmp_path: Path) -> None:
    project, models = tmp_path / "p", tmp_path / "models"
    assert call("init", "--example", project).exit == 0
    assert call("run", "--project", project).exit == 0
    into = ["compile", "--json", "--project", project, "--into", models]
    assert call(*into).json["errors"][0]["code"] == "no_dbt"
    assert call(*into, "--dbt", "--dry-run").exit == 0 and not models.exists()
    assert call(*into, "--dbt").exit == 0 and any(models.iterdir())


def test_every_verb_names_project_and_json() -> None:
    for verb in registry.available("cli.verbs"):
        told = call(verb.replace("_", "-"), "--help")
        assert "Commands:" in told.out or ("--project" in told.out and "--json" in told.out), verb


# -- run over several releases -------------------------------------------------------------------------------


def several(folder: Path, **outcomes: dict[str, Any]) -> Path:
    """A project of several releases, each the usual one with some parts replaced."""
    content = copy.deepcopy(PROJECT)
    for number, (name, parts) in enumerate(outcomes.items()):
        content["releases"][name] = {**RELEASE, "output": {"target": f"out/{number}.csv"}, **parts}
    del content["releases"]["people"]
    return write(folder, content)


UNSAFE = {"require": {"k_anonymity": {"k": "9"}}}
REPEATED = {"identifier": {"column": "zip"}, "quasi_identifiers": ["age", "id"], "method": {"generalise": {}}}


def test_a_failing_release_does_not_stop_the_others(tmp_path: Path) -> None:
    told = call("run", "--json", "--project", several(tmp_path, bad=UNSAFE, twice=REPEATED, good={}))
    assert [release["exit"] for release in told.json["releases"]] == [1, 3, 0]
    assert told.exit == 3 and told.json["safe"] is False
    assert (tmp_path / "out" / "2.csv").is_file() and not (tmp_path / "out" / "0.csv").exists()
    kept = json.loads((tmp_path / "target" / "run_results.json").read_text())
    assert [release["exit"] for release in kept["releases"]] == [1, 3, 0]


@pytest.mark.parametrize("results", ["", "[]", '{"results": []}', '{"releases": 3}', "[" * 100_000])
def test_show_says_what_it_cannot_read_of_the_last_run(tmp_path: Path, results: str) -> None:
    folder = several(tmp_path, good={})
    (tmp_path / "target").mkdir(exist_ok=True)
    (tmp_path / "target" / "run_results.json").write_text(results)
    told = call("show", "--project", folder)
    assert (
        told.exit == 0 and "last run:  unknown, run_results.json has changed since it was written" in told.out
    )


@pytest.mark.parametrize(
    ("codes", "expected"),
    [([1, 2, 3], 3), ([1, 2], 2), ([1, 5], 5), ([5, 2], 2), ([0, 1, 4, 3], 4), ([0, 0], 0), ([4, 130], 130)],
)
def test_run_returns_the_code_to_be_mended_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, codes: list[int], expected: int
) -> None:
    raised = {
        1: NotSafe("x", "x"),
        2: UsageError("x", "x"),
        3: DataError("x", "x"),
        4: EngineError("x", "x"),
        5: NoSafeChoice("x", "x"),
        130: KeyboardInterrupt(),
    }
    left = iter(codes)
    publish = ps.publish

    def fail(*given: Any) -> Any:
        code = next(left)
        if code:
            raise raised[code]
        return publish(*given)

    monkeypatch.setattr("privacy_sql.api.publish", fail)
    folder = several(tmp_path, **{f"r{number}": {} for number, _ in enumerate(codes)})
    told = call("run", "--json", "--project", folder)
    assert told.exit == expected
    assert [release["exit"] for release in shaped(told, "run", "releases")["releases"]] == codes


def test_an_interrupt_stops_the_run_and_what_is_left_is_not_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("privacy_sql.api.publish", stop)
    told = call("run", "--json", "--project", several(tmp_path, one={}, two={}))
    assert (told.exit, told.codes, len(told.json["releases"])) == (130, ["interrupted"], 1)
    assert told.json["safe"] is False and not (tmp_path / "out").exists()


def test_an_interrupt_of_check_is_never_safe(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("privacy_sql.api.examine", stop)
    found = shaped(call("check", "--json", "--project", folder), "check")
    assert (found["exit"], found["safe"]) == (130, None)


def test_a_release_that_exists_is_refused_before_any_work(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert call("run", "--project", folder).exit == 0
    monkeypatch.setattr("privacy_sql.api.publish", None)
    assert call("run", "--json", "--project", folder).codes == ["target_exists"]


def test_look_alike_values_are_warned_about_in_a_run(tmp_path: Path) -> None:
    folder = write(tmp_path, PROJECT, ROWS.replace("7,31,02131,flu", "7,31,02131,Flu"))
    told = call("run", "--project", folder)
    assert told.exit == 0 and "illness: 1 value written almost like another" in told.out


def test_a_table_in_a_database_is_published_and_verified(tmp_path: Path) -> None:
    content = copy.deepcopy(PROJECT)
    content["connections"] = {"store": {"type": "duckdb", "path": "store/w.db"}}
    content["releases"]["people"]["output"] = {"connection": "store", "relation": "public_people"}
    folder = write(tmp_path, content)
    assert call("run", "--project", folder).exit == 0
    place = folder / "target" / "people.manifest.json"
    url = f"duckdb:{folder / 'store' / 'w.db'}"
    assert shaped(call("verify", "--json", place, "--connect", url), "verify")["rows"] == 8
    assert call("verify", "--json", place, "--project", folder).json["rows"] == 8
    assert call("verify", "--json", place).codes == ["no_engine"]
    assert call("run", "--json", "--project", folder).codes == ["target_exists"]
    assert call("run", "--json", "--overwrite", "--project", folder).exit == 0
    with ps.connect(url) as engine:
        engine.connection.execute("update public_people set illness = 'x' where illness = 'flu'")
    assert call("verify", "--json", place, "--connect", url).exit == 1
    assert call("verify", "--json", place, "--project", folder).exit == 1


def test_names_no_terminal_can_print_do_not_break_the_output(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("😀,illness\n30,flu\n30,cold\n")
    told = call("check", "--json", "--source", tmp_path / "p.csv", "--quasi", "😀", "--require", REQUIRE[1])
    assert told.out.isascii() and told.json["rows"] == 2


def test_every_failure_is_an_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise MemoryError

    monkeypatch.setattr(main.verbs, "main", fail)
    found = shaped(call("check", "--json"), "check")
    assert (found["exit"], found["errors"][0]["message"]) == (4, "unexpected MemoryError")


def test_what_is_said_of_a_source_that_is_not_read_is_true(tmp_path: Path) -> None:
    write(tmp_path, PROJECT)
    (tmp_path / "sheet.xlsx").write_bytes(b"PK\x03\x04 and so on")
    (tmp_path / "renamed.csv").write_bytes(b"PK\x03\x04 and so on")
    (tmp_path / "parts").mkdir()
    (tmp_path / "a.db").touch()
    for name, exit_code, words in [
        ("sheet.xlsx", 2, "sheet.xlsx is a spreadsheet; privacy_sql reads only CSV and Parquet"),
        ("renamed.csv", 3, "renamed.csv is a spreadsheet or another zip archive, not CSV"),
        ("parts", 2, "parts is a folder without Parquet files"),
        ("peple.csv", 2, f"there is no file {tmp_path}/peple.csv"),
    ]:
        for verb in (["check", "--require", "k_anonymity(k=2)", "--quasi", "age"], ["profile"]):
            told = call(*verb, "--json", "--source", tmp_path / name)
            assert (told.exit, told.json["errors"][0]["message"]) == (exit_code, words)
        told = call("init", "--json", "--from", tmp_path / name, tmp_path / "new")
        assert told.exit != 0 and "no rows" not in told.out
    assert told.json["errors"][0]["hint"] == f'Did you mean "{tmp_path}/people.csv"?'
    told = call("profile", "--json", "--source", "s3://bucket/people.csv")
    assert (
        told.json["errors"][0]["message"] == "people.csv is a remote file; privacy_sql reads only local files"
    )
    told = call("check", "--json", tmp_path / "people.csv")
    assert (told.exit, told.codes) == (2, ["no_manifest"]) and "--source" in told.json["errors"][0]["hint"]


def test_a_database_that_is_not_there_is_not_made_by_looking_for_it(tmp_path: Path) -> None:
    words = ["--source", "people", "--connect", f"duckdb:{tmp_path}/typo.db", "--json"]
    for verb in (["check", "--quasi", "age", "--require", "k_anonymity(k=2)"], ["profile"], ["curve"]):
        told = call(*verb, *words)
        assert (told.exit, told.codes) == (2, ["no_database"])
    assert not list(tmp_path.iterdir())


def test_python_is_told_in_words_what_it_gave_in_place_of_what() -> None:
    table = ps.Table("people", ["age"])
    with engines.opened() as engine:
        for given, code in [
            ((engine, table, ps.KAnonymity(2), ps.FullDomain()), "bad_requirement"),
            ((engine, table, ["k_anonymity(k=2)"], ps.FullDomain()), "bad_requirement"),
            ((engine, table, [ps.KAnonymity(2)], "full_domain"), "bad_argument"),
            ((None, table, [ps.KAnonymity(2)], ps.FullDomain()), "bad_argument"),
            ((engine, "people.csv", [ps.KAnonymity(2)], ps.FullDomain()), "bad_argument"),
        ]:
            for call_of_ps in (ps.publish, ps.search):
                arguments: Any = given
                with pytest.raises(UsageError) as found:
                    call_of_ps(*arguments)
                assert found.value.code == code


def test_the_hint_of_a_usage_error_names_the_command_that_was_asked() -> None:
    assert call("attack", "measure").err.endswith("privacy-sql attack measure --help lists what there is.\n")
    assert call("register", "add", "x").err.endswith("privacy-sql register add --help lists what there is.\n")
    assert "'--quasi'? privacy-sql check --help" in call("check", "--quas").err


@pytest.mark.parametrize("words", [[], ["attack"], ["register"]], ids=["none", "attack", "register"])
def test_a_command_without_its_verb_shows_the_help_and_one_short_error(words: list[str]) -> None:
    told = call(*words)
    assert told.exit == 2 and told.out.startswith("Usage: privacy-sql")
    assert told.err == f"error: {' '.join(['privacy-sql', *words])} needs a command.\n"


@pytest.mark.parametrize("verb", ["risk", "curve", "skyline", "facts", "check"])
def test_a_table_without_quasi_identifiers_is_refused_and_looks_safe_to_nobody(
    tmp_path: Path, verb: str
) -> None:
    place = tmp_path / "people.csv"
    place.write_text("id,age,illness\n" + "".join(f"{n},{n % 7},{'abc'[n % 3]}\n" for n in range(60)))
    words = [verb, "--source", place, "--sensitive", "illness", "--identifier", "id"]
    told = call(*words, *(["--require", "k_anonymity(k=2)"] if verb == "check" else []))
    assert told.exit == 2 and "no quasi-identifier is named" in told.err and not told.out


def test_a_port_that_is_none_is_a_usage_error() -> None:
    for port in ("80000", "-1"):
        told = call("explore", "--no-browser", "--port", port)
        assert told.exit == 2 and "0<=x<=65535" in told.err


@pytest.mark.parametrize("name", ["", "  "])
def test_a_release_without_a_name_is_not_registered(tmp_path: Path, name: str) -> None:
    described = tmp_path / "theirs.yml"
    described.write_text("file: theirs.csv\nsensitive: illness\ncolumns: {age: {}}\n")
    (tmp_path / "theirs.csv").write_text("age,illness\n30,flu\n")
    told = call("register", "add", name, described, "--project", tmp_path)
    assert told.exit == 2 and "the name of a release is empty" in told.err
    assert not list(tmp_path.glob("privacy_register*"))
