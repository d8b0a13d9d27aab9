"""A release measured against its source: beside every person and every row, one by one."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise
from math import comb
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from scipy.stats import beta

import privacy_sql as ps
from privacy_sql.query.template import Sql, render
from tests import engines
from tests.command_line import call
from tests.seeds import NIGHTLY, seeds


def _rows(chance: random.Random, most: int) -> list[tuple[Any, ...]]:
    return [
        (
            chance.choice([None, "", "a", "b"]),
            chance.choice(["1", "2", None]),
            chance.choice(["x", "y", None]),
        )
        for _ in range(chance.randint(1, most))
    ]


def _frame(rows: list[tuple[Any, ...]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["a", "b", "s"], dtype=object)


def _right(people: list[tuple[Any, ...]], shown: list[tuple[Any, ...]]) -> Fraction:
    right = Fraction(0)
    for person in people:
        values = [row[2] for row in shown if row[:2] == person[:2]]
        best = [v for v in dict.fromkeys(values) if values.count(v) == max(map(values.count, values))]
        right += Fraction(person[2] in best, len(best) or 1)
    return right


@pytest.mark.parametrize("seed", seeds(25))
def test_the_study_agrees_with_asking_about_everybody(engine: Any, seed: int) -> None:
    chance = random.Random(seed)
    people, shown, others = _rows(chance, 15), _rows(chance, 15), _rows(chance, 8)
    found = ps.measure(
        engine, _frame(people), _frame(shown), ["a", "b"], "s", _frame(others), most=1, linked=(["a"], ["b"])
    )
    assert found.right == _right(people, shown)
    assert found.people == len(people)
    assert found.fitted == sum(any(row[:2] == person[:2] for row in shown) for person in people)
    values = [person[2] for person in people]
    assert found.baseline == Fraction(max(map(values.count, values)), len(people))
    assert found.control is not None
    assert found.control.right == _right(others, shown)
    for columns, told in [
        ((0, 1), found.singled_out),
        ((0,), found.subsets["a",]),
        ((1,), found.subsets["b",]),
    ]:
        ours, theirs = ([tuple(row[c] for c in columns) for row in rows] for rows in (people, shown))
        alone = {key for key in theirs if theirs.count(key) == 1}
        assert (told.right, told.alone) == (sum(ours.count(key) == 1 for key in alone), len(alone))
    linked = 0
    for person in people:
        if all([each[c] for each in people].count(person[c]) == 1 for c in (0, 1)):
            linked += sum(row[0] == person[0] and row[1] == person[1] for row in shown) == 1
    assert found.linked == linked


# the last column and the secret of these have numbers that no 64 bits hold, or are too far apart to be packed
NUMBERS = {
    "small": ([None, -3, 0, 2**31], [1, 2, None], [5, 7, None]),
    "far apart": ([None, -(2**61), 2**61], [1, 2, None], [5, 7, None]),
    "ends": ([-(2**63), 2**63 - 1], [1, 2], [5, 7]),
    "texts beside": ([None, -3, 0], ["1", "01", None], [5, 7, None]),
    "missing": ([None], [None, 1], [None]),
}


@pytest.mark.widens(8)
@pytest.mark.parametrize("seed", seeds(10))
@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("shown_as_text", [False, True])
def test_whole_numbers_are_measured_like_their_texts(
    engine: Any, seed: int, kind: str, shown_as_text: bool
) -> None:
    chance = random.Random(f"{kind} {seed}")
    people, shown = (
        [tuple(map(chance.choice, NUMBERS[kind])) for _ in range(chance.randint(1, 12))] for _ in range(2)
    )
    texts = [tuple(None if it is None else str(it) for it in row) for row in shown]

    def table(rows: list[tuple[Any, ...]], whole: bool) -> str:
        kinds = [
            "bigint" if whole and all(isinstance(it, int | None) for it in of) else "varchar"
            for of in NUMBERS[kind]
        ]
        columns = dict(zip("abs", zip(kinds, zip(*rows, strict=True), strict=True), strict=True))
        return engine.load({name: (of, list(its)) for name, (of, its) in columns.items()}, "measured")

    found = ps.measure(
        engine,
        table(people, True),
        table(texts if shown_as_text else shown, not shown_as_text),
        ["a", "b"],
        "s",
        most=1,
        linked=(["a"], ["b"]),
        nearest=2000,
    )
    as_texts = ps.measure(
        engine,
        _frame([tuple(None if it is None else str(it) for it in row) for row in people]),
        _frame(texts),
        ["a", "b"],
        "s",
        most=1,
        linked=(["a"], ["b"]),
        nearest=2000,
    )
    assert found == as_texts
    assert found.right == _right(people, shown)


def test_rows_outside_the_ends_that_were_read_are_not_packed(engine: Any) -> None:
    """A row that came after the ends were read has no number of its own, so the rows are counted anew."""
    columns = [("a", Sql("k1")), ("b", Sql("k2"))]
    late = [(1, 5), (3, 9), (4, 5), (None, 6), (2, None)]
    rows, ends = (
        engine.load({"a": ("bigint", [a for a, _ in of]), "b": ("bigint", [b for _, b in of])}, "rows")
        for of in (late, late[:2])
    )
    ends = engine.create(render("studies/ends.sql", source=ends, columns=columns))
    given = {"source": rows, "columns": columns, "ends": ends}
    found = {row["packed"]: row["n_rows"] for row in engine.fetch(render("studies/packed.sql", **given))}
    # b has the ends 5 and 9, so a width of 6
    assert found == {1 * 6 + 1: 1, 3 * 6 + 5: 1, None: 1, 0 * 6 + 2: 1, 2 * 6 + 0: 1}


@pytest.mark.parametrize(("right", "asked"), [(0, 7), (7, 7), (1, 20), (19, 20), (10, 21), (300, 5000)])
@pytest.mark.parametrize("level", ["0.9", "0.975"])
def test_the_interval_is_that_of_the_beta_distribution_and_covers_what_it_says(
    right: int, asked: int, level: str
) -> None:
    low, high = ps.clopper_pearson(right, asked, level)
    tail = (1 - float(level)) / 2
    assert float(low) == pytest.approx(beta.ppf(tail, right, asked - right + 1) if right else 0, abs=1e-9)
    assert float(high) == pytest.approx(
        beta.ppf(1 - tail, right + 1, asked - right) if right < asked else 1, abs=1e-9
    )
    if asked <= 21:
        # outwards: at either end so many, or so few, are no likelier than half the error
        chances = [comb(asked, n) * low**n * (1 - low) ** (asked - n) for n in range(right, asked + 1)]
        assert sum(chances) <= (1 - Fraction(level)) / 2 or low == 0
        chances = [comb(asked, n) * high**n * (1 - high) ** (asked - n) for n in range(right + 1)]
        assert sum(chances) <= (1 - Fraction(level)) / 2 or high == 1


def test_shares_of_more_people_have_narrower_intervals_around_them() -> None:
    widths = []
    for asked in (10, 100, 1000):
        low, high = ps.clopper_pearson(asked // 5, asked)
        assert low < Fraction(1, 5) < high
        widths.append(high - low)
    assert all(narrow < wide for wide, narrow in pairwise(widths))


def test_a_number_right_that_is_no_whole_number_is_rounded_away_from_the_middle() -> None:
    low, high = ps.clopper_pearson(Fraction(5, 2), 10)
    assert (low, high) == (ps.clopper_pearson(2, 10)[0], ps.clopper_pearson(3, 10)[1])


def test_a_release_of_ours_is_measured_at_its_levels(tmp_path: Path) -> None:
    people = pd.DataFrame(
        {
            "age": [str(20 + n % 17) for n in range(60)],
            "ill": [("flu", "cold", "gout")[n % 3] for n in range(60)],
        }
    )
    people.to_csv(tmp_path / "people.csv", index=False)
    table = ps.Table(tmp_path / "people.csv", {"age": ps.Intervals(5, 10)}, "ill")
    with engines.opened() as engine:
        release = ps.publish(engine, table, [ps.KAnonymity(3)], ps.Generalise({"age": 2}))
        written = ps.write(engine, release, tmp_path / "out.csv")
        found = ps.measure(engine, tmp_path / "people.csv", tmp_path / "out.csv", ["age"], "ill")
    assert written
    bands = [(str(int(age) // 10), ill) for age, ill in zip(people["age"], people["ill"], strict=True)]
    assert found.fitted == 60
    assert found.right == _right([(a, "", s) for a, s in bands], [(a, "", s) for a, s in bands])
    outcome = call(
        *("attack", "measure", "--source", "people.csv", "--release", "out.csv.manifest.json"),
        *("--known", "age", "--secret", "ill", "--control", "people.csv"),
        *("--project", tmp_path, "--json"),
    )
    told = outcome.json["attack"]
    assert told["right"] == str(found.right)
    assert told["control"]["right"] == str(found.right)


FROM_A_FILE = """
version: 1
name: p
releases:
  people:
    source: {file: people.csv}
    quasi_identifiers:
      - {column: job, hierarchy: {file: jobs.csv}}
      - {column: zip, hierarchy: {mask: [2, 0]}}
    sensitive: {column: ill}
    require: {k_anonymity: {k: 2}}
    method: {generalise: {levels: {job: 1, zip: 1}}}
    output: {target: out/people.csv}
