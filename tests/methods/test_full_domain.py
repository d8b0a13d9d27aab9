"""Full-domain generalisation end to end: chosen, judged, written; and what is refused, with which words."""

import random
import time
from math import log
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql import registry
from privacy_sql.counted.base import count
from privacy_sql.display import progress
from privacy_sql.errors import NoSafeChoice, Undecided, UsageError
from privacy_sql.judge import Requirements
from privacy_sql.query import statements
from tests import engines

# how it publishes the forty-eight people of tests/parts.py
EXAMPLE = {}

ROWS = [
    ("30", "baker", "flu"),
    ("31", "baker", "cold"),
    ("33", "cook", "flu"),
    ("34", "cook", "cold"),
    ("61", "nurse", "flu"),
]
JOBS = {"baker": ["food", "*"], "cook": ["food", "*"], "nurse": ["care", "*"]}


def table(rows=ROWS, **more):
    frame = pd.DataFrame(rows, columns=["age", "job", "s"])
    return ps.Table(frame, {"age": ps.Intervals(5, 20), "job": ps.Tree(JOBS)}, "s", **more)


def test_the_cheapest_safe_choice_is_published_and_every_row_is_accounted_for(engine, tmp_path):
    release = ps.publish(engine, table(), [ps.KAnonymity(2)], ps.FullDomain(max_suppressed="0.2"))
    assert release.safe and (release.rows_in, release.rows_out, release.suppressed) == (5, 4, 1)
    assert release.levels == {"age": 1, "job": 0}
    ps.write(engine, release, tmp_path / "out.csv")
    written = pd.read_csv(tmp_path / "out.csv", dtype=str)
    assert sorted(written["age"] + written["job"]) == ["30-34baker"] * 2 + ["30-34cook"] * 2


def test_the_manifest_tells_how_the_choice_was_found_and_nothing_about_others(engine, tmp_path):
    release = ps.publish(engine, table(), [ps.KAnonymity(5)], ps.FullDomain("height"))
    told = ps.verify(ps.write(engine, release, tmp_path / "out.csv"))["search"]
    assert told["optimal"] is True and told["minimise"] == "height" and told["choices"] == 12
    # how many choices are safe, and what this one costs, count rows and values that nobody sees
    assert set(told) == {"minimise", "choices", "optimal", "stopped"}


def test_search_lists_all_minimal_choices_with_their_utilities(engine):
    found = ps.search(engine, table(), [ps.KAnonymity(2)])
    assert [choice["levels"] for choice in found.minimal] == [{"age": 3, "job": 2}]
    assert found.best["values"]["loss"] == 1 and found.best["values"]["granularity"] == 0
    assert found.best["risks"] == {"k_anonymity(k=2)": 5.0}
    assert "optimal" in str(found)


def test_the_frontier_keeps_what_no_other_choice_beats(engine):
    points = ps.search(engine, table(), [ps.KAnonymity(3)]).frontier
    assert [p["cost"] for p in points] == sorted(p["cost"] for p in points)
    risks = [p["risks"]["k_anonymity(k=3)"] for p in points]
    assert risks == sorted(set(risks))  # every step up in cost buys a larger smallest group


def test_the_best_choice_is_told_with_every_utility_that_has_a_value(engine):
    extra = {"classification_accuracy"}  # only where it is minimised: it needs scikit-learn
    found = ps.search(engine, table(), [ps.KAnonymity(2)]).best["values"]
    assert set(found) == {*registry.available("utilities"), "granularity"} - extra
    assert found["c_avg"] == found["average_group_size"] / 2
    suppressing = ps.FullDomain(max_suppressed="0.2")
    assert set(ps.search(engine, table(), [ps.LDiversity(1)], suppressing).best["values"]) == set(found) - {
        "c_avg"
    }
    bare = ps.Table(pd.DataFrame(ROWS, columns=["age", "job", "s"]), {"age": ps.Intervals(5)}, drop=["s"])
    needy = {u for u in set(found) - {"granularity"} if registry.get("utilities", u).needs_sensitive}
    assert set(ps.search(engine, bare, [ps.KAnonymity(1)]).best["values"]) == set(found) - needy


