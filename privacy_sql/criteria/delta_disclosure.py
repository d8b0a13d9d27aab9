"""δ-disclosure: every sensitive value is about as frequent in every group as in the whole table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from privacy_sql.criteria import Criterion, Exact, Row, exact
from privacy_sql.kernels.closeness import log_change
from privacy_sql.verdict import Verdict, Witness


@dataclass(frozen=True)
class DeltaDisclosure(Criterion):
    """|ln(share / overall share)| stays below delta for every value of the table in every group.

    Brickell and Shmatikov's δ-disclosure privacy, for the adversary of ganta2008, Def. 5. `value` is the
    largest change; a group that lacks a value of the table makes it unbounded, so there is none and the table
    is not safe. A share in a merged group lies between those of its parts, so merging raises no change;
    leaving a group out changes the overall shares.
    """

    name: ClassVar[str] = "delta_disclosure"
    question: ClassVar[str] = "Does a value become much more or much less likely in a group?"
    relation: ClassVar[str] = "<"
    safe_under_merging: ClassVar[bool] = True

    delta: Exact

    def __post_init__(self) -> None:
        exact(self.delta, self.name, "delta", 0)

    @property
    def needs_one_value(self) -> bool:
        return True

    @property
    def limit(self) -> Fraction:
        return Fraction(str(self.delta))

    def context(self) -> dict[str, Any]:
        return {}

    def judge(self, evidence: Sequence[Row]) -> Verdict:
        """The value that changes most decides; one that is absent cannot be bounded.

        >>> row = {"n_rows": 2, "n_people": 4, "n_overall": 3, "n_all": 12, "g": 7}
        >>> round(DeltaDisclosure(1).judge([row]).value, 6)
        0.693147
        """
        if not evidence:
            return self.verdict(None, Witness({}))
        worst = min(evidence, key=lambda row: int(row["n_rows"]))
        facts = {"size": worst["n_people"], "count": worst["n_rows"]}
        if not worst["n_rows"]:
            story = "A group lacks a value of the table: whoever is in it certainly does not have that value."
            return self.verdict(None, Witness(facts, {"g": worst["g"]}), story)
        worst = max(evidence, key=lambda row: max(_rise(row), 1 / _rise(row)))
        facts = {
            "size": worst["n_people"],
            "count": worst["n_rows"],
            "overall_count": worst["n_overall"],
            "rows": worst["n_all"],
        }
        story = (
            f"A value of {worst['n_overall']} in {worst['n_all']} rows is {worst['n_rows']} in"
            f" {worst['n_people']} in the worst group."
        )
        return self.verdict(log_change(_rise(worst)), Witness(facts, {"g": worst["g"]}), story)


def _rise(row: Row) -> Fraction:
    return Fraction(row["n_rows"] * row["n_all"], row["n_people"] * row["n_overall"])
