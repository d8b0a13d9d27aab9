"""`reconstruct`: what a recipient can work out from published marginals, and how certain it is."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

import click

from privacy_sql.cli.outcome import Outcome, shared
from privacy_sql.cli.tables import holding, listed, manifest_of_table
from privacy_sql.display.aligned import aligned
from privacy_sql.display.rounding import decimals
from privacy_sql.errors import UsageError, number_of

if TYPE_CHECKING:
    from privacy_sql.studies.reconstruction import BoundedCount, Reconstruction


class ReconstructOptions(TypedDict):
    """What to work out, and where synthetic rows go."""

    queries: tuple[str, ...]
    conditions: tuple[str, ...]
    sample: int | None
    seed: int | None
    output: Path | None
    as_sql: bool
    url: str | None
    dry_run: bool
    as_json: bool


FILE = click.Path(path_type=Path)
MISSING = "(missing)"


GROUP = "examine"  # of `--help`


@click.command()
@click.argument("manifest", type=FILE)
@click.option(
    "--query", "queries", multiple=True, help='Columns to count by, such as "age, sex". Repeatable.'
)
@click.option(
    "--where", "conditions", multiple=True, help="Count only rows with this label: sex=F. Repeatable."
)
@click.option("--sample", type=click.IntRange(min=0), help="Draw this many synthetic rows.")
@click.option("--seed", type=int, help="A seed, to draw the same rows again.")
@click.option("-o", "--output", type=FILE, help="A new CSV file for the synthetic rows.")
@click.option(
    "--sql", "as_sql", is_flag=True, help="Print the maximum-entropy table as a SELECT over the files."
)
@click.option("--connect", "url", help="The database of the tables, if not the project's: duckdb:file.db.")
@click.option("--dry-run", is_flag=True, help="Write no file.")
@shared
def command(
    manifest: Path, directory: Path, unsafe_debug: bool, **options: Unpack[ReconstructOptions]
) -> Outcome:
    """Estimate counts from published marginals, with bounds (Kifer & Gehrke 2006).

    MANIFEST is the release's manifest or one of its files; all files are verified first. An expected number
    is an estimate; `at least` and `at most` are linear bounds, rounded outwards.

    \b
    Example: privacy-sql reconstruct out/people.csv.manifest.json --query "age, sex" --sample 1000 -o new.csv
    """
    from privacy_sql.studies.reconstruction import reconstruct

    if options["output"] is not None and options["sample"] is None:
        raise UsageError("nothing_to_write", "-o needs synthetic rows", hint="Add --sample 1000.")
    path = manifest_of_table(manifest, directory)
    engine = holding(path, options["url"], directory, unsafe_debug)
    if engine is None:
        return _told(reconstruct(path), options)
    with engine:
        return _told(reconstruct(path, engine), options)


def _told(found: Reconstruction, options: ReconstructOptions) -> Outcome:
    whole = Outcome("reconstruct", rows=found.rows)
    where = _conditions(options["conditions"])
    asked = [found.query(listed(query), where) for query in options["queries"]]
    if where and not asked:
        asked = [found.query([], where)]
    told: dict[str, object] = {
        "release": found.name,
        "columns": list(found.columns),
        "decomposable": found.decomposable,
        "independences": list(found.independences),
        "answers": [_plain(one) for one in asked],
    }
    if options["sample"] is None or options["output"] is not None or asked:
        whole.lines += [
            f"{found.name}: {number_of(found.rows, 'row')} in"
            f" {number_of(len(found.places), 'published table')}",
            *(f"assumed: {sentence}" for sentence in found.independences),
        ]
    for one in asked:
        whole.lines += ["", *_table(one)]
    if options["as_sql"]:
        select = found.sql()
        told["sql"] = select
        whole.lines += ["", select]
    if options["sample"] is not None:
        told["synthetic"] = rows = found.sample(options["sample"], options["seed"])
        whole.lines += _written(rows, list(found.columns), options)
    whole.more = {"reconstruction": told}
    return whole


def _conditions(given: tuple[str, ...]) -> dict[str, list[str | None]]:
    """Labels by column; `sex=` is a missing value, and naming a column twice keeps both labels.

    >>> _conditions(("sex=F", "age=", "sex=M"))
    {'sex': ['F', 'M'], 'age': [None]}
    """
    found: dict[str, list[str | None]] = {}
    for text in given:
        name, equals, label = text.partition("=")
        if not equals:
            raise UsageError(
                "bad_condition", f'"{text}" is not a label', where="--where", hint="Write sex=F."
            )
        found.setdefault(name.strip(), []).append(label or None)
    return found


def _table(counts: BoundedCount) -> list[str]:
    """The answers as a table, with each estimate between its bounds."""
    head = [*counts.columns, "at least", "expected", "at most"]
    rows = [
        [*(MISSING if v is None else v for v in c.values), str(c.least), decimals(c.expected, 1), str(c.most)]
        for c in counts.cells
    ]
    lines = aligned([head, *rows], right=range(len(counts.columns), len(head)))
    if not counts.tight:
        lines.append(
            "note: too many cells for linear programs; these bounds are those of single tables, and wider."
        )
    return lines


def _plain(counts: BoundedCount) -> dict[str, object]:
    return {
        "columns": list(counts.columns),
        "tight": counts.tight,
        "cells": [
            {
                "values": dict(zip(counts.columns, cell.values, strict=True)),
                "expected": float(cell.expected),
                "at_least": cell.least,
                "at_most": cell.most,
                "known": cell.known,
            }
            for cell in counts.cells
        ],
    }


def _written(
    rows: list[dict[str, str | bool | None]], columns: list[str], options: ReconstructOptions
) -> list[str]:
    """Synthetic rows as CSV: lines to print, or a new file and a line about it."""
    from privacy_sql import files

    text = io.StringIO()
    header = list(rows[0]) if rows else ["synthetic", *columns]
    writer = csv.DictWriter(text, header, lineterminator="\n")
    writer.writeheader()
    writer.writerows({**row, header[0]: "true"} for row in rows)
    target: Path | None = options["output"]
    if target is None:
        return text.getvalue().splitlines()
    if target.exists():
        hint = "Name a new file; existing files are never replaced."
        raise UsageError("target_exists", f"{target} already exists", where="--output", hint=hint)
    if options["dry_run"]:
        return ["", f"would write {number_of(len(rows), 'synthetic row')} to {target}"]
    target.parent.mkdir(parents=True, exist_ok=True)
    files.write_synced(target, text.getvalue().encode())
    return ["", f"wrote {number_of(len(rows), 'synthetic row')} to {target}"]
