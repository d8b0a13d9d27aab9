"""Progress goes to stderr, as bars on a terminal and as lines elsewhere, and leaves nothing behind."""

from __future__ import annotations

import io
import sys
import threading
from pathlib import Path

import pytest

from privacy_sql.cli import main
from privacy_sql.display import progress
from tests.project.test_project import PROJECT, write


class Terminal(io.StringIO):
    """A terminal that tells when a word has been written to it."""

    def __init__(self, word: str) -> None:
        super().__init__()
        self.word, self.seen = word, threading.Event()

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        written = super().write(text)
        if self.word in text:
            self.seen.set()
        return written


def test_a_bar_moves_while_nothing_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal("working")
    monkeypatch.setattr(sys, "stderr", terminal)
    bars = progress.BarProgress(after=0)
    assert terminal.seen.wait(30)
    bars.stop()


def test_what_is_reported_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal("search")
    monkeypatch.setattr(sys, "stderr", terminal)
    bars = progress.BarProgress(after=0)
    bars.clock.join()
    bars("search", 3, 4)
    assert terminal.seen.wait(30)
    bars.stop()
    assert "75%" in terminal.getvalue()


def test_short_work_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal("working")
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress.shown():
        progress.report("search", 1, 4)
    assert terminal.getvalue() == ""


def test_elsewhere_long_work_says_a_line_now_and_then_and_short_work_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plain = io.StringIO()
    monkeypatch.setattr(sys, "stderr", plain)
    with progress.shown():
        progress.report("search", 1, 4)
    assert plain.getvalue() == ""
    log = Terminal("search")
    lines = progress.LineProgress(log, after=0.01, every=0.01)
    lines("search", 3, 4)
    assert log.seen.wait(30)
    lines.stop()
    said = log.getvalue()
    assert "s: search, 3 of 4\n" in said
    lines("search", 4, 4)
    assert log.getvalue() == said


def test_nobody_who_reads_stops_no_work() -> None:
    gone = io.StringIO()
    gone.close()
    lines = progress.LineProgress(gone, after=0, every=0)
    lines.clock.join(30)
    assert not lines.clock.is_alive()
    lines.stop()


def test_a_run_says_what_it_is_doing(tmp_path: Path) -> None:
    heard: list[str] = []
    write(tmp_path, PROJECT)
    with progress.listening(lambda task, done, total: heard.append(task)):
        assert main.run(["run", "--project", str(tmp_path)]).exit == 0
    told = [task.partition(" ")[0] for task in dict.fromkeys(heard)]
    assert [word for word in told if word in ("choosing", "writing", "measuring")] == [
        "choosing",
        "writing",
        "measuring",
    ]


def test_long_verbs_say_what_they_are_doing_and_how_much_is_left(tmp_path: Path) -> None:
    heard: dict[str, tuple[int, int]] = {}
    write(tmp_path, PROJECT)
    people = str(tmp_path / "people.csv")
    asked = {
        ("init", "--from", people, "--dry-run", str(tmp_path / "new")): "counting values, column by column",
        ("profile", "--source", people, "--identify"): "looking for people alone in sets of 1",
        (
            "attack",
            "knowledge",
            "--project",
            str(tmp_path),
        ): "learning what an adversary of each bandwidth believes",
        ("check", "--project", str(tmp_path)): "counting people",
    }
    for words, told in asked.items():
        heard.clear()
        with progress.listening(lambda task, done, total: heard.update({task: (done, total)})):
            assert main.run(list(words)).exit in (0, 1), words
        assert told in heard, (words, list(heard))
        assert all(done <= total for done, total in heard.values())


def test_nothing_more_is_shown_once_a_page_waits_for_somebody() -> None:
    said = io.StringIO()
    with progress.shown():
        lines = progress.LineProgress(said, after=0, every=0)
        token = progress._stop.set(lines.stop)
        progress.silence()
        before = said.getvalue()
        lines.clock.join(30)
        progress._stop.reset(token)
    assert not lines.clock.is_alive() and said.getvalue() == before
