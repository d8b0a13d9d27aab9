"""`composition` required of marginals: their join is the release beside others; by brute force."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.errors import NoSafeChoice, NotSafe, UsageError
from tests.command_line import call
from tests.oracles import marginals as oracle
from tests.seeds import seeds

BANDS = {"1": ["low", "*"], "2": ["low", "*"], "3": ["high", "*"], "4": ["high", "*"]}
Row = tuple[str, str, str]
COLLECTIONS: list[list[dict[str, int]]] = [
    [{"age": 0, "ill": 0}, {"sex": 0, "ill": 0}],
    [{"age": 1, "ill": 0}, {"age": 0, "sex": 0}],
    [{"age": 1, "sex": 0, "ill": 0}],
    [{"age": 0}, {"sex": 0}],
    [{"age": 1, "ill": 0}, {"sex": 0, "ill": 0}, {"age": 0}],
]


def drawn(seed: int, n: int) -> list[Row]:
    draw = random.Random(seed)
    return [(draw.choice("1234"), draw.choice("ab"), draw.choice("xyyz")) for _ in range(n)]


def table_of(rows: list[Row]) -> ps.Table:
    frame = pd.DataFrame(rows, columns=["age", "sex", "ill"])
    return ps.Table(frame, {"age": ps.Tree(BANDS), "sex": ps.KeepOrDrop()}, "ill", name="people")


def label(row: Row, name: str, level: int) -> str:
    value = row[("age", "sex", "ill").index(name)]
    return value if not level else BANDS[value][level - 1] if name == "age" else "*"


def left_by(rows: list[Row], collection: list[dict[str, int]], person: Row) -> set[str]:
    """The values somebody of these quasi-identifiers can have in a table with these marginals.

    Of a decomposable collection these are the values for which no marginal counts nobody.
    """
    values = {row[2] for row in rows}

    def counted(value: str, marginal: dict[str, int]) -> bool:
        me = (person[0], person[1], value)
        return any(all(label(row, n, v) == label(me, n, v) for n, v in marginal.items()) for row in rows)

    return {value for value in values if all(counted(value, m) for m in collection)}


def exposed(
    rows: list[Row], collection: list[dict[str, int]], groups: dict[str, set[str]], at: Fraction
) -> Fraction:
    """The share of people left with too few values by the marginals and a release of groups by sex.

    Releases that contradict each other about somebody cannot both be right: the fewer values count.
    """
    n = 0
    for row in rows:
        mine, theirs = left_by(rows, collection, row), groups.get(row[1])
        both = mine if theirs is None else mine & theirs
        fewest = len(both) if both else min(len(mine), len(theirs or mine))
        n += fewest * at <= 1
    return Fraction(n, len(rows))


def other(groups: dict[str, set[str]]) -> dict[str, Any]:
    return {
        "name": "elsewhere",
        "groups": [
            {"id": sex, "region": {"sex": {"values": [sex]}}, "sensitive": sorted(values)}
            for sex, values in groups.items()
        ],
    }


@pytest.mark.parametrize("collection", COLLECTIONS, ids=str)
@pytest.mark.parametrize("seed", seeds(4))
def test_who_is_exposed_by_marginals_and_another_release_is_counted_from_the_definitions(
    engine: Any, seed: int, collection: list[dict[str, int]]
) -> None:
    rows, draw = drawn(seed, 14), random.Random(seed + 1)
    groups = {sex: set(draw.sample("xyz", draw.choice((1, 2)))) for sex in draw.choice(("ab", "a"))}
    for at in (Fraction(1), Fraction(1, 2)):
        asked = ps.Composition([other(groups)], at=str(at), max_exposed="1/3")
        (verdict,) = ps.check(engine, ps.MarginalSet(engine, table_of(rows), collection), [asked]).values()
        share = exposed(rows, collection, groups, at)
        assert verdict.value == share and verdict.safe == (share <= Fraction(1, 3))


def test_the_values_left_are_those_of_every_table_that_agrees() -> None:
    """What the oracle above takes for possible, against every table of whole counts, listed one by one."""
    rows = [("1", "a", "x"), ("3", "a", "y"), ("1", "b", "y"), ("3", "b", "z"), ("2", "b", "z")]
    codes = [{v: n for n, v in enumerate(letters)} for letters in ("1234", "ab", "xyz")]
    cells = Counter(tuple(code[v] for code, v in zip(codes, row, strict=True)) for row in rows)

    def node(a: int, leaf: int, resolution: int) -> int:
        return 0 if not resolution else leaf // 2 if a == 0 and resolution == 1 else leaf

    for collection in COLLECTIONS[:3]:
        finest = (2, 1, 1)
        marginals = [
            tuple(f - m.get(n, f) for n, f in zip(("age", "sex", "ill"), finest, strict=True))
            for m in collection
        ]
        possible: dict[tuple[int, ...], set[int]] = {}
        for table in oracle.consistent_tables(node, (4, 2, 3), dict(cells), marginals):
            for cell, n in table.items():
                if n:
                    possible.setdefault(cell[:2], set()).add(cell[2])
        for row in rows:
            found = possible[codes[0][row[0]], codes[1][row[1]]]
            assert {codes[2][value] for value in left_by(rows, collection, row)} == found


def test_marginals_that_compose_badly_are_not_published_and_the_search_finds_others(
    engine: Any, tmp_path: Path
) -> None:
    rows, groups = drawn(3, 80), {"a": {"x", "y"}, "b": {"y", "z"}}
    composition = ps.Composition([other(groups)], at=1, max_exposed="0")
    fine = [{"age": 0, "ill": 0}, {"sex": 0, "ill": 0}]
    for seed in itertools.count():
        rows = drawn(seed, 30)
        if exposed(rows, fine, groups, Fraction(1)):
            break
    release = ps.publish(engine, table_of(rows), [ps.KLink(1), composition], ps.Marginals(collection=fine))
    assert release.verdicts["k_link(k=1)"].safe and not release.safe
    with pytest.raises(NotSafe):
        ps.write(engine, release, tmp_path / "bad.csv")
    require = [ps.KLink(2), ps.MaxentLDiversity(2, c=9), composition]
    found = ps.publish(engine, table_of(rows), require, ps.Marginals())
    chosen = [dict(marginal) for marginal in found.choice["marginals"]]
    assert found.safe and not exposed(rows, chosen, groups, Fraction(1)) and not found.search["optimal"]
    ps.verify(ps.write(engine, found, tmp_path / "people.csv"))
    hopeless = ps.Composition([other({"a": {"x"}, "b": {"y", "z"}})], at=1, max_exposed="0")
    with pytest.raises(NoSafeChoice):
        ps.publish(engine, table_of(rows), [hopeless], ps.Marginals())


def test_marginals_that_say_more_than_their_join_are_refused(engine: Any) -> None:
    circle = [{"age": 0, "ill": 0}, {"sex": 0, "ill": 0}, {"age": 0, "sex": 0}]
    asked = ps.Composition([other({"a": {"x"}})], at=1, max_exposed="1/2")
    with pytest.raises(UsageError, match="together say more than their join"):
        ps.check(engine, ps.MarginalSet(engine, table_of(drawn(1, 20)), circle), [asked])


def test_a_run_warns_of_marginals_that_compose_badly_with_a_registered_release(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age,sex,ill\n1,a,x\n1,a,y\n1,b,y\n1,b,z\n")
    (tmp_path / "elsewhere.yml").write_text(
        "file: elsewhere.csv\nsensitive: ill\ncolumns: {sex: {column: sex}}\n"
    )
    (tmp_path / "elsewhere.csv").write_text("sex,ill\na,x\na,z\nb,y\nb,z\n")
    (tmp_path / "privacy.yml").write_text("""
version: 1
releases:
  people:
    source: {file: people.csv}
    quasi_identifiers: [{column: age, hierarchy: keep_or_drop}, {column: sex, hierarchy: keep_or_drop}]
    sensitive: ill
    require: {k_link: {k: 2}}
    method: {marginals: {collection: [{sex: 0, ill: 0}, {age: 0}]}}
    output: {target: out/people.csv}
""")
    assert call("register", "add", "elsewhere", tmp_path / "elsewhere.yml", "--project", tmp_path).exit == 0
    told = call("run", "--json", "--project", tmp_path)
    (release,) = told.json["releases"]
    assert told.exit == 0 and any("50.0 % of people would be known" in line for line in release["warnings"])
