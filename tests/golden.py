"""What each engine receives, in `fixtures/golden`: a file per template, the engines side by side.

`python -m tests.golden` writes it again. A change of a template shows in the diff of one file, for every
engine it reaches; engines that receive the same text stand over it together. `compiled` holds what `compile`
prints, for engines that run nothing of ours as well.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import sqlglot

import privacy_sql as ps
from privacy_sql.criteria import make
from privacy_sql.export import standalone
from privacy_sql.export.standalone import CompiledStatement
from privacy_sql.query.template import Query
from tests.conftest import FIXTURES, cases
from tests.statements import sent

FOLDER = FIXTURES / "golden"
RUNNING = ("duckdb", "postgres", "spark")
HEADING = "-- engines: "
PEOPLE = ps.Table(
    "people",
    {
        "age": ps.Intervals(5, 10),
        "Weight in kg": ps.Intervals("2.5", 5),
        "income": ps.Breaks([20, 50], [50]),
        "zip": ps.Mask(4, 2, 0),
        "born": ps.Dates("month", "quarter", "decade"),
        "select": ps.Tree({"O'Hara": ["a", "*"], "B": ["b", "*"]}),
        "sex": ps.KeepOrDrop(),
    },
    "ill",
    insensitive=["notes"],
)
# a statement that names a folder of the run, or a table in the making, is new every time
PASSING = re.compile(rf"{re.escape(tempfile.gettempdir())}/|read_csv|read_parquet|ps_new_")


def files() -> Iterator[tuple[Path, dict[str, str]]]:
    """The golden files: where each lies, and the text that every engine receives."""
    for name, statements in compiled().items():
        texts = {
            dialect: "\n\n".join(statement.text(dialect) for statement in statements)
            for dialect in standalone.DIALECTS
        }
        yield Path("compiled") / f"{name}.sql", texts
    shapes: dict[Path, list[Query]] = {}
    for name, query in sorted(sent().items()):
        if not PASSING.search(query.sql):
            shapes.setdefault(Path(f"{name.partition('#')[0]}.sql"), []).append(query)
    for path, queries in shapes.items():
        yield (
            path,
            {dialect: ";\n\n".join(q.text(dialect).strip() for q in queries) + ";" for dialect in RUNNING},
        )


def written(texts: dict[str, str]) -> str:
    """One file: each text once, under the engines that receive it."""
    together: dict[str, list[str]] = {}
    for dialect, text in texts.items():
        together.setdefault(text, []).append(dialect)
    return "\n".join(f"{HEADING}{' '.join(engines)}\n\n{text}\n" for text, engines in together.items())


def read(content: str) -> dict[str, str]:
    """The text of every engine in a golden file."""
    found: dict[str, str] = {}
    for part in content.split(HEADING)[1:]:
        engines, _, text = part.partition("\n")
        found |= dict.fromkeys(engines.split(), text.strip())
    return found


def compiled() -> dict[str, list[CompiledStatement]]:
    """What `compile` prints: a table with every kind of hierarchy, and each criterion it has SQL for."""
    levels = dict.fromkeys(PEOPLE.quasi, 1)
    whole = PEOPLE.hierarchies
    found = {"published": standalone.compiled(PEOPLE, levels, [])}
    found["marginals"] = standalone.compiled_marginals(PEOPLE, [{"age": 1, "sex": 0}, {"sex": 0, "ill": 0}])
    few = replace(PEOPLE, quasi={name: whole[name] for name in ("age", "sex")}, where="age >= 18")
    asked = [("k_anonymous", {"k": 5}), ("l_diverse", {"l": 3}), ("t_close", {"t": "0.3"})]
    found["left_out"] = standalone.compiled(few, {"age": 1}, [], asked)
    for parameter in cases("criteria"):
        name, case = parameter.values
        criterion = make(name, case["params"])
        kind = getattr(criterion, "kind", getattr(criterion, "distance", ""))
        if standalone.standalone(criterion):
            made = standalone.compiled(few, {"age": 1}, [criterion])[1:2]
            found.setdefault("_".join(part for part in (name, kind) if part), made)
    return found


def trees(text: str, dialect: str) -> list[str]:
    """The statements of a text as syntax trees, so that layout and comments do not count."""
    return [repr(_bare(tree)) for tree in sqlglot.parse(text, read=dialect) if tree is not None]


def _bare(tree: sqlglot.Expression) -> sqlglot.Expression:
    for node in tree.walk():
        node.comments = None
    return tree


def write() -> None:
    """Write all golden files again."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    for path, texts in files():
        place = FOLDER / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(written(texts), encoding="utf-8")


if __name__ == "__main__":
    write()
