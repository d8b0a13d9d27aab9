"""`demo`: the whole process on invented people: not safe, why, published, audited, verified, reported."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING

import click

from privacy_sql.cli.outcome import Outcome, connected, shared

if TYPE_CHECKING:
    from privacy_sql.project.reading import Project


GROUP = "start"  # of `--help`
FIRST = (
    "1. A table of 20,000 invented people: age, sex, zip, marital status, education.",
    "   Their diagnosis is sensitive.",
    "2. Is it safe to publish unchanged, without names? No:",
)


@click.command()
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@click.option("--open", "opens", is_flag=True, help="Open the report in the browser.")
@click.option("--dry-run", is_flag=True, help="Say what would be written.")
@shared
def command(folder: Path | None, opens: bool, dry_run: bool, unsafe_debug: bool, **_: object) -> Outcome:
    """Publish a table of 20,000 invented people safely, step by step.

    It writes to FOLDER, or to privacy_sql_demo.

    \b
    Example: privacy-sql demo /tmp/tour
    """
    from privacy_sql import api
    from privacy_sql.project import example, reading
    from privacy_sql.project.running import run_project
    from privacy_sql.publishing import verifying
    from privacy_sql.release import verdict_lines

    place = folder or Path("privacy_sql_demo")
    written = example.write(place, dry_run=dry_run)
    if dry_run:
        lines = [f"would write {name}" for name in (*written, "out/", "target/")]
        return Outcome("demo", lines=[f"in {place}", *lines])
    read = reading.read(place)
    (plan,) = read.plans.values()
    with connected(read, plan, unsafe_debug) as engine:
        raw = api.check(engine, plan.table, plan.require)
    (result,) = run_project(read, [plan], lambda _: connected(read, plan, unsafe_debug))
    why = [f"   {verdict.story}" for verdict in raw.values() if not verdict.safe and verdict.story]
    steps = [*FIRST, "", *(f"   {line}" for line in verdict_lines(raw)), "", *why, ""]
    if result.release is None:
        steps.append("3. Publishing failed.")
    else:
        steps += [
            "3. Publish it generalised, and read the published bytes again:",
            "",
            *(f"   {line}" for line in str(result.release).splitlines()),
            "",
            f"   wrote {result.target} and its manifest",
        ]
    if result.exit == 0:
        content = verifying.verified(place / str(result.target))
        steps.append(
            f"4. Verify: {result.target} is, byte for byte, what was audited ({content.rows_out} rows)."
        )
        page = _reported(read, unsafe_debug)
        steps.append("5. Report: one page for the person who signs; its link is the last line.")
        steps += ["", f"Look at {place}/privacy.yml and {place}/{result.manifest}, change a limit, and run",
                  f"   privacy-sql run --project {place} --overwrite", "",
                  f"{'Opened' if opens and webbrowser.open(page) else 'Open'} {page}"]  # fmt: skip
    return Outcome(
        "demo",
        exit=result.exit,
        safe=result.exit == 0,
        rows=result.rows_in,
        verdicts=result.verdicts,
        errors=result.errors,
        problems=[result.problem] if result.problem else [],
        lines=steps,
        more={"raw": [verdict.to_json() for verdict in raw.values()], "releases": [result.to_json()]},
    )


def _reported(read: Project, unsafe_debug: bool) -> str:
    """The link to the internal report, which shows the worst case and the other choices."""
    from privacy_sql import api
    from privacy_sql.project import report_pages
    from privacy_sql.reporting import making, records

    (plan,) = read.plans.values()
    with connected(read, plan, unsafe_debug) as engine:
        found = api.search(engine, plan.table, plan.require)
    records.add(read.directory, plan.name, "search", {**found.to_json(), "lattice": found.lattice})
    folder = read.directory / "target" / "report"
    (made,), _, _ = report_pages.of_project(read, (), folder, making.Wanted("internal"))
    return made.file.resolve().as_uri()
