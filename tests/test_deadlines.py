"""A time limit covers the whole work, in the middle of a statement too, and is told from an interrupt."""

from __future__ import annotations

import logging
import signal
import time
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql import deadlines
from privacy_sql.errors import Undecided

SLOW = {
    "duckdb": "select cast(i % 7 as varchar) as a, cast(i % 5 as varchar) as d from range(9000000000) t(i)",
    "postgres": "select cast(i % 7 as varchar) as a, cast(i % 5 as varchar) as d"
    " from generate_series(1, 9000000000) t(i)",
}


@pytest.mark.parametrize("verb", ["search", "publish"])
def test_a_first_statement_longer_than_the_limit_ends_undecided(engine: Any, verb: str) -> None:
    name = f"ps_slow_{verb}"
    engine.connection.execute(f"create or replace temporary view {name} as {SLOW[engine.dialect]}")
    table, method = ps.Table(name, {"a": ps.KeepOrDrop()}, "d"), ps.FullDomain(time_limit=0.3)
    began = time.monotonic()
    with pytest.raises(Undecided, match=r"the time limit of 0.3 s passed"):
        getattr(ps, verb)(engine, table, [ps.KAnonymity(2)], method)
    assert time.monotonic() - began < 20  # the statement alone takes minutes
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL
    # the engine goes on working
    frame = pd.DataFrame({"a": ["1", "1"], "d": ["x", "y"]})
    assert ps.check(engine, ps.Table(frame, ["a"], "d"), [ps.KAnonymity(2)])


def test_a_person_who_interrupts_is_not_taken_for_the_limit() -> None:
    with pytest.raises(KeyboardInterrupt), deadlines.within(60):
        raise KeyboardInterrupt
    assert deadlines.reason() is None and not deadlines.rang()


def test_the_alarm_interrupts_once_and_never_after_the_answer_or_the_block() -> None:
    with pytest.raises(Undecided), deadlines.within(0.01):
        while True:
            assert time.monotonic() > 0
    with deadlines.within(0.01):
        deadlines.finished()
        end = time.monotonic() + 1.2 * deadlines.GRACE
        while time.monotonic() < end:
            assert deadlines.reason() in (None, "time limit")
    end = time.monotonic() + 1.2 * deadlines.GRACE
    while time.monotonic() < end:
        assert deadlines.reason() is None


def test_the_outermost_limit_holds() -> None:
    with deadlines.within(60), deadlines.within(0.001):
        end = time.monotonic() + 0.01
        while time.monotonic() < end:
            assert deadlines.reason() is None


def test_how_large_a_search_is_is_said_before_anything_is_counted(caplog: Any) -> None:
    quasi = {f"q{n}": ps.KeepOrDrop() for n in range(20)}
    with ps.connect() as engine, caplog.at_level(logging.WARNING), pytest.raises(ps.PrivacySqlError):
        ps.search(
            engine, ps.Table("nothing_of_that_name", quasi), [ps.KAnonymity(2)], ps.FullDomain(time_limit=9)
        )
    assert "20 quasi-identifiers have 1,048,576 choices of levels, 9 s at most" in caplog.text


