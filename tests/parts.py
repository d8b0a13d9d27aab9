"""Every part by the example it declares, and the pages of docs that are made of the parts.

A criterion declares its cases and `[example]` in fixtures/cases/criteria/<name>.toml, a method `EXAMPLE` in
tests/methods/test_<name>.py: the parameters that publish the forty-eight people here. What else the tests
have to know of a part, its own test file says. `python -m tests.parts` writes docs/parts.md, the pairs of
docs/matrix.md, the questions of the README and the tables of docs/criteria.md and docs/dialects.md.
"""

from __future__ import annotations

import importlib
import inspect
import re
import tomllib
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd

import privacy_sql as ps
from privacy_sql import errors, registry
from privacy_sql.cli.verbs.attack import kinds_of_attack
from privacy_sql.criteria import make
from privacy_sql.errors import PrivacySqlError, UsageError
from privacy_sql.query.template import folder
from privacy_sql.query.words import words as words_of_engines
from tests import engines
from tests.conftest import FIXTURES, ROOT

JOBS = ps.Tree({"a": ["x", "*"], "b": ["x", "*"], "c": ["y", "*"], "d": ["y", "*"]})
ILLNESSES = ps.Tree({"u": ["m", "*"], "v": ["m", "*"], "w": ["n", "*"]})
PARTS, MATRIX = ROOT / "docs" / "parts.md", ROOT / "docs" / "matrix.md"
README, CRITERIA = ROOT / "README.md", ROOT / "docs" / "criteria.md"
DIALECTS = ROOT / "docs" / "dialects.md"


def rows() -> pd.DataFrame:
    """Forty-eight people, four ages by four jobs, every illness once in each."""
    made = [(age, job, illness) for age in (20, 30, 40, 50) for job in "abcd" for illness in "uvw"]
    return pd.DataFrame(made, columns=["age", "job", "illness"]).assign(home=range(len(made)))


def table() -> ps.Table:
    population = pd.concat([rows()[["age", "job"]]] * 2)
    kinds = {"age": ps.Intervals(20), "job": JOBS}
    declared = {"sensitive_hierarchy": ILLNESSES, "population": population, "household": "home"}
    return ps.Table(rows(), kinds, "illness", **declared)


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


def refused(about: str = "") -> dict[str, list[str]]:
    """The criteria that each method refuses by name, found by asking it.

    Only parts whose names begin with `about` are asked about; the others are as they are written down.
    """
    found: dict[str, list[str]] = {}
    told = written_down()
    with engines.opened() as engine:
        people = ps.count(engine, table())
        for name in registry.available("methods"):
            for asked in registry.available("criteria"):
                if not name.startswith(about) and not asked.startswith(about):
                    if asked in told.get(name, ([], ""))[0]:
                        found.setdefault(name, []).append(asked)
                    continue
                try:
                    ps.publish(engine, people, [criterion(asked)], method(name))
                except UsageError:
                    found.setdefault(name, []).append(asked)
                except PrivacySqlError:
                    continue
    return found


def written_down() -> dict[str, tuple[list[str], str]]:
    """The rows of docs/matrix.md: what each method refuses, and why."""
    lines = map(ROW.fullmatch, MATRIX.read_text(encoding="utf-8").splitlines())
    return {line[1]: (re.findall(r"`(\w+)`", line[2]), line[3]) for line in lines if line}


def because(name: str) -> str:
    """Why a method refuses criteria, as it says itself."""
    return str(registry.get("methods", name).refuses_because)


def matrix(about: str = "") -> str:
    """docs/matrix.md with the pairs as they are."""
    lines = [
        f"| `{name}` | {' '.join(f'`{asked}`' for asked in several)} | {because(name)} |"
        for name, several in refused(about).items()
    ]
    head, _, rest = MATRIX.read_text(encoding="utf-8").partition("| --- | --- | --- |\n")
    kept = [line for line in rest.splitlines() if not ROW.fullmatch(line)]
    return "\n".join([f"{head}| --- | --- | --- |", *lines, *kept, ""])


# -- docs/parts.md


def first_line(part: Any) -> str:
    """What a part is, in the sentence its docstring begins with."""
    return sentence(inspect.getdoc(part) or "")


def sentence(text: str) -> str:
    """The first sentence of a text; after `Fig.`, `Sec.` and `al.` it goes on."""
    paragraph = " ".join(text.partition("\n\n")[0].split())
    return re.split(r"(?<!\bFig)(?<!\bSec)(?<!\bal)[.:] (?=[A-Z])", paragraph)[0].rstrip(".")


