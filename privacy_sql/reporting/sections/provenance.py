"""Where it comes from: the manifest, the SQL, and what the release does not claim."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from privacy_sql.display.levels import in_words
from privacy_sql.manifest import WrittenFile
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
    paper = material.manifest
    one = paper.one if paper else None
    yield "project", run.get("project")
    yield "measured", moment(run["made"])
    yield "published", moment(paper.made) if paper else "" if material.published else "nothing"
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
    yield "output", one.name if one else run.get("target")
    if paper and any(file.csv for file in paper.files):
        yield "cells a spreadsheet would run", "written with an added apostrophe in front"
    if paper and paper.tables:
        yield "read again", "no: privacy-sql verify --connect does that for a table"
    yield "sha256 of the output", one.sha256 if isinstance(one, WrittenFile) else None
    if paper:
        yield "sha256 of the manifest", paper.checksum
        for name, labels in paper.hierarchies.items():
            yield f"hierarchy of {name}", f"sha256 {labels.checksum}"
    yield "privacy_sql", paper.versions.privacy_sql if paper else run.get("version")
    yield "engine", paper.versions.engine if paper else None
