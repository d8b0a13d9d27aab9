"""Which code a page of docs/proofs is about; `python -m tests.criteria.proofs` notes it after a reading."""

from __future__ import annotations

import ast
import hashlib
import inspect
import re
from pathlib import Path
from types import ModuleType

from privacy_sql import registry
from privacy_sql.criteria import Criterion
from tests.conftest import ROOT

HEADINGS = {
    "safe_under_merging": "Merging groups keeps it safe",
    "safe_under_suppression": "Leaving out the groups that fail keeps the rest safe",
    "safe_in_larger_groups": "A group that contains a safe group is safe",
    "safe_under_generalisation": "Mapping the labels of a column together keeps it safe",
}
NOTED = re.compile(r"(syntax tree )(?:`[0-9a-f]+`|@@HASH@@)")


def page(name: str) -> Path:
    """Where the proofs of a criterion stand."""
    return ROOT / "docs" / "proofs" / f"{name}.md"


def headings(text: str) -> set[str]:
    """What a page proves."""
    return set(re.findall(r"^## (.+)$", text, re.MULTILINE))


def declared(name: str) -> list[str]:
    """The properties that a criterion, or a kind of it in the same file, declares."""
    module = registry.load("criteria", name)
    own = {word: [getattr(kind, word) for kind in _kinds(module)] for word in HEADINGS}
    # what follows from safe_under_merging has its proof there
    inherited = Criterion.safe_under_generalisation
    return [word for word, said in own.items() if any(each and each is not inherited for each in said)]


def _kinds(module: ModuleType) -> list[type[Criterion]]:
    return [
        value
        for value in vars(module).values()
        if inspect.isclass(value) and issubclass(value, Criterion) and value.__module__ == module.__name__
    ]


def fingerprint(name: str) -> str:
    """What changes when the code of a criterion does, but not its words."""
    file = registry.load("criteria", name).__file__
    assert file
    return of_source(Path(file).read_text(encoding="utf-8"))


def of_source(source: str) -> str:
    """The hash of a syntax tree without docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                node.body = node.body[1:]
    return hashlib.sha256(ast.unparse(tree).encode()).hexdigest()[:16]


if __name__ == "__main__":
    for name in registry.available("criteria"):
        if declared(name):
            place = page(name)
            text = place.read_text(encoding="utf-8")
            place.write_text(NOTED.sub(rf"\g<1>`{fingerprint(name)}`", text), encoding="utf-8")
