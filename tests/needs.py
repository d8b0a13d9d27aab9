"""What tests need that not every machine has, and what an engine cannot do yet."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.engines import server

VARIABLE = re.compile(r"PRIVACY_SQL_\w+")


def meant(test: str, why: str) -> bool:
    """Whether a skip says what it needs, and that is not there: a variable, else an engine not required.

    >>> meant("test_x", "needs dbt: set PRIVACY_SQL_NOWHERE to its program")
    True
    >>> meant("test_x", "slow")
    False
    """
    required = os.environ.get(server.REQUIRED, "").split()
    on_required = any(re.search(rf"\b{engine}\b", test.partition("[")[2]) for engine in required)
    if named := VARIABLE.findall(why):
        return why.startswith("needs ") and not any(os.environ.get(name) for name in named)
    return why.startswith("needs ") and not on_required


@contextmanager
def not_yet(engine: str, error: type[Exception], words: str) -> Iterator[None]:
    """A test that an engine does not pass yet: it ends in this error, and shouts on the day it passes."""
    try:
        yield
    except error as problem:
        if not re.search(words, str(problem)):
            raise
        pytest.xfail(f"{engine} cannot yet: {words}")
    pytest.fail(f"{engine} passes now: take its marker not_yet off")
