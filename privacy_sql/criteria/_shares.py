"""What criteria that compare a group's shares with the whole table's tell about the worst one."""

from __future__ import annotations

from fractions import Fraction

from privacy_sql.criteria import Row
from privacy_sql.verdict import Witness


def rise(row: Row) -> Fraction:
    """Share in the group over overall share."""
    return Fraction(row["n_rows"] * row["n_all"], row["n_people"] * row["n_overall"])


def told(row: Row) -> tuple[Witness, str]:
    """The counts behind both shares, as a witness and in words."""
    facts = {
        "size": row["n_people"],
        "count": row["n_rows"],
        "overall_count": row["n_overall"],
        "rows": row["n_all"],
    }
    story = (
        f"A value of {row['n_overall']} in {row['n_all']} rows is {row['n_rows']} in {row['n_people']}"
        " in the worst group."
    )
    return Witness(facts, {"g": row["g"]}), story
