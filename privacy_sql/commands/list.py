"""`list`: what there is: the releases of the project, and every part by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from privacy_sql.commands import Outcome, shared

FAMILIES = ("criteria", "mechanisms", "searches", "utilities", "attacks", "engines")


@click.command()
@shared
def command(directory: Path, **_: Any) -> Outcome:
    """Name the releases of the project, and every criterion, method, search, utility, attack and engine.

    \b
    Example: privacy-sql list
    """
    from privacy_sql import plugs, project

    found: dict[str, list[str]] = {}
    if (directory / project.FILE).is_file():
        found["releases"] = list(project.read(directory).plans)
    for family in FAMILIES:
        found[family] = plugs.available(family)
    lines = [f"{family:<12}{'  '.join(names)}" for family, names in found.items()]
    return Outcome("list", lines=lines, more={"parts": found})
