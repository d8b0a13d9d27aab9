"""How to read a published release: a short description, as an adversary would write it.

It names the published columns, and says how labels cover values and where the groups and the sensitive values
are. The manifest of our own releases is their description; for files from elsewhere a person writes one, as a
mapping or as a YAML or JSON file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from privacy_sql import files, manifest, registry
from privacy_sql.errors import NotSafe, PrivacySqlError, UsageError, did_you_mean, raise_all
from privacy_sql.hierarchies import Hierarchy
from privacy_sql.hierarchies.base import text_of
from privacy_sql.hierarchies.spec import from_spec, rebuilt
from privacy_sql.history import kept_privately
from privacy_sql.history.labels import (
    BOUNDS,
    LabelRule,
    between_words,
    exactly,
    of_box,
    rules,
    spelt_out,
    written,
)
from privacy_sql.kernels.marginals.junction_tree import is_decomposable, maximal_sets
from privacy_sql.manifest import Manifest
from privacy_sql.parameters import number_or_refuse

LOCATE = ("region", "exact", "centroid")
KEYS = (
    *("name", "file", "relation", "locate", "sensitive", "group", "columns", "map", "scale", "groups"),
    *("values", "count"),
)
# columns of a release written out in a description; no published column has such a name
_GROUP, _VALUE = "the group", "the sensitive value"
_ANYTHING = written({"any": True})
COLUMN_KEYS = ("column", "bounds", "hierarchy", "labels")


@dataclass(frozen=True)
class PublishedColumn:
    """One published quasi-identifier: its column and the meaning of its labels.

    For our own releases the published `levels` of the hierarchy are known; level 0 is the unchanged value.
    Without them a stranger reads each label by its text, and by every level of the hierarchy.
    """

    column: str
    bounds: str = "[]"
    hierarchy: Hierarchy | None = None
    labels: Mapping[str, list[LabelRule]] = field(default_factory=dict)
    levels: tuple[int, ...] | None = None
    checksum: str | None = None  # of the hierarchy on the day it was published
    box: bool = False  # its labels say what a box of ours holds
    exact: bool = False  # its labels are values and nothing else
    own: bool = False  # of a release of ours, where a label is never a name for something else

    @property
    def stranger(self) -> bool:
        """Whether only the text of its labels says what they cover."""
        return self.levels is None and not self.box and not self.exact

    def rules(self, label: object) -> list[LabelRule]:
        """What one label covers, in addition to the hierarchy; NULL covers NULL."""
        text = None if label is None else str(label)
        if self.box and text is not None:
            return of_box(text)
        if text is not None and text in self.labels:
            return self.labels[text]
        if self.exact:
            return exactly(text)
        if self.levels is not None:
            return exactly(text) if 0 in self.levels or text is None else []
        if self.own and text is not None and ".." in text:
            return [*exactly(text), *between_words(text)]
        return rules(text, self.bounds)


@dataclass(frozen=True)
class Description:
    """A release as an adversary reads it; `columns` maps known columns to published ones."""

    name: str
    source: Any = field(repr=False)  # or the rows themselves
    sensitive: str
    columns: Mapping[str, PublishedColumn]
    group: str | None = None
    locate: str = "region"
    names: Mapping[str, str] = field(default_factory=dict)
    scale: Mapping[str, str] = field(default_factory=dict)
    values: Any = field(
        default=None, repr=False
    )  # where the sensitive values are, when not beside the people
    count: str | None = None  # how often each of them occurs
    people: str | None = None  # how many people a line of the source is about
    several: bool = False  # a person may have several values, so a row without one says nothing
    apart: bool = False  # an adversary is taken to know in which of several groups alike people lie
    # tables of counts whose join says who can have which value, instead of rows in one table
    parts: tuple[Any, ...] = field(default=(), repr=False)
    # one of ours that is read by the contents of its groups, as its labels say
    printed: Description | None = field(default=None, repr=False)
    # our own tables with what their rows amounted to when they were published
    tables: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def by_centre(self) -> bool:
        """Whether it is one of ours that shows centres, without a record of who is in which group."""
        return self.locate == "centroid" and any(how.own for how in self.columns.values())

    @property
    def place(self) -> str:
        """Where it was published, which tells versions apart; written-out groups have only a name."""
        source = (self.printed or self).source
        return str(source) if isinstance(source, str | Path) else self.name

    @property
    def files(self) -> list[Path]:
        """Its files, if it is in files."""
        places = dict.fromkeys(
            place for place in (self.source, self.values, *self.parts) if isinstance(place, Path)
        )
        return list(places)

    def canonical(self, value: object) -> str | None:
        """The name of a sensitive value that all releases share."""
        text = None if value is None else text_of(value)
        return None if text is None else self.names.get(text, text)


def describe(release: object, number: int, folder: Path = Path()) -> Description:
    """The description of a release in any accepted form; relative files start at `folder`."""
    if isinstance(release, Description):
        return release
    if isinstance(release, (str, Path)):
        path = Path(release)
        if not path.is_file():
            raise UsageError("no_such_file", f"{path} does not exist", where=f"release {number}")
        path = described_by(path)
        if path.name.endswith(manifest.SUFFIX):
            return _from_manifest(manifest.read(path), path)
        from ruamel.yaml import YAML
        from ruamel.yaml.error import YAMLError

        try:
            text = path.read_text(encoding="utf-8")
            read = json.loads if path.suffix.lower() == ".json" else YAML(typ="safe", pure=True).load
            content: object = read(text)
        except (ValueError, RecursionError, YAMLError):  # also thousands of nested brackets
            raise UsageError("bad_release", f"{path.name} is neither JSON nor YAML") from None
        if not isinstance(content, Mapping):
            hint = "Name a manifest, a published file with its manifest next to it, or a description."
            raise UsageError("bad_release", f"{path.name} does not describe a release", hint=hint)
        return _from_mapping({"name": path.name.partition(".")[0], **content}, number, path.parent)
    if not isinstance(release, Mapping):
        hint = (
            "Give a manifest, a description, or a mapping such as {'file': 'b.csv', 'sensitive': 'illness'}."
        )
        raise UsageError("bad_release", f"release {number} is not a release", hint=hint)
    return _from_mapping(release, number, folder)


def described_by(path: Path) -> Path:
    """The manifest next to a published file; any other file unchanged."""
    beside = manifest.manifest_path(path)
    return beside if beside.is_file() else path


def _from_manifest(content: Manifest, path: Path) -> Description:
    """One of our own releases, described by its manifest and by what is kept next to it."""
    method = registry.known("methods", content.method)
    if method is not None and not method.publishes_rows:
        return _of_marginals(content, path)
    refuse_counts(content.method, content.release)
    published = content.shown
    sensitive = content.in_role("sensitive")
    if len(sensitive) != 1:
        raise UsageError("no_sensitive", f"{content.release} has no single sensitive column")
    places = _places(content, path)
    if len(places) > 2:
        raise UsageError("no_groups", "a release with more than two tables does not publish groups")
    kept = kept_privately.read(path.parent)
    quasi = content.in_role("quasi-identifier")
    found = Description(
        name=content.release,
        source=places[0],
        values=places[1] if len(places) > 1 else None,  # in a separate table
        count="n_people" if len(places) > 1 else None,
        sensitive=sensitive[0],
        columns={name: _own(content, name, published[name], kept) for name in quasi},
        group=content.group_column,
        locate="centroid" if method is not None and method.shows_centres else "region",
        tables={part.relation: part.fingerprint for part in content.tables},
        several=content.values_per_person != "one",
        # labels of several rounds overlap, and an adversary who knows the method knows the round
        apart="rounds" in content.choice,
    )
    return found if kept is None or kept.held is None else by_what_it_holds(found, kept)


def _of_marginals(content: Manifest, path: Path) -> Description:
    """Published marginals: each table is a release of groups, and their join limits everybody's values."""
    kept = kept_privately.read(path.parent)
    roles, marginals = content.roles, content.choice["marginals"]
    parts = _places(content, path)
    shown = finest_shown(marginals)
    own = {
        name: replace(_own(content, name, manifest.at_level(level), kept), column=column)
        for name, (column, level) in shown.items()
        if roles.get(name) == "quasi-identifier"
    }
    sensitive = [name for name in shown if roles.get(name) == "sensitive"]
    return of_marginals(
        Description(
            name=content.release,
            source=parts[0],
            sensitive=", ".join(sensitive),
            columns=own,
            parts=parts,
            tables={part.relation: part.fingerprint for part in content.tables},
        ),
        marginals,
        len(sensitive),
    )


