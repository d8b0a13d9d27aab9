"""Every verdict, record and page is of the groups that are published: the written rows are read again.

Random small tables, every method. The groups that requirements were asked about hold the same values as often
as the groups a reader of the file sees, so do the verdicts of the release, of its manifest and of the file,
and so does what a report shows of them.
"""

from __future__ import annotations

import csv
import random
from collections import Counter
from collections.abc import Iterable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql import manifest
from privacy_sql.errors import NoSafeChoice, NotSafe
from privacy_sql.reporting.recording import recorded
from tests import parts
from tests.oracles import worst_case
from tests.seeds import enough, seeds

TABLES = 6
FACTS = 2
JOBS = ps.Tree({"a": ["x", "*"], "b": ["x", "*"], "c": ["c", "*"], "d": ["y", "*"]})
ASKED = [
    ps.KAnonymity(2),
    ps.LDiversity("1.1", kind="entropy"),
    ps.LDiversity(1),
    ps.TCloseness("99/100"),
]
Groups = Counter[frozenset[tuple[Any, int]]]


def methods() -> dict[str, list[Any]]:
    found = {
        "generalise": [ps.Generalise({"age": 1, "job": 1}, max_suppressed="1/2")],
        "full_domain": [
            ps.FullDomain(max_suppressed=share, local_recoding=local)
            for share in ("0", "1/3")
            for local in (False, True)
        ],
        "bucketize": [
            ps.Bucketize({"age": 1}),
            ps.Bucketize("anatomy", l=2),
            ps.Bucketize("full_domain"),
            ps.Bucketize({"job": 1}, layout="two_tables"),
        ],
        "multidimensional": [
            ps.Multidimensional(max_suppressed="1/3"),
            ps.Multidimensional(output="bucketized"),
            ps.Multidimensional(strict=False),
        ],
        "microaggregate": [ps.Microaggregate(2), ps.Microaggregate(3, size="variable", together=True)],
    }
    # marginals are judged from their cells in tests/methods, and noisy counts are a promise of the noise
    elsewhere = ["marginals", "noisy_counts"]
    return found | {name: [parts.method(name)] for name in parts.others("methods", found, elsewhere)}


def table(seed: int) -> ps.Table:
    """Up to thirty people with few values, so that most combinations occur several times."""
    drawn = random.Random(seed)
    made = [
        (
            drawn.choice([20, 21, 25, 31, 38]),
            drawn.choice("abcd"),
            drawn.choice(["flu", "flu", "flu", "u", "v"]),
        )
        for _ in range(drawn.randint(6, 30))
    ]
    rows = pd.DataFrame(made, columns=["age", "job", "illness"])
    return ps.Table(rows, {"age": ps.Intervals(10), "job": JOBS}, "illness")


def released(engine: Any, method: Any) -> Iterator[tuple[int, ps.Release]]:
    """The releases of the method that are safe."""
    for seed in seeds(TABLES, share=TABLES):
        try:
            release = ps.publish(engine, table(seed), ASKED, method)
        except (NoSafeChoice, NotSafe):
            continue
        except ps.PrivacySqlError as problem:
            assert problem.code == "no_anatomy", problem
            continue
        if release.safe:
            yield seed, release


def judged(release: ps.Release) -> Groups:
    """The groups that the requirements were asked about."""
    grouping = release.grouping
    query = ps.Query(
        f"select h.g, h.n_rows, d.value from {grouping.histogram} as h"
        f" inner join {grouping.base.dictionaries['s']} as d on h.s = d.code"
    )
    return counted((row["g"], row["value"], row["n_rows"]) for row in grouping.base.engine.fetch(query))


def counted(lines: Iterable[tuple[Any, Any, int]]) -> Groups:
    """Groups as sets of (value, count); no group may hold the same value on two lines."""
    groups: dict[Any, list[tuple[Any, int]]] = {}
    for group, value, n in lines:
        groups.setdefault(group, []).append((value, n))
    assert all(len(pairs) == len({value for value, _ in pairs}) for pairs in groups.values())
    return Counter(frozenset(pairs) for pairs in groups.values())


def written(path: Path, release: ps.Release) -> list[tuple[Any, Any]]:
    """Group and value of every row as a reader of the files sees them."""
    keys = [release.group] if release.group else list(release.quasi)
    if release.parts:
        path = path.with_name(f"{path.stem}.values.csv")
    with path.open(newline="", encoding="utf-8") as lines:
        return [
            (tuple(row[key] for key in keys), row["illness"])
            for row in csv.DictReader(lines)
            for _ in range(int(row["n_people"]) if release.parts else 1)
        ]


def read(rows: list[tuple[Any, Any]]) -> Groups:
    return counted((group, value, n) for (group, value), n in Counter(rows).items())


def values(verdicts: Iterable[Any]) -> list[tuple[Any, ...]]:
    return [
        (v["requirement"], v["safe"], v["value"], v["value_float"] and round(v["value_float"], 9))
        for v in verdicts
    ]


@pytest.mark.parametrize("name", sorted(methods()))
def test_the_groups_that_are_judged_and_shown_are_those_of_the_file(
    engine: Any, tmp_path: Path, name: str
) -> None:
    found = 0
    for number, method in enumerate(methods()[name]):
        for seed, release in released(engine, method):
            found += 1
            place = ps.write(engine, release, tmp_path / f"{name}{number}_{seed}.csv")
            rows = written(tmp_path / f"{name}{number}_{seed}.csv", release)
            groups = read(rows)
            assert len(rows) == release.rows_out == release.rows_in - release.suppressed
            assert judged(release) == groups, (method, seed)
            own = [verdict.to_json() for verdict in release.verdicts.values()]
            assert values(own) == values(manifest.read(place).to_json()["verdicts"])
            again = pd.DataFrame([(str(group), value) for group, value in rows], columns=["g", "illness"])
            theirs = ps.check(engine, ps.Table(again, [], "illness", group="g"), ASKED)
            assert values(own) == values(verdict.to_json() for verdict in theirs.values())
            assert_shown(release, groups)
    assert enough(found, 4)


def assert_shown(release: ps.Release, groups: Groups) -> None:
    """What a report shows of the groups: their sizes, and how sure somebody can be who knows some facts."""
    record = recorded(release)
    each = [dict(group) for group in groups.elements()]
    sizes = sorted(sum(group.values()) for group in each)
    assert record["groups"] == {
        "n_groups": len(sizes),
        "smallest": sizes[0],
        "median": sizes[len(sizes) // 2],
        "largest": sizes[-1],
    }
    names = sorted({value for group in each for value in group})
    table = [[group.get(value, 0) for value in names] for group in each]
    curve = [float(Fraction(worst_case.recursion_of_the_paper(table, k))) for k in range(FACTS + 1)]
    assert record["curves"]["implications"][: FACTS + 1] == pytest.approx(curve)
