"""Compare: up to four choices side by side; ways to publish that take long are measured as jobs."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import ClassVar

from privacy_sql import api, methods
from privacy_sql.errors import UsageError
from privacy_sql.explorer.asking import text, whole
from privacy_sql.explorer.choices import groupings, utilities, verdict_told
from privacy_sql.explorer.screens import Decision, Job, Json, Question, Screen
from privacy_sql.publishing import baseline
from privacy_sql.release import Release
from privacy_sql.studies import disclosure_curve

MOST = 4
FACTS = 12
# ways to publish beside levels, and what each of them needs to be told
OTHERS: Mapping[str, Mapping[str, str]] = {
    "multidimensional": {},
    "microaggregate": {"k": "k"},
    "marginals": {"time_limit": "seconds"},
}
USUAL_SECONDS = 30


class Compare(Screen):
    """Verdicts, best guesses, curves and losses of several choices of levels."""

    name: ClassVar[str] = "compare"
    title: ClassVar[str] = "Compare"
    place: ClassVar[int] = 60

    def answer(self, decision: Decision, question: Question) -> Json:
        pinned = question.get("choices", [])
        if not isinstance(pinned, list) or len(pinned) > MOST:
            raise UsageError(
                "bad_question", f"at most {MOST} choices can be compared", hint="Remove one of them."
            )
        return {
            "summary": decision.summary(),
            "most": MOST,
            "others": sorted(OTHERS),
            "now": decision.levels,
            "choices": [_compared(decision, _levels(decision, each)) for each in pinned],
        }

    def work(self, decision: Decision, question: Question, job: Job) -> Json:
        name = text(question, "method")
        if name not in OTHERS:
            raise UsageError("bad_question", "there is no such method here", hint="Reload the page.")
        # groups of microaggregation: as asked, else as required, else of five
        required = [int(c.params["k"]) for c in decision.counted.require if c.name == "k_anonymity"]
        k = whole(question, "k", max(required, default=5))
        given = {"k": k, "seconds": whole(question, "seconds", USUAL_SECONDS)}
        method = methods.make(name, {field: str(given[word]) for field, word in OTHERS[name].items()})
        with decision.beside() as (engine, plan):
            release = api.publish(engine, plan.table, plan.require, method.rehearsed())
            return _other(release)


def _levels(decision: Decision, given: object) -> dict[str, int]:
    """A pinned choice: a level for every column, those of other columns as they are."""
    if not isinstance(given, Mapping) or not all(
        isinstance(level, int) and not isinstance(level, bool) for level in given.values()
    ):
        raise UsageError(
            "bad_question", "a choice must have a level for each column", hint="Reload the page."
        )
    levels = {**dict.fromkeys(decision.plan.table.quasi, 0), **given}
    decision.counted.choice(levels)  # refuses a column or level that there is not
    return levels


def _compared(decision: Decision, levels: Mapping[str, int]) -> Json:
    """One choice in numbers."""
    counted = decision.counted
    shown = counted.search.shown(counted.choice(levels))
    every = groupings(decision, levels)
    limit = next((c for c in counted.require if c.name == "ck_safety" and c.slider), None)
    curve = None
    if counted.guess is not None:
        curves = [disclosure_curve.of_groups(each, FACTS).by_language["implications"] for each in every]
        curve = [max(values) for values in zip(*curves, strict=True)]
    return {
        **decision.judged(levels).to_json(),
        "baseline": baseline.worst([baseline.guess(each) for each in every]),
        "curve": None if curve is None else [str(value) for value in curve],
        "breaks_at": None
        if curve is None or limit is None
        else next((facts for facts, value in enumerate(curve) if value >= Fraction(str(limit.limit))), None),
        "utilities": utilities(counted.search, shown),
    }


def _other(release: Release) -> Json:
    """A release that shows no levels: its verdicts, and how sure a reader of it is."""
    found = baseline.of_release(release)
    return {
        "method": release.method,
        "safe": release.safe,
        "suppressed": release.suppressed,
        "verdicts": [verdict_told(verdict) for verdict in release.verdicts.values()],
        "baseline": None if found is None else found.to_json()["as_published"],
    }
