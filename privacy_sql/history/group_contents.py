"""The contents of the groups of our own release, counted on publication and kept next to the register.

A box prints `*` if it has NULL and other values, and a centre does not say who is near it. By labels alone,
people would be searched in groups they are not in, and the adversary may know better.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privacy_sql import files
from privacy_sql.engines import connect
from privacy_sql.hierarchies import Hierarchy
from privacy_sql.history.kept_privately import GROUP, GROUPS, PEOPLE, VALUE, VALUES, HeldGroups, KeptRelease
from privacy_sql.history.register import digest
from privacy_sql.manifest import Manifest
from privacy_sql.query.template import Sql, names, render

if TYPE_CHECKING:
    from privacy_sql.counted.grouping import Candidate, Grouping
    from privacy_sql.release import Release

WAITING = "groups"  # in the private folder of a project without a register
Columns = Mapping[str, tuple[str, list[Any]]]
Writer = Callable[[Path], list[Path]]


def writer(release: Release) -> Writer:
    """A function that writes everything needed to read a release to a private folder, and names the files."""
    kinds = {name: kind for name, kind in release.table.hierarchies.items() if kind.height}
    return writer_of(KeptRelease(kinds, held(release.grouping) if release.promise is None else None))


def writer_of_known(content: Manifest, kinds: Mapping[str, Hierarchy]) -> Writer | None:
    """The same for an existing manifest if all its hierarchies are available; otherwise None."""
    told = content.hierarchies
    found = {
        name: kinds[name] for name in told if name in kinds and kinds[name].checksum() == told[name].checksum
    }
    return writer_of(KeptRelease(found)) if len(found) == len(told) else None


def keep_without_register(folder: Path, release: Release, content: Manifest) -> None:
    """Keep what is needed to read a release before there is a register; it cannot be counted later.

    Versions that print the same may hold other people, and each is kept.
    """
    waiting, grouping = folder / WAITING, release.grouping.one_table
    if grouping is None or grouping.located_by == "labels":
        return
    waiting.mkdir(exist_ok=True, mode=0o700)
    with files.only_writer(waiting, wait=True), tempfile.TemporaryDirectory(dir=waiting) as fresh:
        made = Path(fresh) / "version"
        made.mkdir(mode=0o700)
        place = waiting / f"{content.published}{digest(writer(release)(made))}"
        if not place.exists():
            files.sync_all(made)
            made.rename(place)


def sweep(folder: Path) -> None:
    """Remove what a run that was killed while it kept this left: it holds who is in which group."""
    kept = folder / WAITING
    if any(kept.glob("tmp*")):
        with files.only_writer(kept, wait=True):  # nobody else is here
            for left in kept.glob("tmp*"):
                files.remove(left)


def writers_of_waiting(
    folder: Path, content: Manifest, kinds: Mapping[str, Hierarchy], *, registered: bool
) -> Sequence[Writer | None]:
    """Functions that move this next to the register later, one for each version that printed the same.

    All of them again if one is `registered`, because a kill may have come between two. Where nothing was
    kept, the hierarchies known today have to do (None: one of them is lost).
    """
    found = (folder / WAITING).glob(f"{content.published}*")
    places = sorted(found, key=lambda place: (place.stat().st_mtime_ns, place.name))
    return [partial(_copied, place) for place in places] or [writer_of_known(content, kinds)] * (
        not registered
    )


def _copied(place: Path, target: Path) -> list[Path]:
    return [Path(shutil.copyfile(file, target / file.name)) for file in sorted(place.iterdir())]


def writer_of(kept: KeptRelease) -> Writer:
    """The same for known contents."""

    def write(folder: Path) -> list[Path]:
        made = [kept.write(folder)]
        if kept.held is None:
            return made
        with connect() as engine:
            session = engine.session(folders=[folder])
            for name, columns in ((GROUPS, kept.held.groups), (VALUES, kept.held.values)):
                inside = {f"c{number}": column for number, column in enumerate(columns.values())}
                relation = session.load(inside, "held")
                shown = list(zip(names(inside), columns, strict=True))
                query = render("history/kept.sql", relation=relation, columns=shown)
                session.write_file(query, folder / name, "parquet")
                (folder / name).chmod(0o600)
                made.append(folder / name)
        return made

    return write


def held(published: Candidate) -> HeldGroups | None:
    """The contents of a release's groups, if its labels do not say who is in which."""
    grouping = published.one_table
    how = "labels" if grouping is None else grouping.located_by
    if grouping is None or how == "labels" or not grouping.base.table.sensitives or grouping.base.sides:
        return None
    groups = _boxes(grouping) if how == "boxes" else _members(grouping)
    base = grouping.base
    query = render("history/held_values.sql", histogram=grouping.histogram, values=base.dictionaries["s"])
    rows = base.engine.fetch(query)
    values: Columns = {
        GROUP: ("bigint", [row["g"] for row in rows]),
        VALUE: ("varchar", [row["value"] for row in rows]),
        PEOPLE: ("bigint", [row["n_rows"] for row in rows]),
    }
    return HeldGroups(groups, values, boxes=how == "boxes", apart=how == "members")


