"""Several sensitive columns: each with the others counted as quasi-identifiers, or all as one value."""

import random
from collections import Counter
from fractions import Fraction

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.counted.base import count
from privacy_sql.errors import NoSafeChoice, UsageError
from privacy_sql.lattice.search import LatticeSearch
from tests.seeds import enough, seeds

ROWS = pd.DataFrame(
    [
        ("30", "flu", "low"),
        ("30", "cold", "low"),
        ("31", "flu", "high"),
        ("31", "cold", "high"),
        ("42", "flu", "low"),
        ("42", None, "high"),
    ],
    columns=["age", "illness", "income"],
)


def table(**more):
    return ps.Table(ROWS, {"age": ps.Intervals(10)}, ("illness", "income"), **more)


def distinct(groups):
    """The fewest values any group shows."""
    return min(len(set(values)) for values in groups.values())


def grouped(key, value):
    groups = {}
    for row in ROWS.itertuples(index=False):
        groups.setdefault(key(row), []).append(value(row))
    return groups


def test_each_column_is_judged_with_the_others_as_quasi_identifiers(engine):
    verdicts = ps.check(engine, table(), [ps.LDiversity(2), ps.KAnonymity(2)])
    illness = grouped(lambda r: (r.age, r.income), lambda r: r.illness)
    income = grouped(lambda r: (r.age, r.illness), lambda r: r.income)
    assert verdicts["l_diversity(l=2) for illness"].value == distinct(illness) == 1
    assert verdicts["l_diversity(l=2) for income"].value == distinct(income) == 1
    assert verdicts["k_anonymity(k=2) for illness"].value == min(map(len, illness.values()))
    assert not verdicts and len(verdicts) == 4


def test_joint_values_are_equal_exactly_when_all_parts_are(engine):
    rows = pd.DataFrame(
        [("x", "a", "b & c"), ("x", "a & b", "c"), ("x", None, "c"), ("x", "-", "c"), ("x", "a", "b & c")],
        columns=["k", "s", "t"],
    )
    base = count(engine, ps.Table(rows, ["k"], ("s", "t"), joint=True), several=True)
    assert base.statistics["s"]["n_values"] == 4
    verdicts = ps.check(engine, ps.Table(rows, ["k"], ("s", "t"), joint=True), [ps.LDiversity(4)])
    assert verdicts["l_diversity(l=4)"].value == 4


def test_a_search_finds_levels_that_are_safe_for_every_column_and_the_audit_agrees(engine, tmp_path):
    rows = pd.concat([ROWS.dropna()] * 2 + [ROWS.dropna().assign(age="39", illness="cold", income="low")])
    rows.loc[rows["age"] == "42", "age"] = "35"
    several = ps.Table(rows, {"age": ps.Intervals(10)}, ("illness", "income"))
    require = [ps.KAnonymity(2), ps.LDiversity(2)]
    release = ps.publish(engine, several, require, ps.FullDomain())
    assert release.safe and len(release.verdicts) == 4
    assert release.levels["age"] == 1
    ps.verify(ps.write(engine, release, tmp_path / "out.csv"))
    written = pd.read_csv(tmp_path / "out.csv", dtype=str)
    assert list(written) == ["age", "illness", "income"] and len(written) == len(rows)
    for one, other in (("illness", "income"), ("income", "illness")):
        groups = written.groupby(["age", other])[one]
        assert groups.size().min() >= 2 and groups.nunique().min() >= 2


def test_joint_columns_are_published_as_they_are_and_audited_together(engine, tmp_path):
    method = ps.FullDomain(max_suppressed="0.4")
    release = ps.publish(engine, table(joint=True), [ps.KAnonymity(2), ps.LDiversity(2)], method)
    ps.verify(ps.write(engine, release, tmp_path / "out.csv"))
    written = pd.read_csv(tmp_path / "out.csv", dtype=str, keep_default_na=False)
    assert list(written) == ["age", "illness", "income"]
    assert Counter(written["age"]) == {"30": 2, "31": 2, "42": 2}


def test_nothing_safe_names_the_column_that_stands_in_the_way(engine):
    rows = ROWS.assign(income="low")
    several = ps.Table(rows, {"age": ps.Intervals(10)}, ("illness", "income"))
    with pytest.raises(NoSafeChoice, match=r"l_diversity\(l=2\) for income is 1"):
        ps.publish(engine, several, [ps.LDiversity(2)], ps.FullDomain())


