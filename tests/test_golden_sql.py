"""The SQL each engine receives equals fixtures/golden; `python -m tests.golden` writes it again."""

from __future__ import annotations

import pytest

from privacy_sql.export import standalone
from tests import golden

COMMITTED = golden.FOLDER.is_dir()


@pytest.mark.parametrize("dialect", standalone.DIALECTS)
@pytest.mark.skipif(not COMMITTED, reason="needs fixtures/golden: python -m tests.golden")
def test_an_engine_receives_the_sql_that_was_looked_at(dialect: str) -> None:
    made = dict(golden.files(dialect))
    kept = {path.relative_to(golden.FOLDER) for path in (golden.FOLDER / dialect).rglob("*.sql")}
    assert kept == set(made)
    changed = [
        path.as_posix()
        for path, text in made.items()
        if golden.normalised(text, dialect)
        != golden.normalised((golden.FOLDER / path).read_text(encoding="utf-8"), dialect)
    ]
    assert changed == [], "look at the difference: python -m tests.golden && git diff fixtures/golden"


def test_layout_and_comments_of_a_statement_do_not_matter() -> None:
    short, long = "select a from t -- one\n", "SELECT\n  a\nFROM t"
    assert golden.normalised(short, "postgres") == golden.normalised(long, "postgres")
    assert golden.normalised(short, "postgres") != golden.normalised("select b from t", "postgres")
