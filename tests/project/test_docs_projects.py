"""Every piece of privacy.yml that a page shows is read, as it stands, and published where it says how."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from privacy_sql.cli import main
from privacy_sql.project import example
from tests.conftest import ROOT
from tests.test_docs import PAGES, blocks

PUBLISHED = YAML(typ="base")
# pages whose YAML is not of a project: dbt's files, and the description of a release from elsewhere
OF_DBT = ("models", "packages", "sources")
CRITERIA = {path.stem for path in (ROOT / "privacy_sql" / "criteria").glob("[a-z]*.py")}

PEOPLE = 400


def pieces() -> list[Any]:
    """What each page shows of privacy.yml, and the method of each line of a page's table."""
    found = []
    for page in PAGES:
        texts = [text for kind, text in blocks(page) if kind == "yaml"]
        name = page.relative_to(ROOT).as_posix()
        found += [pytest.param(name, text, id=f"{name}-{number}") for number, text in enumerate(texts)]
    return found


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example with the first of its people."""
    folder = tmp_path_factory.mktemp("example")
    example.write(folder)
    with (folder / "data" / "people.csv").open("r+", encoding="utf-8") as people:
        few = [next(people) for _ in range(PEOPLE)]
        people.seek(0)
        people.truncate()
        people.writelines(few)
    return folder


def copied(few: Path, folder: Path) -> dict[str, Any]:
    """The example as a project that any piece fits into."""
    shutil.copytree(few, folder, dirs_exist_ok=True)
    project: dict[str, Any] = PUBLISHED.load((folder / "privacy.yml").read_text(encoding="utf-8"))
    return project


def run(folder: Path, project: dict[str, Any]) -> Any:
    with (folder / "privacy.yml").open("w", encoding="utf-8") as out:
        YAML().dump(project, out)
    return main.run(["run", "--project", str(folder)])


# what a piece names that the example does not have; the rest of it is read before that is found
NOT_HERE = {"unknown_value", "not_registered", "nobody_located", "no_common_value"}
# pages about tables with other columns or other files than those of the example
NOT_ON = {
    "docs/background_knowledge.md": {"no_such_file"},
    "docs/baseline.md": {"unknown_column"},
    "docs/households.md": {"unknown_column"},
    "docs/known_columns.md": {"unknown_column"},
    "docs/near_values.md": {"unmapped_value"},
    "docs/risk.md": {"no_population"},
}
HOSPITAL = {
    "hospital_b.csv": "zip,years,job,condition\n130**,20-30,cook,Grippe\n130**,30-40,smith,cold\n",
    "jobs.csv": "job,kind\ncook,kitchen\nsmith,forge\n",
}


@pytest.mark.parametrize(("page", "text"), pieces())
def test_a_piece_of_a_project_on_a_page_is_read(tmp_path: Path, few: Path, page: str, text: str) -> None:
    piece = PUBLISHED.load(text)
    if set(piece) & set(OF_DBT):
        return
    project = copied(few, tmp_path)
    (release,) = project["releases"].values()
    if "releases" in piece:
        project = piece
    elif "file" in piece:
        for name, lines in HOSPITAL.items():
            (tmp_path / name).write_text(lines, encoding="utf-8")
        (tmp_path / "hospital_b.yml").write_text(text, encoding="utf-8")
        release["require"] = {"composition": {"with": ["hospital_b.yml"]}}
    elif set(piece) <= CRITERIA:
        release["require"] = piece
    else:
        for role in ("insensitive", "drop"):
            if role in piece:  # a column has one role
                release.pop("insensitive", None)
                release["drop"] = [c for c in release["drop"] if c != "hours_per_week"]
        release |= {**piece, "drop": [*release["drop"], *piece.get("drop", [])]}
    if "marginals" in release["method"]:  # of fewer columns there are fewer collections
        release["quasi_identifiers"] = release["quasi_identifiers"][:3]
        release["drop"] = "rest"
    if "noisy_counts" in release["method"]:
        del release["require"]  # it promises, and shows no rows to judge
    outcome = run(tmp_path, project)
    assert {error["code"] for error in outcome.errors} <= NOT_HERE | NOT_ON.get(page, set()), outcome.errors
    assert outcome.exit in (0, 1) or outcome.errors


COLLECTIONS = ["[{age: 2}, {zip: 1}]", "[{age: 1}, {sex: 0, diagnosis: 0}]", "[[[age, 2]], [[sex, 0]]]"]


@pytest.mark.parametrize("collection", COLLECTIONS)
def test_a_collection_of_a_project_file_has_its_levels_as_numbers(
    tmp_path: Path, few: Path, collection: str
) -> None:
    project = copied(few, tmp_path)
    (release,) = project["releases"].values()
    release["require"] = {"k_link": {"k": "2"}}
    release["method"] = PUBLISHED.load(f"marginals: {{collection: {collection}}}")
    outcome = run(tmp_path, project)
    assert outcome.exit == 0, outcome.errors
    parts = sorted(tmp_path.glob("out/*marginal*.csv"))
    assert len(parts) == 2
