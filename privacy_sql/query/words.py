"""The expressions that engines write differently: one list, and a table of them for each engine.

A dispatching macro of `macros/kernel` is a word; its `default__` half is DuckDB's form. The table of an
engine, `macros/dialects/<engine>.sql`, defines every word, with the same text or another. Missing words are
reported when the engine is opened, not in the middle of a statement.
"""

from __future__ import annotations

import re
from functools import cache

from privacy_sql.errors import UsageError
from privacy_sql.query.template import folder

DEFAULT = "duckdb"  # the templates use its words
DISPATCH = re.compile(r"adapter\.dispatch\(\"(\w+)\"")
SAID = re.compile(r"\{%-?\s*macro (\w+?)__(\w+)\(")


@cache
def words() -> tuple[str, ...]:
    """Every word that an engine must define.

    >>> words()
    ('double', 'matches')
    """
    files = sorted((folder("macros") / "kernel").glob("*.sql"))
    return tuple(word for file in files for word in DISPATCH.findall(file.read_text(encoding="utf-8")))


def missing(engine: str) -> list[str]:
    """The words missing from the table of an engine.

    >>> missing("postgres")
    []
    """
    if engine == DEFAULT:
        return []
    table = folder("macros") / "dialects" / f"{engine}.sql"
    text = table.read_text(encoding="utf-8") if table.is_file() else ""
    said = {word for speaker, word in SAID.findall(text) if speaker == engine}
    return [word for word in words() if word not in said]


@cache
def refuse_unspoken(engine: str) -> None:
    """Raise if an engine does not define every word."""
    unknown = missing(engine)
    if unknown:
        macros = ", ".join(f"{engine}__{word}" for word in unknown)
        raise UsageError(
            "missing_words",
            f'the engine "{engine}" has no words for {", ".join(unknown)}',
            where=f"macros/dialects/{engine}.sql",
            hint=f"Write the macros {macros}, as macros/kernel says what each returns.",
        )
