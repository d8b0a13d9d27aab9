"""`skyline`: how much an adversary may know of each kind before a guess exceeds a limit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import click

from privacy_sql.cli.outcome import Outcome, shared, size
from privacy_sql.cli.tables import About, about_a_table, each_table
from privacy_sql.errors import people

if TYPE_CHECKING:
    from privacy_sql.engines import Engine
    from privacy_sql.release import Release
    from privacy_sql.studies.skyline import Skyline
    from privacy_sql.table import Table

UNBOUNDED = "any"
KINDS = {
    "ruled_out": "one value more ruled out",
    "known": "one person more known",
    "family": "one person more in the family",
    "nothing": "nothing more known",
}


GROUP = "decide"  # of `--help`


@click.command()
@click.option("--value", help="One sensitive value; default every one, by number.")
@click.option(
    "--limit", default="0.95", show_default=True, help="The probability that is too sure: above 0, at most 1."
)
@click.option(
    "--show-values", is_flag=True, help="Name the sensitive values, and people by --identifier. INTERNAL."
)
@about_a_table
@shared
def command(
    value: str | None, limit: str, show_values: bool, directory: Path, **options: Unpack[About]
) -> Outcome:
    """Show how much knowledge of each kind a table withstands.

    \b
    Example: privacy-sql skyline --source people.csv --quasi age,sex --sensitive diagnosis \\
                 --value flu --limit 0.9

    For each kind of knowledge, a sentence says what happens if somebody knows one fact more than the table
    withstands; --show-values with an identifier names the people concerned.

    Without --source, it examines every release of privacy.yml as it would be published.
    """
    from privacy_sql.studies.skyline import skylines

    whole = Outcome("skyline", rows=0, groups=0)
    if show_values:
        whole.lines += ["INTERNAL: names values of the data. Do not pass on.", ""]
    shown: list[dict[str, Any]] = []

    def ask(name: str, engine: Engine, subject: Table | Release) -> None:
        found = skylines(engine, subject, value=value, limit=limit, show_values=show_values)
        whole.rows, whole.groups = (whole.rows or 0) + found.rows, (whole.groups or 0) + found.groups
        whole.lines.append(f"{name}: {size(found)}, limit {limit}")
        for one in found.skylines:
            whole.lines.append(f"  {one.label} ({people(one.people)})")
            if one.points:
                whole.lines.append(f"    {'values ruled out':>16}  {'others known':>12}  {'family':>6}")
            else:
                whole.lines.append("    not safe without any knowledge")
            for point in one.points:
                amounts = (UNBOUNDED if n is None else n for n in point)
                whole.lines.append("    {:>16}  {:>12}  {:>6}".format(*amounts))
            whole.lines += [*_story(one), ""]
            told: dict[str, Any] = {
                "name": name,
                "limit": str(found.limit),
                "value": one.label,
                "people": one.people,
                "points": [list(point) for point in one.points],
                "story": one.stories.get("known") or next(iter(one.stories.values()), ""),
                "stories": dict(one.stories),
            }
            shown.append(told | ({"individuals": dict(one.individuals)} if one.individuals else {}))

    each_table(whole, directory, options, ask)
    whole.more = {"skylines": shown}
    return whole


def _story(skyline: Skyline) -> list[str]:
    lines = []
    for kind, told in skyline.stories.items():
        lines.append(f"    {KINDS[kind]}: {told}")
        if kind in skyline.individuals:
            whom = skyline.individuals[kind]
            said = [f"target {whom['target']}"]
            said += [f"ruled out {value}" for value in whom["values_ruled_out"]]
            said += [f"known {one['person']} ({one['value']})" for one in whom["known"]]
            said += [f"family {person}" for person in whom["family"]]
            lines.append(f"      {', '.join(said)}")
    return lines
