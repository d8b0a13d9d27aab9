"""People: how many can be guessed how well and how many stand together, and what could be done for some."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil
from typing import ClassVar

from privacy_sql.criteria import largest_size
from privacy_sql.errors import UsageError, number_of
from privacy_sql.errors import people as so_many
from privacy_sql.explorer.asking import flag, text, whole
from privacy_sql.explorer.choices import LabelWords, risks, sides, source
from privacy_sql.explorer.screens import Decision, Json, Question, Screen
from privacy_sql.lattice.in_memory import GroupMask, GroupsInMemory
from privacy_sql.project.editing import SetAllowed
from privacy_sql.studies._people_by_risk import (
    MOST_FACTS,
    Bar,
    ends_of,
    places_of,
    refuse_bad_facts,
    sure_of,
)

MOST_LISTED = 50  # groups of a bar
PLACES = 10_000  # a share of people that may leave is written with four decimals
TOGETHER: Json = {
    "possible": False,
    "why": (
        "With several sensitive columns groups leave for all of them together: set max_suppressed in"
        " privacy.yml."
    ),
}


class People(Screen):
    """Two histograms of people, beside those of the table as it stands, and the groups behind a bar."""

    name: ClassVar[str] = "people"
    title: ClassVar[str] = "People"
    place: ClassVar[int] = 30

    def answer(self, decision: Decision, question: Question) -> Json:
        action = text(question, "action", "show")
        facts = self._facts(decision, question)
        if action == "groups":
            return _groups(decision, question, facts)
        if action == "leave":
            _leave(decision, question)
        elif action != "show":
            raise UsageError(
                "bad_question", f'there is no "{action}" on this screen', hint="Reload the page."
            )
        return _shown(decision, facts)

    def _facts(self, decision: Decision, question: Question) -> int:
        """How many facts somebody knows: those of the question, else those that are required, else none."""
        guess = decision.counted.guess
        usual = 0 if guess is None else min(MOST_FACTS, guess.facts or 0)
        facts = whole(question, "facts", usual)
        refuse_bad_facts(facts)
        if facts and guess is None:
            hint = "Set the facts to 0; the privacy skyline supports several values."
            raise UsageError("several_values", "facts need one sensitive value per person", hint=hint)
        return facts


def _shown(decision: Decision, facts: int) -> Json:
    counted = decision.counted
    at = counted.choice(decision.levels)
    before = [risks(source(side), facts) for side in (counted.search, *counted.search.sides)]
    columns: list[Json] = []
    for (side, shown), was in zip(sides(counted, at), before, strict=True):
        now = risks(shown, facts)
        columns.append(
            {
                "sensitive": next(iter(side.base.table.sensitives), None),
                "people": now.people,
                "guesses": None
                if now.guesses is None or was.guesses is None
                else _beside(now.guesses, was.guesses),
                "sizes": _beside(now.sizes, was.sizes),
            }
        )
    limit = next((c for c in counted.require if c.facts is not None), None)
    return {
        "summary": decision.summary(),
        "facts": facts,
        "most_facts": 0 if counted.guess is None else MOST_FACTS,
        # the limit is about facts on anybody, the bars about facts on the group: below it is not yet safe
        "limit": None if limit is None or limit.facts != facts else str(limit.limit),
        "k": largest_size(counted.require),
        "left_out": counted.search.shown(at).n_suppressed,
        "rows_left_out": counted.search.shown(at).n_rows_suppressed,
        "columns": columns,
    }


def _beside(now: tuple[Bar, ...], source: tuple[Bar, ...]) -> list[Json]:
    """Bars of the choice, each with the people of the source table who are in it."""
    after = {(bar.low, bar.high): bar for bar in now}
    before = {(bar.low, bar.high): bar.people for bar in source}
    found: list[Json] = []
    for low, high in sorted({*after, *before}):
        bar = after.get((low, high), Bar(low, high, 0, 0))
        found.append(
            {
                "low": float(low),
                "high": float(high),
                "people": bar.people,
                "groups": bar.groups,
                "source": before.get((low, high), 0),
            }
        )
    return found


def _groups(decision: Decision, question: Question, facts: int) -> Json:
    """The groups of one bar, and what could be done for their people."""
    by, low, number = text(question, "by"), whole(question, "low"), whole(question, "column", 0)
    counted = decision.counted
    at = counted.choice(decision.levels)
    every = list(sides(counted, at))
    if by not in ("guess", "size") or not 0 <= number < len(every):
        raise UsageError("bad_question", "there is no such histogram", hint="Reload the page.")
    side, shown = every[number]
    if (held := shown.in_memory) is None:
        told = "the engine counts the groups of this table, so they are not listed here"
        raise UsageError("not_listed", told, hint="Use privacy-sql check, which names the worst group.")
    groups = held.of
    if by == "guess":
        if groups.values is None:
            raise UsageError("no_sensitive", "there is no sensitive column to guess")
        place = places_of(groups, facts)
        inside = [group for group in range(len(groups)) if place[group] == low]
    else:
        high = next((int(bar.high) for bar in risks(shown, 0).sizes if bar.low == low), 0)
        inside = [group for group, n in enumerate(groups.people.tolist()) if low <= n <= high]
    inside.sort(key=lambda group: (int(groups.people[group]), group))
    words = LabelWords(side.base, flag(question, "values"))
    listed = inside[:MOST_LISTED]
    sure = sure_of(groups, listed, facts) if groups.values is not None else [None] * len(listed)
    told_groups: list[Json] = [
        {
            "people": int(groups.people[group]),
            "sure": None if chance is None else str(chance),
            "labels": _labels(held, group, decision, words),
        }
        for group, chance in zip(listed, sure, strict=True)
    ]
    n = int(groups.people[inside].sum())
    return {
        "by": by,
        "low": low,
        "ends": [float(end) for end in ends_of(low)] if by == "guess" else None,
        "groups": len(inside),
        "people": n,
        "listed": told_groups,
        "leave": _leaving(decision, held, inside, n) if len(every) == 1 else TOGETHER,
        "coarser": _coarser(decision, by, low, facts),
    }


def _labels(held: GroupsInMemory, group: int, decision: Decision, words: LabelWords) -> dict[str, Json]:
    """What a group is published under; columns that are left out, and values, are not said."""
    told: dict[str, Json] = {}
    for position, (name, kind) in enumerate(held.counts.base.columns.values()):
        level = decision.levels.get(name, 0)
        if kind.height and level == kind.height:
            continue
        code = int(held.labels(position)[group])
        if words.told(name, level):
            told[name] = words.label(name, level, code)
    return told


def _leaving(decision: Decision, held: GroupsInMemory, inside: list[int], n: int) -> Json:
    """Whether these groups can be left out, and how many people leave then; only what fails may leave."""
    method, search = decision.plan.method, decision.counted.search
    if method is None or not method.leaves_out:
        told = "no method" if method is None else method.name
        return {"possible": False, "why": f"{told} leaves out no groups; full_domain and generalise do."}
    if not inside:
        return {"possible": False, "why": "Nobody is in this bar."}
    failing = held.failing(search.require)
    places = set(failing.groups.nonzero()[0].tolist())
    if not set(inside) <= places:
        keeping = len(set(inside) - places)
        return {
            "possible": False,
            "why": (
                f"{number_of(keeping, 'group')} of these keep every requirement, and only groups that break"
                " one are left out. Tighten a limit until they break it, or make a column coarser."
            ),
        }
    shown, gone = search.shown(decision.counted.choice(decision.levels)), GroupMask(failing.groups)
    leaving = held.people_in(gone) + shown.n_suppressed
    share = Fraction(ceil(_share(decision, held, gone, leaving) * PLACES), PLACES)  # never less than leave
    if share >= 1:
        return {"possible": False, "why": "Everybody would be left out."}
    return {
        "possible": True,
        "people": leaving,
        "max_suppressed": _decimal(share),
        "why": (
            f"Everybody in a group that breaks a requirement is left out: {so_many(leaving)} in all,"
            f" {n} of them from this bar. max_suppressed becomes {_decimal(share)}."
        ),
    }


def _share(decision: Decision, held: GroupsInMemory, gone: GroupMask, leaving: int) -> Fraction:
    """The share that leaves: of people, or of their rows and values where these are more."""
    search, base = decision.counted.search, decision.counted.base
    found = [Fraction(leaving, base.n_people)]
    if base.people:
        shown = search.shown(decision.counted.choice(decision.levels))
        lines = held.lines_in(gone) + (shown.seen.lines_in(shown.gone) if shown.gone else 0)
        found += [
            Fraction(held.rows_in(gone) + shown.n_rows_suppressed, base.rows),
            Fraction(lines, base.n_lines),
        ]
    return max(found)


def _decimal(share: Fraction) -> str:
    """A share as privacy.yml has it.

    >>> _decimal(Fraction(12, 10_000))
    '0.0012'
    """
    return f"{float(share):.4f}".rstrip("0").rstrip(".")


def _leave(decision: Decision, question: Question) -> None:
    """Allow so many people to be left out; the levels stay as they are."""
    method = decision.plan.method
    if method is None or not method.leaves_out:
        raise UsageError("cannot_leave", "this method leaves out no groups")
    allowed = text(question, "max_suppressed")
    if decision.project is not None:
        draft = decision.with_edits(SetAllowed(allowed))
    else:
        plan = replace(decision.plan, method=method.with_params({"max_suppressed": allowed}))
        draft = replace(decision.with_levels({}), plan=plan)
    decision.take(draft, whole(question, "version"))


def _coarser(decision: Decision, by: str, low: int, facts: int) -> list[Json]:
    """One step up in each column: a level holds for everybody, so this is what becomes of all people."""
    counted, now = decision.counted, decision.levels
    found: list[Json] = []
    for place, (column, kind) in enumerate(decision.plan.table.hierarchies.items()):
        if now[column] >= kind.height or now[column] + 1 not in counted.search.part.levels[place]:
            continue
        levels = {**now, column: now[column] + 1}
        judged = decision.judged(levels)
        left = 0
        for _, shown in sides(counted, counted.choice(levels)):
            after = risks(shown, facts)
            bars = after.sizes if by == "size" else after.guesses or ()
            worse = (bar for bar in bars if (bar.low <= low if by == "size" else bar.low >= ends_of(low)[0]))
            left = max(left, sum(bar.people for bar in worse))
        found.append({"column": column, "level": now[column] + 1, "left": left, **judged.to_json()})
    return found
