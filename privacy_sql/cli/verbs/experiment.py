"""`experiment`: recompute the figures of a paper."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from privacy_sql.cli.outcome import Common, Outcome, shared
from privacy_sql.errors import Interrupted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from privacy_sql.errors import PrivacySqlError
    from privacy_sql.papers import Figure

ALL, PAGE = "all", "index.html"


GROUP = "examine"  # of `--help`


@click.command()
@click.argument("name")
@click.option("--part", default="", help="Figures and tables, separated by commas; default all.")
@click.option(
    "--data",
    envvar="PRIVACY_SQL_DATA",
    type=click.Path(path_type=Path),
    help="The folder of the study data; default PRIVACY_SQL_DATA of the environment.",
)
@click.option(
    "-o",
    "--output",
    "--out",
    type=click.Path(path_type=Path),
    help="Default: target/experiments/NAME, or target/experiments for all.",
)
@click.option("--dry-run", is_flag=True, help="Compute without writing files.")
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
    """Compute the figures of a paper again, as CSV, JSON and SVG.

    NAME is martin, chen, li, ganta or kifer, or `all`, which also writes a page with every figure next to the
    one in its paper and the reason for each difference.

    \b
    Example: privacy-sql experiment martin --part fig5,fig6 --data DIR
             privacy-sql experiment all --data DIR --out target/experiments
    """
    from privacy_sql import files, registry
    from privacy_sql.cli.tables import listed
    from privacy_sql.errors import UsageError

    papers = registry.available("papers") if name == ALL else [name]
    if name == ALL and part:
        raise UsageError("bad_part", "--part needs a single paper", hint="Name the paper.")
    modules = {paper: registry.load("papers", paper) for paper in papers}
    if data is None or not data.is_dir():
        hint = "Name it with --data or set PRIVACY_SQL_DATA."
        raise UsageError("no_data", "the folder of the study data does not exist", where="--data", hint=hint)
    top = directory / "target" / "experiments"
    folder = output or (top if name == ALL else top / name)
    files.refuse_no_folder(folder, "--output")
    whole = Outcome("experiment", more={})
    made: dict[str, list[Figure]] = {}
    written: list[str] = []
    for paper, module in modules.items():
        below = f"{paper}/" if name == ALL else ""
        made[paper] = []
        place = None if dry_run else folder / below
        stopped = _computed(module.run, data, listed(part), made[paper], place, written, below, options)
        whole.lines += [line for figure in made[paper] for line in (*figure.lines(paper), "")]
        if stopped is not None:
            if name != ALL and not made[paper]:
                raise stopped
            stopped.where = stopped.where or paper
            whole.add(stopped)
            if stopped.exit == Interrupted.exit:
                break
    if name == ALL and not dry_run:
        problems = {each["where"]: each["message"] for each in whole.errors}
        problems |= {paper: "the command ended before this paper" for paper in modules if paper not in made}
        _write_page(folder / PAGE, {paper: made.get(paper, []) for paper in modules}, problems)
        written.append(PAGE)
    whole.lines += [f"wrote {folder / file}" for file in written]
    told = [{"paper": paper, **figure.to_json()} for paper, figures in made.items() for figure in figures]
    whole.more = {"figures": told, "written": written}
    return whole


def _computed(
    run: Callable[..., Iterator[Figure]],
    data: Path,
    parts: Sequence[str],
    figures: list[Figure],
    folder: Path | None,
    written: list[str],
    below: str,
    options: Common,
) -> PrivacySqlError | None:
    """Make the figures of one paper and save each at once; returns the error, if any."""
    from privacy_sql.engines import connect
    from privacy_sql.errors import as_error, interrupted
    from privacy_sql.papers import save

    try:
        with connect(unsafe_debug=options["unsafe_debug"]) as engine:
            for figure in run(engine, data, parts):
                figures.append(figure)
                if folder is not None:
                    # at once, so that minutes of work survive an error in the next figure
                    written += [f"{below}{file}" for file in save([figure], folder)]
    except KeyboardInterrupt as problem:
        return interrupted(problem)
    except Exception as problem:
        return as_error(problem)
    return None


def _write_page(target: Path, made: dict[str, list[Figure]], problems: dict[str, str]) -> None:
    """Write the page of all papers without replacing somebody else's file."""
    from privacy_sql import files
    from privacy_sql.errors import UsageError
    from privacy_sql.papers._page import BEGINS, page

    def admit() -> None:
        if os.path.lexists(target) and not (target.is_file() and target.read_bytes().startswith(BEGINS)):
            hint = "Choose another folder with --out."
            raise UsageError(
                "target_exists", f"{target.name} exists and is not a page written by privacy_sql", hint=hint
            )

    files.write_alone(target, page(made, problems).encode(), admit=admit)
