"""Registered releases of our own are read as they were published, whatever became of files since."""

from __future__ import annotations

import os
import random
import stat
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.errors import DataError, UsageError
from privacy_sql.history import group_contents
from privacy_sql.history.register import Register, registered
from privacy_sql.query.template import names, render
from tests.oracles import composition as oracle
from tests.seeds import seeds

# "food" is a job and the name of several jobs; the root has a name of its own
JOBS = {
    "food": ["food", "all_jobs"],
    "cook": ["food", "all_jobs"],
    "nurse": ["care", "all_jobs"],
    "care": ["help", "all_jobs"],
    "1-2": ["help", "all_jobs"],
}
ROOTED = ps.Tree({job: above[:1] for job, above in JOBS.items()})
METHODS: dict[str, Callable[[], Any]] = {
    "levels": lambda: ps.Generalise({"age": 1, "job": 1, "born": 2}),
    "exact": lambda: ps.Generalise({"age": 0, "job": 0, "born": 0}),
    "tops": lambda: ps.Generalise({"age": 3, "job": 2, "born": 1}),
    "search": lambda: ps.FullDomain(),
    "suppressed": lambda: ps.Generalise({"age": 2, "job": 1, "born": 3}, max_suppressed="0.9"),
    "recoding": lambda: ps.FullDomain(max_suppressed="0.9", local_recoding=True),
    "boxes": lambda: ps.Multidimensional(),
    "few boxes": lambda: ps.Multidimensional(split="range", max_suppressed="0.3"),
    "bucketized boxes": lambda: ps.Multidimensional(output="bucketized"),
    "buckets": lambda: ps.Bucketize({"age": 2}),
    "two tables": lambda: ps.Bucketize({"job": 1}, layout="two_tables"),
    "centres": lambda: ps.Microaggregate(2),
}
SEARCHED = ("search", "suppressed", "recoding", "boxes", "few boxes", "bucketized boxes", "centres")
SEEDS = seeds(20 if os.environ.get("HYPOTHESIS_PROFILE") == "nightly" else 1)
QUASI = ["age", "job", "born"]


def _people(seed: int, *, nulls: bool = True) -> pd.DataFrame:
    dice = random.Random(seed)
    missing = [None] if nulls else []
    rows = {
        "who": [f"p{i}" for i in range(14)],
        "age": [dice.choice(["21", "22", "30", "30", "38", "44", *missing]) for _ in range(14)],
        "job": [dice.choice([*JOBS, *missing]) for _ in range(14)],
        "born": [dice.choice(["1987-05-14", "1987-06-01", "1990-01-31", *missing]) for _ in range(14)],
        "ill": [dice.choice(["flu", "cold", "gout", "AIDS", "1", "1.0"]) for _ in range(14)],
    }
    return pd.DataFrame(rows, dtype=object)


def _table(people: pd.DataFrame, **more: Any) -> ps.Table:
    quasi = {"age": ps.Intervals(10, 20), "job": ROOTED, "born": ps.Dates("month", "year", "decade")}
    return ps.Table(people, quasi, "ill", name="people", **more)


def _registered(engine: Any, release: Any, folder: Path) -> Any:
    place = ps.write(engine, release, folder / "out.csv")
    register = Register(folder / "register.jsonl")
    register.keep("people", place, private=group_contents.writer(release))
    return registered(register).groups


def _true_groups(release: Any, *, as_written: bool = False) -> dict[str, frozenset[Any]]:
    """Everybody who was published, with the values of their group."""
    grouping = release.grouping
    if grouping.located_by == "labels" or release.method == "full_domain":  # equal labels, and buckets
        shown = grouping.base.engine.fetch(release.view)
        by = [release.group] if release.group else QUASI
        rows = [(row["who"], tuple(row[column] for column in by), row["ill"]) for row in shown]
    else:
        who = grouping.base.others["who"]
        query = render("counted/listed.sql", relation=grouping.rows, columns=names([who, "g", "s"]))
        rows = [(row[who], row["g"], row["s"]) for row in grouping.base.engine.fetch(query)]
    values: dict[Any, set[Any]] = {}
    for _, group, value in rows:
        values.setdefault(group, set()).add(value if as_written or value != "1.0" else "1")
    return {person: frozenset(values[group]) for person, group, _ in rows}