def frames(found: HeldGroups) -> HeldGroups:
    """The same as frames, which an engine can read like files."""
    import pandas as pd

    made = [
        pd.DataFrame({name: values for name, (_, values) in columns.items()}, dtype=object)
        for columns in (found.groups, found.values)
    ]
    return HeldGroups(made[0], made[1], found.boxes, found.apart)


def _members(grouping: Grouping) -> Columns:
    """Every group with its combinations."""
    base = grouping.base
    columns = [(Sql(alias), base.dictionaries[alias]) for alias in base.aliases.values()]
    query = render("history/held_members.sql", members=grouping.members, columns=columns)
    rows = base.engine.fetch(query)
    return {
        GROUP: ("bigint", [row["g"] for row in rows]),
        PEOPLE: ("bigint", [row["n_people"] for row in rows]),
        **{name: ("varchar", [row[alias] for row in rows]) for name, alias in base.aliases.items()},
    }


def _boxes(grouping: Grouping) -> Columns:
    """Every box with its range along each quasi-identifier, and whether it has NULL."""
    base = grouping.base
    sizes = base.engine.fetch(
        render("counted/listed.sql", relation=grouping.groups, columns=names(["g", "n_people"]))
    )
    order = sorted((row["g"], row["n_people"]) for row in sizes)
    found: dict[str, tuple[str, list[Any]]] = {
        GROUP: ("bigint", [g for g, _ in order]),
        PEOPLE: ("bigint", [n for _, n in order]),
    }
    for name, alias in base.aliases.items():
        reach = _reach(grouping, alias)
        found[name] = (
            "varchar",
            [json.dumps(reach[g], sort_keys=True, ensure_ascii=False) for g, _ in order],
        )
    return found


def _reach(grouping: Grouping, alias: str) -> dict[int, dict[str, Any]]:
    """The range of each box along one quasi-identifier."""
    base = grouping.base
    kind: Hierarchy = base.columns[alias][1]
    height = 0 if kind.ordered else kind.height
    readable = base.engine.create(
        render("history/readable.sql", columns=[(1, base.dictionaries[alias])], value=Sql("value"))
    )
    text = {
        row["code"]: row["exact"]
        for row in base.engine.fetch(
            render("counted/listed.sql", relation=readable, columns=names(["code", "exact"]))
        )
    }
    query = render(
        "history/held_reach.sql",
        members=grouping.members,
        column=Sql(alias),
        readable=readable,
        codes=base.level_codes[alias] if height else None,
        height=height,
    )
    labels: dict[int, dict[int, Any]] = {}
    for level in range(1, height):
        codes = base.level_codes[alias]
        named = render("counted/key_labels.sql", levels=base.levels[alias], codes=codes, level=level)
        labels[level] = {row["code"]: row["value"] for row in base.engine.fetch(named)}
    rows = base.engine.fetch(query)
    numeric = not any(row["n_words"] for row in rows)
    return {row["g"]: _cover(row, text, labels, kind.ordered, numeric) for row in rows}


def _cover(
    row: Mapping[str, Any], text: Mapping[int, str], labels: Mapping[int, Any], ordered: bool, numeric: bool
) -> dict[str, Any]:
    """A rule for the contents of a box, in the form that `labels.of_box` reads."""
    found: dict[str, Any] = {"null": True} if row["with_null"] else {}
    if row["with_empty"]:
        # a CSV file shows NULL as an empty cell, so people without a value are searched here
        found["empty"] = True
    if row["lo_code"] is None:
        return found
    if row["lo_code"] == row["hi_code"]:
        return {**found, "values": [text[row["lo_code"]]]}
    if ordered and numeric:
        return {**found, "range": [repr(row["lo"]), repr(row["hi"])]}
    if ordered:
        return {**found, "words": [text[row["lo_code"]], text[row["hi_code"]]]}
    for level, named in labels.items():
        if row[f"lo_{level}"] == row[f"hi_{level}"]:
            return {**found, "node": [level, str(named[row[f"lo_{level}"]])]}
    return {**found, "known": True}
