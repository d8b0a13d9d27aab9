"""`register`: what was published before about the same people, by us or by others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from privacy_sql.commands import Outcome, shared
from privacy_sql.errors import number_of


@click.group()
def command() -> None:
    """Keep the list of releases that a new one must compose with.

    \b
    Example: privacy-sql register add hospital_b hospital_b.yml
    """


@command.command()
@click.argument("name")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--ours", is_flag=True, help="Our own release; manifests are taken as ours without asking.")
@click.option("--dry-run", is_flag=True, help="Read the file, register nothing.")
@shared
def add(name: str, file: Path, ours: bool, dry_run: bool, directory: Path, **_: Any) -> Outcome:
    """Register a release by its manifest or description. Nothing is ever removed.

    \b
    Example: privacy-sql register add hospital_b hospital_b.yml
    """
    from privacy_sql import manifest
    from privacy_sql.described import describe
    from privacy_sql.register import FILE_NAME, Register

    register = Register(directory / FILE_NAME)
    if file.name.endswith(manifest.SUFFIX) and file.is_file():
        roles = manifest.read(file)["roles"]
        columns = [column for column, role in roles.items() if role == "quasi-identifier"]
        if not dry_run:
            register.keep(name, file)
    else:
        described = describe(file, 1)
        columns = list(described.columns)
        if not dry_run:
            register.add(name, file, ours=ours, data=described.files)
    lines = [f"{'would register' if dry_run else 'registered'} {name}: {', '.join(columns)}"]
    return Outcome("register", lines=lines, more={"registered": name, "columns": columns})


@command.command(name="list")
@shared
def list_(directory: Path, **_: Any) -> Outcome:
    """Name the registered releases, after checking that nobody changed the register.

    \b
    Example: privacy-sql register list
    """
    from dataclasses import asdict

    from privacy_sql.register import FILE_NAME, Register

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
def verify(directory: Path, **_: Any) -> Outcome:
    """Check the chain of the register, and that every registered file is as it was.

    \b
    Example: privacy-sql register verify
    """
    from privacy_sql.register import FILE_NAME, Register

    register = Register(directory / FILE_NAME)
    found = register.find(register.entries())
    told = f"{number_of(len(found), 'release')}, all as registered"
    return Outcome("register", lines=[told], more={"entries": list(found)})
