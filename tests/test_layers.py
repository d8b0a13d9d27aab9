"""Who may import whom: docs/architecture.md draws the rooms from top to bottom; imports only point down."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from privacy_sql import registry
from tests.conftest import ROOT

PACKAGE = ROOT / "privacy_sql"
# parts of one kind are chosen by name at run time, so none of them may lean on another
APART = (
    "criteria",
    "methods",
    "searches",
    "utilities",
    "attacks",
    "engines",
    "cli/verbs",
    "papers",
    "explorer/screens",
)
# (α,k)-anonymity is by definition k-anonymity and more; `list` names the kinds of attack
BUILT_ON = {"alpha_k_anonymity": {"k_anonymity"}, "list": {"attack"}}
MODULES = sorted(PACKAGE.rglob("*.py"))
# modules that belong to no room, beside the package itself
MOST_BESIDE_ROOMS = 13


@cache
def rooms() -> dict[str, int]:
    """Room, or module beside the rooms -> the number of its line in the drawing."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    drawing = re.search(r"```rooms\n(.*?)```", page, re.DOTALL)
    assert drawing
    lines = [line.partition("  ")[0].split() for line in drawing[1].strip().splitlines()]
    return {room: number for number, names in enumerate(lines) for room in names}


def home(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


@cache
def imports(path: Path) -> tuple[tuple[str, ...], ...]:
    """What a module imports of the package, for types as well, as parts of dotted names below it."""
    return tuple(_imports(path))


def _imports(path: Path) -> Iterator[tuple[str, ...]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            first, *rest = node.module.split(".")
            if first == "privacy_sql":
                for alias in node.names:
                    yield (*rest, alias.name)


def test_every_room_stands_in_the_drawing() -> None:
    assert {home(path) for path in MODULES} - {"__init__"} == set(rooms())


@pytest.mark.parametrize("room", sorted(rooms()))
def test_modules_of_a_room_form_no_cycle(room: str) -> None:
    """For types as well; parts of one kind lean on the door of their room, and the door on none of them."""
    names = {path.relative_to(PACKAGE).with_suffix("").parts: path for path in MODULES if home(path) == room}
    names = {parts[:-1] if parts[-1] == "__init__" else parts: path for parts, path in names.items()}
    needs = {
        me: {
            next((found for found in (target, target[:-1]) if found in names), me) for target in imports(path)
        }
        - {me}
        for me, path in names.items()
    }
    while free := [me for me, others in needs.items() if not others & set(needs)]:
        for me in free:
            del needs[me]
    assert not needs, f"these lie on a cycle or lead to one: {sorted(map('.'.join, needs))}"


def test_few_modules_stand_beside_the_rooms() -> None:
    beside = [path.name for path in PACKAGE.glob("*.py") if path.name != "__init__.py"]
    assert len(beside) <= MOST_BESIDE_ROOMS, beside


def test_no_two_classes_of_the_package_have_one_name() -> None:
    """A name that stands for two things tells a reader neither; those of parts follow from their files."""
    found: dict[str, list[str]] = {}
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, []).append(path.relative_to(PACKAGE).as_posix())
    assert len(found) > 300  # they are read
    two = {name for name, places in found.items() if len(places) > 1}
    assert two == {"People"}, "the screen of a page, and a counted table"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_imports_point_downwards(path: Path) -> None:
    me = home(path)
    if me == "__init__":
        return
    for target in imports(path):
        if target[0] in rooms() and target[0] != me:
            assert rooms()[target[0]] > rooms()[me], f"{me} may not import {target[0]}"


@pytest.mark.parametrize(
    "folder", sorted({path.parent for path in MODULES} - {PACKAGE}), ids=lambda path: path.name
)
def test_a_room_has_a_door_that_says_what_it_is_for(folder: Path) -> None:
    assert ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8")))


@pytest.mark.parametrize("family", APART)
def test_parts_of_one_kind_never_import_one_another(family: str) -> None:
    folder = PACKAGE / family
    package = tuple(family.split("/"))
    parts = {path.stem for path in folder.glob("*.py") if not path.stem.startswith("_")}
    if family == "attacks":  # the other modules there are what an attack is made of
        parts = {"intersection"}
    for path in folder.glob("*.py"):
        if path.stem in parts:
            named = {
                target[len(package)]
                for target in imports(path)
                if target[: len(package)] == package and len(target) > len(package)
            }
            assert not named & (parts - {path.stem} - BUILT_ON.get(path.stem, set())), path.name


def test_a_template_lies_in_the_room_that_renders_it() -> None:
    """What two rooms need belongs to the lower one; a criterion may be rendered below it, by name."""
    named = re.compile(r'"([a-z_]+)/[a-z_{}.]+\.sql"')
    for path in MODULES:
        for room in named.findall(path.read_text(encoding="utf-8")):
            if room in rooms() and room not in (home(path), "criteria") and home(path) != "query":
                assert rooms()[room] > rooms()[home(path)], f"{path.name} renders a template of {room}"
    found = {path.parent.name for path in (ROOT / "sql").rglob("*.sql")}
    assert found <= set(rooms()), found - set(rooms())


def test_kernels_and_spaces_know_numbers_only() -> None:
    for path in [*(PACKAGE / "kernels").rglob("*.py"), *(PACKAGE / "spaces").rglob("*.py")]:
        assert not re.search(
            r"^\s*(import|from) (pandas|duckdb|sqlglot|jinja2)", path.read_text(), re.MULTILINE
        ), path.name


def test_only_the_engine_knows_duckdb() -> None:
    for path in MODULES:
        if path.parent.name != "engines":
            assert not re.search(
                r"^\s*(import|from) duckdb", path.read_text(encoding="utf-8"), re.MULTILINE
            ), path.name


def named_in(door: str) -> set[str]:
    """The modules and folders that a docstring names."""
    return {word.removesuffix(".py").strip("/") for word in re.findall(r"`([\w/.]+)`", door)}


def modules_of(room: Path, words: tuple[str, ...]) -> str:
    """The part of dotted words below a room that leads to a module, as `folder/module`."""
    found: list[str] = []
    for word in words:
        place = room.joinpath(*found, word)
        if not place.is_dir() and not place.with_suffix(".py").is_file():
            break
        found.append(word)
    return "/".join(found)


def rooms_with_doors() -> list[Path]:
    return sorted(path.parent for path in PACKAGE.glob("*/__init__.py"))


@pytest.mark.parametrize("room", rooms_with_doors(), ids=lambda room: room.name)
def test_a_door_says_what_comes_in_what_goes_out_and_which_file_to_read_first(room: Path) -> None:
    door = ast.get_docstring(ast.parse((room / "__init__.py").read_text(encoding="utf-8"))) or ""
    assert "\nIn: " in door and "Out: " in door
    read = re.search(r"Read\s+`(\w+)\.py`|Read the README of a paper's folder", door)
    assert read
    assert read[1] is None or (room / f"{read[1]}.py").is_file()
    for name in named_in(door):
        if re.fullmatch(r"[a-z_/]+", name) and f"`{name}.py`" in door:
            assert (room / f"{name}.py").is_file(), name


@pytest.mark.parametrize("room", rooms_with_doors(), ids=lambda room: room.name)
def test_other_rooms_come_in_by_the_door_or_by_a_module_named_in_it(room: Path) -> None:
    door = ast.get_docstring(ast.parse((room / "__init__.py").read_text(encoding="utf-8"))) or ""
    named = named_in(door)
    parts = set(registry.available(room.name)) if room.name in registry.FAMILIES else set()
    for path in MODULES:
        if home(path) != room.name:
            for target in imports(path):
                module = modules_of(room, target[1:]) if target[0] == room.name else ""
                folder = module.partition("/")[0]
                assert not module or module in named | parts or folder in named - {module}, (
                    f"{path.relative_to(PACKAGE)} imports {room.name}/{module}, which the door does not name"
                )


def asked() -> list[tuple[str, str]]:
    """The questions of docs/architecture.md, and a file that answers each."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = page.split("## Where is it?")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (.+\?) \| (.+) \|$", table, re.MULTILINE)
    return [(question, file) for question, files in rows for file in re.findall(r"`([\w/.]+)`", files)]


@pytest.mark.parametrize(("question", "file"), asked(), ids=lambda text: text)
def test_a_question_of_a_new_reader_is_answered_within_two_steps(question: str, file: str) -> None:
    if file.startswith(("docs/", "sql/")):
        assert (ROOT / file).is_file()
        return
    assert (PACKAGE / file).is_file()
    room, *rest = file.removesuffix(".py").split("/")
    if rest and rest[0] != "verbs":
        door = ast.get_docstring(ast.parse((PACKAGE / room / "__init__.py").read_text(encoding="utf-8")))
        parts = registry.available(room) if room in registry.FAMILIES else []
        assert rest[0] in named_in(door or "") | set(parts), question


def test_enough_questions_are_asked() -> None:
    assert len({question for question, _ in asked()}) >= 25