"""
JOBS = {"nurse": "care", "doctor": "care", "cook": "food", "baker": "food"}


def _published_by_a_project(folder: Path, *, registered: bool) -> list[tuple[str, str, str]]:
    people = [(list(JOBS)[n % 4], f"1{n % 3}{n % 2}", ("flu", "cold", "gout")[n % 7 % 3]) for n in range(96)]
    pd.DataFrame(people, columns=["job", "zip", "ill"]).to_csv(folder / "people.csv", index=False)
    (folder / "jobs.csv").write_text("".join(f"{job};{kind};*\n" for job, kind in JOBS.items()))
    (folder / "privacy.yml").write_text(FROM_A_FILE)
    if registered:  # any earlier release starts the register
        (folder / "other.csv").write_text("zip,ill\n100,flu\n")
        (folder / "other.yml").write_text("{file: other.csv, sensitive: ill, columns: {zip: zip}}\n")
        assert call("register", "add", "other", folder / "other.yml", "--project", folder).exit == 0
    assert call("run", "--project", folder).exit == 0
    return [(JOBS[job], f"{code[:2]}*", ill) for job, code, ill in people]


@pytest.mark.parametrize("where", ["project", "register", "option", "python"])
def test_a_hierarchy_that_was_a_file_is_that_of_the_day(tmp_path: Path, where: str) -> None:
    shown = _published_by_a_project(tmp_path, registered=where == "register")
    asked = ["attack", "measure", "--release", tmp_path / "out" / "people.csv", "--known", "job,zip"]
    asked += ["--source", tmp_path / "people.csv", "--secret", "ill"]
    if where == "register":
        (tmp_path / "jobs.csv").write_text("".join(f"{job};people;*\n" for job in JOBS))
        asked += ["--project", tmp_path]
    elif where == "project":
        asked += ["--project", tmp_path]
    elif where == "option":
        asked += ["--hierarchy", f"job={tmp_path / 'jobs.csv'}"]
    if where == "python":
        kind = ps.Tree({job: [kind] for job, kind in JOBS.items()})
        out = tmp_path / "out" / "people.csv"
        with engines.opened() as engine:
            given = ps.Table(tmp_path / "people.csv", {"job": kind, "zip": None}, "ill")
            found = ps.measure(engine, given, out, ["job", "zip"], "ill")
            same = ps.measure(
                engine, tmp_path / "people.csv", out, ["job", "zip"], "ill", hierarchies={"job": kind}
            )
        assert found == same and (found.right, found.fitted) == (_right(shown, shown), 96)
        return
    told = call(*asked, "--json").json
    assert told["exit"] == 0, told["errors"]
    assert (told["attack"]["right"], told["attack"]["fitted"]) == (str(_right(shown, shown)), 96)


def test_a_hierarchy_that_nobody_kept_is_asked_for(tmp_path: Path) -> None:
    _published_by_a_project(tmp_path, registered=False)
    asked = ["attack", "measure", "--release", tmp_path / "out" / "people.csv", "--known", "job"]
    asked += ["--source", tmp_path / "people.csv", "--secret", "ill"]
    (tmp_path / "elsewhere").mkdir()
    told = call(*asked, "--project", tmp_path / "elsewhere")
    assert told.exit == 2 and "--hierarchy job=FILE" in told.err and "single level" not in told.err
    (tmp_path / "jobs.csv").write_text("".join(f"{job};people;*\n" for job in JOBS))
    told = call(*asked, "--hierarchy", f"job={tmp_path / 'jobs.csv'}")
    assert told.exit == 3 and "not the hierarchy that job was published with" in told.err


def test_a_secret_that_is_published_coarser_is_guessed_as_it_is_published(tmp_path: Path) -> None:
    shown = _published_by_a_project(tmp_path, registered=False)
    asked = ["attack", "measure", "--release", tmp_path / "out" / "people.csv", "--known", "ill"]
    asked += ["--source", tmp_path / "people.csv", "--secret", "zip", "--project", tmp_path]
    rows = [(ill, "", code) for _, code, ill in shown]
    told = call(*asked, "--json").json["attack"]
    assert told["right"] == str(_right(rows, rows)) and Fraction(told["right"]) > 0
    codes = [code for _, code, _ in shown]
    assert told["baseline"] == str(Fraction(max(map(codes.count, codes)), 96))


@pytest.mark.parametrize(
    ("known", "secret", "more", "message"),
    [
        ([], "s", {}, "at least one column"),
        (["a", "s"], "s", {}, "not the secret"),
        (["a", "a"], "s", {}, "each once"),
        (["a", "b"], "s", {"linked": (["a"], [])}, "two sets"),
        (["a", "nope"], "s", {}, "nope"),
        (["a"], "s", {"level": "1.5"}, "level"),
        (["a"], "s", {"level": "high", "control": None}, "level"),
        (["a", "b"], "s", {"control": _frame([])}, "no rows"),
    ],
)
def test_what_cannot_be_asked_is_refused(known: Any, secret: str, more: Any, message: str) -> None:
    rows = _frame([("a", "1", "x"), ("b", "2", "y")])
    with engines.opened() as engine, pytest.raises(ps.PrivacySqlError, match=message):
        ps.measure(engine, rows, rows, known, secret, **{"control": rows, **more})


def _apart(ours: tuple[Any, ...], theirs: tuple[Any, ...], spans: list[Any]) -> Fraction:
    """Gower's distance, exactly: a part of the range for numbers, equality for labels."""
    total = Fraction(0)
    for one, other, span in zip(ours, theirs, spans, strict=False):
        if span is None or one is None or other is None:
            total += 0 if one == other else 1
        elif span[1] > span[0]:
            total += abs(Fraction(one) - Fraction(other)) / (span[1] - span[0])
    return total


