"""Errors that are read in the first hour say what is so, and what to do next."""

from __future__ import annotations

import gzip
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.api import examine
from privacy_sql.engines import Engine
from privacy_sql.errors import DataError, NotSafe, PrivacySqlError, UsageError
from privacy_sql.kernels.composition.noise import gaussian
from privacy_sql.query import statements
from tests import engines
from tests.command_line import call

ROWS = pd.DataFrame(
    {
        "id": [f"p{n}" for n in range(40)],
        "age": [str(20 + n % 5) for n in range(40)],
        "sex": ["FM"[n % 2] for n in range(40)],
        "ill": ["abc"[n % 3] for n in range(40)],
    }
)
ASKED = ("--quasi", "age,sex", "--sensitive", "ill", "--require", "k_anonymity(k=2)")


def told(source: object, *more: str) -> str:
    """What is said of a source that is not read."""
    outcome = call("check", "--source", source, *ASKED, *more)
    assert outcome.exit in (2, 3), outcome.everything
    return outcome.err


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two Parquet files that are one table, and what a folder holds beside."""
    place = tmp_path / "k=5"
    place.mkdir()
    ROWS[:15].to_parquet(place / "a.parquet", index=False)
    ROWS[15:].to_parquet(place / "b.parquet", index=False)
    (place / "_SUCCESS").touch()
    return place


def test_a_folder_and_a_pattern_of_parquet_files_are_one_table(folder: Path) -> None:
    for source in (folder, folder / "*.parquet", folder / "[ab].parquet"):
        found = call("check", "--source", source, *ASKED, "--json").json
        assert found["rows"] == 40 and found["ignored_columns"] == ["id"]
        assert call("profile", "--source", source, "--json").json["rows"] == 40
    assert call("check", "--source", folder / "a*.parquet", *ASKED, "--json").json["rows"] == 15


def test_a_folder_is_the_same_table_on_every_engine(engine: ps.Engine, folder: Path) -> None:
    several = ps.check(engine, ps.Table(folder, ["age", "sex"], "ill"), [ps.KAnonymity(2), ps.LDiversity(2)])
    one = ps.check(engine, ps.Table(ROWS, ["age", "sex"], "ill"), [ps.KAnonymity(2), ps.LDiversity(2)])
    assert [verdict.value for verdict in several.values()] == [verdict.value for verdict in one.values()]


def test_files_that_are_not_one_table_are_refused(engine: ps.Engine, folder: Path) -> None:
    ROWS.drop(columns="sex").to_parquet(folder / "c.parquet", index=False)
    with pytest.raises(DataError, match="do not have the same columns"):
        ps.check(engine, ps.Table(folder, ["age"], "ill"), [ps.KAnonymity(2)])


def test_nothing_is_published_into_a_folder_that_is_read(folder: Path) -> None:
    for source in (folder, str(folder / "*.parquet")):
        with engines.opened() as engine:
            release = ps.publish(engine, ps.Table(source, ["sex"]), [ps.KAnonymity(2)], ps.Generalise({}))
            with pytest.raises(UsageError, match="folder"):
                ps.write(engine, release, folder / "out.parquet")


def test_what_is_not_read_is_called_what_it_is(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "people.xlsx").write_bytes(b"PK")
    assert "people.xlsx is a spreadsheet" in told(tmp_path / "people.xlsx")
    assert "Save it as CSV" in told(tmp_path / "people.xlsx")
    for address in ("s3://bucket/people.csv", "https://example.org/people.csv"):
        assert "people.csv is a remote file; privacy_sql reads only local files" in told(address)
    assert "is a folder without Parquet files" in told(tmp_path)
    assert "no Parquet file matches" in told(folder / "z*.parquet")


def test_a_gz_file_that_breaks_off_is_called_so(tmp_path: Path) -> None:
    packed = gzip.compress(ROWS.sample(20_000, replace=True, random_state=1).to_csv(index=False).encode())
    place = tmp_path / "people.csv.gz"
    place.write_bytes(packed[: len(packed) // 2])
    assert "people.csv.gz is truncated" in told(place)


def test_conditions_and_numbers_as_people_write_them(tmp_path: Path) -> None:
    place = tmp_path / "people.csv"
    ROWS.to_csv(place, index=False)
    for condition in ("sex = Female", "sex in (Female, Male)", "Female <> sex"):
        assert "Put text in single quotes: 'Female'" in told(place, "--where", condition)
    assert 'Did you mean "sex"' in told(place, "--where", "sexx = 'F'")
    assert "`where:` keeps no row" in told(place, "--where", "sex = 'X'")
    assert "Write t=0.3 with a decimal point" in told(place, "--require", "t_closeness(t=0,3)")
    assert "has no name" in told(place, "--require", "t_closeness(0.3)")
    assert "k_anonymity(k=1) requires nothing" in told(place, "--require", "k_anonymity(k=1)")


def test_a_column_that_tells_everybody_apart_is_called_like_an_identifier(tmp_path: Path) -> None:
    place = tmp_path / "people.csv"
    ROWS.to_csv(place, index=False)
    asked = ["check", "--source", place, "--require", "k_anonymity(k=2)"]
    assert "id: no value occurs twice, as in an identifier" in call(*asked, "--quasi", "age,id").out
    assert "as in an identifier" not in call(*asked, "--quasi", "age,sex").out


VISITS = ROWS.assign(patient=[*(f"p{n}" for n in range(30)), *["p0"] * 10])
HINT = "patient has 30 values in 40 rows; each row was counted as one person. Add --identifier patient"


def test_an_unused_column_that_says_whose_row_it_is_and_repeats_is_named(
    engine: Engine, tmp_path: Path
) -> None:
    """With one short statement, and none where no column is named so or the person is known."""
    declared: dict[str, Any] = {"drop": ["patient"]}
    rows = VISITS.drop(columns="id")
    for drop in (declared, {}):
        with statements.listening() as heard:
            found = examine(engine, ps.Table(rows, ["age", "sex"], "ill", **drop), [ps.KAnonymity(2)])
        assert [warning for warning in found.warnings if warning.startswith(HINT)] == list(found.warnings)
        assert [one.name for one in heard].count("api/repeated") == 1
    for other in (rows.rename(columns={"patient": "ward"}), rows.assign(patient=ROWS["id"])):
        with statements.listening() as heard:
            found = examine(engine, ps.Table(other, ["age", "sex"], "ill"), [ps.KAnonymity(2)])
        assert found.warnings == ()
        assert [one.name for one in heard].count("api/repeated") == int("patient" in other)
    place = tmp_path / "visits.csv"
    rows.to_csv(place, index=False)
    asked = ["check", "--source", place, *ASKED]
    assert HINT in call(*asked).out and HINT in call(*asked, "--json").json["warnings"][0]
    more = ["--identifier", "patient", "--values-per-person", "set"]
    assert "each row was counted" not in call(*asked, *more).everything


def test_a_run_that_drops_who_a_row_is_about_says_so(tmp_path: Path) -> None:
    VISITS.to_csv(tmp_path / "visits.csv", index=False)
    (tmp_path / "privacy.yml").write_text(
        "version: 1\nname: v\nreleases:\n  out:\n    source: {file: visits.csv}\n"
        "    quasi_identifiers: [{column: sex}]\n    sensitive: {column: ill}\n    drop: [patient, id, age]\n"
        "    require: {k_anonymity: {k: 2}}\n    method: {generalise: {levels: {}}}\n"
        "    output: {target: out.csv}\n"
    )
    assert HINT in call("run", "--project", tmp_path).everything


def test_python_is_told_in_words_of_python(tmp_path: Path) -> None:
    with engines.opened() as engine:
        with pytest.raises(UsageError, match=r"age is the index of the frame; use frame.reset_index\(\)"):
            ps.check(engine, ps.Table(ROWS.set_index("age"), ["age"]), [ps.KAnonymity(2)])
        release = ps.publish(engine, ps.Table(ROWS, ["sex"], "ill"), [ps.KAnonymity(2)], ps.Generalise({}))
        ps.write(engine, release, tmp_path / "out.csv")
        with pytest.raises(UsageError, match="overwrite=True"):
            ps.write(engine, release, tmp_path / "out.csv")
        (tmp_path / "out.csv").write_text("sex,ill\nF,a\n")
        with pytest.raises(NotSafe, match="Do not pass it on"):
            ps.verify(tmp_path / "out.csv")
    again = call("check", tmp_path / "out.csv")
    assert again.everything.count("has changed since it was written") == 1 and again.exit == 1
    with pytest.raises(UsageError, match=r"ps\.Mask\(4, 3, 0\)"):
        ps.Mask([1, 0])  # type: ignore[arg-type]


def test_a_row_outside_the_domain_names_its_column() -> None:
    table = ps.Table(ROWS, ["sex"], "ill", domains={"sex": ["F", "M"], "ill": ["a", "b"]})
    with (
        engines.opened() as engine,
        pytest.raises(DataError, match="13 rows outside the declared domain of ill"),
    ):
        ps.publish(engine, table, [], ps.NoisyCounts(epsilon=1))


@pytest.mark.parametrize("epsilon", ["1e-6", "1", "1e3", "1e6", "1e18"])
def test_gaussian_noise_has_a_scale_or_a_reason_at_any_epsilon(epsilon: str) -> None:
    try:
        assert gaussian(2**0.5, Fraction(epsilon), Fraction("1e-6")).epsilon <= Fraction(epsilon)
    except PrivacySqlError as refused:
        assert refused.code == "no_scale"
