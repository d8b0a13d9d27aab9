"""Whether what a manifest describes is unchanged: files by bytes, tables by a fingerprint.

A manifest vouches only for the files it names, wherever it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from privacy_sql import files, manifest
from privacy_sql.counted.fingerprints import fingerprint
from privacy_sql.engines import Engine
from privacy_sql.errors import NotSafe, UsageError
from privacy_sql.manifest import Manifest, WrittenFile, WrittenTable
from privacy_sql.publishing import intents

# the counts of a table of values and of a marginal, which are no columns of the source
N_PEOPLE, N_ROWS = "n_people", "n_rows"


def verify(path: str | Path, engine: Engine | None = None) -> dict[str, Any]:
    """What the manifest of a release says, after checking that none of its bytes has changed; needs no key.

    `path` is a manifest or an output file. A table needs the engine that has it.
    """
    return verified(path, engine).to_json()


def verified(path: str | Path, engine: Engine | None = None) -> Manifest:
    """The same manifest as a record."""
    files.refuse_no_path(path, "what to verify")
    place, content = found(path, engine)
    parts: tuple[WrittenFile | WrittenTable, ...] = (*content.files, *content.tables)
    if all(as_written(part, content, place.parent, engine) for part in parts):
        return content
    interrupted = intents.path_of(place).is_file()
    if found(path, engine)[1] != content or (interrupted and not intents.path_of(place).is_file()):
        return verified(path, engine)  # a run wrote a new version during this check
    if interrupted:
        told = f"a run of {content.release} was interrupted, and {place.name} does not describe what it left"
        hint = "The next `privacy-sql run` finishes or undoes it."
        raise NotSafe("output_changed", told, hint=hint)
    gone = [part.file for part in content.files if not (place.parent / part.file).exists()]
    tables = [part.relation for part in content.tables]
    gone += [name for name in tables if engine is None or not engine.has_table(name)]
    for name in gone:
        hint = "Restore it, or run again to publish it."
        raise NotSafe("output_changed", f"{name} is missing, but {place.name} describes it", hint=hint)
    told = f"what {place.name} describes has changed since it was written"
    hint = "Do not pass it on. Get the published copy, or move this one away and run again."
    raise NotSafe("output_changed", told, hint=hint)


def found(path: str | Path, engine: Engine | None = None) -> tuple[Path, Manifest]:
    """The manifest for a path and its content, which must be about that very path."""
    place = manifest_of(path, engine)
    content = manifest.read(place)
    own = place.name.removesuffix(manifest.SUFFIX)
    asked = own if place == Path(path) else Path(path).name
    named = [part.file for part in content.files]
    ours = named == [own] or all(intents.whole(name) == own != name == Path(name).name for name in named)
    if named and not (ours and asked in (own, *named)):
        raise NotSafe(
            "other_file",
            f"{place.name} describes {', '.join(named)}, not {asked}",
            hint=f"It says nothing about {asked}. Verify what it describes under that name.",
        )
    if not named and place != Path(path):
        hint = f"It says nothing about {asked}. Name the manifest to verify the table."
        raise NotSafe("other_file", f"{place.name} describes a table, not {asked}", hint=hint)
    return place, content


def manifest_of(path: str | Path, engine: Engine | None = None) -> Path:
    """The manifest of a release, given by its own path or by one of its output files.

    It first finishes or undoes what a killed run left half done; in a database it undoes nothing.
    """
    asked = Path(path)
    if not asked.name:
        raise UsageError(
            "no_manifest", "expected a manifest or an output file, got a folder", hint="Name a file in it."
        )
    place = asked
    if asked.name.endswith(manifest.SUFFIX):
        intents.settle_to_read(place, engine)
    else:
        place = manifest.manifest_path(asked)
        of_parts = manifest.manifest_path(asked.with_name(intents.whole(asked.name)))
        for each in (place, of_parts):
            intents.settle_to_read(each, engine)
        if not place.is_file() and of_parts.is_file():
            parts = [part.file for part in manifest.read(of_parts).files]
            place = of_parts if asked.name in parts else place
    if not place.is_file():
        raise UsageError(
            "no_manifest", f"{place.name} does not exist", hint="A release needs its manifest next to it."
        )
    return place


def as_written(
    part: WrittenFile | WrittenTable, content: Manifest, folder: Path, engine: Engine | None
) -> bool:
    """Whether one file or table of a release still matches its manifest."""
    if isinstance(part, WrittenFile):
        written = folder / part.file
        return written.exists() and manifest.checksum(written) == part.sha256
    relation = part.relation
    if engine is None:
        hint = "Name its database: --connect, or --project with its connection."
        raise UsageError("no_engine", f"{relation} is a table", hint=hint)
    if not engine.has_table(relation):
        return False
    source = engine.source(relation)
    found = list(engine.columns(source))
    if part is content.output:
        described = found == list(content.shown)
    else:
        described = _described(found, content, content.tables.index(part))
    return described and fingerprint(engine, source, found) == part.fingerprint


def _described(columns: Sequence[str], content: Manifest, number: int) -> bool:
    """Whether one of several tables has the columns that its manifest gives it; a name is a statement, too.

    The manifest does not say in which order a marginal has its columns.
    """
    marginals = content.choice.get("marginals")
    if marginals is not None:
        return sorted(columns) == sorted([N_ROWS, *_columns_of(number, marginals)])
    sensitive = content.in_role("sensitive")
    people = [name for name in content.shown if name not in sensitive]
    return list(columns) == [people, [content.group_column, *sensitive, N_PEOPLE]][number]


def _columns_of(number: int, marginals: Sequence[Mapping[str, int]]) -> Iterator[str]:
    """The columns of one of several marginals; one that others show coarser is there at their levels, too."""
    for name, own in marginals[number].items():
        levels = {int(each[name]) for each in marginals if name in each}
        for level in levels:
            if len(levels) == 1:
                yield name
            elif level >= int(own):
                yield f"{name}_level_{level}"
