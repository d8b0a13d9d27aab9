"""`profile`: what is in a table, in counts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from privacy_sql.cli.outcome import Outcome, shared
from privacy_sql.errors import number_of

if TYPE_CHECKING:
    from privacy_sql.project.reading import Plan


@click.command()
@click.option(
    "--source", help="A CSV or Parquet file, or a relation of --connect; default: the project's sources."
)
@click.option("--connect", "url", default="duckdb:", show_default=True, help="Where a relation lies.")
@click.option("--select", "names", multiple=True, help="A release of the project. Repeatable.")
@shared
def command(
    source: str | None, url: str, names: tuple[str, ...], directory: Path, unsafe_debug: bool, **_: object
) -> Outcome:
    """Count the distinct values, NULLs and single occurrences of every column. Shows no value.

    \b
    Example: privacy-sql profile --source people.csv
    """
    from privacy_sql.cli.outcome import connected
    from privacy_sql.cli.tables import each_release, named_engine
    from privacy_sql.counted.profiling import profile
    from privacy_sql.project import reading

    whole = Outcome("profile", rows=0)
    tables: dict[str, Any] = {}
    if source is not None:
        with named_engine(url, unsafe_debug=unsafe_debug) as engine:
            tables[source] = profile(engine, source)
    else:
        read = reading.read(directory)

        def ask(plan: Plan) -> None:
            with connected(read, plan, unsafe_debug) as engine:
                tables[plan.name] = profile(engine, plan.table.source)

        each_release(whole, read.selected(names), ask)
    for name, rows in tables.items():
        whole.rows = (whole.rows or 0) + (rows[0]["n_rows"] if rows else 0)
        whole.lines += [f"{name}: {number_of(rows[0]['n_rows'] if rows else 0, 'row')}", *_lines(rows), ""]
    whole.more = {"tables": tables}
    return whole


def _lines(rows: list[dict[str, Any]]) -> list[str]:
    head = f"  {'column':<24}{'kind':<10}{'distinct':>10}{'null':>10}{'single':>10}"
    return [head] + [
        f"  {r['column']:<24}{r['kind']:<10}{r['n_values']:>10}{r['n_nulls']:>10}{r['n_single']:>10}"
        for r in rows
    ]
