"""`explore`: decide on a local page how to publish a release."""

from __future__ import annotations

import contextlib
import sys
import webbrowser
from pathlib import Path

import click

from privacy_sql.cli.outcome import Outcome, connected, shared
from privacy_sql.display import progress
from privacy_sql.errors import UsageError

GROUP = "decide"  # of `--help`


@click.command()
@click.option("--select", "name", help="The release, if the project has several.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    show_default=True,
    help="A port of this machine; 0 picks a free one.",
)
@click.option("--no-browser", is_flag=True, help="Print the address without opening a browser.")
@shared
def command(
    name: str | None, port: int, no_browser: bool, directory: Path, unsafe_debug: bool, **_: object
) -> Outcome:
    """Decide on a local page how to publish a release.

    The page is only on this machine and never receives rows. Close it, or press Ctrl-C, to end.

    \b
    Example: privacy-sql explore --select people
    """
    from privacy_sql.explorer import opening
    from privacy_sql.project import reading

    opening.refuse_without_libraries()
    from privacy_sql.explorer import server
    from privacy_sql.explorer.decision import Decision

    read = reading.read(directory)
    plans = read.selected((name,) if name is not None else ())
    if len(plans) > 1:
        hint = f"Name one with --select: {', '.join(plan.name for plan in plans)}."
        raise UsageError("several_releases", "the project has several releases", hint=hint)
    decision = Decision(plans[0], lambda plan: connected(read, plan, unsafe_debug), read)

    def opened(address: str) -> None:
        progress.silence()  # from here on the page says what is being done
        # the address lets in the first visitor, so it is shown only here
        print(f"{plans[0].name}: {address}", file=sys.stderr, flush=True)  # noqa: T201
        if not no_browser:
            webbrowser.open(address)

    with contextlib.suppress(KeyboardInterrupt):  # the usual way to end it
        server.serve(decision, port, opened)
    return Outcome("explore", lines=["The explorer has ended and left nothing behind."])
