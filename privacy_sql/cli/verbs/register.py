"""`register`: what was published before about the same people, by us or by others."""

from __future__ import annotations

from pathlib import Path

import click

from privacy_sql.cli.outcome import Outcome, shared
from privacy_sql.errors import number_of

GROUP = "keep"  # of `--help`


@click.group()
def command() -> None:
    """Keep the list of releases that a new one is judged together with.

    \b
    Example: privacy-sql register add hospital_b hospital_b.yml
    """


@command.command()
@click.argument("name")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--ours", is_flag=True, help="One of our own releases; a manifest always counts as ours.")
@click.option(
    "--hierarchy",
    "hierarchies",
    multiple=True,
    metavar="COLUMN=FILE",
    help="The hierarchy file a column was published with, where the project's is another. Repeatable.",
)
@click.option("--dry-run", is_flag=True, help="Read the file, register nothing.")
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

    With a release of ours the hierarchies it was published with are kept, so that it stays readable.

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
    """Name the registered releases, after checking that nobody changed the register.

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
    """Check the chain of the register, and that every registered file is as it was.

    \b
    Example: privacy-sql register verify
    """
    from privacy_sql.history.register import FILE_NAME, Register

    register = Register(directory / FILE_NAME)
    found = register.find(register.entries())
    told = f"{number_of(len(found), 'release')}, all as registered"
    return Outcome("register", lines=[told], more={"entries": list(found)})
