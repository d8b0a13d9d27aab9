"""`register`: what was published before about the same people, by us or by others."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from privacy_sql.cli.outcome import Outcome, shared
from privacy_sql.errors import number_of
from privacy_sql.manifest import Manifest

GROUP = "keep"  # of `--help`


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
    from privacy_sql import manifest
    from privacy_sql.history.described import describe, described_by
    from privacy_sql.history.group_contents import writer_of_known, writer_of_waiting
    from privacy_sql.history.register import FILE_NAME, Register

    register, file = Register(directory / FILE_NAME), described_by(file)
    if file.name.endswith(manifest.SUFFIX) and file.is_file():
        content = manifest.read(file)
        columns = [column for column, role in content["roles"].items() if role == "quasi-identifier"]
        known = _hierarchies(content, directory, hierarchies)
        # what was kept on the day it was published says more than what is known today
        kept_already = name == content["release"] and not hierarchies and register.reads(content)
        if not dry_run and not kept_already:
            waiting = writer_of_waiting(directory / "target" / "private", content)
            register.keep(name, file, private=waiting or writer_of_known(content, known))
    else:
        described = describe(file, 1)
        columns = list(described.columns)
        if not dry_run:
            register.add(name, file, ours=ours, data=described.files)
    lines = [f"{'would register' if dry_run else 'registered'} {name}: {', '.join(columns)}"]
    return Outcome("register", lines=lines, more={"registered": name, "columns": columns})


def _hierarchies(content: Manifest, directory: Path, given: Sequence[str]) -> dict[str, Any]:
    """The hierarchies of a manifest: from files, else from the project where it still has the same ones."""
    from privacy_sql.errors import DataError, UsageError, did_you_mean
    from privacy_sql.hierarchies import Tree
    from privacy_sql.hierarchies.spec import rebuilt
    from privacy_sql.project import reading

    told = content.get("hierarchies", {})
    found = {name: rebuilt(each["levels"], each["checksum"]) for name, each in told.items()}
    if (directory / reading.FILE).is_file():
        for plan in reading.read(directory).plans.values():
            for name, kind in plan.table.hierarchies.items():
                for each in (kind, kind.for_fractions()):
                    if name in told and each.checksum() == told[name]["checksum"]:
                        found[name] = each
    for named in given:
        column, equals, path = named.partition("=")
        if not equals or column not in told:
            hint = did_you_mean(column, told) or "Such as --hierarchy job=jobs.csv."
            raise UsageError("bad_hierarchy", f'the release has no hierarchy of "{column}"', hint=hint)
        kind = Tree.from_file(Path(path), column)
        if kind.checksum() != told[column]["checksum"]:
            raise DataError(
                "hierarchy_changed",
                f"{Path(path).name} is not the hierarchy that {column} was published with",
                where="--hierarchy",
                hint="Name the file as it was on the day the release was made.",
            )
        found[column] = kind
    return {name: kind for name, kind in found.items() if kind is not None}


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
