"""What people read is what is true: no number rounded onto another one, no word for what did not happen."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from privacy_sql.display.rounding import as_asked, as_float, decimals, percent, shown
from privacy_sql.errors import UsageError
from privacy_sql.project.fields import load
from privacy_sql.reporting.sections import Material, background, options, skyline
from privacy_sql.reporting.words import limit, value
from tests.command_line import call

PROJECT: dict[str, Any] = {
    "source": {"file": "people.csv"},
    "quasi_identifiers": [{"column": "age", "hierarchy": {"intervals": ["10", "20", "40"]}}, "sex"],
    "sensitive": {"column": "illness"},
    "require": {"k_anonymity": {"k": "5"}},
    "method": {"generalise": {"levels": {"age": "2"}, "max_suppressed": "0.1"}},
    "output": {"target": "out/people.csv"},
}


def project(folder: Path, *rare: str, **changed: Any) -> Path:
    """A project of 60 people, and some in a group of their own."""
    draw = random.Random(8)
    rows = [f"{draw.choice([30, 50])},{draw.choice('FM')},{draw.choice('abc')}" for _ in range(60)]
    (folder / "people.csv").write_text("\n".join(["age,sex,illness", *rows, *rare]) + "\n")
    releases = {"people": {**PROJECT, **changed}}
    (folder / "privacy.yml").write_text(json.dumps({"version": "1", "name": "p", "releases": releases}))
    return folder


def test_a_number_is_never_written_as_a_whole_number_or_a_limit_that_it_only_comes_near() -> None:
    draw = random.Random(18)
    for _ in range(2000):
        below = Fraction(draw.randrange(1, 10**6), 10 ** draw.randrange(6, 15))
        near = draw.choice([below, 1 - below, 4 + below, 5 - below])
        for text in (shown(near), decimals(near, 4), percent(near).removesuffix(" %")):
            assert Fraction(text).denominator != 1, (near, text)
        border = Fraction(draw.randrange(1, 100), 100)
        found = border - Fraction(draw.randrange(1, 1000), 10 ** draw.randrange(4, 9))
        assert Fraction(shown(found, beside=border)) != border
        told = {"value_float": float(found), "limit": str(border), "relation": "<", "unit": "share"}
        assert value(told) not in limit(told)
        above = found + 2 * (border - found)
        for near in (found, above):
            assert (Fraction(shown(near, beside=border)) < border) == (near < border)
        assert Fraction(as_asked(found)) == found
    assert as_float(1 - Fraction(1, 10**30)) < 1 == as_float(1)


def test_a_curve_says_one_only_of_certainty(tmp_path: Path) -> None:
    place = tmp_path / "people.csv"
    place.write_text("age,illness\n" + "1,a\n" * 99_998 + "1,b\n" * 2)
    told = call("curve", "--source", place, "--quasi", "age", "--sensitive", "illness", "--facts", "1")
    # nothing known, and one fact: that somebody does not have b
    line, certain = (line for line in told.out.splitlines() if line.split()[:1] in (["0"], ["1"]))
    assert line.count("0.99998") == 2 and line.count("#") < certain.count("#")
    assert certain.count("1.0000") == 2


def test_nothing_is_called_published_that_was_not(tmp_path: Path) -> None:
    project(tmp_path, "99,F,a", method={"generalise": {"levels": {"age": "2"}}})
    told = call("run", "--project", tmp_path)
    assert told.exit == 1 and "NOT SAFE: nothing was published" in told.out
    assert "61 rows in, nothing published" in told.out and "61 published" not in told.out
    project(tmp_path)
    dry = call("run", "--project", tmp_path, "--dry-run")
    assert dry.exit == 0 and "60 to publish" in dry.out and "60 published" not in dry.out
    assert "60 published" in call("run", "--project", tmp_path).out


def test_a_target_that_is_there_is_refused_without_calling_the_release_unsafe(tmp_path: Path) -> None:
    connections = {"default": {"type": "duckdb", "path": "people.db"}}
    for output in ({"target": "out/people.csv"}, {"relation": "people_public"}):
        project(tmp_path, output=output)
        whole = json.loads((tmp_path / "privacy.yml").read_text())
        (tmp_path / "privacy.yml").write_text(json.dumps({**whole, "connections": connections}))
        assert call("run", "--project", tmp_path).exit == 0
        told = call("run", "--project", tmp_path)
        assert told.exit == 2 and "NOT SAFE" not in told.everything and "published," not in told.out
        assert call("run", "--project", tmp_path, "--json").json["safe"] is None


def test_the_frontier_calls_the_levels_of_a_release_safe_that_leaves_out_rows(tmp_path: Path) -> None:
    project(tmp_path, "99,F,a", "12,M,b")
    assert call("run", "--project", tmp_path).exit == 0
    told = call("search", "--frontier", "--json", "--project", tmp_path).json
    points = {json.dumps(point["levels"]): point for point in told["frontier"]}
    own = points[json.dumps({"age": 2, "sex": 0})]
    assert own["safe"] and own["suppressed"] == 2


def test_a_frontier_tells_a_risk_without_bound(tmp_path: Path) -> None:
    """An empty tail has no least c: `recursive` diversity then has no value at all."""
    kept = {"l_diversity": {"kind": "recursive", "c": "2", "l": "3"}, "k_anonymity": {"k": "2"}}
    del kept["k_anonymity"]
    rows = ["30,F,a", "30,M,b", "30,F,c"] * 4 + ["70,F,a"] * 3
    (tmp_path / "people.csv").write_text("\n".join(["age,sex,illness", *rows]) + "\n")
    columns = [{"column": "age", "hierarchy": "keep_or_drop"}]
    release = {**PROJECT, "require": kept, "method": {"full_domain": {}}, "quasi_identifiers": columns}
    releases = {"people": {**release, "drop": ["sex"]}}
    (tmp_path / "privacy.yml").write_text(json.dumps({"version": "1", "releases": releases}))
    told = call("search", "--frontier", "--project", tmp_path, "--json")
    assert told.exit == 0, told.everything
    (risks,) = [point["risks"] for point in told.json["frontier"] if not point["safe"]]
    assert list(risks.values()) == [None]
    assert "none" in call("search", "--frontier", "--project", tmp_path).out


@pytest.mark.parametrize("charges", [["2"], ["0.1"] * 40])
def test_a_budget_says_which_of_its_numbers_holds(tmp_path: Path, charges: list[str]) -> None:
    from privacy_sql.history.ledger import FILE_NAME, Charge, Ledger

    account = Ledger(tmp_path / FILE_NAME)
    for number, epsilon in enumerate(charges):
        exact = Fraction(epsilon)
        account.charge(Charge(f"r{number}", exact, Fraction(0), float(exact) ** 2 / 2, ticket=str(number)))
    told = call("budget", "show", "--project", tmp_path, "--json").json["budget"]
    lines = call("budget", "show", "--project", tmp_path).out.splitlines()
    if told["epsilon_at_delta"] < float(Fraction(told["epsilon"])):
        assert told["holds"] == "both" and lines[-1].startswith("also holds: epsilon ")
    else:
        assert told["holds"] == "epsilon" and lines[-1].endswith("a weaker promise")
    assert len(charges) == 1 or told["holds"] == "both"


def verdict(criterion: str, limit: str, safe: bool = True, **params: Any) -> dict[str, Any]:
    return {
        "criterion": criterion,
        "requirement": criterion,
        "limit": limit,
        "relation": "<",
        "unit": "share",
        "value_float": 0.3,
        "safe": safe,
        "params": params,
    }


def material(*verdicts: dict[str, Any], **found: Any) -> Material:
    run = {"safe": True, "verdicts": list(verdicts), "choice": {"levels": {"age": 1}}}
    return Material("people", "internal", run, found)


def test_the_skyline_starts_at_the_strictest_limit_of_its_own_points_whatever_stands_first() -> None:
    facts = verdict("ck_safety", "3/5")
    own = verdict("privacy_skyline", "9/10", points=[["1", "1", "1", "0.95"], ["0", "0", "0", "0.8"]])
    other = verdict("privacy_skyline", "1/2", per_value={"flu": [["0", "0", "0", "0.7"]]})
    assert skyline._limit(material(facts, own)) == skyline._limit(material(own, facts)) == 80
    assert skyline._limit(material(own, other)) == skyline._limit(material(other, own)) == 70
    assert skyline._limit(material(facts)) == 60 and skyline._limit(material()) == skyline.DEFAULT


def test_an_unsafe_choice_within_the_limit_that_is_drawn_is_marked_apart() -> None:
    asked = verdict("ck_safety", "3/5")
    points = [
        {"levels": [0], "safe": False, "minimal": False, "cost": 0.1, "risks": {"ck_safety": 0.7}},
        {"levels": [2], "safe": False, "minimal": False, "cost": 0.2, "risks": {"ck_safety": 0.4}},
        {"levels": [3], "safe": True, "minimal": True, "cost": 0.3, "risks": {"ck_safety": 0.2}},
    ]
    lattice = {"choices": points, "columns": ["age"], "cost_of": "loss", "total": 3}
    chart = options._frontier(material(asked), lattice, [1])
    assert chart is not None
    placed = {line.name: list(line.x) for line in chart.lines if line.marker}
    assert placed["not safe"] == [0.7] and placed[options.ELSEWHERE] == [0.4]


def test_over_the_limit_is_said_only_where_a_limit_was_required() -> None:
    attack = {"t": "1/5", "exact": True, "adversaries": [ADVERSARY]}
    free = background.section(material(attack_knowledge=attack))
    required = background.section(material(verdict("bt_privacy", "1/5"), attack_knowledge=attack))
    assert free.content["rows"][0]["result"] == "over t = 0.2" and "limit" not in str(free.charts)
    assert required.content["rows"][0]["result"] == "over the limit"


ADVERSARY = {"bandwidth": "0.3", "max_risk": 0.4, "vulnerable": 3, "undecided": 0}


@pytest.mark.parametrize("pair", ["[]", "{}"])
def test_brackets_nested_beyond_reason_are_told_and_are_no_fault(tmp_path: Path, pair: str) -> None:
    inner = "a: " if pair == "{}" else ""
    deep = f"{pair[0]}{inner}" * 600 + pair[1] * 600
    (tmp_path / "privacy.yml").write_text(f"version: 1\nreleases: {deep}\n")
    with pytest.raises(UsageError, match="nested too deeply"):
        load(tmp_path / "privacy.yml")
    told = call("run", "--project", tmp_path, "--json")
    assert told.exit == 2 and told.codes == ["bad_yaml"]
    (tmp_path / "other.yml").write_text(deep)
    (tmp_path / "other.json").write_text("[" * 200_000)
    (tmp_path / "people.csv").write_text("age,illness\n1,a\n")
    for name in ("other.yml", "other.json"):
        release = tmp_path / name
        words = ["--people", tmp_path / "people.csv", "--json"]
        assert call("attack", "intersection", release, *words).codes == ["bad_release"]
    points = f"privacy_skyline(points={'[' * 600}{']' * 600})"
    words = ["--source", tmp_path / "people.csv", "--quasi", "age", "--sensitive", "illness"]
    assert call("check", *words, "--require", points, "--json").codes == ["bad_value"]


def test_a_registered_release_with_two_sensitive_columns_stops_no_other_run(tmp_path: Path) -> None:
    draw = random.Random(2)
    rows = [f"{20 + draw.randrange(40)},{draw.choice('FM')},{draw.choice('abc')},{draw.choice('xyz')}"
            for _ in range(200)]  # fmt: skip
    (tmp_path / "people.csv").write_text("\n".join(["age,sex,illness,job", *rows]) + "\n")
    both = [{"column": "illness"}, {"column": "job"}]
    kept = {"k_anonymity": {"k": "2"}, "l_diversity": {"l": "2"}}
    releases = {
        "one": {**PROJECT, "require": kept, "drop": ["job"], "output": {"target": "out/one.csv"}},
        "two": {**PROJECT, "require": kept, "sensitive": both, "method": {"full_domain": {}}},
        "none": {**PROJECT, "drop": ["job", "illness"], "output": {"target": "out/none.csv"}},
    }
    del releases["none"]["sensitive"]
    (tmp_path / "privacy.yml").write_text(json.dumps({"version": "1", "releases": releases}))
    assert call("run", "--project", tmp_path, "--select", "one").exit == 0
    assert call("register", "add", "first", tmp_path / "out/one.csv", "--project", tmp_path).exit in (0, 2)
    place = tmp_path / "out" / "one.csv.manifest.json"
    assert call("register", "add", "one", place, "--project", tmp_path).exit == 0
    for _ in range(2):
        told = call("run", "--overwrite", "--project", tmp_path)
        assert told.exit == 0, told.everything
    assert "two has several sensitive columns, which this check leaves out" in told.out
    releases["one"]["require"] = {"composition": {"with": "register"}}
    (tmp_path / "privacy.yml").write_text(json.dumps({"version": "1", "releases": releases}))
    asked = call("run", "--overwrite", "--select", "one", "--project", tmp_path, "--json")
    assert asked.exit == 2 and asked.codes == ["several_sensitive"]  # what cannot be judged is refused
