"""People with several values: what is said of a release is what its written file says to its reader.

Random tables of up to eight people, sets and multisets, people without a value, values repeated for a person,
every method. An adversary who knows all quasi-identifiers counts the lines of the CSV file and lists every
way to give people values that prints them.
"""

from __future__ import annotations

import csv
import random
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql import manifest
from privacy_sql.errors import NoSafeChoice, NotSafe, UsageError
from privacy_sql.reporting import making
from privacy_sql.reporting.recording import recorded
from tests import engines
from tests.oracles.published_values import Line, Reader
from tests.seeds import NIGHTLY, enough, seeds

SEEDS = 360 if NIGHTLY else 18
AGES = [20, 22, 25, 31, 34, 38]
SEVERAL = ["set", "multiset"]
METHODS: dict[str, Any] = {
    "levels": lambda share: ps.Generalise({"age": 1}, max_suppressed=share),
    "full_domain": lambda share: ps.FullDomain(max_suppressed=share),
    "boxes": lambda share: ps.Multidimensional(max_suppressed=share),
}
Rows = list[tuple[int, int, str | None]]


def crowd(seed: int, kind: str, most: int) -> Rows:
    """People with one age each and any number of values; some rows say what another one says."""
    drawn = random.Random(seed)
    rows: Rows = []
    everybody = drawn.random() < 0.5  # nobody is without a value
    for person in range(drawn.randint(2, most)):
        age = drawn.choice(AGES[: drawn.choice([2, 6])])
        values: list[str | None] = [value for value in "abc" if drawn.random() < 0.35]
        values = values or (["a"] if everybody else [None])
        again = drawn.choice([[], values[:1], [None] if values != [None] else values])
        if kind == "multiset" and again != [None] and len(values) > 1:
            again = []
        rows += [(person, age, value) for value in [*values, *again]]
    drawn.shuffle(rows)
    return rows


def table(rows: Rows, kind: str, **more: Any) -> ps.Table:
    frame = pd.DataFrame(rows, columns=["id", "age", "ill"], dtype=object).astype({"age": "int64"})
    return ps.Table(frame, {"age": ps.Intervals(10)}, "ill", identifier="id", values_per_person=kind, **more)


def fits(age: int, label: str) -> bool:
    """Whether somebody of this age is in the group of this label: a number, a range or everybody."""
    low, _, high = label.partition("-")
    return label == "*" or int(low) <= age <= int(high or low)


def read(path: Path, rows: Rows) -> tuple[list[Line], dict[Any, int]]:
    """The lines of a file, and how many people its reader knows to be in each group."""
    with path.open(newline="", encoding="utf-8") as file:
        lines: list[Line] = [(line["age"], line["ill"] or None) for line in csv.DictReader(file)]
    ages = {person: age for person, age, _ in rows}
    return lines, {
        label: sum(fits(age, str(label)) for age in ages.values()) for label in {label for label, _ in lines}
    }


def expected(rows: Rows, kind: str) -> Counter[tuple[int, str | None]]:
    """The lines of a table: for each person their values, or one line when they have none."""
    found: Counter[tuple[int, str | None]] = Counter()
    for person in {row[0] for row in rows}:
        values = [row[2] for row in rows if row[0] == person and row[2] is not None]
        age = next(row[1] for row in rows if row[0] == person)
        for value in (set(values) if kind == "set" else values) or [None]:
            found[age, value] += 1
    return found


def released(engine: Any, rows: Rows, kind: str, asked: Any, method: Any) -> Iterator[ps.Release]:
    try:
        yield ps.publish(engine, table(rows, kind), asked, method)
    except (NoSafeChoice, NotSafe):
        return


@pytest.mark.parametrize("kind", SEVERAL)
@pytest.mark.parametrize("name", sorted(METHODS))
def test_what_is_said_safe_is_safe_for_who_reads_the_file(tmp_path: Path, name: str, kind: str) -> None:
    with engines.opened() as engine:
        assert enough(sum(asked_about(engine, tmp_path, name, kind, seed) for seed in seeds(SEEDS)), 2)


