"""Errors: one class per exit code; each error says what is wrong, where, and what to do next.

An error names columns, counts and levels, never the value of a row, because its readers may not see the data.
An exception of a library that may print rows is replaced with `raise ... from None`.
"""

from __future__ import annotations

import difflib
import os
import threading
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar


class PrivacySqlError(Exception):
    """An error that people can act on; `exit` is the exit code of the command line.

    >>> print(
    ...     PrivacySqlError(
    ...         "no_target", "nothing to write", where="output in privacy.yml", hint="Name a file."
    ...     )
    ... )
    nothing to write (output in privacy.yml). Name a file.
    """

    exit: int = 2

    def __init__(self, code: str, message: str, *, where: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message.rstrip(".")
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        place = f" ({self.where})" if self.where else ""
        return f"{self.message}{place}.{' ' + self.hint if self.hint else ''}"

    @property
    def parts(self) -> tuple[PrivacySqlError, ...]:
        """The single errors inside this one: itself, unless it carries several."""
        return (self,)

    def to_json(self) -> dict[str, Any]:
        """The entry of `errors` under `--json`."""
        return {"code": self.code, "where": self.where, "message": self.message, "hint": self.hint}


class UsageError(PrivacySqlError):
    """The call, the command line or the project file is wrong."""

    exit = 2


class UnknownValue(UsageError):
    """A requirement names a value that no sensitive column of the table has."""

    def __init__(self, value: str, columns: Sequence[str], *, where: str, hint: str) -> None:
        told = f'{" and ".join(columns)} {"has" if len(columns) == 1 else "have"} no value "{value}"'
        super().__init__("unknown_value", told, where=where, hint=hint)
        self.value = value


class NotSafe(PrivacySqlError):
    """Checked and not safe, so nothing was published; or `verify` found a difference."""

    exit = 1


class DataError(PrivacySqlError):
    """The data is not as declared: an unmapped value, a repeated person, an empty table, bad encoding."""

    exit = 3


class EngineError(PrivacySqlError):
    """The engine refused a statement or cannot be reached."""

    exit = 4


class PublishedNotRecorded(EngineError):
    """A release is published, but a later step failed, so its records are incomplete."""

    def __init__(self, release: str, problem: BaseException) -> None:
        reason = problem.message if isinstance(problem, PrivacySqlError) else type(problem).__name__
        super().__init__(
            "published_not_recorded",
            f"{release} is published, but a later step failed: {reason}",
            hint="What was published stays published. Fix the cause, then run again to complete the records.",
        )

    def to_json(self) -> dict[str, Any]:
        return {**super().to_json(), "published": True}


class NoSafeChoice(PrivacySqlError):
    """Every choice was tried and none is safe."""

    exit = 5


class Undecided(PrivacySqlError):
    """Neither safe nor unsafe could be shown within the limit, so nothing is published."""

    exit = 5


# of several errors, the one to fix first decides the exit code
EXIT_ORDER = (130, 4, 3, 2, 5, 1)


class Interrupted(PrivacySqlError):
    """Somebody stopped the work."""

    exit = 130


def interrupted(problem: BaseException) -> Interrupted:
    """An interrupt as an error with its exit code."""
    return _from(problem, Interrupted("interrupted", "interrupted; nothing more was published"))


# set when somebody ends this program, because libraries turn the interrupt into their own errors
ended = threading.Event()


def as_error(problem: Exception) -> PrivacySqlError:
    """Any exception as one of ours; an unforeseen one may quote rows, so only its type is shown.

    >>> as_error(ValueError("a row")).message
    'unexpected ValueError'
    """
    if isinstance(problem, PrivacySqlError):
        return problem
    if ended.is_set():
        return interrupted(problem)
    if isinstance(problem, UnicodeEncodeError):
        hint = "Rename it; files and folders need names in UTF-8."
        return _from(problem, UsageError("bad_name", "a name is not UTF-8 text", hint=hint))
    if isinstance(problem, OSError) and problem.strerror:
        name = f": {os.path.basename(problem.filename)}" if isinstance(problem.filename, str) else ""
        told = f"the operating system reports: {problem.strerror.lower()}{name}"
        hint = "Check the permissions of the file and its folder, and the free space."
        return _from(problem, EngineError("system", told, hint=hint))
    hint = "This is a bug in privacy-sql. Run with --unsafe-debug to see it (this may show rows)."
    return _from(problem, EngineError("unexpected", f"unexpected {type(problem).__name__}", hint=hint))


def unread(problem: BaseException) -> str:
    """Why the operating system does not let a file be read; empty where its content is the reason.

    >>> unread(PermissionError(13, "Permission denied")), unread(UnicodeError("not UTF-8"))
    ('cannot be read: permission denied', '')
    """
    told = problem.strerror if isinstance(problem, OSError) else None
    return f"cannot be read: {told.lower()}" if told else ""


E = TypeVar("E", bound=PrivacySqlError)


def _from(cause: BaseException, error: E) -> E:
    error.__cause__ = cause
    return error


class SeveralErrors(PrivacySqlError):
    """Several errors, reported together; `exit` is the first in `EXIT_ORDER` that occurs."""

    def __init__(self, errors: Sequence[PrivacySqlError]) -> None:
        self._parts = tuple(part for error in errors for part in error.parts)
        super().__init__("several_errors", f"{len(self._parts)} errors")
        self.exit = first_exit(part.exit for part in self._parts)

    def __str__(self) -> str:
        return "\n".join([f"{self.message}:", *(f"  - {part}" for part in self._parts)])

    @property
    def parts(self) -> tuple[PrivacySqlError, ...]:
        return self._parts


def raise_all(errors: Sequence[PrivacySqlError]) -> None:
    """Raise the collected errors: none, the only one, or all of them as one."""
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise SeveralErrors(errors)


def first_exit(codes: Iterable[int]) -> int:
    """The exit code that stands for several, 0 when none is an error.

    >>> first_exit([0, 1, 5, 3])
    3
    """
    seen = set(codes)
    return next((code for code in EXIT_ORDER if code in seen), 0)


def number_of(n: int, one: str, many: str = "") -> str:
    """A number with its noun.

    >>> number_of(1, "group"), number_of(2, "group"), number_of(1, "person", "people")
    ('1 group', '2 groups', '1 person')
    """
    return f"{n} {one if n == 1 else many or f'{one}s'}"


def listed(names: Sequence[str]) -> str:
    """Names in a sentence.

    >>> listed(["age"]), listed(["age", "sex", "zip"])
    ('age', 'age, sex and zip')
    """
    return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)


