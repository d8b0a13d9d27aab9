"""A large CSV file whose lines repeat, counted line by line: only the lines that differ are taken apart.

A reader of CSV spends most of its time on taking lines apart, and a GROUP BY on comparing the columns. Where
no line has a quote in it, equal lines are equal rows and a separator always separates, so lines are counted
as they stand. What is not as plain as that is left to the reader of CSV, and so is every error.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from os import SEEK_END
from pathlib import Path

from privacy_sql.engines import Row
from privacy_sql.query.template import Query, Sql, literal, quote

# smaller files are read in less time than it takes to look at them
LARGE = 8 << 20
# how many places of a file are looked at, and how much there
PLACES, PIECE = 32, 1 << 16
# lines that occur once among those looked at: so many of the next ones would be new as well
MOST_NEW = 0.5
# some of these in a row, newly drawn, are the separator of columns that no line has
CONTROLS = [chr(code) for code in (*range(1, 9), *range(14, 28))]


@dataclass(frozen=True)
class Lines:
    """A CSV file that is read line by line."""

    path: Path
    separator: str
    header: Sequence[str]

    def counted(self) -> Query:
        """Every line that occurs, and how often."""
        nowhere = "".join(secrets.choice(CONTROLS) for _ in range(4))
        options = f"delim = {literal(nowhere)}, header = true, auto_detect = false, quote = '', escape = ''"
        strict = "nullstr = '', strict_mode = true, null_padding = false"
        read = f"read_csv({literal(str(self.path))}, columns = {{'line': 'VARCHAR'}}, {options}, {strict})"
        text = f"select line, cast(count(*) as bigint) as n_rows from {read} group by line"
        return Query(text, f"counting lines of {self.path.name}")

    def looked_at(self, counted: Sql) -> Query:
        """How many lines are not one value after the other, as the header has names; and all sizes."""
        fields = f"strlen(line) - strlen(replace(line, {literal(self.separator)}, ''))"
        marks = " or ".join(f"contains(line, {mark})" for mark in ("'\"'", "chr(13)", "chr(0)"))
        wrong = f"line is null or {marks} or {fields} <> {len(self.header) - 1}"
        sums = "sum(n_rows) as n_rows, sum(n_rows * strlen(line)) as n_bytes"
        text = f"select count(*) filter (where {wrong}) as n_wrong, {sums} from {counted}"
        return Query(text, "looking at lines")

    def are_all(self, found: Row) -> bool:
        """Whether lines are plain and, with their ends, make up the file to the byte."""
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
        """The rows that occur, and how often; what is empty is missing."""
        parts = f"select string_split(line, {literal(self.separator)}) as parts, n_rows from {counted}"
        values = ", ".join(
            f"nullif(parts[{place}], '') as {quote(name)}" for place, name in enumerate(self.header, start=1)
        )
        return Query(f"select {values}, n_rows as {quote(n_rows)} from ({parts})", "rows alike")


def repeat(path: Path) -> bool:
    """Whether a file is large, and most of its lines occur again, as far as some places of it tell."""
    try:
        size = path.stat().st_size
        if size < LARGE or path.suffix.lower() == ".gz":
            return False
        seen: Counter[bytes] = Counter()
        with path.open("rb") as file:
            for place in range(PLACES):
                file.seek(size * place // PLACES)
                # the first and the last one are cut off somewhere
                seen.update(file.read(PIECE).split(b"\n")[1:-1])
    except OSError:
        return False
    once = sum(n == 1 for n in seen.values())
    return bool(seen) and once <= MOST_NEW * seen.total()
