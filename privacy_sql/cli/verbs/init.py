"""`init`: start a project."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Unpack

import click

from privacy_sql.cli.outcome import Common, Outcome, shared
from privacy_sql.errors import UsageError, did_you_mean, number_of

GROUP = "start"  # of `--help`


@click.command()
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@click.option(
    "--example", is_flag=True, help="Write the example: 20,000 invented people and their privacy.yml."
)
@click.option(
    "--from", "file", type=click.Path(path_type=Path), help="Propose a privacy.yml for a CSV or Parquet file."
)
@click.option("--quasi", default="", help="With --from: the quasi-identifiers, separated by commas.")
@click.option("--sensitive", default="", help="With --from: the sensitive columns, separated by commas.")
@click.option("--hierarchy", "column", help="Write a hierarchy file for a column, to fill in.")
@click.option("--select", "names", multiple=True, help="With --hierarchy: the release that has the column.")
@click.option("--dry-run", is_flag=True, help="Say what would be written.")
@shared
def command(
    folder: Path | None,
    example: bool,
    file: Path | None,
    column: str | None,
    quasi: str,
    sensitive: str,
    names: tuple[str, ...],
    dry_run: bool,
    directory: Path,
    **options: Unpack[Common],
) -> Outcome:
    """Write a project: the example, or a proposal for your table. Refuses if privacy.yml exists.

    In a project, --hierarchy writes the values of a column to a file, so that you can group them.

    \b
    Example: privacy-sql init --example my_project
             privacy-sql init --from people.csv my_project
             privacy-sql init --from people.csv --quasi age,sex,zip --sensitive diagnosis my_project
             privacy-sql init --hierarchy education --project my_project
    """
    from privacy_sql.project import example as sample

    place = folder or directory
    if [example, file is not None, column is not None].count(True) != 1:
        hint = "privacy-sql init --example DIR, or privacy-sql init --from FILE DIR"
        told = "init needs one of --example, --from and --hierarchy"
        raise UsageError("nothing_to_start_from", told, hint=hint)
    if file is None and (quasi or sensitive):
        hint = "privacy-sql init --from FILE --quasi age,sex --sensitive diagnosis"
        raise UsageError("unfit_option", "--quasi and --sensitive need --from", hint=hint)
    if file is not None:
        return _proposed(file, place, dry_run, quasi, sensitive, options["unsafe_debug"])
    if column is not None:
        return _hierarchy(column, place, dry_run, names, options["unsafe_debug"])
    written = sample.write(place, dry_run=dry_run)
    verb = "would write" if dry_run else "wrote"
    return Outcome("init", lines=[f"{verb} {name}" for name in written], more={"written": written})


def _proposed(
    file: Path, place: Path, dry_run: bool, quasi: str, sensitive: str, unsafe_debug: bool
) -> Outcome:
    """Show a proposal with the reason for every guess, but no values."""
    from privacy_sql.cli.tables import listed
    from privacy_sql.engines import connect
    from privacy_sql.project import proposing

    with connect("duckdb:", unsafe_debug=unsafe_debug) as engine:
        proposed = proposing.write(engine, file, place, listed(quasi), listed(sensitive), dry_run=dry_run)
    width = max(len(part.column) for part in proposed)
    lines = [f"  {part.column:<{width}}  {part.role:<10}  {part.reason}" for part in proposed]
    verb = "would write" if dry_run else "wrote"
    ending = [
        "Read and correct it; nothing is published until you name an output.",
        f"Next: privacy-sql search --project {shlex.quote(str(place))} finds levels at which it is safe.",
    ]
    columns = [{"column": part.column, "role": part.role, "reason": part.reason} for part in proposed]
    return Outcome(
        "init",
        lines=[f"{verb} {proposing.PROJECT}", "", *lines, "", *ending],
        more={"written": [] if dry_run else [proposing.PROJECT], "columns": columns},
    )


def _hierarchy(
    column: str, place: Path, dry_run: bool, names: tuple[str, ...], unsafe_debug: bool
) -> Outcome:
    """A hierarchy to fill in, with the values of a column, which are shown nowhere else."""
    from privacy_sql.cli.outcome import connected
    from privacy_sql.project import reading
    from privacy_sql.project.hierarchy_to_fill import write

    read = reading.read(place)
    plan = next((plan for plan in read.selected(names) if column in plan.table.roles), None)
    if plan is None:
        known = sorted({name for each in read.selected(names) for name in each.table.quasi})
        told, hint = f'no release of privacy.yml names a column "{column}"', did_you_mean(column, known)
        raise UsageError("unknown_column", told, hint=hint)
    with connected(read, plan, unsafe_debug) as engine:
        written, n_values = write(engine, plan.table, column, read.directory, dry_run=dry_run)
    lines = [
        f"{'would write' if dry_run else 'wrote'} {written}: {number_of(n_values, 'value')} of {column}",
        "",
        "1. Open it. The second column says what each value becomes one level up: write the same word for",
        "   all that belong together. A third column is a level above.",
        f"2. In privacy.yml, write {{column: {column}, hierarchy: {{file: {written}}}}} for {column}.",
    ]
    return Outcome("init", lines=lines, more={"written": [] if dry_run else [written]})
