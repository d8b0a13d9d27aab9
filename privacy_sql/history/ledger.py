"""The budget ledger: the cost of every noisy release, charged before its noise is drawn.

Ganta et al. 2008, Lemma 12: losses add up over all releases that may include a person. One ledger is for one
population: all its charges count together, whatever table they came from.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from privacy_sql import manifest
from privacy_sql.errors import UsageError
from privacy_sql.history.chain import Chain, Record

FILE_NAME = "privacy_ledger.jsonl"


@dataclass(frozen=True)
class Charge:
    """One release and its price: ε, δ, and `rho`, its zero-concentrated loss."""

    release: str
    epsilon: Fraction
    delta: Fraction = Fraction(0)
    rho: float = 0.0
    at: str = ""
    ticket: str = ""  # identifies this charge, so that a release can prove it


@dataclass(frozen=True)
class Account:
    """Everything charged so far, and the limit (None if none was ever set)."""

    charges: tuple[Charge, ...]
    limit_epsilon: Fraction | None = None
    limit_delta: Fraction = Fraction(0)

    @property
    def epsilon(self) -> Fraction:
        """The sum of all ε."""
        return sum((charge.epsilon for charge in self.charges), Fraction(0))

    @property
    def delta(self) -> Fraction:
        """The sum of all δ."""
        return sum((charge.delta for charge in self.charges), Fraction(0))

    @property
    def rho(self) -> float:
        """The sum of all zero-concentrated losses."""
        return math.fsum(charge.rho for charge in self.charges)

    def affords(self, charge: Charge) -> bool:
        """Whether the charge stays within the limit; sums are exact, so reaching the limit is allowed."""
        if self.limit_epsilon is None:
            return True
        enough_epsilon = self.epsilon + charge.epsilon <= self.limit_epsilon
        return enough_epsilon and self.delta + charge.delta <= self.limit_delta


@dataclass(frozen=True)
class Ledger:
    """The ledger in one file."""

    path: Path

    def account(self) -> Account:
        """All charges so far."""
        return _account(Chain(self.path).read())

    def set_limit(self, epsilon: Fraction, delta: Fraction = Fraction(0)) -> Account:
        """Set the total that may ever be spent. A limit can be lowered or raised; both are recorded."""
        _check(epsilon, delta)
        chain = Chain(self.path)
        with chain.locked():
            chain.append(
                {"kind": "limit", "epsilon": str(epsilon), "delta": str(delta), "at": manifest.now()}
            )
        return self.account()

    def refuse_overspent(self, charge: Charge) -> None:
        """Refuse a charge that exceeds the limit, without charging anything."""
        _check(charge.epsilon, charge.delta)
        account = self.account()
        if not account.affords(charge):
            raise _overspent(account, charge)

    def charge(self, charge: Charge) -> Account:
        """Charge, or refuse if it exceeds the limit; returns after the charge is on disk."""
        _check(charge.epsilon, charge.delta)
        chain = Chain(self.path)
        with chain.locked() as records:
            account = _account(records)
            if not account.affords(charge):
                raise _overspent(account, charge)
            chain.append(
                {
                    "kind": "charge",
                    "release": charge.release,
                    "epsilon": str(charge.epsilon),
                    "delta": str(charge.delta),
                    "rho": charge.rho,
                    "ticket": charge.ticket,
                    "at": charge.at or manifest.now(),
                }
            )
        return self.account()


def _account(records: list[Record]) -> Account:
    limits = [record for record in records if record["kind"] == "limit"]
    charges = tuple(
        Charge(
            record["release"],
            Fraction(record["epsilon"]),
            Fraction(record["delta"]),
            record["rho"],
            record["at"],
            record["ticket"],
        )
        for record in records
        if record["kind"] == "charge"
    )
    if not limits:
        return Account(charges)
    return Account(charges, Fraction(limits[-1]["epsilon"]), Fraction(limits[-1]["delta"]))


def _check(epsilon: Fraction, delta: Fraction) -> None:
    if epsilon <= 0:
        raise UsageError("bad_epsilon", f"epsilon is {epsilon}", hint="It must be above 0.")
    if not 0 <= delta < 1:
        raise UsageError("bad_delta", f"delta is {delta}", hint="It must be 0 or more, and less than 1.")


def _overspent(account: Account, charge: Charge) -> UsageError:
    price = _price(charge.epsilon, charge.delta)
    limit = _price(account.limit_epsilon or Fraction(0), account.limit_delta)
    spent = _price(account.epsilon, account.delta)
    return UsageError(
        "overspent_budget",
        f"{charge.release} costs {price}, but {spent} of {limit} is spent already",
        where="budget",
        hint="Use a smaller epsilon, or raise the limit with `privacy-sql budget limit` (it is recorded).",
    )


def _price(epsilon: Fraction, delta: Fraction) -> str:
    return f"epsilon {epsilon}" + (f", delta {delta}" if delta else "")
