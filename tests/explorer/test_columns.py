"""Roles and hierarchies: counts are those of `profile` and `identify`, files those the project uses."""

from __future__ import annotations

import stat
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.hierarchies import Tree
from privacy_sql.project import reading
from tests import engines
from tests.command_line import call
from tests.explorer.served import Asker, served


@pytest.fixture
def asker(folder: Path) -> Iterator[Asker]:
    """An explorer of a copy of the example."""
    with served(folder) as made:
        yield made


def version(asker: Asker) -> int:
    found: int = asker.ask("columns")["summary"]["version"]
    return found


def changed(asker: Asker, **question: Any) -> Any:
    """A change on top of what is decided now."""
    return asker.ask("columns", **question, version=version(asker))


def labels(asker: Asker, column: str, level: int, **more: Any) -> dict[str, int]:
    """The labels of a level and their people, as the page previews them."""
    found = asker.ask("columns", action="preview", column=column, **more)["levels"][level]["labels"]
    return {one["label"]: one["people"] for one in found}


def test_counts_and_proposals_are_those_of_profile_and_init(
    page: Asker, project: Path, tmp_path: Path
) -> None:
    told = page.work("columns", do="profile")["answer"]
    profiled = call("profile", "--json", "--source", project / "data/people.csv").json["tables"]
    (columns,) = profiled.values()
    for column in columns:
        found = told[column["column"]]
        assert (found["kind"], found["values"], found["missing"]) == (
            column["kind"],
            column["n_values"],
            column["n_nulls"],
        )
    made = call(
        "init", "--json", "--from", project / "data/people.csv", "--sensitive", "diagnosis", tmp_path / "p"
    ).json
    for column in made["columns"]:
        assert told[column["column"]]["proposed"] == column["role"]
        assert told[column["column"]]["why"] == column["reason"]
    assert sum(found["proposed"] == "quasi" for found in told.values()) <= 8


def test_sets_that_single_people_out_are_those_of_identify(page: Asker, project: Path) -> None:
    told = page.work("columns", do="identify")["answer"]
    (plan,) = reading.read(project).plans.values()
    with engines.opened() as engine:
        found = ps.identify(engine, plan.table, 3)
    assert told["people"] == found.people
    assert {one["columns"]: one["people"] for one in told["singled"]} == found.people_by_least_size
    rows = pd.read_csv(project / "data/people.csv", dtype=str)
    for one in told["sets"][:4]:
        sizes = rows.groupby(one["columns"]).size()
        assert one["alone"] == int((sizes == 1).sum())


def test_a_role_is_changed_in_privacy_yml_and_the_choice_is_counted_anew(asker: Asker, folder: Path) -> None:
    asker.work("columns", do="profile")
    told = changed(asker, action="role", column="hours_per_week", role="quasi")
    roles = {one["name"]: one["role"] for one in told["columns"]}
    assert roles["hours_per_week"] == "quasi" and "hours_per_week" in told["summary"]["levels"]
    assert asker.ask("decide")["now"]["levels"]["hours_per_week"] == 0
    changed(asker, action="role", column="sex", role="drop")
    asker.ask("sign", action="save", version=version(asker))
    (plan,) = reading.read(folder).plans.values()
    assert "hours_per_week" in plan.table.quasi and "sex" not in plan.table.quasi
    assert plan.table.hierarchies["hours_per_week"].level_names() == ("raw", "5", "10", "20", "*")
    assert set(plan.table.drop) == {"survey_weight", "sex"}
    assert "# hours_per_week is left out" in (folder / "privacy.yml").read_text()


@pytest.mark.parametrize("role", ["insensitive", "known", "sensitive", "identifier", "drop"])
def test_every_role_is_read_back_as_it_was_given(folder: Path, role: str) -> None:
    with served(folder) as asker:
        column = "survey_weight" if role != "identifier" else "person_id"
        if role == "identifier":
            changed(asker, action="role", column=column, role="drop")
        if role == "drop":
            column = "zip"
        told = changed(asker, action="role", column=column, role=role)
        assert {one["name"]: one["role"] for one in told["columns"]}[column] == role


