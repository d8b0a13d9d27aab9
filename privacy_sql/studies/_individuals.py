"""INTERNAL: the people that the worst case of a skyline names, by their identifiers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from privacy_sql.counted.grouping import Grouping
from privacy_sql.errors import UsageError
from privacy_sql.kernels.skyline.breach_probability import Amounts
from privacy_sql.query.template import render

MOST = 1_000  # so many people of each kind are listed


def individuals(
    grouping: Grouping,
    target: int,
    known_in: int,
    family_in: int,
    amounts: Amounts,
    code: int,
    others: Sequence[int],
) -> dict[str, Any]:
    """A target, known people and a family for whom everything the adversary knows is true.

    chen2008, Sec. 8.3: "identify the individuals", for those who may see the data.
    The target has the value in question, and the most common other values of the group are ruled out. The
    known people are in the target's group and have neither. Anybody may be the family. `others` are the codes
    of the other values of the target's group, the most common first. Nobody is named if the table has no
    identifier or if people may have several values.
    """
    base = grouping.base
    if not base.table.identifier or base.table.values_per_person != "one":
        return {}
    gone = others[: amounts.ruled_out]
    inside = base.inside(base.people or base.relation)
    query = render(
        "studies/people_of_groups.sql",
        source=base.source,
        identifier=base.table.identifier,
        value=(base.table.sensitives[0], base.dictionaries["s"]),
        columns=[
            (
                base.columns[alias][0] if alias in base.columns else str(base.table.group),
                alias,
                base.dictionaries[alias],
            )
            for alias in inside
            if alias != "s"
        ],
        members=grouping.members,
        groups=sorted({target, known_in, family_in}),
        wanted=code,
        ruled_out=gone,
        most=min(1 + amounts.known + amounts.family, MOST),
    )
    rows = base.engine.fetch(query)
    if len({row["person"] for row in rows}) < len(rows):
        raise UsageError("several_groups", "people with the same quasi-identifiers are in several groups")
    holder = next(row for row in rows if row["g"] == target and row["kind"] == "holder")
    # other people of the group with a value that is ruled out for the target do not help the adversary
    free = ("other",) if known_in == target else ("other", "ruled_out")
    known = [row for row in rows if row["g"] == known_in and row["kind"] in free][: amounts.known]
    taken = [holder, *known]
    family = [row for row in rows if row["g"] == family_in and row not in taken][: amounts.family]
    return {
        "target": holder["person"],
        "values_ruled_out": [base.label("s", 0, other) for other in gone],
        "known": [{"person": row["person"], "value": row["value"]} for row in known],
        "family": [row["person"] for row in family],
    }
