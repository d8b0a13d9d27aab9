"""Maxent ℓ-diversity: in the table that all marginals suggest, every group's sensitive values are varied."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import exp, log, prod
from typing import TYPE_CHECKING, Any, ClassVar

from privacy_sql.criteria import Exact, JoinedMarginals, Row, at_least, exact, one_of
from privacy_sql.criteria._in_marginals import InMarginals
from privacy_sql.errors import UsageError, number_of
from privacy_sql.kernels.diversity import entropy_reaches, exponential_entropy
from privacy_sql.kernels.marginals.max_entropy import least_c, near_the_likeliest
from privacy_sql.kernels.marginals.worst_groups import worst_ratio
from privacy_sql.kernels.ratios import whole_numbers
from privacy_sql.query.template import literal
from privacy_sql.verdict import Number, Verdict, Witness, shown

if TYPE_CHECKING:
    from privacy_sql.counted.grouping import Together

KINDS = ("recursive", "entropy", "distinct", "relaxed")
MOST_GROUPS = 1_000  # groups near the worst that are compared in fractions
NEAR = 1e-9  # counts this close to a limit are compared in fractions; fitted ones are not counted
SMALL = 100_000  # times a number of rows it is a whole number that a float holds
FLOAT_BITS = 1_000  # integers below 2 to this power are floats as well
Counts = Sequence[Fraction | float]


@dataclass(frozen=True)
class MaxentLDiversity(InMarginals):
    """In the maximum-entropy table of all marginals every nonsensitive cell has varied sensitive values.

    kifer2006, Def. 4.3: over every combination with positive mass, not only those in the table. `value`:

    - recursive: the smallest c at which the worst group has r1 <= c (r_l + ... + r_m), at most c (the paper
      prints <=); none if a group has fewer than l values
    - entropy: the least exp(entropy), at least l
    - distinct: the fewest values, at least l
    - relaxed: the fewest values that are at least (1 - epsilon)^p times as likely as the likeliest of the
      group, at least l (Sect. 7; p marginals have the sensitive column). That property itself decides; the
      paper's algorithm counts fewer values and may refuse what is safe

    Expected counts are products of counts, compared as fractions; a fitted table is safe only if it is more
    than 1e-9 from the limit. For a single table this is ℓ-diversity, and merging or leaving out whole groups
    keeps it safe (only leaving out, for the relaxed kind). A collection has no such property, so it is judged
    again after every change.
    """

    name: ClassVar[str] = "maxent_l_diversity"
    question: ClassVar[str] = "Do the published tables together give away sensitive values?"
    against: ClassVar[str] = (
        "somebody who combines all published tables and believes in the most even table they allow"
    )
    safe_under_suppression: ClassVar[bool] = True

    l: int  # noqa: E741 - the paper's letter
    c: Exact | None = None
    kind: str = "recursive"
    epsilon: Exact | None = None

    def __post_init__(self) -> None:
        one_of(self.kind, KINDS, self.name, "kind")
        at_least(self.l, 1, self.name, "l")
        if (self.c is None) == (self.kind == "recursive"):
            hint = "For example maxent_l_diversity(l=6, c=3)."
            raise UsageError("bad_parameter", f"c of {self.name} applies only with kind=recursive", hint=hint)
        if self.c is not None:
            exact(self.c, self.name, "c", 0)
        if (self.epsilon is None) == (self.kind == "relaxed"):
            hint = "For example maxent_l_diversity(kind=relaxed, l=3, epsilon=0.2)."
            raise UsageError(
                "bad_parameter", f"epsilon of {self.name} applies only with kind=relaxed", hint=hint
            )
        if self.epsilon is not None and exact(self.epsilon, self.name, "epsilon", 0, 1) == 1:
            hint = "At 1 every value counts as equally likely."
            raise UsageError("bad_parameter", f"epsilon of {self.name} must be below 1", hint=hint)

    @property
    def safe_under_merging(self) -> bool:  # type: ignore[override]
        """Two groups whose values are about equally likely may together have one that is more likely."""
        return self.kind != "relaxed"

    @property
    def share(self) -> Fraction:
        """How likely a value must be in one marginal, relative to the likeliest."""
        return 1 - Fraction(str(self.epsilon or 0))

    @property
    def cannot_fail(self) -> bool:
        return self.l == 1 and (self.c is None or Fraction(str(self.c)) >= 1)

    @property
    def needs_one_value(self) -> bool:
        return True

    @property
    def relation(self) -> str:  # type: ignore[override]
        return "<=" if self.kind == "recursive" else ">="

    @property
    def limit(self) -> int | Fraction:
        return Fraction(str(self.c)) if self.kind == "recursive" else self.l

    @property
    def reads(self) -> tuple[str, ...]:
        return ("cliques",)

    def context(self) -> dict[str, Any]:
        share, near = (literal(repr(float(number))) for number in (self.share, NEAR))
        # for one marginal, products of a count and a small number are whole numbers
        small = self.share.denominator <= SMALL
        whole = (self.share.numerator, self.share.denominator) if small else None
        found = {"kind": self.kind, "ell": self.l, "most": MOST_GROUPS}
        return {**found, "share": share, "whole_share": whole, "near": near}

    def together(self, collection: Together) -> Sequence[Row] | None:
        """Collections that are not decomposable, and joins too large for SQL."""
        return collection.least_diverse(self.l, self.kind, self.share)

    def holds_of(self, joined: JoinedMarginals) -> bool:
        """Of none, each value is equally likely for everybody."""
        if not joined.cliques:
            left = joined.n_values - self.l + 1
            return left > 0 and (self.kind != "recursive" or self.limit * left >= 1)
        if self.kind == "recursive":
            worst = worst_ratio(joined.cliques, self.l, stop_above=float(self.limit))
            return worst.exact and worst.value <= self.limit
        return self.judge(joined.least_diverse(self.l, self.kind, self.share)).safe

    def judge(self, evidence: Sequence[Row]) -> Verdict:
        """The least varied group decides.

        >>> rows = [{"g": 7, "n1": 2, "n_groups": 1}, {"g": 7, "n1": 1, "n_groups": 1}]
        >>> MaxentLDiversity(l=2, c=2).judge(rows).safe
        True
        """
        groups = list(_groups(evidence))
        if not groups:
            return self.verdict(None, Witness({}))
        # for the relaxed kind, every marginal with the sensitive column multiplies the share
        share = self.share ** evidence[0].get("holding", len(groups[0][0]))
        measured = [(self._value(counts, share), cells, counts) for cells, counts in groups]
        worst = max if self.kind == "recursive" else min
        unbounded = [found for found in measured if found[0] is None]
        value, cells, counts = unbounded[0] if unbounded else worst(measured, key=lambda found: found[0] or 0)
        # keep all near the worst; of groups with the fewest values one is enough
        whole = evidence[0].get("exact", True) and (len(groups) < MOST_GROUPS or self.kind == "distinct")
        sure = whole and all(isinstance(count, Fraction) for count in counts)
        more: dict[str, Any] = {}
        if self.kind == "relaxed":
            more = {"safe": whole and value is not None and value >= self.l, "exact": sure}
        elif not sure and value is not None:
            value = float(value)
        elif self.kind == "entropy":
            reached = (entropy_reaches(whole_numbers(counts)[0], Fraction(self.l)) for _, counts in groups)
            more = {"safe": all(reached)}
        shares = [float(count) for count in counts]
        facts = {
            "largest_share": max(shares) / sum(shares),
            "values": len(counts),
            "marginals_that_meet": evidence[0].get("meet", len(cells)),
            "groups": evidence[0].get("n_groups", len(groups)),
        }
        story = (
            f"In the worst group {len(counts)} sensitive values are possible, and the likeliest has "
            f"{shown(facts['largest_share'])} of the expected count."
        )
        if self.kind == "relaxed" and value is not None:
            facts["near_the_likeliest"] = int(value)
            story += (
                f" {number_of(int(value), 'value is', 'values are')} at least {shown(share)} times as likely."
            )
        witness = Witness(facts, {"g": cells[0] if cells else None, "cells": cells})
        return self.verdict(value, witness, story, **more)

    def _value(self, counts: Counts, share: Fraction) -> Number | None:
        """How varied one group is; None if no c is large enough."""
        if self.kind == "recursive":
            return least_c(counts, self.l)
        if self.kind == "distinct":
            return Fraction(len(counts))
        if self.kind == "relaxed":
            # in a fitted table, only values that rounding cannot have moved near the likeliest
            exact = all(isinstance(count, Fraction) for count in counts)
            return Fraction(near_the_likeliest(counts, share if exact else float(share) * (1 + NEAR)))
        if all(isinstance(count, Fraction) for count in counts):
            whole, _ = whole_numbers(counts)
            if sum(whole).bit_length() < FLOAT_BITS:
                return exponential_entropy(whole)
        total = sum(float(count) for count in counts)
        return exp(-sum(float(count) / total * log(float(count) / total) for count in counts))


def _groups(evidence: Sequence[Row]) -> Iterator[tuple[tuple[int, ...], Counts]]:
    """Groups with their positive expected counts, from the template's rows or from `gather`."""
    found: dict[tuple[int, ...], list[Fraction | float]] = {}
    for row in evidence:
        if "counts" in row:
            yield tuple(row["cells"]), row["counts"]
            continue
        cells = tuple(
            row[key] for key in sorted(k for k in row if k == "g" or (k[:1] == "g" and k[1:].isdigit()))
        )
        above = prod(row[key] for key in row if key[:1] == "n" and key[1:].isdigit())
        below = prod(row[key] for key in row if key[:1] == "d" and key[1:].isdigit())
        found.setdefault(cells, []).append(Fraction(above, below))
    yield from found.items()


def _numbered(row: Row, letter: str) -> list[int]:
    """The columns n1, n2, ... of a row, in order."""
    names = sorted(
        (name for name in row if name[:1] == letter and name[1:].isdigit()), key=lambda n: int(n[1:])
    )
    return [row[name] for name in names]
