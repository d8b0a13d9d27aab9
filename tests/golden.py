"""What each engine receives, written down in `fixtures/golden`.

`python -m tests.golden` writes it again. A change of a template shows in the diff of these files, on every
engine it reaches.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import sqlglot

from privacy_sql.query import Query
from tests.conftest import FIXTURES
from tests.statements import sent

FOLDER = FIXTURES / "golden"
DIALECTS = ("duckdb", "postgres", "spark")
# a statement that names a folder of the run, or a table in the making, is new every time
PASSING = re.compile(r"/tmp/|read_csv|read_parquet|ps_new_")


def files(dialect: str) -> Iterator[tuple[Path, str]]:
    """The golden files of a dialect: where each lies and what it holds."""
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
    for dialect in DIALECTS:
        for path, text in files(dialect):
            place = FOLDER / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
