"""Beliefs of one's own, and beliefs learned from another table, against brute force from the definitions."""

from __future__ import annotations

import csv
import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.cli.main import run
from privacy_sql.errors import DataError, UsageError
from tests import engines
from tests.oracles import background_knowledge as oracle
from tests.seeds import seeds

AGES, SEXES, ILL = ["20", "30", "40"], ["F", None], ["flu", "cold", None]


def drawn(chance: random.Random, n: int) -> list[tuple[Any, ...]]:
    return [
        (chance.choice(AGES), chance.choice(SEXES), chance.choice(ILL), chance.randrange(2)) for _ in range(n)
    ]


def table(rows: list[tuple[Any, ...]], **more: Any) -> ps.Table:
    frame = pd.DataFrame(rows, columns=["age", "sex", "ill", "g"])
    kinds = {"age": ps.Intervals(10, 20), "sex": ps.AsIs()}
    return ps.Table(frame, kinds, "ill", group="g", domains={"age": (20, 60)}, **more)


def written(path: Path, header: list[str], rows: list[tuple[Any, ...]]) -> Path:
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(header)
        writer.writerows([["" if cell is None else cell for cell in row] for row in rows])
    return path


def risks(rows: list[tuple[Any, ...]], beliefs: dict[Any, dict[Any, Fraction]]) -> dict[int, Any]:
    """Group -> the largest Jensen-Shannon move, or None where somebody has no belief; by every assignment."""
    values = list(dict.fromkeys([*(r[2] for r in rows), *(v for row in beliefs.values() for v in row)]))
    found: dict[int, Any] = {}
    for g in sorted({r[3] for r in rows}):
        group = [r for r in rows if r[3] == g]
        if any((r[0], r[1]) not in beliefs for r in group):
            found[g] = None
            continue
        before = [[beliefs[r[0], r[1]].get(v, Fraction(0)) for v in values] for r in group]
        counts = [sum(r[2] == v for r in group) for v in values]
        if oracle.likelihood(before, counts) == 0:
            found[g] = None
            continue
        after = oracle.posterior(before, counts)
        found[g] = max(oracle.jensen_shannon(p, q) for p, q in zip(before, after, strict=True))
    return found