def _right_by_nearest(people: list[Any], shown: list[Any], spans: list[Any]) -> list[Fraction]:
    """For each person how often the guess from the nearest rows is right."""
    found = []
    for person in people:
        apart = [_apart(person[:-1], row[:-1], spans) for row in shown]
        values = [row[-1] for row, far in zip(shown, apart, strict=True) if far == min(apart)]
        best = {v for v in values if values.count(v) == max(map(values.count, values))}
        found.append(Fraction(person[-1] in best, len(best)))
    return found


@pytest.mark.parametrize("seed", seeds(20))
def test_guesses_from_the_nearest_rows_are_those_of_the_definition(engine: Any, seed: int) -> None:
    draw = random.Random(f"nearest {seed}")

    def rows(most: int) -> list[tuple[Any, ...]]:
        number = ["1", "1.0", "2.5", "-4", "1e1", None, "7", "8"]
        return [
            (draw.choice(number), draw.choice(["a", "b", "", None]), draw.choice(["x", "y", "z", None]))
            for _ in range(draw.randint(1, most))
        ]

    people, shown, others = rows(14), rows(14), rows(9)
    numbers = [Fraction(row[0]) for row in (*people, *shown, *others) if row[0] is not None]
    spans = [(min(numbers, default=0), max(numbers, default=0)), None]
    files = _frame(people), _frame(shown), ["a", "b"], "s", _frame(others)
    everybody = ps.measure(engine, *files, nearest=2000, seed=seed).nearest
    each = _right_by_nearest(people, shown, spans)
    assert everybody is not None and everybody.asked == len(people)
    assert everybody.right == sum(each)
    assert everybody.low == everybody.high == sum(each) / len(people)
    size = draw.randint(1, 14)
    found = ps.measure(engine, *files, nearest=size, seed=seed)
    some = found.nearest
    assert some is not None and some.asked == min(size, len(people))
    if some.asked < len(people):
        assert (some.low, some.high) == ps.clopper_pearson(some.right, some.asked)
    # the same sample in whatever order the people come
    draw.shuffle(people)
    again = ps.measure(engine, _frame(people), *files[1:], nearest=size, seed=seed)
    assert (again.nearest, again.nearest_excess) == (some, found.nearest_excess)
    of_others = _right_by_nearest(others, shown, spans)
    full = ps.measure(engine, *files, nearest=2000, seed=seed).nearest_control
    assert full is not None and full.right == sum(of_others)


