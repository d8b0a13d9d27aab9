"""`privacy-sql risk`, of a table and of every release of a project, and the same numbers in the report."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.cli.main import run
from tests import engines
from tests.oracles import risks as oracle
from tests.seeds import seeds

AGES = ["2*"] * 12 + ["3*"] * 3


def people(folder: Path) -> list[str]:
    rows = "".join(f"{age},{n % 2}\n" for n, age in enumerate(AGES))
    (folder / "people.csv").write_text(f"age,home\n{rows}")
    (folder / "everybody.csv").write_text("age\n" + "".join(f"{age}\n" for age in [*AGES, "3*", "4*"]))
    return ["--source", str(folder / "people.csv"), "--quasi", "age"]


def test_risks_are_those_of_every_person_for_each_adversary(tmp_path: Path) -> None:
    population = [*AGES, "3*", "4*"]
    words = [*people(tmp_path), "--population", str(tmp_path / "everybody.csv"), "--threshold", "0.3"]
    outcome = run(["risk", *words])
    assert (outcome.exit, outcome.rows, outcome.groups) == (0, 15, 2)
    (found,) = outcome.more["risks"]
    tau = Fraction("0.3")
    for name, measure, adversary in (
        ("prosecutor_max", "maximum", "prosecutor"),
        ("prosecutor_average", "average", "prosecutor"),
        ("journalist_max", "maximum", "journalist"),
        ("journalist_average", "average", "journalist"),
        ("marketer", "average", "marketer"),
    ):
        assert Fraction(found[name]) == oracle.measured(measure, AGES, population, adversary, tau), name
    for name, adversary in (("above", "prosecutor"), ("journalist_above", "journalist")):
        expected = oracle.measured("above", AGES, population, adversary, tau)
        assert {t: Fraction(share) for t, share in found[name].items()} == {"0.3": expected}
    assert found["asks_for"] == {"0.3": 4}
    assert "0.3 needs 4 people" in "\n".join(outcome.lines)


def test_a_threshold_that_is_no_risk_is_a_usage_error(tmp_path: Path) -> None:
    for threshold in ("0", "x", "2", "nan"):
        assert run(["risk", *people(tmp_path), "--threshold", threshold]).exit == 2


def test_the_report_shows_the_risks_of_the_people_who_are_published(tmp_path: Path) -> None:
    people(tmp_path)
    (tmp_path / "privacy.yml").write_text(
        "version: 1\nname: p\nreleases:\n  out:\n    source: {file: people.csv}\n"
        "    quasi_identifiers: [{column: age}, {column: home}]\n"
        "    require: {reidentification_risk: {at_most: 0.2, above: 0.4}}\n"
        "    method: {generalise: {max_suppressed: 0.2}}\n    output: {target: out.csv}\n"
    )
    done = run(["run", "--project", str(tmp_path)])
    assert done.exit == 0, done.errors
    left = [tuple(line.split(",")) for line in (tmp_path / "out.csv").read_text().split()[1:]]
    told = json.loads((tmp_path / "target" / "records" / "out.json").read_text())["run"]["risk"]
    assert Fraction(told["prosecutor_max"]) == max(oracle.of_people(left))
    assert Fraction(told["suppressed"]) == Fraction(len(AGES) - len(left), len(AGES))
    made = run(["report", "--project", str(tmp_path), "--audience", "internal"])
    assert made.exit == 0, made.errors
    page = next((tmp_path / "target").rglob("out.html")).read_text()
    assert "0.09 asks for 12 people" in page and "nothing was required" in page and "Singling out" in page


SEVERAL = """
version: 1
name: p
releases:
  out:
    source: {file: visits.csv}
    identifier: {column: who}
    quasi_identifiers: [{column: age}]
    sensitive: {column: ill, values_per_person: %s}
    require: {k_anonymity: {k: 3}}
    method: {generalise: {levels: {age: 0}, max_suppressed: 0.9}}
    output: {target: out.csv}
"""


@pytest.mark.parametrize("kind", ["set", "multiset"])
def test_of_people_with_several_rows_the_people_left_out_are_counted(tmp_path: Path, kind: str) -> None:
    """Seven people stay; one with five rows and one with a row leave: six rows, of two people."""
    ages = [(who, "3*" if who < 4 else "4*") for who in range(7)] + [(7, "5*"), (8, "6*")]
    rows = [f"{who},{age},{ill}" for who, age in ages for ill in ("flu", "gout")[: 1 + who % 2]]
    rows += [f"7,5*,{ill}" for ill in ("cold", "asthma", "flu")]
    (tmp_path / "visits.csv").write_text("who,age,ill\n" + "\n".join(rows) + "\n")
    (tmp_path / "privacy.yml").write_text(SEVERAL % kind)
    (before,) = run(["risk", "--project", str(tmp_path)]).more["risks"]
    assert (before["people"], before["suppressed"]) == (7, "2/9")
    points = run(["search", "--frontier", "--project", str(tmp_path)]).more["searches"]
    assert [one["suppressed"] for one in points[0]["frontier"] if one["levels"] == {"age": 0}] == [2]
    assert run(["run", "--project", str(tmp_path)]).exit == 0
    written = json.loads((tmp_path / "target" / "records" / "out.json").read_text())["run"]
    assert written["risk"]["suppressed"] == "2/9" and written["suppressed"] > 2
    assert run(["report", "--project", str(tmp_path), "--audience", "internal"]).exit == 0
    page = next((tmp_path / "target").rglob("out.html")).read_text()
    assert "22.2 % of the people were left out" in page


PUBLISHED = """
version: 1
name: p
releases:
  out:
    source: {file: people.csv}
    quasi_identifiers: [{column: age}, {column: home}]
    require: {k_anonymity: {k: 3}}
    method: {generalise: {max_suppressed: 0.2}}
    output: {target: out.csv}
    determination: {threshold: 1/7}