def test_a_column_has_one_role_and_strange_ones_are_refused(asker: Asker) -> None:
    for question in ({"column": "nobody", "role": "quasi"}, {"column": "age", "role": "king"}):
        told = asker.tell("/api/columns", {"action": "role", "version": version(asker), **question})
        assert told["error"]["code"] == "bad_question"
    question = {"action": "role", "column": "diagnosis", "role": "quasi", "version": version(asker)}
    parts = asker.tell("/api/columns", question)["error"]["parts"]
    assert [part["code"] for part in parts] == ["no_sensitive", "no_sensitive"], "requirements read it"
    assert not asker.ask("columns")["summary"]["unsaved"]


def test_a_preview_counts_people_by_label(page: Asker, project: Path) -> None:
    rows = pd.read_csv(project / "data/people.csv", dtype=str)
    bands = Counter(f"{age // 25 * 25}-{age // 25 * 25 + 24}" for age in map(int, rows["age"]))
    assert labels(page, "age", 1, kind="intervals", parameters="25") == bands
    exact = page.ask("columns", action="preview", column="age")["levels"][0]["labels"]
    assert all(one["label"] is None for one in exact), "values of people are not shown unless asked for"
    assert labels(page, "age", 0, values=True) == Counter(rows["age"]) or len(set(rows["age"])) > 60


def test_what_a_hierarchy_does_not_cover_is_counted(page: Asker) -> None:
    told = page.ask("columns", action="preview", column="sex", kind="intervals", parameters="5")
    (problem,) = told["problems"]
    assert "does not cover 2 values (20000 rows)" in problem
    bad = page.tell(
        "/api/columns", {"action": "preview", "column": "age", "kind": "intervals", "parameters": "10, 15"}
    )
    assert bad["error"]["code"] == "not_nested"


def test_bands_are_edited_and_saved_as_somebody_would_write_them(asker: Asker, folder: Path) -> None:
    changed(asker, action="hierarchy", column="age", kind="breaks", parameters="30, 50, 70; 50")
    asker.ask("sign", action="save", version=version(asker))
    assert "hierarchy: {breaks: [[30, 50, 70], [50]]}" in (folder / "privacy.yml").read_text()


def test_small_labels_are_merged_into_a_file_that_the_project_uses(asker: Asker, folder: Path) -> None:
    before = labels(asker, "education", 1)
    small = {label for label, n in before.items() if n < 3500}
    old = (folder / "hierarchies/education.csv").read_bytes()
    told = changed(
        asker, action="tree", column="education", what="merge", level=1, small=3500, into="Degree or more"
    )
    assert "error" not in told
    after = labels(asker, "education", 1)
    assert after["Degree or more"] == sum(before[label] for label in small)
    assert not (folder / "hierarchies/education_2.csv").exists(), "nothing is written before it is saved"
    shown = asker.ask("sign")["difference"]
    assert any("hierarchies/education_2.csv" in line for line in shown)
    asker.ask("sign", action="save", version=version(asker))
    made = folder / "hierarchies/education_2.csv"
    assert stat.S_IMODE(made.stat().st_mode) == 0o600
    assert (folder / "hierarchies/education.csv").read_bytes() == old, "no file is overwritten"
    tree = Tree.from_file(made, "education")
    assert tree.label("Master", 1) == "Degree or more" and tree.label("Primary", 1) == "School"
    assert call("run", "--project", folder, "--dry-run").exit in (0, 1)


def test_a_level_is_added_and_marked_labels_are_merged(asker: Asker, folder: Path) -> None:
    changed(asker, action="hierarchy", column="marital_status", kind="keep_or_drop", parameters="")
    changed(asker, action="tree", column="marital_status", what="level", name="kind")
    hidden = asker.ask("columns", action="preview", column="marital_status")["levels"][1]["labels"]
    assert all(one["label"] is None for one in hidden), "a label that is somebody's value is one"
    named = asker.ask("columns", action="preview", column="marital_status", values=True)["levels"][1][
        "labels"
    ]
    marked = [str(one["number"]) for one in named if one["label"] in ("Married", "Cohabiting")]
    changed(
        asker, action="tree", column="marital_status", what="merge", level=1, labels=marked, into="Together"
    )
    found = labels(asker, "marital_status", 1)
    people = {one["label"]: one["people"] for one in named}
    assert found["Together"] == people["Married"] + people["Cohabiting"]
    asker.ask("sign", action="save", version=version(asker))
    (plan,) = reading.read(folder).plans.values()
    assert plan.table.hierarchies["marital_status"].level_names() == ("raw", "kind", "*")


