"""δ-presence: nobody of the population can be shown to be in the table, or not to be in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from privacy_sql.criteria import Exact, Row, exact
from privacy_sql.criteria._on_arrays import ByFormula, Formula
from privacy_sql.criteria._risks import fitting, refuse_strangers
from privacy_sql.errors import UsageError, people
from privacy_sql.verdict import Verdict, Witness

if TYPE_CHECKING:
    from privacy_sql.counted.groups import Groups


@dataclass(frozen=True)
class DeltaPresence(ByFormula):
    """In every group, the share of the population that is in the table is between `low` and `high`.

    ganta2008, Sec. 2 (Nergiz, Atzori and Clifton's δ-presence: whether somebody is in the table is itself
    sensitive). People of the population whom no published group fits count as a share of 0. The extreme with
    the least slack is the `value`. Merging averages shares, so no extreme grows. Leaving a group out turns
    its share into 0, which is not safe if `low` is above 0.
    """

    name: ClassVar[str] = "delta_presence"
    question: ClassVar[str] = "Can somebody be shown to be in the table, or not to be?"
    against: ClassVar[str] = "somebody who has a list of the population and wants to know who is in the table"
    unit: ClassVar[str] = "share"
    relation: ClassVar[str] = "<="
    reads_sensitive: ClassVar[bool] = False
    needs_population: ClassVar[bool] = True
    safe_under_merging: ClassVar[bool] = True

    low: Exact
    high: Exact

    def __post_init__(self) -> None:
        if self._low > self._high:
            raise UsageError("bad_parameter", "low of delta_presence must not be above high")

    @property
    def cannot_fail(self) -> bool:
        return self._low == 0 and self._high == 1

    @property
    def _low(self) -> Fraction:
        return exact(self.low, self.name, "low", 0, 1)

    @property
    def _high(self) -> Fraction:
        return exact(self.high, self.name, "high", 0, 1)

    @property
    def reads(self) -> tuple[str, ...]:
        return ("population",)

    def formulas(self, groups: Groups) -> Sequence[Formula]:
        """The shares of groups; leaving one out does not help people who are in none."""
        among = fitting(groups)
        return [
            Formula(groups.people, among, ">=", self._low),
            Formula(groups.people, among, "<=", self._high),
        ]

    def decide(self, groups: Groups) -> Verdict:
        import numpy as np

        from privacy_sql.kernels.ratios import Ratios

        inside, among = groups.people, fitting(groups)
        if len(groups) and groups.n_outside:
            inside, among = np.append(inside, 0), np.append(among, groups.n_outside)
        shares = Ratios.of(inside, among)
        least, most = shares.worst_value(">="), shares.worst_value("<=")
        if least is None or most is None:
            return self.verdict(None, Witness({}), limit=self._high)
        share, relation, limit = self._nearest(least, most)
        return self.verdict(share, Witness({}), limit=limit, relation=relation)

    def _nearest(self, least: Fraction, most: Fraction) -> tuple[Fraction, str, Fraction]:
        """The extreme with the least slack, with its limit."""
        if least - self._low < self._high - most:
            return least, ">=", self._low
        return most, "<=", self._high

    def failing(self, evidence: Sequence[Row]) -> list[int]:
        refuse_strangers(evidence)
        return super().failing(evidence)

    def judge(self, evidence: Sequence[Row]) -> Verdict:
        """Both extremes are compared; the one with the least slack is shown.

        >>> rows = [{"n_people": 1, "n_population": 2, "n_groups": 1, "g": 7}]
        >>> DeltaPresence("0", "1/2").judge(rows).safe, DeltaPresence("0", "0.4").judge(rows).safe
        (True, False)
        """
        found = [row for row in evidence if row["n_people"] or row["n_population"]]
        refuse_strangers(found)
        shares = [(Fraction(row["n_people"], row["n_population"]), row) for row in found]
        if not shares:
            return self.verdict(None, Witness({}), limit=self._high)
        least, most = min(shares, key=lambda pair: pair[0]), max(shares, key=lambda pair: pair[0])
        share, relation, limit = self._nearest(least[0], most[0])
        row = least[1] if relation == ">=" else most[1]
        facts = {
            "size": row["n_people"],
            "population": row["n_population"],
            "lowest_share": str(least[0]),
            "highest_share": str(most[0]),
        }
        story = f"In one group, {row['n_people']} of {people(row['n_population'])} are in the table."
        witness = Witness(facts, {"g": row["g"]} if row["g"] is not None else {})
        return self.verdict(share, witness, story, limit=limit, relation=relation)
