"""Local recoding: every person in one round, every published group safe, no more suppressed than allowed."""

from collections import Counter
from fractions import Fraction

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.errors import NoSafeChoice, UsageError
from privacy_sql.judge import Requirements
from privacy_sql.methods._recoding import Recoding
from privacy_sql.searches import Limits
from tests.lattice.test_lattice_search import RULES, Small
from tests.oracles import full_domain as oracle
from tests.oracles import utility as utility_oracle
from tests.seeds import seeds


def recoded(engine, small, require, share):
    recoding = Recoding(small.base(engine), Requirements(tuple(require)), "loss", Fraction(share), Limits())
    recoding.run()
    return recoding


def release(small, recoding):
    """What the rounds publish, worked out row by row: labels as sets of raw values, None when suppressed."""
    left, shown = list(range(len(small.rows))), [None] * len(small.rows)
    domains = oracle.occurring(small.rows, small.hierarchies)
    for part in recoding.rounds:
        rows = [small.rows[i] for i in left]
        number = recoding.rounds.index(part)
        query = f"select {', '.join(recoding.quasi)} from {part.plan} where round = {number}"
        kept = recoding.base.engine.fetch(ps.Query(query))
        wanted = {tuple(row.values()) for row in kept}
        for i in list(left):
            code = tuple(domain.index(v) + 1 for domain, v in zip(domains, small.rows[i], strict=False))
            if code in wanted:
                shown[i] = tuple(
                    tuple(v for v in domain if levels[level][v] == levels[level][value])
                    for domain, levels, level, value in zip(
                        domains, small.hierarchies, part.choice, small.rows[i], strict=False
                    )
                )
                left.remove(i)
        assert len(rows) - len(left) == part.n_rows
    return shown


@pytest.mark.parametrize("share", ["0", "1/5"])
@pytest.mark.parametrize("rule", RULES)
def test_every_published_group_is_safe_and_no_more_is_suppressed_than_allowed(engine, rule, share):
    require, rules = RULES[rule]
    for seed in seeds(8):
        small = Small(seed)
        recoding = recoded(engine, small, require, share)
        shown = release(small, recoding)
        if not recoding.rounds:
            assert not oracle.safe_choices(small.rows, small.hierarchies, rules, Fraction(share))
            continue
        assert shown.count(None) <= Fraction(share) * len(shown)
        groups = {}
        for row, labels in zip(small.rows, shown, strict=True):
            groups.setdefault(labels, []).append(row[-1])
        assert all(safe(values) for labels, values in groups.items() if labels for safe in rules)
        domains = oracle.occurring(small.rows, small.hierarchies)
        assert recoding.loss == pytest.approx(utility_oracle.loss(shown, domains))
        assert dict(recoding.grouping().base.engine.fetch(sizes(recoding))[0]) == {
            "n_groups": len(Counter(labels for labels in shown if labels)),
            "n_rows": len(shown) - shown.count(None),
        }


def sizes(recoding):
    groups = recoding.grouping().groups
    return ps.Query(f"select count(*) as n_groups, cast(sum(n_people) as bigint) as n_rows from {groups}")


ROWS = pd.DataFrame(
    [("a", "1"), ("a", "2"), ("b", "3"), ("b", "4"), ("a", "1"), ("b", "1"), ("b", "9")], columns=["c", "s"]
)
PAIRS = ps.Tree({"a": ["ab", "*"], "b": ["ab", "*"], "c": ["c", "*"]})


def test_rows_under_labels_of_different_rounds_are_published_and_audited(engine, tmp_path):
    rows = pd.concat([ROWS, pd.DataFrame([("c", "5")], columns=["c", "s"])])
    method = ps.FullDomain(local_recoding=True, max_suppressed="0.2")
    release = ps.publish(engine, ps.Table(rows, {"c": PAIRS}, "s"), [ps.KAnonymity(3)], method)
    assert release.safe and (release.rows_out, release.suppressed) == (7, 1)
    assert [part["rows"] for part in release.choice["rounds"]] == [7]
    ps.verify(ps.write(engine, release, tmp_path / "out.csv"))
    assert Counter(pd.read_csv(tmp_path / "out.csv")["c"]) == {"a": 3, "b": 4}


def test_rows_nobody_can_save_alone_are_searched_again_with_the_round_before(engine):
    rows = pd.concat([ROWS, pd.DataFrame([("c", "5")], columns=["c", "s"])])
    method = ps.FullDomain(local_recoding=True)
    release = ps.publish(engine, ps.Table(rows, {"c": PAIRS}, "s"), [ps.KAnonymity(3)], method)
    assert release.safe and release.suppressed == 0


def test_equal_labels_of_two_rounds_are_one_group(engine):
    """`c` reads the same at levels 0 and 1, so two rounds publish it under one text."""
    rows = pd.DataFrame([("a", "1"), ("a", "2"), ("c", "1"), ("c", "2"), ("b", "1")], columns=["c", "s"])
    table = ps.Table(rows, {"c": PAIRS}, "s")
    release = ps.publish(
        engine, table, [ps.KAnonymity(2)], ps.FullDomain(local_recoding=True, max_suppressed="0.4")
    )
    witness = release.verdicts["k_anonymity(k=2)"].witness.reveal()
    assert witness["keys"]["c"] in {"a", "c"} and witness["size"] == 2


def test_what_cannot_be_saved_by_any_round_is_an_error_that_says_why(engine):
    with pytest.raises(NoSafeChoice, match=r"k_anonymity\(k=8\) is 7"):
        ps.publish(
            engine, ps.Table(ROWS, {"c": PAIRS}, "s"), [ps.KAnonymity(8)], ps.FullDomain(local_recoding=True)
        )


def test_people_with_several_values_are_refused(engine):
    rows = pd.DataFrame({"id": ["1", "1"], "c": ["a", "a"], "s": ["x", "y"]})
    table = ps.Table(rows, {"c": PAIRS}, "s", identifier="id", values_per_person="set")
    with pytest.raises(UsageError, match="several values each"):
        ps.publish(engine, table, [ps.KAnonymity(1)], ps.FullDomain(local_recoding=True))


def test_rounds_that_are_not_safe_together_give_way_to_one_level_per_column(engine):
    """t-closeness compares with the whole table, so rounds that were close to their own rest need not be."""
    for seed in seeds(10):
        small = Small(seed)
        requirement = ps.TCloseness("0.4")
        try:
            release = ps.publish(engine, small.table(), [requirement], ps.FullDomain(local_recoding=True))
        except NoSafeChoice:
            continue
        assert release.safe
