"""The reports of a project: one page for every release that was run, and one that lists them all."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from privacy_sql.errors import PrivacySqlError, UsageError, as_error, ended, raise_all
from privacy_sql.manifest import Manifest
from privacy_sql.project.reading import Project
from privacy_sql.publishing import targets
from privacy_sql.reporting import describing, making, page, records
from privacy_sql.reporting.records import Record


def of_project(
    project: Project, names: Sequence[str], folder: Path, ask: making.Wanted
) -> tuple[list[making.Made], Path, list[PrivacySqlError]]:
    """The report of every release that was run, a page that lists them all, and the errors.

    If one report fails, the others are still written.
    """
    index = folder / making.INDEX
    targets.admit_page(index, page.is_ours)
    made: list[making.Made] = []
    rows: list[dict[str, Any]] = []
    problems: list[PrivacySqlError] = []
    for plan in project.selected(tuple(names)):
        found = records.read(project.directory, plan.name)
        if found is None or "run" not in found:
            rows.append(_row(plan.name))
            continue
        try:
            found, content, place = _records_and_manifest(project, found, keep=not ask.dry_run)
            target = folder / f"{plan.name}.html"
            made.append(making.write_page(found, target, ask, content, index=making.INDEX, place=place))
        except Exception as problem:
            if ended.is_set():
                raise KeyboardInterrupt from None
            problems.append(as_error(problem))
            problems[-1].where = problems[-1].where or plan.name
            rows.append({**_row(plan.name), "sentence": "No report; run `privacy-sql report` to see why."})
            continue
        rows.append(_row(plan.name, made[-1]))
    if not made:
        raise_all(problems)
        hint = "Run privacy-sql run first."
        raise UsageError("nothing_to_report", "no release of the project has been run yet", hint=hint)
    if not ask.dry_run:
        targets.put_page(index, page.index_page(project.name, rows).encode(), page.is_ours)
    return made, index, problems


def _row(name: str, made: making.Made | None = None) -> dict[str, Any]:
    """The row of a release in the index."""
    if made is None:
        return {"name": name, "safe": None, "audience": "internal", "sentence": "", "made": "", "href": ""}
    return {
        **{"name": name, "safe": made.safe, "audience": made.audience},
        **{"sentence": made.sentence, "made": made.made, "href": made.file.name},
    }


def _records_and_manifest(
    project: Project, found: Record, *, keep: bool
) -> tuple[Record, Manifest | None, Path | None]:
    """The records of a published release with its manifest, but not those of another release there."""
    if not found["run"]["safe"]:
        return found, None, None
    file, content = making.verify(project.directory / str(found["run"].get("manifest")))
    if not making.is_about(found, content):
        return making.alone(content), content, file
    return describing.completed(project.directory, found, file, content, keep=keep), content, file
