"""`report`: everything for the person who signs, as one HTML file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Unpack

import click

from privacy_sql.cli.outcome import Common, Outcome, connected, shared
from privacy_sql.errors import NoSafeChoice

if TYPE_CHECKING:
    from privacy_sql.errors import PrivacySqlError
    from privacy_sql.release import Release
    from privacy_sql.reporting.making import Made

FILE = click.Path(path_type=Path)


class ReportOptions(Common):
    """The audience, and the form."""

    audience: Literal["internal", "public"] | None
    opens: bool
    static: bool
    interactive: bool
    show_values: bool
    dry_run: bool


GROUP = "publish"  # of `--help`


@click.command()
@click.argument("manifests", nargs=-1, type=FILE)
@click.option("--select", "names", multiple=True, help="A release of the project. Repeatable; default all.")
@click.option("-o", "--output", type=FILE, help="The file, or the folder for several reports.")
@click.option(
    "--audience",
    type=click.Choice(["internal", "public"]),
    help="Default: public for safe releases, internal for others.",
)
@click.option("--open", "opens", is_flag=True, help="Open it in the browser.")
@click.option("--static", is_flag=True, help="Also write every chart as SVG and PNG. Needs the extra static.")
@click.option("--interactive", is_flag=True, help="Add an interactive skyline in three dimensions (5 MB).")
@click.option(
    "--show-values", is_flag=True, help="Name the groups, values and people of the worst cases. INTERNAL."
)
@click.option("--dry-run", is_flag=True, help="Say what would be written.")
@shared
def command(
    manifests: tuple[Path, ...],
    names: tuple[str, ...],
    output: Path | None,
    directory: Path,
    **options: Unpack[ReportOptions],
) -> Outcome:
    """Write the report of the releases in MANIFESTS, or of the whole project in target/report.

    \b
    Example: privacy-sql report out/people.csv.manifest.json -o people.html
    """
    from privacy_sql.reporting import making

    ask = making.Wanted(
        options["audience"],
        options["static"],
        options["dry_run"],
        options["interactive"],
        options["show_values"],
        partial(_again, directory, options["unsafe_debug"]),
    )
    making.refuse_public_values(ask)
    if manifests:
        targets = _targets(manifests, output)
        made, problems = making.of_manifests(manifests, targets, ask, directory)
        first = made[0].file
    else:
        from privacy_sql import files
        from privacy_sql.project import reading, report_pages

        read = reading.read(directory)
        folder = output or directory / "target" / "report"
        files.refuse_no_folder(folder, "--output")
        made, first, problems = report_pages.of_project(read, names, folder, ask)
    if options["opens"] and not options["dry_run"]:
        click.launch(first.resolve().as_uri())
    return _outcome(made, first, problems, options["dry_run"])


@contextmanager
def _again(directory: Path, unsafe_debug: bool, name: str) -> Iterator[Release | None]:
    """A release of the project, made again to name people of its source; nothing is published."""
    from privacy_sql import api
    from privacy_sql.project import reading

    plan = reading.read(directory).plans.get(name) if (directory / reading.FILE).is_file() else None
    if plan is None or plan.method is None or plan.method.promises or not plan.table.identifier:
        yield None
        return
    with connected(reading.read(directory), plan, unsafe_debug) as engine:
        yield api.publish(engine, plan.table, plan.require, plan.method)


def _targets(manifests: tuple[Path, ...], output: Path | None) -> list[Path | None]:
    """The place of each report: next to its release, unless a file (or a folder for several) is named."""
    if output is None:
        return [None] * len(manifests)
    from privacy_sql import files

    if len(manifests) == 1 and output.suffix:
        return [output]
    files.refuse_no_folder(output, "--output")
    return [output / f"{place.name.partition('.')[0]}.html" for place in manifests]


def _outcome(made: list[Made], first: Path, problems: list[PrivacySqlError], dry_run: bool) -> Outcome:
    from privacy_sql.errors import first_exit

    verb = "would write" if dry_run else "wrote"
    lines = []
    for one in made:
        word = "safe" if one.safe else "NOT SAFE"
        if not one.judged:
            none_safe = one.exit == NoSafeChoice.exit
            word = "NOT SAFE: no safe choice was found" if none_safe else "nothing was judged"
        lines.append(f"{one.release}: {word}, {one.audience} report")
    lines += [f"{verb} {path}" for path in dict.fromkeys([*(one.file for one in made), first])]
    lines += [f"{verb} {path}" for one in made for path in (*one.pictures, *one.facts)]
    return Outcome(
        "report",
        exit=first_exit(problem.exit for problem in problems),
        errors=[part.to_json() for problem in problems for part in problem.parts],
        problems=problems,
        safe=None if problems else all(one.safe for one in made),
        lines=lines,
        more={"reports": [one.to_json() for one in made], "page": first.as_posix()},
    )
