"""Read a hierarchy file. Errors name the file and the line, never the content of the line."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from privacy_sql.errors import DataError, UsageError, unread

Row = tuple[str, ...]
JAVA = b"\xac\xed"  # the first bytes of a serialised Java object, as ARX saves the rules of a hierarchy


def read_rows(path: Path, column: str) -> tuple[Row, Iterator[Row]]:
    """The header (empty if there is none) and an iterator over the rows.

    The first row is a header only if its first cell is the column's name.
    """
    rows = _cells(path)
    first = next(rows, ())
    if first[:1] == (column,):
        return first, rows
    return (), chain([first] if first else [], rows)


def _cells(path: Path) -> Iterator[Row]:
    lines = _lines(path)
    opening = next(lines, "")
    reader = csv.reader(chain([opening], lines), delimiter=_delimiter(opening), strict=True)
    try:
        for row in reader:
            if not row:
                continue
            if not all(row):
                raise _fault(path, reader.line_num, "has an empty cell", "Fill it, or leave the row out.")
            yield tuple(row)
    except csv.Error:
        raise _fault(path, reader.line_num, "has a misplaced quote or field", "") from None


def _delimiter(line: str) -> str:
    """`;` if it separates the first line, otherwise `,`; a single column has neither.

    >>> _delimiter("Bachelors;Higher, other;*"), _delimiter('"a;b",c')
    (';', ',')
    """
    try:
        return ";" if len(next(csv.reader([line], delimiter=";"), ())) > 1 else ","
    except csv.Error:  # the reader of the rows reports it with its line number
        return ","


def _lines(path: Path) -> Iterator[str]:
    """Decoded lines; an error gives the number of a line that is not UTF-8."""
    for place, line in enumerate(_bytes(path), start=1):
        try:
            text = line.decode("utf-8-sig" if place == 1 else "utf-8")
        except UnicodeDecodeError:
            raise _fault(path, place, "is not UTF-8", "Save the file as UTF-8.") from None
        if "\0" in text:
            raise _fault(path, place, "contains a NUL character", "Save the file as UTF-8 text.")
        yield text


def _bytes(path: Path) -> Iterable[bytes]:
    try:
        with path.open("rb") as file:
            if path.suffix.lower() == ".ahs" or file.peek(2)[:2] == JAVA:
                # reading it would execute it, and the rules alone do not give the labels
                told = f"{path.name} has the rules of an ARX hierarchy as a Java object, not its labels"
                hint = "Open it in ARX, export the hierarchy as CSV, and name that file."
                raise UsageError("bad_hierarchy", told, hint=hint)
            yield from file
    except OSError as error:
        reason = (
            "does not exist" if isinstance(error, FileNotFoundError) else unread(error) or "cannot be read"
        )
        raise UsageError("no_such_file", f"the hierarchy file {path.name} {reason}") from None


def _fault(path: Path, line: int, what: str, hint: str) -> DataError:
    return DataError("bad_hierarchy", f"line {line} of the hierarchy file {path.name} {what}", hint=hint)