def finest_shown(marginals: Sequence[Mapping[str, int]]) -> dict[str, tuple[str, int]]:
    """Column -> the published column that shows it finest, and its level.

    >>> finest_shown([{"age": 1, "sex": 0}, {"age": 2}])
    {'age': ('age_level_1', 1), 'sex': ('sex', 0)}
    """
    names = dict.fromkeys(name for marginal in marginals for name in marginal)
    levels = {name: {int(marginal[name]) for marginal in marginals if name in marginal} for name in names}
    return {
        name: (name if len(found) == 1 else f"{name}_level_{min(found)}", min(found))
        for name, found in levels.items()
    }


def of_marginals(found: Description, marginals: Sequence[Mapping[str, int]], sensitive: int) -> Description:
    """The same, if the tables show one sensitive column and together say no more than their join."""
    if sensitive != 1:
        raise UsageError("no_sensitive", f"{found.name} has no single sensitive column")
    if not joinable(marginals):
        hint = "Publish a decomposable collection, or judge this one with the requirements on marginals."
        problem = (
            f"the tables of {found.name} together say more than their join, which the attack cannot handle"
        )
        raise UsageError("not_decomposable", problem, hint=hint)
    return replace(found, count=CELL_ROWS)


def joinable(marginals: Sequence[Mapping[str, int]]) -> bool:
    """Whether published marginals say no more than their join about who can have which value."""
    tops: dict[str, int] = {}
    for marginal in marginals:
        tops |= {name: max(tops.get(name, 0), int(level) + 1) for name, level in marginal.items()}
    return is_decomposable(
        maximal_sets(
            tuple(top - int(marginal.get(name, top)) for name, top in tops.items()) for marginal in marginals
        )
    )


