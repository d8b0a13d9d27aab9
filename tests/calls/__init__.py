"""Typical calls of the package: between them they render every template under `sql/`.

Every public function of every module here is one call; it takes an engine.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from typing import Any

import pandas as pd

import privacy_sql as ps

JOBS = ps.Tree({"baker": ["food", "*"], "cook": ["food", "*"], "nurse": ["care", "*"]})
WORKERS = {
    "age": ["30", "30", "41", "41", "30", "30", "41", None],
    "job": ["baker", "cook", "nurse", "nurse", "baker", "cook", "nurse", "nurse"],
    "s": ["a", "b", "a", "b", "c", "c", None, "a"],
}


def workers(*, pay: Sequence[str] = (), **more: Any) -> ps.Table:
    """Eight people with a job that has a hierarchy."""
    rows = pd.DataFrame({**WORKERS, **({"pay": list(pay)} if pay else {})})
    return ps.Table(rows, {"age": None, "job": JOBS}, "s", **more)


def run() -> None:
    """Make every call once, on tables of a few rows."""
    with ps.connect() as engine:
        for module in pkgutil.iter_modules(__path__):
            found = importlib.import_module(f"tests.calls.{module.name}")
            for name, call in vars(found).items():
                if getattr(call, "__module__", "") == found.__name__ and not name.startswith("_"):
                    call(engine)
