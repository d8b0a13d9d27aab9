"""The table of a verb: named on the command line, or the releases of a project."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, NotRequired, TypeVar

import click

from privacy_sql.cli.outcome import Common, Outcome, connected
from privacy_sql.errors import UsageError
from privacy_sql.manifest import SUFFIX

if TYPE_CHECKING:
    from privacy_sql.engines import Engine
    from privacy_sql.manifest import PerPerson
    from privacy_sql.project.reading import Plan
    from privacy_sql.release import Release
    from privacy_sql.table import Table

EMBEDDED = "duckdb:"  # an engine in memory, without tables of a user

F = TypeVar("F", bound=Callable[..., Any])


class About(Common):
    """The table, from the options of `about_a_table`."""

    source: str | None
    quasi: str
    sensitive: str
    group: str | None
    identifier: str | None
    household: str | None
    values_per_person: PerPerson
    population: NotRequired[str | None]
    weight: NotRequired[str | None]
    url: str
    condition: str | None
    names: tuple[str, ...]


def about_a_table(verb: F) -> F:
    """The options that name a table."""
    per_person = click.Choice(["one", "set", "multiset"])
    for option in (
        click.option("--source", help="A CSV or Parquet file, or a relation of --connect."),
        click.option("--quasi", default="", help="Quasi-identifiers, separated by commas."),
        click.option("--sensitive", default="", help="Sensitive columns, separated by commas."),
        click.option("--group", help="The column of group numbers."),
        click.option(
            "--identifier", help="The column that identifies the person of a row; it is never published."
        ),
        click.option("--household", help="The column that identifies households."),
        click.option("--values-per-person", type=per_person, default="one"),
        click.option(
            "--connect", "url", default=EMBEDDED, show_default=True, help="The database of the relation."
        ),
        click.option("--where", "condition", help="Use only the rows that meet this SQL expression."),
        click.option("--select", "names", multiple=True, help="A release of the project. Repeatable."),
    ):
        verb = option(verb)
    return verb


OF_A_TABLE = {
    **{
        name: f"--{name}"
        for name in ("quasi", "sensitive", "group", "identifier", "household", "population", "weight")
    },
    "condition": "--where",
    "requirements": "--require",
}


def is_named(options: About) -> bool:
    """Whether the options name a table or releases of the project; never both."""
    if options["source"] is not None:
        if options["names"]:
            hint = "Remove --source to use a release of the project."
            raise UsageError("two_tables", "--select and --source exclude each other", hint=hint)
        return True
    given: Mapping[str, object] = options
    useless = [word for name, word in OF_A_TABLE.items() if given.get(name)]
    if useless:
        hint = "Name the table with --source; without it, privacy.yml defines the tables."
        raise UsageError("no_source", f"{', '.join(useless)} needs --source", hint=hint)
    return False


def in_groups(options: About) -> None:
    """Refuse a table without quasi-identifiers: in one group of all people nobody seems to be at risk."""
    if not options["quasi"] and not options["group"]:
        hint = "Name what somebody may know about a person, for example --quasi age,sex,zip."
        raise UsageError(
            "no_quasi", "no quasi-identifier is named, so everybody would be in one group", hint=hint
        )


def named_table(options: About) -> Table:
    """The table in the options."""
    from privacy_sql.engines._sources import parquet_files
    from privacy_sql.table import Table

    source: str | Path | None = options["source"]
    # a folder may have the name of a relation; an embedded engine has no relations
    if source is not None and options["url"] == EMBEDDED and parquet_files(Path(source)):
        source = Path(source)
    return Table(
        source,
        listed(options["quasi"]),
        tuple(listed(options["sensitive"])) or None,
        identifier=options["identifier"],
        household=options["household"],
        group=options["group"],
        values_per_person=options["values_per_person"],
        population=options.get("population"),
        weight=options.get("weight"),
        where=options["condition"],
    )


def refuse_promise(plan: Plan, asked: str) -> None:
    """Refuse questions about the rows of a release without rows."""
    from privacy_sql.errors import UsageError

    if plan.method is not None and plan.method.promises:
        raise UsageError(
            "no_groups",
            f"{plan.method.name} publishes noisy counts instead of rows, so you cannot {asked}",
            where=plan.name,
            hint="`privacy-sql run --dry-run` shows its promise, `privacy-sql budget show` what was spent.",
        )


def each_table(
    whole: Outcome,
    directory: Path,
    options: About,
    ask: Callable[[str, Engine, Table | Release], None],
    *,
    published: bool = True,
    grouped: bool = True,
) -> None:
    """Call a function with the named table, or with the table of each selected release, and its engine.

    A release's table is unchanged or, if `published`, as the release would publish it.
    """
    from privacy_sql import api
    from privacy_sql.project import reading

    if is_named(options):
        table = named_table(options)
        with named_engine(options["url"], unsafe_debug=options["unsafe_debug"]) as engine:
            if grouped:
                in_groups(options)
            ask(table.name, engine, table)
        return
    read = reading.read(directory)

    def ask_of(plan: Plan) -> None:
        with connected(read, plan, options["unsafe_debug"]) as engine:
            if published and plan.method is not None:
                release = api.publish(engine, plan.table, plan.require, plan.method)
                ask(plan.name, engine, replace(release, determination=plan.determination))
            else:
                ask(plan.name, engine, plan.table)

    each_release(whole, read.selected(options["names"]), ask_of)


def each_release(whole: Outcome, plans: Sequence[Plan], ask: Callable[[Plan], None]) -> None:
    """Call a function for one release after the other; an error of one does not affect the others.

    An interrupt ends it, and earlier answers are still shown.
    """
    from privacy_sql.display import progress
    from privacy_sql.errors import Interrupted, as_error, interrupted

    for number, plan in enumerate(plans):
        if len(plans) > 1:
            progress.report("releases", number, len(plans))
        try:
            ask(plan)
        except KeyboardInterrupt as problem:
            whole.add(interrupted(problem))
            return
        except Exception as problem:
            failure = as_error(problem)
            if failure.exit == Interrupted.exit:
                whole.add(failure)
                return
            if len(plans) == 1:
                raise
            failure.where = failure.where or plan.name
            whole.add(failure)
            whole.lines += [f"{plan.name}: no answer", ""]


def named_engine(url: str, *, unsafe_debug: bool) -> Engine:
    """The engine of `--connect`; a DuckDB database must exist, because it is read."""
    from privacy_sql.engines import connect

    place = url.removeprefix(EMBEDDED)
    if url.startswith(EMBEDDED) and place not in ("", ":memory:") and not Path(place).is_file():
        raise UsageError(
            "no_database", f"the database {place} does not exist", hint="Check the path after duckdb:."
        )
    return connect(url, unsafe_debug=unsafe_debug)


def holding(path: Path, url: str | None, directory: Path, unsafe_debug: bool) -> Engine | None:
    """The engine with the tables of a manifest, as named or from the project; None for files."""
    from privacy_sql.project import reading
    from privacy_sql.publishing import verifying

    if url is not None and url != EMBEDDED:
        return named_engine(url, unsafe_debug=unsafe_debug)
    place, content = verifying.found(path)
    if not content.tables:
        return None
    read = reading.read(directory) if (directory / reading.FILE).is_file() else None
    if read is None or content.release not in read.plans:
        hint = "Name its database: --connect duckdb:file.db, or --project with its connection."
        raise UsageError("no_engine", f"{place.name} describes a table", hint=hint)
    return connected(read, read.plans[content.release], unsafe_debug)


def each_published(
    paths: Sequence[Path],
    directory: Path,
    options: About,
    ask: Callable[[str, Engine, Path], None],
) -> None:
    """Call a function for each published file or table by its manifest, with an engine that can read it."""
    from privacy_sql.engines import connect

    given: Mapping[str, object] = options
    useless = [word for name, word in OF_A_TABLE.items() if given.get(name)]
    if options["source"] is not None or options["names"] or useless:
        named = [
            word
            for word, is_there in (("--source", options["source"]), ("--select", options["names"]))
            if is_there
        ]
        hint = "A manifest already says which columns are published, and in which roles."
        told = f"a MANIFEST and {', '.join([*named, *useless])} exclude each other"
        raise UsageError("two_tables", told, hint=hint)
    for path in (manifest_of_table(path, directory) for path in paths):
        debug = options["unsafe_debug"]
        there = holding(path, options["url"], directory, debug)
        with there or connect(EMBEDDED, unsafe_debug=debug) as engine:
            ask(path.name.removesuffix(SUFFIX), engine, path)


def manifest_of_table(path: Path, directory: Path) -> Path:
    """The manifest of a table that the project published under that name, or the path itself."""
    from privacy_sql import manifest
    from privacy_sql.project import reading

    taken = path.exists() or manifest.manifest_path(path).is_file() or str(path).endswith(manifest.SUFFIX)
    if taken or not (directory / reading.FILE).is_file():
        return path
    for plan in reading.read(directory).plans.values():
        place = directory / "target" / f"{plan.name}{manifest.SUFFIX}"
        if plan.output is None or plan.output.relation is None or not place.is_file():
            continue
        tables = [part.relation for part in manifest.read(place).tables]
        if str(path) in (plan.output.relation, *tables):
            return place
    return path


def listed(text: str) -> list[str]:
    """Names between commas; put a name that contains a comma in double quotes.

    >>> listed('age, "a, b"')
    ['age', 'a, b']
    """
    try:
        return [name for name in next(csv.reader([text], skipinitialspace=True), []) if name]
    except csv.Error:
        raise UsageError("bad_name", "the list of names has a line break outside quotes") from None


def exact_number(text: str, where: str) -> Fraction:
    """A number as the exact fraction of its text.

    >>> exact_number("0.05", "--max-exposed")
    Fraction(1, 20)
    """
    from privacy_sql.parameters import number_or_refuse

    return number_or_refuse(text, UsageError("bad_number", "expected a number", where=where))
