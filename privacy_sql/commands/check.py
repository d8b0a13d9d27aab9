"""`check`: is a table safe as it stands?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from privacy_sql.commands import Outcome, connected, explained, public, shared


@click.command()
@click.option("--source", help="A CSV or Parquet file, or a relation of --connect.")
@click.option("--quasi", default="", help="Quasi-identifiers, separated by commas.")
@click.option("--sensitive", default="", help="Sensitive columns, separated by commas.")
@click.option("--require", "requirements", multiple=True, help="For example 'k_anonymity(k=5)'. Repeatable.")
@click.option("--group", help="The column that says which group a row is in.")
@click.option("--identifier", help="The column that says who a row is about.")
@click.option("--values-per-person", type=click.Choice(["one", "set", "multiset"]), default="one")
@click.option("--population", help="A file of the people known to exist.")
@click.option("--connect", "url", default="duckdb:", show_default=True, help="Where a relation lies.")
@click.option("--where", "condition", help="Only the rows for which this SQL expression holds.")
@click.option("--select", "names", multiple=True, help="A release of the project. Repeatable.")
@click.option("--show-values", is_flag=True, help="Name the worst group and its values. INTERNAL.")
@shared
def command(source: str | None, names: tuple[str, ...], directory: Path, **options: Any) -> Outcome:
    """Check a table as it stands, without publishing anything. Exit 0: safe, 1: not safe.

    \b
    Example: privacy-sql check --source people.csv --quasi age,sex --sensitive diagnosis \\
                 --require 'k_anonymity(k=5)' --require 'l_diversity(l=3)'

    Without --source the releases of privacy.yml are checked, each source table as it stands.
    """
    if source is None:
        return _project(directory, names, options)
    return _table(source, options)


def _table(source: str, options: dict[str, Any]) -> Outcome:
    from privacy_sql import criteria
    from privacy_sql.engines import connect
    from privacy_sql.errors import UsageError
    from privacy_sql.table import Table

    if not options["requirements"]:
        hint = "For example --require 'k_anonymity(k=5)'."
        raise UsageError("no_requirement", "nothing is required", hint=hint)
    require = [criteria.read(text) for text in options["requirements"]]
    table = Table(
        source,
        _listed(options["quasi"]),
        tuple(_listed(options["sensitive"])) or None,
        identifier=options["identifier"],
        group=options["group"],
        values_per_person=options["values_per_person"],
        population=options["population"],
        where=options["condition"],
    )
    with connect(options["url"], unsafe_debug=options["unsafe_debug"]) as engine:
        return _judged(engine, table, require, options["show_values"])


def _project(directory: Path, names: tuple[str, ...], options: dict[str, Any]) -> Outcome:
    from privacy_sql import project
    from privacy_sql.errors import first_exit

    read = project.read(directory)
    whole = Outcome("check", safe=True, rows=0, groups=0)
    for plan in read.selected(names):
        with connected(read, plan, options["unsafe_debug"]) as engine:
            part = _judged(engine, plan.table, plan.require, options["show_values"])
        whole.exit = first_exit([whole.exit, part.exit])
        whole.safe = bool(whole.safe and part.safe)
        whole.rows, whole.groups = _sum(whole.rows, part.rows), _sum(whole.groups, part.groups)
        whole.ignored_columns += part.ignored_columns
        whole.verdicts += part.verdicts
        whole.lines += [f"{plan.name}, the source table as it stands", *part.lines, ""]
    return whole


def _judged(engine: Any, table: Any, require: Any, show_values: bool) -> Outcome:
    from privacy_sql.verbs import examine

    seen = examine(engine, table, require)
    lines = [f"{seen.rows} rows, {seen.groups} groups"]
    if seen.ignored:
        lines.append(f"ignored columns: {', '.join(seen.ignored)}")
    lines += [f"warning: {warning}" for warning in seen.warnings]
    return Outcome(
        "check",
        exit=0 if seen.verdicts else 1,
        safe=bool(seen.verdicts),
        rows=seen.rows,
        groups=seen.groups,
        ignored_columns=list(seen.ignored),
        verdicts=[public(verdict, show_values) for verdict in seen.verdicts.values()],
        lines=[*lines, "", *explained(seen.verdicts, show_values)],
        more={"warnings": list(seen.warnings)},
    )


def _listed(text: str) -> list[str]:
    """Names between commas; a name with a comma is written in double quotes."""
    import csv

    return [name for name in next(csv.reader([text], skipinitialspace=True), []) if name]


def _sum(one: int | None, other: int | None) -> int:
    return (one or 0) + (other or 0)
