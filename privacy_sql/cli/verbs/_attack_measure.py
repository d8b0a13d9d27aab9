"""`attack measure`: what a published or synthetic table reveals about the people in its source."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import click

from privacy_sql.cli.outcome import Common, Outcome, shared
from privacy_sql.cli.tables import listed, named_engine
from privacy_sql.display.rounding import percent
from privacy_sql.errors import number_of, people

if TYPE_CHECKING:
    from privacy_sql.studies.measure import Excess, Measured, Nearest


class MeasureOptions(Common):
    """The files and the known columns."""

    source: str
    released: str
    control: str | None
    known: str
    secret: str
    linked: str | None
    most: int
    level: str
    nearest: int | None
    seed: int
    hierarchies: tuple[str, ...]
    url: str


@click.command()
@click.option("--source", required=True, help="The source file or relation of the release.")
@click.option("--release", "released", required=True, help="The published table, its manifest, or any file.")
@click.option("--control", help="Similar people who were not used for the release.")
@click.option("--known", required=True, help="Known columns, separated by commas.")
@click.option("--secret", required=True, help="The column to guess.")
@click.option("--linked", help="The columns that two adversaries know, as age,sex:zip; default: no linking.")
@click.option(
    "--at-most", "most", type=int, default=0, help="Also single out by every set of up to this many columns."
)
@click.option("--nearest", type=int, help="Also guess this many people (up to 2,000) from the nearest rows.")
@click.option("--seed", default=0, type=int, show_default=True, help="Draw the people for --nearest.")
@click.option(
    "--hierarchy",
    "hierarchies",
    multiple=True,
    metavar="COLUMN=FILE",
    help="The hierarchy file a column of your own release was published with. Repeatable.",
)
@click.option("--level", default="0.95", show_default=True, help="The confidence of an interval.")
@click.option("--connect", "url", default="duckdb:", show_default=True, help="The database of relations.")
@shared
def command(directory: Path, **options: Unpack[MeasureOptions]) -> Outcome:
    """Measure a release against its source: people singled out, linked and guessed right.

    Everybody in the source is counted, so the shares are exact; only --nearest asks a sample. They describe
    this release but prove nothing about safety; use requirements to judge a release.

    \b
    Example: privacy-sql attack measure --source people.csv --release synthetic.csv \\
                 --known age,zip --secret illness --control others.csv
    """
    from privacy_sql.history.described import described_by
    from privacy_sql.manifest import SUFFIX
    from privacy_sql.project.registering import hierarchies_then
    from privacy_sql.studies.measure import measure

    released = _place(options["released"], directory)
    own = described_by(released) if isinstance(released, Path) else None
    given = options["hierarchies"]
    halves = [listed(part) for part in options["linked"].split(":")] if options["linked"] else None
    with named_engine(options["url"], unsafe_debug=options["unsafe_debug"]) as engine:
        found = measure(
            engine,
            _place(options["source"], directory),
            released,
            listed(options["known"]),
            options["secret"],
            None if options["control"] is None else _place(options["control"], directory),
            most=options["most"],
            linked=None if halves is None else tuple(halves),  # type: ignore[arg-type]
            level=options["level"],
            nearest=options["nearest"],
            seed=options["seed"],
            hierarchies=hierarchies_then(own, directory, given)
            if own and own.name.endswith(SUFFIX)
            else None,
        )
    return Outcome("attack", rows=found.people, lines=_told(found), more={"attack": _plain(found)})


def _place(text: str, directory: Path) -> Path | str:
    """A file if it exists, otherwise the name of a relation."""
    path = directory / text
    return path if path.is_file() or path.suffix else text


def _told(found: Measured) -> list[str]:
    singled = found.singled_out
    lines = [
        f"people      {found.people} in the source, {found.fitted} fit a row of the release",
        f"guessed     {float(found.right):g} of {found.people} right ({percent(found.share)}),"
        f" {percent(found.baseline)} without the release; people who fit no row count as wrong",
        f"singled out {people(singled.right)}: {number_of(singled.alone, 'combination')} have one row each,"
        f" and {singled.right} of them {'fits' if singled.right == 1 else 'fit'} exactly one person",
    ]
    if found.linked is not None:
        lines.append(f"linked      {people(found.linked)} by the one row that both sets of columns share")
    lines += [
        f"  by {', '.join(columns)}: {each.right} of {each.alone}" for columns, each in found.subsets.items()
    ]
    if found.control is not None and found.excess is not None:
        control = found.control
        lines.append(
            f"control     {float(control.right):g} of {control.people} right, between {percent(control.low)}"
            f" and {percent(control.high)}"
        )
        lines.append(f"excess      {_beyond(found.excess)}")
    if found.nearest is not None:
        lines.append(f"nearest     {_of_sample(found.nearest)}, seed {found.nearest.seed}")
    if found.nearest_control is not None and found.nearest_excess is not None:
        lines.append(f"  control   {_of_sample(found.nearest_control)}")
        lines.append(f"  excess    {_beyond(found.nearest_excess)}")
    return [*lines, "This is a measurement, not a verdict: no requirement was judged."]


def _of_sample(found: Nearest) -> str:
    """What guesses from the nearest rows say about a sample."""
    told = f"{float(found.right):g} of {people(found.asked)} right from the nearest rows"
    if found.low == found.high:
        return f"{told} ({percent(found.low)})"
    return f"{told}, between {percent(found.low)} and {percent(found.high)}"


def _beyond(found: Excess) -> str:
    ends = [f"{float(end):.3f}" if end is not None else "unknown" for end in (found.low, found.high)]
    value = "unknown" if found.value is None else f"{float(found.value):.3f}"
    return f"{value} of what the control cannot guess, between {' and '.join(ends)}"


def _plain(found: Measured) -> dict[str, Any]:
    singled = {"right": found.singled_out.right, "alone": found.singled_out.alone}
    told: dict[str, Any] = {
        "people": found.people,
        "fitted": found.fitted,
        "right": str(found.right),
        "share": str(found.share),
        "baseline": str(found.baseline),
        "singled_out": singled,
        "subsets": [
            {"columns": list(columns), "right": each.right, "alone": each.alone}
            for columns, each in found.subsets.items()
        ],
        "linked": found.linked,
    }
    if found.control is not None and found.excess is not None:
        control, beyond = found.control, found.excess
        told["control"] = {
            "people": control.people,
            "right": str(control.right),
            "low": str(control.low),
            "high": str(control.high),
        }
        told["excess"] = {name: _or_none(value) for name, value in vars(beyond).items()}
    if found.nearest is not None:
        told["nearest"] = _sample(found.nearest)
        if found.nearest_control is not None and found.nearest_excess is not None:
            excess = {name: _or_none(value) for name, value in vars(found.nearest_excess).items()}
            told["nearest"] |= {"control": _sample(found.nearest_control), "excess": excess}
    return told


def _sample(found: Nearest) -> dict[str, Any]:
    texts = {"right": str(found.right), "low": str(found.low), "high": str(found.high)}
    return {"people": found.asked, **texts, "seed": found.seed}


def _or_none(value: object) -> str | None:
    return None if value is None else str(value)
