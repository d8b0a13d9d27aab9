"""What a release answers and loses, against the rows counted one by one."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.query.template import names, render
from privacy_sql.reporting.recording import recorded
from privacy_sql.studies.bucketized_kl import bucketized_kl
from privacy_sql.studies.usefulness import Typical, usefulness
from tests.seeds import OFTEN, enough, seeds

Row = tuple[Any, ...]


def people(seed: int) -> list[Row]:
    draw = random.Random(seed)
    return [(draw.choice("1234"), draw.choice(["m", "f", None]), draw.choice("wxyyz")) for _ in range(40)]


def published(engine: Any, rows: list[Row], method: Any, **hierarchies: Any) -> ps.Release:
    frame = pd.DataFrame(rows, columns=["age", "sex", "ill"])
    table = ps.Table(frame, {"age": None, "sex": None, **hierarchies}, "ill")
    return ps.publish(engine, table, [ps.KAnonymity(1)], method)


def values(release: ps.Release, alias: str) -> list[Any]:
    """The values a query's places stand for."""
    base = release.base
    query = render("counted/listed.sql", relation=base.dictionaries[alias], columns=names(["code", "value"]))
    return [row["value"] for row in sorted(base.engine.fetch(query), key=lambda row: row["code"])]


def error(
    release: ps.Release, rows: list[Row], expected: Callable[[Row], float], columns: list[int]
) -> float:
    """The mean relative error of one kind of question; a reader expects so many of (age, sex, ill)."""
    known = [values(release, alias) for alias in ("q1", "q2", "s")]
    every = [(age, sex, ill) for age in known[0] for sex in known[1] for ill in known[2]]
    kinds = [[], [0], [1], [0, 1]]
    typical = Typical(kinds).queries(list(map(len, known)))
    start = kinds.index(columns) * Typical.per_kind
    found = []
    for query in typical[start : start + Typical.per_kind]:
        wanted = {place: {known[place][each] for each in asked} for place, asked in query.items()}
        meets = [cell for cell in every if all(cell[place] in asked for place, asked in wanted.items())]
        actual = sum(rows.count(cell) for cell in meets)
        if actual:
            found.append(abs(sum(map(expected, meets)) - actual) / actual)
    return sum(found) / len(found)


@pytest.mark.parametrize("seed", seeds(3))
def test_permuted_values_answer_as_a_reader_shares_them_out(engine: Any, seed: int) -> None:
    rows = people(seed)
    release = published(engine, rows, ps.Bucketize(["sex"]))
    alike, size = Counter((age, sex) for age, sex, _ in rows), Counter(sex for _, sex, _ in rows)
    held = Counter((sex, ill) for _, sex, ill in rows)

    def expected(cell: Row) -> float:
        age, sex, ill = cell
        return alike[age, sex] * held[sex, ill] / size[sex] if alike[age, sex] else 0.0

    found = {tuple(columns): value for columns, value in usefulness(release).errors}
    for columns, named in (([], ()), ([0], ("age",)), ([1], ("sex",)), ([0, 1], ("age", "sex"))):
        assert found[named] == pytest.approx(error(release, rows, expected, columns))
    assert found[("age",)] > 0 and found[("sex",)] == pytest.approx(0)  # groups are those of sex


@pytest.mark.parametrize("seed", seeds(3))
def test_one_level_per_column_answers_as_a_reader_spreads_it(engine: Any, seed: int) -> None:
    rows = people(seed)
    release = published(engine, rows, ps.Generalise({"age": 1}), age=ps.KeepOrDrop())
    shown, ages = Counter((sex, ill) for _, sex, ill in rows), len({age for age, _, _ in rows})

    def expected(cell: Row) -> float:
        return shown[cell[1], cell[2]] / ages

    found = usefulness(release).errors
    wanted = [error(release, rows, expected, columns) for columns in ([], [0], [1], [0, 1])]
    assert [value for _, value in found] == pytest.approx(wanted)