@pytest.mark.parametrize("seed", seeds(5))
def test_a_prior_from_a_file_moves_as_every_assignment_says(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    rows = drawn(chance, 7)
    kinds = sorted({(r[0], r[1]) for r in rows}, key=str)
    if chance.random() < 0.3:
        kinds = kinds[1:] or kinds
    beliefs = {}
    for kind in [*kinds, ("99", "F")]:  # a combination that nobody has says nothing
        weights = [Fraction(chance.randint(0, 3)) for _ in range(4)]
        weights[chance.randrange(3)] += 1
        beliefs[kind] = {value: w / sum(weights) for value, w in zip([*ILL, "measles"], weights, strict=True)}
    lines = [(*kind, value, str(p)) for kind, row in beliefs.items() for value, p in row.items()]
    chance.shuffle(lines)
    path = written(tmp_path / "prior.csv", ["age", "sex", "value", "probability"], lines)
    expected = risks(rows, beliefs)
    with engines.opened() as engine:
        asked = ps.BTPrivacy(t="1/2", prior={"file": str(path)}, distance="js")
        (verdict,) = ps.check(engine, table(rows), [asked]).values()
    assert verdict.points[0].group_risk == pytest.approx([expected[g] for g in sorted(expected)])
    known = [risk for risk in expected.values()]
    assert verdict.safe == all(risk is not None and risk <= 0.5 - 1e-9 for risk in known)
    without = sum((r[0], r[1]) not in beliefs for r in rows)
    assert verdict.witness["people_without_prior"] == without
    assert (f"{without} " in verdict.notes[0] and "without a prior" in verdict.notes[0]) == bool(without)


@pytest.mark.parametrize("seed", seeds(4))
def test_beliefs_learned_from_another_table_are_its_kernel_estimate(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    rows, others = (
        drawn(chance, 6),
        [(*row[:2], "mumps" if chance.random() < 0.2 else row[2]) for row in drawn(chance, 6)],
    )
    path = written(tmp_path / "other.csv", ["age", "sex", "ill"], others)
    bandwidth = Fraction(chance.choice(["0.3", "0.6", "1.2"]))
    values = list(dict.fromkeys(row[2] for row in others))
    beliefs = {}
    for kind in {(r[0], r[1]) for r in rows}:
        sums = dict.fromkeys(values, Fraction(0))
        for age, sex, ill in others:
            near = oracle.weight(Fraction(abs(int(age) - int(kind[0])), 40), bandwidth)
            sums[ill] += near * oracle.weight(Fraction((sex or None) != kind[1]), bandwidth)
        if sum(sums.values()):
            beliefs[kind] = {value: w / sum(sums.values()) for value, w in sums.items()}
    expected = risks(rows, beliefs)
    with engines.opened() as engine:
        asked = ps.BTPrivacy(
            bandwidth=str(bandwidth), t="1/2", prior={"learned_from": {"file": str(path)}}, distance="js"
        )
        (verdict,) = ps.check(engine, table(rows), [asked]).values()
    assert verdict.points[0].group_risk == pytest.approx([expected[g] for g in sorted(expected)])


def test_a_table_that_learns_from_itself_believes_what_it_believes_anyway(tmp_path: Path) -> None:
    rows = drawn(random.Random(3), 12)
    path = written(tmp_path / "same.csv", ["age", "sex", "ill"], [row[:3] for row in rows])
    with engines.opened() as engine:
        asked = [
            ps.BTPrivacy(bandwidth="0.6", t="1/2"),
            ps.BTPrivacy(bandwidth="0.6", t="1/2", prior={"learned_from": {"file": str(path)}}),
        ]
        first, second = ps.check(engine, table(rows), asked).values()
    assert first.value == pytest.approx(second.value)


def test_values_nobody_has_are_smoothed_and_carried_like_the_others(tmp_path: Path) -> None:
    """The hierarchy knows a value that nobody has; a belief in it is near its sisters."""
    illness = ps.Tree({"flu": ["air", "*"], "cold": ["air", "*"], "burn": ["skin", "*"]})
    frame = pd.DataFrame([("20", "flu", 1), ("20", "burn", 1)], columns=["age", "ill", "g"])
    subject = ps.Table(frame, ["age"], "ill", group="g", sensitive_hierarchy=illness)
    lines = [("20", "flu", "1/4"), ("20", "burn", "1/2"), ("20", "cold", "1/4")]
    path = written(tmp_path / "prior.csv", ["age", "value", "probability"], lines)
    before = {"flu": "1/4", "burn": "1/2", "cold": "1/4"}
    after = {"flu": "1/2", "burn": "1/2", "cold": "0"}
    with engines.opened() as engine:
        for measure in ("smoothed_js", "emd", "tv"):
            asked = ps.BTPrivacy(t="0.9", prior={"file": str(path)}, distance=measure)
            (verdict,) = ps.check(engine, subject, [asked]).values()
            wanted = ps.belief_distance(before, after, measure, illness)
            assert verdict.value == pytest.approx(float(wanted)), measure


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "age,sex,value,probability\n20,F,flu,0.5\n20,F,cold,0.4\n",
            "1 combination of prior.csv does not sum",
        ),
        # exactly: of decimals the last digit counts
        (
            "age,sex,value,probability\n20,F,flu,0.5\n20,F,cold,0.50000000001\n",
            "1 combination of prior.csv does not sum",
        ),
        (
            "age,sex,value,probability\n20,F,flu,0.333\n20,F,cold,0.333\n20,F,gout,0.333\n"
            "30,F,flu,1/3\n30,F,cold,2/3\n",
            "1 combination of prior.csv does not sum",
        ),
        ("age,sex,value,probability\n20,F,flu,much\n", "1 row of prior.csv is not a probability"),
        ("age,sex,value,probability\n20,F,flu,-1\n20,F,cold,2\n", "2 rows of prior.csv are not prob"),
        ("age,sex,value,probability\n20,F,flu,1/2\n20,F,flu,1/2\n", "repeats a combination"),
        ("age,value,probability\n20,flu,1\n", "lacks sex"),
        ("age,sex,job,value,probability\n", "has job"),
        ("age,sex,value,probability\n", "has no beliefs"),
        ("age,sex,value,probability\n20,F\n", "not CSV"),
    ],
)
def test_a_file_that_is_no_prior_is_refused_without_a_value_of_it(
    tmp_path: Path, text: str, message: str
) -> None:
    path = tmp_path / "prior.csv"
    path.write_text(text)
    with engines.opened() as engine, pytest.raises(DataError, match=message) as refused:
        ps.check(
            engine, table(drawn(random.Random(1), 4)), [ps.BTPrivacy(t="0.2", prior={"file": str(path)})]
        )
    assert "flu" not in str(refused.value) and refused.value.exit == 3


