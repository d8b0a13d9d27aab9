"""Spark in one session: every template on a safe, an unsafe, a tied and a NULL table, and what leaves it."""

from __future__ import annotations

import importlib.util
import itertools
import logging
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql import registry
from privacy_sql.counted.base import count
from privacy_sql.criteria import make
from privacy_sql.errors import EngineError, NotSafe, UsageError
from privacy_sql.project import example
from tests import canaries, engines, killed_runs, test_docs
from tests import cases as reading
from tests.conftest import ROOT, cases
from tests.counted import test_fingerprints
from tests.engines import odd_people, server

# one session for all: starting it takes longer than most tests
SETTINGS = {
    "spark.sql.shuffle.partitions": "1",
    "spark.default.parallelism": "1",
    "spark.driver.memory": "2g",
}


def opened() -> ps.Engine:
    try:
        import pyspark  # noqa: F401
    except ImportError:
        server.missing("spark", 'needs pyspark: pip install -e ".[spark]", and Java 17')
    return ps.connect("spark:local[2]", travel=0, settings=SETTINGS)


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    with opened() as made:
        yield made
    made.connection.stop()


@pytest.fixture
def spark(session: Any, request: pytest.FixtureRequest) -> Any:
    request.node.user_properties.append(("engine", "spark"))
    return session


KINDS = ("safe", "unsafe", "null", "tie")


def kinds(name: str, case: dict[str, Any]) -> list[str]:
    """What a case shows: a verdict, a NULL, a value at its limit."""
    limit = getattr(make(name, case["params"]), "limit", None)
    tied = limit is not None and case.get("value") == str(limit)
    found = ["safe" if case["safe"] else "unsafe"]
    found += ["null"] if "null" in case["rows"] else []
    return found + (["tie"] if tied or "exactly" in case["name"] else [])


def chosen() -> list[Any]:
    """Per criterion the first case of each kind."""
    found: dict[tuple[str, str], Any] = {}
    for parameter in cases("criteria"):
        for kind in kinds(*parameter.values):
            found.setdefault((parameter.values[0], kind), parameter)
    missing = set(itertools.product(registry.available("criteria"), KINDS)) - set(found)
    assert not missing, f"no case for {sorted(missing)}"
    return list({parameter.id: parameter for parameter in found.values()}.values())


@pytest.mark.parametrize(("name", "case"), chosen())
def test_spark_says_what_the_case_says(spark: Any, name: str, case: dict[str, Any]) -> None:
    criterion = make(name, case["params"])
    verdict = ps.check(spark, reading.table(case), [criterion])[str(criterion)]
    assert verdict.safe is case["safe"]
    if isinstance(case.get("value"), float):
        assert verdict.value == pytest.approx(case["value"], abs=1e-9)
    elif case.get("value", "none") != "none":
        assert verdict.value == Fraction(str(case["value"]))


def people() -> ps.Table:
    rows = {
        "age": ["30", "31", "41", None] * 4,
        "job": ["a", "b"] * 8,
        "ill": ["flu", "cold", "flu", None] * 4,
    }
    return ps.Table(pd.DataFrame(rows), {"age": ps.Intervals(5, 10), "job": ps.KeepOrDrop()}, "ill")


METHODS: dict[str, Any] = {
    "generalise": ps.Generalise({"age": 2, "job": 1}),
    "full_domain": ps.FullDomain(),
    "multidimensional": ps.Multidimensional(),
    "bucketize": ps.Bucketize({"age": 3}),
    "marginals": ps.Marginals(collection=[{"age": 2, "job": 0}, {"job": 0, "ill": 0}]),
}


@pytest.mark.parametrize("name", METHODS)
def test_a_method_leaves_the_same_rows_as_on_duckdb(spark: Any, tmp_path: Path, name: str) -> None:
    require = ps.KLink(2) if name == "marginals" else ps.KAnonymity(2)
    written = []
    with engines.opened() as embedded:
        for number, engine in enumerate((embedded, spark)):
            release = ps.publish(engine, people(), [require], METHODS[name])
            assert release.safe
            ps.verify(ps.write(engine, release, tmp_path / f"{number}.csv"))
            files = sorted(tmp_path.glob(f"{number}*.csv"))
            written.append([sorted(map(tuple, pd.read_csv(f, dtype=str).fillna("").values)) for f in files])
    if name != "bucketize":  # buckets are numbered by chance
        assert written[0] == written[1]


