"""Household k-anonymity: people who live together do not hide one another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from privacy_sql import registry
from privacy_sql.counted.households import household_groups, household_values
from privacy_sql.criteria import Criterion, Exact, Row, at_least, exact, one_of, refuse_empty
from privacy_sql.criteria._on_arrays import ByFormula, Formula
from privacy_sql.errors import DataError, UsageError, number_of, people
from privacy_sql.query.template import Sql, names, render
from privacy_sql.verdict import Number, Verdict, Witness

if TYPE_CHECKING:
    from privacy_sql.counted.base import Base
    from privacy_sql.counted.grouping import Grouping
    from privacy_sql.counted.groups import Bools, Groups, Homes
    from privacy_sql.table import Table

KINDS = ("distinct", "share")
# the most parts of households to count if some members are known
MOST_PARTS = 10**6


@dataclass(frozen=True)
class HouseholdKAnonymity(ByFormula):
    """Every person is hidden among k households; `value` depends on `kind` and on who is `known`.

    - member, distinct: the adversary recognises one person; every group has people of at least k households
    - member, share: no household is more than 1/k of a group's people
    - all: the adversary recognises all members of a household by their labels, if published rows say who
      lives together; at least k households have the same labels equally often
    - a number m: the same for any m members or fewer

    With `share`, for a sensitive value that all members of a household have: no value belongs to more than
    that share of the households with the same labels. Each household counts once, however many live there.

    The first two are the l-diversity of martin2007, Sec. 1, for the household instead of the sensitive value.
    People without a household count as one household.
    """

    name: ClassVar[str] = "household_k_anonymity"
    question: ClassVar[str] = "Can one household be singled out?"
    against: ClassVar[str] = "somebody who knows the quasi-identifiers of a person, or of a whole household"
    needs_base: ClassVar[bool] = True  # households are not published
    of_labels: ClassVar[bool] = True
    safe_under_merging: ClassVar[bool] = True
    safe_under_suppression: ClassVar[bool] = True

    k: int
    kind: str = "distinct"
    known: int | str = "member"
    share: Exact | None = None

    def __post_init__(self) -> None:
        at_least(self.k, 1, self.name, "k")
        one_of(self.kind, KINDS, self.name, "kind")
        if isinstance(self.known, str):
            one_of(self.known, ("member", "all"), self.name, "known")
        else:
            at_least(self.known, 1, self.name, "known")
        if self.kind == "share" and self.known != "member":
            raise UsageError("bad_parameter", f"kind of {self.name} applies only with known=member")
        if self.share is not None:
            if self.known != "all":
                hint = "Values of single people are judged by l_diversity(kind=probabilistic)."
                raise UsageError(
                    "bad_parameter", f"share of {self.name} applies only with known=all", hint=hint
                )
            if not 0 < exact(self.share, self.name, "share", 0, 1) < 1:
                hint = "At 1 no table can fail, and at 0 every table fails."
                raise UsageError("bad_parameter", f"share of {self.name} must be between 0 and 1", hint=hint)
        refuse_empty(self)

    @classmethod
    def unit_of(cls, params: Mapping[str, Any], relation: str) -> str:
        return "households" if relation == ">=" else "share"

    @property
    def cannot_fail(self) -> bool:
        return self.k == 1 and self.share is None

    @property
    def reads_sensitive(self) -> bool:  # type: ignore[override]
        return self.share is not None

    @property
    def needs_one_value(self) -> bool:
        return True

    @property
    def safe_in_larger_groups(self) -> bool:  # type: ignore[override]
        """More people remove no household, but they may be from one and change its share."""
        return self.kind == "distinct" and self.known == "member"

    @property
    def relation(self) -> str:  # type: ignore[override]
        return "<=" if self.kind == "share" else ">="

    @property
    def slider(self) -> str | None:
        # else the limit is 1/k, or there are two
        return "k" if self.relation == ">=" and self.share is None else None

    @property
    def limit(self) -> Number:
        return Fraction(1, self.k) if self.kind == "share" else self.k

    @property
    def reads(self) -> tuple[str, ...]:
        return ("households",)

    def context(self) -> dict[str, Any]:
        return {}

    def necessary(self) -> Sequence[Criterion]:
        """k households have at least k people."""
        return (registry.get("criteria", "k_anonymity")(self.k),) if self.k > 1 else ()

    def fits(self, base: Base) -> bool:
        return self.known == "member" or base.table.members_tied

    def formulas(self, groups: Groups) -> Sequence[Formula]:
        """For one known member, which is a matter of each group by itself."""
        import numpy as np

        homes = groups.homes()
        if self.kind == "distinct":
            return [Formula(np.bincount(homes.group, minlength=len(groups)), None, ">=", self.k)]
        largest, everybody = np.zeros_like(groups.people), np.zeros_like(groups.people)
        np.maximum.at(largest, homes.group, homes.n)
        np.add.at(everybody, homes.group, homes.n)
        return [Formula(largest, everybody, "<=", Fraction(1, self.k))]

    def decide(self, groups: Groups) -> Verdict:
        return super().decide(groups) if self.known == "member" else self.judge(self._hidden(groups))

    def breaking(self, groups: Groups) -> Bools:
        if self.known == "member":
            return super().breaking(groups)
        import numpy as np

        return groups.marked(np.array(self.failing(self._hidden(groups)), np.int64))

    def _hidden(self, groups: Groups) -> list[Row]:
        """For several known members, whose households are compared over all groups: as `gather` says it."""
        assert groups.beside is not None
        return self._alike(groups.homes(with_values=self.share is not None), groups.beside.table)

    def gather(self, grouping: Grouping) -> list[Row] | None:
        """For several known members: compare whole households, and find the worst one for every group."""
        if self.known == "member":
            return None
        import numpy as np

        from privacy_sql.counted.groups import Homes

        if not grouping.base.table.members_tied:
            raise UsageError(
                "members_not_tied",
                f"{self} needs published household numbers, or anything that links the members",
                where=grouping.base.table.name,
                hint="Declare `household: {column: H, published: number}`, or require known=member.",
            )
        value: list[Sql] = []
        if self.share is None:
            relation = household_groups(grouping)
        else:
            relation, *value = household_values(grouping)
        columns = [*names(["g", "s", "n_rows"]), *value]
        query = render("counted/listed.sql", relation=relation, columns=columns)
        found = grouping.base.engine.arrays(query)
        homes = Homes(*(np.asarray(found[str(column)], np.int64) for column in columns))
        return self._alike(homes, grouping.base.table)

    def _alike(self, homes: Homes, table: Table) -> list[Row]:
        """For every group, the fewest households that look like one with a known member in the group."""
        from privacy_sql.kernels import alike_households

        group, home, n, own = homes
        if own is not None:
            return self._of_values(homes, table)
        if self.known == "all":
            fewest = alike_households.Alike.of(home, group, n).fewest()
        else:
            counts = zip(home.tolist(), group.tolist(), n.tolist(), strict=True)
            households = alike_households.members(counts)
            fewest_or_none = alike_households.fewest_with(households, int(self.known), MOST_PARTS)
            if fewest_or_none is None:
                raise UsageError(
                    "too_many_parts",
                    f"{self} compares more than {MOST_PARTS:,} parts of households",
                    where=table.name,
                    hint="Use fewer known members, or coarser groups.",
                )
            fewest = fewest_or_none
        return [{"g": g, "n_households": n} for g, n in sorted(fewest.items())]

    def _of_values(self, homes: Homes, table: Table) -> list[Row]:
        """If all members are known: the fewest alike households, and the largest share of one value."""
        from privacy_sql.kernels import alike_households

        group, home, n, own = homes
        assert own is not None
        values, several = alike_households.values_of(home, own)
        if several:
            told = f"members of {number_of(several, 'household')} have different values"
            raise DataError(
                "no_household_value",
                f"{told}, so {table.sensitives[0]} is not a value of households",
                where=table.name,
                hint="Leave out `share`, or exclude people without a household, who count as one.",
            )
        alike = alike_households.Alike.of(home, group, n)
        fewest, shares = alike.fewest(), alike.largest_shares(values)
        return [
            {"g": g, "n_households": fewest[g], "n_top": shares[g][0], "n_alike": shares[g][1]}
            for g in sorted(fewest)
        ]

    def judge(self, evidence: Sequence[Row]) -> Verdict:
        """The group with the fewest households, or with the largest share of one, decides.

        >>> twins = {"n_households": 1, "n_people": 2, "n_largest": 2, "n_groups": 1, "g": 7}
        >>> HouseholdKAnonymity(2).judge([twins]).safe
        False
        """
        if not evidence:
            return self.verdict(None, Witness({}))
        if self.kind == "share":
            worst = max(evidence, key=lambda row: Fraction(row["n_largest"], row["n_people"]))
            facts = {"size": worst["n_people"], "largest_household": worst["n_largest"]}
            story = f"In the worst group {worst['n_largest']} of {people(worst['n_people'])} live together."
            value: Number = Fraction(worst["n_largest"], worst["n_people"])
            return self.verdict(value, Witness(facts, {"g": worst["g"]}), story)
        worst = min(evidence, key=lambda row: int(row["n_households"]))
        n = worst["n_households"]
        facts = {"households": n}
        if self.known == "member":
            facts |= {
                "size": worst["n_people"],
                "groups_below_limit": sum(r["n_groups"] for r in evidence if r["n_households"] < self.k),
            }
            story = f"{people(worst['n_people'])} of a group are from {number_of(n, 'household')}."
        else:
            if self.share is not None:
                shared = self._shared(evidence, facts)
                if shared is not None:
                    return shared
            whom = "all members" if self.known == "all" else f"up to {people(int(self.known))}"
            story = f"Somebody who knows {whom} of a household is left with {number_of(n, 'household')}."
        return self.verdict(n, Witness(facts, {"g": worst["g"]}), story)

    def _shared(self, evidence: Sequence[Row], facts: dict[str, Any]) -> Verdict | None:
        """The verdict by the largest share of one value, if it has less slack than the fewest households."""
        worst = max(evidence, key=lambda row: Fraction(row["n_top"], row["n_alike"]))
        share, limit = Fraction(worst["n_top"], worst["n_alike"]), Fraction(str(self.share))
        facts |= {"largest_share": str(share)}
        enough = Fraction(facts["households"], self.k) - 1
        if self.k > 1 and (enough >= 0, enough) < (share <= limit, 1 - share / limit):
            return None
        story = (
            "Somebody who knows all members of a household is left with"
            f" {number_of(worst['n_alike'], 'household')}, and {worst['n_top']} of them have the same value."
        )
        witness = Witness(facts, {"g": worst["g"]})
        return self.verdict(share, witness, story, limit=limit, relation="<=")
