"""Who may import whom: docs/architecture.md draws the rooms from top to bottom; imports only point down."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from benchmarks import house
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


def test_no_name_hides_that_a_type_is_any() -> None:
    """But for the frames of whatever library a user brings."""
    assert set(house.aliases(ast.parse("A = Any\nB: TypeAlias = typing.Any\nC = list[Any]"), {"Any"})) == {
        "A",
        "B",
    }
    assert {name for tree in house.trees().values() for name in house.aliases(tree, {"Any"})} <= {"Frame"}


def test_imports_point_downwards() -> None:
    upwards = [
        f"{path.relative_to(PACKAGE)} may not import {target[0]}"
        for path in MODULES
        for target in imports(path)
        if home(path) != "__init__" and target[0] in rooms() and target[0] != home(path)
        if rooms()[target[0]] <= rooms()[home(path)]
    ]
    assert upwards == []


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


# where code outside its file asks for a part by its class or its name, and why it may
RECORD = "a section about some requirements, by their names in the record of a verdict"
BELOW = "a manifest of marginals must name them; the record stands below the methods"
OLD = "a fault of old versions, by the name of the part in their manifests"
ASKED_FOR = {
    "api.py: isinstance(given, Method)": "somebody may pass anything as a method",
    "judge.py: isinstance(asked, Criterion)": "somebody may pass anything as a requirement",
    "manifest.py: found.method == 'marginals'": BELOW,
    "publishing/advisories.py: it.method == 'noisy_counts'": OLD,
    "publishing/advisories.py: it.method not in ('marginals', 'noisy_counts')": OLD,
    "export/dbt.py: content.method in GENERALISING": "another method that shows labels may do more than that",
    "reporting/describing.py: 'ck_safety' in asked": RECORD,
    "reporting/verdict.py: v['criterion'] in ABOUT_FACTS": RECORD,
    "reporting/sections/background.py: verdict['criterion'] == 'bt_privacy'": RECORD,
    "reporting/sections/disclosure.py: v['criterion'] == 'ck_safety'": RECORD,
    "reporting/sections/readers.py: v['criterion'] == 'ck_safety'": RECORD,
    "reporting/sections/readers.py: verdict['criterion'] != 'known_columns'": RECORD,
    "reporting/sections/readers.py: name in ABOUT_FACTS": RECORD,
    "reporting/sections/readers.py: name not in ABOUT_FACTS": RECORD,
    "reporting/sections/skyline.py: verdict['criterion'] == 'privacy_skyline'": RECORD,
    "reporting/sections/skyline.py: v['criterion'] in ('privacy_skyline', 'ck_safety')": RECORD,
}
OF_PARTS = ("criteria", "methods", "utilities")


@cache
def parts_by_class() -> dict[str, Path]:
    """The class of every part, and those they are made from -> its file."""
    kinds = {
        kind
        for room in OF_PARTS
        for name in registry.available(room)
        for kind in registry.get(room, name).__mro__
        if kind.__module__.startswith("privacy_sql.")
    }
    return {kind.__name__: Path(inspect.getfile(kind)) for kind in kinds}


@cache
def names_of_parts() -> dict[str, Path]:
    """Those of requirements and methods, which records name as well; measures have words of all days."""
    rooms = ("criteria", "methods")
    return {name: PACKAGE / room / f"{name}.py" for room in rooms for name in registry.available(room)}


def words_of(node: ast.AST) -> set[str]:
    """The texts of a literal, or of a tuple or set of them."""
    parts = node.elts if isinstance(node, (ast.Tuple, ast.List, ast.Set)) else [node]
    return {str(part.value) for part in parts if isinstance(part, ast.Constant)}


@cache
def named_together() -> dict[str, ast.AST]:
    """The constants of all modules that name parts."""
    return {
        ast.unparse(node.targets[0]): node.value
        for path in MODULES
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.Assign) and words_of(node.value) & set(names_of_parts())
    }


def asked_for(path: Path, source: str) -> Iterator[str]:
    """Where a module asks for the class of a part, or compares a name with that of one."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("isinstance", "issubclass"):
            named = {each.id for each in ast.walk(node.args[1]) if isinstance(each, ast.Name)}
            if any(parts_by_class().get(name, path) != path for name in named):
                yield ast.unparse(node)
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            told = {ast.unparse(side) for side in sides}
            words = {word for side in sides for word in words_of(side)}
            words |= {
                word for text in told & set(named_together()) for word in words_of(named_together()[text])
            }
            homes = {names_of_parts().get(word, path) for word in words}
            homes |= {parts_by_class().get(text.removesuffix(".name"), path) for text in told}
            # "marginals" and "composition" are also keys of records, so what is compared must be a name
            asks = any(re.search(r"(name|method|criterion|asked|kind)\W*$", text) for text in told)
            if asks and homes - {path}:
                yield ast.unparse(node)


def test_nobody_asks_for_the_class_or_the_name_of_a_part_outside_its_file() -> None:
    """What a part may be asked is declared on its base class, so that somebody's own part is asked too."""
    found = {
        f"{path.relative_to(PACKAGE).as_posix()}: {asked}"
        for path in MODULES
        if home(path) != "papers"  # a paper is about the parts that it names
        for asked in asked_for(path, path.read_text(encoding="utf-8"))
    }
    assert found == set(ASKED_FOR)


@pytest.mark.parametrize(
    "line",
    [
        "isinstance(asked, KLink)",
        "issubclass(part, (str, Method))",
        "c.name == 'k_anonymity'",
        "content.method not in ('marginals', 'bucketize')",
        "verdict['criterion'] != 'composition'",
        "each.name == KLink.name",
        "method in GENERALISING",
        "'ck_safety' in asked",
    ],
)
def test_asking_for_a_part_is_found(line: str) -> None:
    assert [*asked_for(PACKAGE / "release.py", line)]


def test_a_part_may_ask_for_itself() -> None:
    assert not [
        *asked_for(PACKAGE / "criteria" / "k_link.py", "isinstance(asked, KLink) or name == 'k_link'")
    ]


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
def test_a_door_names_every_module_of_its_room(room: Path) -> None:
    """Not those that begin with an underscore; parts are files of their names, as such a door says."""
    door = ast.get_docstring(ast.parse((room / "__init__.py").read_text(encoding="utf-8"))) or ""
    parts = set(registry.available(room.name)) if room.name in registry.FAMILIES else set()
    if room.name == "papers":  # one per paper
        parts = {path.stem for path in (ROOT / "tests" / "papers").glob("*.py")}
        parts = {name.removeprefix("test_") for name in parts}
    modules = {path.stem for path in room.glob("*.py") if not path.stem.startswith("_")}
    assert not modules - named_in(door) - parts


@pytest.mark.parametrize("room", rooms_with_doors(), ids=lambda room: room.name)
def test_a_room_has_a_folder_of_tests(room: Path) -> None:
    assert any((ROOT / "tests" / room.name).glob("test_*.py"))


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
