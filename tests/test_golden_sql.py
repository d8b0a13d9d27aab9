"""The SQL each engine receives equals fixtures/golden; `python -m tests.golden` writes it again."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from privacy_sql.export import standalone
from tests import golden

COMMITTED = golden.FOLDER.is_dir()


@cache
def made() -> dict[Path, dict[str, str]]:
    return dict(golden.files())


@cache
def kept() -> dict[Path, dict[str, str]]:
    return {
        path.relative_to(golden.FOLDER): golden.read(path.read_text(encoding="utf-8"))
        for path in golden.FOLDER.rglob("*.sql")
    }


@pytest.mark.parametrize("dialect", standalone.DIALECTS)
@pytest.mark.skipif(not COMMITTED, reason="needs fixtures/golden: python -m tests.golden")
def test_an_engine_receives_the_sql_that_was_looked_at(dialect: str) -> None:
    receives = {path for path, texts in made().items() if dialect in texts}
    assert receives == {path for path, texts in kept().items() if dialect in texts}
    changed = [
        path.as_posix()
        for path in sorted(receives)
        if made()[path][dialect] != kept()[path][dialect]
        and golden.trees(made()[path][dialect], dialect) != golden.trees(kept()[path][dialect], dialect)
    ]
    assert changed == [], "look at the difference: python -m tests.golden && git diff fixtures/golden"


def test_layout_and_comments_of_a_statement_do_not_matter() -> None:
    short, long = "select a from t -- one\n", "SELECT\n  a\nFROM t"
    assert golden.trees(short, "postgres") == golden.trees(long, "postgres")
    assert golden.trees(short, "postgres") != golden.trees("select b from t", "postgres")


def test_a_golden_file_says_what_each_engine_receives() -> None:
    texts = {"duckdb": "select 1;", "postgres": "select 1;", "spark": "select 2;"}
    assert golden.read(golden.written(texts)) == texts
