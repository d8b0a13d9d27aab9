"""`show`: a release of the project: its columns, their levels with distinct counts, its last run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from privacy_sql.cli.outcome import Outcome, connected, shared

if TYPE_CHECKING:
    pass


GROUP = "keep"  # of `--help`


@click.command()
@click.argument("names", nargs=-1)
@shared
def command(names: tuple[str, ...], directory: Path, unsafe_debug: bool, **_: object) -> Outcome:
    """Show the hierarchies of releases, level by level with distinct counts, and the last run.

    \b
    Example: privacy-sql show people
    """
    from privacy_sql.counted.base import count
    from privacy_sql.project import reading

    read = reading.read(directory)
    whole = Outcome("show")
    shown: dict[str, Any] = {}
    for plan in read.selected(names):
        with connected(read, plan, unsafe_debug) as engine:
            base = count(engine, plan.table, several=True)
            shown[plan.name] = {}
            for name, kind in plan.table.hierarchies.items():
                levels = zip(kind.level_names(), base.level_sizes(base.aliases[name]), strict=True)
                shown[plan.name][name] = [
                    {"level": level, "name": word, "distinct": n} for level, (word, n) in enumerate(levels)
                ]
        whole.lines += [plan.name, f"  sensitive: {', '.join(plan.table.sensitives) or 'none'}"]
        whole.lines += [f"  requires:  {criterion}" for criterion in plan.require]
        for name, rows in shown[plan.name].items():
            kind = plan.table.hierarchies[name]
            steps = [f"{row['level']}: {kind.in_words(row['level'])} ({row['distinct']})" for row in rows]
            whole.lines.append(f"  {name:<20}{'  '.join(steps)}")
        whole.lines += [*_last(directory, plan.name), ""]
    whole.more = {"shown": shown}
    return whole


def _last(directory: Path, name: str) -> list[str]:
    path = directory / "target" / "run_results.json"
    if not path.is_file():
        return ["  not run yet"]
    try:
        for result in json.loads(path.read_bytes())["releases"]:
            if result["name"] == name:
                wrote = result["target"] if result["manifest"] else "nothing"
                return [f"  last run:  exit {result['exit']}, wrote {wrote}"]
    except (ValueError, RecursionError, TypeError, KeyError):  # for example, dbt has a file with this name
        return [f"  last run:  unknown, {path.name} has changed since it was written"]
    return ["  not run yet"]
