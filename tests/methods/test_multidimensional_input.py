"""Bad and odd input of multidimensional partitioning."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.errors import UsageError


def written(engine: Any, table: ps.Table, k: int, folder: Path, **how: Any) -> pd.DataFrame:
    """The published rows of a k-anonymous partition, as text."""
    release = ps.publish(engine, table, [ps.KAnonymity(k)], ps.Multidimensional(**how))
    assert release.safe and release.rows_out == release.rows_in
    ps.write(engine, release, folder / "out.csv")
    return pd.read_csv(folder / "out.csv", dtype=str, keep_default_na=False)


@pytest.mark.parametrize("split", ["median", "range", "information_gain"])
def test_a_quasi_identifier_with_one_value_is_never_cut_and_stays_as_it_is(
    engine: Any, tmp_path: Path, split: str
) -> None:
    rows = pd.DataFrame({"age": [20, 30, 40, 50], "country": ["x"] * 4, "s": list("uvuv")})
    found = written(engine, ps.Table(rows, ["age", "country"], "s"), 2, tmp_path, split=split)
    assert Counter(found["country"]) == {"x": 4}
    assert Counter(found["age"]) == {"20-30": 2, "40-50": 2}


@pytest.mark.parametrize("strict", [True, False])
def test_rows_that_are_all_alike_make_one_box(engine: Any, tmp_path: Path, strict: bool) -> None:
    rows = pd.DataFrame({"age": [30] * 5, "job": ["a"] * 5, "s": ["u"] * 5})
    found = written(engine, ps.Table(rows, ["age", "job"], "s"), 2, tmp_path, strict=strict)
    assert Counter(found["age"]) == {"30": 5}


@pytest.mark.parametrize("split", ["median", "range", "information_gain"])
def test_nulls_among_numbers_are_cut_off_as_a_value_of_their_own(
    engine: Any, tmp_path: Path, split: str
) -> None:
    rows = pd.DataFrame({"age": [30, 30, None, None], "s": list("uuvv")})
    found = written(engine, ps.Table(rows, ["age"], "s"), 2, tmp_path, split=split)
    assert sorted(Counter(found["age"]).values()) == [2, 2]
    assert "" in set(found["age"])


def test_text_of_numbers_alone_is_cut_by_size_and_one_word_makes_it_words(
    engine: Any, tmp_path: Path
) -> None:
    rows = pd.DataFrame({"room": ["9", "10", "100", "101"], "s": list("uvuv")})
    found = written(engine, ps.Table(rows, ["room"], "s"), 2, tmp_path)
    assert Counter(found["room"]) == {"9-10": 2, "100-101": 2}
    (tmp_path / "words").mkdir()
    worded = rows.assign(room=["9", "10", "100", "x"])
    found = written(engine, ps.Table(worded, ["room"], "s"), 2, tmp_path / "words")
    assert Counter(found["room"]) == {"10..100": 2, "9..x": 2}


def test_words_without_any_number_are_cut_in_the_middle_of_their_order(engine: Any, tmp_path: Path) -> None:
    rows = pd.DataFrame({"job": list("aabbccdd"), "s": list("uvuvuvuv")})
    found = written(engine, ps.Table(rows, ["job"], "s"), 4, tmp_path, split="range")
    assert Counter(found["job"]) == {"a..b": 4, "c..d": 4}


@pytest.mark.parametrize("far", [float("inf"), -float("inf"), 1e300])
def test_a_column_with_a_number_too_large_for_sizes_is_cut_in_its_order(engine: Any, far: float) -> None:
    rows = pd.DataFrame({"pay": [1.0, 2.0, 3.0, far], "s": list("uvuv")})
    for split in ("median", "range"):
        release = ps.publish(
            engine, ps.Table(rows, ["pay"], "s"), [ps.KAnonymity(2)], ps.Multidimensional(split)
        )
        assert release.safe and release.search["groups"] == 2


@pytest.mark.everywhere
def test_a_class_that_is_also_sensitive_cuts_as_the_sensitive_value_does(engine: Any, tmp_path: Path) -> None:
    rows = pd.DataFrame({"age": [20, 20, 60, 60] * 2, "size": [1, 2, 1, 2] * 2, "s": list("uvuv") * 2})
    table = ps.Table(rows, ["age", "size"], "s")
    named = written(engine, table, 4, tmp_path, split="information_gain", by_class="s")
    (tmp_path / "plain").mkdir()
    plain = written(engine, table, 4, tmp_path / "plain", split="information_gain")
    assert named.equals(plain) and set(named["size"]) == {"1", "2"}


def test_a_class_that_does_not_exist_is_refused_with_the_nearest_name(engine: Any) -> None:
    rows = pd.DataFrame({"age": [20, 30], "income": ["low", "high"], "s": list("uv")})
    table = ps.Table(
        rows, ["age"], "s", insensitive={"columns": ["income"], "acknowledge": "a test reads it"}
    )
    with pytest.raises(UsageError, match=r"incomme.*income"):
        ps.publish(engine, table, [ps.KAnonymity(1)], ps.Multidimensional("information_gain", "incomme"))


@pytest.mark.parametrize("quasi", [[], ["age"]])
def test_a_table_with_nothing_to_cut_is_refused(engine: Any, quasi: list[str]) -> None:
    rows = pd.DataFrame({"age": [20, 30], "g": [1, 1], "s": list("uv")})
    table = ps.Table(rows, quasi, "s", group="g" if quasi else None)
    with pytest.raises(UsageError, match="needs quasi-identifiers to cut along"):
        ps.publish(engine, table, [ps.KAnonymity(1)], ps.Multidimensional())


def test_combinations_that_outgrow_one_integer_are_numbered(engine: Any, tmp_path: Path) -> None:
    wide = {f"c{number}": [row * (number + 1) for row in range(40)] for number in range(13)}
    rows = pd.DataFrame({**wide, "s": list("uv") * 20})
    found = written(engine, ps.Table(rows, [*wide], "s"), 20, tmp_path)
    assert sorted(Counter(found["c0"]).values()) == [20, 20]
