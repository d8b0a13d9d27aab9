"""The baseline of a guess, and insensitive columns that somebody may know."""

from __future__ import annotations

import csv
import json
import random
import re
from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.criteria import make, read
from privacy_sql.errors import DataError
from tests import engines
from tests.command_line import call
from tests.oracles import guesses as oracle
from tests.seeds import seeds

QUASI = {"age": ps.Intervals(10, 20), "sex": ps.KeepOrDrop()}
FREE = ["hours", "pay"]
METHODS = [
    ps.Generalise({"age": 1}),
    ps.Generalise({"age": 0}, "0.9"),
    ps.FullDomain(),
    ps.FullDomain(local_recoding=True, max_suppressed="0.2"),
    ps.Multidimensional(),
    ps.Multidimensional(strict=False),
    ps.Microaggregate(k=4),
    ps.Bucketize({"age": 1}),
    ps.Multidimensional(output="bucketized"),
]
UNFAILING = [
    *("k_anonymity(k=1)", "k_map(k=1)", "k_link(k=1)", "k_combinatorial(k=1)"),
    *("l_diversity(l=1)", "l_diversity(l=1, kind=entropy)", "l_diversity(l=1, kind=probabilistic)"),
    *("l_diversity(l=1, c=2, kind=recursive)", "t_closeness(t=1)", "t_closeness(t=1.0, distance=ordered)"),
    *("alpha_k_anonymity(alpha=1, k=1)", "composition(with=[a.csv], at=1, max_exposed=1)"),
    *("delta_presence(low=0, high=1)", "maxent_l_diversity(l=1, c=1)"),
    "bt_privacy(bandwidth=0.3, t=0.7, log_base=e)",
]
FAILING = [
    *(
        "k_anonymity(k=2)",
        "l_diversity(l=1.5)",
        "l_diversity(l=1, c=1, kind=recursive)",
        "t_closeness(t=0.999)",
    ),
    *("alpha_k_anonymity(alpha=1, k=2)", "alpha_k_anonymity(alpha=0.9, k=1)", "ck_safety(c=1, k=0)"),
    *("bt_privacy(bandwidth=0.3, t=0.69, log_base=e)", "bt_privacy(bandwidth=0.3, t=1)"),
]


def people(seed: int, n: int = 30) -> list[dict[str, Any]]:
    """Invented people; some of what they are is missing."""
    rng = random.Random(seed)
    return [
        {
            "age": rng.choice(["20", "25", "31", "38"]),
            "sex": rng.choice(["a", "b", None]),
            "hours": rng.choice(["8", "40", None]),
            "pay": rng.choice("xy"),
            "ill": rng.choice(["flu", "flu", "cold", "hiv", None]),
        }
        for _ in range(n)
    ]


def frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    return pd.DataFrame(rows, dtype=object)


@pytest.mark.parametrize("seed", seeds(6))
def test_a_baseline_is_what_the_definition_counts(engine: Any, seed: int) -> None:
    rows = people(seed)
    for sensitive in ("ill", None):
        found = ps.baseline(engine, ps.Table(frame(rows), ["age", "sex"], sensitive, insensitive=FREE))
        assert found == oracle.baseline(rows, ["age", "sex"], FREE, sensitive)


def test_nobody_is_no_baseline_of_zeros(engine: Any) -> None:
    empty = pd.DataFrame({"age": ["30"], "ill": ["flu"]}).iloc[:0].astype(str)
    none_kept = ps.Table(pd.DataFrame({"age": ["30"], "ill": ["flu"]}), ["age"], "ill", where="age = '99'")
    for table in (ps.Table(empty, ["age"], "ill"), none_kept):
        with pytest.raises(DataError) as refused:
            ps.baseline(engine, table)
        assert refused.value.code == "empty_table"


def test_of_more_than_eight_columns_only_all_together_are_counted(engine: Any) -> None:
    free = [f"c{number}" for number in range(9)]
    rows = [{"age": "3*", **dict.fromkeys(free, str(n)), "ill": "flu"} for n in range(2)]
    found = ps.baseline(engine, ps.Table(frame(rows), ["age"], "ill", insensitive=free))
    assert list(found["known"]) == ["all"] and found["known"]["all"]["alone"] == 2