def test_what_a_search_counts_from_is_said_before_its_first_choice(
    caplog: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from privacy_sql.lattice.search import LatticeSearch

    told: list[str] = []
    monkeypatch.setattr(LatticeSearch, "run", lambda *_: told.append(caplog.text) or 1 / 0)
    frame = pd.DataFrame({"a": [str(n % 40) for n in range(90)], "b": ["x"] * 90})
    table = ps.Table(frame, {"a": ps.Intervals(2, 4), "b": ps.KeepOrDrop()})
    with ps.connect() as engine, caplog.at_level(logging.WARNING):
        for most in (7, 8):
            with pytest.raises(ZeroDivisionError):
                ps.search(engine, table, [ps.KAnonymity(3)], ps.FullDomain(most_choices=most))
            caplog.clear()
    assert "have 8 choices of levels, without a time limit" in told[0]
    assert "choices are counted from 40 combinations of values, in up to 1 MB of memory" in told[0]
    assert told[1] == ""


def test_of_how_many_marginals_collections_are_made_is_said_before_anything_is_counted(caplog: Any) -> None:
    quasi = {f"q{n}": ps.KeepOrDrop() for n in range(9)}
    method = ps.Marginals(time_limit="1.5", most_choices=1000)
    with ps.connect() as engine, caplog.at_level(logging.WARNING), pytest.raises(ps.PrivacySqlError):
        ps.search(engine, ps.Table("nothing_of_that_name", quasi), [ps.KAnonymity(2)], method)
    assert "19,683 possible marginals, 1.5 s at most" in caplog.text


@pytest.mark.parametrize("limit", [0, -1, "soon", float("nan"), float("inf"), True])
@pytest.mark.parametrize(
    "method",
    [ps.FullDomain, ps.Marginals, ps.Multidimensional, lambda **limit: ps.Microaggregate(k=2, **limit)],
)
def test_a_time_limit_that_is_none_is_refused(method: Any, limit: Any) -> None:
    with pytest.raises(ps.PrivacySqlError, match="a number of seconds above 0"):
        method(time_limit=limit)


def test_too_many_choices_for_a_picture_are_refused_before_anything_is_counted() -> None:
    from privacy_sql.studies.every_choice import every_choice

    quasi = {f"q{n}": ps.KeepOrDrop() for n in range(11)}
    with ps.connect() as engine, pytest.raises(ps.PrivacySqlError, match="hierarchies allow 2048 choices"):
        every_choice(engine, ps.Table("nothing_of_that_name", quasi, "s"))


def test_a_search_that_is_stopped_in_a_statement_keeps_its_best_choice(monkeypatch: Any) -> None:
    """The alarm rings while a later choice is counted: what was safe before is what is reported."""
    from privacy_sql.lattice.search import LatticeSearch

    frame = pd.DataFrame({"a": [str(n) for n in range(40)], "b": [str(n % 9) for n in range(40)]})
    quasi = {"a": ps.Intervals(2, 4, 8, 16), "b": ps.Intervals(3, 6)}
    asked: list[Any] = []
    decide = LatticeSearch.decide

    def slow(self: Any, choices: Any) -> Any:
        asked.extend(choices)
        if len(asked) > 4:
            end = time.monotonic() + 30
            while time.monotonic() < end:
                pass
        return decide(self, choices)

    monkeypatch.setattr(LatticeSearch, "decide", slow)
    with ps.connect() as engine:
        found = ps.search(engine, ps.Table(frame, quasi), [ps.KAnonymity(3)], ps.FullDomain(time_limit=1))
    assert found.found.stopped == "time limit" and not found.found.optimal
    assert found.best is not None and found.best["values"]["loss"] is not None


def waiting(seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


NUMBERS = pd.DataFrame(
    {"a": list(range(64)), "b": [n * 7 % 64 for n in range(64)], "d": ["x", "y"] * 32}, dtype=object
)


@pytest.mark.parametrize("travel", [True, False])
@pytest.mark.parametrize("in_a_level", [True, False])
def test_boxes_are_published_as_far_as_they_were_cut_in_time(
    travel: bool, in_a_level: bool, monkeypatch: Any, caplog: Any
) -> None:
    """The time is up between two levels, or in the middle of one, whose cuts then count for nothing."""
    from privacy_sql.boxes import partitioning

    levels: list[int] = []
    level = partitioning._Tree._level

    def slow(self: Any, ranges: Any) -> Any:
        levels.append(len(ranges.boxes))
        if len(levels) == 3 and in_a_level:
            waiting(30)
        found = level(self, ranges)
        if len(levels) == 3:
            monkeypatch.setattr("privacy_sql.deadlines.reason", lambda: "time limit")
        return found

    monkeypatch.setattr(partitioning._Tree, "_level", slow)
    if not travel:
        monkeypatch.setattr(partitioning, "fits", lambda *_: False)
    method = ps.Multidimensional(time_limit=1 if in_a_level else 60, seed=1)
    require = [ps.KAnonymity(2), ps.LDiversity(2)]
    with ps.connect() as engine, caplog.at_level(logging.WARNING):
        release = ps.publish(engine, ps.Table(NUMBERS, ["a", "b"], "d", name="numbers"), require, method)
        rows = release.to_arrow().to_pylist()
    search = release.proposal.search
    assert search is not None and release.safe and search["stopped"] == "time limit"
    # one box, two, four; the third level was cut in full or not at all
    groups = search["groups"]
    assert len(levels) == 3 and groups == (4 if in_a_level else 8) == search["cuts"] + 1
    assert "the time limit passed, so some published boxes could have been cut further" in caplog.text
    held: dict[tuple[Any, Any], list[Any]] = {}
    for row in rows:
        held.setdefault((row["a"], row["b"]), []).append(row["d"])
    assert len(held) == groups and all(len(values) >= 2 and len(set(values)) > 1 for values in held.values())


def test_a_person_who_interrupts_boxes_gets_none(monkeypatch: Any) -> None:
    from privacy_sql.boxes import partitioning

    def interrupted(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(partitioning._Tree, "_level", interrupted)
    table = ps.Table(NUMBERS, ["a", "b"], "d")
    with ps.connect() as engine, pytest.raises(KeyboardInterrupt):
        ps.publish(engine, table, [ps.KAnonymity(2)], ps.Multidimensional(time_limit=60))


def test_groups_of_records_that_are_not_made_in_time_are_undecided(monkeypatch: Any) -> None:
    from privacy_sql.methods.microaggregate import Microaggregate

    monkeypatch.setattr(Microaggregate, "_allocate", lambda *_: waiting(30))
    table = ps.Table(NUMBERS, ["a", "b"], "d")
    with ps.connect() as engine, pytest.raises(ps.PrivacySqlError) as problem:
        ps.publish(engine, table, [ps.KAnonymity(2)], ps.Microaggregate(k=2, time_limit=1))
    assert problem.value.code == "undecided" and "time limit of 1 s passed" in str(problem.value)
