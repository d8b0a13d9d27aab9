"""Re-identification risk in the terms of regulators: its maximum, its average, or a share of people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from privacy_sql import registry
from privacy_sql.criteria import Criterion, Exact, Row, exact, one_of
from privacy_sql.criteria._on_arrays import ByFormula, Formula
from privacy_sql.criteria._risks import EqualGroups, asks_for, average, in_population, maximum, of_table
from privacy_sql.criteria._risks import above as share_above
from privacy_sql.errors import UsageError, number_of, people
from privacy_sql.verdict import Verdict, Witness

if TYPE_CHECKING:
    from privacy_sql.counted.base import Base
    from privacy_sql.counted.groups import Bools, Groups
    from privacy_sql.table import Table

MEASURES = ("maximum", "average", "above")
ADVERSARIES = ("prosecutor", "journalist", "marketer")


@dataclass(frozen=True)
class ReidentificationRisk(ByFormula):
    """The re-identification risk is at most `at_most`; `value` is that risk, a fraction.

    The risk of one person is 1/n, where n depends on the adversary. A prosecutor knows that the target is in
    the table, so n is the size of the published group (ganta2008, Sec. 2: k-anonymity). A journalist does not
    know it, and a marketer takes anybody; for both, n is the number of people of the population who fit the
    group.

    - maximum: the risk of the person who is easiest to find, which is k_anonymity (k_map) in other words
    - average: the mean over the published people; for a journalist at least groups / people of the population
      who fit them (El Emam); the only measure for a marketer
    - above: the share of published people whose risk is above `above`
    """

    name: ClassVar[str] = "reidentification_risk"
    question: ClassVar[str] = "How likely is it that somebody is found again?"
    against: ClassVar[str] = "somebody who looks for a person's row by the published quasi-identifiers"
    unit: ClassVar[str] = "share"
    relation: ClassVar[str] = "<="
    reads_sensitive: ClassVar[bool] = False
    safe_under_merging: ClassVar[bool] = True

    at_most: Exact
    measure: str = ""
    adversary: str = "prosecutor"
    above: Exact | None = None

    def __post_init__(self) -> None:
        one_of(self.adversary, ADVERSARIES, self.name, "adversary")
        if self.measure:
            one_of(self.measure, MEASURES, self.name, "measure")
        if (self.above is None) == (self.measures == "above"):
            hint = "For example reidentification_risk(at_most=0.05, measure=above, above=0.2)."
            raise UsageError(
                "bad_parameter", f"above of {self.name} applies only with measure=above", hint=hint
            )
        if self.adversary == "marketer" and self.measures != "average":
            hint = "Use measure=average; a marketer does not look for one person."
            raise UsageError("bad_parameter", f"{self.name} of a marketer must be an average", hint=hint)
        limit = exact(self.at_most, self.name, "at_most", 0, 1)
        least = Fraction(-1) if self.measures == "above" else Fraction(0)
        if not least < limit < 1:
            hint = "No risk is above 1 or exactly 0."
            raise UsageError("bad_parameter", f"at_most of {self.name} must be between 0 and 1", hint=hint)
        if self.above is not None and not 0 < exact(self.above, self.name, "above", 0, 1) < 1:
            hint = "Everybody's risk is above 0 and at most 1."
            raise UsageError("bad_parameter", f"above of {self.name} must be between 0 and 1", hint=hint)

    @property
    def measures(self) -> str:
        """The measure, with its default."""
        if self.measure:
            return self.measure
        return "above" if self.above is not None else "average" if self.adversary == "marketer" else "maximum"

    @property
    def safe_under_suppression(self) -> bool:  # type: ignore[override]
        """Only for the maximum; suppression changes every mean and share."""
        return self.measures == "maximum"

    @property
    def safe_in_larger_groups(self) -> bool:  # type: ignore[override]
        return self.measures == "maximum"

    @property
    def needs_population(self) -> bool:  # type: ignore[override]
        return self.adversary != "prosecutor"

    @property
    def reads(self) -> tuple[str, ...]:
        return ("population",) if self.needs_population else ()

    @property
    def slider(self) -> str:
        return "at_most"

    @property
    def limit(self) -> Fraction:
        return Fraction(str(self.at_most))

    def necessary(self) -> Sequence[Criterion]:
        """A prosecutor's maximum is k-anonymity; means and shares say nothing about one group."""
        if self.measures != "maximum" or self.needs_population:
            return ()
        return (registry.get("criteria", "k_anonymity")(asks_for(self.limit)),)

    def context(self) -> dict[str, Any]:
        return {}

    # -- decided ---------------------------------------------------------------------------------------------

    def fits(self, base: Base) -> bool:
        return not self.needs_population

    def formulas(self, groups: Groups) -> Sequence[Formula]:
        import numpy as np

        n = groups.people
        if self.measures == "maximum":
            return [Formula(np.ones_like(n), n, "<=", self.limit)]
        if self.measures == "average":
            return [Formula(np.array([len(n)]), np.array([n.sum()]), "<=", self.limit)]
        found = n[n < asks_for(self._above)]
        return [Formula(np.array([found.sum()]), np.array([n.sum()]), "<=", self.limit)]

    def breaking(self, groups: Groups) -> Bools:
        if self.measures == "maximum":
            return super().breaking(groups)
        import numpy as np

        order = np.argsort(groups.people, kind="stable")
        n = groups.people[order].tolist()
        gone = self._leaving([EqualGroups(size, size) for size in n])
        return groups.marked(order[:gone])

    @property
    def _above(self) -> Fraction:
        return Fraction(str(self.above))

    def _crowds(self, evidence: Sequence[Row]) -> list[EqualGroups]:
        if self.needs_population:
            return in_population(evidence)
        return [EqualGroups(row["n_people"], row["n_people"], row["n_groups"]) for row in evidence]

    def _measured(self, crowds: Sequence[EqualGroups]) -> Fraction:
        if self.measures == "maximum":
            return maximum(crowds)
        if self.measures == "above":
            return share_above(crowds, self._above)
        found = average(crowds)
        return max(found, of_table(crowds)) if self.adversary == "journalist" else found

    def failing(self, evidence: Sequence[Row]) -> list[int]:
        """The groups to leave out: those that fail by themselves, or the riskiest until the rest is safe."""
        if self.measures == "maximum":
            return super().failing(evidence)
        rows = sorted(
            (row for row in evidence if row["n_people"]),
            key=lambda row: (row["n_population"] if self.needs_population else row["n_people"], row["g"]),
        )
        return [row["g"] for row in rows[: self._leaving(self._crowds(rows))]]

    def _leaving(self, crowds: Sequence[EqualGroups]) -> int:
        """How many of the groups, the riskiest first, must go so that the others meet the requirement.

        A group with a risk within the limit cannot raise the mean above it, so only riskier groups can go.
        """
        low, high = 0, len(crowds)
        while low < high:  # the more groups go, the lower is the risk of the rest
            middle = (low + high) // 2
            if self._measured(crowds[middle:]) <= self.limit:
                high = middle
            else:
                low = middle + 1
        return low

    def judge(self, evidence: Sequence[Row]) -> Verdict:
        """The sizes of the groups decide.

        >>> rows = [{"n_people": 12, "n_groups": 1, "g": 1}, {"n_people": 3, "n_groups": 1, "g": 2}]
        >>> ReidentificationRisk("0.2", measure="average").judge(rows).value
        Fraction(2, 15)
        """
        crowds = self._crowds(evidence)
        if not crowds:
            return self.verdict(None, Witness({}))
        among = "n_population" if self.needs_population else "n_people"
        worst = min((row for row in evidence if row["n_people"]), key=lambda row: int(row[among]))
        everybody = sum(crowd.people * crowd.alike for crowd in crowds)
        value = self._measured(crowds)
        facts = {
            "people": everybody,
            "groups": sum(crowd.alike for crowd in crowds),
            "size": worst["n_people"],
        }
        if self.needs_population:
            facts["population"] = worst[among]
        if self.measures == "above":
            facts["people_above"] = int(value * everybody)
        return self.verdict(value, Witness(facts, {"g": worst["g"]}), self._story(facts, worst[among]))

    def _story(self, facts: dict[str, int], least: int) -> str:
        if self.measures == "maximum":
            found = (
                f"fits {people(least)} of the population" if self.needs_population else f"has {people(least)}"
            )
            return f"The smallest group {found}; at most {self.at_most} needs {people(asks_for(self.limit))}."
        if self.measures == "above":
            few = people(asks_for(self._above))
            return f"{facts['people_above']} of {people(facts['people'])} are in groups of fewer than {few}."
        return f"There are {people(facts['people'])} in {number_of(facts['groups'], 'group')}."

    def fewest_people(self, table: Table) -> int:
        return asks_for(self.limit) if self.necessary() else 1