def test_a_person_with_several_values_is_one_person(engine: Any) -> None:
    rows = pd.DataFrame(
        [("p", "x", "1", "flu"), ("p", "x", "1", "flu"), ("p", "x", "1", "cold"), ("q", "x", "2", None)],
        columns=["id", "g", "pay", "ill"],
        dtype=object,
    )
    for several in ("set", "multiset"):
        table = ps.Table(rows, ["g"], "ill", insensitive=["pay"], identifier="id", values_per_person=several)
        found = ps.baseline(engine, table)
        known = found["known"]["all"]
        assert found["as_published"]["smallest"] == 2 and found["as_published"]["worst_guess"] == "1/2"
        assert (known["alone"], known["certain"], known["worst_guess"]) == (2, 1, "1")


@pytest.mark.widens(4)
@pytest.mark.parametrize("method", METHODS, ids=lambda method: f"{method.name}-{METHODS.index(method)}")
@pytest.mark.parametrize("seed", seeds(2))
def test_the_manifest_has_the_baseline_of_the_published_rows(tmp_path: Path, seed: int, method: Any) -> None:
    rows = people(seed)
    if method.name == "microaggregate":
        rows = [{**row, "sex": row["sex"] or "b"} for row in rows]
    free = {"columns": FREE, "acknowledge": "invented people"}
    with engines.opened() as engine:
        table = ps.Table(frame(rows), QUASI, "ill", insensitive=free)
        release = ps.publish(engine, table, [ps.KAnonymity(2)], method)
        manifest = json.loads(ps.write(engine, release, tmp_path / "out.csv").read_text())
        refused = ps.publish(
            engine, ps.Table(frame(rows), QUASI, "ill", insensitive=FREE), [ps.KAnonymity(2)], method
        )
    with (tmp_path / "out.csv").open(newline="") as lines:
        published = [{name: value or None for name, value in row.items()} for row in csv.DictReader(lines)]
    if release.proposal.permuted:
        # the values of a group stand in an order nobody can follow, so nobody's own column tells their value
        group = oracle.guess(published, [str(release.group)], "ill")
        assert manifest["baseline"] == {
            "as_published": group,
            "known": dict.fromkeys(["all", *FREE], group),
        }
        return
    keys = [release.group] if release.group else ["age", "sex"]
    expected = oracle.baseline(published, keys, FREE, "ill")
    assert manifest["baseline"] == expected
    assert manifest["insensitive"] == {"columns": FREE, "known": False, "acknowledge": "invented people"}
    assert refused.safe is (expected["known"]["all"]["smallest"] >= 2)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: f"{method.name}-{METHODS.index(method)}")
