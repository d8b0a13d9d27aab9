"""Progress goes to stderr, only on a terminal, and leaves nothing behind."""

from __future__ import annotations

import io
import sys
import threading

import pytest

from privacy_sql import progress


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
    bars = progress.Bars(after=0)
    assert terminal.seen.wait(30)
    bars.stop()


def test_what_is_reported_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal("search")
    monkeypatch.setattr(sys, "stderr", terminal)
    bars = progress.Bars(after=0)
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


def test_what_is_no_terminal_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = io.StringIO()
    monkeypatch.setattr(sys, "stderr", plain)
    with progress.shown():
        progress.report("search", 1, 4)
    assert plain.getvalue() == ""
