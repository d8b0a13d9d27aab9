"""The server of the explorer: one user, one machine, and nothing outlives it.

It binds 127.0.0.1 only. The page says every few seconds that it is open; when no page is, the server ends,
and with it the engine and its temporary files.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from privacy_sql import registry
from privacy_sql.errors import PrivacySqlError, UsageError, as_error
from privacy_sql.explorer.asking import Json, Question, text
from privacy_sql.explorer.decision import Decision
from privacy_sql.explorer.guard import HEADERS, Guard
from privacy_sql.explorer.jobs import Jobs
from privacy_sql.explorer.screens import Screen

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

PAGE = Path(__file__).parent / "page"
WRITER = json.JSONEncoder(allow_nan=False)
KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
LARGEST = 1_000_000  # bytes of a question: a hierarchy of many labels is the largest
QUIET = 150  # seconds without a word after which a page is gone; browsers slow hidden pages to one a minute
LOOK_EVERY = 0.5  # seconds between two looks at whether anybody is here
RELOAD = 4  # seconds in which a page that left may be asked for again
LOADING = 60  # seconds in which a page that was asked for must speak: a busy machine loads it slowly


def screens() -> dict[str, Screen]:
    """Every screen by its name, in the order of its tabs."""
    kinds: list[type[Screen]] = [
        registry.get("explorer.screens", name) for name in registry.available("explorer.screens")
    ]
    return {kind.name: kind() for kind in sorted(kinds, key=lambda kind: kind.place)}


class Open:
    """Which pages are open, by the number each drew, and when each spoke last."""

    def __init__(self) -> None:
        self._pages: dict[str, float] = {}
        self._empty_since: float | None = None  # None: nobody has been here yet
        self._asked_for: float | None = None  # when a page was asked for that has not spoken yet

    def asked_for(self) -> None:
        """A page is being loaded: where it is a reload, its last self leaves only now."""
        self._asked_for = time.monotonic()

    def spoke(self, page: str) -> None:
        """A page says that it is open."""
        if page not in self._pages:
            self._asked_for = None
        self._pages[page], self._empty_since = time.monotonic(), None

    def left(self, page: str) -> None:
        """A page was closed, or is being loaded again."""
        if self._pages.pop(page, None) is not None and not self._pages:
            self._empty_since = time.monotonic()

    def nobody(self) -> bool:
        """Whether everybody who was here has gone."""
        now = time.monotonic()
        for page in [page for page, spoke in self._pages.items() if now - spoke > QUIET]:
            self.left(page)
        if self._asked_for is not None and now - self._asked_for <= LOADING:
            return False
        return self._empty_since is not None and now - self._empty_since > RELOAD


class Explorer:
    """The routes of one decision."""

    def __init__(self, decision: Decision, guard: Guard) -> None:
        self.decision, self.guard = decision, guard
        self.jobs, self.open, self.screens = Jobs(), Open(), screens()
        self.end: Callable[[], None] = lambda: None
        self.enough = threading.Event()  # somebody else ends it
        # an address outside this list leads nowhere: no path of a request meets the file system
        self.files = {
            f"/page/{file.relative_to(PAGE).as_posix()}": (KINDS[file.suffix], file.read_bytes())
            for file in sorted(PAGE.rglob("*"))
            if file.suffix in KINDS
        }

    def app(self) -> ASGIApp:
        """The application, with a guard before every route."""
        routes = [
            Route("/", self.index),
            Route("/page/{name:path}", self.file),
            Route("/api/screens", self.tabs, methods=["POST"]),
            Route("/api/alive", self.alive, methods=["POST"]),
            Route("/api/leave", self.leave, methods=["POST"]),
            Route("/api/jobs", self.start, methods=["POST"]),
            Route("/api/jobs/{number}", self.job, methods=["POST", "DELETE"]),
            Route("/api/{screen}", self.ask, methods=["POST"]),
        ]
        return _Guarded(Starlette(routes=routes, lifespan=self._watch), self.guard)

    # -- the page --------------------------------------------------------------------------------------------

    async def index(self, request: Request) -> Response:
        """The page; with the token of the first address it gets the cookie."""
        kind, content = self.files["/page/index.html"]
        token = request.query_params.get("token")
        headers = {}
        if token is not None and self.guard.admits(token):
            headers["Set-Cookie"] = self.guard.set_cookie
        elif not self.guard.knows(request.cookies.get(self.guard.cookie_name)):
            return _plain(
                "This address was already used, or is incomplete. Start privacy-sql explore again.", 403
            )
        self.open.asked_for()
        return Response(content, headers=headers, media_type=kind)

    async def file(self, request: Request) -> Response:
        """A file of the page."""
        found = self.files.get(f"/page/{request.path_params['name']}")
        if found is None:
            return _plain("There is no such file.", 404)
        return Response(found[1], media_type=found[0])

    # -- questions -------------------------------------------------------------------------------------------

    async def tabs(self, request: Request) -> Response:
        """The screens, and what is decided on."""
        told: list[Json] = [{"name": screen.name, "title": screen.title} for screen in self.screens.values()]
        running: list[Json] = [job.to_json() for job in self.jobs.running()]

        def answered(_: Question) -> Json:
            with self.decision.lock:
                return {"screens": told, "jobs": running, **self.decision.summary()}

        return await self._answered(request, answered)

    async def ask(self, request: Request) -> Response:
        """A question to a screen."""
        screen = self.screens.get(request.path_params["screen"])
        if screen is None:
            return _plain("There is no such screen.", 404)

        def answered(question: Question) -> Json:
            with self.decision.lock:
                return {"answer": screen.answer(self.decision, question), "version": self.decision.version}

        return await self._answered(request, answered)

    async def start(self, request: Request) -> Response:
        """Begin a long question: `screen`, and the question itself."""

        def begun(question: Question) -> Json:
            screen = self.screens.get(text(question, "screen"))
            if screen is None:
                raise UsageError("unknown_screen", "there is no such screen", hint="Reload the page.")
            return self.jobs.start(
                screen.name, lambda job: screen.work(self.decision, question, job)
            ).to_json()

        return await self._answered(request, begun, at_once=True)

    async def job(self, request: Request) -> Response:
        """How far a long question is (POST, `since` parts), or the end of it (DELETE)."""
        asked = request.path_params["number"]  # by anybody: it may have thousands of digits
        number = int(asked) if asked.isdecimal() and len(asked) < 10 else 0

        def told(question: Question) -> Json:
            since = question.get("since", 0)
            return self.jobs.get(number).to_json(since if isinstance(since, int) else 0)

        if request.method == "DELETE":
            return await self._answered(request, lambda _: self.jobs.cancel(number).to_json(), at_once=True)
        return await self._answered(request, told, at_once=True)

    async def alive(self, request: Request) -> Response:
        """A page says that it is open, and learns whether another one changed something."""

        def told(question: Question) -> Json:
            self.open.spoke(text(question, "page"))
            return {"version": self.decision.version}

        return await self._answered(request, told, at_once=True)

    async def leave(self, request: Request) -> Response:
        """A page is closed."""

        def told(question: Question) -> Json:
            self.open.left(text(question, "page"))
            return {}

        return await self._answered(request, told, at_once=True)

    async def _answered(
        self, request: Request, make: Callable[[Question], Json], *, at_once: bool = False
    ) -> Response:
        """An answer as JSON; the words for what goes wrong hold no value.

        What waits for nothing is made `at_once`: threads are few, and all may wait for the decision's lock.
        """
        try:
            content = await _body(request)
            told = WRITER.encode(make(content) if at_once else await run_in_threadpool(make, content))
            status = 200
        except PrivacySqlError as problem:
            told, status = WRITER.encode({"error": _told(problem), "version": self.decision.version}), 422
        except Exception as problem:
            problem = as_error(problem)
            told, status = WRITER.encode({"error": _told(problem), "version": self.decision.version}), 500
        return Response(told, status_code=status, media_type="application/json")

    # -- its end ---------------------------------------------------------------------------------------------

    @contextlib.asynccontextmanager
    async def _watch(self, app: Starlette) -> AsyncIterator[None]:
        """End the server when every page is closed; end what runs when the server does."""
        watching = asyncio.create_task(self._until_nobody())
        try:
            yield
        finally:
            watching.cancel()
            self.jobs.close()

    async def _until_nobody(self) -> None:
        while not (self.open.nobody() or self.enough.is_set()):
            await asyncio.sleep(LOOK_EVERY)
        self.end()


class _Guarded:
    """Asks every request where it comes from before anything else looks at it, and adds the headers."""

    def __init__(self, app: ASGIApp, guard: Guard) -> None:
        self.app, self.guard = app, guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # a web socket: there are none
            return

        async def with_headers(message: dict[str, object]) -> None:
            if message["type"] == "http.response.start":
                own = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
                given = message.get("headers", [])
                assert isinstance(given, list)
                message = {**message, "headers": [*given, *own]}
            await send(message)

        refused = self._refused(Request(scope))
        await (refused or self.app)(scope, receive, with_headers)  # type: ignore[arg-type]

    def _refused(self, request: Request) -> Response | None:
        changes = request.method not in ("GET", "HEAD")
        if self.guard.stranger(request.headers, changes=changes):
            return _plain("This request comes from somewhere else.", 403)
        first = request.scope["path"] == "/" and not changes  # looks at the token itself
        if not first and not self.guard.knows(request.cookies.get(self.guard.cookie_name)):
            return _plain("This page was not opened by privacy-sql explore.", 403)
        return None


def _told(problem: PrivacySqlError) -> Json:
    parts: list[Json] = [part.to_json() for part in problem.parts]
    return {**problem.to_json(), "parts": parts}


def _plain(words: str, status: int) -> Response:
    return Response(f"{words}\n", status_code=status, media_type="text/plain")


async def _body(request: Request) -> Question:
    """The question of a request, as long as a question may be."""
    content = b""
    async for piece in request.stream():
        content += piece
        if len(content) > LARGEST:
            raise UsageError("large_question", "the request is too large")
    try:
        found = json.loads(content or b"{}")
    except (ValueError, RecursionError):
        raise UsageError("bad_question", "the request is not JSON", hint="Reload the page.") from None
    if not isinstance(found, dict):
        raise UsageError("bad_question", "a request must be a JSON object", hint="Reload the page.")
    return found


def bound(port: int) -> socket.socket:
    """A socket of this machine alone; port 0 takes a free one."""
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(("127.0.0.1", port))
    except OSError:
        made.close()
        hint = "Name another one, or 0 for any that is free."
        raise UsageError("port_taken", f"port {port} is taken", where="--port", hint=hint) from None
    return made


def serve(
    decision: Decision,
    port: int,
    opened: Callable[[str], None],
    enough: threading.Event | None = None,
) -> None:
    """Serve until every page is closed or somebody ends it; `opened` receives the address to open.

    `enough` ends it where it runs in a thread, which no Ctrl-C reaches.
    """
    import uvicorn

    with bound(port) as listening, decision:
        guard = Guard(listening.getsockname()[1])
        explorer = Explorer(decision, guard)
        config = uvicorn.Config(
            explorer.app(),
            log_config=None,
            access_log=False,
            server_header=False,
            ws="none",
            http="h11",
            loop="asyncio",
            timeout_graceful_shutdown=2,
        )
        server = uvicorn.Server(config)

        def end() -> None:
            server.should_exit = True

        explorer.end, explorer.enough = end, enough or explorer.enough
        listening.listen()
        opened(guard.address)
        server.run(sockets=[listening])
