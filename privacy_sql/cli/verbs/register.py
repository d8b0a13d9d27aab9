"""`register`: earlier releases about the same people, by us or by others."""

from __future__ import annotations

from pathlib import Path

import click

from privacy_sql.cli.outcome import Outcome, shared
from privacy_sql.errors import number_of

GROUP = "keep"  # of `--help`


@click.group()
def command() -> None:
    """Keep the list of earlier releases; a new one is judged together with them.

    \b
    Example: privacy-sql register add hospital_b hospital_b.yml
    """


@command.command()
@click.argument("name")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--ours", is_flag=True, help="Treat it as one of your own releases; a manifest always counts as your own."
)
@click.option(
    "--hierarchy",
    "hierarchies",
    multiple=True,
    metavar="COLUMN=FILE",
    help="The hierarchy file used for a column when it was published, if it has changed. Repeatable.",
)
@click.option("--dry-run", is_flag=True, help="Read the file without registering it.")
@shared
def add(
    name: str,
    file: Path,
    ours: bool,
    hierarchies: tuple[str, ...],
    dry_run: bool,
    directory: Path,
    **_: object,
) -> Outcome:
    """Register a release by its manifest or description. Nothing is ever removed.

    For your own release, the register keeps the hierarchies used, so that it stays readable.

    \b
    Example: privacy-sql register add hospital_b hospital_b.yml
    """
    from privacy_sql.project.registering import register

    columns = register(directory, name, file, ours=ours, hierarchies=hierarchies, dry_run=dry_run)
    lines = [f"{'would register' if dry_run else 'registered'} {name}: {', '.join(columns)}"]
    return Outcome("register", lines=lines, more={"registered": name, "columns": columns})


@command.command(name="list")
@shared
def list_(directory: Path, **_: object) -> Outcome:
    """List the registered releases, after checking that nobody changed the register.

    \b
    Example: privacy-sql register list
    """
    from dataclasses import asdict

    from privacy_sql.history.register import FILE_NAME, Register

    entries = Register(directory / FILE_NAME).history()
    lines = [
        f"{entry.at}  {'ours  ' if entry.ours else 'others'}  {entry.name}  {entry.file}" for entry in entries
    ]
    return Outcome(
        "register",
        lines=lines or ["no release is registered"],
        more={"entries": [asdict(e) for e in entries]},
    )


@command.command()
@shared
def verify(directory: Path, **_: object) -> Outcome:
    """Check the chain of the register, and that no registered file has changed.

    \b
    Example: privacy-sql register verify
    """
    from privacy_sql.history.register import FILE_NAME, Register

    register = Register(directory / FILE_NAME)
    found = register.find(register.entries())
    told = f"{number_of(len(found), 'release')}, all unchanged since registration"
    return Outcome("register", lines=[told], more={"entries": list(found)})
