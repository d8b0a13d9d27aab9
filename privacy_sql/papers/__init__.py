"""The papers' figures and tables, computed again by command: one module per paper.

In: a paper's data, from the verb `experiment`. Out: figures and tables. Read `martin.py` first. A module
defines `PARTS`, the names of its figures, and `run(engine, data, parts)`, which yields a `Figure` for each.
No result is copied from a paper; `_printed.py` says what a paper prints, `_page.py` shows both side by side.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from privacy_sql import files as writing
from privacy_sql.display.aligned import aligned
from privacy_sql.errors import UsageError, did_you_mean
from privacy_sql.papers._printed import beside, printed, shown
from privacy_sql.papers._svg import plotted, tabled


@dataclass(frozen=True)
class Figure:
    """A table of numbers and how to draw it: `y` against `x`, with one line for each value of `series`.

    >>> figure = Figure("f", "A figure", ("k", "value"), ((0, 0.5), (1, 0.75)), x="k", y="value")
    >>> figure.csv()
    'k,value\\n0,0.5\\n1,0.75\\n'
    """

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    x: str | None = None
    y: str | None = None
    series: str | None = None
    note: str = ""

    def csv(self) -> str:
        """The table with a header."""
        lines = io.StringIO()
        csv.writer(lines, lineterminator="\n").writerows([self.columns, *self.rows])
        return lines.getvalue()

    def lines(self, paper: str, most: int = 40) -> list[str]:
        """The figure as text: its numbers, the paper's beside ours, and the reason for a difference."""
        cells = [list(self.columns), *([shown(cell) for cell in row] for row in self.rows[:most])]
        told = [self.title, *([f"  {self.note}"] if self.note else [])]
        told += [f"  {line}" for line in aligned(cells, right=range(len(self.columns)))]
        if len(self.rows) > most:
            told.append(f"  ... and {len(self.rows) - most} more rows in {self.name}.csv")
        said = printed(paper, self.name)
        told += [f"  paper: {said.finds}"] if said.finds else []
        told += [
            f"  {what}: paper {theirs}, here {ours}"
            for what, theirs, ours in beside(said, self.to_json()["rows"])
        ]
        return told + ([f"  difference: {said.differs}"] if said.differs else [])

    def to_json(self) -> dict[str, Any]:
        """The table as one object per row, with title and note."""
        rows = [dict(zip(self.columns, row, strict=True)) for row in self.rows]
        return {"name": self.name, "title": self.title, "note": self.note, "rows": rows}

    def svg(self) -> str:
        """The drawing, or the table where there are no axes."""
        if self.x is None or self.y is None:
            return tabled(self.title, self.columns, [[shown(cell) for cell in row] for row in self.rows])
        lines: dict[str, list[tuple[float, float]]] = {}
        for row in self.to_json()["rows"]:
            value = row[self.series] if self.series else self.y
            # words need no column name beside them, numbers do
            label = value if isinstance(value, str) else f"{self.series} {value}"
            lines.setdefault(label, []).append((float(row[self.x]), float(row[self.y])))
        return plotted(self.title, self.x, self.y, lines)


def chosen(parts: Sequence[str], known: Sequence[str]) -> list[str]:
    """The named parts, in the paper's order; all of them when none is named."""
    for part in parts:
        if part not in known:
            raise UsageError("unknown_part", f'no part "{part}"', hint=did_you_mean(part, known))
    return [part for part in known if not parts or part in parts]


def save(figures: Iterable[Figure], folder: Path) -> list[str]:
    """Write each figure as CSV, JSON and SVG; returns the file names."""
    written = []
    for figure in figures:
        told = json.dumps(figure.to_json(), indent=1) + "\n"
        texts = {"csv": figure.csv(), "json": told, "svg": figure.svg()}
        contents = {folder / f"{figure.name}.{kind}": text.encode() for kind, text in texts.items()}
        # replace only files of an earlier run of this figure, which its JSON shows
        try:
            known = json.loads((folder / f"{figure.name}.json").read_bytes())
            ours = set(known) == set(figure.to_json()) and known["name"] == figure.name
        except (OSError, ValueError, TypeError):
            ours = False

        def admit(file: Path, content: bytes, ours: bool = ours) -> None:
            if ours or not os.path.lexists(file):
                return
            # a killed run leaves files without the JSON: what has the same bytes is no loss
            if not file.is_file() or file.read_bytes() != content:
                hint = f"Choose another folder with -o, or remove {file} by hand if nobody needs it."
                raise UsageError("target_exists", f"{file.name} exists and is no figure of ours", hint=hint)

        for file, content in contents.items():  # before the first is replaced
            admit(file, content)
        for file, content in contents.items():
            writing.write_alone(file, content, admit=partial(admit, file, content))
            written.append(file.name)
    return written
