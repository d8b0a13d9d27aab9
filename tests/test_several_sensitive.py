"""Several sensitive columns: each with the others counted as quasi-identifiers, or all as one value."""

from collections import Counter

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.base import count
from privacy_sql.errors import NoSafeChoice, UsageError

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


@pytest.mark.parametrize("joint", [False, True])
def test_a_method_that_would_show_the_other_column_beside_exact_values_is_refused(engine, joint):
    with pytest.raises(UsageError, match="bucketize publishes one sensitive column"):
        ps.publish(engine, table(joint=joint), [ps.KAnonymity(1)], ps.Bucketize(["age"]))


@pytest.mark.parametrize("method", [ps.FullDomain(max_suppressed="0.1"), ps.FullDomain(local_recoding=True)])
def test_suppression_for_one_column_of_several_is_refused(engine, method):
    with pytest.raises(UsageError, match="joint: true"):
        ps.publish(engine, table(), [ps.KAnonymity(1)], method)


def test_suppression_at_chosen_levels_is_refused_too(engine):
    with pytest.raises(UsageError, match="joint: true"):
        ps.publish(engine, table(), [ps.KAnonymity(2)], ps.Generalise({"age": 0}, "0.9"))


def test_a_question_that_takes_one_sensitive_column_refuses_several(engine):
    with pytest.raises(UsageError, match="one sensitive column at a time"):
        ps.disclosure_curve(engine, table(), facts=1)