def by_what_it_holds(found: Description, kept: kept_privately.KeptRelease) -> Description:
    """The same release, with people found by the contents of its groups, else by its labels."""
    assert kept.held is not None
    held = kept.held
    return replace(
        found,
        source=held.groups,
        values=held.values,
        sensitive=kept_privately.VALUE,
        group=kept_privately.GROUP,
        people=kept_privately.PEOPLE,
        count=kept_privately.PEOPLE,
        locate="region",
        columns={
            name: replace(how, column=name, levels=None if held.boxes else (0,), box=held.boxes)
            for name, how in found.columns.items()
        },
        apart=held.apart,
        printed=found,
    )


def _own(content: Manifest, name: str, form: str, kept: kept_privately.KeptRelease | None) -> PublishedColumn:
    """A published column of ours, at the levels of its manifest and with the hierarchy used then."""
    told = content.hierarchies.get(name)
    kind = None if kept is None else kept.hierarchies.get(name)
    if told is not None and (kind is None or kind.checksum() != told.checksum):
        kind = rebuilt(told.levels, told.checksum)
    level, rounds = manifest.level_in(form), content.choice.get("rounds")
    levels = None  # where it shows the reach of boxes, or centres
    if level is not None:
        levels = (level,)
    elif rounds:
        levels = tuple(sorted({each["levels"].get(name, 0) for each in rounds}))
    return PublishedColumn(
        name,
        hierarchy=kind,
        levels=levels,
        own=True,
        checksum=None if told is None else told.checksum,
    )


CELL_ROWS = "n_rows"  # the column of marginals with the number of rows in a cell


def refuse_counts(method: str, name: str) -> None:
    """Refuse counts of cells: they put nobody in a group, so nobody can be found or guessed."""
    known = registry.known("methods", method)
    if known is not None and not known.publishes_groups:
        hint = "Attack releases of groups. Judge marginals with k_link, k_combinatorial and"
        hint += " maxent_l_diversity; `privacy-sql budget` adds up the losses of noise."
        raise UsageError("no_groups", f"{name} publishes counts, not groups of people", hint=hint)


def _places(content: Manifest, path: Path) -> tuple[Path | str, ...]:
    """The published tables, or files, verified: an attack on a changed file would say nothing."""
    for part in content.files:
        file = path.parent / part.file
        if not file.exists() or manifest.checksum(file) != part.sha256:
            raise NotSafe("output_changed", f"{file.name} has changed since it was written")
    return files.places(content, path.parent)


def _from_mapping(content: Mapping[str, Any], number: int, folder: Path) -> Description:
    where = str(content.get("name", f"release {number}"))
    raise_all(_problems(content, where))
    if "groups" in content:
        return _inline(content, where)
    locate, columns = content.get("locate", "region"), content.get("columns") or {}
    named = columns if isinstance(columns, Mapping) else {column: {} for column in columns}
    # values in a separate place: a file next to a file, a relation next to a relation
    values = content.get("values")
    beside = folder / values if isinstance(values, str) and "file" in content else values
    return Description(
        name=where,
        source=folder / content["file"] if "file" in content else content["relation"],
        sensitive=content["sensitive"],
        columns={
            known: replace(_published(known, how or {}, folder, where), exact=locate == "exact")
            for known, how in named.items()
        },
        group=content.get("group"),
        locate=locate,
        names={str(old): str(new) for old, new in content.get("map", {}).items()},
        scale=_scale(content, where),
        values=beside,
        count=content.get("count"),
    )


