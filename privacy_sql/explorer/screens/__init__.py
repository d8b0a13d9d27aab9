"""The screens of the explorer: one file each, found by its name; `page/screens` has a module of that name.

In: the decision and a question that the page sent. Out: plain data the page shows: counts, labels of
hierarchies, verdicts. Values of people only where the question says `values: true`, which a switch of the
page does. Read `decide.py` first.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from privacy_sql.errors import UsageError
from privacy_sql.explorer.asking import Json as Json
from privacy_sql.explorer.asking import Question as Question
from privacy_sql.explorer.decision import Decision as Decision
from privacy_sql.explorer.jobs import Job as Job


class Screen(ABC):
    """One screen: what it answers, at once or as a job."""

    name: ClassVar[str]  # of its file, its route and its module in the page
    title: ClassVar[str]  # of its tab
    place: ClassVar[int]  # among the tabs

    @abstractmethod
    def answer(self, decision: Decision, question: Question) -> Json:
        """What the page shows; the decision is held meanwhile, so it is quick."""

    def work(self, decision: Decision, question: Question, job: Job) -> Json:
        """The answer to a long question, a job; it holds `decision.lock` for short pieces only."""
        raise UsageError("no_job", f'"{self.name}" has no long questions')
