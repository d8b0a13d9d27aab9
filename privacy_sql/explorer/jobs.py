"""Long questions: each runs in its own thread, says how far it is, and stops when nobody waits for it."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from privacy_sql.display import progress
from privacy_sql.errors import PrivacySqlError, UsageError, as_error
from privacy_sql.explorer.asking import Json

KEPT = 20  # finished jobs whose answers are kept: a page that was reloaded asks for its own again


class Enough:
    """Processor time of this thread that may be spent on an answer which others wait for."""

    def __init__(self, seconds: float) -> None:
        self._until = time.thread_time() + seconds

    @property
    def spent(self) -> bool:
        return time.thread_time() > self._until


class Turns:
    """A lock that is given to those who wait in turn; who holds it may take it again.

    A plain lock is had again by the job that just let it go, and a page that asks meanwhile waits long.
    """

    def __init__(self) -> None:
        self._next, self._held = threading.Lock(), threading.Lock()
        self._holder: int | None = None
        self._times = 0

    @property
    def awaited(self) -> bool:
        """Whether somebody waits for it."""
        return self._next.locked()

    def __enter__(self) -> None:
        if self._holder != threading.get_ident():
            with self._next:  # one waits for the lock, all others for that one
                self._held.acquire()
            self._holder = threading.get_ident()
        self._times += 1

    def __exit__(self, *_: object) -> None:
        self._times -= 1
        if not self._times:
            self._holder = None
            self._held.release()


class PutOff(BaseException):
    """Work that stops where it says how far it is, to be begun again; no error, as `Cancelled` is none."""


class Cancelled(BaseException):
    """Nobody waits for the answer any more; no error, so that nothing on the way takes it for one."""


@dataclass
class Job:
    """One long question and its result; `state` is running, done, failed or cancelled."""

    number: int
    screen: str
    state: str = "running"
    task: str = ""
    done: int = 0
    total: int = 0
    parts: list[Json] = field(default_factory=list)
    answer: Json = None
    problem: PrivacySqlError | None = None
    unwanted: threading.Event = field(default_factory=threading.Event)
    finishing: bool = False  # it writes: it is not stopped any more, and its end is waited for

    def report(self, task: str, done: int, total: int) -> None:
        """Say how far it is; the place where a job that nobody wants stops."""
        self.task, self.done, self.total = task, done, total
        self.stop_if_unwanted()

    def stop_if_unwanted(self) -> None:
        """End here where nobody waits for the answer any more."""
        if self.unwanted.is_set() and not self.finishing:
            raise Cancelled

    def tell(self, parts: Sequence[Json]) -> None:
        """Parts of the answer that are known already."""
        self.parts += parts

    def to_json(self, since: int = 0) -> dict[str, Json]:
        """How far it is, with the parts of the answer from number `since` on."""
        parts = self.parts[since:]
        told: dict[str, Json] = {
            "id": self.number,
            "screen": self.screen,
            "state": self.state,
            "task": self.task,
            "done": self.done,
            "total": self.total,
            "parts": parts,
            "next": since + len(parts),
            "finishing": self.finishing,
        }
        if self.state == "done":
            told["answer"] = self.answer
        if self.problem is not None:
            told["error"] = self.problem.to_json()
        return told


class Jobs:
    """The long questions of one explorer."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._jobs: dict[int, Job] = {}
        self._threads: dict[int, threading.Thread] = {}
        self._lock = threading.Lock()
        self._closed = False

    def start(self, screen: str, work: Callable[[Job], Json]) -> Job:
        """Begin a long question."""
        with self._lock:
            if self._closed:
                raise UsageError("closed", "the explorer has ended", hint="Start it again.")
            job = Job(next(self._numbers), screen)
            for old in [n for n, known in self._jobs.items() if known.state != "running"][: -KEPT or None]:
                del self._jobs[old], self._threads[old]
            thread = threading.Thread(target=_run, args=(job, work), daemon=True, name=f"job-{job.number}")
            self._jobs[job.number], self._threads[job.number] = job, thread
            thread.start()
        return job

    def get(self, number: int) -> Job:
        """A job by its number."""
        job = self._jobs.get(number)
        if job is None:
            raise UsageError("no_job", f"there is no job {number}", hint="Repeat the request.")
        return job

    def cancel(self, number: int) -> Job:
        """Stop a job at the next place where it says how far it is."""
        job = self.get(number)
        job.unwanted.set()
        return job

    def running(self) -> list[Job]:
        """The jobs that have not ended, for a page that was reloaded."""
        return [job for job in self._jobs.values() if job.state == "running"]

    def close(self, seconds: float = 5) -> None:
        """Stop all jobs and wait a little for them; for those that write, to their end."""
        with self._lock:
            self._closed = True
            for job in self._jobs.values():
                job.unwanted.set()
        for number, thread in list(self._threads.items()):
            thread.join(None if self._jobs[number].finishing else seconds)


def _run(job: Job, work: Callable[[Job], Json]) -> None:
    try:
        with progress.listening(job.report):
            job.answer = work(job)
        job.state = "done"
    except Cancelled:
        job.state = "cancelled"
    except BaseException as problem:
        job.problem = as_error(problem if isinstance(problem, Exception) else RuntimeError())
        job.state = "failed"
