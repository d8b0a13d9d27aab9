"""The stub holds the public names that are there; mypy reads tests/users_script.py with them."""

from __future__ import annotations

from tests.public_names import STUB, written


def test_the_public_names_are_those_that_are_there() -> None:
    assert STUB.read_text(encoding="utf-8") == written(), "python -m tests.public_names writes them anew"
