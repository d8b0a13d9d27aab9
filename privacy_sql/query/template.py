"""Render a template into a Query; the only place where SQL is rendered or parsed.

Templates are in `sql/` (one statement per file) and `macros/` (fragments shared with dbt). They use DuckDB's
dialect inside the portable subset (`portable.py`); `Query.text` translates them for the other engines. A
template may print names, numbers and fragments, but never a plain string, so a value of the user's data
cannot become SQL by accident.
"""

from __future__ import annotations

import contextlib
import importlib.util
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2
from jinja2 import FileSystemBytecodeCache, FileSystemLoader, StrictUndefined, TemplateError, nodes
from jinja2.bccache import Bucket
from jinja2.sandbox import ImmutableSandboxedEnvironment
from markupsafe import Markup

from privacy_sql.errors import UsageError, nearest, nearest_column
from privacy_sql.hierarchies.numeric import number_text

if TYPE_CHECKING:
    from jinja2 import Environment
    from sqlglot import exp

PACKAGE = Path(__file__).resolve().parent.parent
GLUING_FILTERS = frozenset({"join", "format", "replace", "string", "safe", "escape", "e", "indent"})


class Sql(Markup):
    """A fragment of SQL that is already safe to print: a quoted name, a literal, a relation."""


def folder(name: str) -> Path:
    """The `sql` or `macros` folder: inside an installed package, or next to it in a checkout."""
    installed = PACKAGE / f"_{name}"
    return installed if installed.is_dir() else PACKAGE.parent / name


def quote(name: str) -> Sql:
    """A column or relation name as a quoted identifier; internal names (already `Sql`) stay bare.

    >>> print(quote('say "hi"; drop table t'))
    "say ""hi""; drop table t"
    """
    if isinstance(name, Markup):
        return Sql(name)
    if "\x00" in name:
        raise UsageError("bad_name", "a name must not contain a NUL character", hint="Rename the column.")
    return Sql('"' + name.replace('"', '""') + '"')


def free_name(name: str, columns: Iterable[str]) -> Sql:
    """An internal name that no column of the user has, in any letter case.

    >>> print(free_name("n_rows", ["age", "N_rows"]))
    n_rows_
    """
    taken = set(map(str.lower, columns))
    while name in taken:
        name += "_"
    return Sql(name)


def literal(value: str | int | None) -> Sql:
    """A value as an SQL literal in DuckDB's dialect.

    >>> print(literal("O'Hara"), literal(7), literal(None))
    'O''Hara' 7 null
    """
    if value is None:
        return Sql("null")
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise TypeError(f"no literal for {type(value).__name__}; cast a number from text in the template")
    return Sql(value) if isinstance(value, int) else Sql("'" + value.replace("'", "''") + "'")


INTERNAL = re.compile(r"[a-z][a-z0-9_]*")


def names(columns: Iterable[str]) -> list[Sql]:
    """Internal column names, printed without quotes."""
    checked = list(map(Sql, columns))
    if not all(map(INTERNAL.fullmatch, checked)):
        bad = next(name for name in checked if not INTERNAL.fullmatch(name))
        raise ValueError(f"not an internal name: {bad!r}")
    return checked


CONDITION_NODES = {
    *("And", "Or", "Not", "Paren", "EQ", "NEQ", "GT", "GTE", "LT", "LTE", "In", "Between", "Like", "Is"),
    *("Null", "Boolean", "Literal", "Column", "Identifier", "Neg", "Add", "Sub", "Mul", "Cast", "DataType"),
    *("Lower", "Upper", "Trim", "Length", "Coalesce", "Abs"),
}


def condition(text: str, columns: Iterable[str]) -> Sql:
    """The `where:` of a project file as one safe expression: no subquery, functions from a short list.

    >>> print(condition("age >= 18 and sex = 'F'", ["age", "sex"]))
    "age" >= 18 AND "sex" = 'F'
    """
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    try:
        tree = parse(f"select 1 where {text}")
    except SqlglotError:
        raise UsageError("bad_condition", "`where:` is not one SQL expression", where="where") from None
    where = tree.args.get("where")
    if (
        not isinstance(tree, exp.Select)
        or where is None
        or {name for name, part in tree.args.items() if part} != {"expressions", "where"}
    ):
        raise UsageError("bad_condition", "`where:` must be a single expression", where="where")
    known = list(columns)
    for node in where.this.walk():
        if type(node).__name__ not in CONDITION_NODES:
            kind = type(node).__name__
            hint = (
                "Use comparisons, and, or, not, in, between, like, lower, upper, trim, length, coalesce, abs."
            )
            raise UsageError("bad_condition", f"`where:` may not use {kind}", where="where", hint=hint)
        if isinstance(node, exp.Column):
            # quote a column after finding it, with the letter case of the source
            found = [name for name in known if name == node.name] or [
                n for n in known if n.lower() == node.name.lower()
            ]
            if len(found) != 1 or node.table:
                told, hint = f'`where:` names no column "{node.name}"', nearest_column(node.name, known)
                beside = [part.name.lower() for part in node.parent.iter_expressions()] if node.parent else []
                if not node.this.args.get("quoted") and {name.lower() for name in known} & set(beside):
                    near = nearest(node.name, known)
                    hint = f"Put text in single quotes: '{node.name}'."
                    hint += f' Or did you mean the column "{near}"?' if near else ""
                raise UsageError("unknown_column", told, hint=hint)
            node.this.set("this", found[0])
            node.this.set("quoted", True)
    return Sql(where.this.sql(dialect="duckdb"))