@pytest.mark.parametrize("utility", ["c_avg", "query_error", "classification"])
def test_a_utility_without_a_value_is_refused_as_objective_before_any_query(utility):
    bare = ps.Table("people.csv", {"age": ps.Intervals(5)})
    require = [ps.KAnonymity(2)] if utility != "c_avg" else [ps.LDiversity(2)]
    with pytest.raises(UsageError, match=f"{utility} needs"):
        ps.search(Closed(), bare, require, ps.FullDomain(utility))


def test_kl_of_a_table_without_a_sensitive_column_is_that_of_its_quasi_identifiers(engine):
    frame = pd.DataFrame({"job": ["baker", "baker", "cook", "nurse"]})
    jobs = ps.Table(frame, {"job": ps.Tree(JOBS)})
    found = ps.search(engine, jobs, [ps.KAnonymity(2)], ps.FullDomain("kl"))
    assert found.best["levels"] == {"job": 2}
    # p = 1/2, 1/4, 1/4 against a third each
    assert found.best["values"]["kl"] == pytest.approx(0.5 * log(1.5) + 2 * 0.25 * log(0.75))


@pytest.mark.everywhere
def test_classification_accuracy_as_objective_is_that_of_the_release(engine):
    pytest.importorskip("sklearn", reason="install the extra ml")
    rows = [("30", job, ill) for job, ill in (("baker", "burn"), ("nurse", "flu")) for _ in range(30)]
    method = ps.FullDomain("classification_accuracy")
    found = ps.search(engine, table(rows), [ps.KAnonymity(5)], method)
    assert found.best["values"]["classification_accuracy"] == 1 and found.best["levels"]["job"] < 2
    release = ps.publish(engine, table(rows), [ps.KAnonymity(5)], method)
    assert ps.classification_accuracy(engine, release) == 1
    hidden = ps.search(engine, table(rows), [ps.KAnonymity(60)], method)
    assert hidden.best["values"]["classification_accuracy"] == pytest.approx(0.5, abs=0.2)


def test_nothing_safe_says_what_stands_in_the_way_and_which_one_relaxation_helps(engine):
    with pytest.raises(
        NoSafeChoice, match=r"fully generalised, l_diversity\(l=3\) is 2 and must be >= 3"
    ) as told:
        ps.publish(engine, table(), [ps.KAnonymity(2), ps.LDiversity(3)], ps.FullDomain())
    assert told.value.exit == 5
    assert "One relaxation is enough: a limit of l_diversity(l=3) at most 2" in str(told.value)
    with pytest.raises(NoSafeChoice, match="No single relaxation helps"):
        ps.publish(engine, table(), [ps.KAnonymity(9), ps.LDiversity(3)], ps.FullDomain())


@pytest.mark.parametrize(
    ("asked", "words", "enough", "not_enough"),
    [
        # five people, three with one value and two with the other
        (ps.KAnonymity(9), "at most 5", ps.KAnonymity(5), ps.KAnonymity(6)),
        (ps.LDiversity(3), "at most 2", ps.LDiversity(2), ps.LDiversity(3)),
        (
            ps.LDiversity(2, kind="recursive", c=1),
            "above 3/2",
            ps.LDiversity(2, kind="recursive", c="1.5001"),
            ps.LDiversity(2, kind="recursive", c="1.5"),
        ),
        (
            ps.LDiversity(2, kind="entropy"),
            "at most 1.96",  # exp(0.6730) = 1.9601, rounded down
            ps.LDiversity("1.96", kind="entropy"),
            ps.LDiversity("1.961", kind="entropy"),
        ),
        (ps.CKSafety(c="0.5", k=0), "above 3/5", ps.CKSafety(c="0.6001", k=0), ps.CKSafety(c="0.6", k=0)),
    ],
    ids=str,
)
def test_the_relaxation_that_is_named_is_enough_and_less_is_not(engine, asked, words, enough, not_enough):
    require = [ps.KAnonymity(2)]
    with pytest.raises(NoSafeChoice, match=f"One relaxation is enough: a limit of .+ {words}"):
        ps.search(engine, table(), [*require, asked])
    assert ps.search(engine, table(), [*require, enough]).best is not None
    with pytest.raises(NoSafeChoice):
        ps.search(engine, table(), [*require, not_enough])


