"""The command line: parse, call a verb, print. Each verb is the module of its name in `commands`."""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Sequence
from typing import Any

import click

from privacy_sql import progress
from privacy_sql.commands import Outcome
from privacy_sql.errors import PrivacySqlError, as_error, interrupted


class Verbs(click.Group):
    """The verbs, loaded when asked for, so that `--help` imports neither pandas nor an engine."""

    def list_commands(self, context: click.Context) -> list[str]:
        from privacy_sql import plugs

        return [name.replace("_", "-") for name in plugs.available("commands")]

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        from privacy_sql import plugs

        if name not in self.list_commands(context):
            return None
        found: click.Command = plugs.load("commands", name.replace("-", "_")).command
        return found

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from privacy_sql.errors import UsageError, did_you_mean

        if args and args[0] not in self.list_commands(context) and not args[0].startswith("-"):
            hint = did_you_mean(args[0], self.list_commands(context))
            raise UsageError("unknown_verb", f'there is no verb "{args[0]}"', hint=hint)
        return super().resolve_command(context, args)


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="privacy-sql", message="privacy-sql %(version)s")
def verbs() -> None:
    """Decide, in SQL, what may be published from a table about people; publish it; check what was published.

    \b
    Start with:      privacy-sql demo
    Your own table:  privacy-sql check --source people.csv --quasi age,sex,zip --sensitive diagnosis \\
                         --require 'k_anonymity(k=5)'
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    with progress.shown():
        outcome = run(given)
    if "--unsafe-debug" in given:
        for problem in outcome.problems:
            traceback.print_exception(problem, file=sys.stderr)
    if "--json" in given and not outcome.quiet:
        # only ASCII, so that no terminal and no pipe can fail on a name
        click.echo(json.dumps(outcome.to_json(), allow_nan=False))
    else:
        _print(outcome)
    sys.exit(outcome.exit)


def run(arguments: Sequence[str]) -> Outcome:
    """What a command line comes to; every failure is an outcome, none a traceback."""
    verb = next((word for word in arguments if not word.startswith("-")), "")
    try:
        returned: Any = verbs.main(list(arguments), prog_name="privacy-sql", standalone_mode=False)
    except click.ClickException as problem:
        hint = "Ask for --help."
        return Outcome(verb, exit=2, errors=[_error("usage", problem.format_message(), hint)])
    except (click.Abort, KeyboardInterrupt) as problem:
        return failed(verb, interrupted(problem))
    except Exception as problem:
        return failed(verb, as_error(problem))
    return returned if isinstance(returned, Outcome) else Outcome(verb, exit=int(returned or 0), quiet=True)


def failed(verb: str, problem: PrivacySqlError) -> Outcome:
    """An error, or several, as an outcome."""
    errors = [part.to_json() for part in problem.parts]
    return Outcome(verb, exit=problem.exit, errors=errors, problems=[problem])


def _error(code: str, message: str, hint: str = "") -> dict[str, str]:
    return {"code": code, "where": "", "message": message, "hint": hint}


def _print(outcome: Outcome) -> None:
    for line in outcome.lines:
        click.echo(line)
    for error in outcome.errors:
        place = f" ({error['where']})" if error["where"] else ""
        hint = f" {error['hint']}" if error["hint"] else ""
        message = error["message"].rstrip(".")
        click.echo(f"error: {message}{place}.{hint}", err=True)
