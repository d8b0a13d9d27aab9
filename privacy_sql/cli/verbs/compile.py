"""`compile`: the SQL of a release, to read and to paste."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from privacy_sql.cli.outcome import Outcome, shared
from privacy_sql.cli.tables import refuse_promise

if TYPE_CHECKING:
    from privacy_sql.manifest import Manifest
    from privacy_sql.project.reading import Plan
    from privacy_sql.query.statements import Statement
    from privacy_sql.table import Table


GROUP = "decide"  # of `--help`


@click.command()
@click.argument("names", nargs=-1)
@click.option("--select", multiple=True, help="A release, as in NAMES. Repeatable; default all.")
@click.option(
    "--dialect", default="duckdb", show_default=True, help="duckdb, postgres, spark, snowflake, ..."
)
@click.option("--duckdb-macros", is_flag=True, help="Print CREATE MACROs for a DuckDB shell instead.")
@click.option(
    "--dbt", is_flag=True, help="Write the dbt models and tests of the last published release instead."
)
@click.option(
    "--into", type=click.Path(path_type=Path), help="With --dbt: a folder for the files; default: print them."
)
@click.option("--dry-run", is_flag=True, help="With --into: say what would be written.")
@click.option(
    "--steps",
    is_flag=True,
    help="Do a dry run, and print every statement with the sizes of what it read and made.",
)
@shared
def command(
    names: tuple[str, ...],
    select: tuple[str, ...],
    dialect: str,
    duckdb_macros: bool,
    dbt: bool,
    into: Path | None,
    dry_run: bool,
    steps: bool,
    directory: Path,
    unsafe_debug: bool,
    **_: object,
) -> Outcome:
    """Print the SQL of a release: the published rows, and the evidence.

    With --steps, the release is chosen, judged, written to a hidden place, audited and removed again. Nothing
    is published, registered or charged, and no value of a row is printed.

    \b
    Example: privacy-sql compile people --dialect postgres
             privacy-sql compile people --dbt --into models
             privacy-sql compile people --steps
    """
    from privacy_sql.errors import UsageError

    names = (*names, *select)
    if steps:
        beside = {"--dialect": dialect != "duckdb", "--duckdb-macros": duckdb_macros, "--dbt": dbt}
        if wrong := [option for option, value in {**beside, "--into": into}.items() if value]:
            hint = "It prints what runs, in the dialect of the engine that runs it."
            raise UsageError("steps_alone", f"--steps and {wrong[0]} exclude each other", hint=hint)
        return _steps(names, directory, unsafe_debug)
    if dbt:
        return _dbt(names, directory, into, dry_run)
    if into is not None:
        hint = "Other SQL is printed; redirect it to a file with >."
        raise UsageError("no_dbt", "--into needs --dbt", hint=hint)
    if duckdb_macros:
        from privacy_sql.query.template import duckdb_macros as macros

        text = macros()
        return Outcome("compile", lines=[text], more={"compiled": {"macros": text}})
    from privacy_sql.criteria import one_of
    from privacy_sql.export import dbt as guarding
    from privacy_sql.export import standalone
    from privacy_sql.project import reading

    one_of(dialect, standalone.DIALECTS, "compile", "--dialect")
    compiled: dict[str, str] = {}
    for plan in reading.read(directory).selected(names):
        refuse_promise(plan, "compile it, because SQL would show the rows themselves")
        ran = _last_run(directory, plan)
        # the marginals of the plan, or those that the last run chose; None for other methods
        named = plan.method.named_marginals if plan.method else None
        marginals: Sequence[Any] | None = named
        if ran and not named:
            marginals = ran.choice.get("marginals")
        table = guarding.as_published(plan.table, ran) if ran else plan.table
        if marginals is None:
            levels = _levels(plan, ran)
            statements = standalone.compiled(table, levels, plan.require, _leave_out(table, plan))
        else:
            statements = standalone.compiled_marginals(table, list(marginals))
        compiled[plan.name] = "\n\n".join(statement.text(dialect) for statement in statements)
    return Outcome("compile", lines=["\n\n".join(compiled.values())], more={"compiled": compiled})


def _steps(names: tuple[str, ...], directory: Path, unsafe_debug: bool) -> Outcome:
    """Every statement of a run of each release, in order."""
    from privacy_sql.cli.outcome import connected
    from privacy_sql.errors import first_exit
    from privacy_sql.project import reading, running
    from privacy_sql.query import statements

    project = reading.read(directory)
    found: dict[str, list[dict[str, Any]]] = {}
    lines, results = [], []
    for plan in project.selected(names):
        # the names of columns and tables in the project file
        table, output = plan.table, plan.output
        places = (table.source, table.population, output.relation if output else None)
        own = {part for place in places if isinstance(place, str) for part in place.split(".")}
        with statements.listening({*table.roles, *own}, table.where) as heard:
            results += running.run_project(
                project,
                [plan],
                lambda plan: connected(project, plan, unsafe_debug),
                overwrite=True,
                dry_run=True,
                dry_write=True,
            )
        found[plan.name] = [
            {"number": number, **vars(one), "seconds": round(one.seconds, 6)}
            for number, one in enumerate(heard, start=1)
        ]
        lines += _told(plan.name, heard, results[-1].exit)
    return Outcome(
        "compile",
        exit=first_exit(result.exit for result in results),
        lines=lines,
        errors=[error for result in results for error in result.errors],
        problems=[result.problem for result in results if result.problem is not None],
        more={"steps": found},
    )


def _told(name: str, heard: Sequence[Statement], exit: int) -> list[str]:
    """The statements under the names of their steps."""
    from privacy_sql.errors import number_of

    lines = [f"-- {name}: INTERNAL, with exact sizes. A run would execute this; nothing was published.", ""]
    step = ""
    for number, one in enumerate(heard, start=1):
        if one.step and one.step != step:
            step = one.step
            lines += [f"-- STEP {step}", ""]
        read = ", ".join(f"{relation} ({number_of(rows, 'row')})" for relation, rows in one.reads.items())
        size = "" if one.rows is None else number_of(one.rows, "row")
        made = f"makes {one.made} ({size})" if one.made else f"returns {size}" if size else ""
        sizes = "; ".join(part for part in (f"reads {read}" if read else "", made) if part)
        lines += [f"-- {number}. {one.name} on {one.dialect}, {one.seconds:.3f} s{sizes and ': '}{sizes}"]
        lines += [f"{one.sql};", ""]
    if exit:
        lines += [f"-- {name}: stopped here; a run would exit with {exit}"]
    return lines


def _dbt(names: tuple[str, ...], directory: Path, into: Path | None, dry_run: bool) -> Outcome:
    """The dbt files of each release as it was last published."""
    from privacy_sql.errors import UsageError
    from privacy_sql.export import dbt as guarding
    from privacy_sql.project import reading

    found: dict[str, str] = {}
    for plan in reading.read(directory).selected(names):
        ran = _last_run(directory, plan)
        if ran is None:
            hint = f"Run it first: privacy-sql run --select {plan.name}."
            raise UsageError("no_manifest", f"{plan.name} has not been published", hint=hint)
        found |= guarding.files(plan.name, plan.table, plan.require, ran)
    if into is None:
        lines = [
            f"-- {name}\n{text}" if name.endswith("sql") else f"# {name}\n{text}"
            for name, text in found.items()
        ]
    else:
        verb = "would write" if dry_run else "wrote      "
        lines = [f"{verb} {path}" for path in _written(found, into, dry_run)]
    return Outcome("compile", lines=lines, more={"compiled": found})


def _written(found: Mapping[str, str], folder: Path, dry_run: bool) -> list[Path]:
    """Write new files, without replacing any that may have been edited."""
    import os

    from privacy_sql import files
    from privacy_sql.errors import UsageError

    files.refuse_no_folder(folder, "--into")
    taken = [name for name in found if os.path.lexists(folder / name)]
    if taken:
        raise UsageError("target_exists", f"{taken[0]} exists", hint="Remove it, or print without --into.")
    for name, text in ({} if dry_run else found).items():
        try:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            files.write_synced(folder / name, text.encode())  # never overwrite a file created meanwhile
        except OSError as problem:
            raise files.unwritable(folder, problem) from None
    return [folder / name for name in found]


def _last_run(directory: Path, plan: Plan) -> Manifest | None:
    from privacy_sql import manifest

    place = plan.manifest(directory)
    return manifest.read(place) if plan.output and place.is_file() else None


def _levels(plan: Plan, ran: Manifest | None) -> dict[str, int]:
    """The levels of the plan, or those that the last run of the same project chose."""
    from privacy_sql.errors import UsageError
    from privacy_sql.export import dbt as guarding

    named = plan.method.named_levels if plan.method else None
    if named is not None:
        return dict(named)
    if not ran:
        hint = f"Run it first: privacy-sql run --select {plan.name}."
        raise UsageError("no_levels", f"{plan.name} has no levels to compile", hint=hint)
    chosen = ran.choice.get("levels")
    if not isinstance(chosen, dict):
        hint = f"`privacy-sql compile {plan.name} --steps` prints every statement of a run."
        why = f"{plan.name} is published by {ran.method}, not at one level per column"
        raise UsageError("no_levels", why, hint=hint)
    guarding.refuse_changed(guarding.as_published(plan.table, ran), ran)
    return chosen


def _leave_out(table: Table, plan: Plan) -> Sequence[tuple[str, Mapping[str, object]]] | None:
    """The requirements whose failing groups the method leaves out; empty if it may not leave out any."""
    from privacy_sql.export import dbt as guarding

    if plan.method is None or not plan.method.allowed:
        return ()
    found = guarding.leave_out(table, plan.require)
    return found and [
        (name, {key: str(value) if isinstance(value, float) else value for key, value in own.items()})
        for name, own in found
    ]
