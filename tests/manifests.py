"""The manifest of a file that no release of ours wrote, for tests of what reads manifests."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from privacy_sql import manifest
from privacy_sql.manifest import Manifest


def beside(file: Path, **fields: Any) -> Path:
    """Write the manifest of a file beside it: of one released by `generalise`, but for these fields."""
    plain = Manifest(
        schema=manifest.SCHEMA,
        release="ours",
        made="today",
        versions=manifest.Versions(privacy_sql="0.1.0", engine="duckdb"),
        rows_in=None,
        rows_out=1,
        suppressed=None,
        columns=(),
        roles={},
        where=None,
        values_per_person="one",
        hierarchies={},
        method="generalise",
        choice={},
        search=None,
        verdicts=(),
        claims={},
        sql="",
        rehearsal=None,
        output=manifest.WrittenFile(
            file=file.name, sha256=manifest.checksum(file), bytes=manifest.size(file)
        ),
    )
    place = manifest.manifest_path(file)
    place.write_bytes(replace(plain, **fields).to_bytes())
    return place
