"""`experiment`: compute the figures of a paper again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from privacy_sql.cli.outcome import Common, Outcome, shared

if TYPE_CHECKING:
    from privacy_sql.papers import Figure


GROUP = "examine"  # of `--help`


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
    **options: Unpack[Common],
) -> Outcome:
    """Compute the figures of the paper NAME as CSV, JSON and SVG.

    \b
    Example: privacy-sql experiment martin --part fig5,fig6 --data DIR
    """
    from privacy_sql import files, registry
    from privacy_sql.cli.tables import listed
    from privacy_sql.engines import connect
    from privacy_sql.errors import PrivacySqlError, UsageError, as_error, interrupted
    from privacy_sql.papers import save

    module = registry.load("papers", name)
    if data is None or not data.is_dir():
        hint = "Name it with --data or in the environment as PRIVACY_SQL_DATA."
        raise UsageError("no_data", "the folder of the study data is not there", where="--data", hint=hint)
    folder = output or directory / "target" / "experiments" / name
    files.refuse_no_folder(folder, "--output")
    figures: list[Figure] = []
    written: list[str] = []
    stopped: PrivacySqlError | None = None
    try:
        with connect(unsafe_debug=options["unsafe_debug"]) as engine:
            for figure in module.run(engine, data, listed(part)):
                figures.append(figure)
                # at once: what took minutes outlives whatever stops the next figure
                written += [] if dry_run else save([figure], folder)
    except KeyboardInterrupt as problem:
        stopped = interrupted(problem)
    except Exception as problem:
        stopped = as_error(problem)
    if stopped is not None and not figures:
        raise stopped
    lines = [line for figure in figures for line in (figure.title, *_note(figure.note), "")]
    lines += [f"wrote {folder / file}" for file in written]
    return Outcome(
        "experiment",
        exit=stopped.exit if stopped else 0,
        lines=lines,
        errors=[part.to_json() for part in stopped.parts] if stopped else [],
        problems=[stopped] if stopped else [],
        more={"figures": [f.to_json() for f in figures], "written": written},
    )


def _note(note: str) -> list[str]:
    return [f"  {note}"] if note else []
