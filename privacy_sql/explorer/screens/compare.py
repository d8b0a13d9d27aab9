"""Compare: up to four choices side by side; ways to publish that take long are measured as jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import ClassVar

from privacy_sql import api, methods
from privacy_sql.criteria import Criterion, largest_size
from privacy_sql.errors import UsageError
from privacy_sql.explorer.asking import text, whole
from privacy_sql.explorer.choices import groupings, utilities, verdict_told
from privacy_sql.explorer.screens import Decision, Job, Json, Question, Screen
from privacy_sql.publishing import baseline
from privacy_sql.release import Release
from privacy_sql.studies import disclosure_curve
from privacy_sql.verdict import holds

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
            "source": _compared(decision, dict.fromkeys(decision.plan.table.quasi, 0), everybody=True)
            if pinned
            else None,
        }

    def work(self, decision: Decision, question: Question, job: Job) -> Json:
        name = text(question, "method")
        if name not in OTHERS:
            raise UsageError("bad_question", "there is no such method here", hint="Reload the page.")
        # groups of microaggregation: as asked, else as required, else of five
        k = whole(question, "k", largest_size(decision.counted.require) or 5)
        given = {"k": k, "seconds": whole(question, "seconds", USUAL_SECONDS)}
        method = methods.make(name, {field: str(given[word]) for field, word in OTHERS[name].items()})
        with decision.beside() as (engine, plan):
            stands = [(c, c if method.publishes_rows else c.for_marginals()) for c in plan.require]
            asked = [(required, found) for required, found in stands if found]
            # where nothing applies publish refuses, and says what does
            require = tuple({str(found): found for _, found in asked}.values()) or plan.require
            release = api.publish(engine, plan.table, require, method.rehearsed())
            return _other(release, asked, [str(required) for required, found in stands if found is None])


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


def _compared(decision: Decision, levels: Mapping[str, int], *, everybody: bool = False) -> Json:
    """One choice in numbers; of `everybody`, where nobody may be left out."""
    counted = decision.counted.everybody if everybody else decision.counted
    shown = counted.search.shown(counted.choice(levels))
    every = groupings(decision, levels, everybody=everybody)
    limit = next((c for c in counted.require if c.facts is not None), None)
    curve = None
    if counted.guess is not None:
        curves = [disclosure_curve.of_groups(each, FACTS).by_language["implications"] for each in every]
        curve = [max(values) for values in zip(*curves, strict=True)]
    judged = counted.judged(counted.choice(levels)).to_json()
    return {
        # nobody publishes the table as it stands
        **({**judged, "known": None} if everybody else decision.as_run_says(levels)),
        "baseline": baseline.worst([baseline.guess(each) for each in every]),
        "curve": None if curve is None else [str(value) for value in curve],
        "breaks_at": None
        if curve is None or limit is None
        else next((facts for facts, value in enumerate(curve) if value >= Fraction(str(limit.limit))), None),
        "utilities": utilities(counted.search, shown),
    }


def _other(release: Release, asked: Sequence[tuple[Criterion, Criterion]], not_here: Sequence[str]) -> Json:
    """A release that shows no levels: its verdicts, and how sure a reader of it is.

    `asked` is what stands for each requirement here; `not_here` are those that do not apply.
    """
    found = baseline.of_release(release)
    verdicts: list[dict[str, Json]] = []
    for required, criterion in asked:
        for name, verdict in release.verdicts.items():
            if name == str(criterion) or name.startswith(f"{criterion} for "):
                # a tie is safe for maxent_l_diversity, and not for every l_diversity
                safe = verdict.safe and (
                    criterion is required or holds(verdict.value, required.relation, required.limit)
                )
                about = f"{required}{name.removeprefix(str(criterion))}"
                verdicts.append({**verdict_told(verdict), "safe": safe, "about": about})
    keeps = release.safe and all(verdict["safe"] for verdict in verdicts)
    return {
        "method": release.method,
        "safe": keeps and not not_here,
        "keeps": keeps,  # what applies
        "not_here": list(not_here),
        "refusal": None if release.refusal is None else release.refusal.to_json(),
        "suppressed": release.suppressed,
        "verdicts": verdicts,
        "baseline": None if found is None else found.to_json()["as_published"],
    }
