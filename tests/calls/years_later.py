"""Calls about people who have changed since a release of ours, and about columns that nobody named."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pandas as pd

import privacy_sql as ps
from privacy_sql.cli.main import run as run_command
from privacy_sql.history import group_contents
from privacy_sql.history.register import Register


def changed(engine: ps.Engine) -> None:
    """Whoever has changed is found by labels; a centre may be anybody's."""
    quasi = {"age": ps.Intervals(10)}
    before, now = (
        ps.Table(pd.DataFrame({"age": ages, "s": ["x", "y", "x", "y"]}), quasi, "s", name="people")
        for ages in (["21", "22", "31", "32"], ["22", "23", "32", "33"])
    )
    with tempfile.TemporaryDirectory() as folder:
        for number, method in enumerate((ps.Microaggregate(2), ps.Multidimensional())):
            register = Register(Path(folder) / f"{number}.jsonl")
            release = ps.publish(engine, before, [ps.KAnonymity(2)], method)
            place = ps.write(engine, release, Path(folder) / f"{number}.csv")
            register.keep("people", place, private=group_contents.writer(release))
            together = ps.Composition("register", register=str(register.path))
            ps.publish(engine, now, [together], ps.Generalise({"age": 1}))


def shown_by_name(engine: ps.Engine) -> None:
    """A release that shows who is who, whose people have several values."""
    rows = pd.DataFrame({"who": ["p", "p", "q"], "age": ["20"] * 3, "s": ["x", "y", "x"]})
    other = {"relation": rows, "sensitive": "s", "columns": ["who"]}
    table = ps.Table(rows, {"age": None}, "s", identifier="who", values_per_person="set")
    ps.check(engine, table, [ps.Composition([other])])


def unused(engine: ps.Engine) -> None:
    """A column that nobody named, and that says whose row it is."""
    rows = pd.DataFrame({"patient": [f"p{n // 2}" for n in range(40)], "age": ["30"] * 40, "s": [*"ab"] * 20})
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "visits.csv"
        rows.to_csv(place, index=False)
        asked = ["--quasi", "age", "--sensitive", "s", "--require", "k_anonymity(k=2)"]
        run_command(["check", "--source", str(place), *asked])
