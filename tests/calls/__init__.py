"""Typical calls of the package: between them they render every template under `sql/`.

Every public function of every module here is one call; it takes an engine.
"""

from __future__ import annotations

import importlib
import pkgutil
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql import registry
from tests import parts

JOBS = ps.Tree({"baker": ["food", "*"], "cook": ["food", "*"], "nurse": ["care", "*"]})
WORKERS = {
    "age": ["30", "30", "41", "41", "30", "30", "41", None],
    "job": ["baker", "cook", "nurse", "nurse", "baker", "cook", "nurse", "nurse"],
    "s": ["a", "b", "a", "b", "c", "c", None, "a"],
}


# those that calls name; parts beside them are called last, in without_their_own.py
UTILITIES = (
    "loss",
    "ncp",
    "discernibility",
    "average_group_size",
    "ambiguity",
    "classification",
    "kl",
    "query_error",
    "c_avg",
    "information_gain_privacy_loss",
    "classification_accuracy",
)


def workers(*, pay: Sequence[str] = (), **more: Any) -> ps.Table:
    """Eight people with a job that has a hierarchy."""
    rows = pd.DataFrame({**WORKERS, **({"pay": list(pay)} if pay else {})})
    return ps.Table(rows, {"age": None, "job": JOBS}, "s", **more)


def written(engine: ps.Engine, methods: Iterable[str]) -> None:
    """A release by each of these methods, and its rows as they are written."""
    with tempfile.TemporaryDirectory() as folder:
        for name in methods:
            release = ps.publish(engine, parts.table(), [ps.KAnonymity(2)], parts.method(name))
            ps.write(engine, release, Path(folder) / f"{name}.csv")


OTHERS = "without_their_own"


def run() -> None:
    """Make every call once, on tables of a few rows, but for those of parts that no call names.

    A search measures its best choice by every utility, so for these calls there are no others.
    """
    known = registry.available
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            registry,
            "available",
            lambda family: sorted(UTILITIES) if family == "utilities" else known(family),
        )
        _run(module.name for module in pkgutil.iter_modules(__path__) if module.name != OTHERS)


def run_others() -> None:
    """The calls of parts that no other call names."""
    _run([OTHERS])


def _run(modules: Iterable[str]) -> None:
    with ps.connect() as engine:
        for module in modules:
            found = importlib.import_module(f"tests.calls.{module}")
            for name, call in vars(found).items():
                if getattr(call, "__module__", "") == found.__name__ and not name.startswith("_"):
                    call(engine)
