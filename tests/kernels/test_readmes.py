"""The README of each paper's kernels names functions and oracles that are there, and every module."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

import privacy_sql
from tests.conftest import ROOT

KERNELS = Path(privacy_sql.__file__).parent / "kernels"
FOLDERS = sorted(path.parent.name for path in KERNELS.glob("*/__init__.py"))
BESIDE = "."  # the modules that lie in no folder


def rows(folder: str) -> list[list[str]]:
    """The cells of the table: symbol, function, place, oracle."""
    text = (KERNELS / folder / "README.md").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.startswith("|")]
    assert [cell.strip() for cell in lines[0].strip("|").split("|")] == [
        "symbol",
        "function",
        "where in the paper",
        "oracle",
    ]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def modules(folder: str) -> list[str]:
    return sorted(p.stem for p in (KERNELS / folder).glob("*.py") if p.stem != "__init__")


def home(folder: str, words: list[str]) -> list[str]:
    """Each name as `module.function`; a name without a module is of the one before it."""
    found, module = [], ""
    for word in words:
        head, _, tail = word.partition(".")
        if tail or head in modules(folder):
            module = head
        found.append(word if tail or head == module else f"{module}.{word}")
    return found


@pytest.mark.parametrize("folder", [*FOLDERS, BESIDE])
def test_every_function_of_a_kernel_that_a_readme_names_is_there(folder: str) -> None:
    named: set[str] = set()
    for _, functions, _, _ in rows(folder):
        for name in home(folder, re.findall(r"`([\w.]+)`", functions)):
            module, _, function = name.partition(".")
            way = [module] if folder == BESIDE else [folder, module]
            loaded = importlib.import_module(".".join(["privacy_sql.kernels", *way]))
            assert not function or hasattr(loaded, function), name
            named.add(module)
    assert named == set(modules(folder))


@pytest.mark.parametrize("folder", [*FOLDERS, BESIDE])
def test_every_oracle_that_a_readme_names_is_there(folder: str) -> None:
    first = ""
    for symbol, _, place, oracle in rows(folder):
        where = r"Sec\.|Def|Theorem|Prop|Lemma|eq\.|Fig|App"
        assert re.search(where if folder != BESIDE else rf"{where}|\d{{4}}|no paper", place), symbol
        for word in re.findall(r"`([\w./]+)`", oracle):
            if word.endswith(".py"):
                first = (ROOT / word).read_text(encoding="utf-8")
            elif word not in modules(folder) and not any(
                f"def {word}(" in (KERNELS / folder / f"{module}.py").read_text(encoding="utf-8")
                for module in modules(folder)
            ):
                assert re.search(rf"^\s*(def|class) {word}\b", first, re.MULTILINE), word
        assert oracle, symbol


def test_a_readme_takes_ten_lines_or_so() -> None:
    for folder in [*FOLDERS, BESIDE]:
        assert len((KERNELS / folder / "README.md").read_text(encoding="utf-8").splitlines()) <= 14