@pytest.mark.parametrize(
    ("rows", "asked"),
    [
        (("-3", "5", "10"), "1"),  # thirteenths of the range have no end in decimals
        (("0", "0.0000000000000000002", "7"), "0.0000000000000000001"),  # a unit too small for whole numbers
    ],
)
def test_rows_at_the_same_distance_share_the_guess(engine: Any, rows: Any, asked: str) -> None:
    near, as_near, far = rows
    shown = _frame([(near, "", "x"), (as_near, "", "y"), (far, "", "z")])
    found = ps.measure(engine, _frame([(asked, "", "x"), (asked, "", "y")]), shown, ["a"], "s", nearest=2)
    assert found.nearest is not None and found.nearest.right == 1


def test_a_sample_is_drawn_evenly_and_each_person_once(engine: Any) -> None:
    """Of four people two are right: every pair of them is drawn as often as any other, and nobody twice."""
    people = [("1", "", "x"), ("1", "", "y"), ("9", "", "y"), ("9", "", "x")]
    shown = [("1", "", "x"), ("9", "", "y")]
    files, drawn = (_frame(people), _frame(shown), ["a"], "s"), range(240 if NIGHTLY else 120)
    found = [ps.measure(engine, *files, nearest=2, seed=seed).nearest for seed in drawn]
    right = [each.right for each in found if each is not None]
    n = len(drawn)
    assert len(right) == n
    # both right, one, none: 1, 4 and 1 of 6 pairs
    assert n / 12 < right.count(Fraction(2)) < n / 4 and n / 12 < right.count(Fraction(0)) < n / 4
    assert n / 2 < right.count(Fraction(1)) < n * 5 / 6


