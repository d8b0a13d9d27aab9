"""Exact expected answers: every case of every *.json under PRIVACY_SQL_VECTORS (default fixtures/vectors).

A kind is answered by the function of its name in a module of `tests/vectors`, which uses the public call
of that kind and nothing below it.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests import vectors
from tests.conftest import FIXTURES

# every set of values that somebody might know: not before somebody has such a table
NOT_BUILT = {"known_values"}


def answers() -> dict[str, Callable[..., None]]:
    """Kind -> the function that asserts one case of it."""
    modules = [
        importlib.import_module(f"tests.vectors.{m.name}") for m in pkgutil.iter_modules(vectors.__path__)
    ]
    return {
        name: value for module in modules for name, value in vars(module).items() if _is_answer(module, value)
    }


def _is_answer(module: Any, value: Any) -> bool:
    own = getattr(value, "__module__", None) == module.__name__
    return callable(value) and own and not value.__name__.startswith("_")


def every_case() -> list[Any]:
    """All cases as pytest parameters, the id beginning with file name and kind."""
    folder = Path(os.environ.get("PRIVACY_SQL_VECTORS") or FIXTURES / "vectors")
    found = []
    for path in sorted(folder.glob("*.json")):
        content = json.loads(path.read_text(encoding="utf-8"))
        for case in content["cases"] if isinstance(content, dict) else content:
            kind = case.get("kind", path.stem)
            if kind in NOT_BUILT:
                continue
            found.append(pytest.param(kind, case, id=f"{path.stem}-{kind}-{case['id']}"))
    return found


@pytest.mark.parametrize(("kind", "case"), every_case())
def test_a_vector_gets_its_exact_answer(engine: Any, kind: str, case: dict[str, Any]) -> None:
    answers()[kind](engine, case)


def test_every_kind_is_answered() -> None:
    kinds = {parameter.values[0] for parameter in every_case()}
    assert kinds, "no vectors found"
    assert kinds <= set(answers())
