"""The command line: parse, call a verb, print. Each verb is the module of its name in `verbs`."""

from __future__ import annotations

import contextlib
import gc
import io
import json
import os
import sys
import traceback
from collections.abc import Sequence
from typing import Any

import click

from privacy_sql import deadlines
from privacy_sql.cli import streams
from privacy_sql.cli.outcome import Outcome
from privacy_sql.display import progress
from privacy_sql.errors import EngineError, PrivacySqlError, as_error, ended, interrupted

# the groups of verbs, in the order in which people need them
GROUPS = {
    "start": "Start",
    "decide": "Decide what is safe",
    "publish": "Publish",
    "examine": "Examine what was published",
    "keep": "Keep track",
}


def _is_verb(name: str) -> bool:
    from privacy_sql import registry

    return "_" not in name and registry.has("cli.verbs", name.replace("-", "_"))


class Verbs(click.Group):
    """The verbs, loaded on first use, so that `--help` imports neither pandas nor an engine."""

    def list_commands(self, context: click.Context) -> list[str]:
        from privacy_sql import registry

        return [name.replace("_", "-") for name in registry.available("cli.verbs")]

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        from privacy_sql import registry

        if not _is_verb(name):
            return None
        found: click.Command = registry.load("cli.verbs", name.replace("-", "_")).command
        return found

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """The verbs in the groups that their modules name; verbs without a group come last."""
        from privacy_sql import registry

        in_group: dict[str, list[tuple[str, str]]] = {name: [] for name in (*GROUPS, "more")}
        for name in self.list_commands(context):
            module = registry.load("cli.verbs", name.replace("-", "_"))
            group = vars(module).get("GROUP", "more")
            in_group[group].append((name, module.command.get_short_help_str(limit=90)))
        for group, rows in in_group.items():
            if rows:
                with formatter.section(GROUPS.get(group, "More")):
                    formatter.write_dl(rows)

    def invoke(self, context: click.Context) -> object:
        try:
            return super().invoke(context)
        except OSError as problem:  # click would exit with 1 for a broken pipe, which is not an answer
            raise as_error(problem) from None

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from privacy_sql.errors import UsageError, did_you_mean

        if args and not _is_verb(args[0]) and not args[0].startswith("-"):
            hint = did_you_mean(args[0], self.list_commands(context))
            raise UsageError("unknown_verb", f'there is no verb "{args[0]}"', hint=hint)
        return super().resolve_command(context, args)


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="privacy-sql", message="privacy-sql %(version)s")
def verbs() -> None:
    """Removing names is not enough. privacy_sql finds who could still be identified in a table, publishes a
    version that is safe, and proves it.

    \b
    Start with:      privacy-sql demo
    Your own table:  privacy-sql check --source people.csv --quasi age,sex,zip --sensitive diagnosis \\
                         --require 'k_anonymity(k=5)'
    As a project:    privacy-sql init --from people.csv

    \b
    Exit codes: 0 safe or done, 1 not safe, 2 a mistake in the command or in privacy.yml, 3 a mistake in the
    data, 4 a failure of the engine or the machine, 5 nothing safe found or undecided, 130 interrupted.
    """


def command() -> None:
    """The program `privacy-sql`, which ends as soon as all is said."""
    try:
        main()
    except SystemExit as leaving:
        streams.leave(leaving.code)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit code."""
    if arguments is None:
        streams.in_utf8()
        # modules and counts stay until the end, so looking for cycles among them this often finds nothing
        gc.set_threshold(50_000, 20, 100)
        # numpy's threads for matrices wait for work by counting, 2^26 turns each; few commands have any
        os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "16")
    streams.prepare()
    given = list(sys.argv[1:] if arguments is None else arguments)
    ended.clear()
    with streams.ending_as_interrupts(deadlines.end), progress.shown():
        outcome = run(given)
    if "--unsafe-debug" in given:
        for problem in outcome.problems:
            streams.say(sys.stderr, "".join(traceback.format_exception(problem)))
    if "--json" in given and not outcome.quiet:
        # only ASCII, so that a name cannot break a terminal or a pipe
        told, wrong = json.dumps(outcome.to_json(), allow_nan=False) + "\n", ""
    else:
        told, wrong = _text(outcome)
    streams.say(sys.stderr, wrong)
    unsaid = streams.say(sys.stdout, told)
    exec("")  # an interrupt inside generated code is remembered until the next, and would be the exit code
    if unsaid is None or isinstance(unsaid, BrokenPipeError):  # whoever reads has read enough
        sys.exit(outcome.exit)
    # the answer did not arrive, so there is no answer
    streams.say(sys.stderr, f"error: the answer could not be written: {unsaid.strerror}.\n")
    sys.exit(EngineError.exit)


def run(arguments: Sequence[str]) -> Outcome:
    """The outcome of a command line; every failure is an outcome, never a traceback."""
    from privacy_sql import registry

    verb = next((word for word in arguments if not word.startswith("-")), "")
    said = io.StringIO()  # click writes help texts; `main` checks that they arrive
    try:
        "".join(arguments).encode()
        with contextlib.redirect_stdout(said):
            returned: Any = verbs.main(list(arguments), prog_name="privacy-sql", standalone_mode=False)
    except click.ClickException as problem:
        asked = getattr(getattr(problem, "ctx", None), "command_path", f"privacy-sql {verb}".strip())
        hint = f"{asked} --help lists what there is." if _is_verb(verb) else "See --help."
        if isinstance(problem, click.NoSuchOption) and _is_verb(verb):
            module = registry.load("cli.verbs", verb.replace("-", "_"))
            hint = vars(module).get("INSTEAD", {}).get(problem.option_name, hint)
        message, lines = problem.format_message(), []
        if isinstance(problem, click.exceptions.NoArgsIsHelpError):  # its message is the whole help
            message, lines, hint = f"{asked} needs a command", message.splitlines(), ""
        wrong = {"code": "usage", "where": "", "message": message, "hint": hint}
        return Outcome(verb, exit=2, errors=[wrong], lines=lines)
    except (click.Abort, KeyboardInterrupt) as problem:
        return failed(verb, interrupted(problem))
    except SystemExit as leaving:  # shell completion ends this way
        returned = leaving.code
    except Exception as problem:
        return failed(verb, as_error(problem))
    if isinstance(returned, Outcome):
        return returned
    return Outcome(verb, exit=int(returned or 0), lines=said.getvalue().splitlines(), quiet=True)


def failed(verb: str, problem: PrivacySqlError) -> Outcome:
    """An error, or several, as an outcome."""
    errors = [part.to_json() for part in problem.parts]
    return Outcome(verb, exit=problem.exit, errors=errors, problems=[problem])


def _text(outcome: Outcome) -> tuple[str, str]:
    """The text for people: the answer and the errors."""
    errors = []
    for error in outcome.errors:
        place = f" ({error['where']})" if error["where"] else ""
        hint = f" {error['hint']}" if error["hint"] else ""
        message = error["message"].rstrip(".")
        end = "" if message.endswith("?") and not place else "."  # a suggestion ends as a question
        errors.append(f"error: {message}{place}{end}{hint}\n")
    return "".join(f"{line}\n" for line in outcome.lines), "".join(errors)
