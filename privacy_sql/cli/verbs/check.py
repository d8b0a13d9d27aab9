"""`check`: is a table safe without changes?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import click

from privacy_sql.cli.outcome import Outcome, connected, explained, public, shared, size
from privacy_sql.cli.tables import (
    EMBEDDED,
    About,
    about_a_table,
    each_release,
    holding,
    in_groups,
    is_named,
    manifest_of_table,
    named_engine,
    named_table,
    refuse_promise,
)

if TYPE_CHECKING:
    from privacy_sql.criteria import Criterion
    from privacy_sql.engines import Engine
    from privacy_sql.project.reading import Plan
    from privacy_sql.table import Table


class CheckOptions(About):
    """The requirements to check, and how much to show."""

    requirements: tuple[str, ...]
    show_values: bool


GROUP = "decide"  # of `--help`
# what to write where somebody takes a limit for an option
INSTEAD = {
    name: f"Limits stand in a requirement: --require '{example}'."
    for name, example in (
        ("--k", "k_anonymity(k=5)"),
        ("--l", "l_diversity(l=3)"),
        ("--t", "t_closeness(t=0.2)"),
        ("--c", "ck_safety(c=0.5, k=2)"),
    )
}


@click.command()
@click.argument("published", nargs=-1, metavar="[MANIFEST]...", type=click.Path(path_type=Path))
@click.option("--require", "requirements", multiple=True, help="For example 'k_anonymity(k=5)'. Repeatable.")
@click.option("--population", help="A file of the people known to exist.")
@click.option("--show-values", is_flag=True, help="Name the worst group and its values. INTERNAL.")
@about_a_table
@shared
def command(directory: Path, published: tuple[Path, ...], **options: Unpack[CheckOptions]) -> Outcome:
    """Check whether a table is safe, without publishing anything. Exit 0: safe, 1: not safe.

    \b
    Example: privacy-sql check --source people.csv --quasi age,sex --sensitive diagnosis \\
                 --require 'k_anonymity(k=5)' --require 'l_diversity(l=3)'

    Without --source, it checks the source table of each release of privacy.yml. Give a MANIFEST or a
    published file to judge a release again from its own bytes by the rules of this version.
    """
    from privacy_sql import criteria
    from privacy_sql.errors import UsageError

    if published:
        return _again(directory, published, options)
    if not is_named(options):
        return _project(directory, options)
    if not options["requirements"]:
        hint = "Add for example --require 'k_anonymity(k=5)'."
        raise UsageError("no_requirement", "there are no requirements", hint=hint)
    in_groups(options)
    require = [criteria.refuse_empty(criteria.read(text), "--require") for text in options["requirements"]]
    with named_engine(options["url"], unsafe_debug=options["unsafe_debug"]) as engine:
        return _judged(engine, named_table(options), require, options["show_values"])


def _again(directory: Path, paths: tuple[Path, ...], options: CheckOptions) -> Outcome:
    """Judge published releases by today's rules, and name what is wrong."""
    from privacy_sql.engines import connect
    from privacy_sql.errors import PrivacySqlError, UsageError, first_exit
    from privacy_sql.publishing import rejudging

    if options["source"] is not None or options["requirements"]:
        hint = "A manifest already names the columns and the requirements."
        raise UsageError("two_tables", "a MANIFEST and --source or --require exclude each other", hint=hint)
    whole, found, exits = Outcome("check"), [], list[int]()
    for path in (manifest_of_table(path, directory) for path in paths):
        try:
            debug = options["unsafe_debug"]
            there = holding(path, options["url"], directory, debug)
            with there or connect(EMBEDDED, unsafe_debug=debug) as engine:
                seen = rejudging.rejudge(engine, path)
                judged = [public(verdict, options["show_values"]) for verdict in seen.verdicts.values()]
                lines = ["", *explained(seen.verdicts, options["show_values"])] if len(seen.verdicts) else []
        except PrivacySqlError as caught:
            problem = caught
            if caught.code == "no_manifest" and path.is_file():
                hint = "To check a table that is not a release, name it with --source."
                problem = UsageError("no_manifest", caught.message, hint=hint)
            whole.problems.append(problem)
            faults: tuple[PrivacySqlError, ...] = problem.parts
        else:
            faults = seen.faults
            baseline = seen.baseline
            guesses = baseline.sentences(seen.require) if baseline else []
            whole.verdicts += judged
            whole.rows, whole.groups = _sum(whole.rows, seen.rows), _sum(whole.groups, seen.groups)
            found.append(
                {
                    "name": seen.name,
                    "safe": seen.safe,
                    "baseline": baseline.to_json() if baseline else None,
                    "warnings": list(seen.warnings),
                }
            )
            guesses += [f"warning: {warning}" for warning in seen.warnings]
            whole.lines += [f"{seen.name}, as published", size(seen), *guesses, *lines]
            whole.lines.append("")
        exits += [fault.exit for fault in faults]
        whole.errors += [fault.to_json() for fault in faults]
    whole.exit, whole.safe = first_exit([0, *exits]), rejudging.safe_of(exits)
    whole.more = {"releases": found}
    return whole


def _project(directory: Path, options: CheckOptions) -> Outcome:
    from privacy_sql.errors import first_exit
    from privacy_sql.project import reading

    read = reading.read(directory)
    plans = read.selected(options["names"])
    whole = Outcome("check", safe=True)
    told: list[dict[str, Any]] = []

    def ask(plan: Plan) -> None:
        refuse_promise(plan, "check")
        with connected(read, plan, options["unsafe_debug"]) as engine:
            part = _judged(engine, plan.table, plan.require, options["show_values"], directory)
        whole.exit = first_exit([whole.exit, part.exit])
        whole.safe = bool(whole.safe and part.safe)
        whole.rows, whole.groups = _sum(whole.rows, part.rows), _sum(whole.groups, part.groups)
        whole.ignored_columns += part.ignored_columns
        whole.verdicts += part.verdicts
        whole.lines += [f"{plan.name}, the source table without changes", *part.lines, ""]
        told.append({"name": plan.name, **part.more})

    each_release(whole, plans, ask)
    if whole.errors and whole.safe:
        whole.safe = None  # nobody vouches for what was not judged
    # what is said of one table, or of each of several
    whole.more = told[0] if len(plans) == len(told) == 1 else {"releases": told}
    return whole


def _judged(
    engine: Engine, table: Table, require: Sequence[Criterion], show_values: bool, project: Path | None = None
) -> Outcome:
    from privacy_sql.api import examine

    seen = examine(engine, table, require, project)
    lines = [size(seen), *seen.baseline.sentences(require)]
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
        more={"warnings": list(seen.warnings), "baseline": seen.baseline.to_json()},
    )


def _sum(one: int | None, other: int | None) -> int | None:
    """Both, of which one may not have been counted."""
    return other if one is None else one + (other or 0)
