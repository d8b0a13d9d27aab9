"""`init`: start a project."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

import click

from privacy_sql.cli.outcome import Common, Outcome, shared


@click.command()
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@click.option(
    "--example", is_flag=True, help="Write the example: 20,000 invented people and their privacy.yml."
)
@click.option(
    "--from", "file", type=click.Path(path_type=Path), help="Propose a privacy.yml for a CSV or Parquet file."
)
@click.option("--dry-run", is_flag=True, help="Say what would be written.")
@shared
def command(
    folder: Path | None,
    example: bool,
    file: Path | None,
    dry_run: bool,
    directory: Path,
    **options: Unpack[Common],
) -> Outcome:
    """Write a project: the example, or a proposal for a table of yours. Refuses if privacy.yml exists.

    \b
    Example: privacy-sql init --example my_project
             privacy-sql init --from people.csv my_project
    """
    from privacy_sql.errors import UsageError
    from privacy_sql.project import example as sample

    place = folder or directory
    if file is not None and not example:
        return _proposed(file, place, dry_run, options["unsafe_debug"])
    if not example or file is not None:
        hint = "privacy-sql init --example DIR, or privacy-sql init --from FILE DIR"
        raise UsageError("nothing_to_start_from", "init needs one of --example and --from", hint=hint)
    written = sample.write(place, dry_run=dry_run)
    verb = "would write" if dry_run else "wrote"
    return Outcome("init", lines=[f"{verb} {name}" for name in written], more={"written": written})


def _proposed(file: Path, place: Path, dry_run: bool, unsafe_debug: bool) -> Outcome:
    """A proposal, with the reason for every guess; none of it shows a value."""
    from privacy_sql.engines import connect
    from privacy_sql.project import proposing

    with connect("duckdb:", unsafe_debug=unsafe_debug) as engine:
        proposed = proposing.write(engine, file, place, dry_run=dry_run)
    width = max(len(part.column) for part in proposed)
    lines = [f"  {part.column:<{width}}  {part.role:<10}  {part.reason}" for part in proposed]
    verb = "would write" if dry_run else "wrote"
    ending = "Read it and correct it; it publishes nothing until you name an output."
    columns = [{"column": part.column, "role": part.role, "reason": part.reason} for part in proposed]
    return Outcome(
        "init",
        lines=[f"{verb} {proposing.PROJECT}", "", *lines, "", ending],
        more={"written": [] if dry_run else [proposing.PROJECT], "columns": columns},
    )
