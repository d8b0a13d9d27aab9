"""`experiment`: compute the figures of a paper again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from privacy_sql.commands import Outcome, shared


@click.command()
@click.argument("name")
@click.option("--part", default="", help="Figures and tables, separated by commas; default all.")
@click.option(
    "--data",
    envvar="PRIVACY_SQL_DATA",
    type=click.Path(path_type=Path),
    help="The folder of the study data; default the environment's PRIVACY_SQL_DATA.",
)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Default: target/experiments/NAME.")
@click.option("--dry-run", is_flag=True, help="Compute, write nothing.")
@shared
def command(
    name: str,
    part: str,
    data: Path | None,
    output: Path | None,
    dry_run: bool,
    directory: Path,
    **options: Any,
) -> Outcome:
    """Compute the figures of the paper NAME as CSV, JSON and SVG.

    \b
    Example: privacy-sql experiment martin --part fig5,fig6 --data DIR
    """
    from privacy_sql import plugs
    from privacy_sql.commands._tables import listed
    from privacy_sql.engines import connect
    from privacy_sql.errors import UsageError
    from privacy_sql.experiments import save

    module = plugs.load("experiments", name)
    if data is None or not data.is_dir():
        hint = "Name it with --data or in the environment as PRIVACY_SQL_DATA."
        raise UsageError("no_data", "the folder of the study data is not there", where="--data", hint=hint)
    with connect(unsafe_debug=options["unsafe_debug"]) as engine:
        figures = list(module.run(engine, data, listed(part)))
    folder = output or directory / "target" / "experiments" / name
    written = [] if dry_run else save(figures, folder)
    lines = [line for figure in figures for line in (figure.title, *_note(figure.note), "")]
    lines += [f"wrote {folder / file}" for file in written]
    return Outcome(
        "experiment", lines=lines, more={"figures": [f.to_json() for f in figures], "written": written}
    )


def _note(note: str) -> list[str]:
    return [f"  {note}"] if note else []