@pytest.mark.parametrize(
    "asked",
    [
        ps.PrivacySkyline(points=[[0, 0, 0, "0.9"]]),
        ps.CKSafety(c="0.9", k=1),
        ps.LDiversity(2, kind="probabilistic"),
        ps.LDiversity(2),
    ],
    ids=str,
)
def test_no_limit_is_named_that_could_not_be_asked(engine, asked):
    rows = pd.DataFrame({"age": ["20", "21", "22"], "illness": ["flu"] * 3})
    with pytest.raises(NoSafeChoice) as told:
        ps.search(engine, ps.Table(rows, {"age": ps.Intervals(10)}, "illness"), [asked])
    assert "is enough; relaxing its limit is not" in str(told.value)


@pytest.mark.parametrize(
    "asked",
    [
        ps.CKSafety("0.5", 0, {"t": {"c": "0.1", "k": 0}}),
        ps.PrivacySkyline([[0, 0, 0, "0.5"]], {"t": [[0, 0, 0, "0.1"]]}),
    ],
    ids=lambda asked: asked.name,
)
def test_of_several_limits_none_is_named_as_if_it_were_the_only_one_that_is_broken(engine, asked):
    rows = pd.DataFrame({"age": ["20", "21", "22", "23", "24"], "s": list("ssstt")})
    with pytest.raises(NoSafeChoice) as told:
        ps.search(engine, ps.Table(rows, {"age": ps.Intervals(10)}, "s"), [asked])
    assert "is enough; relaxing one of its limits may not be" in str(told.value)


def test_a_requirement_that_no_limit_can_meet_is_to_be_left_out(engine):
    with pytest.raises(NoSafeChoice, match=r"Removing .+ is enough; relaxing its limit is not"):
        ps.search(engine, table(), [ps.KAnonymity(2), ps.LDiversity(4, kind="recursive", c=3)])
    assert ps.search(engine, table(), [ps.KAnonymity(2)]).best is not None


@pytest.mark.parametrize(("job", "choices"), [(None, 2), (ps.Tree({j: [] for j in JOBS}), 4)], ids=str)
def test_a_hierarchy_of_one_level_leaves_a_column_as_it_is_or_drops_it(engine, job, choices):
    frame = pd.DataFrame(ROWS, columns=["age", "job", "s"])
    jobs = ps.Table(frame, {"job": job, "age": ps.KeepOrDrop()}, "s")
    found = ps.search(engine, jobs, [ps.KAnonymity(1)])
    assert found.found.choices == choices and found.best["levels"] == {"job": 0, "age": 0}
    if job is None:
        with pytest.raises(NoSafeChoice, match=r"k_anonymity\(k=2\) is 1"):  # one nurse, whatever the age
            ps.search(engine, jobs, [ps.KAnonymity(2)])


def test_a_time_limit_that_leaves_a_safe_choice_publishes_it_and_does_not_call_it_optimal(engine):
    frame = pd.DataFrame({f"c{n}": [str((row * (n + 3)) % 7) for row in range(60)] for n in range(6)})
    quasi = {name: ps.Intervals(2, 4) for name in frame}
    ticks = iter(range(10**6))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("privacy_sql.methods.full_domain.time.monotonic", lambda: next(ticks))
        method = ps.FullDomain("discernibility", time_limit=5)  # so many answers
        release = ps.publish(engine, ps.Table(frame, quasi), [ps.KAnonymity(2)], method)
    assert release.safe and release.search["optimal"] is False
    assert release.search["stopped"] == "time limit" and release.search["explored"] < 10