def test_everything_runs_on_spark_when_duckdb_is_not_there(
    spark: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    with engines.without_duckdb(monkeypatch):
        for number, method in enumerate(METHODS.values()):
            require = ps.KLink(2) if isinstance(method, ps.Marginals) else ps.KAnonymity(2)
            release = ps.publish(spark, people(), [require], method)
            assert release.safe
            ps.verify(ps.write(spark, release, tmp_path / f"{number}.parquet"))


def test_parquet_is_published_as_a_folder_that_appears_whole(
    spark: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    release = ps.publish(spark, people(), [ps.KAnonymity(2)], METHODS["generalise"])
    target = tmp_path / "out.parquet"
    seen: list[list[str]] = []
    with monkeypatch.context() as patch:
        patch.setattr(
            "privacy_sql.publishing.audit.audit",
            lambda *_: seen.append(list(map(str, tmp_path.iterdir()))) or 1 / 0,
        )
        with pytest.raises(ZeroDivisionError):
            ps.write(spark, release, target)
    # while it was audited it had another name, and was private; nothing is left of it
    assert len(seen[0]) == 1 and str(target) not in seen[0]
    assert list(tmp_path.iterdir()) == []
    manifest = ps.write(spark, release, target)
    assert target.is_dir() and all(file.suffix == ".parquet" for file in target.iterdir())
    ps.verify(target)
    with pytest.raises(UsageError, match="exists"):
        ps.write(spark, release, target)
    ps.write(spark, release, target, overwrite=True)
    # it is read again as a source, whole
    again = ps.check(spark, ps.Table(target, ["age", "job"], "ill"), [ps.KAnonymity(2)])
    assert again["k_anonymity(k=2)"].value == release.verdicts["k_anonymity(k=2)"].value
    (target / "part-more.parquet").write_bytes(b"more")
    with pytest.raises(NotSafe):
        ps.verify(manifest)


def test_counts_travel_and_parquet_goes_in_and_out(spark: Any, tmp_path: Path) -> None:
    people().source.to_parquet(tmp_path / "in.parquet")
    table = ps.Table(tmp_path / "in.parquet", people().hierarchies, "ill")
    spark.travel = 1000
    try:
        base = count(spark, table)
        assert type(base.engine).__name__ == "Travelled"
        release = ps.publish(spark, table, [ps.KAnonymity(2)], ps.FullDomain())
        ps.verify(ps.write(spark, release, tmp_path / "out.parquet"))
    finally:
        spark.travel = 0
    assert len(pd.read_parquet(tmp_path / "out.parquet")) == 16


def test_a_table_that_fails_its_audit_is_taken_away_again(
    spark: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    release = ps.publish(spark, people(), [ps.KAnonymity(2)], METHODS["generalise"])
    place = tmp_path / "m.manifest.json"
    with monkeypatch.context() as patch:
        patch.setattr("privacy_sql.publishing.audit.audit", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            ps.write(spark, release, "table:published", manifest_to=place)
    assert spark.connection.sql("show tables").where("not isTemporary").count() == 0
    ps.write(spark, release, "table:published", manifest_to=place)
    ps.verify(place, spark)
    spark.drop_table("published")


@pytest.mark.parametrize("form", killed_runs.ON_SPARK if killed_runs.NIGHTLY else ("folder", "spark"))
def test_two_kills_in_a_row_at_any_operations_leave_the_old_release_or_the_new_one(
    tmp_path: Path, form: str
) -> None:
    """Of a folder and of a table, whose cluster lives on; of several of either at night."""
    server.missing("spark", "needs pyspark") if importlib.util.find_spec("pyspark") is None else None
    assert killed_runs.broken(form, tmp_path, 1) == ""


def test_odd_names_and_values_are_counted_and_published_as_they_are(spark: Any, tmp_path: Path) -> None:
    assert odd_people.told(spark, tmp_path) == (2, odd_people.expected())


def test_the_fingerprint_is_that_of_duckdb_and_tells_null_from_an_empty_text(spark: Any) -> None:
    with engines.opened() as embedded:
        for rows in (test_fingerprints.ROWS, *test_fingerprints.CHANGED.values()):
            found = test_fingerprints.marks(spark, rows)
            assert found == test_fingerprints.marks(embedded, rows)
            assert (found == test_fingerprints.marks(spark, test_fingerprints.ROWS)) is (
                rows == test_fingerprints.ROWS
            )


def test_the_walk_through_prints_what_it_says(spark: Any, tmp_path: Path, monkeypatch: Any) -> None:
    example.write(tmp_path)
    monkeypatch.chdir(tmp_path)
    people = pd.read_csv("data/people.csv", dtype=str)
    people.to_parquet("data/people.parquet")
    test_docs.run(ROOT / "docs" / "walkthroughs" / "spark.md")


def test_what_is_not_there_is_said_without_its_text(spark: Any) -> None:
    with pytest.raises(UsageError, match="no file or relation"):
        ps.check(spark, ps.Table("nowhere", ["a"]), [ps.KAnonymity(2)])
    with pytest.raises(ps.PrivacySqlError) as problem:
        spark.fetch(ps.Query("select cast('secret' as bigint) as n"))
    assert "secret" not in str(problem.value)
    with pytest.raises(EngineError, match="does not exist"):
        spark.fetch(ps.Query("select a from nowhere"))


# -- no cell in anything that is said or left; tests/test_leaks_everywhere.py asks the other engines


@pytest.fixture
def leaking(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A project whose every cell is a canary, its rows in a table of Spark."""
    (tmp_path / "spill").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "spill"))
    monkeypatch.chdir(tmp_path)
    rows = spark.connection.createDataFrame(canaries.ROWS, list(canaries.COLUMNS))
    rows.createOrReplaceTempView("people")
    yield canaries.project(tmp_path, "spark")
    spark.connection.catalog.dropTempView("people")
    spark.drop_table("published")


VERBS = {
    verb: words for verb, words in canaries.verbs("spark:").items() if verb not in canaries.EMBEDDED_ONLY
}


@pytest.mark.parametrize("verb", sorted(set(VERBS) - canaries.SILENT_ON_ROWS))
def test_no_class_of_error_in_any_verb_shows_a_row(leaking: Path, verb: str) -> None:
    from py4j import protocol
    from pyspark import errors

    from privacy_sql.engines.spark import Spark

    faults = canaries.faults(errors.PySparkException, errors) | canaries.faults(protocol.Py4JError, protocol)
    canaries.tried(Spark, verb, VERBS[verb], faults, later=(4,))
    assert canaries.silent(verb, VERBS[verb]) in (0, 1)
    assert not canaries.holding(leaking)


@pytest.mark.parametrize("text", canaries.BROKEN.values(), ids=canaries.BROKEN)
def test_an_error_spark_makes_itself_shows_no_row(
    spark: Any, leaking: Path, text: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG, "privacy_sql")
    assert canaries.provoked(spark, text, leaking) == 8
    assert canaries.MARK not in caplog.text + "".join(capfd.readouterr())
    assert not canaries.holding(leaking)


@pytest.mark.usefixtures("session")
def test_java_writes_no_row_to_the_terminal(tmp_path: Path) -> None:
    """A worker that fails in a program of its own: what Java prints goes past Python."""
    canaries.project(tmp_path)
    words = ["check", "--connect", "spark:local[1]", "--source", "people.csv", "--quasi", "age"]
    words += ["--where", "cast(illness as bigint) > 3", "--require", "k_anonymity(k=2)"]
    program = [sys.executable, "-c", "from privacy_sql.cli.main import main; main()", *words]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(program, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 3, done.stderr
    assert canaries.MARK not in done.stdout + done.stderr
    assert not canaries.holding(tmp_path)


@pytest.mark.parametrize(("name", "alike"), [("p[1]", "p1"), ("a*", "ab"), ("q?", "qr"), ("{x,y}", "x")])
def test_a_name_with_characters_of_a_pattern_is_the_name_of_one_file(
    spark: Any, tmp_path: Path, name: str, alike: str
) -> None:
    for stem, ages in ((name, ["20", "21"]), (alike, ["30", "30"])):
        pd.DataFrame({"age": ages}).to_parquet(tmp_path / f"{stem}.parquet")
    for stem, least in ((name, 1), (alike, 2)):
        (found,) = ps.check(
            spark, ps.Table(tmp_path / f"{stem}.parquet", ["age"]), [ps.KAnonymity(2)]
        ).values()
        assert found.value == least
    (found,) = ps.check(spark, ps.Table(tmp_path, ["age"]), [ps.KAnonymity(1)]).values()
    assert found.value == 1
