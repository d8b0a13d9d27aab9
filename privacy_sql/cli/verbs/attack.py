"""`attack`: play the adversary. Each kind of attack is a module `_attack_<kind>.py` in this folder."""

from __future__ import annotations

import importlib
import pkgutil

import click

from privacy_sql.cli import verbs
from privacy_sql.errors import UsageError, did_you_mean

PREFIX = "_attack_"


def kinds_of_attack() -> list[str]:
    """The kinds of attack by name."""
    found = [module.name for module in pkgutil.iter_modules(verbs.__path__)]
    return sorted(name.removeprefix(PREFIX) for name in found if name.startswith(PREFIX))


class Kinds(click.Group):
    """The kinds of attack, found by file name and loaded on first use."""

    def list_commands(self, context: click.Context) -> list[str]:
        return kinds_of_attack()

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in self.list_commands(context):
            return None
        found: click.Command = importlib.import_module(f"{verbs.__name__}.{PREFIX}{name}").command
        return found

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        known = self.list_commands(context)
        if args and args[0] not in known and not args[0].startswith("-"):
            hint = did_you_mean(args[0], known)
            raise UsageError("unknown_attack", f'there is no attack "{args[0]}"', hint=hint)
        return super().resolve_command(context, args)


GROUP = "examine"  # of `--help`


@click.group(cls=Kinds)
def command() -> None:
    """Play the adversary against releases.

    \b
    Example: privacy-sql attack intersection ours.csv.manifest.json theirs.yml --people known.csv
    """
