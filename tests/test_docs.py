"""The README and every page of docs/ tell the truth: their commands and examples run and print what they say.

A `console` block holds commands after `$` and what they print; a `python` block runs, as a doctest where it
has prompts, and an `output` block after it is what it prints. `...` stands for anything. Each page runs in a
copy of the example of its own.
"""

from __future__ import annotations

import ast
import contextlib
import doctest
import io
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import privacy_sql as ps
from privacy_sql.cli import main
from privacy_sql.project import example
from tests.conftest import ROOT

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> list[tuple[str, str]]:
    return BLOCK.findall(page.read_text(encoding="utf-8"))


# these need a server or a cluster: tests/engines runs them
ELSEWHERE = ("postgres.md", "spark.md")


def runs(page: Path) -> bool:
    return any(kind in ("console", "python") for kind, _ in blocks(page)) and page.name not in ELSEWHERE


@pytest.mark.parametrize("page", [p for p in PAGES if runs(p)], ids=lambda p: p.relative_to(ROOT).as_posix())
def test_the_examples_of_a_page_print_what_it_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    example.write(tmp_path)
    monkeypatch.chdir(tmp_path)
    run(page)


def run(page: Path) -> None:
    """Run the examples of a page in the folder of the example."""
    names: dict[str, object] = {}
    printed = ""
    for kind, text in blocks(page):
        if kind == "console":
            for command, expected in commands(text):
                _same(called(command), expected)
        elif kind == "python" and ">>> " in text:
            prompted(text, names, page.name)
        elif kind == "python":
            printed = executed(text, names)
        elif kind == "output":
            _same(printed, text)


@pytest.mark.skipif(not shutil.which("duckdb"), reason="needs DuckDB's shell: pip install duckdb-cli")
def test_the_statements_of_a_page_run_in_duckdbs_shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    example.write(tmp_path)
    monkeypatch.chdir(tmp_path)
    outcome = main.run(["compile", "--duckdb-macros"])
    (tmp_path / "macros.sql").write_text(outcome.lines[0])
    printed = ""
    for kind, text in blocks(ROOT / "docs" / "walkthroughs" / "duckdb_shell.md"):
        if kind == "sql":
            printed = shell(text)
        elif kind == "output":
            _same(printed, text)
    with pytest.raises(subprocess.CalledProcessError):
        shell("from ps_k_anonymity('people', ['agee']);")


def shell(text: str) -> str:
    """What DuckDB's shell prints for statements on the page's database."""
    command = ["duckdb", "-csv", "-bail", "page.db"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def commands(text: str) -> Iterator[tuple[str, str]]:
    """The commands of a console block, each with what the page says it prints."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, expected = part.replace("\\\n", " ").partition("\n")
        yield command, expected


def called(command: str) -> str:
    words = shlex.split(command)
    assert words[0] == "privacy-sql", f"cannot run {words[0]}"
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed), pytest.raises(SystemExit):
        main.main(words[1:])
    # how long work takes is said on a busy machine, and not on another
    return re.sub(r"^\d+ s: .*\n", "", printed.getvalue(), flags=re.MULTILINE)


def executed(text: str, names: dict[str, object]) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(text, "example", "exec"), names)
    return printed.getvalue()


def prompted(text: str, names: dict[str, object], page: str) -> None:
    test = doctest.DocTestParser().get_doctest(text, {}, page, page, 0)
    test.globs = names
    printed = io.StringIO()
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    doctest.DocTestRunner(optionflags=flags).run(test, out=printed.write, clear_globs=False)
    assert not printed.getvalue(), printed.getvalue()


def _same(printed: str, expected: str) -> None:
    pattern = re.escape(expected.strip()).replace(re.escape("..."), ".*")
    assert re.fullmatch(pattern, printed.strip(), re.DOTALL), printed


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target


# a file, or a name in a module: `criteria/k_map.py`, `judge.judge`, `kernels/marginals/max_entropy.n_log_n`
NAMED = re.compile(r"`((?:\w+/)*[a-z_]\w*\.\w+(?:\.\w+)*)(?:\([^`]*\))?`")
# variables of an example and files of a reader's own
OF_READERS = {"app", "found", "out", "privacy_register", "received", "record", "schema", "spark", "survey"}
ENDINGS = ("csv", "gz", "html", "json", "mjs", "parquet", "yml")
PACKAGE = ROOT / "privacy_sql"
FOLDERS = [path.parent for path in PACKAGE.rglob("__init__.py")]
FILES = {path.name for path in PACKAGE.rglob("*.*")}


def texts() -> Iterator[tuple[Path, str]]:
    """The docstrings of the package, and the pages without their examples."""
    for place in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(place.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                yield place, ast.get_docstring(node) or ""
    for page in [*PAGES, *sorted(PACKAGE.rglob("*.md"))]:
        yield page, BLOCK.sub("", page.read_text(encoding="utf-8"))


@cache
def names_in(module: str) -> set[str]:
    """Everything that modules and folders of this name define, assign or import, and what lies in them."""
    found: set[str] = set()
    folders = [folder for folder in FOLDERS if folder.name == module]
    files = [folder / f"{module}.py" for folder in FOLDERS] + [folder / "__init__.py" for folder in folders]
    found |= {path.stem for folder in folders for path in folder.glob("*")}
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if file.is_file() else ():
            if isinstance(node, ast.ClassDef | ast.FunctionDef):
                found.add(node.name)
            elif isinstance(node, ast.alias):
                found.add(node.asname or node.name)
            elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
                found.add(node.id if isinstance(node, ast.Name) else node.attr)
    return found


def exists(name: str, near: Path) -> bool:
    """Whether there is a file of this name, or a module with this name in it."""
    folder, _, last = name.rpartition("/")
    roots = (ROOT, PACKAGE, ROOT / "sql", ROOT / "tests", *near.parents[:2])
    if any((root / name).exists() for root in roots) or (not folder and name in FILES):
        return True
    module, inside, *_ = last.split(".")
    if module == "ps":
        return hasattr(ps, inside)
    if module == "privacy_sql":  # a macro, or the package
        macros = "".join(place.read_text(encoding="utf-8") for place in (ROOT / "macros").rglob("*.sql"))
        return f"macro {inside}(" in macros or inside in names_in(module)
    if folder and not any((root / folder / f"{module}.py").is_file() for root in roots):
        return False
    return inside in names_in(module) or module in sys.stdlib_module_names


def test_a_module_or_function_that_a_text_names_exists() -> None:
    told = {(place, name) for place, text in texts() for name in NAMED.findall(text)}
    of_ours = {
        (place, name)
        for place, name in told
        if name.rpartition(".")[2] not in ENDINGS and name.partition(".")[0] not in OF_READERS
    }
    assert len(of_ours) > 300
    gone = sorted((place.name, name) for place, name in of_ours if not exists(name, place))
    assert not gone, gone
