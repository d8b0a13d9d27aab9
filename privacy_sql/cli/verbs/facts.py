"""`facts`: how likely a guess is for somebody who knows facts about people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from privacy_sql.cli.outcome import Outcome, shared
from privacy_sql.cli.tables import About, about_a_table, each_table

if TYPE_CHECKING:
    from privacy_sql.engines import Engine
    from privacy_sql.release import Release
    from privacy_sql.table import Table


class FactsOptions(About):
    """The facts, the guess, and how much to show."""

    lines: tuple[str, ...]
    atom: str | None
    show_values: bool


GROUP = "decide"  # of `--help`


@click.command()
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@click.option("--fact", "lines", multiple=True, help="A fact, for example 'Ed not Mumps'. Repeatable.")
@click.option("--atom", help="The guess, for example 'Tom is AIDS'; default the likeliest one.")
@click.option("--show-values", is_flag=True, help="Name the person and the value. INTERNAL.")
@about_a_table
@shared
def command(files: tuple[Path, ...], directory: Path, **options: Unpack[FactsOptions]) -> Outcome:
    """Show how likely a guess is for somebody who knows facts. FILES have one fact per line.

    \b
    Ed not Mumps
    Gary is Flu
    Hannah is Flu & Bob is Flu -> Charlie is Flu | Dave is Flu
    Ann is Flu <-> Bob is Flu
    family AIDS: Ann, Cary, Tom
    0.8: Ed does not have Mumps
    guess: Tom is AIDS

    \b
    Example: privacy-sql facts known.txt --source people.csv --quasi age,sex --sensitive disease \\
                 --identifier name --atom 'Tom is AIDS'

    The result is exact if a million steps are enough; otherwise it is an estimate, and says so.
    """
    from privacy_sql.studies.disclosure_risk import disclosure_risk
    from privacy_sql.studies.facts import GUESS, without_guess

    given = [line for path in files for line in _read(path)] + list(options["lines"])
    facts, guess = without_guess(
        [*given, *([f"{GUESS} {options['atom']}"] if options["atom"] is not None else [])]
    )
    whole = Outcome("facts")
    answers = []

    def ask(name: str, engine: Engine, subject: Table | Release) -> None:
        risk = disclosure_risk(engine, subject, facts, guess)
        content = {"name": name, **risk.to_json()}
        lines = [f"{name}: {risk.explain()}"]
        if options["show_values"]:
            content["witness"] = dict(risk.witness.reveal())
            lines = ["INTERNAL: names people and values. Do not pass on.", "", *lines]
            lines.append(f"  person: {content['witness']['name']}  value: {content['witness']['value']}")
        whole.lines += lines
        answers.append(content)

    each_table(whole, directory, options, ask)
    whole.more = {"answers": answers}
    return whole


def _read(path: Path) -> list[str]:
    """The lines of a file of facts."""
    from privacy_sql.errors import DataError, UsageError

    try:
        return path.read_text(encoding="utf-8-sig").splitlines()
    except OSError:
        raise UsageError(
            "no_file", f"{path.name} does not exist", hint="Name a file with one fact per line."
        ) from None
    except UnicodeDecodeError:
        raise DataError("bad_file", f"{path.name} is not UTF-8", hint="Save it as UTF-8.") from None
