"""A decision about a small table, and a screen that is asked about it without a server."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pandas as pd

import privacy_sql as ps
from privacy_sql.explorer.decision import Decision
from privacy_sql.explorer.jobs import Job
from privacy_sql.explorer.server import screens
from privacy_sql.project.reading import Plan
from tests import engines
from tests.oracles.people_by_risk import PARENTS

REQUIRE = (ps.KAnonymity(2), ps.CKSafety(c="0.9", k=1))
JOBS = ps.Tree({job: [parent, "*"] for job, parent in PARENTS.items()})


def people(seed: int, most: int = 14) -> list[Any]:
    """Random rows with missing values: a number, age, job, value."""
    draw = random.Random(seed)
    ages, jobs, ills = ["20", "25", "31", None], [*"abc", None], [*"fgh", None]
    return [
        (draw.randint(1, 9), draw.choice(ages), draw.choice(jobs), draw.choice(ills))
        for _ in range(draw.randint(3, most))
    ]


def table(rows: list[Any], sensitive: Any = "ill", **more: Any) -> ps.Table:
    frame = pd.DataFrame(rows, columns=["who", "age", "job", "ill"], dtype=object)
    more = {"drop": ["who"], **more}
    return ps.Table(frame, {"age": ps.Intervals(10), "job": JOBS}, sensitive, **more)


def several(seed: int) -> ps.Table:
    """People with one to three values each."""
    draw = random.Random(seed)
    rows = [
        (str(number), *person, ill)
        for number, (_, *person, _) in enumerate(people(seed))
        for ill in draw.sample("fgh", draw.randint(1, 3))
    ]
    return table(rows, identifier="who", values_per_person="set", drop=())


@contextmanager
def decided(
    given: ps.Table, levels: dict[str, int], require: Any = REQUIRE, allowed: str = "0"
) -> Iterator[Decision]:
    """A decision with its engine."""
    method = ps.Generalise(levels, max_suppressed=allowed)
    plan = Plan("small", given, tuple(require), method, None, None)
    with engines.lasting() as connect, Decision(plan, lambda _: connect()) as decision:
        yield decision


def ask(decision: Decision, screen: str, **question: Any) -> Any:
    return screens()[screen].answer(decision, question)


def work(decision: Decision, screen: str, **question: Any) -> Any:
    return screens()[screen].work(decision, question, Job(1, screen))