"""


def test_a_published_file_is_measured_from_its_own_bytes(tmp_path: Path) -> None:
    people(tmp_path)
    (tmp_path / "privacy.yml").write_text(PUBLISHED)
    assert run(["run", "--project", str(tmp_path)]).exit == 0
    (tmp_path / "people.csv").unlink()  # nothing but what is out is read
    left = [tuple(line.split(",")) for line in (tmp_path / "out.csv").read_text().split()[1:]]
    for named in ("out.csv", "out.csv.manifest.json"):
        outcome = run(["risk", str(tmp_path / named), "--threshold", "0.2"])
        assert outcome.exit == 0, outcome.errors
        (found,) = outcome.more["risks"]
        risks = oracle.of_people(left)
        assert Fraction(found["prosecutor_max"]) == max(risks)
        assert Fraction(found["prosecutor_average"]) == sum(risks, Fraction(0)) / len(risks)
        for threshold in ("0.2", "1/7"):
            over = sum(risk > Fraction(threshold) for risk in risks)
            assert Fraction(found["above"][threshold]) == Fraction(over, len(risks))
        assert "suppressed" not in found  # the manifest tells it in whole steps
    scan = run(["risk", str(tmp_path / "out.csv"), "--safe-harbor"])
    assert scan.exit == 0 and scan.more["safe_harbor"][0]["people"] == len(left)


WAYS = [
    ps.FullDomain(max_suppressed="0.2"),
    ps.FullDomain(max_suppressed="0.2", local_recoding=True),
    ps.FullDomain(max_suppressed="0.2", suppress="cells"),
    ps.Multidimensional(),
]


@pytest.mark.widens(4)
@pytest.mark.parametrize("seed", seeds(4))
@pytest.mark.parametrize("method", WAYS, ids=["rows", "local", "cells", "boxes"])
@pytest.mark.parametrize("said", [{}, {"known": True}, {"acknowledge": "nobody knows it"}], ids=str)
def test_every_kind_of_published_rows_has_the_risks_of_its_people(
    tmp_path: Path, seed: int, method: Any, said: dict[str, Any]
) -> None:
    """By the labels in the file, missing ones too, and again for somebody who also knows the open column."""
    draw = random.Random(f"{seed} {said}")
    rows = [
        (str(draw.randint(20, 60)), draw.choice(["a", "b", None]), draw.choice("pq"), draw.choice("xyz"))
        for _ in range(draw.randint(30, 120))
    ]
    rows += rows[:10]
    frame = pd.DataFrame(rows, columns=["age", "job", "town", "ill"], dtype=object)
    free: Any = {"columns": ["town"], **said} if said else ()
    shown = frame if said else frame.drop(columns="town")
    quasi = {"age": ps.Intervals(5, 10), "job": ps.KeepOrDrop()}
    with engines.opened() as engine:
        release = ps.publish(
            engine, ps.Table(shown, quasi, "ill", insensitive=free), [ps.KAnonymity(2)], method
        )
        ps.write(engine, release, tmp_path / "out.csv")
        in_memory = ps.risk(engine, release)
    outcome = run(["risk", str(tmp_path / "out.csv")])
    assert outcome.exit == 0, outcome.errors
    (found,) = outcome.more["risks"]
    out = pd.read_csv(tmp_path / "out.csv", dtype=str, keep_default_na=False)
    readers = [(found, in_memory, ["age", "job"])]
    if said:
        readers.append((found["known"], in_memory["known"], ["age", "job", "town"]))
    for told, before, columns in readers:
        people = [tuple(row) for row in out[columns].itertuples(index=False)]
        risks = oracle.of_people(people)
        assert (told["people"], told["groups"]) == (len(people), len(set(people)))
        assert Fraction(told["prosecutor_max"]) == max(risks)
        assert Fraction(told["prosecutor_average"]) == sum(risks, Fraction(0)) / len(risks)
        for limit, share in told["above"].items():
            assert Fraction(share) == Fraction(sum(risk > Fraction(limit) for risk in risks), len(risks))
        assert all(told[name] == before[name] for name in ("prosecutor_max", "prosecutor_average", "above"))
    left_out = Fraction(len(rows) - len(out), len(rows))
    assert Fraction(found["suppressed_at_least"]) <= left_out == Fraction(in_memory["suppressed"])


def test_a_published_file_that_was_changed_is_not_measured(tmp_path: Path) -> None:
    people(tmp_path)
    (tmp_path / "privacy.yml").write_text(PUBLISHED)
    assert run(["run", "--project", str(tmp_path)]).exit == 0
    with (tmp_path / "out.csv").open("a") as out:
        out.write("9*,1\n")
    for more in ([], ["--safe-harbor"]):
        assert run(["risk", str(tmp_path / "out.csv"), *more]).exit == 1
    assert run(["risk", str(tmp_path / "out.csv"), "--quasi", "age"]).exit == 2