def test_marked_labels_are_moved_under_another_parent(asker: Asker, folder: Path) -> None:
    before = Tree.from_file(folder / "hierarchies/education.csv", "education")
    people = [labels(asker, "education", level) for level in (1, 2)]
    shown = asker.ask("columns", action="preview", column="education")["levels"]
    number = {one["label"]: str(one["number"]) for level in shown[1:3] for one in level["labels"]}
    move = {"action": "tree", "column": "education", "what": "move", "level": 1}
    changed(asker, **move, labels=[number["High-school"]], parent=number["Degree"])
    after = labels(asker, "education", 2)
    assert labels(asker, "education", 1) == people[0], "the labels below stay"
    assert after["Degree"] == people[1]["Degree"] + people[0]["High-school"]
    asker.ask("sign", action="save", version=version(asker))
    (plan,) = reading.read(folder).plans.values()
    tree = plan.table.hierarchies["education"]
    for value in ("Upper-secondary", "Vocational"):
        assert (before.label(value, 2), tree.label(value, 2)) == ("No-degree", "Degree")
    assert tree.label("Primary", 2) == "No-degree" and tree.label("Master", 2) == "Degree"


def test_a_value_is_moved_without_being_named_and_nowhere_is_no_place(asker: Asker) -> None:
    people = labels(asker, "education", 1)
    move = {"action": "tree", "column": "education", "what": "move", "level": 0}
    shown = asker.ask("columns", action="preview", column="education")["levels"]
    first = shown[0]["labels"][0]
    assert first["label"] is None
    smallest = shown[1]["labels"][-1]
    changed(asker, **move, labels=["0"], parent=str(smallest["number"]))
    assert labels(asker, "education", 1)[smallest["label"]] == people[smallest["label"]] + first["people"]
    for wrong in (
        {"labels": [], "parent": "0"},
        {"labels": ["0"], "parent": "99"},
        {"labels": ["-1"], "parent": "0"},
    ):
        told = asker.tell("/api/columns", {**move, **wrong, "version": version(asker)})
        assert told["error"]["code"] == "nothing_to_move"
    told = asker.tell(
        "/api/columns", {**move, "level": 2, "labels": ["0"], "parent": "0", "version": version(asker)}
    )
    assert told["error"]["code"] == "no_level", "above the second level stands the top alone"


def test_undo_brings_a_tree_back_and_a_tree_that_does_not_nest_is_refused(asker: Asker) -> None:
    before = labels(asker, "education", 1)
    merge = {"action": "tree", "column": "education", "what": "merge", "level": 1}
    told = asker.tell(
        "/api/columns", {**merge, "labels": ["0", "2"], "into": "Mixed", "version": version(asker)}
    )
    assert told["error"]["code"] == "not_nested" and labels(asker, "education", 1) == before
    changed(asker, action="tree", column="education", what="drop", level=2)
    changed(asker, action="tree", column="education", what="merge", level=1, labels=["0", "2"], into="Mixed")
    for _ in range(2):
        asker.ask("decide", action="undo", version=version(asker))
    assert labels(asker, "education", 1) == before
    assert not asker.ask("sign")["difference"]


def test_trees_that_were_not_saved_are_gone_with_the_explorer(folder: Path) -> None:
    with served(folder) as asker:
        changed(asker, action="tree", column="education", what="level", name="more")
        place = asker.decision._folder
        assert stat.S_IMODE(place.stat().st_mode) == 0o700 and any(place.glob("*.csv"))
    assert not place.exists()
