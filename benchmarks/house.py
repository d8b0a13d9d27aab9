"""How large and how tangled the package is, in numbers: `python -m benchmarks.house`. Prints JSON.

Counted from the syntax trees of `privacy_sql/`, and for calls from one `check` and one `run` of 200 people.
"""

from __future__ import annotations

import ast
import collections
import contextlib
import io
import json
import sys
import tempfile
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "privacy_sql"


def trees() -> dict[Path, ast.Module]:
    """Every module of the package as a syntax tree."""
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}


def code_lines(path: Path, tree: ast.Module) -> int:
    """Lines that are neither blank nor comment nor docstring."""
    docstrings: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                docstrings |= set(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    lines = path.read_text(encoding="utf-8").splitlines()
    return sum(
        1
        for number, line in enumerate(lines, start=1)
        if line.strip() and not line.strip().startswith("#") and number not in docstrings
    )


def private_called_once(trees_: dict[Path, ast.Module]) -> int:
    """Private functions and methods that are named once in their module beside their definition."""
    found = 0
    for tree in trees_.values():
        defined = [
            node.name
            for node in ast.walk(tree)
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
            and node.name.startswith("_")
            and not node.name.startswith("__")
        ]
        named = collections.Counter(
            node.id if isinstance(node, ast.Name) else node.attr
            for node in ast.walk(tree)
            if isinstance(node, (ast.Name, ast.Attribute))
        )
        found += sum(named[name] == 1 for name in defined)
    return found


def any_in_signatures(trees_: dict[Path, ast.Module]) -> int:
    """Parameters and returns annotated with `Any` alone, or with a name that stands for it alone."""
    hidden = {"Any"}
    while more := {name for tree in trees_.values() for name in aliases(tree, hidden)} - hidden:
        hidden |= more
    found = 0
    for tree in trees_.values():
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                args = node.args
                parameters = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
                notes = [each.annotation for each in parameters if each is not None]
                found += sum(named(note) in hidden for note in [*notes, node.returns])
    return found


def aliases(tree: ast.Module, of: Collection[str]) -> Iterator[str]:
    """The names that a module gives to one of these types alone."""
    for node in tree.body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and named(node.value) in of:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (target.id for target in targets if isinstance(target, ast.Name))


def named(note: ast.expr | None) -> str | None:
    """The name of a type, without its module and quotes; None for any other expression."""
    if isinstance(note, ast.Constant) and isinstance(note.value, str):
        return note.value.rpartition(".")[2]
    if isinstance(note, ast.Attribute):
        return note.attr
    return note.id if isinstance(note, ast.Name) else None


def calls_of(name: str, trees_: dict[Path, ast.Module]) -> int:
    """How often a builtin is called in the package."""
    return sum(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name
        for tree in trees_.values()
        for node in ast.walk(tree)
    )


def functions_called(work: Callable[[], Any]) -> int:
    """How many different functions of the package one piece of work calls."""
    seen: set[tuple[str, int]] = set()

    def watch(frame: Any, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(str(PACKAGE)):
            seen.add((frame.f_code.co_filename, frame.f_code.co_firstlineno))

    sys.setprofile(watch)
    try:
        work()
    finally:
        sys.setprofile(None)
    return len(seen)


def statements_asked(work: Callable[[], Any]) -> int:
    """How many SQL statements one piece of work asks."""
    from privacy_sql.query.statements import listening

    with listening() as heard:
        work()
    return len(heard)


def worked() -> dict[str, int]:
    """What one `check` and one full-domain `publish` and `write` of 200 people call and ask."""
    import pandas as pd

    import privacy_sql as ps

    rows = pd.DataFrame(
        {
            "age": [str(20 + person % 37) for person in range(200)],
            "zip": [f"{10000 + 7 * (person % 61)}" for person in range(200)],
            "illness": [("flu", "cold", "gout", "mumps")[person * person % 4] for person in range(200)],
        }
    )
    table = ps.Table(rows, {"age": ps.Intervals(10, 20), "zip": ps.Mask(3, 0)}, "illness")
    require = [ps.KAnonymity(2), ps.LDiversity(2)]

    def run() -> None:
        with ps.connect() as engine, tempfile.TemporaryDirectory() as folder:
            release = ps.publish(engine, table, require, ps.FullDomain(minimise="loss"))
            ps.write(engine, release, Path(folder) / "people.csv")

    def check() -> None:
        with ps.connect() as engine:
            ps.check(engine, table, require)

    with contextlib.redirect_stderr(io.StringIO()):
        for once in (check, run):  # what is loaded once is loaded
            once()
        return {
            "functions_called_by_check": functions_called(check),
            "functions_called_by_run": functions_called(run),
            "statements_of_check": statements_asked(check),
            "statements_of_run": statements_asked(run),
        }


def measured() -> dict[str, int]:
    """All figures."""
    found = trees()
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    drawing = page.split("```rooms\n" if "```rooms\n" in page else "```layers\n")[1].split("```")[0]
    return {
        "files": len(found),
        "lines_of_code": sum(code_lines(path, tree) for path, tree in found.items()),
        "modules_at_the_top": sum(path.parent == PACKAGE for path in found),
        "lines_of_the_drawing": len(drawing.strip().splitlines()),
        "private_functions_named_once": private_called_once(found),
        "any_in_signatures": any_in_signatures(found),
        "getattr": calls_of("getattr", found),
        "hasattr": calls_of("hasattr", found),
        "golden_files": sum(1 for _ in (ROOT / "fixtures" / "golden").rglob("*.sql")),
        **worked(),
    }


if __name__ == "__main__":
    print(json.dumps(measured(), indent=1))
