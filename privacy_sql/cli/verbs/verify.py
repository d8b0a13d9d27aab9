"""`verify`: has a release changed since it was written?"""

from __future__ import annotations

import contextlib
from pathlib import Path

import click

from privacy_sql.cli.outcome import Outcome, shared
from privacy_sql.cli.tables import holding, manifest_of_table
from privacy_sql.errors import number_of

GROUP = "publish"  # of `--help`


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--connect", "url", help="The database of the table, if not the project's: duckdb:file.db.")
@shared
def command(
    paths: tuple[Path, ...], url: str | None, directory: Path, unsafe_debug: bool, **_: object
) -> Outcome:
    """Look for changed bytes in releases and their manifests. Exit 1: something has changed.

    PATHS are published files, manifests, or names of tables that the project published. Without a manifest
    there is nothing to compare with (exit 2).

    The project file says where published tables are.

    \b
    Example: privacy-sql verify out/people.csv
    """
    from privacy_sql.errors import PrivacySqlError
    from privacy_sql.publishing.verifying import verified

    whole = Outcome("verify", safe=True)
    found = []
    for path in paths:
        try:
            place = manifest_of_table(path, directory)
            engine = holding(place, url, directory, unsafe_debug)
            with engine or contextlib.nullcontext():
                content = verified(place, engine)
        except PrivacySqlError as problem:
            whole.add(problem)
            continue
        name = content.one.name if content.one else content.release
        whole.lines.append(f"{name}: unchanged since it was written, {number_of(content.rows_out, 'row')}")
        whole.rows = (whole.rows or 0) + content.rows_out
        whole.verdicts += [verdict.to_json() for verdict in content.verdicts]
        found.append({"release": content.release, "output": content.output.to_json()})
    whole.safe = whole.exit == 0 and all(verdict["safe"] for verdict in whole.verdicts)
    whole.more = {"verified": found}
    return whole
