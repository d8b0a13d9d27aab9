"""Releases of every method that publishes groups, attacked by their manifests."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.history.register import Register

PLACES = ps.Tree(
    {"oslo": ["north", "*"], "turku": ["north", "*"], "rome": ["south", "*"], "split": ["south", "*"]}
)
METHODS = {
    "generalise": ps.Generalise({"age": 2, "zip": 2, "town": 1, "sex": 1}),
    "full_domain": ps.FullDomain(),
    "bucketize": ps.Bucketize({"age": 2}),
    "two tables": ps.Bucketize({"age": 2}, layout="two_tables"),
    "boxes": ps.Multidimensional(),
    "bucketized boxes": ps.Multidimensional(output="bucketized"),
}


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    dice = random.Random(5)
    rows = {
        "who": [f"p{i}" for i in range(60)],
        "age": [str(dice.randint(20, 79)) for _ in range(60)],
        "zip": [dice.choice(["02139", "02140", "10001", "10002"]) for _ in range(60)],
        "town": [dice.choice(["oslo", "turku", "rome", "split"]) for _ in range(60)],
        "sex": [dice.choice(["F", "M", "X"]) for _ in range(60)],
        "illness": [dice.choice(["flu", "cold", "gout", "AIDS"]) for _ in range(60)],
    }
    return pd.DataFrame(rows)


def _table(people: pd.DataFrame) -> ps.Table:
    quasi = {"age": ps.Intervals(10, 20), "zip": ps.Mask(3, 0), "town": PLACES, "sex": ps.KeepOrDrop()}
    return ps.Table(people, quasi, "illness", identifier="who")


@pytest.mark.everywhere
@pytest.mark.parametrize("name", METHODS)
def test_everybody_is_found_and_their_value_is_among_those_left(
    engine: Any, people: pd.DataFrame, tmp_path: Path, name: str
) -> None:
    release = ps.publish(engine, _table(people), [ps.KAnonymity(2)], METHODS[name])
    place = ps.write(engine, release, tmp_path / "out.csv")
    found = ps.intersection_attack(engine, [place], _table(people))
    assert found.summary.n_ok == 60, found.warnings
    assert ps.intersection_attack(engine, [release], _table(people)).summary == found.summary
    truth = dict(zip(people["who"], people["illness"], strict=True))
    assert all(truth[person.id] in person["set"] for person in found.people())
    if name not in ("bucketize", "two tables", "bucketized boxes"):
        assert found.summary.n_ambiguous == 0


def test_two_releases_expose_no_less_than_either(engine: Any, people: pd.DataFrame, tmp_path: Path) -> None:
    places = []
    for name in ("generalise", "boxes"):
        release = ps.publish(engine, _table(people), [ps.KAnonymity(2)], METHODS[name])
        places.append(ps.write(engine, release, tmp_path / f"{name}.csv"))
    alone = [ps.intersection_attack(engine, [place], _table(people)).summary for place in places]
    both = ps.intersection_attack(engine, places, _table(people)).summary
    assert both.PVP["1/2"] >= max(each.PVP["1/2"] for each in alone)
    assert both.avg_EA_post <= min(each.avg_EA_post for each in alone)
    assert both.perfect - both.perfect_new == _exposed_before(engine, places, people)


def test_releases_of_all_four_kinds_are_attacked_together(
    engine: Any, people: pd.DataFrame, tmp_path: Path
) -> None:
    # hierarchy nodes, boxes, exact quasi-identifiers and centroids
    methods = [METHODS["generalise"], METHODS["boxes"], METHODS["bucketize"], ps.Microaggregate(3)]
    places = []
    for number, method in enumerate(methods):
        release = ps.publish(engine, _table(people), [ps.KAnonymity(2)], method)
        places.append(ps.write(engine, release, tmp_path / f"{number}.csv"))
    table = _table(people)
    alone = [ps.intersection_attack(engine, [place], table).people() for place in places]
    together = {person.id: person for person in ps.intersection_attack(engine, places, table).people()}
    for seen in zip(*(sorted(each, key=lambda person: person.id) for each in alone), strict=True):
        person = together[seen[0].id]
        assert set(person["set"]) == set.intersection(*(set(each["set"]) for each in seen))
        assert [each.EA[0] for each in seen] == person.EA


def _exposed_before(engine: Any, places: list[Path], people: pd.DataFrame) -> Any:
    """People whom one release alone exposes, counted one by one."""
    found = ps.intersection_attack(engine, places, _table(people)).people()
    return Fraction(100 * sum(min(person.EA) == 1 for person in found), 60)


def test_a_table_that_holds_a_later_version_is_not_attacked(
    engine: Any, people: pd.DataFrame, tmp_path: Path
) -> None:
    place = tmp_path / "out.manifest.json"
    for method in ("generalise", "boxes"):
        release = ps.publish(engine, _table(people), [ps.KAnonymity(2)], METHODS[method])
        ps.write(engine, release, "table:versions_out", overwrite=True, manifest_to=place)
        if method == "generalise":
            assert ps.intersection_attack(engine, [place], _table(people)).summary.n_ok == 60
            earlier = Register(tmp_path / "register.jsonl").keep("versions", place)
    with pytest.raises(ps.PrivacySqlError, match="no longer has the rows published as"):
        ps.intersection_attack(engine, [tmp_path / earlier.file], _table(people))


def test_a_published_file_that_changed_is_not_attacked(
    engine: Any, people: pd.DataFrame, tmp_path: Path
) -> None:
    release = ps.publish(engine, _table(people), [ps.KAnonymity(2)], METHODS["generalise"])
    place = ps.write(engine, release, tmp_path / "out.csv")
    (tmp_path / "out.csv").write_text((tmp_path / "out.csv").read_text().replace("flu", "flux"))
    with pytest.raises(ps.PrivacySqlError, match="changed since it was written"):
        ps.intersection_attack(engine, [place], _table(people))