def people(n: int) -> str:
    """A number of people, in words for a sentence.

    >>> people(1), people(0)
    ('1 person', '0 people')
    """
    return number_of(n, "person", "people")


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate most similar to `name`, ignoring letter case; None if nothing is similar.

    >>> nearest("Zipcode", ["age", "zip_code"]), nearest("weight", ["age", "zip_code"])
    ('zip_code', None)
    """
    folded = {candidate.casefold(): candidate for candidate in candidates}
    found = difflib.get_close_matches(name.casefold(), folded, n=1)
    return folded[found[0]] if found else None


def nearest_column(name: str, columns: Iterable[str]) -> str:
    """The hint for a misspelt column. It lists no names, because without a header they are values of a row.

    >>> nearest_column("zipcode", ["age", "zip"]), nearest_column("weight", ["34", "flu"])
    ('Did you mean "zip"?', 'None of its 2 columns has a similar name; does the file have a header?')
    >>> nearest_column("age", ["age|zip|illness"])
    'It has only one column; a CSV file separates columns by a comma, semicolon or tab.'
    """
    known = list(columns)
    found = nearest(name, known)
    if found:
        return f'Did you mean "{found}"?'
    if len(known) == 1:
        return "It has only one column; a CSV file separates columns by a comma, semicolon or tab."
    return f"None of its {number_of(len(known), 'column')} has a similar name; does the file have a header?"


def did_you_mean(name: str, candidates: Iterable[str], *, listed: bool = False) -> str:
    """The hint for a misspelt name: the nearest one, or all known names if the message has not `listed` them.

    >>> did_you_mean("zipcode", ["age", "zip"])
    'Did you mean "zip"?'
    >>> did_you_mean("weight", ["age", "zip"])
    'Known: age, zip.'
    >>> did_you_mean("weight", ["age", "zip"], listed=True)
    ''
    """
    known = list(candidates)
    found = nearest(name, known)
    others = "" if listed or not known else f"Known: {', '.join(known)}."
    return f'Did you mean "{found}"?' if found else others