def test_a_prior_is_a_file_and_the_bandwidth_belongs_to_what_is_learned() -> None:
    for wrong in ("prior.csv", {"fil": "x"}, {"learned_from": "x"}, {"file": 3}, {}):
        with pytest.raises(UsageError, match="prior must name"):
            ps.BTPrivacy(t="0.2", prior=wrong)
    spelt = {"prior": {"file": "prior.csv"}, "distance": "js"}
    for more in ({"t": "0.2", "bandwidth": "0.3"}, {"skyline": [["0.3", "0.2"]]}):
        with pytest.raises(UsageError, match="needs only t"):
            ps.BTPrivacy(**more, **spelt)
    with engines.opened() as engine, pytest.raises(UsageError, match="needs only t"):
        people = table(drawn(random.Random(1), 4))
        ps.knowledge_attack(engine, people, "0.2", ["0.3"], prior={"file": "prior.csv"})
    with pytest.raises(UsageError, match="needs a bandwidth"):
        ps.BTPrivacy(t="0.2", prior={"learned_from": {"file": "x.csv"}})
    with engines.opened() as engine, pytest.raises(UsageError, match="no file"):
        ps.check(engine, table(drawn(random.Random(1), 4)), [ps.BTPrivacy(t="0.2", prior={"file": "no.csv"})])


PROJECT = """
version: 1
releases:
  people:
    source: {file: people.csv}
    quasi_identifiers:
      - {column: age, hierarchy: {intervals: [10, 20]}}
      - {column: sex, hierarchy: keep_or_drop}
    sensitive: {column: ill}
    require: {bt_privacy: {t: 0.9, posterior: estimate, prior: {file: knows/prior.csv}}}
    method: {generalise: {levels: {age: 2, sex: 1}}}
    output: {target: out/people.csv}
"""


def test_a_project_and_the_attack_take_a_prior_and_no_manifest_tells_its_path(tmp_path: Path) -> None:
    chance = random.Random(2)
    rows = [(chance.choice(AGES), chance.choice("FM"), chance.choice(["flu", "cold"])) for _ in range(40)]
    written(tmp_path / "people.csv", ["age", "sex", "ill"], rows)
    (tmp_path / "knows").mkdir()
    lines = [(*kind, value, "1/2") for kind in sorted({r[:2] for r in rows}) for value in ("flu", "cold")]
    path = written(tmp_path / "knows" / "prior.csv", ["age", "sex", "value", "probability"], lines)
    (tmp_path / "privacy.yml").write_text(PROJECT)
    ran = run(["run", "--project", str(tmp_path)])
    assert ran.exit == 0, ran.errors
    told = (tmp_path / "out" / "people.csv.manifest.json").read_text()
    assert "prior.csv" in told and "knows" not in told and str(tmp_path) not in told
    words = ["attack", "knowledge", "--project", str(tmp_path), "--posterior", "omega", "--json"]
    found = json.loads(json.dumps(run([*words, "--prior", str(path)]).to_json()))["attacks"][0]["adversaries"]
    assert [a["without_prior"] for a in found] == [0] and found[0]["bandwidth"] == "prior.csv"
    written(path, ["age", "sex", "value", "probability"], lines[:2])
    outcome = run([*words[:-1], "--prior", str(path)])
    assert any("without a prior" in line for line in outcome.lines)
    other = ["--learned-from", str(tmp_path / "people.csv"), "--bandwidth", "0.3"]
    same, anyway = (
        json.loads(json.dumps(run([*words, *more]).to_json()))["attacks"][0]["adversaries"][0]["max_risk"]
        for more in (other, other[2:])
    )
    assert same == pytest.approx(anyway)
    assert run([*words, "--prior", str(path), "--bandwidth", "0.3"]).exit == 2
    target = PROJECT.replace("out/people.csv", "knows/prior.csv")
    (tmp_path / "privacy.yml").write_text(target)
    assert run(["run", "--project", str(tmp_path), "--overwrite"]).exit == 2
