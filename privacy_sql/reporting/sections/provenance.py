"""Where it comes from: the manifest, the SQL, and what the release does not claim."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from privacy_sql.display.levels import in_words
from privacy_sql.reporting.sections import Material, Section
from privacy_sql.reporting.words import count, moment

LIMITS = (
    "Somebody who knows more than assumed here may still learn more.",
    "Other releases about the same people were examined only if they are named above.",
    "A manifest reveals changed bytes. It is not a signature: anybody who writes the output can write one.",
)


def section(material: Material) -> Section:
    rows = [(name, value) for name, value in _rows(material) if value]
    limits = [*LIMITS]
    if material.run.get("claims"):
        limits.insert(1, "Nobody can check the promise of a method from rows; the ledger keeps it.")
    return Section(
        "provenance",
        "Provenance",
        "Provenance",
        {"rows": rows, "limits": limits, "sql": material.run.get("sql") or ""},
    )


def _rows(material: Material) -> Iterator[tuple[str, Any]]:
    run = material.run
    manifest: Mapping[str, Any] = material.manifest or {}
    output = manifest.get("output", {})
    yield "project", run.get("project")
    yield "measured", moment(run["made"])
    yield "published", moment(manifest["made"]) if manifest else "" if material.published else "nothing"
    yield "verdict", "every requirement holds" if material.safe else "NOT SAFE"
    yield "rows", f"{count(run['rows_in'])} read" if run.get("rows_in") is not None else "not told"
    lines = "noisy counts published" if run.get("claims") else "rows published"
    yield lines, count(run["rows_out"]) if material.published and run.get("rows_out") else ""
    yield "rows repeated", count(run["repeated"]) if run.get("repeated") else ""
    yield "rows suppressed", count(run["suppressed"]) if run.get("suppressed") is not None else ""
    chosen = material.run.get("choice") or {}
    told = in_words(chosen, material.hierarchies)
    yield "method", ": ".join(part for part in (material.run.get("method"), told) if part)
    yield "required", " · ".join(run.get("require", []))
    yield "output", output.get("file") or output.get("relation") or run.get("target")
    if any("csv" in part for part in output.get("files", [output])):
        yield "cells a spreadsheet would run", "written with an added apostrophe in front"
    if output.get("relation") or output.get("relations"):
        yield "read again", "no: privacy-sql verify --connect does that for a table"
    yield "sha256 of the output", output.get("sha256")
    yield "sha256 of the manifest", manifest.get("checksum")
    for name, kind in manifest.get("hierarchies", {}).items():
        yield f"hierarchy of {name}", f"sha256 {kind['checksum']}"
    versions = manifest.get("versions", {})
    yield "privacy_sql", versions.get("privacy_sql") or run.get("version")
    yield "engine", versions.get("engine")