def test_the_excess_of_two_samples_has_both_errors(engine: Any) -> None:
    draw = random.Random(3)
    people, others = (
        [(str(draw.randint(1, 50)), "", draw.choice("xy")) for _ in range(90)] for _ in range(2)
    )
    files = _frame(people), _frame(people), ["a"], "s", _frame(others)
    found = ps.measure(engine, *files, nearest=40, seed=1)
    assert found.nearest is not None and found.nearest_control is not None
    near, control = found.nearest, found.nearest_control
    assert found.nearest_excess == ps.excess((near.right, 40), (control.right, 40), "0.95")
    all_asked = ps.measure(engine, *files, nearest=90, seed=1)
    assert all_asked.nearest_excess is not None and all_asked.nearest_control is not None
    right = all_asked.nearest.right, all_asked.nearest_control.right  # type: ignore[union-attr]
    assert all_asked.nearest_excess == ps.excess((right[0], 90), (right[1], 90), "0.95", counted=True)


def test_too_many_people_or_pairs_are_refused(engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = _frame([("1", "1", "x"), ("2", "2", "y"), ("3", "3", "y")])
    for size in (0, 2001, -1):
        with pytest.raises(ps.PrivacySqlError, match="1 to 2,000 people") as problem:
            ps.measure(engine, rows, rows, ["a"], "s", nearest=size)
        assert problem.value.exit == 2
    monkeypatch.setattr("privacy_sql.studies._nearest.MOST_PAIRS", 8)
    assert ps.measure(engine, rows, rows, ["a"], "s", nearest=2).nearest
    with pytest.raises(
        ps.PrivacySqlError, match="3 people and 3 different rows are more than 8 pairs"
    ) as problem:
        ps.measure(engine, rows, rows, ["a"], "s", nearest=3)
    assert problem.value.exit == 2


def test_the_command_tells_the_sample_its_interval_and_its_seed(tmp_path: Path) -> None:
    rows = [(str(n % 7), str(n % 3), "xyz"[n % 2]) for n in range(50)]
    _frame(rows).to_csv(tmp_path / "people.csv", index=False)
    given = ("attack", "measure", "--source", "people.csv", "--release", "people.csv", "--known", "a,b")
    more = (
        "--secret",
        "s",
        "--nearest",
        "20",
        "--seed",
        "7",
        "--control",
        "people.csv",
        "--project",
        tmp_path,
    )
    told = call(*given, *more, "--json").json["attack"]["nearest"]
    assert told["people"] == 20 and told["seed"] == 7
    low, high = ps.clopper_pearson(Fraction(told["right"]), 20)
    assert (Fraction(told["low"]), Fraction(told["high"])) == (low, high)
    assert told["control"]["people"] == 20 and told["excess"]["value"] is not None
    assert "seed 7" in call(*given, *more).out
