"""What a page asks, read with care: a question is JSON that anybody may have written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from privacy_sql.errors import UsageError

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
Question = Mapping[str, object]


def text(question: Question, name: str, usual: str | None = None) -> str:
    """A word of a question.

    >>> text({"column": "age"}, "column"), text({}, "action", "show")
    ('age', 'show')
    """
    found = question.get(name, usual)
    if not isinstance(found, str):
        raise _bad(name, "text")
    return found


def whole(question: Question, name: str, usual: int | None = None) -> int:
    """A whole number of a question."""
    found = question.get(name, usual)
    if isinstance(found, bool) or not isinstance(found, int):
        raise _bad(name, "a whole number")
    return found


def flag(question: Question, name: str) -> bool:
    """Whether something is wanted; not unless the question says so.

    >>> flag({"values": True}, "values"), flag({"values": 1}, "values"), flag({}, "values")
    (True, False, False)
    """
    return question.get(name) is True


def levels(question: Question, name: str = "levels") -> dict[str, int]:
    """Level by column."""
    found = question.get(name)
    if not isinstance(found, Mapping):
        raise _bad(name, "a level for each column")
    return {str(column): whole(found, column) for column in found}


def texts(question: Question, name: str) -> list[str]:
    """A list of words."""
    found = question.get(name)
    if not isinstance(found, list) or not all(isinstance(part, str) for part in found):
        raise _bad(name, "a list of texts")
    return [str(part) for part in found]


def _bad(name: str, need: str) -> UsageError:
    return UsageError("bad_question", f'"{name}" of a question must be {need}', hint="Reload the page.")