def tables() -> Iterator[str]:
    """A table of every kind of part, from what the parts say of themselves."""
    yield "# Every part\n"
    yield "Made of the parts themselves by `python -m tests.parts`; a test says when it is not current.\n"
    yield "## Criteria\n\n| criterion | asks | holds against | safe when |\n| --- | --- | --- | --- |"
    for name in registry.available("criteria"):
        part = criterion(name)
        yield f"| `{name}` | {part.question} | {part.against} | value {part.relation} limit |"
    for family in ("methods", "utilities", "searches", "engines", "studies"):
        yield f"\n## {family.capitalize()}\n\n| name | what it is |\n| --- | --- |"
        for name in registry.available(family):
            by_file = family in ("searches", "studies")
            part = registry.load(family, name) if by_file else registry.get(family, name)
            yield f"| `{name}` | {first_line(part)} |"
    yield "\n## Attacks\n\n| attack | what it does |\n| --- | --- |"
    for name in kinds_of_attack():
        help = importlib.import_module(f"privacy_sql.cli.verbs._attack_{name}").command.help or ""
        yield f"| `{name}` | {sentence(help)} |"
    yield "\n## Verbs\n\n| verb | what it does |\n| --- | --- |"
    for name in registry.available("cli.verbs"):
        yield f"| `{name}` | {sentence(registry.load('cli.verbs', name).command.help or '')} |"
    yield "\n## Exit codes\n\n| code | when |\n| --- | --- |\n| 0 | it worked, and what was judged is safe |"
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and "exit" in vars(kind)]
    for kind in sorted(kinds, key=lambda kind: kind.exit):
        if kind is not PrivacySqlError:
            yield f"| {kind.exit} | {first_line(kind)} |"
    yield ""


def page() -> str:
    return "\n".join(tables())


# -- tables inside other pages

QUESTIONS = "| question | requirement |"
PROPERTIES = "| criterion | value | safe when | merging keeps it safe | leaving groups out keeps it safe |"
WORDS = "| word | what it says | DuckDB says |"
LONG = 40  # letters of an example


def questions() -> list[str]:
    """The table of the README: what each criterion asks, later the more its answer needs."""

    def needs(name: str) -> tuple[Any, ...]:
        part = criterion(name)
        together = "cliques" in part.reads
        needed = (part.needs_register, together, part.needs_population, part.needs_base, part.reads_sensitive)
        return *needed, name

    lines = []
    for name in sorted(registry.available("criteria"), key=needs):
        part = criterion(name)
        asked = f"`{part}`" if len(str(part)) <= LONG else f"`{name}`"
        place = told_on(name)
        lines.append(f"| {part.question} | {f'[{asked}]({place})' if place else asked} |")
    return lines


def told_on(name: str) -> str | None:
    """The page that tells of a criterion: its own, its heading among all, or the one that names it most."""
    docs = ROOT / "docs"
    if (docs / f"{name}.md").is_file():
        return f"docs/{name}.md"
    if f"\n## {name}\n" in CRITERIA.read_text(encoding="utf-8"):
        return f"docs/criteria.md#{name}"
    others = sorted({*docs.glob("*.md")} - {PARTS, MATRIX, CRITERIA, docs / "papers.md"})
    most = max(others, key=lambda place: place.read_text(encoding="utf-8").count(name))
    return f"docs/{most.name}" if name in most.read_text(encoding="utf-8") else None


def properties() -> list[str]:
    """The table of docs/criteria.md: what is compared with which limit, and what a search may rely on."""
    lines = []
    for name in registry.available("criteria"):
        part = criterion(name)
        unit = part.unit_of(part.params, part.relation) or "a number"
        kept = ("yes" if it else "no" for it in (part.safe_under_merging, part.safe_under_suppression))
        lines.append(f"| `{name}` | {unit} | {part.relation} limit | {' | '.join(kept)} |")
    return lines


def words_to_define() -> list[str]:
    """The table of docs/dialects.md: every word of which an engine's table has its own form."""
    lines = []
    for word in words_of_engines():
        text = (folder("macros") / "kernel" / f"{word}.sql").read_text(encoding="utf-8")
        said = re.search(r"{# (.+?)\.? #}", text)
        half = re.search(rf"macro default__({word}\(.*?\)) -%}}\n(.*?)\n{{%-", text, re.DOTALL)
        assert said and half, f"macros/kernel/{word}.sql says what it is, and DuckDB's form"
        shown = half[2].replace("|", "\\|")
        lines.append(f"| `{half[1]}` | {said[1][0].lower()}{said[1][1:]} | `{shown}` |")
    return lines


def with_table(page: str, head: str, lines: list[str]) -> str:
    """A page whose table under this head has these lines and no others."""
    before, found, after = page.partition(f"{head}\n")
    assert found, f"no table {head}"
    rest = after.splitlines()
    while rest and rest[0].startswith("|"):
        rest.pop(0)
    columns = head.count("|") - 1
    return "\n".join([f"{before}{head}", f"|{' --- |' * columns}", *lines, *rest, ""])


def pages() -> dict[Path, str]:
    """Every page that is made of the parts, but for the matrix, which takes publishing every pair."""
    return {
        PARTS: page(),
        README: with_table(README.read_text(encoding="utf-8"), QUESTIONS, questions()),
        CRITERIA: with_table(CRITERIA.read_text(encoding="utf-8"), PROPERTIES, properties()),
        DIALECTS: with_table(DIALECTS.read_text(encoding="utf-8"), WORDS, words_to_define()),
    }


def write(about: str = "") -> None:
    """Write all of them again, in the matrix the pairs of parts whose names begin with `about`."""
    for place, text in pages().items():
        place.write_text(text, encoding="utf-8")
    MATRIX.write_text(matrix(about), encoding="utf-8")


if __name__ == "__main__":
    write()
