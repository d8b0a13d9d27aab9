"""What each engine receives, written down in `fixtures/golden`.

`python -m tests.golden` writes it again. A change of a template shows in the diff of these files, on every
engine it reaches. `compiled` holds what `compile` prints, for engines that run nothing of ours as well.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import sqlglot

import privacy_sql as ps
from privacy_sql.criteria import make
from privacy_sql.export import standalone
from privacy_sql.export.standalone import Statement
from privacy_sql.query.template import Query
from tests.conftest import FIXTURES, cases
from tests.statements import sent

FOLDER = FIXTURES / "golden"
RUNNING = ("duckdb", "postgres", "spark")
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
PASSING = re.compile(r"/tmp/|read_csv|read_parquet|ps_new_")


def files(dialect: str) -> Iterator[tuple[Path, str]]:
    """The golden files of a dialect: where each lies and what it holds."""
    for name, statements in compiled().items():
        texts = "\n\n".join(statement.text(dialect) for statement in statements)
        yield Path(dialect) / "compiled" / f"{name}.sql", f"{texts}\n"
    if dialect in RUNNING:
        yield from _sent(dialect)


def compiled() -> dict[str, list[Statement]]:
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


def _sent(dialect: str) -> Iterator[tuple[Path, str]]:
    shapes: dict[Path, list[str]] = {}
    for name, query in sorted(sent().items()):
        if not PASSING.search(query.sql):
            template = name.partition("#")[0]
            family, _, bare = template.rpartition("/")
            path = Path(dialect) / (family or "house") / f"{bare}.sql"
            shapes.setdefault(path, []).append(_text(query, dialect))
    for path, texts in shapes.items():
        yield path, ";\n\n".join(texts) + ";\n"


def _text(query: Query, dialect: str) -> str:
    return query.text(dialect).strip()


def normalised(text: str, dialect: str) -> list[str]:
    """The statements of a golden file without layout and comments, which differ by version of sqlglot."""
    parsed = sqlglot.parse(text, read=dialect)
    return [tree.sql(dialect=dialect, comments=False) for tree in parsed if tree is not None]


def write() -> None:
    """Write all golden files again."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    for dialect in standalone.DIALECTS:
        for path, text in files(dialect):
            place = FOLDER / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
