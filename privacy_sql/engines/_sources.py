"""Names of sources and targets: files by their ending, relations by their parts, columns by a header."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, TypeGuard

from privacy_sql.errors import DataError, UsageError, nearest, unread
from privacy_sql.query.template import Sql, quote

END_MARK = "\\."
OTHER_KINDS = {
    b"PK\x03\x04": "a spreadsheet or another zip archive",
    b"\xd0\xcf\x11\xe0": "an old spreadsheet",
    b"PAR1": "Parquet",
}
SHEETS = dict.fromkeys((".xlsx", ".xls", ".xlsm", ".ods"), "a spreadsheet")
FILES = (".csv", ".tsv", ".txt", ".gz", ".parquet")


def is_file(source: object) -> TypeGuard[str | Path]:
    """Whether a source names a file, a folder of Parquet files or a pattern for them, and not a relation."""
    if isinstance(source, str):
        path = Path(source)
        if path.suffix.lower() in FILES and (path.is_file() or is_folder(path)):
            return True
        # a single word may be the name of a relation
        return "/" in source and bool(parquet_files(path))
    return isinstance(source, Path)


def parquet_files(path: Path) -> list[Path]:
    """The Parquet files of a folder, or of a pattern such as `data/*.parquet`, in order."""
    if path.is_dir():
        found = path.iterdir()
    elif set("*?[") & set(path.name) and not path.exists() and path.parent.is_dir():
        found = path.parent.glob(path.name)
    else:
        return []
    return sorted(
        f for f in found if f.suffix.lower() == ".parquet" and f.is_file() and f.name[0] not in "._"
    )


def members(path: Path) -> list[Path]:
    """The files of a source: the file itself, or the Parquet files of a folder or a pattern."""
    return [path] if path.is_file() else parquet_files(path)


def is_folder(path: Path) -> bool:
    """Whether this is a folder of Parquet files, as a cluster writes it."""
    return path.suffix.lower() == ".parquet" and path.is_dir()


def existing(path: Path) -> list[Path]:
    """The files of a source; there must be at least one."""
    if found := members(path):
        return found
    raise no_file(path)


def as_pattern(path: Path) -> str:
    """The pattern that only this path matches, for an engine that takes every path for a pattern.

    >>> as_pattern(Path("/data/p[1].csv"))
    '/data/p[[]1].csv'
    """
    return re.sub(r"[*?[]", r"[\g<0>]", str(path.resolve()))


def unlike(folder: Path) -> DataError:
    """The error for Parquet files that do not form one table."""
    told = f"the Parquet files of {folder.name or folder} do not have the same columns and types"
    return DataError("bad_file", told, hint="Name files that belong together, such as data/2026-*.parquet.")


def no_file(path: Path, code: str = "no_file") -> UsageError:
    """The error for a missing file, which says what is there instead or has a similar name."""
    if "://" in str(path) or re.match(r"[a-z0-9]{2,}:/", str(path)):
        told = f"{path.name} is a remote file; privacy_sql reads only local files"
        return UsageError(code, told, hint="Download it and use the copy.")
    if path.is_dir() and parquet_files(path):
        told = f"{path.name} is a folder of Parquet files, not a relation of the connection"
        return UsageError(code, told, hint=f"Write ./{path} to read all its files as one table.")
    if path.is_dir():
        told = f"{path.name or path} is a folder without Parquet files"
        return UsageError(code, told, hint=f"Name a file: {', '.join(FILES)}.")
    if set("*?[") & set(path.name):
        told = f"no Parquet file matches {path}"
        return UsageError(code, told, hint="A pattern must name files in one folder, such as data/*.parquet.")
    if path.exists() and not path.is_file():
        told = f"{path} is not a regular file, and a source is read more than once"
        return UsageError(code, told, hint="Write what comes from it to a file.")
    if path.is_file():
        hint = f"Save it as CSV in UTF-8 or as Parquet, with a name that ends in {', '.join(FILES)}."
        kind = SHEETS.get(
            path.suffix.lower(), f"a {path.suffix} file" if path.suffix else "a file without ending"
        )
        return UsageError(code, f"{path.name} is {kind}; privacy_sql reads only CSV and Parquet", hint=hint)
    with contextlib.suppress(OSError):
        if found := nearest(path.name, [file.name for file in path.parent.iterdir()]):
            return UsageError(
                code, f"there is no file {path}", hint=f'Did you mean "{path.with_name(found)}"?'
            )
    return UsageError(code, f"there is no file {path}", hint="Check the path.")


def no_source(name: str) -> UsageError:
    path = Path(name)
    if path.exists() or path.suffix.lower() in FILES or "/" in name:
        return no_file(path, "no_source")
    return UsageError(
        "no_source",
        f"there is no file or relation {name}",
        hint=f"A file ends in {', '.join(FILES)}; a relation must be in the connection.",
    )


def no_frame(source: object) -> UsageError:
    return UsageError(
        "no_source",
        f"a {type(source).__name__} cannot be a source",
        hint="Use a file, a relation or its name, or a DataFrame (pandas, polars, Arrow).",
    )


def csv_header(path: Path) -> tuple[str, list[str]]:
    """The separator (`,` `;` tab) and the column names of a CSV file, from its first line."""
    with contextlib.suppress(OSError), path.open("rb") as start:
        kind = OTHER_KINDS.get(start.read(4))
        if kind is not None and path.suffix.lower() != ".gz":
            hint = "Save it as CSV in UTF-8, or as Parquet with a name that ends in .parquet."
            raise DataError("bad_file", f"{path.name} is {kind}, not CSV", hint=hint)
    try:
        with text_of(path) as lines:
            unquoted = re.sub(r'"[^"]*("|$)', "", lines.readline())
            lines.seek(0)
            separator = max(",;\t", key=unquoted.count)
            header = next(csv.reader(lines, delimiter=separator, strict=True), [])
            lines.seek(0)
            # if an empty line is a row, DuckDB counts a CRLF line among LF lines as two
            mixed = len(header) == 1 and len(_line_ends(lines)) > 1
    except (UnicodeError, csv.Error, OSError, EOFError) as problem:
        refuse_unread(path, problem)
        raise DataError("bad_file", f"{path.name} is not CSV in UTF-8", hint="Save it as UTF-8.") from None
    if mixed:
        raise DataError(
            "bad_file",
            f"{path.name} mixes different line endings",
            hint="Save it again with one kind of line ending.",
        )
    if not header or not all(map(str.strip, header)):
        told = "has no header, or a column without a name" if header or unquoted else "is empty"
        raise DataError("no_header", f"{path.name} {told}")
    if set("\r\n\0") & set("".join(header)):
        # DuckDB takes the first line break, quoted or not, for the end of a line, and loses rows
        raise DataError(
            "bad_name",
            f"a column name of {path.name} contains a line break or NUL",
            hint="Rename the column.",
        )
    # give positions, not names: without a header the names are values of the first row
    folded = list(map(str.lower, header))
    again = [place for place, name in enumerate(folded) if name in folded[:place]]
    if again:
        first, second = folded.index(folded[again[0]]) + 1, again[0] + 1
        raise DataError(
            "repeated_column",
            f"columns {first} and {second} of {path.name} have the same name (ignoring letter case)",
            hint="Rename one.",
        )
    return separator, header


def _line_ends(text: Iterable[str]) -> set[str]:
    """The line endings of a CSV text, except inside quoted fields."""
    found, inside = set(), False
    for line in text:
        inside ^= line.count('"') % 2 == 1
        end = line[len(line.rstrip("\r\n")) :]
        if end and not inside:
            found.add(end)
    return found


def without_end_marks(text: IO[str]) -> Iterator[str]:
    """A CSV text in blocks of whole lines; it quotes the line `\\.`, where a server stops reading.

    >>> import io
    >>> "".join(without_end_marks(io.StringIO('v\\n\\\\.\\n"a\\n\\\\.\\n"\\n'))).split("\\n")
    ['v', '"\\\\."', '"a', '\\\\.', '"', '']
    """
    inside = False
    while block := text.read(1 << 20):
        block += text.readline()
        if END_MARK not in block:
            inside ^= block.count('"') % 2 == 1
            yield block
            continue
        for line in io.StringIO(block, newline=""):
            bare = line.rstrip("\r\n")
            marked = bare == END_MARK and not inside
            inside ^= line.count('"') % 2 == 1
            yield f'"{END_MARK}"{line[len(bare) :]}' if marked else line


def refuse_broken(path: Path) -> None:
    """Refuse a truncated or damaged .gz file: unpack all of it and compare the checksum.

    DuckDB before 2.0 reads a truncated file as if it were complete, and no version compares the checksum.
    """
    if path.suffix.lower() != ".gz":
        return
    try:
        with gzip.open(path) as packed:
            while packed.read(1 << 20):
                pass
    except EOFError:
        told = f"{path.name} is truncated"
        raise DataError("bad_file", told, hint="Copy or download it again.") from None
    except (OSError, zlib.error) as problem:
        refuse_unread(path, problem)
        told = f"{path.name} is damaged, or is not a gzip file: its checksum does not match"
        raise DataError("bad_file", told, hint="Copy or download it again.") from None


def refuse_unread(path: Path, problem: BaseException) -> None:
    """Say that a file may not be read, where nothing is known of what it holds."""
    if why := unread(problem):
        hint = "Check the permissions of the file and its folder."
        raise DataError("bad_file", f"{path.name} {why}", hint=hint) from None


def text_of(path: Path) -> IO[Any]:
    """The text of a CSV file, unpacked if it is compressed."""
    opener = gzip.open if path.suffix.lower() == ".gz" else open
    return opener(path, "rt", encoding="utf-8-sig", newline="")


def named(name: str) -> Sql:
    """A relation as the user names it: `schema.table`, or quoted as a whole if that exists."""
    if isinstance(name, Sql):
        return name
    return Sql(".".join(quote(part) for part in parts(name)))


def parts(name: str) -> list[str]:
    """The parts of a dotted name; a part in quotes may hold dots."""
    try:
        found = next(csv.reader([name], delimiter=".", quotechar='"'), [])
    except csv.Error:  # a line break
        found = []
    if not found or not all(found):
        if "/" in name:
            raise no_source(name)
        hint = "Write schema.table, with double quotes around a part that contains a dot."
        raise UsageError("bad_name", "that is not the name of a relation", hint=hint)
    return found
