"""ℓ-diversity: the sensitive values of every group are varied enough, in one of four senses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, log
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar

from privacy_sql.criteria import Criterion, Exact, Row, at_least, exact, make, one_of
from privacy_sql.criteria._on_arrays import ByFormula, Formula
from privacy_sql.errors import UsageError, number_of, people
from privacy_sql.kernels.diversity import UNSURE, entropy_reaches, exponential_entropy
from privacy_sql.verdict import Number, Verdict, Witness, holds, shown

if TYPE_CHECKING:
    from privacy_sql.counted.groups import Bools, Groups
    from privacy_sql.table import Table

KINDS = ("distinct", "entropy", "recursive", "probabilistic")


@dataclass(frozen=True)
class LDiversity(ByFormula):
    """Every group has varied sensitive values; `kind` says what `value` is and what it is compared with.

    - distinct: the fewest values in a group, at least l
    - entropy: the least exp(entropy), at least l (ganta2008, Def. 4), decided in integers
    - recursive: the smallest c that the worst group needs, r1 / (r_l + ... + r_m), below c (kifer2006,
      Def. 2.5; that paper prints <=, which is `strict=False`); no `value` if a group has fewer than l values
    - probabilistic: the largest share of one value, at most 1/l

    A merged group has the values of both parts, and its shares are between theirs (the entropy is concave),
    so merging lowers none of the four protections. Leaving out a whole group changes no other.
    """

    name: ClassVar[str] = "l_diversity"
    question: ClassVar[str] = "Does a group give away its sensitive values?"
    against: ClassVar[str] = (
        "somebody who has found a person's group and guesses the sensitive value from the values in it"
    )
    safe_under_merging: ClassVar[bool] = True
    safe_under_suppression: ClassVar[bool] = True

    l: Exact  # noqa: E741 - the papers' letter
    kind: str = "distinct"
    c: Exact | None = None
    strict: bool = True

    def __post_init__(self) -> None:
        one_of(self.kind, KINDS, self.name, "kind")
        if not isinstance(self.strict, bool):
            raise UsageError("bad_parameter", f"strict of {self.name} must be true or false")
        if (self.c is None) == (self.kind == "recursive"):
            hint = "For example l_diversity(kind=recursive, c=3, l=4)."
            raise UsageError("bad_parameter", f"c of {self.name} applies only with kind=recursive", hint=hint)
        if self.kind == "recursive":
            at_least(self.l, 1, self.name, "l")
            exact(self.c or 0, self.name, "c", Fraction(0))
        exact(self.l, self.name, "l", 1)

    @property
    def cannot_fail(self) -> bool:
        """Every group has at least one value, and no share is above 1."""
        if self.kind != "recursive":
            return self.ell == 1
        c = Fraction(str(self.c))
        return self.ell == 1 and (c > 1 or (c == 1 and not self.strict))

    @classmethod
    def unit_of(cls, params: Mapping[str, Any], relation: str) -> str:
        units = {"distinct": "values", "entropy": "values", "probabilistic": "share"}
        return units.get(params.get("kind", "distinct"), "")

    @property
    def needs_one_value(self) -> bool:
        return self.kind in ("entropy", "recursive")

    @property
    def ell(self) -> Fraction:
        return Fraction(str(self.l))

    @property
    def safe_in_larger_groups(self) -> bool:  # type: ignore[override]
        """More people never remove a value from a group, but they may outweigh the others."""
        return self.kind == "distinct"

    def necessary(self) -> Sequence[Criterion]:
        """Distributions that are varied enough have l distinct values.

        A small share does not imply this, because some people may have no value.
        """
        return () if self.kind == "probabilistic" else (LDiversity(ceil(self.ell)),)

    def fewest_people(self, table: Table) -> int:
        """With one value each, l values need l people; a person with several values may have them alone."""
        if self.kind != "distinct":
            return super().fewest_people(table)
        return ceil(self.ell) if table.values_per_person == "one" else 1

    @property
    def relation(self) -> str:  # type: ignore[override]
        words = {"recursive": "<" if self.strict else "<=", "probabilistic": "<="}
        return words.get(self.kind, ">=")

    @property
    def slider(self) -> str | None:
        return {"distinct": "l", "recursive": "c"}.get(self.kind)

    @property
    def limit(self) -> Number:
        if self.kind == "recursive":
            return Fraction(str(self.c))
        return 1 / self.ell if self.kind == "probabilistic" else self.ell

    def for_marginals(self) -> Criterion | None:
        """The same kind in the table that marginals suggest, which knows no probabilistic one."""
        if self.kind == "probabilistic":
            return None
        kept = {name: value for name, value in self.params.items() if name in ("l", "c")}
        return make("maxent_l_diversity", {**kept, "kind": self.kind})

    def context(self) -> dict[str, Any]:
        low, high = self._unsure
        return {"kind": self.kind, "ell": floor(self.ell), "low": repr(low), "high": repr(high)}

    def formulas(self, groups: Groups) -> Sequence[Formula]:
        """For all kinds but the entropy, which is not a ratio of whole numbers."""
        if self.kind == "distinct":
            return [Formula(groups.n_values, None, ">=", self.ell)]
        if self.kind == "recursive":
            tail = groups.people - groups.top_sums(int(self.ell) - 1)
            return [Formula(groups.top, tail, self.relation, self.limit)]
        shown = groups.showing  # a group without any value has no most common one
        return [Formula(groups.top[shown], groups.people[shown], "<=", self.limit, shown)]

    def decide(self, groups: Groups) -> Verdict:
        if self.kind != "entropy" or not len(groups):
            return super().decide(groups) if len(groups) else self.verdict(None, Witness({}))
        low, high = self._unsure
        entropies = groups.entropies
        near, uniform = groups.between(entropies, low, high)
        kinds = {tuple(sorted(groups.counts(g))): g for g in near}
        told = {int(entropies.argmin()), *kinds.values(), *groups.one_for_each(groups.n_values, uniform)}
        n_below = int((entropies < low).sum())
        rows = [{"g": g, "n_rows": n, "n_below": n_below} for g in told for n in groups.counts(g)]
        return self.judge(rows)

    def breaking(self, groups: Groups) -> Bools:
        if self.kind != "entropy":
            return super().breaking(groups)
        low, high = self._unsure
        gone: Bools = groups.entropies < low
        near, uniform = groups.between(groups.entropies, low, high)
        gone[uniform] = groups.n_values[uniform] < ceil(self.ell)  # as hard to guess as so many equal ones
        for group in near:
            gone[group] = not entropy_reaches(groups.counts(group), self.ell)
        return gone

    @property
    def _unsure(self) -> tuple[float, float]:
        """The range of entropies, in nats, in which floats cannot decide."""
        nats = log(self.ell.numerator) - log(self.ell.denominator)
        return nats - UNSURE, nats + UNSURE

    def judge(self, evidence: Sequence[Row]) -> Verdict:
        """The least varied group decides.

        >>> LDiversity(2).judge([{"n_values": 1, "n_groups": 3, "g": 7}]).safe
        False
        """
        if not evidence:
            return self.verdict(None, Witness({}))
        kinds = {
            **{"distinct": self._distinct, "recursive": self._recursive},
            **{"probabilistic": self._probabilistic, "entropy": self._entropy},
        }
        return kinds[self.kind](evidence)

    def keeps(self, evidence: Sequence[Row]) -> bool:
        if self.kind != "recursive" or not evidence:
            return super().keeps(evidence)
        worst = None if any(not row["n_tail"] for row in evidence) else max(map(_top_of_tail, evidence))
        return holds(worst, self.relation, self.limit)

    def _distinct(self, evidence: Sequence[Row]) -> Verdict:
        worst = min(evidence, key=itemgetter("n_values"))
        below = sum(row["n_groups"] for row in evidence if row["n_values"] < self.ell)
        facts = {"values": worst["n_values"], "groups_below_limit": below}
        story = f"The least varied group has {number_of(worst['n_values'], 'sensitive value')}."
        return self.verdict(worst["n_values"], Witness(facts, {"g": worst["g"]}), story)

    def _recursive(self, evidence: Sequence[Row]) -> Verdict:
        emptied = [row for row in evidence if not row["n_tail"]]
        if emptied:
            below = sum(row["n_groups"] for row in emptied)
            story = (
                f"Fewer than {self.l} values are in {number_of(below, 'group')}: no c is large enough there."
            )
            facts = {"largest_count": emptied[0]["n_top"], "tail": 0, "groups_below_limit": below}
            return self.verdict(None, Witness(facts, {"g": emptied[0]["g"]}), story)
        worst = max(evidence, key=_top_of_tail)
        facts = {"largest_count": worst["n_top"], "tail": worst["n_tail"]}
        story = (
            f"In the worst group the most common value occurs {number_of(worst['n_top'], 'time')}; all values"
            f" but the {int(self.ell) - 1} most common occur {number_of(worst['n_tail'], 'time')} together."
        )
        value = _top_of_tail(worst)
        return self.verdict(value, Witness(facts, {"g": worst["g"]}), story)

    def _probabilistic(self, evidence: Sequence[Row]) -> Verdict:
        worst = max(evidence, key=lambda row: Fraction(row["n_top"], row["n_people"]))
        facts = {"size": worst["n_people"], "largest_count": worst["n_top"]}
        story = f"In the worst group {worst['n_top']} of {people(worst['n_people'])} share one value."
        value = Fraction(worst["n_top"], worst["n_people"])
        return self.verdict(value, Witness(facts, {"g": worst["g"]}), story)

    def _entropy(self, evidence: Sequence[Row]) -> Verdict:
        counts: dict[int, list[int]] = {}
        for row in evidence:
            counts.setdefault(row["g"], []).append(row["n_rows"])
        values = {group: exponential_entropy(its) for group, its in counts.items()}
        short = {group for group, its in counts.items() if not entropy_reaches(its, self.ell)}
        worst = min(short or values, key=lambda group: float(values[group]))
        facts = {
            "size": sum(counts[worst]),
            "values": len(counts[worst]),
            "largest_count": max(counts[worst]),
            "groups_clearly_below_limit": evidence[0]["n_below"],
        }
        story = (
            f"The worst group shows {number_of(len(counts[worst]), 'sensitive value')},"
            f" as hard to guess as {shown(values[worst])} equally likely ones."
        )
        return self.verdict(values[worst], Witness(facts, {"g": worst}), story, safe=not short)


def _top_of_tail(row: Row) -> Fraction:
    return Fraction(row["n_top"], row["n_tail"])