def _problems(content: Mapping[str, Any], where: str) -> list[PrivacySqlError]:
    found: list[PrivacySqlError] = [
        UsageError(
            "unknown_key", f'unknown key "{key}" in a description', where=where, hint=did_you_mean(key, KEYS)
        )
        for key in content
        if key not in KEYS
    ]
    if sum(key in content for key in ("file", "relation", "groups")) != 1:
        found.append(
            UsageError("no_source", "a description must name one of file, relation and groups", where=where)
        )
    elif "groups" not in content:
        found += [
            UsageError("missing_key", f"a description needs {key}", where=where)
            for key in ("sensitive", "columns")
            if not content.get(key)
        ]
    if "values" in content and not content.get("group"):
        found.append(
            UsageError(
                "missing_key", "people and values in two tables need a common group column", where=where
            )
        )
    if content.get("locate", "region") not in LOCATE:
        found.append(UsageError("bad_value", f"locate must be one of {', '.join(LOCATE)}", where=where))
    return found


def _published(known: str, how: object, folder: Path, where: str) -> PublishedColumn:
    place = f"{where}.columns.{known}"
    if isinstance(how, str):
        return PublishedColumn(how)
    if not isinstance(how, Mapping) or set(how) - set(COLUMN_KEYS):
        raise UsageError("bad_column", f"the keys of a column are {', '.join(COLUMN_KEYS)}", where=place)
    if how.get("bounds", "[]") not in BOUNDS:
        raise UsageError("bad_value", f"bounds must be one of {' '.join(BOUNDS)}", where=place)
    column = how.get("column", known)
    kind = from_spec(how["hierarchy"], column, folder, place) if "hierarchy" in how else None
    labels = {str(label): spelt_out(cover, place) for label, cover in how.get("labels", {}).items()}
    return PublishedColumn(column, how.get("bounds", "[]"), kind, labels)


def _scale(content: Mapping[str, Any], where: str) -> dict[str, str]:
    """The range that divides each column of centroids, as text for the engine to cast."""
    found = {}
    for column, width in content.get("scale", {}).items():
        refusal = UsageError("bad_value", "a scale must be a number above 0", where=f"{where}.scale.{column}")
        found[column] = repr(float(number_or_refuse(width, refusal, lambda number: number > 0)))
    return found


def _inline(content: Mapping[str, Any], where: str) -> Description:
    """A release written out group by group."""
    import pandas as pd

    locate = content.get("locate", "region")
    rows: list[dict[str, Any]] = []
    spelt: dict[str, dict[str, list[LabelRule]]] = {}
    for group in content["groups"]:
        for labels in _shown(group, locate, spelt, where):
            rows += [{**labels, _GROUP: str(group["id"]), _VALUE: each} for each in group["sensitive"]]
    known = sorted({column for row in rows for column in row} - {_GROUP, _VALUE})
    if locate == "region":  # a column that a region does not name may have any value there
        for column in known:
            spelt[column][_ANYTHING] = [LabelRule(everything=True)]
        rows = [{**dict.fromkeys(known, _ANYTHING), **row} for row in rows]
    frame = pd.DataFrame(rows, columns=[*known, _GROUP, _VALUE], dtype=object)
    return Description(
        name=where,
        source=frame,
        sensitive=_VALUE,
        columns={name: PublishedColumn(name, labels=spelt.get(name, {})) for name in known},
        group=_GROUP,
        locate=locate,
        names={str(old): str(new) for old, new in content.get("map", {}).items()},
        scale=_scale(content, where),
    )


def _shown(
    group: Mapping[str, Any], locate: str, spelt: dict[str, dict[str, list[LabelRule]]], where: str
) -> list[dict[str, Any]]:
    """The labels of a group, as rows, with what they cover."""
    if locate == "centroid":
        return [{column: str(centre) for column, centre in group["centroid"].items()}]
    if locate == "exact":
        for person in group["qi"]:
            for column, value in person.items():
                if value is not None:
                    spelt.setdefault(column, {})[str(value)] = [LabelRule(text=str(value))]
        return [
            {column: None if value is None else str(value) for column, value in person.items()}
            for person in group["qi"]
        ]
    labels = {}
    for column, cover in group["region"].items():
        text = written(cover)
        spelt.setdefault(column, {})[text] = spelt_out(cover, f"{where}.{column}")
        labels[column] = text
    return [labels]
