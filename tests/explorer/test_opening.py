"""The page that Python opens for a counted table: served until it is closed, and nothing is counted again."""

from __future__ import annotations

import http.client
import json
import sys
import threading
import time
import types
from collections.abc import Callable
from typing import Any

import pytest

import privacy_sql as ps
from privacy_sql.counted import base
from privacy_sql.errors import UsageError
from privacy_sql.explorer import opening
from tests import engines
from tests.explorer.deciding import decided, people, table


def reader(found: dict[str, Any], then: Callable[[Callable[..., Any]], None]) -> Callable[[str], bool]:
    """Somebody who opens the address, does something, and closes the page."""

    def read(address: str) -> None:
        host = address.split("/")[2]
        kept = {"Origin": f"http://{host}"}

        def send(path: str, question: Any = None) -> Any:
            connection = http.client.HTTPConnection(host, timeout=60)
            body = None if question is None else json.dumps(question)
            try:
                connection.request("GET" if question is None else "POST", path, body, kept)
                reply = connection.getresponse()
                text = reply.read().decode()
            finally:
                connection.close()
            kept.setdefault("Cookie", (reply.getheader("set-cookie") or "").partition(";")[0])
            assert reply.status == 200, text
            return text if question is None else json.loads(text)

        assert "<main" in send(f"/?{address.partition('?')[2]}")
        send("/api/alive", {"page": "one"})
        try:
            then(send)
        finally:
            send("/api/leave", {"page": "one"})

    def opened(address: str) -> bool:
        found["address"] = address
        found["thread"] = threading.Thread(target=read, args=(address,), daemon=True)
        found["thread"].start()
        return True

    return opened


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("privacy_sql.explorer.server.RELOAD", 0.05)


def test_what_is_decided_on_the_page_comes_back_and_the_engine_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found: dict[str, Any] = {}

    def decide(send: Callable[..., Any]) -> None:
        told = send("/api/decide", {"action": "take", "levels": {"age": 2, "job": 1}, "version": 1})
        found["safe"] = told["answer"]["now"]["safe"]
        job = send("/api/jobs", {"screen": "compare", "method": "multidimensional"})
        while job["state"] == "running":
            time.sleep(0.02)
            job = send(f"/api/jobs/{job['id']}", {})
        found["boxes"] = job["state"]

    with engines.opened() as engine:
        counted = ps.count(engine, table(people(1) * 3))
        own = base.counted

        def again(asked: Any, *rest: Any) -> Any:
            if threading.current_thread().name.startswith("job-"):  # these have an engine of their own
                return own(asked, *rest)
            raise AssertionError("the table was counted again")

        monkeypatch.setattr(base, "counted", again)
        monkeypatch.setattr(opening.webbrowser, "open", reader(found, decide))
        levels = counted.explore([ps.KAnonymity(2)])
        found["thread"].join(30)
        assert levels == {"age": 2, "job": 1} and found["boxes"] == "done"
        assert found["safe"] == bool(counted.judge(levels, [ps.KAnonymity(2)]))
        with pytest.raises(OSError):
            http.client.HTTPConnection(found["address"].split("/")[2], timeout=5).request("GET", "/")


def test_it_starts_from_groups_of_five_where_nothing_is_required(monkeypatch: pytest.MonkeyPatch) -> None:
    found: dict[str, Any] = {}

    def look(send: Callable[..., Any]) -> None:
        found["told"] = send("/api/decide", {})["answer"]["summary"]

    monkeypatch.setattr(opening.webbrowser, "open", reader(found, look))
    with engines.opened() as engine:
        ps.count(engine, table(people(2) * 3)).explore()
    (asked,) = found["told"]["requirements"]
    assert asked["requirement"] == "k_anonymity(k=5)" and found["told"]["project"] == ""


def test_a_notebook_shows_the_address_and_opens_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    found: dict[str, Any] = {}
    shown: list[str] = []
    visit = reader(found, lambda send: None)

    def display(html: str) -> None:
        shown.append(html)
        visit(html.partition('href="')[2].partition('"')[0])

    kernel = types.ModuleType("IPython.display")
    vars(kernel).update(HTML=str, display=display)  # as a notebook shows it
    for name, module in (("ipykernel", kernel), ("IPython", kernel), ("IPython.display", kernel)):
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(opening.webbrowser, "open", lambda address: pytest.fail("a browser was opened"))
    with engines.opened() as engine:
        ps.count(engine, table(people(2) * 3)).explore([ps.KAnonymity(2)])
    assert len(shown) == 1 and "http://127.0.0.1:" in shown[0] and "token=" in shown[0]


def test_what_cannot_be_decided_is_refused_before_anything_opens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening.webbrowser, "open", lambda address: pytest.fail("a browser was opened"))
    with engines.opened() as engine:
        grouped = ps.count(engine, table(people(2), group="who", drop=[]))
        with pytest.raises(UsageError, match="no quasi-identifier has levels"):
            grouped.explore()
        counted = ps.count(engine, table(people(2), sensitive=None))
        with pytest.raises(UsageError, match="needs a sensitive column"):
            counted.explore([ps.LDiversity(2)])
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
        with pytest.raises(UsageError, match="explore needs starlette"):
            counted.explore()


def test_long_questions_about_a_relation_ask_the_connection_that_sees_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found: dict[str, Any] = {}

    def look(send: Callable[..., Any]) -> None:
        for screen, question in (("columns", {"do": "profile"}), ("columns", {"do": "identify"}),
                                 ("knowledge", {"about": "studied"}),
                                 ("compare", {"method": "multidimensional"})):  # fmt: skip
            job = send("/api/jobs", {"screen": screen, **question})
            while job["state"] == "running":
                time.sleep(0.02)
                job = send(f"/api/jobs/{job['id']}", {})
            found[screen, *question.values()] = f"{job['state']} {job.get('error', {}).get('message', '')}"

    monkeypatch.setattr(opening.webbrowser, "open", reader(found, look))
    rows = ps.connect()
    with rows:
        rows.connection.execute(
            "create temp table visits as select range % 3 * 10 + 20 as age, 'ab'[range % 2 + 1] as job,"
            " 'fgh'[range % 3 + 1] as ill from range(60)"
        )
        given = ps.Table("visits", {"age": ps.Intervals(10), "job": ps.KeepOrDrop()}, "ill")
        ps.count(rows, given).explore([ps.KAnonymity(2)])
        found.pop("thread").join(30), found.pop("address")
        assert len(found) == 4 and set(found.values()) == {"done "}, found
        assert rows.connection.execute("select count(*) from visits").fetchone() == (60,), "it goes on"


def test_the_end_waits_for_the_question_that_is_being_answered() -> None:
    """An engine that is closed under a statement ends the program with an error."""
    asked, done = threading.Event(), []
    with decided(table(people(1) * 3), {"age": 1}) as decision:

        def answer() -> None:
            with decision.lock:
                asked.set()
                time.sleep(0.3)
                done.append(decision.summary()["people"])

        thread = threading.Thread(target=answer)
        thread.start()
        assert asked.wait(10) and not done
    assert done, "the engine was closed before the answer"
    thread.join(10)
