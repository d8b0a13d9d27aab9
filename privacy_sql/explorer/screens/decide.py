"""Decide: limits, the steps of every column with their verdict before they are taken, and all choices."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar

from privacy_sql import registry
from privacy_sql.criteria import Criterion
from privacy_sql.display import progress
from privacy_sql.errors import Undecided, UsageError
from privacy_sql.explorer.asking import flag, levels, text, whole
from privacy_sql.explorer.choices import LabelWords, looking_alike, sides
from privacy_sql.explorer.counted import JudgedChoice
from privacy_sql.explorer.distributions import distributions
from privacy_sql.explorer.jobs import Enough, PutOff
from privacy_sql.explorer.screens import Decision, Job, Json, Question, Screen
from privacy_sql.reporting import invented, words
from privacy_sql.searches import Limits
from privacy_sql.spaces.lattice import Choice
from privacy_sql.verdict import Verdict

MOST_PLACED = 3000  # choices that a picture can show
MOST_SEARCHED = 300  # choices that a search asks about where there are more
SECONDS = 1.0  # of processor time for the steps of all columns; the page is not answered meanwhile


class Decide(Screen):
    """The choice of the moment, and what one step would change."""

    name: ClassVar[str] = "decide"
    title: ClassVar[str] = "Decide"
    place: ClassVar[int] = 20

    def answer(self, decision: Decision, question: Question) -> Json:
        action = text(question, "action", "show")
        if action == "story":
            return _story(decision, values=flag(question, "values"))
        if action == "take":
            decision.take(decision.with_levels(levels(question)), whole(question, "version"))
        elif action == "limit":
            made = decision.with_limit(
                text(question, "requirement"), text(question, "limit"), text(question, "parameter", "")
            )
            decision.take(made, whole(question, "version"))
        elif action == "undo":
            decision.undo(whole(question, "version"))
        elif action != "show":
            raise UsageError(
                "bad_question", f'there is no "{action}" on this screen', hint="Reload the page."
            )
        return self._shown(decision)

    def _shown(self, decision: Decision) -> Json:
        """The choice, and every choice one column away; null where that takes long, and a job decides it."""
        counted, at = decision.counted, decision.counted.choice(decision.levels)
        soon = Enough(SECONDS)
        now = _soon(lambda: counted.judged(at), soon) or counted.pending(at)
        source = _soon(lambda: counted.source, soon) if now.decided else None
        enough = Enough(0 if counted.slow else SECONDS)
        steps: dict[str, Json] = {}
        for column, around in _around(decision).items():
            steps[column] = [
                None if enough.spent and choice not in counted.known else counted.judged(choice).to_json()
                for choice in around
            ]
        return {
            "summary": decision.summary(),
            "now": now.to_json(),
            "source": None if source is None else source.to_json(),
            "steps": steps,
        }

    def work(self, decision: Decision, question: Question, job: Job) -> Json:
        """Every choice that may be published, of very many those a search asks about; or all steps."""
        with decision.lock:
            counted, around = decision.counted, _around(decision)
            basis, search, now = decision.basis, counted.search, counted.choice(decision.levels)
            within = search.within
        if text(question, "do", "every") == "steps":
            places = list(dict.fromkeys([now, *(choice for some in around.values() for choice in some)]))
        elif within.size > MOST_PLACED:
            # nobody else is answered meanwhile, so the search is short, and stops where it is not wanted
            stop = Limits(budget=MOST_SEARCHED, stop=lambda: "cancelled" if job.unwanted.is_set() else None)
            job.report("looking for safe choices", 0, 1)
            with decision.lock:
                found = search.run("all", stop)
            places = list(dict.fromkeys([*found.minimal, *search.tried]))[:MOST_PLACED]
        else:
            places = [search.part.choice(place) for place in within.choices()]
        for done, choice in enumerate(places):
            job.report("deciding choices", done, len(places))
            judged = _giving_way(decision, job, lambda at=choice: counted.judged(at))  # type: ignore[misc]
            job.tell([judged.to_json()])
        source = _giving_way(decision, job, lambda: counted.source)
        return {"basis": basis, "choices": within.size, "told": len(places), "source": source.to_json()}


def _soon(find: Callable[[], JudgedChoice], enough: Enough) -> JudgedChoice | None:
    """What is found in so much time; None where it takes longer, and what was worked out is kept."""

    def heard(task: str, done: int, total: int) -> None:
        if enough.spent:
            raise PutOff

    try:
        with progress.listening(heard):
            return find()
    except PutOff:
        return None


def _giving_way(decision: Decision, job: Job, find: Callable[[], JudgedChoice]) -> JudgedChoice:
    """What takes long, put off whenever somebody else waits: what was worked out of groups is kept."""

    def heard(task: str, done: int, total: int) -> None:
        job.stop_if_unwanted()
        if decision.lock.awaited:
            raise PutOff

    while True:
        try:
            with decision.lock, progress.listening(heard):
                return find()
        except PutOff:
            continue


def _around(decision: Decision) -> dict[str, list[Choice]]:
    """The choices at every level of one column, the others staying as they are."""
    at, counted = decision.levels, decision.counted
    return {
        column: [counted.choice({**at, column: level}) for level in range(kind.height + 1)]
        for column, kind in decision.plan.table.hierarchies.items()
    }


def _story(decision: Decision, *, values: bool) -> Json:
    """The choice judged as `run` judges it: what the worst adversary does, in words."""
    at = decision.levels
    try:
        release = decision.release(at)
    except (Undecided, UsageError) as problem:
        nothing: dict[str, Json] = {"verdicts": [], "columns": [], "reader": None}
        known = decision.reader(at, problem)
        return {"levels": at, "undecided": problem.message, "known": known, **nothing}
    verdicts: list[Json] = [
        {
            "requirement": verdict.requirement,
            "safe": verdict.safe,
            "story": verdict.story,
            "notes": list(verdict.notes),
            "slack": words.slack(verdict.to_json()),
            "limit": words.limit({**verdict.to_json(), "unit": _unit(verdict)}),
            "measured": words.value({**verdict.to_json(), "unit": _unit(verdict)}),
            # where the witness counts the people of the worst case
            "size": size if isinstance(size := verdict.witness.get("size"), int) else None,
            "value": verdict.to_json()["value"],
            "value_float": verdict.to_json()["value_float"],
            "group": _group(decision, verdict.witness.reveal(), at, values=values)
            if "g" in verdict.witness.private
            else None,
        }
        for verdict in release.verdicts.values()
    ]
    search, choice = decision.counted.search, decision.counted.choice(at)
    shown, words_of = search.shown(choice), LabelWords(search.base, aloud=False)
    # of several sensitive columns each has its own groups: the smallest are told
    alike = [looking_alike(seen) for _, seen in sides(decision.counted, choice)]
    kinds, base = decision.plan.table.hierarchies, search.base
    columns = {**base.aliases, **dict.fromkeys(base.table.sensitives, "s")}
    n_values = {name: base.statistics[alias]["n_values"] for name, alias in columns.items()}
    return {
        "levels": at,
        "safe": release.safe,
        "known": decision.reader(at, release),
        "suppressed": release.suppressed,
        "verdicts": verdicts,
        "columns": distributions(search.base, shown, words_of, decision.plan.table.quasi),
        "reader": {
            "shape": invented.rows(
                [
                    (name, invented.labels(kinds.get(name), release.levels.get(name), n_values.get(name)))
                    for name in release.columns
                ]
            ),
            "fewest": min(fewest for fewest, _ in alike),
            "half": min(half for _, half in alike),
        },
    }


def _unit(verdict: Verdict) -> str:
    kind: type[Criterion] = registry.get("criteria", verdict.criterion)
    return kind.unit_of(verdict.params, verdict.relation)


def _group(
    decision: Decision, revealed: Mapping[str, object], at: Mapping[str, int], *, values: bool
) -> Json:
    """Who the worst case is about, by the labels of hierarchies; values of people only where asked for."""
    keys = revealed.get("keys")
    labels: dict[str, Json] = {}
    unnamed: list[Json] = []  # columns whose value is one of somebody
    for column, label in keys.items() if isinstance(keys, Mapping) else ():
        kind = decision.plan.table.hierarchies.get(column)
        if kind is None or 0 < kind.height == at[column]:
            continue  # it is not published
        if at[column] or values:
            labels[column] = str(label)
        else:
            unnamed.append(column)
    return {
        "labels": labels,
        "unnamed": unnamed,
        **({"value": str(revealed["value"])} if values and "value" in revealed else {}),
    }
