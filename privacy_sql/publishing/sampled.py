"""Estimates of risk from survey weights, for a sample from a population without a list.

They are printed next to counts, always called estimates, and no requirement can use them: a person who is
alone in the sample with a weight of a hundred may still be alone among these hundred people.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import Any

from privacy_sql.counted import further_column
from privacy_sql.counted.grouping import Grouping
from privacy_sql.display.rounding import rounded
from privacy_sql.errors import DataError, people
from privacy_sql.kernels import sampled_risk
from privacy_sql.query.template import Sql, render
from privacy_sql.verdict import exact_text

MOST = 10**12  # the largest weight: more people than there are
SHORT = 64  # the most bits of a readable denominator
DIGITS = 10


def estimates(grouping: Grouping) -> dict[str, Any]:
    """What the weights say about the population: its size, its risks, and who may be alone in it.

    - `risk_max`, `risk_average`: the expected 1/(people of the population who fit), by Benedetti and Franconi
    - `alone_in_population`: of those alone in the sample, the share alone in the population, by Zayatz
    - `alone_at_most`: the share alone in the sample, which is all that the sample proves
    """
    rows = _weighed(grouping)
    everybody = sum(row["n_people"] * row["n_groups"] for row in rows)
    population = sum(row["standing_for"] * row["n_groups"] for row in rows)
    risks = [
        (sampled_risk.expected_risk(row["n_people"], row["standing_for"]), row["n_people"] * row["n_groups"])
        for row in rows
    ]
    groups: dict[int, int] = {}
    for row in rows:
        groups[row["n_people"]] = groups.get(row["n_people"], 0) + row["n_groups"]
    # the smaller the population, the more of those alone in the sample are alone in it
    alone = sampled_risk.alone_in_population(groups, max(floor(population), everybody))
    return {
        "population": f"{float(population):.{DIGITS}g}",
        "risk_max": max(risk for risk, _ in risks),
        "risk_average": sum(risk * n for risk, n in risks) / everybody,
        "alone_in_population": None if alone is None else _text(alone),
        "alone_at_most": exact_text(Fraction(groups.get(1, 0), everybody)),
    }


def _weighed(grouping: Grouping) -> list[dict[str, Any]]:
    """Equal groups, and how many people of the population they represent; refuses invalid weights."""
    base, engine = grouping.base, grouping.base.engine
    column = base.table.weight
    assert column is not None
    histogram, values = further_column.by_group(grouping, column, "weight")
    weights = render(
        "publishing/weights.sql",
        histogram=histogram,
        values=values,
        groups=grouping.groups,
        value=Sql("value"),
        most=MOST,
    )
    rows = engine.fetch(weights)
    bad, apart = sum(row["n_bad"] for row in rows), sum(row["n_apart"] for row in rows)
    if bad or apart:
        raise DataError(
            "bad_weight",
            f"{column} of {people(bad)} is not a number of at least 1"
            if bad
            else f"{people(apart)} have several weights in {column}, or none",
            where=base.table.name,
            hint="A weight says how many people a sampled person represents; every person needs one.",
        )
    return rows


def _text(share: Fraction | float) -> str:
    """A fraction if it is short enough to read, otherwise ten of its digits, and never less than it."""
    if isinstance(share, Fraction) and share.denominator.bit_length() <= SHORT:
        return str(share)
    return rounded(share, DIGITS, up=True)
