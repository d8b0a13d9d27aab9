"""Every part by the example it declares, and the pages of docs that are made of the parts.

A criterion declares its cases and `[example]` in fixtures/cases/criteria/<name>.toml, a method `EXAMPLE` in
tests/methods/test_<name>.py: the parameters that publish the forty-eight people here. What else the tests
have to know of a part, its own test file says. `python -m tests.parts` writes docs/parts.md and the pairs of
docs/matrix.md.
"""

from __future__ import annotations

import importlib
import inspect
import re
import tomllib
from collections.abc import Collection, Iterator
from functools import cache
from types import ModuleType
from typing import Any

import pandas as pd

import privacy_sql as ps
from privacy_sql import errors, registry
from privacy_sql.criteria import make
from privacy_sql.errors import PrivacySqlError, UsageError
from tests.conftest import FIXTURES, ROOT

JOBS = ps.Tree({"a": ["x", "*"], "b": ["x", "*"], "c": ["y", "*"], "d": ["y", "*"]})
ILLNESSES = ps.Tree({"u": ["m", "*"], "v": ["m", "*"], "w": ["n", "*"]})
PARTS, MATRIX = ROOT / "docs" / "parts.md", ROOT / "docs" / "matrix.md"


def rows() -> pd.DataFrame:
    """Forty-eight people, four ages by four jobs, every illness once in each."""
    made = [(age, job, illness) for age in (20, 30, 40, 50) for job in "abcd" for illness in "uvw"]
    return pd.DataFrame(made, columns=["age", "job", "illness"])


def table() -> ps.Table:
    population = pd.concat([rows()[["age", "job"]]] * 2)
    kinds = {"age": ps.Intervals(20), "job": JOBS}
    return ps.Table(rows(), kinds, "illness", sensitive_hierarchy=ILLNESSES, population=population)


def others(family: str, *known: Collection[str]) -> list[str]:
    """The parts of a family that a test knows nothing particular of, and takes as they declare themselves."""
    return [name for name in registry.available(family) if not any(name in names for names in known)]


def own_test(family: str, name: str) -> ModuleType:
    """The test file of a part."""
    return importlib.import_module(f"tests.{family}.test_{name}")


@cache
def words(name: str) -> dict[str, Any]:
    """The parameters of a criterion's example."""
    path = FIXTURES / "cases" / "criteria" / f"{name}.toml"
    found: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))["example"]["params"]
    return found


def criterion(name: str) -> Any:
    return make(name, words(name))


def method(name: str) -> Any:
    return registry.get("methods", name)(**own_test("methods", name).EXAMPLE)


# -- docs/matrix.md

ROW = re.compile(r"\| `(\w+)` \| (.*?) \| (.*) \|")


def refused() -> dict[str, list[str]]:
    """The criteria that each method refuses by name, found by asking it."""
    found: dict[str, list[str]] = {}
    with ps.connect() as engine:
        for name in registry.available("methods"):
            for asked in registry.available("criteria"):
                try:
                    ps.publish(engine, table(), [criterion(asked)], method(name))
                except UsageError:
                    found.setdefault(name, []).append(asked)
                except PrivacySqlError:
                    continue
    return found


def written_down() -> dict[str, tuple[list[str], str]]:
    """The rows of docs/matrix.md: what each method refuses, and why."""
    lines = map(ROW.fullmatch, MATRIX.read_text(encoding="utf-8").splitlines())
    return {line[1]: (re.findall(r"`(\w+)`", line[2]), line[3]) for line in lines if line}


def matrix() -> str:
    """docs/matrix.md with the pairs as they are; why a method refuses is left as somebody wrote it."""
    because = {name: why for name, (_, why) in written_down().items()}
    lines = [
        f"| `{name}` | {' '.join(f'`{asked}`' for asked in several)} | {because.get(name, 'say why')} |"
        for name, several in refused().items()
    ]
    head, _, rest = MATRIX.read_text(encoding="utf-8").partition("| --- | --- | --- |\n")
    kept = [line for line in rest.splitlines() if not ROW.fullmatch(line)]
    return "\n".join([f"{head}| --- | --- | --- |", *lines, *kept, ""])


# -- docs/parts.md


def first_line(part: Any) -> str:
    """What a part is, in the sentence its docstring begins with."""
    paragraph = (inspect.getdoc(part) or "").partition("\n\n")[0]
    return " ".join(paragraph.split()).partition(". ")[0].rstrip(".")


def tables() -> Iterator[str]:
    """A table of every kind of part, from what the parts say of themselves."""
    yield "# Every part\n"
    yield "Made of the parts themselves by `python -m tests.parts`; a test says when it is not current.\n"
    yield "## Criteria\n\n| criterion | asks | holds against | safe when |\n| --- | --- | --- | --- |"
    for name in registry.available("criteria"):
        part = criterion(name)
        yield f"| `{name}` | {part.question} | {part.against} | value {part.relation} limit |"
    for family in ("methods", "utilities", "searches", "engines"):
        yield f"\n## {family.capitalize()}\n\n| name | what it is |\n| --- | --- |"
        for name in registry.available(family):
            part = registry.load(family, name) if family == "searches" else registry.get(family, name)
            yield f"| `{name}` | {first_line(part)} |"
    yield "\n## Verbs\n\n| verb | what it does |\n| --- | --- |"
    for name in registry.available("cli.verbs"):
        yield f"| `{name}` | {(registry.load('cli.verbs', name).command.help or '').partition('.')[0]} |"
    yield "\n## Exit codes\n\n| code | when |\n| --- | --- |\n| 0 | it worked, and what was judged is safe |"
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and "exit" in vars(kind)]
    for kind in sorted(kinds, key=lambda kind: kind.exit):
        if kind is not PrivacySqlError:
            yield f"| {kind.exit} | {first_line(kind)} |"
    yield ""


def page() -> str:
    return "\n".join(tables())


def write() -> None:
    """Write both pages again."""
    PARTS.write_text(page(), encoding="utf-8")
    MATRIX.write_text(matrix(), encoding="utf-8")


if __name__ == "__main__":
    write()
