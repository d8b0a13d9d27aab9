"""A CSV file has the rows its lines say, on every engine, or it is refused: none is lost or doubled."""

from __future__ import annotations

import csv
import io
import random
from pathlib import Path
from typing import Any

import pytest

from privacy_sql.engines._sources import without_end_marks
from privacy_sql.errors import DataError
from privacy_sql.query.template import Query
from tests.command_line import call

CELLS = ["a", "", '"b"', '""', "\\.", '"\\."', "\\.c", '"a\n\\.\nb"', '"a\r\n\r\nb"']
ENDS = ["\n", "\r\n", "\r"]


def by_definition(text: str) -> list[tuple[str | None, ...]] | None:
    """The rows Python finds, an empty line of one column being an empty cell; None: lines differ."""
    header, *rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    found = [tuple(cell or None for cell in row) or (None,) * len(header) for row in rows]
    return found if all(len(row) == len(header) for row in found) else None


def read(engine: Any, path: Path, text: str) -> list[tuple[Any, ...]] | None:
    """The rows an engine finds; None where it refuses the file."""
    path.write_bytes(text.encode())
    try:
        session = engine.session([path])
        source = session.source(path)
        return [tuple(row.values()) for row in session.fetch(Query(f"select * from {source}", "reading"))]
    except DataError:
        return None


def in_order(rows: list[tuple[Any, ...]] | None) -> list[str]:
    return sorted(map(repr, rows or []))


@pytest.mark.parametrize("ends", [*([end] for end in ENDS), ENDS[:2], ENDS], ids=repr)
def test_a_file_of_one_column_has_the_rows_of_its_lines(engine: Any, tmp_path: Path, ends: list[str]) -> None:
    seed = random.randrange(10**9)
    draw = random.Random(seed)
    refused = 0
    for _ in range(40):
        lines = [draw.choice(CELLS) for _ in range(draw.randrange(1, 5))]
        text = "v" + ends[0] + "".join(line + draw.choice(ends) for line in lines)
        found = read(engine, tmp_path / "one.csv", text)
        refused += found is None
        assert found is None or in_order(found) == in_order(by_definition(text)), (seed, text)
    assert len(ends) > 1 or refused == 0, seed


def test_a_line_that_ends_a_transfer_ends_no_file(engine: Any, tmp_path: Path) -> None:
    rows = "a\na\n\\.\nb\nb\nb\n"
    (tmp_path / "one.csv").write_text(f"v\n{rows}")
    assert len(read(engine, tmp_path / "one.csv", f"v\n{rows}") or []) == 6
    # a line with too few fields is refused, whatever it says
    assert read(engine, tmp_path / "two.csv", "v,w\na,1\n\\.\nb,2\n") is None
    assert read(engine, tmp_path / "name.csv", '\\.\na\n"\\."\n') == [("a",), ("\\.",)]


def test_six_rows_and_a_mark_are_judged_as_seven(tmp_path: Path) -> None:
    place = tmp_path / "one.csv"
    place.write_text("v\na\na\n\na\n\\.\na\na\n")
    told = call("check", "--json", "--source", place, "--quasi", "v", "--require", "k_anonymity(k=2)")
    assert (told.exit, told.json["rows"]) == (1, 7)
    place.write_bytes(b"v\na\na\n\r\na\n")
    assert (
        call("check", "--json", "--source", place, "--quasi", "v", "--require", "k_anonymity(k=2)").exit == 3
    )


def test_marks_are_found_across_the_blocks_a_file_is_read_in() -> None:
    class Small(io.StringIO):
        def read(self, size: int | None = -1) -> str:
            return super().read(3)

    draw = random.Random(7)
    for _ in range(300):
        end = draw.choice(ENDS)
        text = end.join(draw.choice(CELLS) for _ in range(6)) + end
        there = list(csv.reader(io.StringIO(text, newline="")))
        sent = "".join(without_end_marks(Small(text, newline="")))
        assert list(csv.reader(io.StringIO(sent, newline=""))) == there
        outside = "".join(part for n, part in enumerate(sent.split('"')) if n % 2 == 0)
        assert "\\." not in outside.replace("\r", "\n").split("\n")