def published(engine, frame, sensitive, require, **more):
    """Whether a full-domain search finds a safe choice, and what it says when there is none."""
    unused = [name for name in frame if name not in (*sensitive, "age")]
    several = ps.Table(frame, {"age": ps.Intervals(10)}, sensitive, drop=unused)
    try:
        return ps.publish(engine, several, require, ps.FullDomain(**more)).safe, ""
    except NoSafeChoice as problem:
        return False, problem.hint


@pytest.mark.parametrize("more", [{}, {"local_recoding": True}], ids=str)
@pytest.mark.parametrize("kinds", [(2, 3, 40), (30, 40, 30)], ids=str)
def test_dropping_a_sensitive_column_is_named_exactly_when_it_is_enough(engine, kinds, more):
    require, names = [ps.KAnonymity(3), ps.LDiversity(2)], ("illness", "income", "score")
    rng = random.Random(1)
    rows = [(rng.randrange(20, 60), *(f"v{rng.randrange(kind)}" for kind in kinds)) for _ in range(60)]
    frame = pd.DataFrame(rows, columns=["age", *names]).astype(str)
    safe, hint = published(engine, frame, names, require, **more)
    left = {name: [other for other in names if other != name] for name in names}
    enough = [name for name in names if published(engine, frame, left[name], require, **more)[0]]
    assert not safe and enough == (["score"] if 2 in kinds else [])
    assert ("enough: dropping score." in hint) if enough else ("dropping" not in hint), hint


def test_a_limit_that_is_named_for_several_columns_is_enough_for_all_of_them(engine):
    rows = [
        ("30", *pair) for pair in [("a", "x")] * 5 + [("a", "y")] * 3 + [("b", "x")] * 2 + [("b", "y")] * 4
    ]
    frame = pd.DataFrame(rows, columns=["age", "illness", "income"])
    _, hint = published(engine, frame, ["illness", "income"], [ps.KAnonymity(9)])
    assert "a limit of k_anonymity(k=9) at most 6" in hint  # the groups hold 8 and 6, and 7 and 7
    assert published(engine, frame, ["illness", "income"], [ps.KAnonymity(6)])[0]
    assert not published(engine, frame, ["illness", "income"], [ps.KAnonymity(7)])[0]


@pytest.mark.parametrize("joint", [False, True])
def test_a_method_that_would_show_the_other_column_beside_exact_values_is_refused(engine, joint):
    with pytest.raises(UsageError, match="bucketize publishes one sensitive column"):
        ps.publish(engine, table(joint=joint), [ps.KAnonymity(1)], ps.Bucketize(["age"]))


