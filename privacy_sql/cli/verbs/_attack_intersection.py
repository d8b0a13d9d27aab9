"""`attack intersection`: what several releases together reveal about the people they share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import click

from privacy_sql.cli.outcome import Common, Outcome, shared
from privacy_sql.cli.tables import exact_number, listed, named_engine
from privacy_sql.display.rounding import decimals
from privacy_sql.errors import people

if TYPE_CHECKING:
    from privacy_sql.attacks.intersection_summary import Findings
    from privacy_sql.engines import Engine
    from privacy_sql.hierarchies import Hierarchy
    from privacy_sql.table import Table


class IntersectionOptions(Common):
    """The people, their known columns, and how much to show."""

    people: str
    known: str
    identifier: str | None
    levels: tuple[str, ...]
    max_exposed: str | None
    at: str
    url: str
    show_values: bool


@click.command()
@click.argument("releases", nargs=-1, required=True)
@click.option("--people", required=True, help="A file or relation of people known to be in all releases.")
@click.option(
    "--known",
    default="",
    help="Known columns of these people, separated by commas; default all.",
)
@click.option("--identifier", help="The column that identifies a person.")
@click.option("--level", "levels", multiple=True, help="A confidence, such as 1/2. Repeatable.")
@click.option("--max-exposed", help="Exit 1 if a larger share of people than this is exposed at --at.")
@click.option("--at", default="1", show_default=True, help="The confidence for --max-exposed.")
@click.option("--connect", "url", default="duckdb:", show_default=True, help="The database of relations.")
@click.option("--show-values", is_flag=True, help="List everybody with their possible values. INTERNAL.")
@shared
def command(releases: tuple[str, ...], directory: Path, **options: Unpack[IntersectionOptions]) -> Outcome:
    """Combine what RELEASES say about people who are in all of them (Ganta et al. 2008).

    A release is a manifest, a description file, or the name of a registered release.

    \b
    Example: privacy-sql attack intersection out/adult.csv.manifest.json hospital_b.yml \\
                 --people known.csv --max-exposed 0.05
    """
    from privacy_sql.attacks.intersection import intersection_attack
    from privacy_sql.errors import DataError
    from privacy_sql.kernels.composition.intersection import DEFAULT_LEVELS

    described = _described(releases, directory)
    asked = [exact_number(level, "--level") for level in options["levels"]]
    at = exact_number(options["at"], "--at")
    # measure the confidence of --max-exposed together with the others
    levels = list(dict.fromkeys([*(asked or DEFAULT_LEVELS), at]))
    with named_engine(options["url"], unsafe_debug=options["unsafe_debug"]) as engine:
        table = _people(engine, described, directory, options)
        found = intersection_attack(engine, described, table, levels)
        # a release in which nobody was found gives no answer
        nowhere = [each.name for each, share in zip(found.releases, found.located, strict=True) if not share]
        if nowhere:
            raise DataError(
                "nobody_located",
                f"no person matches any group of {', '.join(nowhere)}, so nobody can be judged",
                where="attack",
                hint="Check that its columns use the same coding; a description can map names and labels.",
            )
        outcome = _outcome(found, at, options)
        _record(
            releases,
            directory,
            {**outcome.more["attack"], "releases": [each.name for each in found.releases]},
        )
        if options["show_values"]:
            people = found.people()
            outcome.more = {**outcome.more, "people": [_plain(person) for person in people]}
            outcome.lines = ["INTERNAL: names people and values. Do not pass on.", "", *outcome.lines]
            for person in people:
                left = ["not found"] if person["set"] is None else map(str, person["set"])
                outcome.lines.append(f"{person.id}: {', '.join(left) or 'contradicted'}")
    return outcome


def _record(releases: tuple[str, ...], directory: Path, found: dict[str, Any]) -> None:
    """Store the attack with every attacked release that this project's last run published."""
    from privacy_sql.project import reading
    from privacy_sql.reporting import records

    if not (directory / reading.FILE).is_file():
        return
    attacked = {Path(each).resolve() for each in releases}
    for name in reading.read(directory).plans:
        run = (records.read(directory, name) or {}).get("run", {})
        own = run.get("manifest")
        if own and (name in releases or (directory / own).resolve() in attacked):
            # the page counts everybody who is exposed, even if a release has no group for them
            records.add(directory, name, "attack_intersection", {**found, "PVP": found["exposed"]})