@dataclass(frozen=True)
class Query:
    """One statement in DuckDB's dialect, and its origin."""

    sql: str
    origin: str = "query"
    one_by_one: bool = False  # its rows come in order from one thread

    def text(self, dialect: str = "duckdb") -> str:
        """The statement for one engine; DuckDB reads the text of the template."""
        if dialect == "duckdb":
            return self.sql
        # statements that differ only in the numbers of their relations are translated once
        numbers = list(dict.fromkeys(NUMBERED.findall(self.sql)))
        places = {number: f"ps_{place}_" for place, number in enumerate(numbers)}
        text = _translated(NUMBERED.sub(lambda match: places[match[0]], self.sql), dialect)
        return NUMBERED.sub(lambda match: numbers[int(match[0].split("_")[1])], text)

    def public(self) -> str:
        """The statement with its relations numbered in their order.

        The number and the name of a temporary relation reveal how many came before it, and why.

        >>> Query('select "ps_3_a" from ps_31_rows inner join ps_7_levels using (g)').public()
        'select "ps_3_a" from ps_1 inner join ps_2 using (g)'
        """
        pieces = QUOTED.split(self.sql)
        places: dict[str, str] = {}

        def numbered(relation: re.Match[str]) -> str:
            return places.setdefault(relation[0], f"ps_{len(places) + 1}")

        pieces[::2] = [RELATION.sub(numbered, piece) for piece in pieces[::2]]
        return "".join(pieces)

    def tree(self) -> exp.Expr:
        """The syntax tree, for the linter and for other dialects."""
        return parse(self.sql)


@lru_cache(maxsize=4096)
def parse(sql: str) -> exp.Expr:
    """Parse one DuckDB statement; never guesses the dialect."""
    import sqlglot
    from sqlglot import exp

    tree = sqlglot.parse_one(sql, read="duckdb")
    for division in tree.find_all(exp.Div):
        # an unexpected zero must be an error everywhere, never a NULL that a maximum ignores; older sqlglot
        # guards every divisor with nullif
        division.set("safe", False)
    return tree


# numbers of temporary relations; the same statement over other relations is translated once
NUMBERED = re.compile(r"\bps_[0-9]+_(?=[a-z])")
RELATION = re.compile(r"\bps_[0-9]+_[a-z0-9_]+\b")


@lru_cache(maxsize=4096)
def _translated(sql: str, dialect: str) -> str:
    from sqlglot import ErrorLevel

    return parse(sql).sql(dialect=dialect, unsupported_level=ErrorLevel.RAISE, pretty=True)


# a literal, a quoted name or a comment to its last word, and the blanks around the ends of lines elsewhere
QUOTED = re.compile(r"""('(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*\S)""")
BLANK = re.compile(r"[ \t\r]*\n(?:[ \t\r]*\n)*")


def render(template: str, **context: object) -> Query:
    """Fill a template of `sql/` and return the statement.

    >>> print(render("counted/groups.sql", histogram=Sql("h"), people=None).sql.splitlines()[-1])
    group by g
    """
    return Query(_filled(template, context), origin=template.removesuffix(".sql"))


def _filled(template: str, context: Mapping[str, Any]) -> str:
    try:
        text = _environment().get_template(template).render(**context)
    except TemplateError as problem:
        raise UsageError("template", str(problem), where=template) from problem
    return tidy(text)


def tidy(text: str) -> str:
    """A statement without blank lines and trailing spaces; quoted text does not change.

    >>> tidy("select 'a \\n\\n b' -- two  \\n\\n  from t\\n")
    "select 'a \\n\\n b' -- two\\n  from t"
    """
    pieces = QUOTED.split(text)
    pieces[::2] = map(partial(BLANK.sub, "\n"), pieces[::2])
    return "".join(pieces).strip("\n").rstrip(" ")


def with_steps(query: Query, steps: Sequence[tuple[str, Query]]) -> Query:
    """A statement with its inputs as named steps, so that it can run alone.

    >>> print(with_steps(Query("select n from a"), [("a", Query("select 1 as n"))]).sql)
    WITH a AS (
      SELECT
        1 AS n
    )
    SELECT
      n
    FROM a
    """
    from sqlglot import exp

    tree: Any = query.tree().copy()
    used = {table.name for table in tree.find_all(exp.Table)}
    for name, step in reversed(steps):
        if name in used:
            used |= {table.name for table in step.tree().find_all(exp.Table)}
            tree = tree.with_(name, as_=step.tree().copy(), copy=False)
            with_ = tree.args["with_"]
            with_.set("expressions", [with_.expressions[-1], *with_.expressions[:-1]])
    return Query(tree.sql(dialect="duckdb", pretty=True), query.origin)