@pytest.mark.parametrize("by", ["anatomy", ["sex"], []])
def test_the_divergence_of_permuted_values_counts_people_alike_in_every_group_they_lie_in(
    engine: Any, by: Any
) -> None:
    rows = people(4)
    release = published(engine, rows, ps.Bucketize(by))
    held = engine_rows(release)
    size, values_of = Counter(g for g, *_ in held), Counter((g, ill) for g, _, _, ill in held)
    alike = Counter((g, age, sex) for g, age, sex, _ in held)
    true = Counter(row[1:] for row in held)
    kl = 0.0
    for (age, sex, ill), n in true.items():
        groups = [g for g in size if alike[g, age, sex]]
        expected = sum(alike[g, age, sex] * values_of[g, ill] / size[g] for g in groups)
        kl += n / len(rows) * math.log(n / expected)
    assert bucketized_kl(engine, release) == pytest.approx(kl) and kl >= 0


def engine_rows(release: ps.Release) -> list[Row]:
    """Group, codes of both columns and of the value of every row, as only the engine knows them."""
    query = render(
        "counted/listed.sql",
        relation=release.grouping.candidate,
        columns=names(["g", "q1", "q2", "s", "n_rows"]),
    )
    found = release.base.engine.fetch(query)
    return [(row["g"], row["q1"], row["q2"], row["s"]) for row in found for _ in range(row["n_rows"])]


def test_a_run_records_what_can_be_measured_and_why_the_rest_cannot(engine: Any) -> None:
    rows = people(5)
    told = recorded(published(engine, rows, ps.Bucketize(["sex"])))["usefulness"]
    assert told["utilities"]["kl"] > 0 and len(told["errors"]) == 4
    masked = ps.Bucketize(["sex"], mask={"age": 1})
    for method in (ps.Multidimensional(), ps.FullDomain(local_recoding=True), masked):
        run = recorded(published(engine, rows, method, age=ps.KeepOrDrop()))
        assert "one level" in run["usefulness"]["missing"], method
        exact = [column["shown_as"] for column in run["columns"] if column["role"] == "quasi-identifier"]
        assert all(exact) or method is masked  # nothing that is not shown as it is passes for exact


@pytest.mark.parametrize("kind", ["one", "set", "multiset", "no sensitive column"])
def test_arrays_and_statements_tell_the_same_usefulness(
    engine: Any, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared = 0
    for seed in seeds(10, OFTEN):
        draw = random.Random(f"{kind} {seed}")
        n = draw.choice([12, 60])
        rows: dict[str, list[Any]] = {
            "who": [str(draw.randrange(n) if kind in ("set", "multiset") else number) for number in range(n)],
            "ill": [draw.choice([None, "a", "a", "b", "c"]) for _ in range(n)],
        }
        ages = {who: draw.choice([None, *range(20, 40)]) for who in sorted(set(rows["who"]))}
        sexes = {who: draw.choice("FM") for who in sorted(ages)}
        rows |= {"age": [ages[who] for who in rows["who"]], "sex": [sexes[who] for who in rows["who"]]}
        frame = pd.DataFrame(rows, dtype=object).astype({"age": "Int64"})
        quasi = {"age": ps.Intervals(5, 10), "sex": ps.KeepOrDrop()}
        per_person: Any = kind if kind in ("set", "multiset") else "one"
        ill = None if kind.startswith("no ") else "ill"
        table = ps.Table(frame, quasi, ill, identifier="who", values_per_person=per_person)
        levels, most = {"age": draw.randrange(3), "sex": draw.randrange(2)}, draw.choice(["0", "0.9"])
        require = [ps.KAnonymity(draw.choice([1, 3]) if most != "0" else 1)]
        try:
            release = ps.publish(engine, table, require, ps.Generalise(levels, max_suppressed=most))
        except ps.PrivacySqlError:
            continue
        if not any(levels.values()):
            continue
        compared += 1
        found = usefulness(release)
        with monkeypatch.context() as patched:
            patched.setattr("privacy_sql.studies.usefulness.fits", lambda *_: False)
            other = usefulness(release)
        assert found.utilities == pytest.approx(other.utilities), seed
        assert [columns for columns, _ in found.errors] == [columns for columns, _ in other.errors]
        assert [e for _, e in found.errors] == pytest.approx([e for _, e in other.errors]), seed
    assert enough(compared, 1)