def test_a_time_limit_that_finds_nothing_is_undecided_and_never_safe(engine, monkeypatch):
    monkeypatch.setattr("privacy_sql.deadlines.GRACE", 600)  # the search itself looks at the time
    with pytest.raises(Undecided, match="12 of 12 combinations undecided") as told:
        ps.publish(engine, table(), [ps.KAnonymity(2)], ps.FullDomain(time_limit=1e-9))
    assert told.value.exit == 5


def test_an_interrupt_publishes_nothing(engine, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("privacy_sql.lattice.search.LatticeSearch.decide", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ps.publish(engine, table(), [ps.KAnonymity(2)], ps.FullDomain())


def touched(*_, **__):
    raise AssertionError("the engine was asked")


# an engine that must not be asked
NEVER = dict.fromkeys(ps.Engine.__abstractmethods__, touched)
Closed = type("Closed", (ps.Engine,), {**NEVER, "__init__": object.__init__})


class Moody(ps.KAnonymity):
    """A requirement that declares nothing: safe exactly at the raw table and at the top."""

    safe_under_merging = False
    safe_under_suppression = False
    safe_in_larger_groups = False

    def judge(self, evidence):
        n_groups = sum(row["n_groups"] for row in evidence)
        return self.verdict(max(row["n_people"] for row in evidence), ps.Witness({}), safe=n_groups in (1, 5))


def test_a_requirement_that_is_not_safe_under_merging_is_asked_about_every_choice(engine):
    found = ps.search(engine, table(), [Moody(1)])
    assert found.found.explored == found.found.choices == 12
    assert {"age": 0, "job": 0} in [choice["levels"] for choice in found.minimal]
    assert found.best["levels"] == {"age": 0, "job": 0}


def test_a_requirement_that_is_not_safe_under_merging_is_refused_beyond_the_budget_before_any_query(engine):
    method = ps.FullDomain(most_choices=11)
    for call in (
        lambda: ps.publish(Closed(), table(), [Moody(1)], method),
        lambda: ps.search(Closed(), table(), [Moody(1)], method),
    ):
        with pytest.raises(UsageError, match="not safe under merging, so all 12 choices"):
            call()
    assert ps.publish(engine, table(), [ps.KAnonymity(2)], method).safe  # pruning needs no budget


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"minimise": "los"}, 'Did you mean "loss"'),
        ({"max_suppressed": "1.5"}, "max_suppressed"),
        ({"max_suppressed": "-0.1"}, "max_suppressed"),
        ({"max_suppressed": "nan"}, "max_suppressed"),
        ({"time_limit": 0}, "time_limit"),
        ({"time_limit": float("nan")}, "time_limit"),
        ({"time_limit": "soon"}, "time_limit"),
    ],
)
def test_a_parameter_that_makes_no_sense_is_refused(fields, words):
    with pytest.raises(UsageError, match=words):
        ps.FullDomain(**fields)


def test_without_quasi_identifiers_or_with_a_group_column_there_is_nothing_to_search(engine):
    frame = pd.DataFrame(ROWS, columns=["age", "job", "s"])
    for bad in (ps.Table(frame, {}, "s"), ps.Table(frame, ["age"], "s", group="job")):
        with pytest.raises(UsageError, match="full_domain needs quasi-identifiers"):
            ps.publish(engine, bad, [ps.KAnonymity(1)], ps.FullDomain())


def test_a_table_whose_columns_stand_as_they_are_has_one_choice(engine):
    frame = pd.DataFrame(ROWS, columns=["age", "job", "s"])
    found = ps.search(engine, ps.Table(frame, ["age"], "s"), [ps.KAnonymity(1)])
    assert found.found.choices == 1 and found.best["levels"] == {"age": 0}


