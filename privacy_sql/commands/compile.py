"""`compile`: the SQL of a release, to read and to paste."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from privacy_sql.commands import Outcome, shared


@click.command()
@click.argument("names", nargs=-1)
@click.option(
    "--dialect", default="duckdb", show_default=True, help="duckdb, postgres, spark, snowflake, ..."
)
@click.option("--duckdb-macros", is_flag=True, help="Print CREATE MACROs for a DuckDB shell instead.")
@shared
def command(names: tuple[str, ...], dialect: str, duckdb_macros: bool, directory: Path, **_: Any) -> Outcome:
    """Print commented, standalone SQL: what is published, and the evidence of every requirement.

    \b
    Example: privacy-sql compile people --dialect postgres
    """
    if duckdb_macros:
        from privacy_sql.query import duckdb_macros as macros

        text = macros()
        return Outcome("compile", lines=[text], more={"compiled": {"macros": text}})
    from privacy_sql import compiling, project
    from privacy_sql.criteria import one_of

    one_of(dialect, compiling.DIALECTS, "compile", "--dialect")
    compiled: dict[str, str] = {}
    for plan in project.read(directory).selected(names):
        marginals = _marginals(plan)
        if marginals is None:
            statements = compiling.compiled(plan.table, _levels(directory, plan), plan.require)
        else:
            statements = compiling.compiled_marginals(plan.table, marginals)
        compiled[plan.name] = "\n\n".join(statement.text(dialect) for statement in statements)
    return Outcome("compile", lines=["\n\n".join(compiled.values())], more={"compiled": compiled})


def _levels(directory: Path, plan: Any) -> dict[str, int]:
    """The levels the plan names, else those the last run chose."""
    from privacy_sql.errors import UsageError

    named = getattr(plan.method, "levels", None)
    if isinstance(named, dict):
        return named
    chosen = _last_choice(plan, "levels")
    if not isinstance(chosen, dict):
        hint = f"Run it first: privacy-sql run --select {plan.name}."
        raise UsageError("no_levels", f"{plan.name} names no levels to compile", hint=hint)
    return chosen


def _marginals(plan: Any) -> list[Any] | None:
    """The marginals the plan names, else those the last run chose; None for other methods."""
    named = getattr(plan.method, "collection", None)
    chosen = named or _last_choice(plan, "marginals")
    return list(chosen) if chosen is not None else None


def _last_choice(plan: Any, what: str) -> Any:
    from privacy_sql import manifest

    if plan.output is None or plan.output.file is None:
        return None
    place = manifest.manifest_path(plan.output.file)
    return manifest.read(place)["choice"].get(what) if place.is_file() else None