@pytest.mark.widens(4)
@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("seed", SEEDS)
def test_everybody_is_found_in_their_own_group(engine: Any, tmp_path: Path, name: str, seed: int) -> None:
    people = _people(seed, nulls=name != "centres")
    release = ps.publish(
        engine,
        _table(people, insensitive=["who"], acknowledged="who is who, to compare"),
        [ps.KAnonymity(2 if name in SEARCHED else 1)],
        METHODS[name](),
    )
    truth = _true_groups(release)
    # somebody who attacks needs no hierarchies: all that is needed was kept
    known = ps.Table(people, QUASI, identifier="who")
    for releases in (_registered(engine, release, tmp_path), [release]):
        for person in ps.intersection_attack(engine, releases, known).people():
            alike = people[people["who"] == person.id][QUASI].iloc[0].tolist()
            same = [
                truth[who]
                for who, *quasi in people[["who", *QUASI]].itertuples(index=False)
                if quasi == alike and who in truth
            ]
            found = None if person["set"] is None else {"1" if v == "1.0" else v for v in person["set"]}
            if not same:  # suppressed
                assert person.EA == [None]
            elif name in ("centres", "recoding"):  # which of several groups alike people lie in is known
                assert person.EA[0] == min(map(len, same))
            else:
                assert found == frozenset.union(*same)


@pytest.mark.parametrize("seed", SEEDS)
def test_two_registered_releases_expose_what_the_definition_says(
    engine: Any, tmp_path: Path, seed: int
) -> None:
    people, truths, found = _people(seed), [], []
    dice = random.Random(seed)
    for name in dice.sample(["levels", "search", "boxes", "few boxes", "suppressed"], 2):
        release = ps.publish(
            engine,
            _table(people, insensitive=["who"], acknowledged="who is who, to compare"),
            [ps.KAnonymity(2 if name in SEARCHED else 1)],
            METHODS[name](),
        )
        truths.append([_true_groups(release, as_written=as_written) for as_written in (False, True)])
        (tmp_path / name).mkdir()
        found += _registered(engine, release, tmp_path / name)
    # 1.0 is another way to write 1, or another value: the worse counts
    readings = [frozenset(people["ill"].replace("1.0", "1")), frozenset(people["ill"])]
    own = [dict.fromkeys(people["who"], values) for values in readings]
    ways = [
        [
            [[values[number][who]] if who in values[number] else [] for values in (own, *truths)]
            for number, _ in enumerate(readings)
        ]
        for who in people["who"].tolist()
    ]
    for level in (Fraction(1), Fraction(1, 2), Fraction(1, 3)):
        release = ps.publish(
            engine,
            _table(people),
            [ps.KAnonymity(2), ps.Composition(found, str(level))],
            ps.Generalise({"age": 3, "job": 2, "born": 4}),
        )
        (verdict,) = [v for v in release.verdicts.values() if v.criterion == "composition"]
        assert verdict.value == oracle.exposure_in_readings(ways, level)


