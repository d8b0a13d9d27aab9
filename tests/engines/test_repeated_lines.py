"""Lines that are counted as they stand are the rows that the reader of CSV finds, or it is asked."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import privacy_sql as ps
from privacy_sql.counted.base import Base, count
from privacy_sql.engines import Engine, _repeated_lines
from privacy_sql.errors import PrivacySqlError
from privacy_sql.query.template import Query, Sql
from tests import engines
from tests.seeds import seeds

# what a line may hold that a reader of CSV takes for more than it is, or for less
ODD = ["\\", "#", "\0", "\x01", "\r", "\n", "\v", "\f", "\u2028", "\ufeff", '"', "\x85", "NULL"]


@pytest.fixture(autouse=True)
def every_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small files as large ones."""
    monkeypatch.setattr("privacy_sql.engines.duckdb.repeat", lambda _: True)


@pytest.fixture
def engine() -> Iterator[Engine]:
    with engines.opened() as opened:
        yield opened


def drawn(rng: random.Random) -> bytes:
    """A small file that is CSV, nearly always."""
    n, separator, end = rng.randint(2, 4), rng.choice(",;\t"), rng.choice(["\n", "\n", "\r\n", "\r"])
    letters = ["a", "b", "é", "1", " ", "'", "", ""]
    if rng.random() < 0.5:
        letters.append(rng.choice([*ODD, ",", ";", "\t"]))
    rows = []
    for _ in range(rng.randint(0, 12)):
        fields = n if rng.random() < 0.97 else rng.randint(1, n + 1)
        values = ("".join(rng.choice(letters) for _ in range(rng.randint(0, 3))) for _ in range(fields))
        rows.append(separator.join(values))
    header = separator.join(f"c{number}" for number in range(n))
    text = end.join([header, *rows]) + rng.choice(["", end, end, end * 2])
    if rng.random() < 0.15:
        text = "".join(rng.choice(["\n", "\r\n", "\r"]) if c in "\r\n" else c for c in text)
    written = text.encode()
    if rng.random() < 0.1:
        written = b"\xef\xbb\xbf" + written
    return written + b"\xff" if rng.random() < 0.05 else written


def rows_of(engine: Engine, relation: Sql, n_rows: Sql | None = None) -> Counter[tuple[object, ...]]:
    """The rows of a relation, each with how often it occurs."""
    found: Counter[tuple[object, ...]] = Counter()
    for row in engine.fetch(Query(f"select * from {relation}")):
        times = row.pop(n_rows) if n_rows is not None else 1
        found[tuple(row.values())] += times
    return found


@pytest.mark.parametrize("seed", seeds(3))
def test_rows_are_those_that_the_reader_of_csv_finds(engine: Engine, seed: int, tmp_path: Path) -> None:
    rng, counted = random.Random(seed), 0
    for number in range(40):
        file = tmp_path / f"{number}.csv"
        file.write_bytes(drawn(rng))
        session = engine.session([file])
        try:
            source = session.source(file)
        except PrivacySqlError:
            continue
        alike = session.alike(source)
        if alike is None:
            continue
        counted += 1
        relation, n_rows = alike
        assert rows_of(session, relation, n_rows) == rows_of(session, source), f"seed {seed}, file {number}"
    assert counted > 5


def told(base: Base) -> tuple[object, ...]:
    """What was counted, in the values of the dictionaries."""
    relations = [base.relation, *base.dictionaries.values()]
    return (base.rows, base.combinations, base.statistics, *(rows_of(base.engine, one) for one in relations))


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_table_is_counted_alike_in_both_ways(
    threads: int, end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(threads)
    file = tmp_path / "people.csv"
    kinds = [f"{rng.randint(0, 90)},{rng.choice(['', 'é', 'x y', 'NULL'])},{n % 7}" for n in range(300)]
    lines = [rng.choice(kinds) for _ in range(400_000)]
    file.write_bytes((end.join(["age,place,illness", *lines]) + end).encode())
    table = ps.Table(file, ["age", "place"], "illness")
    with ps.connect("duckdb:", threads=threads) as engine:
        fast = count(engine, table)
        made = engine.alike(engine.session([file]).source(file))
        assert made is None, "a source of another session"
        monkeypatch.setattr("privacy_sql.engines.duckdb.repeat", lambda _: False)
        assert told(fast) == told(count(engine, table))
    assert fast.rows == len(lines)


@pytest.mark.parametrize(
    "text",
    [
        'a,b\n1,"x"\n',
        "a,b\n1,2\n\n",
        "a,b\n1\n",
        "a,b\n1,2,3\n",
        "a,b\n1,2\r3,4\n",
        "a\n1\n",
        "a,b\n1,2\n1,2\r\n",
    ],
)
def test_what_is_not_plain_is_left_to_the_reader_of_csv(engine: Engine, text: str, tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text(text, newline="")
    session = engine.session([file])
    assert session.alike(session.source(file)) is None


def test_a_line_that_is_cut_short_is_seen_by_its_size(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DuckDB takes a separator at the end of a line for nothing, and it would be lost."""
    monkeypatch.setattr("secrets.choice", lambda _: "\x01")
    for text, fine in (("a,b\n1,\x01\x01\x01\x01\n", False), ("a,b\n1,\x01\x01\x01\n", True)):
        file = tmp_path / f"{fine}.csv"
        file.write_text(text)
        session = engine.session([file])
        assert (session.alike(session.source(file)) is not None) == fine


def test_only_large_files_with_lines_that_repeat_are_read_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_repeated_lines, "LARGE", 10_000)
    monkeypatch.setattr(_repeated_lines, "PIECE", 200)
    few, small, once = (tmp_path / f"{name}.csv" for name in ("few", "small", "once"))
    few.write_text("a,b\n" + "1,2\n2,2\n" * 5000)
    small.write_text("a,b\n" + "1,2\n" * 50)
    once.write_text("a,b\n" + "".join(f"{number},2\n" for number in range(5000)))
    assert [_repeated_lines.repeat(file) for file in (few, small, once)] == [True, False, False]
    packed = tmp_path / "few.csv.gz"
    packed.write_bytes(few.read_bytes())
    assert not _repeated_lines.repeat(packed)
    assert not _repeated_lines.repeat(tmp_path / "nowhere.csv")
