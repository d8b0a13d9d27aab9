"""`attack knowledge`: what somebody who studied the data learns about each person from a release."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import click

from privacy_sql.cli.outcome import Outcome, connected, shared, size
from privacy_sql.cli.tables import About, about_a_table, each_table, exact_number, listed
from privacy_sql.display.rounding import as_asked, decimals, percent
from privacy_sql.errors import UsageError, first_exit, people
from privacy_sql.parameters import number_in

if TYPE_CHECKING:
    from collections.abc import Callable

    from privacy_sql.engines import Engine
    from privacy_sql.release import Release
    from privacy_sql.studies.knowledge_attack import Adversary, KnowledgeAttack

POSTERIORS = ("exact", "estimate", "omega", "sinkhorn")


class KnowledgeOptions(About):
    """How to compute and compare beliefs, and how much to show."""

    posterior: str
    distance: str
    beliefs: str | None
    learned_from: str | None
    numeric: str
    max_exposed: str | None
    show_values: bool


@click.command()
@click.argument("published", nargs=-1, metavar="[MANIFEST]...", type=click.Path(path_type=Path))
@click.option(
    "--t",
    "limit",
    default="0.2",
    show_default=True,
    help="Beliefs that change by more than this count as a breach.",
)
@click.option(
    "--bandwidth",
    "texts",
    multiple=True,
    help="The bandwidth of an adversary, or several: 0.3,0.5. Repeatable.",
)
@click.option("--posterior", type=click.Choice(POSTERIORS), default="exact", show_default=True)
@click.option("--distance", default="", help="js, smoothed_js, kl, emd or tv.")
@click.option(
    "--prior", "beliefs", help="The adversary's own beliefs: quasi-identifiers, value, probability as CSV."
)
@click.option(
    "--learned-from", help="Another table of people with the same columns, which the adversary studied."
)
@click.option("--numeric", default="", help="Quasi-identifiers compared as numbers, separated by commas.")
@click.option("--max-exposed", help="Exit 1 if a larger share of people is, or may be, over the limit.")
@click.option("--show-values", is_flag=True, help="Name the worst group and its values. INTERNAL.")
@about_a_table
@shared
def command(
    published: tuple[Path, ...],
    limit: str,
    texts: tuple[str, ...],
    directory: Path,
    **options: Unpack[KnowledgeOptions],
) -> Outcome:
    """Attack a release with background knowledge (Li et al. 2009): how far do beliefs move?

    \b
    Example: privacy-sql attack knowledge --source people.csv --quasi age,sex --sensitive diagnosis \\
                 --group published_group --numeric age --bandwidth 0.2 --bandwidth 0.4 --t 0.2

    Give a MANIFEST, or a published file next to its manifest, to attack the written release. Without it and
    without --source, every release of privacy.yml is attacked as it would be published.
    """
    from dataclasses import replace

    from privacy_sql.reporting import records
    from privacy_sql.studies.knowledge_attack import knowledge_attack
    from privacy_sql.table import Table

    bandwidths = tuple(part for text in texts for part in listed(text))
    prior = _prior(options["beliefs"], options["learned_from"], bandwidths)
    whole = Outcome("attack", rows=0, groups=0)
    most = options["max_exposed"]
    allowed = None if most is None else exact_number(most, "--max-exposed")
    attacks: list[dict[str, Any]] = []
    exposed: list[str] = []

    def ask(name: str, engine: Engine, subject: Table | Release) -> None:
        if isinstance(subject, Table) and options["numeric"]:
            numeric = dict.fromkeys(listed(options["numeric"]), "numeric")
            subject = replace(subject, domains={**(subject.domains or {}), **numeric})
        how = options["posterior"], options["distance"]
        found = knowledge_attack(engine, subject, limit, bandwidths or None, *how, prior)
        whole.rows, whole.groups = (whole.rows or 0) + found.rows, (whole.groups or 0) + found.groups
        whole.lines += [f"{name}: {size(found)}, t = {limit}", *_lines(found), ""]
        if options["source"] is None:
            records.add(directory, name, "attack_knowledge", found.to_json())
        attacks.append({"name": name, **found.to_json()})
        if options["show_values"]:
            attacks[-1]["internal"] = [dict(adversary.witness.reveal()) for adversary in found.adversaries]
        if allowed is not None and found.exposed > allowed:
            exposed.append(name)
            whole.lines.append(f"EXPOSED: {percent(found.exposed)} is more than {most}")

    if published:
        _written(directory, published, options, ask)
    else:
        each_table(whole, directory, options, ask)
    safe = None if whole.exit else True  # nobody vouches for what was not attacked
    whole.safe = None if allowed is None else False if exposed else safe
    whole.exit = first_exit([whole.exit, int(bool(exposed))])
    if options["show_values"]:
        whole.lines = ["INTERNAL: names values of the data. Do not pass on.", "", *whole.lines]
    whole.more = {"attacks": attacks}
    return whole


def _written(
    directory: Path,
    published: tuple[Path, ...],
    options: KnowledgeOptions,
    ask: Callable[[str, Engine, Release], None],
) -> None:
    """Attack releases as they were written, not as a search would choose them now."""
    from fractions import Fraction

    from privacy_sql import api
    from privacy_sql.project import reading
    from privacy_sql.publishing import verifying

    if options["source"] is not None or options["names"]:
        hint = "A manifest already names the release."
        raise UsageError("two_tables", "a MANIFEST excludes --source and --select", hint=hint)
    read = reading.read(directory)
    for path in published:
        _, content = verifying.found(path)
        plan = read.plans.get(content.release)
        if plan is None:
            told = f"privacy.yml has no release {content.release}, so its people are unknown"
            raise UsageError("unknown_release", told, hint="Name its project with --project.")
        allowed = plan.method.allowed if plan.method else Fraction(0)
        with connected(read, plan, options["unsafe_debug"]) as engine:
            ask(plan.name, engine, api.as_written(engine, plan.table, plan.require, path, allowed))


def _prior(beliefs: str | None, learned_from: str | None, bandwidths: tuple[str, ...]) -> object:
    """The origin of the beliefs, if not the attacked table."""
    if beliefs and learned_from:
        raise UsageError("two_priors", "--prior and --learned-from exclude each other", hint="Give only one.")
    if beliefs and bandwidths:
        hint = "Remove --bandwidth, which applies to learned beliefs."
        raise UsageError("two_priors", "--prior gives the beliefs of one adversary", hint=hint)
    if learned_from:
        return {"learned_from": {"file": learned_from}}
    return {"file": beliefs} if beliefs else None


def _lines(found: KnowledgeAttack) -> list[str]:
    lines = [f"  {_decided(found, adversary)}" for adversary in found.adversaries]
    lines += [
        "",
        f"  {'bandwidth':>12}  {'largest move':>12}  {'people over t':>13}  {'undecided':>9}  worst group",
    ]
    for adversary in found.adversaries:
        risk = "unknown" if adversary.max_risk is None else decimals(adversary.max_risk, 4)
        group, held = adversary.witness["group"], adversary.witness["size"]
        lines.append(
            f"  {_named(adversary):>12}  {risk:>12}  {adversary.vulnerable:>13}  {adversary.undecided:>9}"
            f"  number {group}, {people(held)}"
        )
        if adversary.without_prior:
            lines.append(
                f"{'':>14}  {people(adversary.without_prior)} without a prior; their groups are undecided"
            )
    if any(adversary.witness["undecided_groups"] for adversary in found.adversaries) and found.exact:
        told = "  Groups too large for exact beliefs stay undecided. --posterior estimate covers them,"
        lines.append(f"{told} and gives no upper bound.")
    if not found.exact:
        lines.append("  exact: false. These moves are estimates, not upper bounds.")
    return lines


def _decided(found: KnowledgeAttack, adversary: Adversary) -> str:
    """The result for one adversary, in a sentence."""
    left = found.rows - adversary.undecided
    of = "everybody" if not adversary.undecided else f"{left} of {people(found.rows)}"
    if not left:
        of = "nobody"
    over = (
        f": beliefs about {people(adversary.vulnerable)} move by more than {as_asked(found.t)}"
        if left
        else ""
    )
    named = _named(adversary)
    brings = isinstance(adversary.bandwidth, str) and named != "inf" and number_in(named) is None
    return f"{'beliefs of' if brings else 'bandwidth'} {named}: decided for {of}{over}"


def _named(adversary: Adversary) -> str:
    """The bandwidth of an adversary, one for all columns or one for each."""
    return adversary.bandwidth if isinstance(adversary.bandwidth, str) else ",".join(adversary.bandwidth)
