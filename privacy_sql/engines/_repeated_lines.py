"""A large CSV file with repeated lines, counted line by line, so that only distinct lines are parsed.

A CSV reader spends most of its time on parsing lines, and a GROUP BY on comparing columns. If no line has a
quote, equal lines are equal rows and a separator always separates, so whole lines can be counted. All other
files go to the CSV reader, which also reports every error.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from os import SEEK_END
from pathlib import Path

from privacy_sql.engines import Row
from privacy_sql.engines._sources import as_pattern
from privacy_sql.query.template import Query, Sql, literal, quote

# smaller files are read faster than they can be sampled
LARGE = 8 << 20
# what DuckDB's reader of CSV takes at a time: less takes less memory, but a reader that starts in the middle
# of a quoted text may then refuse the file. Its longest line is named, or it would be as long as a piece
BUFFER, LONGEST = 32 << 20, 2_000_000
PIECES = f"buffer_size = {BUFFER}, max_line_size = {LONGEST}"
# a reader of whole lines knows no quotes, so it may start anywhere
PIECES_OF_LINES = f"buffer_size = {BUFFER // 4}, max_line_size = {LONGEST}"
# how many places of a file are sampled, and how many bytes there
PLACES, PIECE = 32, 1 << 16
# the share of sampled lines that occur once; about as many of the next ones would be new
MOST_NEW = 0.5
# several of these, drawn at random, are a column separator that no line contains
CONTROLS = [chr(code) for code in (*range(1, 9), *range(14, 28))]


@dataclass(frozen=True)
class Lines:
    """A CSV file, read line by line."""

    path: Path
    separator: str
    header: Sequence[str]

    def counted(self) -> Query:
        """Every distinct line, with its count."""
        nowhere = "".join(secrets.choice(CONTROLS) for _ in range(4))
        options = f"delim = {literal(nowhere)}, header = true, auto_detect = false, quote = '', escape = ''"
        strict = f"nullstr = '', strict_mode = true, null_padding = false, {PIECES_OF_LINES}"
        path = literal(as_pattern(self.path))
        read = f"read_csv({path}, columns = {{'line': 'VARCHAR'}}, {options}, {strict})"
        text = f"select line, cast(count(*) as bigint) as n_rows from {read} group by line"
        return Query(text, f"counting lines of {self.path.name}")

    def looked_at(self, counted: Sql) -> Query:
        """How many lines do not have one value for each name of the header; and all sizes."""
        fields = f"strlen(line) - strlen(replace(line, {literal(self.separator)}, ''))"
        marks = " or ".join(f"contains(line, {mark})" for mark in ("'\"'", "chr(13)", "chr(0)"))
        wrong = f"line is null or {marks} or {fields} <> {len(self.header) - 1}"
        sums = "sum(n_rows) as n_rows, sum(n_rows * strlen(line)) as n_bytes"
        text = f"select count(*) filter (where {wrong}) as n_wrong, {sums} from {counted}"
        return Query(text, "looking at lines")

    def are_all(self, found: Row) -> bool:
        """Whether all lines are plain and together with their ends have the size of the file."""
        if found["n_wrong"] or not found["n_rows"]:
            return False
        size = self.path.stat().st_size
        with self.path.open("rb") as file:
            header = file.readline()
            end = b"\r\n" if header.endswith(b"\r\n") else b"\n"
            file.seek(-1, SEEK_END)
            n_ends = found["n_rows"] - (file.read(1) != b"\n")
        return bool(len(header) + found["n_bytes"] + n_ends * len(end) == size)

    def taken_apart(self, counted: Sql, n_rows: Sql) -> Query:
        """The distinct rows, with their counts; an empty cell is missing."""
        parts = f"select string_split(line, {literal(self.separator)}) as parts, n_rows from {counted}"
        values = ", ".join(
            f"nullif(parts[{place}], '') as {quote(name)}" for place, name in enumerate(self.header, start=1)
        )
        return Query(f"select {values}, n_rows as {quote(n_rows)} from ({parts})", "rows alike")


def repeat(path: Path) -> bool:
    """Whether a file is large and a sample shows that most of its lines repeat."""
    try:
        size = path.stat().st_size
        if size < LARGE or path.suffix.lower() == ".gz":
            return False
        seen: Counter[bytes] = Counter()
        with path.open("rb") as file:
            for place in range(PLACES):
                file.seek(size * place // PLACES)
                # the first and the last line of a sample are cut off
                seen.update(file.read(PIECE).split(b"\n")[1:-1])
    except OSError:
        return False
    once = sum(n == 1 for n in seen.values())
    return bool(seen) and once <= MOST_NEW * seen.total()
