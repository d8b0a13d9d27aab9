"""What a report shows of a release that has not been written: plain counts, levels and words.

A run records what a report cannot read in the published rows; the rest is `describing.py`.
Each part is measured on its own, and one that cannot be is recorded with the reason, so that a report says
what is missing and a publication never fails for its report's sake.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import privacy_sql
from privacy_sql import manifest
from privacy_sql.display.plain import plain
from privacy_sql.errors import UsageError
from privacy_sql.publishing import audit, baseline, risk
from privacy_sql.release import Release
from privacy_sql.reporting import bars, crowds, invented, near_widths
from privacy_sql.reporting.describing import PUBLISHED, of_groups, told, tried
from privacy_sql.reporting.records import Record
from privacy_sql.studies import bucketized_kl, usefulness
from privacy_sql.table import Table

MOST_COMBINATIONS = 2_000_000  # beyond, usefulness is not measured along with a run


def recorded(release: Release) -> Record:
    """Everything a report says about a release, or why it cannot."""
    run = _by_run(release)
    return run | of_groups(lambda: release.groups, run["verdicts"])


def recorded_by_run(release: Release, output: Path | str) -> Record:
    """What a run records of a release written to `output`: all that the report cannot read there itself.

    The rows of one file tell the report the groups and what follows from them. A table lies on a connection
    that a report does not open, and a cluster may write more than one machine should read; of people with
    several values, of several parts and of noise the groups are not in the rows. There a run records them.
    """
    one = release.table.values_per_person == "one" and not release.parts
    if isinstance(output, str) or output.is_dir() or not one or release.promise is not None:
        return recorded(release)
    return _by_run(release) | {PUBLISHED: plain(audit.published_roles(release))}


def _by_run(release: Release) -> Record:
    """What is known along with a release, before anything is counted that its rows tell."""
    return {
        **about(release.table),
        "without_role": len(release.base.ignored),
        "made": manifest.now(),
        "version": privacy_sql.__version__,
        "safe": release.safe,
        **release.counts,
        "step": release.step,
        "method": release.method,
        "choice": plain(release.choice),
        "require": [str(criterion) for criterion in release.require],
        "verdicts": [
            {
                **told(verdict, release.grouping.one_table),
                "by_rows": audit.by_rows(release, verdict.criterion),
            }
            for verdict in release.verdicts.values()
        ],
        "claims": plain(release.claims),
        "baseline": release.baseline.to_json() if release.baseline else None,
        "insensitive": baseline.declared(release.table),
        "signoff": plain(release.signoff),
        "determination": plain(release.determination),
        "risk": tried(lambda: risk.of_release(release)),
        "estimates": tried(lambda: risk.estimates_of(release)) if release.table.weight else None,
        "rehearsal": release.rehearsal,
        "sql": release.view.public(),
        "search": plain(release.search),
        "crowds": tried(lambda: crowds.of_release(release)),
        "near_widths": tried(lambda: near_widths.of_release(release)),
        "columns": tried(lambda: list(_columns(release))),
        "usefulness": tried(lambda: _usefulness(release)),
        "lattice": plain(release.proposal.lattice),
    }


def about(table: Table) -> Record:
    """What is known of a release before anything is counted."""
    return {
        "roles": dict(table.roles),
        "sensitive": list(table.declared_sensitive),
        "values_per_person": table.values_per_person,
        "identified": table.identifier is not None and table.values_per_person == "one",
        "hierarchies": {name: kind.described() for name, kind in table.hierarchies.items()},
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


def _columns(release: Release) -> Iterator[Record]:
    """Every column with a role, how it is published, and how many values it has before and after."""
    base = release.base
    one_level = release.choice.get("levels", {})
    tables = [  # that leave together: their columns, each at its level
        table if isinstance(table, Mapping) else {name: one_level.get(name, 0) for name in table}
        for table in release.choice.get("marginals", ())
    ]
    for name, role in release.table.roles.items():
        alias = base.aliases.get(name) or ("s" if [name] == list(base.table.sensitives) else None)
        # how many values occur is a fact about the rows, which noise is to hide
        counted = alias in base.statistics and release.promise is None
        before = base.statistics[alias]["n_values"] if alias is not None and counted else None
        several = sorted({levels[name] for levels in tables if name in levels})
        shown = name in release.columns or bool(several)
        level = release.levels.get(name, 0) if name in release.quasi else None
        kind = base.columns[alias][1] if alias in base.columns else None
        plain_shown = shown and not several and name not in release.proposal.shown_as
        after = base.level_sizes(alias)[level] if alias in base.columns and level else before
        yield {
            "name": name,
            "role": role,
            "shown": shown,
            "level": level,
            "levels": several,  # where several tables leave together
            "shown_as": release.proposal.shown_as.get(name, ""),
            "before": before,
            "after": None if several or name in release.proposal.shown_as else after if shown else 0,
            "bars": bars.of_source(base, alias) if alias is not None and counted and shown else None,
            "invented": invented.labels(kind, level) if plain_shown else None,
            "words": invented.words(kind, level) if plain_shown else [],
        }


def _usefulness(release: Release) -> Record:
    grouping = release.groups
    # only where each column is shown at one level does a label say which values it may stand for
    masked = release.group and any(release.levels.values())
    if grouping.base.sides or (grouping.base.table.values_per_person != "one" and release.group):
        raise UsageError("several_sensitive", "it is measured of one sensitive value per person")
    if release.proposal.shown_as or masked or not (release.levels or release.group):
        why = "it is measured where each column is shown at one level, or exactly beside permuted values"
        raise UsageError("no_levels", why)
    several = grouping.base.statistics["s"]["n_values"] if release.group else 1
    if grouping.base.combinations * several > MOST_COMBINATIONS:
        raise UsageError("too_large", f"the table has {grouping.base.combinations:,} combinations of values")
    found = usefulness.usefulness(release)
    utilities = dict(found.utilities)
    if release.group and not release.suppressed:
        utilities["kl"] = bucketized_kl.bucketized_kl(grouping.base.engine, release)
    errors = [{"columns": columns, "error": error} for columns, error in found.errors]
    weights = {column: str(weight) for column, weight in usefulness.importance(release).items()}
    return {"utilities": utilities, "errors": errors, "kept": found.kept, "importance": weights}
