"""An explorer that is really served, and somebody who asks it as a browser would."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from privacy_sql.cli.outcome import connected
from privacy_sql.explorer import server
from privacy_sql.explorer.decision import Decision
from privacy_sql.project import reading


@dataclass
class Asker:
    """A page without a browser: it opens the first address and keeps the cookie."""

    address: str
    thread: threading.Thread
    decision: Decision
    cookie: str = ""
    replies: list[str] = field(default_factory=list)  # everything that was ever answered

    @property
    def port(self) -> int:
        return int(self.address.split(":")[2].split("/")[0])

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def request(
        self, method: str, path: str, body: str = "", headers: Mapping[str, str] | None = None
    ) -> tuple[int, dict[str, str], str]:
        """Status, headers and text of one answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        given = {"Cookie": self.cookie, "Origin": self.origin, **(headers or {})}
        try:
            connection.request(method, path, body.encode(), {k: v for k, v in given.items() if v})
            reply = connection.getresponse()
            text = reply.read().decode()
            told = {name.lower(): value for name, value in reply.getheaders()}
        finally:
            connection.close()
        self.replies.append(text)
        return reply.status, told, text

    def open(self) -> str:
        """Open the first address, as the browser does."""
        status, headers, text = self.request(
            "GET", self.address.removeprefix(self.origin), headers={"Origin": ""}
        )
        assert status == 200, text
        self.cookie = headers["set-cookie"].partition(";")[0]
        return text

    def tell(self, path: str, question: object) -> dict[str, Any]:
        """What the server answers to a question, errors included."""
        _, _, text = self.request("POST", path, json.dumps(question))
        found: dict[str, Any] = json.loads(text)
        return found

    def ask(self, screen: str, **question: object) -> Any:
        """The answer of a screen."""
        told = self.tell(f"/api/{screen}", question)
        assert "error" not in told, told
        return told["answer"]

    def work(self, screen: str, **question: object) -> dict[str, Any]:
        """The end of a long question, with all its parts."""
        job = self.tell("/api/jobs", {**question, "screen": screen})
        parts = [*job.get("parts", [])]
        while job.get("state") == "running":
            time.sleep(0.02)  # as the page does, which asks for what it does not have yet
            job = self.tell(f"/api/jobs/{job['id']}", {"since": len(parts)})
            parts += job["parts"]
        return {**job, "parts": parts}


@contextmanager
def served(folder: Path, name: str | None = None, *, opened: bool = True) -> Iterator[Asker]:
    """A project served on a port of its own, opened unless its address is left; it ends with the block.

    Nobody comes back after the block, so the server is not left to wait for a page that is loaded again.
    """
    read = reading.read(folder)
    (plan,) = read.selected((name,) if name else ())
    decision = Decision(plan, lambda plan: connected(read, plan), read)
    ready = threading.Event()
    address: list[str] = []

    def listens(told: str) -> None:
        address.append(told)
        ready.set()

    thread = threading.Thread(target=server.serve, args=(decision, 0, listens), daemon=True)
    thread.start()
    assert ready.wait(30)
    asker = Asker(address[0], thread, decision)
    try:
        if opened:
            asker.open()
        yield asker
    finally:
        if thread.is_alive():
            asker.tell("/api/alive", {"page": "end"})
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(server, "RELOAD", 0)
                asker.tell("/api/leave", {"page": "end"})
                thread.join(30)
        assert not thread.is_alive(), "the server did not end with its page"
