"""Choices that take long to decide: the page has an answer without them, and asks about them as a job."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

import privacy_sql as ps
from privacy_sql.explorer.jobs import Job, Turns
from privacy_sql.explorer.screens import decide
from privacy_sql.explorer.server import screens
from tests.explorer.deciding import ask, decided, people, several, table, work
from tests.explorer.served import Asker

SEVERAL = (ps.KAnonymity(2), ps.PrivacySkyline([[1, 0, 1, "0.9"]]))


TOP = {"age": 2, "job": 2}


def test_people_with_several_values_are_decided_in_memory_as_check_decides_them() -> None:
    with decided(several(3), {}, SEVERAL) as it:
        told = ask(it, "decide")
        assert told["summary"]["in_memory"]
        for column, steps in told["steps"].items():
            for level, step in enumerate(steps):
                release = it.release({**it.levels, column: level})
                verdicts = ps.check(it.engine, release, SEVERAL)
                assert {name: value["safe"] for name, value in step["values"].items()} == {
                    verdict.requirement: verdict.safe for verdict in verdicts.values()
                }


def test_steps_that_take_long_are_null_and_a_job_decides_them(monkeypatch: pytest.MonkeyPatch) -> None:
    with decided(table(people(1)), {"age": 1}) as it:
        whole = ask(it, "decide")["steps"]
    monkeypatch.setattr(decide, "SECONDS", -1.0)
    with decided(table(people(1)), {"age": 1}) as it:
        told = ask(it, "decide")
        assert told["now"]["levels"] == {"age": 1, "job": 0} and told["source"] is not None
        unknown = [(c, n) for c, steps in told["steps"].items() for n, step in enumerate(steps) if not step]
        assert unknown == [("age", 2), ("job", 1), ("job", 2)], "what is known by now is told"
        answer = work(it, "decide", do="steps")
        assert answer["told"] == 5
        assert ask(it, "decide")["steps"] == whole


def test_where_people_may_leave_for_what_merging_can_break_nothing_is_searched_at_the_start() -> None:
    with decided(several(3), {}, SEVERAL, allowed="0.2") as it:
        assert it.counted.slow
        told = ask(it, "decide")
        assert None in told["steps"]["job"] and told["source"]["suppressed"] == 0
        work(it, "decide", do="steps")
        assert None not in ask(it, "decide")["steps"]["job"]


def test_a_choice_that_takes_long_is_told_when_a_job_has_decided_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with decided(several(3), TOP, SEVERAL, allowed="0.2") as it:
        whole = ask(it, "decide")
    monkeypatch.setattr(decide, "SECONDS", -1.0)
    with decided(several(3), TOP, SEVERAL, allowed="0.2") as it:
        told = ask(it, "decide")
        now = told["now"]
        assert not now["decided"] and not now["safe"] and now["undecided"] == list(whole["now"]["values"])
        assert told["source"] is None and now["detail"] == whole["now"]["detail"]
        assert work(it, "decide", do="steps")["source"] == whole["source"]
        again = ask(it, "decide")
        assert (again["now"], again["source"]) == (whole["now"], whole["source"])


def test_a_choice_that_takes_long_is_put_off_while_somebody_asks() -> None:
    order: list[str] = []

    def asked(it: Any) -> None:
        with it.lock:
            order.append("page")

    with decided(several(3), TOP, SEVERAL, allowed="0.2") as it:

        class Watched(Job):
            def stop_if_unwanted(self) -> None:
                if it.lock._holder == threading.get_ident() and not order:  # in the middle of a choice
                    order.append("job")
                    threading.Thread(target=asked, args=(it,)).start()
                    while not it.lock.awaited:
                        time.sleep(0.001)

            def tell(self, parts: Any) -> None:
                order.append("told")

        screens()["decide"].work(it, {"do": "steps"}, Watched(1, "decide"))
    assert order[:3] == ["job", "page", "told"]


def test_the_page_is_answered_while_every_choice_is_decided(
    page: Asker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever waits for the lock has it next; the job waits for its turn."""
    turns, order, began = Turns(), list[str](), threading.Event()

    def job() -> None:
        for _ in range(5):
            with turns, turns:  # who holds it may take it again
                began.set()
                order.append("job")
                time.sleep(0.05)  # the work of one choice

    def asked() -> None:
        began.wait(10)
        with turns:
            order.append("page")

    threads = [threading.Thread(target=work) for work in (job, asked)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert order.count("job") == 5 and order.index("page") <= 2, order
    told = page.tell("/api/jobs", {"screen": "decide"})
    assert page.ask("decide")["now"] and told["state"] in ("running", "done")