def _described(releases: tuple[str, ...], directory: Path) -> list[Any]:
    from privacy_sql.history.described import describe
    from privacy_sql.history.register import FILE_NAME, Register, as_published

    register = Register(directory / FILE_NAME)
    named = [each for each in releases if not Path(each).suffix]
    files = register.find(named) if named else {}
    # every version of a registered release is public
    found = [replace(describe(place, 0), name=called) for called, place in files.items()]
    others = [each for each in releases if each not in named]
    for number, each in enumerate(others, len(found) + 1):
        found += as_published(register, each, number)
    return found


def _people(
    engine: Engine, described: list[Any], directory: Path, options: IntersectionOptions
) -> Table | list[Mapping[str, Any]]:
    from privacy_sql.hierarchies import AsIs
    from privacy_sql.project import reading
    from privacy_sql.table import Table

    source = options["people"]
    files = [Path(source)] if Path(source).is_file() else []
    session = engine.session(files)
    columns = list(session.columns(session.source(source)))
    published = dict.fromkeys(column for each in described for column in each.columns)
    known = listed(options["known"]) or [column for column in published if column in columns]
    kinds: dict[str, Hierarchy] = {}
    if (directory / reading.FILE).is_file():
        # of several hierarchies of the project for a column the one that was published
        shown = {how.checksum for each in described for how in each.columns.values()}
        plans = reading.read(directory).plans.values()
        own = [(column, kind) for plan in plans for column, kind in plan.table.hierarchies.items()]
        kinds = dict(sorted(own, key=lambda each: each[1].checksum() in shown))
    quasi = {column: kinds.get(column, AsIs()) for column in known}
    return Table(source, quasi, identifier=options["identifier"])


def _outcome(found: Findings, at: Fraction, options: IntersectionOptions) -> Outcome:
    summary = found.summary
    exposed = summary.exposed[str(at)] / 100
    given = options["max_exposed"]
    limit = None if given is None else exact_number(given, "--max-exposed")
    over = limit is not None and exposed > limit
    lines = [
        f"people      {summary.P}: {summary.n_ok} found in every release,"
        f" {summary.n_unlocated} not{' and count as exposed' if summary.n_unlocated else ''},"
        f" {summary.n_empty} contradicted, {summary.n_ambiguous} in several groups",
        f"vulnerable  {people(summary.VP)} losing anonymity because of the releases together",
        f"perfect     {_share(summary.perfect)} known for certain,"
        f" {_share(summary.perfect_new)} only by combining releases",
    ]
    lines += [f"at {level:<9}{_share(share)}" for level, share in summary.exposed.items()]
    for number, each in enumerate(found.releases):
        size, anonymity = _number(summary.avg_group_size[number]), _number(summary.avg_EA[number])
        lines.append(
            f"{each.name}: smallest group {summary.smallest_group[number]}, average group {size},"
            f" effective anonymity {anonymity}"
        )
    lines.append(f"together: effective anonymity {_number(summary.avg_EA_post)}")
    lines += [f"warning: {warning}" for warning in found.warnings]
    if over:
        lines.append(f"EXPOSED: {_share(100 * exposed)} is more than --max-exposed {given}")
    more = {"attack": _plain(summary), "warnings": found.warnings}
    return Outcome("attack", exit=int(over), safe=None if limit is None else not over, lines=lines, more=more)


def _plain(value: object) -> object:
    """Fractions as text, everything else unchanged."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return str(value) if isinstance(value, Fraction) else value


def _share(percent: Fraction) -> str:
    return f"{decimals(percent, 1)} %"


def _number(value: Fraction | None) -> str:
    return "none" if value is None else decimals(value, 2)
