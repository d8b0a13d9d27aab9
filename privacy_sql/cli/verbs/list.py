"""`list`: the releases of the project, and every part by name."""

from __future__ import annotations

import json
from pathlib import Path

import click

from privacy_sql.cli.outcome import Outcome, shared

# the headings of the output, and their folders
FAMILIES = {
    "criteria": "criteria",
    "mechanisms": "methods",
    "searches": "searches",
    "utilities": "utilities",
    "engines": "engines",
    "studies": "studies",
}


GROUP = "start"  # of `--help`


@click.command()
@click.option("--schema", is_flag=True, help="Print the JSON Schema of privacy.yml, for editors.")
@shared
def command(schema: bool, directory: Path, **_: object) -> Outcome:
    """List the releases of the project, and every part by name.

    \b
    Example: privacy-sql list
             privacy-sql list --schema > privacy.schema.json
    """
    if schema:
        from privacy_sql.project.schema import schema as made

        return Outcome("list", lines=[json.dumps(made(), indent=2)], more={"privacy_yml": made()})
    from privacy_sql import registry
    from privacy_sql.cli.verbs.attack import kinds_of_attack
    from privacy_sql.project import reading

    found: dict[str, list[str]] = {}
    if (directory / reading.FILE).is_file():
        found["releases"] = list(reading.read(directory).plans)
    for family, folder in FAMILIES.items():
        found[family] = registry.available(folder)
    found["attacks"] = kinds_of_attack()
    lines = [f"{family:<12}{'  '.join(names)}" for family, names in found.items()]
    return Outcome("list", lines=lines, more={"parts": found})