def test_without_insensitive_columns_it_is_that_of_the_published_groups(tmp_path: Path, method: Any) -> None:
    rows = [{**row, "sex": row["sex"] or "b"} for row in people(7)]
    with engines.opened() as engine:
        table = ps.Table(frame(rows), QUASI, "ill", drop=FREE)
        release = ps.publish(engine, table, [ps.KAnonymity(2)], method)
        ps.write(engine, release, tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(newline="") as lines:
        published = [{name: value or None for name, value in row.items()} for row in csv.DictReader(lines)]
    keys = [release.group] if release.group else ["age", "sex"]
    assert release.baseline.to_json() == oracle.baseline(published, keys, [], "ill")


def test_a_population_without_the_known_column_is_refused(engine: Any) -> None:
    rows = frame(people(1))
    known = {"columns": ["pay"], "known": True}
    table = ps.Table(rows, ["age"], "ill", insensitive=known, population=rows[["age"]])
    with pytest.raises(ps.PrivacySqlError, match="pay") as caught:
        ps.check(engine, table, [ps.KMap(2)])
    assert caught.value.exit == 2
    whole = ps.Table(rows, ["age"], "ill", insensitive=known, population=rows[["age", "pay"]])
    (verdict,) = ps.check(engine, whole, [ps.KMap(2)]).values()
    assert verdict.value == min(Counter(zip(rows["age"], rows["pay"], strict=True)).values())


def test_columns_that_single_out_are_not_published_unless_somebody_says_why(tmp_path: Path) -> None:
    rows = frame(
        [{"age": "3*", "hours": str(n), "ill": value} for n in range(2) for value in ("flu", "cold")]
    )
    alone = rows.iloc[:3]
    with engines.opened() as engine:

        def made(table: Any, free: Any, require: Any) -> ps.Release:
            return ps.publish(
                engine, ps.Table(table, ["age"], "ill", insensitive=free), require, ps.Generalise()
            )

        k3, l2 = [ps.KAnonymity(3)], [ps.LDiversity(2)]
        assert made(rows, ["hours"], [ps.KAnonymity(2)]).safe  # two people work as many hours
        assert made(rows, ["hours"], l2).safe  # k is 2 where none is required
        assert not made(alone, ["hours"], l2).safe
        release = made(rows, ["hours"], k3)
        assert release.verdicts and all(verdict.safe for verdict in release.verdicts.values())
        assert not release.safe
        with pytest.raises(ps.PrivacySqlError) as caught:
            ps.write(engine, release, tmp_path / "out.csv")
        assert (caught.value.code, caught.value.exit) == ("known_columns_single_out", 1)
        assert "insensitive: {columns: [hours], known: true}" in caught.value.hint
        assert not list(tmp_path.iterdir())
        assert made(rows, {"columns": ["hours"], "acknowledge": "asked for"}, k3).safe
        assert not made(rows, {"columns": ["hours"], "known": True}, k3).safe
        assert made(rows, {"columns": ["hours"], "known": True}, [ps.KAnonymity(2)]).safe


@pytest.mark.parametrize("seed", seeds(3))
def test_a_known_column_counts_as_a_quasi_identifier_that_stands_as_it_is(engine: Any, seed: int) -> None:
    rows = frame(people(seed, 60))
    known = ps.Table(rows, QUASI, "ill", insensitive={"columns": ["pay"], "known": True})
    quasi = ps.Table(rows, {**QUASI, "pay": None}, "ill")
    require = [ps.KAnonymity(2), ps.LDiversity(2), ps.TCloseness("0.6"), ps.CKSafety("0.9", 1)]
    found, expected = ps.check(engine, known, require), ps.check(engine, quasi, require)
    assert [verdict.value for verdict in found.values()] == [verdict.value for verdict in expected.values()]
    for method in (ps.FullDomain(), ps.FullDomain(max_suppressed="0.3"), ps.FullDomain(local_recoding=True)):
        one, other = (_outcome(engine, table, require[:2], method) for table in (known, quasi))
        assert one == other
    searched = [ps.search(engine, table, require[:2]).minimal for table in (known, quasi)]
    assert searched[0] == searched[1]


def _outcome(engine: Any, table: ps.Table, require: Any, method: Any) -> Any:
    try:
        release = ps.publish(engine, table, require, method)
    except ps.PrivacySqlError as problem:
        return problem.code
    rows = release.base.engine.fetch(release.view)
    return release.safe, Counter(tuple(map(str, row.values())) for row in rows)


@dataclass(frozen=True)
class NoCrowd(ps.KAnonymity):  # type: ignore[misc]
    """No group holds more than k people: finer groups keep it and coarser ones may break it."""

    safe_under_merging: ClassVar[bool] = False
    relation: ClassVar[str] = "<="

    def judge(self, evidence: Any) -> ps.Verdict:
        worst = max(evidence, key=lambda row: row["n_people"])
        return self.verdict(worst["n_people"], ps.Witness({}, {"g": worst["g"]}))


def test_what_is_not_safe_under_merging_has_to_hold_for_who_does_not_know_the_column(engine: Any) -> None:
    rows = frame([{"age": "30", "pay": pay, "ill": "flu"} for pay in "xxxyyy"])
    known, unknown = ({"columns": ["pay"], "known": known} for known in (True, False))
    for largest, holds in ((2, (False, False)), (3, (False, False)), (5, (False, False)), (6, (True, True))):
        require = [NoCrowd(largest)]
        found = [
            bool(ps.check(engine, ps.Table(rows, ["age"], "ill", insensitive=free), require))
            for free in (known, unknown)
        ]
        assert tuple(found) == holds
    as_quasi = ps.Table(rows, ["age", "pay"], "ill")
    assert ps.check(engine, as_quasi, [NoCrowd(3)])  # of the finer groups alone it holds
    table = ps.Table(rows, {"age": ps.KeepOrDrop()}, "ill", insensitive=known)
    with pytest.raises(ps.PrivacySqlError) as caught:
        ps.search(engine, table, [NoCrowd(3)])
    assert caught.value.exit == 5
    (verdict,) = ps.check(engine, table, [NoCrowd(3)]).values()
    assert dict(verdict.witness.reveal()["keys"]) == {"age": "30"}


KNOWN = [
    ps.Multidimensional(),
    ps.Multidimensional(split="range"),
    ps.Multidimensional(split="information_gain", max_suppressed="0.3"),
    ps.Multidimensional(strict=False),
    ps.Microaggregate(3),
    ps.Microaggregate(3, size="variable", together=True),
]


@pytest.mark.parametrize("method", KNOWN, ids=lambda method: f"{method.name}-{KNOWN.index(method)}")
@pytest.mark.parametrize("seed", seeds(2))
def test_boxes_and_centres_show_known_columns_as_they_are(tmp_path: Path, seed: int, method: Any) -> None:
    """What is said of them is what the written rows say to somebody who knows the column."""
    rng = random.Random(seed)
    # equal for a number and not for a reader
    rows = [
        {**row, "sex": row["sex"] or "b", "pay": rng.choice(["8", "8.0", None])} for row in people(seed, 60)
    ]
    known = {"columns": ["pay"], "known": True}
    require = [ps.KAnonymity(3), ps.LDiversity("4/3", kind="probabilistic")]
    with engines.opened() as engine:
        table = ps.Table(frame(rows), QUASI, "ill", insensitive=known, drop=["hours"])
        release = ps.publish(engine, table, require, method)
        if release.safe:
            manifest = json.loads(ps.write(engine, release, tmp_path / "out.parquet").read_text())
        written = [
            {name: None if value is None else str(value) for name, value in row.items()}
            for row in engine.session([]).fetch(release.view)
        ]
    if not release.suppressed:
        told = Counter((row["pay"], row["ill"]) for row in written)
        assert told == Counter((row["pay"], row["ill"]) for row in rows)
    if release.safe:
        assert next(c for c in manifest["columns"] if c["name"] == "pay")["published_as"] == "as it is"
    keys = [release.group] if release.group else ["age", "sex"]
    groups: dict[Any, list[str | None]] = {}
    for row in written:
        groups.setdefault(tuple(row[key] for key in [*keys, "pay"]), []).append(row["ill"])
    smallest = min(map(len, groups.values()))
    share = max(Fraction(max(Counter(group).values()), len(group)) for group in groups.values())
    assert [verdict.value for verdict in release.verdicts.values()] == [smallest, share]
    assert release.safe is (smallest >= 3 and share <= Fraction(3, 4))
    assert release.baseline.to_json() == oracle.baseline(written, keys, ["pay"], "ill")


def test_boxes_and_centres_refuse_what_may_hold_for_one_reader_and_not_for_the_other(engine: Any) -> None:
    known = {"columns": ["pay"], "known": True}
    table = ps.Table(frame(people(1)), QUASI, "ill", insensitive=known)
    for method in (ps.Multidimensional(), ps.Microaggregate(2)):
        with pytest.raises(ps.PrivacySqlError) as caught:
            ps.publish(engine, table, [NoCrowd(9)], method)
        assert (caught.value.code, caught.value.exit) == ("known_not_as_it_is", 2)
        assert "Use full_domain or generalise" in caught.value.hint
    alone = frame([*people(1), {**people(1)[0], "sex": "a", "pay": "alone"}])
    with pytest.raises(ps.PrivacySqlError) as caught:
        ps.publish(engine, replace(table, source=alone), [ps.KAnonymity(2)], ps.Multidimensional())
    assert caught.value.code == "whole_not_safe" and "each value of pay" in caught.value.message


@pytest.mark.parametrize(
    "name", ["hours", "hours per week", "a, b", "a: b", 'say "so"', "#1", "ö]", "-", " x"]
)
def test_the_line_that_an_error_prints_is_what_a_project_takes(tmp_path: Path, name: str) -> None:
    folder = project(tmp_path, "[]", "k_anonymity: {k: 5}")
    rows = [row.split(",") for row in (folder / "people.csv").read_text().splitlines()]
    with (folder / "people.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([["age", name, "ill"], *rows[1:]])
    plan = (folder / "privacy.yml").read_text()
    (folder / "privacy.yml").write_text(plan.replace("insensitive: []", f"insensitive: [{json.dumps(name)}]"))
    (error,) = call("run", "--json", "--project", folder).json["releases"][0]["errors"]
    assert error["code"] == "known_columns_single_out"
    known, acknowledged, dropped = re.findall("`(.+?)`(?= to|;|\\.)", error["hint"])
    for line, code in ((known, 1), (acknowledged, 0), (dropped, 0)):
        (folder / "privacy.yml").write_text(plan.replace("insensitive: []", line))
        told = call("run", "--json", "--project", folder, "--overwrite")
        assert told.exit == code, told.everything
        assert "known_columns_single_out" not in told.codes


def test_what_columns_single_out_is_counted_again_in_the_written_bytes(tmp_path: Path) -> None:
    rows = frame([{"age": "30", "hours": str(n), "ill": "flu"} for n in range(3)])
    with engines.opened() as engine:
        table = ps.Table(rows, ["age"], "ill", insensitive=["hours"])
        release = ps.publish(engine, table, [ps.KAnonymity(2)], ps.Generalise())
        assert release.refusal is not None
        with pytest.raises(ps.PrivacySqlError) as caught:
            ps.write(engine, replace(release, refusal=None), tmp_path / "out.csv")
    assert caught.value.code == "known_columns_single_out" and not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "said",
    [
        {"columns": []},
        {"columns": ["pay"], "known": "true"},
        {"columns": ["pay"], "acknowledge": " "},
        {"columns": ["pay"], "acknowledge": "why", "known": True},
        {"columns": ["pay"], "ack": "why"},
        {"columns": ["age"], "known": True},
    ],
)
def test_a_mapping_of_insensitive_columns_says_one_thing(said: Any) -> None:
    with pytest.raises(ps.PrivacySqlError) as caught:
        ps.Table("people.csv", ["age"], "ill", insensitive=said)
    assert caught.value.exit == 2


def project(folder: Path, insensitive: str, require: str = "k_anonymity: {k: 2}") -> Path:
    (folder / "people.csv").write_text(
        "age,hours,ill\n" + "".join(f"30,{n},flu\n30,{n},cold\n" for n in "123")
    )
    (folder / "privacy.yml").write_text(
        "version: 1\nreleases:\n  people:\n    source: {file: people.csv}\n"
        "    quasi_identifiers: [age]\n    sensitive: ill\n"
        f"    insensitive: {insensitive}\n    require: {{{require}}}\n"
        "    method: {generalise: {}}\n    output: {target: out.csv}\n"
    )
    return folder


def test_a_run_says_what_the_columns_single_out_and_publishes_nothing(tmp_path: Path) -> None:
    folder = project(tmp_path, "[hours]", "k_anonymity: {k: 5}")
    told = call("run", "--json", "--project", folder)
    assert told.exit == 1
    (release,) = told.json["releases"]
    assert release["errors"][0]["code"] == told.json["errors"][0]["code"] == "known_columns_single_out"
    assert release["baseline"]["known"]["all"]["smallest"] == 2 and not told.json["safe"]
    assert all(verdict["safe"] for verdict in release["verdicts"])
    assert not (folder / "out.csv").exists()
    text = call("run", "--project", folder).out
    assert "6 people in groups of fewer than 5" in text and "known: true" in text
    checked = call("check", "--json", "--project", folder)
    assert checked.exit == 0 and checked.json["baseline"]["known"]["hours"]["groups"] == 3


def test_the_first_box_of_a_report_says_how_sure_a_guess_is(tmp_path: Path) -> None:
    project(tmp_path, "{columns: [hours], acknowledge: they are asked for}", "k_anonymity: {k: 5}")
    assert call("run", "--project", tmp_path).exit == 0
    for found in (("--audience", "internal"), ("--audience", "public")):
        page = tmp_path / "page.html"
        assert call("report", tmp_path / "out.csv", "--project", tmp_path, "-o", page, *found).exit == 0
        box = page.read_text().partition("</section>")[0]
        assert "Somebody who knows age finds at least 6 people alike" in box
        assert "Somebody who also knows hours" in box and "because: they are asked for" in box
        page.unlink()
    (tmp_path / "out.csv").unlink()
    project(tmp_path, "[hours]", "k_anonymity: {k: 5}")
    assert call("run", "--project", tmp_path, "--overwrite").exit == 1
    assert call("report", "--project", tmp_path).exit == 0
    page = (tmp_path / "target" / "report" / "people.html").read_text()
    assert "Do not release" in page and "single people out" in page.partition("</section>")[0]


def test_a_reason_and_a_known_column_are_read_from_the_project(tmp_path: Path) -> None:
    folder = project(tmp_path, "{columns: [hours], acknowledge: hours are asked for}", "k_anonymity: {k: 5}")
    assert call("run", "--project", folder).exit == 0
    manifest = json.loads((folder / "out.csv.manifest.json").read_text())
    assert manifest["insensitive"]["acknowledge"] == "hours are asked for"
    compiled = (folder / "target" / "compiled" / "people.sql").read_text()
    assert "-- baseline    knowing hours too: 0 people alone, 6 in groups below 5" in compiled
    project(tmp_path, "{columns: [hours], known: true}")
    assert call("run", "--project", folder, "--overwrite").exit == 0
    manifest = json.loads((folder / "out.csv.manifest.json").read_text())
    assert manifest["insensitive"] == {"columns": ["hours"], "known": True}
    assert manifest["verdicts"][0]["value"] == "2"  # with the hours known
    for wrong in ("{columns: [hours], known: perhaps}", "{known: true}", "{columns: [hours], known: [a]}"):
        project(tmp_path, wrong)
        assert call("run", "--project", folder).exit == 2


@pytest.mark.parametrize("text", UNFAILING)
def test_what_no_table_can_fail_is_refused_where_it_is_written(tmp_path: Path, text: str) -> None:
    assert read(text).cannot_fail
    folder = project(tmp_path, "[]")
    checked = call(
        "check", "--json", "--source", folder / "people.csv", "--quasi", "age", "--sensitive", "ill",
        "--require", text,
    )  # fmt: skip
    assert checked.exit == 2 and checked.json["errors"][0]["code"] == "cannot_fail"
    name, _, params = text.rstrip(")").partition("(")
    project(tmp_path, "[]", f"{name}: {{{params.replace('=', ': ')}}}")
    ran = call("run", "--json", "--project", folder)
    assert ran.exit == 2 and "cannot_fail" in {error["code"] for error in ran.json["errors"]}


@pytest.mark.parametrize("text", FAILING)
def test_what_some_table_fails_is_asked(text: str) -> None:
    assert not read(text).cannot_fail


def test_from_python_it_is_judged_with_a_warning(engine: Any) -> None:
    table = ps.Table(frame(people(3)), ["age"], "ill")
    for name, params in (("k_anonymity", {"k": 1}), ("l_diversity", {"l": 1}), ("t_closeness", {"t": 1})):
        (verdict,) = ps.check(engine, table, [make(name, params)]).values()
        assert verdict.safe and any("no table can fail" in warning for warning in verdict.warnings)
    (verdict,) = ps.check(engine, table, [ps.KAnonymity(2)]).values()
    assert not verdict.warnings


def test_the_first_line_says_that_nothing_is_asked_about_the_sensitive_column(engine: Any) -> None:
    table = ps.Table(frame(people(3)), ["age"], "ill")
    for require, unasked in (
        ([ps.KAnonymity(2)], True),
        ([ps.LDiversity(1)], True),
        ([ps.LDiversity(2)], False),
    ):
        first = str(ps.publish(engine, table, require, ps.Generalise())).splitlines()[0]
        assert ("no requirement is about ill" in first) is unasked


def test_boxes_of_people_with_several_values_have_a_baseline(engine: Any) -> None:
    rows = pd.DataFrame(
        {
            "who": list("aabcd"),
            "age": ["1", "1", "2", "3", "4"],
            "ill": ["flu", "cold", "flu", "cold", "gout"],
        }
    )
    table = ps.Table(rows, {"age": ps.Intervals(2)}, "ill", identifier="who", values_per_person="set")
    release = ps.publish(engine, table, [ps.KAnonymity(2)], ps.Multidimensional())
    assert ps.baseline(engine, release)["as_published"]["smallest"] == 2


@pytest.mark.everywhere
@pytest.mark.parametrize("several", ["set", "multiset"])
@pytest.mark.parametrize("seed", seeds(2))
def test_known_columns_of_people_with_several_values_beside_suppression_and_boxes(
    engine: Any, seed: int, several: str
) -> None:
    rng = random.Random(seed)
    who = [
        {"who": str(n), "age": str(rng.randint(20, 39)), "pay": rng.choice("xxy"), "sex": rng.choice("aab")}
        for n in range(40)
    ]
    held = {person["who"]: rng.sample(["flu", "cold", "hiv"], rng.randint(1, 3)) for person in who}
    rows = frame([{**person, "ill": value} for person in who for value in held[person["who"]]])
    known = {"columns": ["pay", "sex"], "known": True}
    table = ps.Table(
        rows, {"age": ps.Intervals(5)}, "ill", insensitive=known, identifier="who", values_per_person=several
    )
    for method in (
        ps.Generalise({"age": 1}, "0.6"),
        ps.Multidimensional(),
        ps.Multidimensional(max_suppressed="0.4"),
    ):
        release = ps.publish(engine, table, [ps.KAnonymity(3)], method)
        lines = {tuple(map(str, row.values())) for row in release.base.engine.fetch(release.view)}
        columns = list(release.columns)
        boxes = {tuple(line[columns.index(c)] for c in ("age", "pay", "sex")) for line in lines}
        shown = [
            (label, person)
            for person in who
            for label, pay, sex in boxes
            if (pay, sex) == (person["pay"], person["sex"]) and _within(label, int(person["age"]))
        ]
        assert len(shown) == len({person["who"] for _, person in shown})
        for unknown, found in (
            ((), release.baseline.known["all"]),
            (("sex",), release.baseline.known["pay"]),
            (("pay", "sex"), release.baseline.as_published),
        ):
            groups: dict[Any, list[list[str]]] = {}
            for label, person in shown:
                key = (label, *(person[c] for c in ("pay", "sex") if c not in unknown))
                groups.setdefault(key, []).append(held[person["who"]])
            (guess,) = found
            expected = Counter(
                (len(group), max(Counter(value for values in group for value in values).values()))
                for group in groups.values()
            )
            assert Counter({(n, top): alike for n, top, alike in guess.groups}) == expected


def _within(label: str, age: int) -> bool:
    low, _, high = label.partition("-")
    return int(low) <= age <= int(high or low)


def test_the_reason_why_columns_may_single_out_is_printed_by_a_run() -> None:
    rows = pd.DataFrame({"age": ["1", "1"], "hours": ["40", "8"], "ill": ["flu", "cold"]})
    declared = {"columns": ["hours"], "acknowledge": "the register of hours is public"}
    with engines.opened() as engine:
        table = ps.Table(rows, ["age"], "ill", insensitive=declared)
        release = ps.publish(engine, table, [ps.KAnonymity(2)], ps.Generalise({}))
    assert "published anyway, because: the register of hours is public" in release.told()