def _refuse(where: str, message: str) -> Sql:
    """Raised if a template has no branch for its arguments."""
    raise UsageError("template", message, where=where)


# macros that dbt has in its own form
_OURS = {"literal": literal, "number_text": number_text, "refuse": _refuse}


class _Adapter:
    """The two names of dbt's adapter that a kernel macro may use."""

    quote = staticmethod(quote)

    def dispatch(self, macro: str, macro_namespace: str = "privacy_sql") -> object:
        module = _environment().get_template(f"kernel/{macro}.sql").module
        return getattr(module, f"default__{macro}")


class _Macros:
    """The `privacy_sql` namespace: each macro is loaded from the file with its name on first use."""

    def __init__(self, environment: ImmutableSandboxedEnvironment) -> None:
        self._environment = environment
        vars(self).update(_OURS)

    def __getattr__(self, name: str) -> object:
        if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
            raise AttributeError(name)
        try:
            module = self._environment.get_template(f"kernel/{name}.sql").module
        except TemplateError as problem:
            raise UsageError("template", f"no macro {name!r} in macros/kernel") from problem
        macro = getattr(module, name)
        setattr(self, name, macro)
        return macro


def _printable(value: object) -> object:
    if isinstance(value, (Markup, StrictUndefined)) or (
        isinstance(value, int) and not isinstance(value, bool)
    ):
        return value
    raise UsageError(
        "template",
        f"a template may not print a {type(value).__name__}",
        hint="Use adapter.quote for names and privacy_sql.literal for values.",
    )


class _Loader(FileSystemLoader):
    """Reads templates below the two roots only."""

    def get_source(self, environment: Environment, template: str) -> tuple[str, str, Any]:
        source, filename, fresh = super().get_source(environment, template)
        path = Path(filename).resolve()
        if not any(path.is_relative_to(Path(root).resolve()) for root in self.searchpath):
            raise UsageError("template", f"{template} is outside the template folders")
        return source, filename, fresh


class _Sandbox(ImmutableSandboxedEnvironment):
    """A sandbox that refuses templates that build strings."""

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree = super()._parse(source, name, filename)
        refuse_glue(tree, name or "a template")
        return tree


def refuse_glue(tree: nodes.Template, template: str) -> None:
    """Raise if a template builds strings with `~`, `+`, `%` or a filter such as `join`."""
    for node in tree.find_all((nodes.Concat, nodes.Mod, nodes.Add, nodes.Filter)):
        if isinstance(node, nodes.Add):
            glues = not any(isinstance(part.value, int) for part in node.find_all(nodes.Const))
        else:
            glues = not isinstance(node, nodes.Filter) or node.name in GLUING_FILTERS
        if glues:
            raise UsageError(
                "template",
                f"{template} line {node.lineno} builds SQL from strings",
                hint="Write the text in the template and print names with adapter.quote.",
            )


class KeptTemplates(FileSystemBytecodeCache):
    """Compiled templates, stored where Python keeps our compiled modules and under the same conditions.

    Anybody who can write there can change the modules, too. A changed template is compiled again.
    """

    def __init__(self) -> None:
        place = Path(importlib.util.cache_from_source(__file__))
        super().__init__(str(place.parent), f"{place.stem}.jinja{jinja2.__version__}-%s.cache")

    def dump_bytecode(self, bucket: Bucket) -> None:
        if not sys.dont_write_bytecode:
            with contextlib.suppress(OSError):  # like Python if it must not write
                super().dump_bytecode(bucket)


@cache
def _environment() -> ImmutableSandboxedEnvironment:
    made = environment([folder("sql"), folder("macros")])
    made.bytecode_cache = KeptTemplates()
    return made


def environment(roots: Iterable[Path]) -> ImmutableSandboxedEnvironment:
    """A sandbox over template folders, strict about undefined names and printed values."""
    made = _Sandbox(
        loader=_Loader([str(root) for root in roots]),
        undefined=StrictUndefined,
        autoescape=True,
        finalize=_printable,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
        # templates do not change while the program runs, and each is asked for thousands of times
        auto_reload=False,
        cache_size=-1,
    )
    made.globals.update(adapter=_Adapter(), privacy_sql=_Macros(made))
    return made


def duckdb_macros() -> str:
    """CREATE MACRO statements for a DuckDB shell, in order of dependency."""
    files = sorted((folder("macros") / "duckdb").glob("*.sql"))
    return "\n".join(file.read_text(encoding="utf-8") for file in files)
