"""The intersection attack: what several releases together reveal about the people they share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from privacy_sql import registry
from privacy_sql.attacks.intersection_summary import Findings, unknown
from privacy_sql.attacks.locating import Crowd, Names, locate, nothing_shared
from privacy_sql.counted.base import count
from privacy_sql.engines import Engine
from privacy_sql.errors import DataError, UsageError, raise_all
from privacy_sql.hierarchies.base import text_of
from privacy_sql.history import group_contents, kept_privately
from privacy_sql.history.described import (
    Description,
    PublishedColumn,
    by_what_it_holds,
    describe,
    finest_shown,
    of_marginals,
    refuse_counts,
)
from privacy_sql.kernels.composition.intersection import DEFAULT_LEVELS
from privacy_sql.parameters import number_or_refuse
from privacy_sql.query.template import Query
from privacy_sql.release import Release
from privacy_sql.table import Table

if TYPE_CHECKING:
    import pandas as pd


def intersection_attack(
    engine: Engine,
    releases: Iterable[Any],
    people: Table | Iterable[Mapping[str, Any]],
    levels: Iterable[Any] = DEFAULT_LEVELS,
) -> Findings:
    """Attack `people`, who are in all `releases`, with everything that the releases together say.

    A release is one of `ps.publish`, a manifest, a description file, or a description as a mapping; `people`
    is a Table (its quasi-identifiers are what the adversary knows) or a list of {"id": ..., "qi": {...}}.

    >>> import privacy_sql as ps
    >>> west = {"groups": [{"id": "w", "region": {"age": {"lt": 30}}, "sensitive": ["AIDS", "flu"]}]}
    >>> east = {"groups": [{"id": "e", "region": {"age": {"lt": 35}}, "sensitive": ["AIDS", "cancer"]}]}
    >>> with ps.connect() as engine:
    ...     found = ps.intersection_attack(engine, [west, east], [{"id": "Alice", "qi": {"age": 28}}])
    ...     found.people()[0].confidence
    Fraction(1, 1)
    """
    import numpy as np
    import pandas as pd

    if not isinstance(releases, Iterable) or isinstance(releases, (str, Mapping)):
        hint = 'For example [release, "other.yml"].'
        raise UsageError("bad_argument", "the releases must be a list", hint=hint)
    described = [
        _of_release(release) if isinstance(release, Release) else describe(release, number)
        for number, release in enumerate(releases, start=1)
    ]
    refusal = UsageError("bad_level", "a confidence level must be above 0 and at most 1", where="levels")
    asked = tuple(number_or_refuse(level, refusal, lambda number: 0 < number <= 1) for level in levels)
    if isinstance(people, Table):
        return _attacked(engine, described, people, asked)
    listed = _listed(people)
    known = sorted({column for person in listed for column in person["qi"]})
    rows: dict[str, list[str | None]] = {name: [] for name in known}
    for person in listed:
        for name in known:
            value = person["qi"].get(name)
            if isinstance(value, np.generic):
                value = value.item()
            if isinstance(value, float) and value.is_integer():
                value = int(value)
            # NaN and NaT are as missing as NULL
            rows[name].append(None if pd.isna(value) else text_of(value))
    # numbered in their order
    frame = pd.DataFrame({**rows, "the person": range(len(listed))})
    found = _attacked(engine, described, Table(frame, known, identifier="the person", name="people"), asked)
    return replace(found, ids=tuple(person["id"] for person in listed))


def _attacked(
    engine: Engine, releases: Sequence[Description], people: Table, levels: tuple[Fraction, ...]
) -> Findings:
    """Locate everybody in every release and intersect the values that the releases allow.

    Algorithm 1 of Ganta et al. 2008, Sec. 2.1, on any number of releases, as SQL joins. People are located by
    boxes and hierarchy nodes, by exact quasi-identifiers or by the nearest centroid. If several groups fit,
    the person may be in any of them. Python receives counts of people by anonymity before and after, unless
    the caller asks for the people.
    """
    if not releases:
        raise UsageError("no_release", "there is no release to attack")
    # versions of one release have one name
    called = [each.name for each in releases]
    releases = [
        replace(each, name=f"{name} ({called[: place + 1].count(name)})") if called.count(name) > 1 else each
        for place, (name, each) in enumerate(zip(called, releases, strict=True))
    ]
    raise_all([nothing_shared(r.name) for r in releases if not set(r.columns) & set(people.quasi)])
    known = count(engine, people)
    if not known.rows:
        raise DataError(
            "nobody", "the people table is empty", hint="Give the people who are in all releases."
        )
    crowd = Crowd.of(known)
    codes = Names()
    located = tuple(locate(crowd, each, codes) for each in releases)
    lacking = tuple(unknown(crowd, releases))
    return Findings(crowd, located, codes.shown, levels, lacking=lacking, readings=codes.readings)


def _of_release(release: Release) -> Description:
    """A release that has not been written, as it would be published."""
    method = registry.known("methods", release.method)
    if method is not None and not method.publishes_rows:
        return _of_marginals(release)
    refuse_counts(release.method, release.name)
    if len(release.table.sensitives) != 1:
        raise UsageError("no_sensitive", f"{release.name} has no single sensitive column")
    shown = release.parts or {"people": release.view}
    found = Description(
        name=release.name,
        source=_rows(release, shown["people"]),
        values=_rows(release, shown["values"]) if "values" in shown else None,
        count="n_people" if "values" in shown else None,
        sensitive=release.table.sensitives[0],
        columns={
            name: PublishedColumn(
                name,
                hierarchy=release.table.hierarchies[name],
                # if only boxes and centres are shown, their labels say which level it is
                levels=None if name in release.proposal.shown_as else (release.levels.get(name, 0),),
                own=True,
            )
            for name in release.quasi
        },
        group=release.group,
        several=release.table.values_per_person != "one",
    )
    kept = group_contents.held(release.grouping)
    if kept is None:
        return found
    kinds = {name: kind for name, kind in release.table.hierarchies.items() if kind.height}
    return by_what_it_holds(found, kept_privately.KeptRelease(kinds, group_contents.frames(kept)))


def _of_marginals(release: Release) -> Description:
    """Marginals that have not been written: the join of their tables."""
    parts = tuple(_rows(release, view) for view in release.parts.values())
    marginals = release.choice["marginals"]
    shown, kinds = finest_shown(marginals), release.table.hierarchies
    sensitive = [name for name in shown if name in release.table.sensitives]
    found = Description(
        name=release.name,
        source=parts[0],
        sensitive=", ".join(sensitive),
        columns={
            name: PublishedColumn(column, hierarchy=kinds[name], levels=(level,), own=True)
            for name, (column, level) in shown.items()
            if name in kinds
        },
        parts=parts,
    )
    return of_marginals(found, marginals, len(sensitive))


def _rows(release: Release, query: Query) -> pd.DataFrame:
    # the release travels, because it may be on another connection than the people
    import pandas as pd

    home = release.base.engine
    return pd.DataFrame(home.fetch(query), columns=list(home.columns(home.create(query, view=True))))


def _listed(people: object) -> list[Mapping[str, Any]]:
    """People listed one by one."""
    listed: list[Any] = [None]
    if isinstance(people, Iterable) and not isinstance(people, Mapping):
        listed = list(people)
    if any(
        not (isinstance(one, Mapping) and "id" in one and isinstance(one.get("qi"), Mapping))
        for one in listed
    ):
        raise UsageError(
            "bad_people",
            'people must be a ps.Table or a list of {"id": ..., "qi": {column: value}}',
            hint="Turn a file, a relation or a frame into a ps.Table with the known columns.",
        )
    return listed
