"""What a report shows of a release that stands in memory: plain counts, levels and words.

Each part is measured on its own, and one that cannot be is recorded with the reason, so that a report says
what is missing and a publication never fails for its report's sake.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

import privacy_sql
from privacy_sql import manifest, registry
from privacy_sql.counted.grouping import Grouping
from privacy_sql.display.plain import plain
from privacy_sql.display.rounding import as_float
from privacy_sql.errors import PrivacySqlError, UsageError, as_error, ended
from privacy_sql.judge import judge
from privacy_sql.publishing import audit, baseline
from privacy_sql.query.template import names, render
from privacy_sql.release import Release
from privacy_sql.reporting.records import Record
from privacy_sql.studies import bucketized_kl, disclosure_curve, skyline, usefulness
from privacy_sql.table import Table
from privacy_sql.verdict import Verdict

log = logging.getLogger("privacy_sql")

FACTS = 12  # how far curves go
UNASKED_FACTS = 3  # the worst case that is told where none was asked about
MOST_SIZES = 60  # groups shown one by one
MOST_COMBINATIONS = 2_000_000  # beyond, usefulness is not measured along with a run


def recorded(release: Release) -> Record:
    """Everything a report says about a release, or why it cannot."""
    return {
        **about(release.table),
        "made": manifest.now(),
        "version": privacy_sql.__version__,
        "safe": release.safe,
        **release.counts,
        "step": release.step,
        "method": release.method,
        "choice": plain(release.choice),
        "require": [str(criterion) for criterion in release.require],
        "verdicts": [
            {**told(verdict), "by_rows": audit.by_rows(release, verdict.criterion)}
            for verdict in release.verdicts.values()
        ],
        "claims": plain(release.claims),
        "baseline": release.baseline.to_json() if release.baseline else None,
        "insensitive": baseline.declared(release.table),
        "rehearsal": release.rehearsal,
        "sql": release.view.public(),
        "search": plain(release.search),
        "columns": _tried(lambda: list(_columns(release))),
        "groups": _tried(lambda: _groups(release)),
        "curves": _tried(lambda: _curves(release)),
        "unasked": _tried(lambda: _unasked(release)),
        "skyline": _tried(lambda: _skyline(release)),
        "usefulness": _tried(lambda: _usefulness(release)),
        "lattice": plain(release.lattice),
    }


def about(table: Table) -> Record:
    """What is known of a release before anything is counted."""
    return {
        "roles": dict(table.roles),
        "sensitive": list(table.declared_sensitive),
        "values_per_person": table.values_per_person,
        "identified": table.identifier is not None and table.values_per_person == "one",
        "hierarchies": {
            name: {"kind": next(iter(kind.to_spec()), ""), "levels": list(kind.level_names())}
            for name, kind in table.hierarchies.items()
        },
    }


def unpublished(table: Table, require: Sequence[Any]) -> Record:
    """What is known of a release that did not come to be."""
    return {
        **about(table),
        "made": manifest.now(),
        "version": privacy_sql.__version__,
        "safe": False,
        "require": [str(criterion) for criterion in require],
    }


def told(verdict: Verdict) -> Record:
    """A verdict with the question it answers and its worst case in words."""
    return {
        **explained({key: plain(part) for key, part in verdict.to_json().items()}),
        "story": verdict.story,
        "notes": list(verdict.notes),
    }


def explained(verdict: Record) -> Record:
    """A verdict as `--json` has it, with the question it answers, against whom, and what its value counts."""
    name = verdict["criterion"]
    if name not in registry.available("criteria"):  # a promise of the method
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


def _tried(measure: Callable[[], Any]) -> Any:
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


def _one_column(release: Release) -> Grouping:
    """The groups of a release with one sensitive column."""
    grouping = release.groups
    if grouping.base.sides:
        raise UsageError("several_sensitive", "it is told of one sensitive column at a time")
    return grouping


def _columns(release: Release) -> Iterator[Record]:
    """Every column with a role, how it is published, and how many values it has before and after."""
    base = release.base
    tables = _tables(release)
    for name, role in release.table.roles.items():
        alias = base.aliases.get(name) or ("s" if [name] == list(base.table.sensitives) else None)
        # how many values occur is a fact about the rows, which noise is to hide
        counted = alias in base.statistics and release.promise is None
        before = base.statistics[alias]["n_values"] if alias is not None and counted else None
        several = sorted({levels[name] for levels in tables if name in levels})
        shown = name in release.columns or bool(several)
        level = release.levels.get(name, 0) if name in release.quasi else None
        after = base.level_sizes(alias)[level] if alias in base.columns and level else before
        yield {
            "name": name,
            "role": role,
            "shown": shown,
            "level": level,
            "levels": several,  # where several tables leave together
            "shown_as": release.shown_as.get(name, ""),
            "before": before,
            "after": None if several or name in release.shown_as else after if shown else 0,
        }


def _tables(release: Release) -> list[Mapping[str, int]]:
    """The columns of each of several tables that leave together, and their levels."""
    levels = release.choice.get("levels", {})
    return [
        table if isinstance(table, Mapping) else {name: levels.get(name, 0) for name in table}
        for table in release.choice.get("marginals", ())
    ]


def _groups(release: Release) -> Record:
    """How many groups have how many people; many sizes are counted in bins, each twice as wide."""
    grouping = release.groups
    query = render("counted/listed.sql", relation=grouping.groups, columns=names(["n_people"]))
    people = np.sort(np.asarray(grouping.base.engine.arrays(query)["n_people"]))
    sizes, counts = np.unique(people, return_counts=True)
    binned = len(people) > MOST_SIZES
    if binned:
        bins = 2 ** np.floor(np.log2(np.maximum(people, 1))).astype(int)
        sizes, counts = np.unique(bins, return_counts=True)
    middle = int(people[len(people) // 2]) if len(people) else 0
    return {
        "n_groups": len(people),
        "smallest": int(people.min(initial=people[0])) if len(people) else 0,
        "median": middle,
        "largest": int(people.max(initial=0)),
        "binned": binned,
        "sizes": [[int(size), int(n)] for size, n in zip(sizes, counts, strict=True)],
    }


def _curves(release: Release) -> Record:
    """How sure somebody can be who knows 0, 1, 2, ... facts, in both languages."""
    _one_column(release)
    found = disclosure_curve.curves(release.base.engine, release, FACTS)
    return {language: list(map(as_float, curve)) for language, curve in found.by_language.items()}


def _unasked(release: Release) -> Record | None:
    """The worst case of a few facts, where no requirement is about facts."""
    if any(v.criterion == "ck_safety" for v in release.verdicts.values()):
        return None
    question = registry.get("criteria", "ck_safety")(c=1, k=UNASKED_FACTS)
    (verdict, *_) = judge(_one_column(release), [question]).values()
    return told(verdict)


def _skyline(release: Release) -> Record:
    if release.table.values_per_person != "one":
        raise UsageError("several_values", "it is measured of one sensitive value per person")
    found, n_values = skyline.explored(_one_column(release))
    values = [{"label": one.label, "people": one.people, "breach": one.breach} for one in found]
    return {"values": values, "n_values": n_values}


def _usefulness(release: Release) -> Record:
    grouping = release.groups
    _refuse_unmeasured(release, grouping)
    found = usefulness.usefulness(release)
    utilities = dict(found.utilities)
    if release.group and not release.suppressed:
        utilities["kl"] = bucketized_kl.bucketized_kl(grouping.base.engine, release)
    errors = [{"columns": columns, "error": error} for columns, error in found.errors]
    return {"utilities": utilities, "errors": errors}


def _refuse_unmeasured(release: Release, grouping: Grouping) -> None:
    """Only where each column is shown at one level does a label say which values it may stand for."""
    masked = release.group and any(release.levels.values())
    if grouping.base.sides or (grouping.base.table.values_per_person != "one" and release.group):
        raise UsageError("several_sensitive", "it is measured of one sensitive value per person")
    if release.shown_as or masked or not (release.levels or release.group):
        why = "it is measured where each column is shown at one level, or exactly beside permuted values"
        raise UsageError("no_levels", why)
    several = grouping.base.statistics["s"]["n_values"] if release.group else 1
    if grouping.base.combinations * several > MOST_COMBINATIONS:
        raise UsageError("too_large", f"the table has {grouping.base.combinations:,} combinations of values")
