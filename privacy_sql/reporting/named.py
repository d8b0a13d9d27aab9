"""INTERNAL: the worst cases of a written release with the keys and values behind them, for one page only.

Read from the published bytes when the page is made; no record, log or other page holds any of it. Where the
project still has the source, also who is meant, and the worst facts as `facts` reads them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from privacy_sql import registry
from privacy_sql.engines import connect
from privacy_sql.errors import PrivacySqlError
from privacy_sql.judge import judge
from privacy_sql.publishing import rejudging
from privacy_sql.release import Release
from privacy_sql.reporting.describing import UNASKED_FACTS
from privacy_sql.reporting.records import Record
from privacy_sql.studies import worst_facts
from privacy_sql.studies.worst_facts import NOBODY, Replay
from privacy_sql.verdict import Verdict

MOST_VALUES = 12  # of a group, the most common first
MOST_PEOPLE = 5
OTHER_SOURCE = "the source gives another worst case today than the published rows"


@dataclass(frozen=True)
class Named:
    """The group a requirement is closest to its limit in, as it is published."""

    rule: str
    keys: Sequence[tuple[str, str]] = field(repr=False)
    value: str = field(repr=False)  # the one in question, where there is one
    values: Sequence[tuple[str, int]] = field(repr=False)
    left_out: int
    people: Sequence[str] = field(default=(), repr=False)  # of the source, who may be among them
    have_it: bool = False  # whether these people have the value in question
    replay: Replay | None = None
    unnamed: str = ""  # why nobody is named
    asked: bool = True


def worst_cases(place: Path, run: Record, again: Release | None) -> list[Named]:
    """Of every requirement that names a group, by the manifest of a release in files and its record.

    `again` is the same release made anew from the source; who is meant is read there, while it is the same.
    """
    with connect() as engine:
        verdicts = rejudging.rejudge(engine, place).verdicts
        seen = [(verdict, verdict.witness.reveal()) for verdict in verdicts.values()]
    if not seen and again is not None and again.table.values_per_person != "one":
        # the rows do not tell whose they are, so the groups are those of the source, while it says the same
        same = {verdict["requirement"]: verdict["value"] for verdict in run["verdicts"]}
        seen = [
            (verdict, verdict.witness.reveal())
            for name, verdict in again.verdicts.items()
            if verdict.to_json()["value"] == same.get(name)
        ]
    unasked: Record | None = run.get("unasked")
    found = [
        _with_people(_named(verdict.requirement, told), verdict, again)
        for verdict, told in seen
        if "keys" in told
    ]
    told = unasked and "value" in unasked and not any(one.replay for one in found)
    if unasked and told and again is not None and not again.groups.base.sides:
        # the worst case of a few facts that nobody required anything about
        few = registry.get("criteria", "ck_safety")(c=1, k=UNASKED_FACTS)
        (verdict,) = judge(again.groups, [few]).values()
        if verdict.to_json()["value"] == unasked["value"]:
            one = replace(_named(verdict.requirement, verdict.witness.reveal()), asked=False)
            found.append(_with_people(one, verdict, replace(again, verdicts={verdict.requirement: verdict})))
    return found


def _with_people(one: Named, published: Verdict, again: Release | None) -> Named:
    """Who is meant, where the source gives the same verdict about the same group."""
    if again is None or not again.table.identifier:
        return one
    verdict = again.verdicts.get(published.requirement)
    told = verdict.witness.reveal() if verdict is not None else {}
    same = "keys" in told and replace(_named(one.rule, told), value=one.value, asked=one.asked) == one
    if verdict is None or not same or verdict.value != published.value:
        return replace(one, unnamed=OTHER_SOURCE)
    private = verdict.witness.private
    code = private.get("value_code", NOBODY)
    try:
        people = worst_facts.people_of(again.groups, private["g"], MOST_PEOPLE, code)
        having = [name for name, holds in people if holds]
        one = replace(one, people=having or [name for name, _ in people], have_it=bool(having))
        return replace(one, replay=worst_facts.replay(again.groups, verdict))
    except PrivacySqlError as problem:
        return replace(one, unnamed=problem.message)


def _named(rule: str, told: Mapping[str, Any]) -> Named:
    counted = sorted(told.get("values", {}).items(), key=lambda pair: (-pair[1], str(pair[0])))
    return Named(
        rule=rule,
        keys=[(str(name), _text(label)) for name, label in told["keys"].items()],
        value=_text(told["value"]) if "value" in told else "",
        values=[(_text(value), n) for value, n in counted[:MOST_VALUES]],
        left_out=max(0, len(counted) - MOST_VALUES),
    )


def _text(value: object) -> str:
    return "missing" if value is None else str(value)
