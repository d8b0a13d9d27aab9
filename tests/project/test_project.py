"""privacy.yml: every mistake is named with its path, all of them at once, and none gets through."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from privacy_sql.errors import PrivacySqlError
from privacy_sql.project import reading
from tests.command_line import call

RELEASE: dict[str, Any] = {
    "source": {"file": "people.csv"},
    "identifier": {"column": "id"},
    "quasi_identifiers": [
        {"column": "age", "hierarchy": {"intervals": ["10", "20"]}, "nulls": "value"},
        {"column": "zip", "hierarchy": {"mask": ["3", "0"]}},
    ],
    "sensitive": {"column": "illness", "nulls": "value", "values_per_person": "one"},
    "insensitive": {"columns": ["weight"], "acknowledge": "eight invented people"},
    "drop": ["note"],
    "require": {"k_anonymity": {"k": "2"}, "l_diversity": [{"l": "2"}, {"kind": "entropy", "l": "1.5"}]},
    "method": {"generalise": {"levels": {"age": "1", "zip": "2"}}},
    "output": {"target": "out/people.csv"},
    "population": {"file": "people.csv"},
}
PROJECT: dict[str, Any] = {
    "version": "1",
    "connections": {"default": {"type": "duckdb"}, "warehouse": {"type": "postgres", "dsn_env": "DSN"}},
    "releases": {"people": RELEASE},
}
ROWS = "id,age,zip,illness,weight,note\n" + "".join(
    f"{n},{30 + n % 2},0213{n % 3},{'flu' if n % 2 else 'cold'},{n},free\n" for n in range(8)
)


def write(folder: Path, content: Any, rows: str = ROWS) -> Path:
    """A project folder; JSON is YAML too."""
    (folder / "people.csv").write_text(rows)
    text = content if isinstance(content, str) else json.dumps(content)
    (folder / "privacy.yml").write_text(text)
    return folder


def problems(folder: Path, content: Any) -> list[PrivacySqlError]:
    with pytest.raises(PrivacySqlError) as caught:
        reading.read(write(folder, content))
    return list(caught.value.parts)


def changed(**parts: Any) -> dict[str, Any]:
    """The project with parts of its release replaced."""
    return {**PROJECT, "releases": {"people": {**RELEASE, **parts}}}


def test_the_project_of_these_tests_is_read_and_runs(tmp_path: Path) -> None:
    told = call("run", "--json", "--project", write(tmp_path, PROJECT))
    assert told.exit == 0, told.everything


def test_numbers_and_words_that_look_like_others_stay_text(tmp_path: Path) -> None:
    text = json.dumps(changed(drop=["PLACE"])).replace('"PLACE"', "01234, NO, 1e5, null, 2020-01-01")
    (plan,) = reading.read(write(tmp_path, text)).plans.values()
    assert plan.table.drop == ("01234", "NO", "1e5", "null", "2020-01-01")


def test_unknown_keys_are_named_with_their_path_and_the_nearest_key(tmp_path: Path) -> None:
    content = copy.deepcopy(changed(senstive={}))
    content["relases"] = {}
    content["releases"]["people"]["quasi_identifiers"][1]["heirarchy"] = "x"
    content["releases"]["people"]["require"]["k_anonymity"]["kk"] = "3"
    content["releases"]["people"]["method"] = {"generalise": {"level": {}}}
    found = {problem.where.removesuffix(", line 1"): problem.hint for problem in problems(tmp_path, content)}
    assert found == {
        "privacy.yml: relases": 'Did you mean "releases"?',
        "privacy.yml: releases.people.senstive": 'Did you mean "sensitive"?',
        "privacy.yml: releases.people.quasi_identifiers[1].heirarchy": 'Did you mean "hierarchy"?',
        "privacy.yml: releases.people.require.k_anonymity": 'Did you mean "k"?',
        "privacy.yml: releases.people.method.generalise": 'Did you mean "levels"?',
    }


def test_every_mistake_says_its_line(tmp_path: Path) -> None:
    text = """version: 1
releases:
  people:
    source: {file: people.csv}
    quasi_identifiers:
      - age
      - column: sex
        heirarchy: keep_or_drop
    sensitive: illness
    require:
      k_anonymity: {k: many}
    methd: generalise
