"""Two tables that publish the same rows give the same manifest, public report and SQL.

Whatever told them apart would tell something of rows that were not published, of exact values behind labels,
or of who in a group has which value. The tables of a pair differ in just that.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql import api, manifest
from privacy_sql.reporting.page import material_of, page
from privacy_sql.reporting.recording import recorded
from tests import engines
from tests.seeds import enough, tries

Rows = list[dict[str, str]]
NOWHERE = manifest.WrittenFiles(files=())  # the output of a release that is described and not written
# dated, and what follows from the order that a secret key gives the rows: checksums, and how they begin
MOVING = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:]{5,8}([+]00:00| UTC)|\b(?:[0-9a-f]{64}|[0-9a-f]{8})\b"
)
TREE = {f"{n}": [f"{'low' if n < 4 else 'high'}", "*"] for n in range(8)}


def people(draw: random.Random) -> Rows:
    """Many people of two kinds, and two who are like nobody else."""
    many = [
        {"age": str(draw.randint(20, 29)), "zip": f"12{draw.randint(0, 2)}", "job": str(draw.randint(0, 3))}
        for _ in range(24)
    ]
    few = [{"age": str(n + draw.randint(0, 9)), "zip": "777", "job": "7"} for n in (60, 80)]
    ills = [*"abcd" * 6]
    draw.shuffle(ills)
    return [{**row, "ill": ill} for row, ill in zip([*many, *few], [*ills, *"ab"], strict=True)]


def hidden(rows: Rows, draw: random.Random) -> Rows:
    """What the few are, and values that only they have."""
    return [
        row
        if row["zip"] != "777"
        else {**row, "age": row["age"][0] + str(draw.randint(0, 9)), "job": "6", "ill": draw.choice("xyz")}
        for row in rows
    ]


def fewer(rows: Rows, draw: random.Random) -> Rows:
    """One of the few less."""
    gone = draw.choice([n for n, row in enumerate(rows) if row["zip"] == "777"])
    return [row for n, row in enumerate(rows) if n != gone]


def none(rows: Rows, draw: random.Random) -> Rows:
    """None of the few, so that nobody is left out."""
    return [row for row in rows if row["zip"] != "777"]


def banded(rows: Rows, draw: random.Random) -> Rows:
    """Other ages within ten years and other jobs of their kind, for some."""
    return [
        {**row, "age": str(draw.randint(20, 29)), "job": str(draw.randint(0, 3))}
        if row["zip"] != "777" and draw.random() < 0.3
        else row
        for row in rows
    ]


def aged(rows: Rows, draw: random.Random) -> Rows:
    """Other ages within ten years."""
    return [{**row, "age": row["age"][0] + str(draw.randint(0, 9))} for row in rows]


def swapped(rows: Rows, draw: random.Random) -> Rows:
    """Sensitive values dealt out anew among people of one zip."""
    made = [dict(row) for row in rows]
    for place in sorted({row["zip"] for row in rows}):
        own = [row for row in made if row["zip"] == place]
        ills = [row["ill"] for row in own]
        draw.shuffle(ills)
        for row, ill in zip(own, ills, strict=True):
            row["ill"] = ill
    return made


def traded(rows: Rows, draw: random.Random) -> Rows:
    """Two people who are as near as two can be trade their values, so they are likely to be in one group."""
    made = [dict(row) for row in rows]
    pairs = [
        (
            one["zip"] != other["zip"],
            one["job"] != other["job"],
            abs(_age(one) - _age(other)),
            draw.random(),
            i,
            j,
        )
        for i, one in enumerate(made)
        for j, other in enumerate(made[:i])
        if one["ill"] != other["ill"] and one["age"] != other["age"]
    ]
    *_, i, j = min(pairs)
    made[i]["ill"], made[j]["ill"] = made[j]["ill"], made[i]["ill"]
    return made


def _age(row: dict[str, Any]) -> float:
    return float(row["age"] or 0)


def ordered(rows: Rows, draw: random.Random) -> Rows:
    return draw.sample(rows, len(rows))


LEVELS = {"age": 1, "zip": 0, "job": 1}
BANDS = (hidden, fewer, none, banded, ordered)
WHOLE = {"age": 2, "zip": 2, "job": 2}
METHODS: dict[str, tuple[Any, tuple[Callable[..., Rows], ...]]] = {
    "generalise": (ps.Generalise(LEVELS, max_suppressed="0.5"), BANDS),
    "full_domain": (ps.FullDomain(minimise="height", max_suppressed="0.5"), (hidden, fewer, ordered)),
    "local recoding": (ps.FullDomain(local_recoding=True, max_suppressed="0.2"), (fewer, ordered)),
    "multidimensional": (ps.Multidimensional(max_suppressed="0.2"), (ordered, traded)),
    "bucketized boxes": (ps.Multidimensional(output="bucketized"), (ordered,)),
    "bucketize": (ps.Bucketize(["zip"]), (swapped, ordered)),
    "bucketize, masked": (ps.Bucketize(["zip"], mask={"age": 1, "job": 1}), (swapped, banded)),
    "bucketize, two tables": (ps.Bucketize(["zip"], layout="two_tables"), (swapped, ordered)),
    "bucketize, searched": (ps.Bucketize("full_domain"), (traded, ordered)),
    "microaggregate": (ps.Microaggregate(k=4), (ordered,)),
}
REQUIRED: list[list[Any]] = [
    [ps.KAnonymity(2)],
    [ps.KAnonymity(2), ps.LDiversity(2, kind="entropy"), ps.TCloseness("0.9")],
    [ps.CKSafety("0.999", 0), ps.AlphaKAnonymity("0.9", 2)],
    [ps.PrivacySkyline(points=[[0, 1, 0, "0.999"]]), ps.BetaLikeness(50)],
    [ps.BTPrivacy(bandwidth="1", t="0.99"), ps.KAnonymity(2)],
]


def table(rows: Rows) -> ps.Table:
    quasi = {"age": ps.Intervals(10, 20), "zip": ps.Mask(2, 0), "job": ps.Tree(TREE)}
    return ps.Table(pd.DataFrame(rows), quasi, "ill", name="people")


def published(folder: Path) -> dict[str, Counter[str]]:
    """The rows of every file; in which order a secret key puts the values of a group says nothing."""
    return {path.name: Counter(path.read_text().splitlines()) for path in folder.glob("*.csv")}


def by_group(files: dict[str, Counter[str]]) -> Any:
    """The same with sensitive values apart from their people, group by group."""
    told: Counter[Any] = Counter()
    for name, lines in files.items():
        for line, n in lines.items():
            *quasi, last = line.split(",")
            told[name, tuple(quasi)] += n
            told[name, quasi[0], last] += n
    return told


def words(
    rows: Rows, method: Any, require: list[Any], folder: Path, people: Callable[[Rows], ps.Table] = table
) -> tuple[Any, dict[str, str]] | None:
    """What is published, and everything public that is said about it; None where nothing is safe."""
    folder.mkdir()
    with engines.opened() as engine:
        try:
            release = ps.publish(engine, people(rows), require, method)
        except ps.PrivacySqlError:
            return None
        if not release.safe:
            return None
        place = ps.write(engine, release, folder / "people.csv")
        run = {**recorded(release), "exit": 0, "target": "people.csv"}
    html = page(material_of({"release": "people", "run": run}, "public", manifest.read(place))).html
    content = ps.verify(place)
    assert content["release"] == "people"
    content["output"] = {}  # a checksum of the rows in a secret order
    said = {"manifest": json.dumps(content, indent=1), "page": html, "sql": release.view.public()}
    return published(folder), {name: MOVING.sub("·", text) for name, text in said.items()}


CASES = [(name, change) for name, (_, changes) in METHODS.items() for change in changes]


@pytest.mark.widens(6)
@pytest.mark.parametrize(("name", "change"), CASES, ids=[f"{n}, {c.__name__}" for n, c in CASES])
def test_what_publishes_the_same_rows_is_told_in_the_same_words(
    name: str, change: Callable[..., Rows], tmp_path: Path
) -> None:
    method, same, pairs = METHODS[name][0], by_group if "bucketize" in name else published_as, 0
    for seed in tries(8):
        draw = random.Random(f"{name} {change.__name__} {seed}")
        rows, require = people(draw), draw.choice(REQUIRED if "bucketize" in name else REQUIRED[:-1])
        if change in (swapped, traded, ordered) and "bucketize" in name:
            rows = [row for row in rows if row["zip"] != "777"]
        one = words(rows, method, require, tmp_path / f"{seed}")
        other = words(change(rows, draw), method, require, tmp_path / f"{seed} other")
        if one is None or other is None or same(one[0]) != same(other[0]):
            continue  # it shows in the rows
        pairs += 1
        for told, text in one[1].items():
            assert text == other[1][told], f"{told} of seed {seed}, {[str(each) for each in require]}"
        if pairs == 1:
            return
    assert enough(pairs, 1), "no two of these tables publish the same rows"


def beside_a_population(rows: Rows) -> ps.Table:
    """The same people in a population that was declared."""
    everybody = [
        {"age": str(age), "zip": place, "job": str(job)}
        for age in range(20, 30)
        for place in ("120", "121", "122")
        for job in range(4)
    ]
    few = [{"age": age, "zip": "777", "job": "7"} for age in ("61", "81")]  # too few to hide anybody
    return replace(table(rows), population=pd.DataFrame(everybody + few))


def in_a_crowd(rows: Rows) -> ps.Table:
    """The same people in a population that has as many of every kind, however often one repeats."""
    made = beside_a_population(rows)
    few = pd.DataFrame(
        [{"age": str(age), "zip": "777", "job": "7"} for age in (*range(60, 70), *range(80, 90))]
    )
    return replace(made, population=pd.concat([made.population, few] * len(rows)))


def with_two_sensitive(rows: Rows) -> ps.Table:
    """The kind of job is sensitive too, and published as it is."""
    kinds = [{**row, "job": str(int(row["job"]) % 2)} for row in rows]
    quasi = {"age": ps.Intervals(10, 20), "zip": ps.Mask(2, 0)}
    return ps.Table(pd.DataFrame(kinds), quasi, ("ill", "job"), name="people")


def with_one_value(rows: Rows) -> ps.Table:
    """The values of one person apart, as marginals are made of."""
    return replace(table(rows), quasi={"age": ps.Intervals(10, 20), "zip": ps.Mask(2, 0)}, drop=["job"])


OTHER = pd.DataFrame(
    [{"age": f"{age}-{age + 9}", "zip": "***", "ill": ill} for age in (20, 60, 80) for ill in "abcdxyz"]
)
ELSEWHERE: list[Any] = [{"name": "other", "relation": OTHER, "sensitive": "ill", "columns": ["age", "zip"]}]
ROUGH = ps.Generalise(LEVELS, max_suppressed="0.5")
ALSO: dict[str, tuple[Callable[[Rows], ps.Table], Any, list[Any], tuple[Callable[..., Rows], ...]]] = {
    "k_map": (beside_a_population, ROUGH, [ps.KMap(3)], BANDS),
    "k_map, searched": (in_a_crowd, ps.FullDomain(minimise="height"), [ps.KMap(60)], (ordered,)),
    "delta_presence": (beside_a_population, ROUGH, [ps.DeltaPresence(0, "0.9")], (banded, ordered)),
    "composition": (
        table,
        ROUGH,
        [ps.KAnonymity(2), ps.Composition(ELSEWHERE, max_exposed="0.9")],
        (hidden, fewer, banded, ordered),
    ),
    "bt_privacy": (table, ROUGH, [ps.KAnonymity(2), ps.BTPrivacy(bandwidth="1", t="0.99")], BANDS),
    "several sensitive": (
        with_two_sensitive,
        ps.Generalise({"age": 1, "zip": 2}),
        [ps.KAnonymity(2), ps.LDiversity(2)],
        (aged, ordered),
    ),
    "full_domain, banded": (table, ps.FullDomain(minimise="height"), [ps.KAnonymity(4)], (banded, ordered)),
    "marginals": (
        with_one_value,
        ps.Marginals(collection=[{"age": 1, "ill": 0}, {"zip": 0}]),
        [ps.KLink(2)],
        (aged, ordered),
    ),
}
ALSO_CASES = [(name, change) for name, (*_, changes) in ALSO.items() for change in changes]


@pytest.mark.widens(6)
@pytest.mark.parametrize(("name", "change"), ALSO_CASES, ids=[f"{n}, {c.__name__}" for n, c in ALSO_CASES])
def test_requirements_of_more_than_the_rows_tell_no_more_than_the_rows(
    name: str, change: Callable[..., Rows], tmp_path: Path
) -> None:
    """Populations, other releases, beliefs, several sensitive columns and marginals."""
    people_of, method, require, _ = ALSO[name]
    for seed in tries(12):
        draw = random.Random(f"{name} {change.__name__} {seed}")
        rows = people(draw)
        if name in ("marginals", "several sensitive", "full_domain, banded"):
            rows = none(rows, draw)
        one = words(rows, method, require, tmp_path / f"{seed}", people_of)
        other = words(change(rows, draw), method, require, tmp_path / f"{seed} other", people_of)
        if one is None or other is None or one[0] != other[0]:
            continue
        for told, text in one[1].items():
            assert text == other[1][told], f"{told} of seed {seed}"
        return
    raise AssertionError("no two of these tables publish the same rows")


def published_as(files: dict[str, Counter[str]]) -> Any:
    return files


def test_centres_and_tops_do_not_tell_that_a_column_has_fractions() -> None:
    """Bands are written for fractions when a row has one; where no band is printed nobody may know."""
    told = []
    for method in (ps.Microaggregate(2), ps.Generalise({"age": 3})):
        for ages in (["1", "3", "11", "13"], ["1.5", "2.5", "11.5", "12.5"]):
            rows = pd.DataFrame({"age": ages, "ill": [*"abab"]})
            people = ps.Table(rows, {"age": ps.Intervals(10, 20)}, "ill", name="people")
            with engines.opened() as engine:
                release = ps.publish(engine, people, [ps.KAnonymity(2)], method)
                seen = sorted(map(str, release.base.engine.fetch(release.view)))
                content = api.describe(release, release.verdicts, NOWHERE).to_json()
            told.append((seen, {k: v for k, v in content.items() if k not in ("made", "checksum")}))
    assert told[0] == told[1] and told[2] == told[3]


@pytest.mark.parametrize("kind", ["set", "multiset"])
def test_how_often_a_value_was_written_and_who_was_left_out_is_in_no_manifest(kind: str) -> None:
    """Sources that publish the same lines of people with several values, from other numbers of rows."""
    many = [(f"{n}", "2" if n % 2 else "3", ill) for n in range(12) for ill in "ab"]
    sources = [many, [*many, ("99", "8", "x")], [*many, ("98", "7", "y"), ("99", "8", "x"), ("99", "8", "z")]]
    if kind == "set":
        sources.append([*many, many[0], many[3]])
    told = []
    for rows in sources:
        frame = pd.DataFrame(rows, columns=["id", "age", "ill"])
        people = ps.Table(frame, ["age"], "ill", identifier="id", values_per_person=kind, name="people")
        with engines.opened() as engine:
            release = ps.publish(
                engine, people, [ps.KAnonymity(5)], ps.Generalise({"age": 0}, max_suppressed="0.3")
            )
            assert release.rows_out == 24 and release.rows_in == len(rows)
            content = api.describe(release, release.verdicts, NOWHERE)
            run = {**recorded(release), "exit": 0, "target": "people.csv"}
            html = page(material_of({"release": "people", "run": run}, "public", content)).html
        assert (content.rows_in, content.suppressed, content.rows_rounded_to) == (24, 0, 5)
        told.append(MOVING.sub("·", json.dumps(content.to_json()) + html))
    assert set(told) == {told[0]}
