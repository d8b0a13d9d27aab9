"""What the published rows tell: the sizes of groups, curves, skylines, and a worst case for information.

A run does not measure them. A report does, from the published bytes that it has just checked, and keeps what
it found beside the record of the run, so that the next report does not measure it again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from privacy_sql import registry
from privacy_sql.counted.base import count
from privacy_sql.counted.grouping import Grouping
from privacy_sql.display.plain import plain
from privacy_sql.display.rounding import as_float
from privacy_sql.engines import connect
from privacy_sql.errors import PrivacySqlError, UsageError, as_error, ended
from privacy_sql.judge import judge
from privacy_sql.manifest import Manifest
from privacy_sql.publishing import verifying
from privacy_sql.publishing.baseline import MOST_ALONE
from privacy_sql.query.template import names, render
from privacy_sql.reporting import bars, numbering, records
from privacy_sql.reporting.records import Record
from privacy_sql.table import Table
from privacy_sql.verdict import Verdict

log = logging.getLogger("privacy_sql")

FACTS = 12  # how far curves go
UNASKED_FACTS = 3  # facts of the worst case shown when no requirement names any
PUBLISHED = "as_published"  # the roles of the published columns, in the record of a run
REPLACED = "The release was published anew while its report was made."


def of_groups(groups: Callable[[], Grouping], verdicts: Sequence[Record]) -> Record:
    """Every part, each measured on its own, or why it cannot be; `verdicts`: what was judged already."""
    asked = {verdict["criterion"] for verdict in verdicts}
    from privacy_sql.studies import disclosure_curve

    return {
        "groups": tried(lambda: _groups(groups())),
        "curves": tried(
            lambda: {
                language: list(map(as_float, curve))
                for language, curve in disclosure_curve.of_groups(
                    _one_column(groups()), FACTS
                ).by_language.items()
            }
        ),
        "unasked": tried(lambda: _unasked(groups(), asked)),
        "skyline": tried(lambda: _skyline(groups())),
        "bars": tried(lambda: bars.of_groups(groups())),
        "value_numbers": tried(lambda: numbering.numbers(groups, verdicts)),
    }


def completed(directory: Path, found: Record, place: Path, content: Manifest, *, keep: bool) -> Record:
    """Records with what their run left to the report, measured on the published file."""
    run = found["run"]
    roles = run.get(PUBLISHED)
    if roles is None:
        return found
    (file,) = content.files
    parts = _of_file(place.parent / file.file, roles, run["verdicts"])
    # what was read must be what was checked before it was read
    if verifying.verified(place) != content:
        return {**found, "run": {**run, **{key: {"missing": REPLACED} for key in parts}}}
    told_by_rows = {key: value for key, value in run.items() if key != PUBLISHED} | parts
    if keep:
        records.complete(directory, content.release, told_by_rows)
    return {**found, "run": told_by_rows}


def _of_file(place: Path, roles: Mapping[str, Any], verdicts: Sequence[Record]) -> Record:
    """The parts, from the rows of a published file in their roles."""
    with connect(files=[place]) as engine:
        made: list[Grouping] = []

        def groups() -> Grouping:
            if not made:
                known = tuple(roles["also_known"])
                base = count(engine, Table(place, **{**roles, "also_known": known}), several=True)
                made.append(Grouping.by(base, base.own_keys()))
            return made[0]

        parts = of_groups(groups, verdicts)
        free = [name for name in roles["insensitive"] if name not in roles["also_known"]]
        shown = parts["bars"]
        if "missing" not in shown:
            shown |= {name: bars.of_column(engine, place, name) for name in free[:MOST_ALONE]}
        return parts


def tried(measure: Callable[[], object]) -> object:
    """What was measured, or `{"missing": why}`."""
    try:
        return plain(measure())
    except PrivacySqlError as problem:
        return {"missing": str(problem)}
    except Exception as problem:  # an unforeseen error may quote rows: only its kind is told
        if ended.is_set():
            raise KeyboardInterrupt from None
        log.warning("a part of the report could not be measured: %s", as_error(problem).message)
        return {"missing": as_error(problem).message}


def told(verdict: Verdict, grouping: Grouping | None = None) -> Record:
    """A verdict with its question, its worst case in words, and the number of the value that is about."""
    about_one = "holders" in verdict.witness or "value_code" in verdict.witness.private
    number = (
        tried(lambda: numbering.number(grouping, verdict)) if grouping is not None and about_one else None
    )
    return {
        **explained({key: plain(part) for key, part in verdict.to_json().items()}),
        "value_number": number,
        "story": verdict.story,
        "notes": list(verdict.notes),
    }


def explained(verdict: Record) -> Record:
    """A verdict as `--json` has it, with the question it answers, against whom, and what its value counts."""
    name = verdict["criterion"]
    if not registry.has("criteria", name):  # a promise of the method
        return {**verdict, "question": "", "against": "", "unit": ""}
    kind = registry.get("criteria", name)
    unit = kind.unit_of(verdict["params"], verdict["relation"])
    estimated = verdict["witness"].get("estimated_groups", 0)
    return {
        **verdict,
        "question": kind.question,
        "against": kind.against,
        "unit": unit,
        "estimated": estimated,
    }


def _one_column(grouping: Grouping) -> Grouping:
    """The groups, where there is one sensitive column."""
    if grouping.base.sides:
        raise UsageError("several_sensitive", "this section supports one sensitive column")
    return grouping


def _groups(grouping: Grouping) -> Record:
    """How many groups there are, and how many people are in the smallest, the middle and the largest."""
    query = render("counted/listed.sql", relation=grouping.groups, columns=names(["n_people"]))
    people = np.sort(np.asarray(grouping.base.engine.arrays(query)["n_people"]))
    return {
        "n_groups": len(people),
        "smallest": int(people[0]) if len(people) else 0,
        "median": int(people[len(people) // 2]) if len(people) else 0,
        "largest": int(people[-1]) if len(people) else 0,
    }


def _unasked(grouping: Grouping, asked: set[str]) -> Record | None:
    """The worst case of a few facts, where no requirement is about facts."""
    if "ck_safety" in asked:
        return None
    question = registry.get("criteria", "ck_safety")(c=1, k=UNASKED_FACTS)
    (verdict, *_) = judge(_one_column(grouping), [question]).values()
    return told(verdict, grouping)


def _skyline(grouping: Grouping) -> Record:
    if grouping.base.table.values_per_person != "one":
        raise UsageError("several_values", "it is measured of one sensitive value per person")
    from privacy_sql.studies import skyline

    found, n_values = skyline.explored(_one_column(grouping))
    values = [{"label": one.label, "people": one.people, "breach": one.breach} for one in found]
    return {"values": values, "n_values": n_values}
