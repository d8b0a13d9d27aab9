"""`curve`: how sure somebody can be with 0, 1, 2, ... more facts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import click

from privacy_sql.cli.outcome import Outcome, shared, size
from privacy_sql.cli.tables import About, about_a_table, each_table
from privacy_sql.display.rounding import as_float, decimals
from privacy_sql.errors import Interrupted

if TYPE_CHECKING:
    from privacy_sql.engines import Engine
    from privacy_sql.release import Release
    from privacy_sql.table import Table

BAR = 40


GROUP = "decide"  # of `--help`


@click.command()
@click.option("--facts", default=10, show_default=True, help="The largest number of facts.")
@click.option(
    "--every-choice",
    is_flag=True,
    help="Also compute disclosure and entropy for every combination of levels.",
)
@about_a_table
@shared
def command(facts: int, every_choice: bool, directory: Path, **options: Unpack[About]) -> Outcome:
    """Show maximum disclosure by the number of facts, for implications and for ruled-out values.

    \b
    Example: privacy-sql curve --source people.csv --quasi age,sex --sensitive diagnosis --facts 5

    Without --source, it examines every release of privacy.yml as it would be published.
    """
    from privacy_sql.studies.disclosure_curve import curves

    whole = Outcome("curve", rows=0, groups=0)
    shown = []

    def ask(name: str, engine: Engine, subject: Table | Release) -> None:
        found = curves(engine, subject, facts)
        whole.rows = (whole.rows or 0) + found.rows
        whole.groups = (whole.groups or 0) + found.groups
        # one line per number of facts, with a bar for the implications
        lines = [f"  {'facts':>5}  {'implications':>12}  {'negations':>12}"]
        for k, (implied, negated) in enumerate(zip(*found.by_language.values(), strict=True)):
            bar = "#" * min(round(as_float(implied) * BAR), BAR - (implied < 1))  # a full bar is certainty
            lines.append(f"  {k:>5}  {decimals(implied, 4):>12}  {decimals(negated, 4):>12}  {bar}")
        whole.lines += [f"{name}: {size(found)}", *lines, ""]
        curves_of = {
            language: [{"facts": k, "value": str(v), "value_float": as_float(v)} for k, v in enumerate(curve)]
            for language, curve in found.by_language.items()
        }
        shown.append({"name": name, "rows": found.rows, "groups": found.groups, **curves_of})

    each_table(whole, directory, options, ask)
    whole.more = {"curves": shown}
    if every_choice and options["source"] is None and whole.exit != Interrupted.exit:
        whole.more = {"curves": shown, "every_choice": _every_choice(whole, directory, options)}
    return whole


def _every_choice(whole: Outcome, directory: Path, options: About) -> list[dict[str, Any]]:
    """All choices of levels for each release, recorded for the report."""
    from privacy_sql.reporting import records
    from privacy_sql.studies.every_choice import every_choice
    from privacy_sql.table import Table

    found = []

    def ask(name: str, engine: Engine, table: Table | Release) -> None:
        assert isinstance(table, Table)
        choices = [choice.to_json() for choice in every_choice(engine, table)]
        records.add(directory, name, "every_choice", {"choices": choices})
        found.append({"name": name, "choices": choices})

    each_table(whole, directory, options, ask, published=False)
    return found
