"""Typical calls of the house: check, publish, write, and the verbs of the command line."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pandas as pd

import privacy_sql as ps
from privacy_sql.cli.main import run as run_command
from privacy_sql.counted.base import count
from privacy_sql.criteria import make
from privacy_sql.project import example
from privacy_sql.studies import groups_of, worst_facts
from tests import cases as reading
from tests.calls import workers
from tests.conftest import cases


def criteria(engine: ps.Engine) -> None:
    """Every case of every criterion, and the witness behind it."""
    for parameter in cases("criteria"):
        name, case = parameter.values
        for verdict in ps.check(engine, reading.table(case), [make(name, case["params"])]).values():
            verdict.witness.reveal()


def people(engine: ps.Engine) -> None:
    """A table that names its people."""
    rows = pd.DataFrame({"id": ["p1", "p2"], "age": ["30", "30"], "s": ["a", "b"]})
    ps.check(engine, ps.Table(rows, ["age"], "s", identifier="id"), [ps.KAnonymity(2)])


def known(engine: ps.Engine) -> None:
    """Columns published as they are: what they single out, and requirements held with and without them."""
    rows = pd.DataFrame(
        {"id": ["p1", "p1", "p2"], "age": ["30"] * 3, "pay": ["1", "1", "2"], "s": [*"ab", None]}
    )
    several = {"identifier": "id", "values_per_person": "set"}
    ps.baseline(engine, ps.Table(rows, ["age"], "s", insensitive=["pay"], **several))
    table = workers(insensitive={"columns": ["pay"], "known": True}, pay=["1", "1", "2", "2"] * 2)
    ps.check(engine, table, [ps.BTPrivacy([["0.5", "0.9"]])])


def conditions(engine: ps.Engine) -> None:
    """A condition on the rows, and keys too many to be packed into one integer."""
    rows = pd.DataFrame({f"c{number}": [str(row) for row in range(20)] for number in range(16)})
    table = ps.Table(rows, list(rows), where="c1 <> '30' and c2 not in (31, 32)")
    ps.check(engine, table, [ps.KAnonymity(1)])


def fractions(engine: ps.Engine) -> None:
    """A column in bands of whole numbers that holds a fraction."""
    count(engine, ps.Table(pd.DataFrame({"kg": ["60", "61.5", None]}), {"kg": ps.Intervals(5)}))


def published(engine: ps.Engine) -> None:
    """Both ways to publish at chosen levels, to every kind of target."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for number, method in enumerate((ps.Generalise({"job": 1}, "0.9"), ps.Bucketize({"job": 1}))):
            release = ps.publish(engine, workers(), [ps.KAnonymity(2)], method)
            for ending in ("csv", "parquet"):
                ps.verify(ps.write(engine, release, place / f"{number}.{ending}"))
            for verdict in release.verdicts.values():
                verdict.witness.reveal()
            ps.write(engine, release, f"table:t{number}", manifest_to=place / f"{number}.manifest.json")


def projects(engine: ps.Engine) -> None:
    """The verbs of the command line on the example, and on one whose hierarchy misses a value."""
    with tempfile.TemporaryDirectory() as folder:
        example.write(Path(folder))
        for verb in ("check", "profile", "show", "run", "compile"):
            run_command([verb, "--project", folder])
        hierarchy = Path(folder) / "hierarchies" / "education.csv"
        hierarchy.write_text("".join(hierarchy.read_text().splitlines(keepends=True)[1:]))
        run_command(["run", "--project", folder, "--overwrite"])


def misspelt(engine: ps.Engine) -> None:
    """A requirement about a value that does not occur: the nearest one is listed in a private file."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "people.csv").write_text("age,illness\n30,flu\n31,cold\n")
        (Path(folder) / "privacy.yml").write_text(
            "version: 1\nreleases:\n  people:\n    source: {file: people.csv}\n"
            "    quasi_identifiers: [age]\n    sensitive: illness\n"
            "    method: {full_domain: {}}\n    output: {target: out.csv}\n"
            "    require: {ck_safety: {c: 1, k: 0, per_value: {fly: {c: 0.5, k: 0}}}}\n"
        )
        run_command(["run", "--project", folder])


def named(engine: ps.Engine) -> None:
    """Who is meant by the worst facts of a table that names its people."""
    rows = pd.DataFrame({"id": ["p1", "p2", "p3"], "age": ["30"] * 3, "s": ["a", "a", "b"]})
    table = ps.Table(rows, ["age"], "s", identifier="id")
    (verdict,) = ps.check(engine, table, [ps.CKSafety("1/2", 1)]).values()
    assert worst_facts.replay(groups_of(engine, table), verdict)


def proposals(engine: ps.Engine) -> None:
    """A project proposed for a file, a hierarchy of it to fill in, and the columns that identify."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "people.csv"
        place.write_text("age,job,illness\n" + "".join(f"{n},j{n % 3},{'ab'[n % 2]}\n" for n in range(20)))
        run_command(["init", "--from", str(place), folder])
        run_command(["init", "--hierarchy", "job", "--project", folder])
    ps.identify(engine, workers(), 2)


def weights(engine: ps.Engine) -> None:
    """What survey weights estimate, which stands beside the risk and is required of nobody."""
    people = pd.DataFrame({"age": ["2*", "2*", "3*"], "w": [3, 4, 50]})
    ps.risk(engine, ps.Table(people, ["age"], weight="w"))


def scans(engine: ps.Engine) -> None:
    """What looks like an identifier, with a list of areas and without."""
    rows = pd.DataFrame({"zip": ["021", None], "seen": pd.to_datetime(["2024-03-05", None])})
    table = ps.Table(rows, ["zip", "seen"])
    ps.safe_harbor(engine, table)
    ps.safe_harbor(engine, table, areas=pd.DataFrame({"zip3": ["021"], "people": [700_000]}))