def test_rows_that_are_all_equal_are_published_raw(engine):
    release = ps.publish(engine, table([ROWS[0]] * 7), [ps.KAnonymity(7)], ps.FullDomain())
    assert release.levels == {"age": 0, "job": 0}


def test_rows_that_are_all_distinct_end_at_the_top_or_are_suppressed_as_far_as_allowed(engine):
    frame = pd.DataFrame({"code": [f"x{n}" for n in range(200)]})
    found = ps.search(engine, ps.Table(frame, {"code": ps.KeepOrDrop()}), [ps.KAnonymity(2)])
    assert [choice["levels"] for choice in found.minimal] == [{"code": 1}]
    suppressing = ps.FullDomain(max_suppressed="0.99")
    assert ps.publish(
        engine, ps.Table(frame, {"code": ps.KeepOrDrop()}), [ps.KAnonymity(2)], suppressing
    ).safe


def test_twelve_quasi_identifiers_with_more_than_a_million_choices_are_searched_best_first(engine):
    frame = pd.DataFrame({f"c{n}": [str((row * (n + 1)) % 9) for row in range(40)] for n in range(12)})
    quasi = {name: ps.Intervals(3, 9) for name in frame}
    start = time.monotonic()
    found = ps.search(engine, ps.Table(frame, quasi), [ps.KAnonymity(2)], ps.FullDomain("loss", time_limit=2))
    assert found.found.choices == 4**12
    assert found.found.safe_choices is None
    assert found.best is not None and found.found.gap is not None
    assert found.found.optimal == (found.found.stopped is None)
    assert time.monotonic() - start < 12


def test_progress_is_reported_to_whoever_listens(engine):
    heard = []
    with progress.listening(lambda *what: heard.append(what)):
        ps.search(engine, table(), [ps.KAnonymity(2)])
    assert heard[-1] == ("search", 12, 12)


def test_progress_of_short_work_is_silent(engine, capsys):
    with progress.shown():
        progress.report("search", 1, 2)
    assert capsys.readouterr().err == ""


def test_a_column_of_many_values_is_described_in_time_linear_in_them() -> None:
    """Each random query once read every value it asks for again for every other value of the column."""
    days = pd.DataFrame(
        {"day": [f"{n:05d}" for n in range(5000)], "ill": ["flu", "cold", "none", "gout"] * 1250}
    )
    with engines.opened() as engine:
        table = ps.Table(days, {"day": ps.Mask(2, 0)}, "ill")
        began = time.process_time()
        found = ps.search(engine, table, [ps.KAnonymity(5)], goal="best")
        assert time.process_time() - began < 15  # it was 40 s and more
    assert found.best is not None and found.best["values"]["query_error"] is not None


@pytest.mark.parametrize("allowed", [0, "0.1"])
def test_a_release_records_the_choices_a_search_records_and_describes_none_but_its_own(
    engine: Any, allowed: Any
) -> None:
    draw = random.Random(3)
    people = [
        (str(draw.randrange(20, 50)), f"1{draw.randrange(40):03}0", draw.choice("abcd")) for _ in range(90)
    ]
    rows = pd.DataFrame(people, columns=["age", "zip", "s"])
    table = ps.Table(rows, {"age": ps.Intervals(5, 10, 20), "zip": ps.Mask(4, 3, 0)}, "s")
    require = [ps.KAnonymity(3), ps.LDiversity(2), ps.TCloseness("0.5")]
    method = ps.FullDomain(max_suppressed=allowed)
    with statements.listening() as heard:
        release = ps.publish(engine, table, require, method)
    found = method.search(count(engine, table), Requirements.of(table, require), "best")
    assert found.best is not None and found.frontier
    assert (release.proposal.lattice, release.choice["levels"]) == (found.lattice, found.best["levels"])
    assert set(release.search["values"]) <= {"loss", "granularity"}
    assert not [one.name for one in heard if one.name.startswith("utilities/query_error")]
