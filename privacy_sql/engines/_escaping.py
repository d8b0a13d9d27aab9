"""Cells of a CSV file that a spreadsheet would run as a formula, and the apostrophe that prevents it.

Text that starts with = + - @, a tab or a carriage return and is not a number gets an apostrophe in front. So
does text that starts with apostrophes followed by one of these, so that every written cell means one value.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from privacy_sql.files import Escaped
from privacy_sql.query.template import Query, Sql, render

if TYPE_CHECKING:
    from privacy_sql.engines import Engine, Source

FORMULA = "^[=+@\t-]"  # a carriage return has been replaced by a tab
QUOTED = "^'+[=+@\t-]"
PATTERNS = {"formula": FORMULA, "quoted": QUOTED}
NUMBER = re.compile(r" *[+-]?([0-9]{1,40}([.][0-9]{0,40})?|[.][0-9]{1,40})([eE][+-]?[0-9]{1,2})? *")
# the text of these never starts that way
HARMLESS = ("integer", "boolean")


def is_formula(text: str) -> bool:
    """Whether a spreadsheet may take text for a formula.

    >>> [is_formula(text) for text in ("=1+1", "-5", "-5-", "'=1")]
    [True, False, True, False]
    """
    text = text.replace("\r", "\t")
    return re.match(FORMULA, text) is not None and not NUMBER.fullmatch(text)


def escaped_text(text: str) -> str:
    """The written form of a text.

    >>> [escaped_text(text) for text in ("=1", "-5", "'=1", "'-5", "'x")]
    ["'=1", '-5', "''=1", "''-5", "'x"]
    """
    return f"'{text}" if _changed(text) else text


def meant(written: str) -> str:
    """The text of a written form.

    >>> [meant(escaped_text(text)) for text in ("=1", "-5", "'=1", "'-5", "'x")]
    ['=1', '-5', "'=1", "'-5", "'x"]
    """
    return written[1:] if written.startswith("'") and _changed(written[1:]) else written


def _changed(text: str) -> bool:
    return is_formula(text) or re.match(QUOTED, text.replace("\r", "\t")) is not None


def escaped(engine: Engine, query: Query) -> Query:
    """The rows of a query in their written form."""
    relation = engine.rows_of(query)
    columns = [
        (name, escaped_text(name), kind not in HARMLESS) for name, kind in engine.columns(relation).items()
    ]
    return render("engines/escaped.sql", relation=relation, columns=columns, **PATTERNS)


def as_meant(engine: Engine, source: Source, relation: Sql) -> Sql:
    """The rows of a file, unescaped if they were written escaped."""
    if not isinstance(source, Escaped):
        return relation
    columns = [(name, meant(name)) for name in engine.columns(relation)]
    query = render("engines/unescaped.sql", relation=relation, columns=columns, **PATTERNS)
    return engine.create(query, view=True)
