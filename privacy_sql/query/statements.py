"""Record every statement of a run for a listener, if there is one.

`compile --steps` prints them. A text may have values of rows (a lookup, a condition), so only what may be
shown is kept: an ellipsis replaces each literal and each quoted name that comes neither from the statement's
own template nor from the user.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Protocol

from privacy_sql.query.template import Query, folder


class Runs(Protocol):
    """The engine of statements, as far as a listener needs it."""

    @property
    def dialect(self) -> str: ...

    @property
    def connection(self) -> object: ...

    def fetch(self, query: Query) -> list[dict[str, Any]]: ...


log = logging.getLogger("privacy_sql")

# the steps of a run, in order; `api.publish` ends with the view, `publication.publish` does the rest
STEPS = (
    "count",
    "propose",
    "judge",
    "view",
    "write",
    "read back",
    "judge",
    "fingerprint",
    "describe",
    "register",
    "swap",
)
HIDDEN = "…"
CONDITION = "counted/where"  # the template with the condition of `where:`
TEXT = re.compile(r"'((?:[^']|'')*)'")
MACRO = re.compile(r"privacy_sql\.([a-z][a-z0-9_]*)")
FILLED = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}|--[^\n]*", re.DOTALL)


@dataclass
class Statement:
    """One statement that ran: its step, its engine, and how many rows it read and made."""

    step: str
    name: str  # its template, or the engine's own action
    dialect: str
    sql: str  # without possible values
    seconds: float
    reads: dict[str, int] = field(default_factory=dict)  # relation -> its rows
    made: str | None = None  # the relation it made
    rows: int | None = None  # how many rows it made or returned, where known


@dataclass
class Heard:
    """What a listener heard, and what it knows about relations."""

    own: frozenset[str]
    condition: frozenset[str]
    statements: list[Statement] = field(default_factory=list)
    # by connection, as each numbers its relations from one
    sizes: dict[tuple[int, str], int] = field(default_factory=dict)


_heard: ContextVar[Heard | None] = ContextVar("heard", default=None)
_step: ContextVar[str] = ContextVar("step", default="")


@contextmanager
def step(name: str) -> Iterator[None]:
    """Name the step of a run for the statements in the block.

    >>> import privacy_sql as ps
    >>> with ps.connect() as engine, listening() as heard, step("count"):
    ...     rows = engine.fetch(Query("select 'flu' as value"))
    >>> heard[0].step, heard[0].sql, heard[0].rows
    ('count', "select '…' as value", 1)
    """
    assert name in STEPS, name
    token = _step.set(name)
    try:
        yield
    finally:
        _step.reset(token)


@contextmanager
def listening(own: Iterable[str] = (), condition: str | None = None) -> Iterator[list[Statement]]:
    """The statements that run inside the block; their `own` names and the `condition` may be shown."""
    heard = Heard(frozenset(own), frozenset(literals_of(condition or "")))
    token = _heard.set(heard)
    try:
        yield heard.statements
    finally:
        _heard.reset(token)


def ran(engine: Runs, query: Query, seconds: float) -> None:
    """Log a statement that ran, only by its name, because its text may have values of the data."""
    log.debug("%s on %s: %.3f s", query.origin, engine.dialect, seconds)
    if _heard.get() is not None:
        noted(engine, query, seconds)


def noted(engine: Runs, query: Query, seconds: float) -> None:
    """Note a statement given to an engine, which may run it later (`took`)."""
    heard = _heard.get()
    if heard is None:
        return
    here = id(engine.connection)
    reads = {
        name: n
        for (place, name), n in heard.sizes.items()
        if place == here and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", query.sql)
    }
    shown = without_values(query, engine.dialect, heard.own, heard.condition)
    heard.statements.append(Statement(_step.get(), query.origin, engine.dialect, shown, seconds, reads))


def took(seconds: float) -> None:
    """The last noted statement has run."""
    heard = _heard.get()
    if heard is not None and heard.statements:
        heard.statements[-1].seconds += seconds


def gave(rows: int) -> None:
    """How many rows the last statement returned."""
    heard = _heard.get()
    if heard is not None and heard.statements:
        heard.statements[-1].rows = rows


def made(engine: Runs, relation: str, rows: int | None = None) -> None:
    """The last statement made a relation; counts its rows if they are unknown."""
    heard = _heard.get()
    if heard is not None:
        size(engine, relation, rows)
        if heard.statements:
            statement = heard.statements[-1]
            statement.made, statement.rows = str(relation), heard.sizes[id(engine.connection), str(relation)]


def size(engine: Runs, relation: str, rows: int | None = None) -> None:
    """How many rows a relation has that statements will read; counted for a listener."""
    heard = _heard.get()
    if heard is None:
        return
    if rows is None:
        token = _heard.set(None)
        try:
            (found,) = engine.fetch(Query(f"select count(*) as n_rows from {relation}", "sizes of steps"))
            rows = int(found["n_rows"])
        finally:
            _heard.reset(token)
    heard.sizes[id(engine.connection), str(relation)] = rows


def without_values(query: Query, dialect: str, own: Iterable[str] = (), condition: Iterable[str] = ()) -> str:
    """A statement in an engine's dialect, without any literal or quoted name that may come from a row.

    `own` are names and `condition` the literals of `where:`, which the user wrote.

    >>> without_values(Query('select "age" from ps_1_source where "age" > 42'), "duckdb", ["age"])
    'select "age" from ps_1_source where "age" > …'
    """
    from sqlglot.dialects import Dialect
    from sqlglot.errors import SqlglotError

    try:
        tokens = Dialect.get_or_raise(dialect).tokenize(query.sql)
    except SqlglotError:  # unreadable text is not shown
        return HIDDEN
    literals, names = _of_template(query.origin)
    if query.origin == CONDITION:
        literals |= frozenset(condition)
    pieces, end = [], 0
    for token in tokens:
        kind = token.token_type.name
        known = names | frozenset(own) if kind == "IDENTIFIER" else literals
        if (kind.endswith("STRING") or kind in ("NUMBER", "IDENTIFIER")) and token.text not in known:
            mark = query.sql[token.start] if kind in ("STRING", "IDENTIFIER") else ""
            pieces += [query.sql[end : token.start], f"{mark}{HIDDEN}{mark}"]
            end = token.end + 1
    return "".join([*pieces, query.sql[end:]])


def literals_of(condition: str) -> list[str]:
    """The literals of a `where:`.

    >>> literals_of("age >= 18 and sex = 'F'")
    ['18', 'F']
    """
    from sqlglot.dialects import Dialect

    tokens = Dialect.get_or_raise("duckdb").tokenize(condition)
    return [token.text for token in tokens if token.token_type.name in ("STRING", "NUMBER")]


@cache
def _of_template(name: str) -> tuple[frozenset[str], frozenset[str]]:
    """The literals and quoted names in a template itself and in the macros it calls."""
    if not re.fullmatch(r"[a-z_]+/[a-z_]+", name):
        return frozenset(), frozenset()
    files, literals, names = [folder("sql") / f"{name}.sql"], set[str](), set[str]()
    for file in files:
        if not file.is_file():
            continue
        text = file.read_text(encoding="utf-8")
        called = [folder("macros") / "kernel" / f"{macro}.sql" for macro in MACRO.findall(text)]
        files += [macro for macro in called if macro not in files]
        written = FILLED.sub(" ", text)
        literals |= {word.replace("''", "'") for word in TEXT.findall(written)}
        literals |= set(re.findall(r"(?<![\w.])\d+(?:\.\d+)?", TEXT.sub(" ", written)))
        names |= set(re.findall(r'"([^"]*)"', written))
    return frozenset(literals), frozenset(names)
