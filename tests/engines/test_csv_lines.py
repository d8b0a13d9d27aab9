"""A CSV file has the rows its lines say, on every engine, or it is refused: none is lost or doubled."""

from __future__ import annotations

import csv
import io
import random
from pathlib import Path
from typing import Any

import pytest

import privacy_sql as ps
from privacy_sql.engines._repeated_lines import BUFFER
from privacy_sql.engines._sources import without_end_marks
from privacy_sql.errors import DataError
from privacy_sql.query.template import Query
from tests import engines
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


@pytest.mark.parametrize("inside", ["\nk,a,1,v", "salt, oil, rice, tea\n", '""k"",a\nk,a,1,"", '])
def test_a_text_whose_lines_look_like_rows_is_one_cell(tmp_path: Path, inside: str) -> None:
    path, n = tmp_path / "people.csv", BUFFER // 8 // (20 * len(inside))
    path.write_text("c,q,x,s\n" + f'k,a,1,"{inside * 20}"\n' * n, newline="")
    with engines.opened() as engine:
        (verdict,) = ps.check(engine, ps.Table(path, ["c"]), [ps.KAnonymity(2)]).values()
    assert verdict.value == n


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


def test_rows_over_the_ends_of_what_is_read_at_a_time_are_whole(tmp_path: Path) -> None:
    """Quotes, line breaks and very long lines lie over the end of every piece that the reader takes."""
    draw = random.Random(1)
    cells = ["a", "", 'x"y', "one\ntwo", "one\r\ntwo", "comma, ", "é" * 7]
    rows, size = [], 0
    while size < 2.5 * BUFFER:
        # the reader takes lines of up to 2 MB
        long = "z" * draw.randrange(1_000_000) if draw.random() < 0.0005 else ""
        rows.append((str(len(rows)), draw.choice(cells) * draw.randrange(1, 20), long + draw.choice(cells)))
        size += sum(map(len, rows[-1]))
    path = tmp_path / "rows.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([("n", "a", "b"), *rows])
    assert max(len(b) for _, _, b in rows) > 500_000
    for threads in (1, 2):
        with ps.connect("duckdb:", threads=threads) as engine:
            session = engine.session([path])
            found = session.fetch(Query(f"select * from {session.source(path)}", "reading"))
        assert sorted(map(repr, rows)) == sorted(
            repr((row["n"], row["a"] or "", row["b"] or "")) for row in found
        )