"""
    found = {p.where.rpartition(": ")[2].rpartition(", ")[::2] for p in problems(tmp_path, text)}
    assert found == {
        ("releases.people.quasi_identifiers[1].heirarchy", "line 8"),
        ("releases.people.require.k_anonymity", "line 11"),
        ("releases.people.methd", "line 12"),
    }


def test_a_tab_is_called_a_tab(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, "version: 1\nreleases:\n\tpeople: {}\n")
    assert problem.where == "privacy.yml, line 3" and "a tab" in problem.message


def test_a_key_that_stands_twice_is_named_by_its_line(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, "version: 1\nreleases:\n  a: {}\n  a: {}\n")
    assert (problem.code, problem.where) == ("duplicate_key", "privacy.yml, line 4")
    assert problem.message == 'the key "a" appears twice'


@pytest.mark.parametrize("text", ["", "# nothing yet\n"])
def test_an_empty_project_file_is_called_empty(tmp_path: Path, text: str) -> None:
    (problem,) = problems(tmp_path, text)
    assert problem.message == "privacy.yml is empty" and "init --example" in problem.hint


def test_a_folder_that_does_not_exist_is_not_said_to_lack_a_file(tmp_path: Path) -> None:
    told = call("check", "--project", tmp_path / "nodir")
    assert told.exit == 2 and told.err.startswith("error: there is no folder")


@pytest.mark.parametrize("text", ["version: [", "\tversion: 1", "a: b: c", "- 1\n- 2", "", "&a [*b]"])
def test_what_is_no_project_is_one_usage_error(tmp_path: Path, text: str) -> None:
    assert call("list", "--json", "--project", write(tmp_path, text)).exit == 2


def test_a_project_file_that_is_not_utf8_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "privacy.yml").write_bytes(b"version: 1\nname: caf\xe9\n")
    assert call("list", "--json", "--project", tmp_path).exit == 2


NONSENSE: list[Any] = [None, "", [], {}, [[]], {"x": "y"}, "text", "NaN", "-1", ["a", ["b"]], [{}], "9" * 400]
NONSENSE += [{"column": {"a": "b"}}, {"column": ["a"]}, {"file": []}, {"file": "a\0b"}, "../../x", {"": ""}]


def places(content: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    steps = content.items() if isinstance(content, dict) else enumerate(content)
    for key, part in steps if isinstance(content, (dict, list)) else ():
        yield from places(part, (*path, key))


@pytest.mark.parametrize("place", list(places(PROJECT)), ids=lambda place: ".".join(map(str, place)) or "all")
def test_nonsense_at_any_place_is_read_or_refused_with_its_path(tmp_path: Path, place: Any) -> None:
    (tmp_path / "people.csv").write_text(ROWS)
    for value in NONSENSE:
        content = copy.deepcopy(PROJECT)
        inner: Any = content
        for key in place[:-1]:
            inner = inner[key]
        if place:
            inner[place[-1]] = value
        try:
            reading._Reader(tmp_path).project(content if place else value)
        except PrivacySqlError as refused:
            assert refused.exit in (2, 3)
            assert all(part.where.startswith("privacy.yml: ") for part in refused.parts)


@pytest.mark.parametrize(
    "settings",
    [
        {"type": "postgres", "dsn": "SECRET"},
        {"type": "postgres", "password": "SECRET"},
        {"type": "postgres", "dsn_env": "postgres://me:SECRET@host/db"},
        {"type": "spark", "master": "spark://me:SECRET@host"},
        {"type": "duckdb", "path": "md:x?motherduck_token=SECRET"},
        {"type": "postgres", "token": "SECRET"},
    ],
)
def test_credentials_in_the_project_file_are_refused_and_not_repeated(tmp_path: Path, settings: Any) -> None:
    told = call("list", "--json", "--project", write(tmp_path, {**PROJECT, "connections": {"w": settings}}))
    assert told.exit == 2 and "credentials" in told.out
    assert "SECRET" not in told.everything


@pytest.mark.parametrize("name", ["../../up", "a/b", "", ".hidden", "a\nb", "/etc/x", "a" * 101])
def test_a_release_name_that_leads_to_another_folder_is_refused(tmp_path: Path, name: str) -> None:
    (problem,) = problems(tmp_path, {**PROJECT, "releases": {name: RELEASE}})
    assert "the name of a release" in problem.message


def test_a_flag_is_true_or_false_and_nothing_like_it(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, changed(joint="yes"))
    assert problem.where.startswith("privacy.yml: releases.people.joint, line ")


def test_joint_sensitive_columns_are_judged_as_one_value(tmp_path: Path) -> None:
    folder = write(tmp_path, changed(joint="true", insensitive=[], sensitive=["illness", "weight"]))
    told = call("check", "--json", "--project", folder)
    assert (told.exit, told.json["safe"]) == (1, False)
    assert not any(" for " in verdict["requirement"] for verdict in told.json["verdicts"])


def test_a_column_without_a_role_is_an_error(tmp_path: Path) -> None:
    told = call("run", "--json", "--project", write(tmp_path, changed(drop=[])))
    assert (told.exit, told.codes) == (2, ["no_role"])
    assert "note" in told.json["errors"][0]["message"]
    assert not (tmp_path / "out").exists()


def test_a_misspelt_column_of_a_project_is_met_with_the_nearest_name(tmp_path: Path) -> None:
    told = call("run", "--json", "--project", write(tmp_path, changed(insensitive=["wieght"])))
    assert told.exit == 2
    assert told.json["errors"][0]["hint"] == 'Did you mean "weight"?'


def test_a_source_without_a_header_shows_none_of_its_first_row(tmp_path: Path) -> None:
    told = call(
        "run", "--json", "--project", write(tmp_path, PROJECT, "1,CANARY,3,4,5,6\n7,CANARY,8,9,0,1\n")
    )
    assert told.exit == 2 and "CANARY" not in told.everything


def test_paths_start_from_the_project_whatever_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(elsewhere)
    assert call("run", "--json", "--project", write(folder, PROJECT)).exit == 0
    assert (folder / "out" / "people.csv").is_file() and not list(elsewhere.iterdir())


def test_a_hierarchy_that_is_not_nested_is_refused_naming_its_level(tmp_path: Path) -> None:
    (tmp_path / "zip.csv").write_text("02130,a,x\n02131,a,y\n02132,b,x\n")
    parts = copy.deepcopy(RELEASE["quasi_identifiers"])
    parts[1]["hierarchy"] = {"file": "zip.csv"}
    told = call("list", "--json", "--project", write(tmp_path, changed(quasi_identifiers=parts)))
    assert told.exit in (2, 3)
    assert "level" in told.json["errors"][0]["message"]
    assert told.json["errors"][0]["where"].startswith("privacy.yml: releases.people.quasi_identifiers[1]")


def test_a_repeated_hierarchy_row_never_multiplies_rows(tmp_path: Path) -> None:
    (tmp_path / "zip.csv").write_text("02130,a\n02131,a\n02131,a\n02132,a\n02132,a\n")
    parts = copy.deepcopy(RELEASE["quasi_identifiers"])
    parts[1]["hierarchy"] = {"file": "zip.csv"}
    method = {"generalise": {"levels": {"age": "1", "zip": "1"}}}
    told = call(
        "run", "--json", "--project", write(tmp_path, changed(quasi_identifiers=parts, method=method))
    )
    assert told.exit == 0, told.out
    (release,) = told.json["releases"]
    assert (release["rows_in"], release["rows_out"], release["suppressed"]) == (8, 8, 0)
    assert len((tmp_path / "out" / "people.csv").read_text().splitlines()) == 9


def test_unmapped_values_of_every_column_and_release_go_to_one_private_file(tmp_path: Path) -> None:
    rows = ROWS + "90,CANARY_AGE,02130,flu,1,x\n91,30,CANARY_ZIP,flu,1,x\n92,30,CANARY_ZIP,flu,1,x\n"
    (tmp_path / "zip.csv").write_text("02130,a\n02131,a\n02132,a\n")
    parts = copy.deepcopy(RELEASE["quasi_identifiers"])
    parts[1]["hierarchy"] = {"file": "zip.csv"}
    one = changed(quasi_identifiers=parts, method={"generalise": {"levels": {"age": "1", "zip": "1"}}})
    one["releases"]["again"] = {**one["releases"]["people"], "output": {"target": "out/again.csv"}}
    told = call("run", "--json", "--project", write(tmp_path, one, rows))
    assert told.exit == 3 and set(told.codes) == {"unmapped_value"}
    assert "2 rows" in told.out and "CANARY" not in told.everything
    place = tmp_path / "target" / "private" / "unmapped.csv"
    assert place.stat().st_mode & 0o777 == 0o600
    assert place.parent.stat().st_mode & 0o777 == 0o700
    listed = ["age,CANARY_AGE,1", "zip,CANARY_ZIP,2"]
    assert place.read_text().splitlines() == ["column_name,value,n_rows", *listed, *listed]
    assert sorted(path.name for path in place.parent.iterdir()) == ["unmapped.csv"]
    # the next run starts a list of its own
    call("run", "--json", "--project", tmp_path, "--select", "again")
    assert len(place.read_text().splitlines()) == 3


def test_a_misspelt_value_of_a_requirement_finds_the_nearest_one_in_a_private_file(tmp_path: Path) -> None:
    """Whoever reads the error may not see the rows; whoever runs the project may."""
    rows = ROWS + "90,30,02130,CANARY_ILL,1,x\n"
    require = {"ck_safety": {"c": 0.9, "k": 0, "per_value": {"CANARY_IL": {"c": 0.8, "k": 0}}}}
    one = changed(require=require)
    told = call("run", "--json", "--project", write(tmp_path, one, rows))
    assert told.exit == 2 and told.codes == ["unknown_value"] and "CANARY_ILL" not in told.everything
    assert "target/private/nearest.csv" in told.everything
    place = tmp_path / "target" / "private" / "nearest.csv"
    assert place.stat().st_mode & 0o777 == 0o600
    assert place.read_text().splitlines() == ["column_name,named,nearest", "illness,CANARY_IL,CANARY_ILL"]
    place.unlink()
    for dry in (("run", "--dry-run"), ("check",), ("search",)):
        told = call(*dry, "--json", "--project", tmp_path)
        assert told.codes == ["unknown_value"] and "CANARY_ILL" not in told.everything
    assert not place.exists()


def test_a_value_of_one_of_several_sensitive_columns_may_have_limits_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(
        "age,illness,income\n"
        + "".join(f"{20 + n},{'flu' if n % 2 else 'cold'},{n % 3}\n" for n in range(12))
    )
    (tmp_path / "privacy.yml").write_text("""
