"""Who may import whom: docs/architecture.md draws the layers, and the imports keep to the drawing."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.conftest import ROOT

PACKAGE = ROOT / "privacy_sql"
# parts of one kind are chosen by name at run time, so none of them may lean on another
APART = ("criteria", "mechanisms", "searches", "utilities", "attacks", "engines", "commands", "experiments")
# (α,k)-anonymity is by definition k-anonymity and more
BUILT_ON = {"alpha_k_anonymity": {"k_anonymity"}}
MODULES = sorted(PACKAGE.rglob("*.py"))


@cache
def layers() -> dict[str, int]:
    """Module -> the number of its line in the drawing, the lowest line being the highest number."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    drawing = re.search(r"```layers\n(.*?)```", page, re.DOTALL)
    assert drawing
    lines = drawing[1].strip().splitlines()
    return {module: number for number, line in enumerate(lines) for module in line.split()}


def home(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imports(path: Path) -> Iterator[tuple[str, ...]]:
    """What a module imports of the package while it runs, as parts of dotted names below it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for_types = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or node in for_types or not node.module:
            continue
        first, *rest = node.module.split(".")
        if first == "privacy_sql":
            for alias in node.names:
                yield (*rest, alias.name)


def test_every_module_stands_in_the_drawing() -> None:
    modules = {home(path) for path in MODULES} - {"__init__"}
    assert modules == set(layers())


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_imports_point_downwards(path: Path) -> None:
    me = home(path)
    if me == "__init__":
        return
    for target in imports(path):
        if target[0] in layers() and target[0] != me:
            assert layers()[target[0]] > layers()[me], f"{me} may not import {target[0]}"


@pytest.mark.parametrize("family", APART)
def test_parts_of_one_kind_never_import_one_another(family: str) -> None:
    folder = PACKAGE / family
    parts = {path.stem for path in folder.glob("*.py") if not path.stem.startswith("_")}
    for path in folder.glob("*.py"):
        if path.stem in parts:
            named = {target[1] for target in imports(path) if target[0] == family and len(target) > 1}
            assert not named & (parts - {path.stem} - BUILT_ON.get(path.stem, set())), path.name


def test_kernels_and_spaces_know_numbers_only() -> None:
    for path in [*(PACKAGE / "kernels").glob("*.py"), *(PACKAGE / "spaces").glob("*.py")]:
        assert not re.search(
            r"^\s*(import|from) (pandas|duckdb|sqlglot|jinja2)", path.read_text(), re.MULTILINE
        ), path.name


def test_only_the_engine_knows_duckdb() -> None:
    for path in MODULES:
        if path.parent.name != "engines":
            assert not re.search(
                r"^\s*(import|from) duckdb", path.read_text(encoding="utf-8"), re.MULTILINE
            ), path.name