def remaining(rows, level, safe):
    """The rows that stay when groups that fail for either column leave, and those that fail then, and so on.

    A group of one column shows one label (5 years wide at level 1, anything at level 2) and one value of the
    other column.
    """
    label = [lambda age: age, lambda age: age // 5, lambda age: None][level]
    left, before = list(rows), None
    while left != before:
        before = left
        for own, other in ((1, 2), (2, 1)):
            groups = {}
            for row in left:
                groups.setdefault((label(row[0]), row[other]), []).append(row[own])
            left = [row for row in left if safe(groups[label(row[0]), row[other]])]
    return left


RULES = {
    "k": ([ps.KAnonymity(2)], lambda values: len(values) >= 2),
    "k and distinct": (
        [ps.KAnonymity(2), ps.LDiversity(2)],
        lambda values: len(values) >= 2 and len(set(values)) >= 2,
    ),
}


@pytest.mark.parametrize("rule", RULES)
def test_what_fails_for_one_column_leaves_for_all_and_no_more_than_that(engine, rule):
    require, safe = RULES[rule]
    for seed in seeds(4):
        rng = random.Random(seed)
        rows = [(rng.randrange(20, 30), rng.choice("ab"), rng.choice("xyz")) for _ in range(30)]
        frame = pd.DataFrame(rows, columns=["age", "illness", "income"]).astype(str)
        several = ps.Table(frame, {"age": ps.Intervals(5)}, ("illness", "income"))
        share = Fraction(2, 5)
        search = LatticeSearch(count(engine, several, several=True), tuple(require), "loss", share)
        found = search.run("all")
        kept = {level: remaining(rows, level, safe) for level in (0, 1, 2)}
        wanted = {level for level, left in kept.items() if left and len(rows) - len(left) <= share * 30}
        assert found.safe_choices == len(wanted) and found.complete, seed
        assert {choice[0] for choice in found.minimal} == ({min(wanted)} if wanted else set()), seed
        for level in wanted:
            assert search.shown((level, 0)).n_suppressed == len(rows) - len(kept[level]), (seed, level)
        if wanted:
            level = {"age": min(wanted)}
            release = ps.publish(engine, several, require, ps.Generalise(level, share))
            assert release.safe and release.rows_out == len(kept[min(wanted)])


def test_rows_suppressed_for_two_columns_are_published_and_audited(engine, tmp_path):
    rows = pd.concat([ROWS.dropna()] * 2 + [ROWS.dropna().assign(age="39", illness=None, income="low")[:1]])
    several = ps.Table(rows, {"age": ps.Intervals(10)}, ("illness", "income"), insensitive=[])
    release = ps.publish(engine, several, [ps.KAnonymity(2)], ps.FullDomain(max_suppressed="0.2"))
    assert release.safe and (release.rows_in, release.suppressed) == (11, 1)
    ps.verify(ps.write(engine, release, tmp_path / "out.csv"))
    written = pd.read_csv(tmp_path / "out.csv", dtype=str, keep_default_na=False)
    assert len(written) == 10 and "" not in set(written["illness"])
    for other in ("illness", "income"):
        assert written.groupby(["age", other]).size().min() >= 2


def test_the_frontier_tells_the_risks_of_every_column(engine):
    for method in (ps.FullDomain(), ps.FullDomain(max_suppressed="0.5")):
        found = ps.search(engine, table(), [ps.KAnonymity(1), ps.LDiversity(1)], method)
        risks = {name for point in found.frontier for name in point["risks"]}
        assert risks == {
            f"{requirement} for {column}"
            for requirement in ("k_anonymity(k=1)", "l_diversity(l=1)")
            for column in ("illness", "income")
        }


@pytest.mark.parametrize("rule", RULES)
def test_rows_suppressed_for_several_columns_are_searched_again_and_safe_for_each_of_them(
    engine, tmp_path, rule
):
    require, safe = RULES[rule]
    rounds = 0
    for seed in seeds(6):
        rng = random.Random(seed)
        values = [20, 21, 25, 31], ["a", "b", None], ["x", "y", None]
        rows = [tuple(map(rng.choice, values)) for _ in range(rng.choice([16, 30]))]
        frame = pd.DataFrame(rows, columns=["age", "illness", "income"], dtype=object).astype({"age": str})
        several = ps.Table(frame, {"age": ps.Intervals(5)}, ("illness", "income"))
        method = ps.FullDomain(max_suppressed="1/4", local_recoding=True)
        try:
            release = ps.publish(engine, several, require, method)
        except NoSafeChoice:
            assert all(4 * len(remaining(rows, level, safe)) < 3 * len(rows) for level in (0, 1, 2))
            continue
        assert release.safe and release.rows_out + release.suppressed == len(rows)
        assert 4 * release.suppressed <= len(rows)
        rounds = max(rounds, len(release.choice.get("rounds", ())))
        ps.verify(ps.write(engine, release, tmp_path / f"{seed}.csv"))
        written = pd.read_csv(tmp_path / f"{seed}.csv", dtype=str, keep_default_na=False)
        assert len(written) == release.rows_out
        truth = Counter((illness or "", income or "") for _, illness, income in rows)
        assert not Counter(zip(written["illness"], written["income"], strict=True)) - truth
        for own, other in (("illness", "income"), ("income", "illness")):
            assert all(safe(list(group)) for _, group in written.groupby(["age", other])[own])
    assert enough(rounds, 2)


@pytest.mark.parametrize("suppressing", [{"max_suppressed": "0.1"}, {"local_recoding": True}], ids=str)
def test_suppression_is_refused_where_a_requirement_reads_original_values(engine, suppressing):
    with pytest.raises(UsageError, match="reads original values"):
        ps.publish(engine, table(), [ps.BTPrivacy([["0.3", "0.9"]])], ps.FullDomain(**suppressing))


def test_a_question_that_takes_one_sensitive_column_refuses_several(engine):
    with pytest.raises(UsageError, match="one sensitive column at a time"):
        ps.disclosure_curve(engine, table(), facts=1)