@pytest.mark.everywhere
def test_what_is_kept_is_for_its_owner_alone(engine: Any, tmp_path: Path) -> None:
    release = ps.publish(engine, _table(_people(1)), [ps.KAnonymity(2)], METHODS["boxes"]())
    _registered(engine, release, tmp_path)
    kept = Register(tmp_path / "register.jsonl").kept
    for path in (kept, *kept.rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path
    (place,) = kept.rglob("*.manifest.json")
    assert "nurse" not in place.read_text()
    assert "nurse" in (place.parent / "reading.json").read_text()


def test_a_release_is_read_with_the_hierarchy_of_its_day(engine: Any, tmp_path: Path) -> None:
    people = pd.DataFrame({"job": ["cook", "food", "nurse", "care"], "ill": ["flu", "flu", "cold", "gout"]})
    published = ps.Table(people, {"job": ROOTED}, "ill", name="people")
    release = ps.publish(engine, published, [ps.KAnonymity(2)], ps.Generalise({"job": 2}))
    moved = ps.Tree(
        {"cook": ["care"], "food": ["food"], "nurse": ["food"], "care": ["care"], "1-2": ["care"]}
    )
    release = ps.publish(engine, published, [ps.KAnonymity(1)], ps.Generalise({"job": 1}))
    place = ps.write(engine, release, tmp_path / "out.csv")
    today = ps.Table(people, {"job": moved}, "ill")
    register = Register(tmp_path / "register.jsonl")
    register.keep("people", place)  # as 0.1.0 did
    with pytest.raises(DataError, match="not kept") as refused:
        ps.check(engine, today, [ps.Composition("register", register=str(register.path))])
    assert "register add" in str(refused.value)
    # where the hierarchy is the same still, it is read
    ps.check(engine, published, [ps.Composition("register", register=str(register.path))])
    register.keep("people", place, private=group_contents.writer(release))
    assert list(register.find(["people"])) == ["people"]
    for kinds in (moved, ROOTED):
        raw = ps.Table(people.assign(ill="?"), {"job": kinds}, identifier=None)
        found = ps.intersection_attack(engine, registered(register).groups, raw)
        assert found.summary.perfect == 100  # cook and food flu, nurse cold, care gout


def test_a_tampered_hierarchy_is_refused(engine: Any, tmp_path: Path) -> None:
    release = ps.publish(engine, _table(_people(1)), [ps.KAnonymity(1)], METHODS["levels"]())
    _registered(engine, release, tmp_path)
    register = Register(tmp_path / "register.jsonl")
    (place,) = register.kept.rglob("reading.json")
    place.write_text(place.read_text().replace("nurse", "curse"))
    with pytest.raises(DataError, match="changed since"):
        registered(register)


def test_a_registered_column_that_ours_leaves_out_still_locates(engine: Any, tmp_path: Path) -> None:
    rows = {"zip": ["1", "1", "2", "2"], "age": ["30"] * 4, "ill": ["flu", "flu", "cold", "cold"]}
    people = pd.DataFrame(rows)
    first = ps.publish(engine, ps.Table(people, ["zip"], "ill"), [ps.KAnonymity(2)], ps.Generalise({}))
    out = _registered(engine, first, tmp_path)
    asked = ps.Composition(out, "1")
    (verdict,) = ps.check(engine, ps.Table(people, ["age"], "ill", drop=["zip"]), [asked]).values()
    assert verdict.value == 1
    (verdict,) = ps.check(
        engine, ps.Table(people, {"age": None}, "ill", population=people[["age", "zip"]]), [asked]
    ).values()
    assert verdict.value == 1
    with pytest.raises(UsageError, match="none of the columns"):
        ps.check(engine, ps.Table(people[["age", "ill"]], ["age"], "ill"), [asked])
    both = ps.publish(engine, ps.Table(people, ["zip", "age"], "ill"), [ps.KAnonymity(2)], ps.Generalise({}))
    (tmp_path / "both").mkdir()
    asked = ps.Composition(_registered(engine, both, tmp_path / "both"), "1")
    (verdict,) = ps.check(engine, ps.Table(people[["age", "ill"]], ["age"], "ill"), [asked]).values()
    assert any("zip" in note for note in verdict.warnings)


@pytest.mark.parametrize("several", ["set", "multiset"])
@pytest.mark.parametrize("seed", SEEDS)
def test_people_count_and_not_their_rows(engine: Any, several: str, seed: int) -> None:
    dice = random.Random(seed)
    rows = [
        (f"p{who}", age, dice.choice(["flu", "cold", "gout", None]))
        for who in range(10)
        for age in [dice.choice(["20", "30"])]
        for _ in range(dice.choice([1, 1, 30]))
    ]
    frame = pd.DataFrame(rows, columns=["who", "age", "ill"], dtype=object)
    other = {"groups": [{"id": "o", "region": {"age": {"lt": 25}}, "sensitive": ["flu"]}]}
    table = ps.Table(frame, ["age"], "ill", identifier="who", values_per_person=several)
    values = {
        age: frozenset(ill for _, theirs, ill in rows if theirs == age and ill) or frozenset([None])
        for age in ("20", "30")
    }
    ages = {who: age for who, age, _ in rows}
    ways = [[[values[age]], [frozenset(["flu"])] if age == "20" else []] for age in ages.values()]
    (verdict,) = ps.check(engine, table, [ps.Composition([other], "1")]).values()
    assert (verdict.witness["people"], verdict.value) == (10, oracle.exposure(ways, Fraction(1)))


@pytest.mark.everywhere
def test_centres_registered_without_their_people_are_refused(engine: Any, tmp_path: Path) -> None:
    table = _table(_people(1, nulls=False))
    release = ps.publish(engine, table, [ps.KAnonymity(2)], METHODS["centres"]())
    place = ps.write(engine, release, tmp_path / "out.csv")
    register = Register(tmp_path / "register.jsonl")
    register.keep("people", place)  # as 0.1.0 did
    asked = ps.Composition("register", register=str(register.path))
    with pytest.raises(DataError, match="no record of who is near which was kept"):
        ps.check(engine, table, [asked])
    register.keep("people", place, private=group_contents.writer(release))
    (verdict,) = ps.check(engine, table, [asked]).values()
    assert verdict.witness["located"] == 14


def test_two_requirements_ask_about_people_known_by_more(engine: Any, tmp_path: Path) -> None:
    rows = {
        "zip": ["1", "1", "2", "2"],
        "age": ["30", "31", "30", "31"],
        "ill": ["flu", "flu", "cold", "gout"],
    }
    people = pd.DataFrame(rows)
    first = ps.publish(engine, ps.Table(people, ["zip"], "ill"), [ps.KAnonymity(2)], ps.Generalise({}))
    out = _registered(engine, first, tmp_path)
    table = ps.Table(people, {"age": ps.Intervals(10)}, "ill", drop=["zip"])
    asked = [ps.Composition(out, "1", "1/2"), ps.Composition(out, "1/2", "99/100")]
    certain, half = ps.publish(engine, table, asked, ps.Generalise({"age": 1})).verdicts.values()
    assert (certain.value, half.value) == (Fraction(1, 2), 1)
    # a search asks again and again
    assert ps.publish(engine, table, asked[:1], ps.FullDomain()).safe