version: 1
releases:
  people:
    source: {file: people.csv}
    quasi_identifiers: [{column: age, hierarchy: {intervals: [100]}}]
    sensitive: [illness, income]
    require: {ck_safety: {c: 1, k: 0, per_value: {flu: {c: 0.6, k: 0}}}}
    method: {generalise: {levels: {age: 1}}}
    output: {target: out/people.csv}
""")
    told = call("check", "--json", "--project", tmp_path)
    assert "unknown_value" not in told.everything, told.everything
    (tmp_path / "privacy.yml").write_text((tmp_path / "privacy.yml").read_text().replace("flu:", "flue:"))
    told = call("check", "--json", "--project", tmp_path)
    assert set(told.codes) == {"unknown_value"} and "illness and income have no value" in told.everything


def test_a_dry_run_writes_nothing_at_all(tmp_path: Path) -> None:
    folder = write(tmp_path, PROJECT)
    before = sorted(folder.rglob("*"))
    assert call("run", "--json", "--dry-run", "--project", folder).exit == 0
    assert sorted(folder.rglob("*")) == before


def test_each_of_several_sensitive_columns_is_checked_with_the_others_as_quasi_identifiers(
    tmp_path: Path,
) -> None:
    rows = "age,illness,income\n30,flu,low\n30,flu,low\n30,cold,high\n30,cold,high\n"
    path = tmp_path / "people.csv"
    path.write_text(rows)
    words = ["--quasi", "age", "--sensitive", "illness,income", "--require", "l_diversity(l=2)"]
    told = call("check", "--json", "--source", path, *words)
    # alone each column shows two values; who knows one of them knows the other
    assert [(v["requirement"], v["safe"], v["value"]) for v in told.json["verdicts"]] == [
        ("l_diversity(l=2) for illness", False, "1"),
        ("l_diversity(l=2) for income", False, "1"),
    ]
    assert told.json["ignored_columns"] == [] and told.json["rows"] == 4
