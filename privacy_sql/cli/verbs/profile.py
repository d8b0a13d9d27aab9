"""`profile`: the columns of a table, in counts."""

from __future__ import annotations

import shlex
from fractions import Fraction
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from privacy_sql.cli.outcome import Outcome, shared
from privacy_sql.display.aligned import aligned
from privacy_sql.display.rounding import percent
from privacy_sql.errors import number_of, people

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privacy_sql.counted.profiling import Profile
    from privacy_sql.engines import Engine, Source
    from privacy_sql.project.proposing import Proposed
    from privacy_sql.project.reading import Plan
    from privacy_sql.studies.identifying import Identified
    from privacy_sql.table import Table

FEW = 5  # smaller numbers of people are not shown


GROUP = "start"  # of `--help`


@click.command()
@click.option(
    "--source", help="A CSV or Parquet file, or a relation of --connect; default: the project's sources."
)
@click.option("--connect", "url", default="duckdb:", show_default=True, help="The database of a relation.")
@click.option("--select", "names", multiple=True, help="A release of the project. Repeatable.")
@click.option(
    "--identify",
    "most",
    type=int,
    is_flag=False,
    flag_value=3,
    help="Find columns that single people out, in sets of up to this many (3).",
)
@click.option("--quasi", default="", help="The columns for --identify, separated by commas.")
@shared
def command(
    source: str | None,
    url: str,
    names: tuple[str, ...],
    most: int | None,
    quasi: str,
    directory: Path,
    unsafe_debug: bool,
    **_: object,
) -> Outcome:
    """Show every column in counts, and the role that its name and counts suggest. Shows no values.

    \b
    Example: privacy-sql profile --source people.csv
             privacy-sql profile --source people.csv --identify 2 --quasi age,sex,zip
    """
    from privacy_sql.cli.outcome import connected
    from privacy_sql.cli.tables import EMBEDDED, each_release, listed, named_engine
    from privacy_sql.counted.profiling import profile
    from privacy_sql.project import proposing, reading
    from privacy_sql.studies.identifying import identify
    from privacy_sql.table import Table

    whole = Outcome("profile", rows=0)
    tables: dict[str, Any] = {}
    identified: dict[str, Any] = {}

    def show(name: str, engine: Engine, source: Source, declared: Table | None = None) -> None:
        found = profile(engine, source)
        made = (
            proposing.roles(found) if declared is None else proposing.declared(declared, list(found.columns))
        )
        tables[name] = [
            {**found.columns[part.column].to_json(), "role": part.role, "reason": part.reason}
            for part in made
        ]
        whole.rows = (whole.rows or 0) + found.n_rows
        whole.lines += [f"{name}: {number_of(found.n_rows, 'row')}", *_lines(tables[name]), ""]
        if most is None:
            return
        able = listed(quasi) or [part.column for part in made if part.role == "quasi"]
        asked = Table(found.relation, able, name=name, **_whose(found, made, able))
        told = identify(found.engine, declared or asked, most)
        identified[name], lines = _singled_out(told)
        whole.lines += [*lines, ""]

    if source is not None:
        with named_engine(url, unsafe_debug=unsafe_debug) as engine:
            show(source, engine, source)
        following = "name the table in privacy.yml, as docs/project.md shows, with these roles."
        if url == EMBEDDED:
            following = f"privacy-sql init --from {shlex.quote(source)} FOLDER"
            following += " writes a project with such roles, for you to correct."
        whole.lines.append(f"Next: {following}")
    else:
        read = reading.read(directory)

        def ask(plan: Plan) -> None:
            with connected(read, plan, unsafe_debug) as engine:
                show(plan.name, engine, plan.table.source, plan.table)

        each_release(whole, read.selected(names), ask)
        whole.lines.append("Next: privacy-sql check judges each table as it stands.")
    whole.more = {"tables": tables, **({"identified": identified} if identified else {})}
    return whole


def _whose(found: Profile, made: Sequence[Proposed], asked: Sequence[str]) -> dict[str, Any]:
    """What says whose the rows are, where somebody has several of them; empty where a row is a person."""
    named = [found.columns[part.column] for part in made if part.role == "identifier"]
    repeated = [one for one in named if not one.unique and not one.n_nulls and one.name not in asked]
    if not repeated:
        return {}
    return {"identifier": min(repeated, key=attrgetter("n_values")).name, "values_per_person": "set"}


def _lines(rows: list[dict[str, Any]]) -> list[str]:
    head = ("column", "kind", "values", "missing", "alone", "role", "why")
    cells = [
        (
            row["column"],
            row["kind"],
            str(row["n_values"]),
            str(row["n_nulls"]),
            percent(Fraction(row["alone"])),
            row["role"],
            row["reason"],
        )
        for row in rows
    ]
    return [f"  {line}" for line in aligned([head, *cells], right=(2, 3, 4))]


def _few(n: int) -> str:
    """A number of people, or "few"."""
    return f"<{FEW}" if 0 < n < FEW else str(n)


def _singled_out(found: Identified) -> tuple[dict[str, Any], list[str]]:
    """How many people few columns single out, as plain data and as lines."""
    singled = sum(found.people_by_least_size.values())
    most = max(found.people_by_least_size)
    lines = [
        f"  {singled} of {people(found.people)} can be singled out with at most {number_of(most, 'column')}"
    ]
    for size, n in found.people_by_least_size.items():
        sets = f"{number_of(found.sets_by_size[size], 'set')} of this size"
        lines.append(f"    {people(n)} with {number_of(size, 'column')} ({sets})")
    told = sorted(found.people_with_column.items(), key=lambda part: -part[1])
    width = max(len(column) for column, _ in told)
    lines.append("  people whom a column helps to single out")
    lines += [f"    {column:<{width}}  {_few(n)}" for column, n in told]
    return {
        "people": found.people,
        "people_by_least_size": {str(size): n for size, n in found.people_by_least_size.items()},
        "sets_by_size": {str(size): n for size, n in found.sets_by_size.items()},
        "people_with_column": {column: _few(n) for column, n in found.people_with_column.items()},
        "proposed": [chosen.column for chosen in found.proposed],
    }, lines