def asked_about(engine: Any, folder: Path, name: str, kind: str, seed: int) -> bool:
    """Whether a random release is safe, and then by every world of its file."""
    drawn = random.Random(1000 + seed)
    amounts = [drawn.choice([0, 0, 1, 2]), drawn.choice([0, 0, 1]), drawn.choice([0, 0, 1])]
    rows = crowd(seed, kind, 8 if not any(amounts) and kind == "set" else 4)
    share = drawn.choice(["0", "0.3", "0.6"])
    limit = drawn.choice(["0.3", "0.5", "0.7", "1"])
    asked = [ps.PrivacySkyline([[*amounts, limit]])]
    for release in released(engine, rows, kind, asked, METHODS[name](share)):
        assert release.rows_in == len(rows) == release.rows_out + release.suppressed + release.repeated
        assert release.repeated == len(rows) - expected(rows, kind).total()
        if not release.safe:
            continue
        out = folder / "out.csv"
        content = manifest.read(ps.write(engine, release, out, overwrite=True))
        lines, people = read(out, rows)
        counts = [content.rows_in, content.rows_out, content.suppressed, content.repeated]
        few = content.rows_rounded_to
        gone, again = (n // few * few for n in (release.suppressed, release.repeated))
        assert counts == [len(lines) + gone + again, len(lines), gone, again]
        assert release.suppressed <= Fraction(share) * expected(rows, kind).total()
        assert sum(people.values()) >= (1 - Fraction(share)) * len({row[0] for row in rows})
        (verdict,) = release.verdicts.values()
        found = Reader(lines, people, kind).worst(amounts)
        assert found < Fraction(limit), (rows, amounts)
        assert verdict.value == found, (rows, amounts)
        return True
    return False


@pytest.mark.parametrize("kind", SEVERAL)
def test_what_is_said_not_safe_is_not_for_who_would_read_it(engine: Any, kind: str) -> None:
    refused = 0
    for seed in seeds(30):
        drawn = random.Random(seed)
        amounts = [drawn.choice([0, 1, 2]), drawn.choice([0, 1]), drawn.choice([0, 1])]
        rows = crowd(seed, kind, 4)
        release = ps.publish(
            engine, table(rows, kind), [ps.PrivacySkyline([[*amounts, "0.6"]])], ps.Generalise({"age": 1})
        )
        lines = [(age // 10, value) for (age, value), n in expected(rows, kind).items() for _ in range(n)]
        ages = {person: age // 10 for person, age, _ in rows}
        found = Reader(lines, Counter(ages.values()), kind).worst(amounts)
        (verdict,) = release.verdicts.values()
        assert verdict.value == found and release.safe == (found < Fraction(6, 10))
        refused += not release.safe
    assert enough(refused, 4)


@pytest.mark.parametrize("kind", SEVERAL)
def test_a_value_repeated_for_a_person_is_one_line_of_a_set(engine: Any, tmp_path: Path, kind: str) -> None:
    rows: Rows = [(person, 20, None) for person in range(1, 4)] + [(0, 20, "a")] * 3
    release = ps.publish(engine, table(rows, kind), [ps.KAnonymity(2)], ps.Generalise())
    ps.write(engine, release, tmp_path / "out.csv")
    lines, people = read(tmp_path / "out.csv", rows)
    assert people == {"20": 4} and release.repeated == len(rows) - len(lines)
    assert lines.count(("20", "a")) == (1 if kind == "set" else 3)


@pytest.mark.parametrize("kind", SEVERAL)
@pytest.mark.parametrize(
    "method",
    [
        ps.Bucketize({"age": 1}),
        ps.Bucketize({"age": 1}, layout="two_tables"),
        ps.Bucketize("full_domain"),
        ps.Bucketize("anatomy"),
        ps.Multidimensional(output="bucketized"),
        ps.Multidimensional(strict=False),
        ps.Microaggregate(2),
        ps.FullDomain(local_recoding=True),
    ],
    ids=str,
)
def test_a_layout_that_would_show_how_many_values_each_person_has_is_refused(
    engine: Any, kind: str, method: Any
) -> None:
    rows = crowd(3, kind, 8)
    with pytest.raises(UsageError):
        ps.publish(engine, table(rows, kind), [ps.KAnonymity(1)], method)


def test_a_column_that_stays_as_it_is_would_tell_which_lines_are_of_one_person(engine: Any) -> None:
    rows = pd.DataFrame(
        [(1, 20, "a", "w"), (1, 20, "b", "w"), (2, 21, "a", "x")], columns=["id", "age", "ill", "ward"]
    )
    several = ps.Table(rows, ["age"], "ill", identifier="id", values_per_person="set", insensitive=["ward"])
    with pytest.raises(UsageError, match="ward would show which rows belong to one person"):
        ps.publish(engine, several, [ps.KAnonymity(1)], ps.Generalise())


@pytest.mark.parametrize("kind", SEVERAL)
def test_empty_text_that_reads_as_a_missing_value_in_a_file_is_refused_there(
    engine: Any, tmp_path: Path, kind: str
) -> None:
    """The rows show the values "" and "a" in memory, and in a CSV file one of them."""
    for values in (["", "a"], ["", None, "a", "a"]):
        rows: Rows = [(person, 20, value) for person, value in enumerate(values)]
        release = ps.publish(engine, table(rows, kind), [ps.LDiversity(2)], ps.Generalise())
        assert release.safe
        with pytest.raises(NotSafe, match=r"(?i)empty text"):
            ps.write(engine, release, tmp_path / "out.csv")
        ps.write(engine, release, tmp_path / "out.parquet", overwrite=True)


def test_who_has_not_the_one_value_of_a_group_where_everybody_has_one_has_the_other(engine: Any) -> None:
    """Rows equal people and no line is without a value: the paper's formula says less than 1 here."""
    rows: Rows = [(person, 20, "a" if person else "b") for person in range(4)]
    asked = [ps.PrivacySkyline([[1, 0, 0, "0.9"]])]
    release = ps.publish(engine, table(rows, "set"), asked, ps.Generalise())
    (found,) = release.verdicts.values()
    (formula,) = ps.check(engine, table(rows, "set"), asked).values()
    assert (found.value, found.safe) == (1, False)
    assert formula.value is not None and formula.value < 1


def test_groups_too_large_to_be_counted_are_not_safe_and_say_so(engine: Any) -> None:
    rows: Rows = [(person, 20, "abc"[person % 3]) for person in range(3000)]
    asked = [ps.PrivacySkyline([[1, 2, 2, "0.9"]])]
    release = ps.publish(engine, table(rows, "set"), asked, ps.Generalise())
    (found,) = release.verdicts.values()
    assert not found.safe and found.value is None and "Not decided" in found.notes[0]


@pytest.mark.parametrize("kind", ["one", *SEVERAL])
def test_lines_are_called_people_only_where_a_line_is_a_person(
    engine: Any, tmp_path: Path, kind: str
) -> None:
    rows: Rows = [(person, 20, "a") for person in range(4)] + ([(0, 20, "b")] if kind != "one" else [])
    release = ps.publish(engine, table(rows, kind), [ps.KAnonymity(2)], ps.Generalise())
    content = manifest.read(ps.write(engine, release, tmp_path / "out.csv"))
    for record in (recorded(release), making.from_manifest(content)):
        assert record["identified"] is (kind == "one")
        assert (record["rows_in"], record["repeated"]) == (len(rows), 0)


@pytest.mark.parametrize("kind", SEVERAL)
def test_people_without_sensitive_columns_or_with_several_are_published_once(
    engine: Any, tmp_path: Path, kind: str
) -> None:
    """Of a set, and of one value made of several columns; what is written is what is judged."""
    rows = [(1, 20, "a", "p"), (1, 20, "b", "p"), (1, 20, "b", "p"), (2, 21, "a", "q"), (3, 22, None, None)]
    frame = pd.DataFrame(rows, columns=["id", "age", "ill", "drug"], dtype=object).astype({"age": "int64"})
    named: dict[str, Any] = {"identifier": "id", "values_per_person": kind}
    ages = {"age": ps.Intervals(10)}
    both = ps.Table(frame, ages, ["ill", "drug"], joint=True, **named)
    apart = ps.Table(frame[frame["id"] != 1], ages, ["ill", "drug"], **named)
    for table, n_lines in (
        (ps.Table(frame[["id", "age"]], ages, None, **named), 3 if kind == "set" else 5),
        (both, 4 if kind == "set" else 5),
        (apart, 2),
    ):
        release = ps.publish(engine, table, [ps.KAnonymity(1)], ps.Generalise({"age": 1}))
        ps.verify(ps.write(engine, release, tmp_path / "out.csv", overwrite=True))
        with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as file:
            assert len(list(csv.DictReader(file))) == release.rows_out == n_lines
        assert release.rows_in == release.rows_out + release.suppressed + release.repeated
