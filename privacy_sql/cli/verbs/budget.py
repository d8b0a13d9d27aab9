"""`budget`: the total cost of noisy releases, what may still be spent, and what a loss means."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from privacy_sql.cli.outcome import Outcome, shared
from privacy_sql.cli.tables import exact_number
from privacy_sql.errors import number_of

if TYPE_CHECKING:
    pass

MECHANISMS = ("histogram", "rr", "parity", "publish_one_record")


GROUP = "keep"  # of `--help`


@click.group()
def command() -> None:
    """Account for differential privacy: the ledger, and what its numbers mean.

    \b
    Example: privacy-sql budget limit --epsilon 2
    """


@command.command()
@click.option(
    "--at-delta",
    default=1e-6,
    type=float,
    show_default=True,
    help="The delta at which to convert rho to epsilon.",
)
@shared
def show(directory: Path, at_delta: float, **_: object) -> Outcome:
    """Show every charge and the rest, after checking that nobody changed the ledger.

    \b
    Example: privacy-sql budget show
    """
    from privacy_sql.display.rounding import shown
    from privacy_sql.history.ledger import FILE_NAME, Ledger
    from privacy_sql.kernels.composition.privacy_loss import compose_zcdp

    account = Ledger(directory / FILE_NAME).account()
    lines = [
        f"{charge.at}  {charge.release}  epsilon {charge.epsilon}  delta {charge.delta}"
        for charge in account.charges
    ]
    limit = "no limit is set" if account.limit_epsilon is None else f"limit {account.limit_epsilon}"
    lines.append(f"spent epsilon {account.epsilon}, delta {account.delta}; {limit}")
    together = compose_zcdp(epsilons=[math.sqrt(2 * account.rho)] if account.rho else [], delta=at_delta)
    sharper = together.eps < account.epsilon or at_delta < account.delta
    if account.rho and sharper:
        lines.append(
            f"also holds: epsilon {shown(together.eps)} at delta {at_delta:g}"
            f" (zero-concentrated, rho {shown(account.rho)}); the limit counts the line above"
        )
    elif account.rho:
        lines.append(
            f"the line above holds; as zero-concentrated loss (rho {shown(account.rho)}) the charges give"
            f" epsilon {shown(together.eps)} at delta {at_delta:g}, a weaker promise"
        )
    more = {
        "rho": account.rho,
        "epsilon_at_delta": together.eps,
        "at_delta": at_delta,
        "holds": "both" if sharper and account.rho else "epsilon",
        "epsilon": str(account.epsilon),
        "delta": str(account.delta),
        "limit_epsilon": None if account.limit_epsilon is None else str(account.limit_epsilon),
        "limit_delta": str(account.limit_delta),
        "charges": [
            {"release": c.release, "epsilon": str(c.epsilon), "delta": str(c.delta), "at": c.at}
            for c in account.charges
        ],
    }
    return Outcome("budget", lines=lines, more={"budget": more})


@command.command()
@click.option("--epsilon", required=True, help="The most that may ever be spent.")
@click.option("--delta", default="0", show_default=True)
@click.option("--dry-run", is_flag=True, help="Check the numbers without setting them.")
@shared
def limit(epsilon: str, delta: str, dry_run: bool, directory: Path, **_: object) -> Outcome:
    """Set the total loss that may ever be spent on these people. It is recorded permanently.

    \b
    Example: privacy-sql budget limit --epsilon 2 --delta 1e-6
    """
    from privacy_sql.history.ledger import FILE_NAME, Ledger

    pair = exact_number(epsilon, "--epsilon"), exact_number(delta, "--delta")
    if not dry_run:
        Ledger(directory / FILE_NAME).set_limit(*pair)
    said = "would be" if dry_run else "is"
    lines = [f"the limit {said} epsilon {pair[0]}, delta {pair[1]}"]
    account = Ledger(directory / FILE_NAME).account()
    if account.epsilon > pair[0] or account.delta > pair[1]:
        spent = f"epsilon {account.epsilon}, delta {account.delta}"
        lines.append(f"warning: {spent} is already spent, which is more; nothing else can be spent")
    return Outcome("budget", lines=lines)


@command.command()
@click.option("--epsilon", required=True, type=float)
@click.option("--delta", default=0.0, type=float, show_default=True)
@click.option("--people", required=True, type=int, help="The number of people in the database.")
@click.option(
    "--most-neighbours", is_flag=True, help="Use Theorem 18, which compares with most databases only."
)
@shared
def explain(epsilon: float, delta: float, people: int, most_neighbours: bool, **_: object) -> Outcome:
    """Explain what a loss means for an adversary with any knowledge, as printed and as corrected.

    \b
    Example: privacy-sql budget explain --epsilon 0.1 --delta 1e-9 --people 1000
    """
    from dataclasses import asdict

    from privacy_sql.kernels.composition.privacy_loss import semantic_privacy

    bound = semantic_privacy(epsilon, delta, people=people, most_neighbours=most_neighbours)
    rows = [
        ("beliefs move by at most, as printed", bound.eps_prime),
        ("beliefs move by at most, corrected", bound.tight),
        ("probability that this fails", bound.delta_prime),
        ("the same with Lemma 19 as printed", bound.delta_prime_printed_lemma),
    ]
    lines = [f"{name:<38}{value:.6g}" for name, value in rows if value is not None]
    return Outcome("budget", lines=[*lines, "", bound.explain()], more={"bound": _finite(asdict(bound))})


@command.command()
@click.option("--mechanism", type=click.Choice(MECHANISMS), default="histogram", show_default=True)
@click.option("--epsilon", required=True, type=float)
@click.option("--people", default=3, type=int, show_default=True)
@click.option(
    "--values", default=2, type=int, show_default=True, help="The number of possible values of a record."
)
@click.option(
    "--priors", default=200, type=int, show_default=True, help="The number of random priors to try."
)
@click.option("--seed", default=0, type=int, show_default=True)
@shared
def game(
    mechanism: str, epsilon: float, people: int, values: int, priors: int, seed: int, **_: object
) -> Outcome:
    """Play the paper's games on a small database and compare them with the bounds, if there are any.

    \b
    Example: privacy-sql budget game --mechanism parity --epsilon 1
    """
    import itertools

    import numpy as np

    from privacy_sql.kernels.composition.semantic_game import dirichlet_prior, semantic_game, two_point_prior

    generator = np.random.default_rng(seed)
    databases = list(itertools.product(range(values), repeat=people))
    tried = [dirichlet_prior(values, people, generator, 0.2) for _ in range(priors)]
    for first, second in itertools.combinations(databases[:16], 2):
        tried.append(two_point_prior(values, people, first, second))
    games = [semantic_game(mechanism, values, people, epsilon, prior) for prior in tried]
    worst = max(games, key=lambda each: each.max_sd)
    size = number_of(people, "person", "people")
    bounds = ["no bound holds, because this mechanism publishes a record unchanged"]
    if worst.bound_tight is not None and worst.bound_printed is not None:
        vacuous = "  (vacuous: 1 or more)" if worst.bound_printed >= 1 else ""
        bounds = [
            f"corrected bound          {worst.bound_tight:.6g}",
            f"printed bound            {worst.bound_printed:.6g}{vacuous}",
            "the bounds hold" if worst.max_sd <= worst.bound_tight + 1e-9 else "THE BOUNDS DO NOT HOLD",
        ]
    lines = [
        f"{mechanism}, epsilon {epsilon:g}, {size}: {len(games)} priors played in full",
        f"largest move of beliefs  {worst.max_sd:.6g}",
        *bounds,
    ]
    more = {
        "max_sd": worst.max_sd,
        "bound_tight": worst.bound_tight,
        "bound_printed": worst.bound_printed,
        "priors": len(games),
    }
    return Outcome("budget", lines=lines, more={"game": _finite(more)})


def _finite(content: dict[str, Any]) -> dict[str, Any]:
    """Numbers for JSON; infinite or undefined ones become null."""
    infinite = (float("inf"), float("-inf"))
    return {
        key: None if isinstance(value, float) and value in infinite else value
        for key, value in content.items()
    }
