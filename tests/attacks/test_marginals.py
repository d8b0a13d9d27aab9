"""Marginals beside other releases, against every table of whole counts that agrees with them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.cli.main import run
from privacy_sql.errors import UsageError
from privacy_sql.history.described import joinable
from privacy_sql.history.register import FILE_NAME, Register
from tests import engines
from tests.oracles import marginals as oracle
from tests.seeds import seeds

AGES, SEXES, ILL = ["20", "30", "40"], ["F", None], ["flu", "cold", None]
WIDTH = {"age": 20, "sex": None, "ill": None}
COLUMNS = ["age", "sex", "ill"]


def paths() -> list[list[tuple[int, ...]]]:
    """The leaves of the three columns as node numbers: ages in bands of twenty from 20 on."""
    return [[(0, 0, 0), (0, 0, 1), (0, 1, 2)], [(0, 0), (0, 1)], [(0, 0), (0, 1), (0, 2)]]


def node(a: int, leaf: int, r: int) -> int:
    return paths()[a][leaf][r]


def table(rows: list[tuple[Any, ...]], name: str = "people") -> ps.Table:
    frame = pd.DataFrame(rows, columns=COLUMNS)
    return ps.Table(frame, {"age": ps.Intervals(20), "sex": ps.KeepOrDrop()}, "ill", name=name)


def levels(resolutions: tuple[int, ...]) -> dict[str, int]:
    tops = [2, 1, 1]
    return {name: top - r for name, top, r in zip(COLUMNS, tops, resolutions, strict=True) if r}


def possible(
    rows: list[tuple[Any, ...]], collection: list[tuple[int, ...]], known: dict[str, int]
) -> set[int]:
    """The values somebody with these leaves has in one table or another that agrees with the marginals."""
    values = [AGES, SEXES, ILL]
    leaves = [tuple(of.index(cell) for of, cell in zip(values, row, strict=True)) for row in rows]
    counted: dict[tuple[int, ...], int] = {}
    for cell in leaves:
        counted[cell] = counted.get(cell, 0) + 1
    found: set[int] = set()
    for other in oracle.consistent_tables(node, [3, 2, 3], counted, collection):
        for cell, n in other.items():
            if n and all(cell[COLUMNS.index(name)] == leaf for name, leaf in known.items()):
                found.add(cell[2])
    return found


def collections(chance: random.Random) -> Iterator[list[tuple[int, ...]]]:
    while True:
        made = [(chance.randint(0, 2), chance.randint(0, 1), chance.randint(0, 1)) for _ in range(3)]
        made = [m for m in made if any(m)]
        if (
            any(m[2] for m in made)
            and any(m[0] or m[1] for m in made)
            and joinable([levels(m) for m in made])
        ):
            yield made


@pytest.mark.parametrize("seed", seeds(4))
def test_the_values_left_are_those_of_some_table_that_agrees(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    rows = [(chance.choice(AGES), chance.choice(SEXES), chance.choice(ILL)) for _ in range(4)]
    collection = next(collections(chance))
    with engines.opened() as engine:
        method = ps.Marginals(collection=[levels(m) for m in collection])
        release = ps.publish(engine, table(rows), [ps.KLink(1)], method)
        place = ps.write(engine, release, tmp_path / chance.choice(["people.csv", "people.parquet"]))
        for names in (["age"], ["sex"], ["age", "sex"]):
            if not any(m[COLUMNS.index(name)] for m in collection for name in names):
                continue
            frame = pd.DataFrame(rows, columns=COLUMNS)[names].assign(who=range(4))
            people = ps.Table(frame, names, identifier="who")
            subject = chance.choice([release, place])
            found = ps.intersection_attack(engine, [subject], people)
            for person, row in zip(found.people(), rows, strict=True):
                known = {
                    name: [AGES, SEXES][COLUMNS.index(name)].index(row[COLUMNS.index(name)]) for name in names
                }
                assert person["set"] is not None
                left = possible(rows, collection, known)
                assert {ILL.index(value) for value in person["set"]} == left, (collection, names)


PEOPLE = [
    *[("20", "F", "flu")] * 2,
    *[("40", "F", "cold")] * 2,
    ("20", "M", "cold"),
    ("20", "M", "gout"),
    ("40", "M", "gout"),
]
TWO = [{"age": 0, "ill": 0}, {"sex": 0, "ill": 0}]


def test_what_two_marginals_say_together_exposes_more_than_either(tmp_path: Path) -> None:
    """Of a woman of 20 one table leaves flu, cold and gout, the other flu and cold; both two values."""
    with engines.opened() as engine:
        release = ps.publish(engine, table(PEOPLE), [ps.KLink(1)], ps.Marginals(collection=TWO))
        woman = [{"id": "her", "qi": {"age": "40", "sex": "F"}}]
        found = ps.intersection_attack(engine, [release], woman)
        assert found.people()[0]["set"] == ["cold"] and found.people()[0].confidence == Fraction(1)
        by_age = ps.intersection_attack(engine, [release], [{"id": "her", "qi": {"age": "40"}}])
        assert by_age.people()[0]["set"] == ["cold", "gout"]


def test_composition_reads_registered_marginals(tmp_path: Path) -> None:
    register = tmp_path / FILE_NAME
    with engines.opened() as engine:
        release = ps.publish(engine, table(PEOPLE), [ps.KLink(1)], ps.Marginals(collection=TWO))
        place = ps.write(engine, release, tmp_path / "people.csv")
        Register(register).keep("people", place)
        frame = pd.DataFrame(PEOPLE, columns=COLUMNS).assign(g=1)
        one_group = ps.Table(frame, ["age", "sex"], "ill", group="g")
        asked = ps.Composition("register", max_exposed="1/2", register=str(register))
        (verdict,) = ps.check(engine, one_group, [asked]).values()
    # one group says nothing; the marginals leave the two women of 40 one value
    assert (verdict.value, verdict.safe) == (Fraction(2, 7), True)


def test_marginals_that_say_more_than_their_join_are_refused(tmp_path: Path) -> None:
    triangle = [{"age": 0, "ill": 0}, {"sex": 0, "ill": 0}, {"age": 0, "sex": 0}]
    register = tmp_path / FILE_NAME
    with engines.opened() as engine:
        release = ps.publish(engine, table(PEOPLE), [ps.KLink(1)], ps.Marginals(collection=triangle))
        place = ps.write(engine, release, tmp_path / "people.csv")
        with pytest.raises(UsageError, match="together say more than their join"):
            ps.intersection_attack(engine, [place], [{"id": 1, "qi": {"age": "40"}}])
    Register(register).keep("people", place)
    with pytest.raises(UsageError, match="together say more than their join"):
        ps.Composition("register", register=str(register)).releases()
    plain = [{"age": 0, "sex": 0}]
    with engines.opened() as engine:
        release = ps.publish(engine, table(PEOPLE), [ps.KLink(1)], ps.Marginals(collection=plain))
        with pytest.raises(UsageError, match="no single sensitive"):
            ps.intersection_attack(engine, [release], [{"id": 1, "qi": {"age": "40"}}])


def test_the_command_line_attacks_marginals_beside_a_description(tmp_path: Path) -> None:
    with engines.opened() as engine:
        release = ps.publish(engine, table(PEOPLE), [ps.KLink(1)], ps.Marginals(collection=TWO))
        place = ps.write(engine, release, tmp_path / "people.csv")
    (tmp_path / "b.csv").write_text("age,illness\n20,flu\n20,cold\n40,gout\n40,cold\n")
    (tmp_path / "b.yml").write_text("file: b.csv\nsensitive: illness\ncolumns: [age]\n")
    (tmp_path / "known.csv").write_text("age,sex\n20,M\n40,M\n")
    words = ["attack", "intersection", str(place), str(tmp_path / "b.yml")]
    outcome = run([*words, "--people", str(tmp_path / "known.csv"), "--show-values", "--json"])
    assert outcome.exit == 0, outcome.errors
    assert [person["set"] for person in outcome.to_json()["people"]] == [["cold"], ["cold", "gout"]]
