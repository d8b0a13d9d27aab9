"""Open the explorer from Python: for a table that is counted, with no project around it."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
import threading
import webbrowser
from collections.abc import Callable, Sequence

from privacy_sql.criteria import Criterion
from privacy_sql.display import notebook
from privacy_sql.engines import Engine
from privacy_sql.errors import UsageError
from privacy_sql.explorer.decision import Decision
from privacy_sql.project.reading import Plan
from privacy_sql.table import Table

NEEDS = ("starlette", "uvicorn")


def refuse_without_libraries() -> None:
    """Say what to install where the server has nothing to serve with."""
    missing = [part for part in NEEDS if importlib.util.find_spec(part) is None]
    if missing:
        told = f"explore needs {' and '.join(missing)}"
        raise UsageError("needs_extra", told, hint="pip install 'privacy-sql[explore]'")


def opened(engine: Engine, people: Table, require: Sequence[Criterion], port: int) -> dict[str, int]:
    """Serve the page of a counted table until it is closed; the levels that were decided."""
    refuse_without_libraries()
    plan = Plan(people.name, people, tuple(require), None, None, None)
    decision = Decision(plan, lambda _: engine.beside(), lent=engine)
    decision.counted.refuse_unfit()
    told = notebook.shown_address if notebook.running() else _in_browser
    _until_closed(decision, port, told)
    return decision.levels


def _in_browser(address: str) -> None:
    print(address, file=sys.stderr, flush=True)  # noqa: T201 - lets in whoever opens it first
    webbrowser.open(address)


def _until_closed(decision: Decision, port: int, told: Callable[[str], None]) -> None:
    """The server runs in a thread of its own: a notebook's has a loop already, which allows no second."""
    from privacy_sql.explorer import server

    enough = threading.Event()
    failed: list[BaseException] = []

    def run() -> None:
        try:
            server.serve(decision, port, told, enough)
        except BaseException as problem:
            failed.append(problem)

    thread = threading.Thread(target=run, name="explorer", daemon=True)
    thread.start()
    with contextlib.suppress(KeyboardInterrupt):  # the usual way to end it
        while thread.is_alive():
            thread.join(0.2)
    enough.set()
    thread.join()
    if failed:
        raise failed[0]
