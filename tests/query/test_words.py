"""An engine is a complete table of words: what it leaves out is told when it is opened."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlglot
from sqlglot import exp

import privacy_sql as ps
from privacy_sql import registry
from privacy_sql.errors import UsageError
from privacy_sql.query import words
from privacy_sql.query.template import folder
from tests.package_macros import Macros


@pytest.mark.parametrize("engine", registry.available("engines"))
def test_an_engine_knows_every_word(engine: str) -> None:
    assert words.missing(engine) == []


@pytest.mark.parametrize("word", words.words())
@pytest.mark.parametrize("name", registry.available("engines"))
def test_a_word_is_an_expression_or_a_type_of_the_engine(name: str, word: str) -> None:
    """As dbt renders it there. A word without arguments is a type; the others stand where a column may."""
    dialect = registry.get("engines", name).dialect
    text = (folder("macros") / "kernel" / f"{word}.sql").read_text(encoding="utf-8")
    takes = re.search(rf"macro {word}\(([^)]*)\)", text)
    assert takes
    given = [each.strip() for each in takes[1].split(",") if each.strip()]
    said = getattr(Macros(target=name), word)(*("'[0-9]'" if each == "pattern" else each for each in given))
    tree = sqlglot.parse_one(f"select {said if given else f'cast(a as {said})'} as b from t", read=dialect)
    assert {column.name for column in tree.find_all(exp.Column)} == (set(given) - {"pattern"} or {"a"})
    assert not list(tree.find_all(exp.Command))


def test_a_table_says_no_word_that_nothing_asks_for() -> None:
    for table in (folder("macros") / "dialects").glob("*.sql"):
        said = {word for _, word in words.SAID.findall(table.read_text(encoding="utf-8"))}
        assert said == set(words.words()), table.name


def test_every_word_is_said_in_the_words_of_duckdb_first() -> None:
    for word in words.words():
        assert f"macro default__{word}(" in (folder("macros") / "kernel" / f"{word}.sql").read_text()


@pytest.fixture
def mute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Macros of which PostgreSQL's table lost one word."""
    monkeypatch.setattr(words, "folder", lambda name: tmp_path)
    for place in ("kernel", "dialects"):
        (tmp_path / place).mkdir()
        for file in (folder("macros") / place).glob("*.sql"):
            (tmp_path / place / file.name).write_text(file.read_text())
    table = tmp_path / "dialects" / "postgres.sql"
    table.write_text(
        re.sub(r"\{% macro postgres__double.*?endmacro %\}", "", table.read_text(), flags=re.DOTALL)
    )
    caches = (words.words, words.refuse_unspoken)
    for cache in caches:
        cache.cache_clear()
    yield tmp_path
    for cache in caches:
        cache.cache_clear()


def test_an_engine_that_misses_a_word_is_refused_when_it_is_opened(mute: Path) -> None:
    with pytest.raises(UsageError) as problem:
        ps.connect("postgres:", dsn_env="A_VARIABLE_NOBODY_SETS")
    assert problem.value.code == "missing_words" and "postgres__double" in str(problem.value.hint)
    ps.connect("duckdb:").close()


def test_a_new_word_has_to_be_said_by_every_engine(mute: Path) -> None:
    (mute / "kernel" / "shout.sql").write_text('{{ adapter.dispatch("shout", "privacy_sql")() }}')
    assert [words.missing(engine) for engine in ("duckdb", "postgres", "spark")] == [
        [],
        ["double", "shout"],
        ["shout"],
    ]
