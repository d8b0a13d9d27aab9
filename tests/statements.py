"""Every statement the package renders for a set of typical calls, caught on its way to the engine.

A template is only right in the text it renders to, so the linter and the golden files look at what is
really sent. `tests/calls` holds the calls; together they must use every template under `sql/`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from privacy_sql.query import template as query
from privacy_sql.query.template import Query
from tests import calls
from tests.once import once

SHAPES = 3  # a template with many branches is shown in its first few shapes


@cache
def sent() -> dict[str, Query]:
    """The statements by a name that is stable from run to run: template and number of its shape."""
    return once("statements", _sent)


def _sent() -> dict[str, Query]:
    found = _caught(calls.run)
    of_named = {name.partition("#")[0] for name in found}
    # what a part that no call names needs of others' templates changes with every new part
    others = _caught(calls.run_others)
    return found | {name: query for name, query in others.items() if name.partition("#")[0] not in of_named}


def _caught(run: Callable[[], None]) -> dict[str, Query]:
    found: dict[str, Query] = {}
    original = query._filled

    def watch(template: str, context: Any) -> str:
        text = original(template, context)
        _keep(found, template, re.sub(r"\bps_\d+_(\w+)", r"ps_\1", text))
        return text

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(query, "_filled", watch)
        run()
    return found


def _keep(found: dict[str, Query], template: str, text: str) -> None:
    name = template.removesuffix(".sql")
    shapes = [key for key in found if key.partition("#")[0] == name]
    if len(shapes) < SHAPES and text not in {found[key].sql for key in shapes}:
        found[f"{name}#{len(shapes) + 1}"] = Query(text, template)


def shapes(template: str) -> list[Query]:
    """What a template of `sql/` renders to in the typical calls, in the order they make it."""
    return [query for name, query in sorted(sent().items()) if name.partition("#")[0] == template]
