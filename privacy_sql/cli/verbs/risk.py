"""`risk`: how likely it is that somebody is found again, in the terms of regulators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import click

from privacy_sql.cli.outcome import Outcome, shared
from privacy_sql.cli.tables import About, about_a_table, each_published, each_table
from privacy_sql.display.rounding import percent
from privacy_sql.errors import UsageError, number_of, people

if TYPE_CHECKING:
    from privacy_sql.engines import Engine
    from privacy_sql.release import Release
    from privacy_sql.table import Table


GROUP = "decide"  # of `--help`


@click.command()
@click.argument("published", nargs=-1, metavar="[MANIFEST]...", type=click.Path(path_type=Path))
@click.option(
    "--threshold",
    "thresholds",
    multiple=True,
    help="Count people with a higher risk than this. Repeatable.",
)
@click.option("--population", help="A file of the people known to exist, for a journalist and a marketer.")
@click.option("--weight", help="The column of survey weights, for estimates.")
@click.option("--safe-harbor", is_flag=True, help="List what looks like one of HIPAA's eighteen identifiers.")
@click.option(
    "--areas", type=click.Path(path_type=Path), help="With --safe-harbor: a file with zip3 and people."
)
@about_a_table
@shared
def command(
    published: tuple[Path, ...],
    thresholds: tuple[str, ...],
    safe_harbor: bool,
    areas: Path | None,
    directory: Path,
    **options: Unpack[About],
) -> Outcome:
    """Show the risk of re-identification, as regulators measure it.

    \b
    Example: privacy-sql risk --source people.csv --quasi age,sex --threshold 0.09
             privacy-sql risk --source people.csv --safe-harbor

    Without --source, it measures every release of privacy.yml as it would be published; with a MANIFEST or a
    published file, the published rows. All numbers are exact unless called an estimate, and no threshold is a
    verdict; require `reidentification_risk` for that.
    """
    from privacy_sql.publishing.risk import THRESHOLDS, of_published, risk

    if safe_harbor:
        return _scanned(published, areas, directory, options)
    if areas is not None:
        raise UsageError("no_scan", "--areas needs --safe-harbor", hint="Add --safe-harbor.")
    whole = Outcome("risk", rows=0, groups=0)
    shown = []

    def ask(name: str, engine: Engine, subject: Table | Release | Path) -> None:
        asked = thresholds or THRESHOLDS
        if isinstance(subject, Path):
            found = of_published(engine, subject, asked)
        else:
            found = risk(engine, subject, thresholds=asked)
        whole.rows = (whole.rows or 0) + found["people"]
        whole.groups = (whole.groups or 0) + found["groups"]
        whole.lines += [*_lines(name, found), ""]
        shown.append({"name": name, **found})

    if published:
        each_published(published, directory, options, ask)
    else:
        each_table(whole, directory, options, ask)
    whole.more = {"risks": shown}
    return whole


def _scanned(published: Sequence[Path], areas: Path | None, directory: Path, options: About) -> Outcome:
    """What looks like an identifier in the published columns; not a verdict, so the exit code is 0."""
    from privacy_sql.publishing.rejudging import published_rows
    from privacy_sql.studies.safe_harbor import safe_harbor

    whole = Outcome("risk", rows=0)
    scans = []

    def ask(name: str, engine: Engine, subject: Table | Release | Path) -> None:
        if isinstance(subject, Path):
            content, table = published_rows(engine, subject)
            if table is None:
                hint = "Name its file with --source."
                raise UsageError("no_rows", f"{content.release} is not a table of people", hint=hint)
            subject = table
        found = safe_harbor(engine, subject, areas=areas)
        whole.rows = (whole.rows or 0) + found.rows
        whole.lines += [*found.sentences(), ""]
        scans.append({**found.to_json(), "name": name})

    if published:
        each_published(published, directory, options, ask)
    else:
        each_table(whole, directory, options, ask, grouped=False)
    whole.more = {"safe_harbor": scans}
    return whole


def _lines(name: str, found: Mapping[str, Any]) -> list[str]:
    gone = f", {percent(Fraction(found['suppressed']))} left out" if "suppressed" in found else ""
    if "suppressed_at_least" in found and Fraction(found["suppressed_at_least"]):
        gone = f", at least {percent(Fraction(found['suppressed_at_least']))} left out"
    lines = [f"{name}: {people(found['people'])} in {number_of(found['groups'], 'group')}{gone}"]
    lines += _reader("prosecutor", found, found["prosecutor_max"], found["prosecutor_average"], "above")
    if "known" in found:
        known = found["known"]
        whose = "prosecutor who also knows the insensitive columns"
        lines += _reader(whose, known, known["prosecutor_max"], known["prosecutor_average"], "above")
    if "journalist_max" in found:
        worst, mean = found["journalist_max"], found["journalist_average"]
        lines += _reader("journalist", found, worst, mean, "journalist_above")
        lines.append(f"  marketer    on average {_share(found['marketer'])}")
    asked = ", ".join(f"{each} needs {n} people" for each, n in found["asks_for"].items())
    return [*lines, f"  {asked}", *_estimated(found.get("estimates"))]


def _estimated(found: Mapping[str, Any] | None) -> list[str]:
    """What weights say about the population; no requirement can use it."""
    if found is None:
        return []
    if "missing" in found:
        return [f"  no estimate from weights: {found['missing']}"]
    alone, most = found["alone_in_population"], percent(Fraction(found["alone_at_most"]))
    sure = (
        ""
        if alone is None
        else f"; of those alone here, an estimated {percent(Fraction(alone))} are alone there"
    )
    return [
        f"  estimates from weights, without guarantee: {found['population']} people in the population,"
        f" risk {percent(found['risk_max'])} at most, {percent(found['risk_average'])} on average{sure}",
        f"  what the sample proves: between 0 and {most} of its people are alone in the population",
    ]


def _reader(who: str, found: Mapping[str, Any], worst: str, mean: str, above: str) -> list[str]:
    over = ", ".join(f"{percent(Fraction(share))} above {each}" for each, share in found[above].items())
    return [f"  {who:<11} at most {_share(worst)}, on average {_share(mean)}; of the people {over}"]


def _share(text: str) -> str:
    return f"{text} ({percent(Fraction(text))})" if len(text) < 10 else percent(Fraction(text))
