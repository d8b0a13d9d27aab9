"""The macros and tests of the dbt package under a template engine of their own, without dbt.

dbt renders with Jinja2, its newer engine with a fork of minijinja. Both get the names that dbt gives a macro,
and nothing else. A macro calls others through Python, as dbt does through its context.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import ModuleType, SimpleNamespace
from typing import Any

import jinja2

from tests.conftest import ROOT

MACRO = re.compile(r"{%-? *(macro|test) +(\w+)")


class Refused(Exception):
    """What dbt calls a compiler error."""


@dataclass(frozen=True)
class Relation:
    """A relation that dbt knows the columns of."""

    name: str
    columns: tuple[str, ...]
    is_cte: bool = False

    def __str__(self) -> str:
        return self.name


@cache
def sources() -> dict[str, str]:
    """The text of the file that each macro or test stands in, by name; a test is a macro to an engine."""
    found = {}
    for folder in ("dbt", "kernel", "dialects"):
        for path in sorted((ROOT / "macros" / folder).glob("*.sql")):
            text = path.read_text(encoding="utf-8")
            for kind, name in MACRO.findall(text):
                whole = re.sub(r"{%(-?) *test (\w+)", r"{%\1 macro test_\2", text).replace(
                    "endtest", "endmacro"
                )
                found[f"test_{name}" if kind == "test" else name] = whole
    return found


def jinja(text: str, context: Mapping[str, Any]) -> str:
    return _template(text).render(context)


@cache
def _template(text: str) -> jinja2.Template:
    made = jinja2.Environment(undefined=jinja2.StrictUndefined, extensions=["jinja2.ext.do"])
    return made.from_string(text)


def minijinja(module: ModuleType) -> Callable[[str, Mapping[str, Any]], str]:
    """The same by a version of minijinja; what Python raises inside a template leaves as it is."""

    def rendered(text: str, context: Mapping[str, Any]) -> str:
        raised: list[Refused] = []
        exceptions = SimpleNamespace(raise_compiler_error=lambda said: _noted(raised, said))
        made = module.Environment(undefined_behavior="strict")
        try:
            return str(made.render_str(text, **{**context, "exceptions": exceptions}))
        except Exception as problem:
            for cause in (*raised, problem.__cause__):
                if isinstance(cause, Refused):
                    raise cause from None
            raise

    return rendered


def _noted(raised: list[Refused], said: str) -> None:
    raised.append(Refused(said))
    raise raised[-1]


@dataclass(frozen=True)
class Macros:
    """The namespace `privacy_sql` of a dbt run: each macro as a function that gives its text."""

    render: Callable[[str, Mapping[str, Any]], str] = jinja
    target: str = "duckdb"
    _made: dict[str, Any] = field(default_factory=dict, repr=False)

    def __getattr__(self, name: str) -> Callable[..., str]:
        if name.startswith("__") or name not in sources():
            raise AttributeError(name)

        def called(*args: Any, **kwargs: Any) -> str:
            given = {f"given_{n}": value for n, value in enumerate(args)} | {
                f"given_{word}": value for word, value in kwargs.items()
            }
            words = [f"given_{n}" for n, _ in enumerate(args)] + [f"{w}=given_{w}" for w in kwargs]
            text = f"{sources()[name]}{{{{ {name}({', '.join(words)}) }}}}"
            return self.render(text, {**self._context(), **given}).strip()

        return called

    def _dispatch(self, name: str, _: str) -> Any:
        own = f"{self.target}__{name}"
        return getattr(self, own if own in sources() else f"default__{name}")

    def _context(self) -> dict[str, Any]:
        return {
            "privacy_sql": self,
            "adapter": SimpleNamespace(
                quote=lambda name: f'"{name}"',
                dispatch=self._dispatch,
                get_columns_in_relation=lambda relation: [
                    SimpleNamespace(name=name) for name in relation.columns
                ],
            ),
            "dbt": SimpleNamespace(escape_single_quotes=lambda text: text.replace("'", "''")),
            "exceptions": SimpleNamespace(raise_compiler_error=_raise),
            "execute": True,
            "flags": SimpleNamespace(WHICH="build"),
            "fromjson": json.loads,
            "target": SimpleNamespace(type=self.target),
            "tojson": json.dumps,
        }


def _raise(said: str) -> None:
    raise Refused(said)
