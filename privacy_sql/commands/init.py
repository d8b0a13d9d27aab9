"""`init`: start a project."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from privacy_sql.commands import Outcome, shared


@click.command()
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@click.option(
    "--example", is_flag=True, help="Write the example: 20,000 invented people and their privacy.yml."
)
@click.option("--dry-run", is_flag=True, help="Say what would be written.")
@shared
def command(folder: Path | None, example: bool, dry_run: bool, directory: Path, **_: Any) -> Outcome:
    """Write a project that runs: privacy.yml, data/ and hierarchies/. Refuses if privacy.yml exists.

    \b
    Example: privacy-sql init --example my_project
    """
    from privacy_sql import example as sample
    from privacy_sql.errors import UsageError

    if not example:
        raise UsageError(
            "nothing_to_start_from", "init needs --example", hint="privacy-sql init --example DIR"
        )
    place = folder or directory
    written = sample.write(place, dry_run=dry_run)
    verb = "would write" if dry_run else "wrote"
    return Outcome("init", lines=[f"{verb} {name}" for name in written], more={"written": written})
