"""`run`: publish the releases of a project."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from privacy_sql.cli.outcome import Outcome, connected, shared
from privacy_sql.errors import Interrupted, NoSafeChoice, NotSafe, number_of

if TYPE_CHECKING:
    from privacy_sql.project.running import Result


GROUP = "publish"  # of `--help`


@click.command()
@click.option("--select", "names", multiple=True, help="A release of the project. Repeatable; default all.")
@click.option("--overwrite", is_flag=True, help="Replace what was published before.")
@click.option("--dry-run", is_flag=True, help="Choose and judge without writing.")
@shared
def command(
    names: tuple[str, ...], overwrite: bool, dry_run: bool, directory: Path, unsafe_debug: bool, **_: object
) -> Outcome:
    """Publish every release of privacy.yml: choose, judge, write, audit. Unsafe releases are not written.

    \b
    Example: privacy-sql run --select people
    """
    from privacy_sql.project import reading
    from privacy_sql.project.running import run_project

    read = reading.read(directory)
    results = run_project(
        read,
        read.selected(names),
        lambda plan: connected(read, plan, unsafe_debug),
        overwrite=overwrite,
        dry_run=dry_run,
    )
    return told("run", results, dry_run)


def told(verb: str, results: list[Result], dry_run: bool = False) -> Outcome:
    """The results of a run as an outcome."""
    from privacy_sql.errors import first_exit

    # the number of rows read, if any release may show it
    known = [result.rows_in for result in results if result.rows_in is not None]
    # None where nothing was found unsafe, but something could not be judged
    exits = {result.exit for result in results}
    return Outcome(
        verb,
        exit=first_exit(result.exit for result in results),
        safe=(
            False
            if exits & {NotSafe.exit, NoSafeChoice.exit, Interrupted.exit}
            else None
            if exits - {0}
            else True
        ),
        rows=sum(known) if known or not results else None,
        verdicts=[verdict for result in results for verdict in result.verdicts],
        errors=[error for result in results for error in result.errors],
        problems=[result.problem for result in results if result.problem is not None],
        lines=[line for result in results for line in _lines(result, dry_run)],
        more={
            "published": any(result.published for result in results),
            "releases": [result.to_json() for result in results],
        },
    )


def _lines(result: Result, dry_run: bool) -> list[str]:
    warnings = [f"warning: {warning}" for warning in result.warnings]
    if result.release is None:
        return [*warnings, f"{result.name}: not published", ""]
    left = "published" if result.published or not (dry_run or result.exit) else "to publish"
    lines = [result.release.told(left), "", *warnings]
    if result.published and result.exit:
        return [*lines, f"PUBLISHED, and a later step failed: {_targets(result)}  {result.manifest}", ""]
    if result.exit and result.release.safe:
        return [*lines, f"{result.name}: not written", ""]
    if result.exit:
        stories = [v.explain() for v in result.release.verdicts.values() if not v.safe]
        refused = [str(result.release.refusal)] if result.release.refusal else []
        return [*lines, "NOT SAFE: nothing was published.", *refused, *stories, ""]
    if dry_run:
        return [*lines, f"dry run     would write {result.target}", ""]
    from privacy_sql.publishing.audit import by_rows

    rows = number_of(result.release.rows_out, "published row")
    before = [str(c) for c in result.release.require if not by_rows(result.release, c.name)]
    not_again = f" ({', '.join(before)}: judged before, as published rows do not decide it)" if before else ""
    return [
        *lines,
        f"audit       {rows} read again from their own bytes; every requirement holds{not_again}",
        f"wrote       {_targets(result)}  {result.manifest}",
        "",
    ]


def _targets(result: Result) -> str:
    """The written files: the target, or the parts of a release of several tables."""
    from privacy_sql.publishing.parts import part_files

    assert result.release is not None
    if not result.release.parts or not result.target:
        return str(result.target)
    return "  ".join(str(path) for path in part_files(Path(result.target), result.release).values())
