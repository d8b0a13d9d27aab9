"""Whether what a manifest describes is as it was written: files by bytes, tables by a fingerprint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from privacy_sql import manifest, parts
from privacy_sql.engines import Engine
from privacy_sql.errors import NotSafe, UsageError
from privacy_sql.fingerprints import fingerprint


def verify(path: str | Path, engine: Engine | None = None) -> dict[str, Any]:
    """The manifest of a release whose bytes are all as they were written; needs no key.

    `path` is a manifest or an output file. A table needs the engine it lies in.
    """
    place = manifest_of(path)
    content = manifest.read(place)
    try:
        same = _as_written(content, place, engine)
    except (KeyError, TypeError, AttributeError, ValueError):
        same = False  # a checksum made anew over something that is no manifest of ours
    if not same:
        raise NotSafe("output_changed", f"what {place.name} describes is not as it was written")
    return content


def manifest_of(path: str | Path) -> Path:
    """The manifest of a release, which may be named by one of its output files."""
    place = Path(path)
    if not place.name:
        raise UsageError("no_manifest", "a folder is no release", hint="Name a manifest or an output.")
    if not place.name.endswith(manifest.SUFFIX):
        place = manifest.manifest_path(parts.whole(place))
    if not place.is_file():
        raise UsageError(
            "no_manifest", f"there is no {place.name}", hint="A release exists only with its manifest."
        )
    return place


def _as_written(content: dict[str, Any], place: Path, engine: Engine | None) -> bool:
    output = content["output"]
    if "files" in output or "relations" in output:
        return parts.as_written(output, place.parent, engine)
    return _same_table(output, content, engine) if "relation" in output else _same_file(output, place)


def _same_file(output: dict[str, Any], place: Path) -> bool:
    written = place.parent / output["file"]
    return written.exists() and manifest.checksum(written) == str(output["sha256"])


def _same_table(output: dict[str, Any], content: dict[str, Any], engine: Engine | None) -> bool:
    if engine is None:
        hint = "Give the engine it lies in: --connect, or --project with its connection."
        raise UsageError("no_engine", f"{output['relation']} is a table", hint=hint)
    if not engine.has_table(output["relation"]):
        return False
    columns = [column["name"] for column in content["columns"]]
    relation = engine.source(output["relation"])
    if list(engine.columns(relation)) != columns:
        return False
    marks = fingerprint(engine, relation, columns)
    return bool({**marks, "relation": output["relation"]} == output)
