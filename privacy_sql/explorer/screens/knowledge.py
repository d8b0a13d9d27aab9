"""Knowledge: what more facts reach, one by one; who studied the data; who holds another release."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

from privacy_sql import api
from privacy_sql.counted.base import Base
from privacy_sql.counted.grouping import Grouping
from privacy_sql.criteria import Criterion, make
from privacy_sql.criteria.ck_safety import CKSafety
from privacy_sql.errors import UsageError
from privacy_sql.explorer.asking import text
from privacy_sql.explorer.choices import counts, groupings, verdict_told
from privacy_sql.explorer.screens import Decision, Job, Json, Question, Screen
from privacy_sql.history.register import FILE_NAME, Register
from privacy_sql.studies import disclosure_curve
from privacy_sql.studies.skyline import GRID, Skylines, explored_of
from privacy_sql.verdict import exact_text

FACTS = 12  # of a curve: the slider goes so far
USUAL_BREACH = "0.95"  # a guess that is surer than this is a breach, where no skyline says otherwise


class Knowledge(Screen):
    """One curve for 0 to 12 facts with what the worst adversary knows at each; the rest as long questions."""

    name: ClassVar[str] = "knowledge"
    title: ClassVar[str] = "Knowledge"
    place: ClassVar[int] = 40

    def answer(self, decision: Decision, question: Question) -> Json:
        if text(question, "action", "show") != "show":
            raise UsageError(
                "bad_question", "there is no such action on this screen", hint="Reload the page."
            )
        base = counts(decision)
        columns = [_column(grouping) for grouping in groupings(decision)]

        def as_it_stands(side: Base) -> Json:
            return _curve(Grouping.by(side, side.keys({})))

        source = [
            side.memory.once("curve of the table", partial(as_it_stands, side))
            for side in (base, *base.sides)
        ]
        required = next((c for c in decision.counted.require if c.facts is not None), None)
        # the smallest chance that the privacy skyline of the release calls a breach
        breaches = [limit for criterion in decision.counted.require for limit in criterion.breaches]
        project = decision.project
        registered = [] if project is None else list(Register(project.directory / FILE_NAME).entries())
        return {
            "summary": decision.summary(),
            "facts": FACTS,
            "required": None if required is None else required.facts,
            "limit": None if required is None else str(required.limit),
            "breach": str(min(breaches, default=USUAL_BREACH)),
            "columns": [{**column, "source": before} for column, before in zip(columns, source, strict=True)],
            "registered": registered,
        }

    def work(self, decision: Decision, question: Question, job: Job) -> Json:
        asked = text(question, "about")
        if asked == "skyline":
            return _skylines(decision)
        if asked == "studied":
            bandwidth, t = text(question, "bandwidth", "0.3"), text(question, "t", "0.2")
            return _judged(decision, make("bt_privacy", {"bandwidth": bandwidth, "t": t}))
        if asked == "held":
            if decision.project is None:
                raise UsageError("no_register", "only a project has a register")
            at = text(question, "at", "1")
            made = make("composition", {"with": "register", "at": at})
            return _judged(decision, made.within(decision.project.directory))
        raise UsageError("bad_question", "there is no such question on this screen", hint="Reload the page.")


def _why_not(grouping: Grouping) -> str:
    """Why a table has no curve; empty where it has one."""
    table = grouping.base.table
    if not table.sensitives:
        return "There is no sensitive column, so there is nothing to guess."
    if table.values_per_person != "one":
        return "A disclosure curve needs one sensitive value per person; the skyline supports several."
    return ""


def _curve(grouping: Grouping) -> Json:
    """Both curves as exact text."""
    if _why_not(grouping):
        return None
    found = disclosure_curve.of_groups(grouping, FACTS).by_language
    return {language: [str(value) for value in curve] for language, curve in found.items()}


def _column(grouping: Grouping) -> dict[str, Json]:
    """The curve of one sensitive column, and the story of the worst knowledge for each number of facts."""
    told: dict[str, Json] = {
        "sensitive": next(iter(grouping.base.table.sensitives), None),
        "why_not": _why_not(grouping),
        "curve": _curve(grouping),
    }
    return told | {"stories": [] if told["why_not"] else _stories(grouping)}


def _stories(grouping: Grouping) -> list[Json]:
    """What somebody knows who is as sure as can be, for 0 to 12 facts; the last one is certain.

    Counted once: the evidence for 12 facts serves for fewer.
    """
    evidence = CKSafety(c="1", k=FACTS).gather(grouping)
    found: list[Json] = []
    for facts in range(FACTS + 1):
        verdict = CKSafety(c="1", k=facts).judge(evidence)
        witness: Mapping[str, Any] = grouping.told(verdict.witness)
        found.append(
            {
                "facts": int(witness["facts"]),
                "value": exact_text(verdict.value),
                "group": int(witness["group"]),
                "groups": int(witness["groups"]),
                "size": int(witness["size"]),
                "holders": int(witness["holders"]),
                "guess": int(witness["guess"]),
                "knows": [str(fact) for fact in witness["knows"]],
                "certainty": [str(chance) for chance in witness["certainty"]],
            }
        )
        if verdict.value == 1:
            break
    return found


def _skylines(decision: Decision) -> Json:
    """Breach probabilities of every value that is easy to guess, for every amount of three kinds of facts."""
    with decision.lock:  # the counts are fetched; what is made of them asks no engine
        asked = [Skylines.of(grouping) for grouping in groupings(decision)]
    panels: list[Json] = []
    for each in asked:
        values, n_values = explored_of(each)
        panels.append(
            {
                "sensitive": each.base.table.sensitives[0],
                "values": [
                    {"label": value.label, "people": value.people, "breach": value.breach} for value in values
                ],
                "n_values": n_values,
            }
        )
    return {"most": list(GRID), "panels": panels}


def _judged(decision: Decision, criterion: Criterion) -> Json:
    """The choice judged by one more requirement, on an engine of its own; nothing is added to the release."""
    with decision.lock:
        levels, method = decision.levels, decision.generalise(decision.levels)
    with decision.beside() as (engine, plan):
        release = api.publish(engine, plan.table, plan.require, method)
        verdicts = api.check(engine, release, [criterion])
        return {"levels": levels, "verdicts": [verdict_told(verdict) for verdict in verdicts.values()]}
